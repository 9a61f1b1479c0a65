//! Sessions, and the languages that there are.

use std::path::PathBuf;
use std::time::Duration;

use engine::adapter::plan::StartRequest;
use engine::model::launch::{Attach, Endpoint};
use engine::session::Session;
use engine::session::state::Execution;
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::exposure::ExposureData;
use super::last_stop::LastStop;
use super::launch::pause_of;
use super::shared::Done;
use crate::ops::settle::{Settled, Wait};
use crate::ops::{languages, lifecycle};
use crate::{Context, Effects, Tool, ToolError};

/// Opens a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateDebugSession {
    /// `python`, `javascript` (TypeScript), `c` (C++), `rust`, `java`, `go`, `ruby` or `php`
    language: String,
    /// default `Debug-{timestamp}`
    name: Option<String>,
    /// interpreter, or a command such as npm; default: .venv near the program, python3 or node
    executable_path: Option<PathBuf>,
    /// with port: attach at once
    host: Option<String>,
    /// debugger port of a running program
    port: Option<u16>,
    #[schemars(extend("unlisted" = true))]
    stop_on_entry: Option<bool>,
    #[schemars(extend("unlisted" = true))]
    timeout: Option<u64>,
}

/// A new session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Created {
    success: bool,
    /// Pass it to the other tools.
    session_id: String,
    message: String,
    /// `created`, or the state of the attached program.
    state: String,
}

impl Tool for CreateDebugSession {
    type Answer = Created;
    const NAME: &'static str = "create_debug_session";
    const TITLE: &'static str = "Create debug session";
    const DESCRIPTION: &'static str = "Create a debug session.";
    const EFFECTS: Effects = Effects::ADDS;
    const IGNORED: &'static [(&'static str, &'static str)] = &[
        // An attach that is answered is one that works.
        ("verifyTimeout", ""),
        ("adapterConfig", "use the arguments of `attach_to_process`"),
    ];

    async fn call(self, context: &Context) -> Result<Created, ToolError> {
        let executable = self.executable_path.clone();
        let session = lifecycle::open(context, &self.language, self.name.clone(), executable)?;
        let mut message = format!("Created {} debug session: {}", session.adapter().name(), session.name());
        if let Some(port) = self.port {
            let host = self.host.clone().unwrap_or_else(|| "127.0.0.1".to_owned());
            let attach = Attach {
                to: Endpoint::Address { host: host.clone(), port },
                path_mappings: Vec::new(),
                just_my_code: true,
            };
            let attached = match self.wait(context) {
                Ok((pause, wait)) => lifecycle::attach(&session, attach, pause, wait, context).await,
                Err(error) => Err(error),
            };
            if attached.is_err() {
                context.sessions.close(&session).await;
            }
            message = match attached? {
                Settled::Running { remarks, .. } if !remarks.notes.is_empty() => {
                    format!("{message}, attaching to {host}:{port}: {}", remarks.notes.join("; "))
                }
                _ => format!("{message}, attached to {host}:{port}"),
            };
        } else if self.host.is_some() {
            context.sessions.close(&session).await;
            return Err(ToolError::argument("host", "needs `port`"));
        }
        Ok(Created {
            success: true,
            session_id: session.id().to_string(),
            message,
            state: session.execution().as_str().to_owned(),
        })
    }
}

impl CreateDebugSession {
    /// How long to wait for an attach, and for the pause after it.
    fn wait(&self, context: &Context) -> Result<(Option<Duration>, Wait), ToolError> {
        let wait = Wait::new(context.bounds(), self.timeout, context.bounds().report())?;
        Ok((pause_of(context, self.stop_on_entry, self.timeout, wait)?, wait))
    }
}

/// Lists the sessions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListDebugSessions {}

/// The open sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SessionList {
    success: bool,
    sessions: Vec<SessionData>,
    count: usize,
}

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SessionData {
    id: String,
    name: String,
    language: String,
    /// `created`, `running`, `paused` or, once its program has ended, `stopped`.
    state: &'static str,
    /// As in reports: `created`, `running`, `paused` or `ended`.
    execution: &'static str,
    /// ISO 8601.
    created_at: String,
    /// ISO 8601.
    updated_at: String,
    /// Why it is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_stop: Option<LastStop>,
    /// Exit code, if the program has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Where an editor can attach.
    #[serde(skip_serializing_if = "Option::is_none")]
    exposure: Option<ExposureData>,
}

impl SessionData {
    async fn of(session: &Session, context: &Context) -> Self {
        let iso = |time: engine::Timestamp| time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        let last_stop = LastStop::of(&session.for_onlooker()).await;
        let execution = session.execution();
        Self {
            id: session.id().to_string(),
            name: session.name().to_owned(),
            language: session.adapter().name().to_owned(),
            // Clients of mcp-debugger ask again and again until this is `stopped`.
            state: match execution.as_str() {
                "ended" => "stopped",
                other => other,
            },
            execution: execution.as_str(),
            created_at: iso(session.created()),
            updated_at: iso(session.updated()),
            last_stop: last_stop.filter(|_| execution.stop().is_some()),
            exit_code: match &execution {
                Execution::Ended(end) => end.exit_code(),
                _ => None,
            },
            exposure: context.exposures.of(session.id()).map(ExposureData::from),
        }
    }
}

