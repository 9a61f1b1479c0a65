//! Why a program is suspended, for a client that asks rather than reads the report of what it waited for.

use engine::deadlines;
use engine::model::stop::{Exception, Stop, StopReason};
use engine::session::Session;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::timeout;

/// What DAP calls the reason of a stop at a breakpoint on a function.
const AT_FUNCTION: &str = "function breakpoint";

/// The stop of a paused program, by the names that clients of mcp-debugger know.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LastStop {
    /// As in DAP: `breakpoint`, `function breakpoint`, `step`, `entry`, `exception`, `pause`.
    pub(super) reason: String,
    thread_id: u32,
    /// The type of the exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Its message.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exception_info: Option<ExceptionInfo>,
}

/// The exception, as DAP's `exceptionInfo` has it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ExceptionInfo {
    exception_id: String,
    /// `unhandled` if the debugger predicts that nothing catches it; otherwise `always`.
    break_mode: &'static str,
    details: ExceptionDetails,
}
/// Details.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ExceptionDetails {
    type_name: String,
    message: String,
}

impl LastStop {
    /// That of a program that is paused. An exception that cannot be read in time is left out.
    pub(super) async fn of(session: &Session) -> Option<Self> {
        let execution = session.execution();
        let stop = execution.stop()?;
        let exception = match stop.reason {
            StopReason::Exception => timeout(deadlines::ACKNOWLEDGE, session.exception()).await.ok()?.ok(),
            _ => None,
        };
        let exception = exception.map(Exception::shortened);
        Some(Self {
            reason: reason(session, stop).await,
            thread_id: stop.thread.0,
            description: exception.as_ref().map(|exception| exception.type_name.clone()),
            text: exception.as_ref().map(|exception| exception.message.clone()),
            exception_info: exception.map(ExceptionInfo::from),
        })
    }
}

impl From<Exception> for ExceptionInfo {
    fn from(exception: Exception) -> Self {
        Self {
            exception_id: exception.type_name.clone(),
            break_mode: if exception.uncaught { "unhandled" } else { "always" },
            details: ExceptionDetails { type_name: exception.type_name, message: exception.message },
        }
    }
}

/// The reason in DAP's words, which tell a breakpoint on a function from one on a line.
async fn reason(session: &Session, stop: &Stop) -> String {
    if stop.reason == StopReason::Breakpoint {
        let known = session.breakpoints().await.unwrap_or_default();
        let mut hit = known.iter().filter(|known| stop.breakpoints.contains(&known.id)).peekable();
        if hit.peek().is_some() && hit.all(|hit| hit.function().is_some()) {
            return AT_FUNCTION.to_owned();
        }
    }
    stop.reason.to_string()
}
