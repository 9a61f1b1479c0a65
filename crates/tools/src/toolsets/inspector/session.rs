//! How sessions begin and end.

use std::path::PathBuf;

use engine::adapter::Machine;
use engine::model::launch::Stdin;
use engine::session::Session;
use engine::session::state::Execution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::StatusAnswer;
use super::report::Report;
use crate::ops::command::Command;
use crate::ops::lifecycle;
use crate::ops::settle::Wait;
use crate::render::output_text;
use crate::{ArgumentList, CommandLine, Context, Effects, Tool, ToolError};

/// How much of the last output is reported at the end of a session, in bytes.
const OUTPUT: usize = 4000;

/// Starts a program in a session of its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DebuggerStart {
    /// node, python, npx, a script, a test runner; determines the language
    command: CommandLine,
    args: Option<ArgumentList>,
    /// default: the server's
    cwd: Option<PathBuf>,
    /// ms to wait for the pause, default 20000
    timeout: Option<u64>,
}

/// A new session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Started {
    /// Pass it to the other tools.
    session_id: String,
    /// Address of the inspector of a Node.js program, for other tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    inspector_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// Such as `javascript` (for TypeScript, too), `python` or `go`.
    language: &'static str,
    #[serde(flatten)]
    report: Report,
}

impl Tool for DebuggerStart {
    type Answer = StatusAnswer<Started>;
    const NAME: &'static str = "debugger_start";
    const TITLE: &'static str = "Start debug session";
    const DESCRIPTION: &'static str = "Start a program paused before its first line.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<Started>, ToolError> {
        let wait = Wait::new(context.bounds(), self.timeout, context.bounds().report())?;
        let mut command = Command::read(&Machine, &self.command, self.args, self.cwd)?;
        command.launch.stop_on_entry = true;
        command.launch.stdin = Stdin::Open;
        let (session, settled) = lifecycle::start_command(context, command, wait).await?;
        let program = session.debuggees().await.unwrap_or_default().into_iter().next();
        Ok(StatusAnswer(Started {
            session_id: session.id().to_string(),
            inspector_url: program.as_ref().and_then(|program| program.url.clone()),
            pid: program.and_then(|program| program.pid),
            language: session.adapter().name(),
            report: Report::new("Started", settled),
        }))
    }
}

/// Ends a session.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerStopSession {
    session_id: Option<String>,
}

/// The end of a session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionClosed {
    session_id: String,
    stopped: bool,
    /// How the program ended, in a sentence.
    message: String,
    /// Exit code, if it had already ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// New output since the last report.
    #[serde(skip_serializing_if = "String::is_empty")]
    output: String,
}

impl Tool for DebuggerStopSession {
    type Answer = StatusAnswer<SessionClosed>;
    const NAME: &'static str = "debugger_stop_session";
    const TITLE: &'static str = "Stop debug session";
    const DESCRIPTION: &'static str = "End a session, its program and all processes the program started.";
    const EFFECTS: Effects = Effects::ENDS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<SessionClosed>, ToolError> {
        if let Some(id) = self.session_id.as_deref().filter(|id| context.sessions.was_closed(id)) {
            return Ok(StatusAnswer(SessionClosed::before(id)));
        }
        let session = context.session(self.session_id.as_deref())?;
        context.sessions.close(&session).await;
        Ok(StatusAnswer(SessionClosed::of(&session)))
    }
}

impl SessionClosed {
    /// It was closed by an earlier call.
    fn before(id: &str) -> Self {
        Self {
            session_id: id.to_owned(),
            stopped: true,
            message: "The session was already closed".to_owned(),
            exit_code: None,
            output: String::new(),
        }
    }

    fn of(session: &Session) -> Self {
        let (message, exit_code) = match session.execution() {
            Execution::Ended(end) => (format!("The program {end}"), end.exit_code()),
            _ => ("The session is closed".to_owned(), None),
        };
        Self {
            session_id: session.id().to_string(),
            stopped: true,
            message,
            exit_code,
            output: output_text(&session.take_new_output(OUTPUT)),
        }
    }
}
