//! A person's editor beside the agent.

use engine::session::Session;
use mirror::{Exposure, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::standard;
use crate::{Context, Effects, Tool, ToolError};

/// Exposes a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ExposeSession {
    session_id: Option<String>,
    /// let it step and change things too
    control: Option<bool>,
}

/// Where an editor can attach.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExposureData {
    host: String,
    port: u16,
    /// Whether it may step, set breakpoints and change values; absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    control: bool,
}

impl From<Exposure> for ExposureData {
    fn from(Exposure { address, control }: Exposure) -> Self {
        Self { host: address.ip().to_string(), port: address.port(), control }
    }
}

/// Where an editor can attach, and what lets it in.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionExposed {
    success: bool,
    session_id: String,
    /// `running` or `paused`.
    state: &'static str,
    #[serde(flatten)]
    exposure: ExposureData,
    /// Value of `mirrorToken` in the editor's `attach` arguments.
    token: String,
    /// The same as a configuration for VS Code's `launch.json`.
    configuration: LaunchConfiguration,
    message: String,
}

/// A configuration of VS Code.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LaunchConfiguration {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    request: &'static str,
    debug_server: u16,
    mirror_token: String,
}

impl LaunchConfiguration {
    fn new(session: &Session, port: u16, token: &str) -> Self {
        Self {
            name: format!("Attach to {}", session.name()),
            kind: session.adapter().facts().editor_type,
            request: "attach",
            debug_server: port,
            mirror_token: token.to_owned(),
        }
    }
}

impl Tool for ExposeSession {
    type Answer = SessionExposed;
    const NAME: &'static str = "expose_session";
    const TITLE: &'static str = "Expose session to an editor";
    const DESCRIPTION: &'static str =
        "Let a person's editor attach over DAP, read-only; show them the answer.";
    const EFFECTS: Effects = Effects::SETS;
    const REVEALED: &'static [&'static str] = &["/token", "/configuration/mirrorToken"];

    async fn call(self, context: &Context) -> Result<SessionExposed, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let options = Options { control: self.control, shows_credentials: context.shows_credentials };
        let journal = context.sessions.journal();
        let grant = context.exposures.expose(&session, options, journal).await.map_err(|error| {
            let error = ToolError::from(error);
            // Clients of mcp-debugger read what to do next in `error`.
            ToolError { error: error.with_hint(standard), ..error }
        })?;
        let exposure = ExposureData::from(grant.exposure);
        let token = grant.token.reveal().to_owned();
        let may = if exposure.control { "with control" } else { "read-only" };
        Ok(SessionExposed {
            success: true,
            session_id: session.id().to_string(),
            state: session.execution().as_str(),
            configuration: LaunchConfiguration::new(&session, exposure.port, &token),
            message: format!(
                "An editor can attach at {}:{}, {may}, until the program ends. VS Code: put `configuration` into \
                 launch.json and start it. Others: connect to the port, and send the token as `mirrorToken` with \
                 `attach`.",
                exposure.host, exposure.port
            ),
            token,
            exposure,
        })
    }
}

/// Ends an exposure.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct UnexposeSession {
    session_id: Option<String>,
}

/// What became of an exposure.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionUnexposed {
    success: bool,
    state: &'static str,
    was_exposed: bool,
    message: String,
}

impl Tool for UnexposeSession {
    type Answer = SessionUnexposed;
    const NAME: &'static str = "unexpose_session";
    const TITLE: &'static str = "Unexpose session";
    const DESCRIPTION: &'static str = "Stop exposing a session.";
    const EFFECTS: Effects = Effects::SETS;

    async fn call(self, context: &Context) -> Result<SessionUnexposed, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let editors = context.exposures.unexpose(session.id()).await;
        let message = match editors {
            None => "The session was not exposed".to_owned(),
            Some(0) => "The port is closed; no editor was attached".to_owned(),
            Some(1) => "The port is closed, and 1 editor was detached".to_owned(),
            Some(editors) => format!("The port is closed, and {editors} editors were detached"),
        };
        let state = session.execution().as_str();
        Ok(SessionUnexposed { success: true, state, was_exposed: editors.is_some(), message })
    }
}