impl Tool for ListDebugSessions {
    type Answer = SessionList;
    const NAME: &'static str = "list_debug_sessions";
    const TITLE: &'static str = "List debug sessions";
    const DESCRIPTION: &'static str = "List open sessions and their states.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<SessionList, ToolError> {
        let open = context.sessions.list();
        let sessions = join_all(open.iter().map(|session| SessionData::of(session, context))).await;
        Ok(SessionList { success: true, count: sessions.len(), sessions })
    }
}

/// Closes a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CloseDebugSession {
    session_id: Option<String>,
}

impl Tool for CloseDebugSession {
    type Answer = Done;
    const NAME: &'static str = "close_debug_session";
    const TITLE: &'static str = "Close debug session";
    const DESCRIPTION: &'static str =
        "Close a session. Ends a launched program and its children; an attached one keeps running.";
    const EFFECTS: Effects = Effects::ENDS;

    async fn call(self, context: &Context) -> Result<Done, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        context.sessions.close(&session).await;
        Ok(Done::new(format!("Closed debug session: {}", session.id())))
    }
}

/// Lists the languages.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSupportedLanguages {}

/// The languages.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LanguageList {
    success: bool,
    languages: Vec<LanguageData>,
    count: usize,
    /// Languages that can be launched.
    installed: Vec<String>,
    /// Capabilities of each language, with mcp-debugger's field names.
    available: Vec<AvailableLanguage>,
}

/// What can be done in a language.
#[derive(Debug, Serialize, JsonSchema)]
struct AvailableLanguage {
    language: String,
    installed: bool,
    description: &'static str,
    modes: Modes,
}
/// Debug modes.
#[derive(Debug, Serialize, JsonSchema)]
struct Modes {
    launch: Availability,
    attach: Availability,
}

impl From<&LanguageData> for AvailableLanguage {
    fn from(language: &LanguageData) -> Self {
        Self {
            language: language.language.clone(),
            installed: language.launch.available,
            description: language.about,
            modes: Modes { launch: language.launch.clone(), attach: language.attach.clone() },
        }
    }
}

/// A language.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LanguageData {
    language: String,
    /// The same.
    id: String,
    /// Description; the same as `about`.
    display_name: &'static str,
    /// Always true.
    requires_executable: bool,
    /// The same as `interpreter`.
    #[serde(skip_serializing_if = "Option::is_none")]
    default_executable: Option<String>,
    /// Languages that it covers.
    about: &'static str,
    launch: Availability,
    attach: Availability,
    /// Default interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    interpreter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}
/// Whether something is supported.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Availability {
    /// False if it is impossible on every machine.
    supported: bool,
    available: bool,
    /// Reason or condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<languages::Language> for LanguageData {
    fn from(language: languages::Language) -> Self {
        let available = language.runtime.is_ok() && language.forbidden.is_none();
        let reason = match &language.runtime {
            _ if language.forbidden.is_some() => language.forbidden.clone(),
            Err(reason) => Some(reason.clone()),
            Ok(_) if !language.provided => Some("the debugger is downloaded on first use".to_owned()),
            Ok(_) => None,
        };
        let adapter = language.adapter;
        let way = |request, condition: Option<String>| {
            let never = adapter.refuses(request);
            let (supported, available) = (never.is_none(), available && never.is_none());
            Availability { supported, available, reason: never.or(condition) }
        };
        let attach_condition = language.forbidden.or(language.attach_obstacle).or(reason.clone());
        let runtime = language.runtime.ok();
        let interpreter = runtime.as_ref().map(|runtime| runtime.executable.display().to_string());
        Self {
            language: adapter.name().to_owned(),
            id: adapter.name().to_owned(),
            display_name: adapter.about(),
            requires_executable: true,
            default_executable: interpreter.clone(),
            about: adapter.about(),
            launch: way(StartRequest::Launch, reason),
            attach: way(StartRequest::Attach, attach_condition),
            interpreter,
            version: runtime.map(|runtime| runtime.version),
        }
    }
}

impl Tool for ListSupportedLanguages {
    type Answer = LanguageList;
    const NAME: &'static str = "list_supported_languages";
    const TITLE: &'static str = "List supported languages";
    const DESCRIPTION: &'static str = "List debuggable languages and what each one is missing.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<LanguageList, ToolError> {
        let found = languages::languages(&engine::adapter::Machine, &context.sessions.policy().safety).await;
        let languages: Vec<LanguageData> = found.into_iter().map(LanguageData::from).collect();
        let installed = languages.iter().filter(|language| language.launch.available);
        let installed = installed.map(|language| language.language.clone()).collect();
        let available = languages.iter().map(AvailableLanguage::from).collect();
        Ok(LanguageList { success: true, count: languages.len(), languages, installed, available })
    }
}
