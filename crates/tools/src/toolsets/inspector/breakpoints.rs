//! Breakpoints on lines, and the list of all.

use std::path::PathBuf;

use engine::model::breakpoint::Rule;
use engine::session::Session;
use engine::session::breakpoints::Change;
use engine::session::placing::PlaceRequest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::StatusAnswer;
use super::conditions::ExceptionsData;
use super::data::BreakpointData;
use super::shared;
use crate::{Context, Effects, Tool, ToolError};

/// Sets a breakpoint.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerSetBreakpoint {
    /// default: the only open session
    session_id: Option<String>,
    /// absolute, or relative to the program's working directory
    file: PathBuf,
    /// 1-based
    line: u32,
    /// 1-based, for one of several statements on the line (not in Python)
    column: Option<u32>,
    /// stop only if this expression is true
    condition: Option<String>,
}

impl Tool for DebuggerSetBreakpoint {
    type Answer = StatusAnswer<BreakpointData>;
    const NAME: &'static str = "debugger_set_breakpoint";
    const TITLE: &'static str = "Set breakpoint";
    const DESCRIPTION: &'static str = "Set a breakpoint on a line, optionally with a condition.";
    const EFFECTS: Effects = Effects::ADDS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<BreakpointData>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let wanted = PlaceRequest {
            file: Some(shared::file(&session, &self.file).await),
            line: Some(self.line),
            column: self.column,
            rule: Rule::on(self.condition),
            ..PlaceRequest::default()
        };
        let (breakpoint, note) = session.set_breakpoint(wanted).await?;
        Ok(StatusAnswer(BreakpointData::noted(&breakpoint, note)))
    }
}

/// Sets a logpoint.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerSetLogpoint {
    session_id: Option<String>,
    file: PathBuf,
    /// 1-based
    line: u32,
    /// {expressions} are replaced by their values
    log_message: String,
    /// log only if this is true
    condition: Option<String>,
}

/// A logpoint.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Logpoint {
    logpoint_id: String,
    #[serde(flatten)]
    breakpoint: BreakpointData,
}

impl Tool for DebuggerSetLogpoint {
    type Answer = StatusAnswer<Logpoint>;
    const NAME: &'static str = "debugger_set_logpoint";
    const TITLE: &'static str = "Set logpoint";
    const DESCRIPTION: &'static str =
        "Print a message at each hit of a line without stopping; it appears in the output.";
    const EFFECTS: Effects = Effects::ADDS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<Logpoint>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        if self.log_message.trim().is_empty() {
            return Err(ToolError::argument("logMessage", "is empty"));
        }
        let wanted = PlaceRequest {
            file: Some(shared::file(&session, &self.file).await),
            line: Some(self.line),
            rule: Rule { log_message: Some(self.log_message), ..Rule::on(self.condition) },
            ..PlaceRequest::default()
        };
        let (breakpoint, note) = session.set_breakpoint(wanted).await?;
        let breakpoint = BreakpointData::noted(&breakpoint, note);
        Ok(StatusAnswer(Logpoint { logpoint_id: breakpoint.breakpoint_id.clone(), breakpoint }))
    }
}

/// The parameters of all that name a breakpoint.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ByIdParams {
    session_id: Option<String>,
    /// any kind of breakpoint: bp-1
    breakpoint_id: String,
}

/// Removes a breakpoint.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct DebuggerRemoveBreakpoint(ByIdParams);

/// What was removed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Removed {
    breakpoint_id: String,
    removed: bool,
}

impl Tool for DebuggerRemoveBreakpoint {
    type Answer = StatusAnswer<Removed>;
    const NAME: &'static str = "debugger_remove_breakpoint";
    const TITLE: &'static str = "Remove breakpoint";
    const DESCRIPTION: &'static str = "Remove a breakpoint or logpoint.";
    const EFFECTS: Effects = Effects::ENDS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<Removed>, ToolError> {
        let session = context.session(self.0.session_id.as_deref())?;
        let wanted = shared::breakpoint_id(&session, &self.0.breakpoint_id).await?;
        session.remove_breakpoints(move |id, _| id == wanted).await?;
        Ok(StatusAnswer(Removed { breakpoint_id: wanted.to_string(), removed: true }))
    }
}

/// Switches a breakpoint on or off.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct DebuggerToggleBreakpoint(ByIdParams);

impl Tool for DebuggerToggleBreakpoint {
    type Answer = StatusAnswer<BreakpointData>;
    const NAME: &'static str = "debugger_toggle_breakpoint";
    const TITLE: &'static str = "Toggle breakpoint";
    const DESCRIPTION: &'static str = "Disable an enabled breakpoint, or enable a disabled one.";
    const EFFECTS: Effects = Effects::ADDS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<BreakpointData>, ToolError> {
        let session = context.session(self.0.session_id.as_deref())?;
        let id = shared::breakpoint_id(&session, &self.0.breakpoint_id).await?;
        let known = session.breakpoints().await?;
        let is_on = known.iter().any(|known| known.id == id && known.enabled);
        let change = Change { enabled: Some(!is_on), rule: None };
        let breakpoint = session.change_breakpoint(id, change).await?;
        Ok(StatusAnswer(BreakpointData::from(&breakpoint)))
    }
}

/// Lists the breakpoints.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerListBreakpoints {
    session_id: Option<String>,
}

/// The breakpoints.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BreakpointList {
    /// Line and function breakpoints, including logpoints.
    breakpoints: Vec<BreakpointData>,
    /// The exceptions to stop at.
    exceptions: ExceptionsData,
}

impl BreakpointList {
    async fn of(session: &Session) -> Result<Self, ToolError> {
        let breakpoints = session.breakpoints().await?;
        let (wanted, failures) = session.exception_breakpoints().await?;
        Ok(Self {
            breakpoints: breakpoints.iter().map(BreakpointData::from).collect(),
            exceptions: ExceptionsData::new(wanted, failures.as_ref()),
        })
    }
}

impl Tool for DebuggerListBreakpoints {
    type Answer = StatusAnswer<BreakpointList>;
    const NAME: &'static str = "debugger_list_breakpoints";
    const TITLE: &'static str = "List breakpoints";
    const DESCRIPTION: &'static str = "List breakpoints with their state, hits and failed conditions.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<StatusAnswer<BreakpointList>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        Ok(StatusAnswer(BreakpointList::of(&session).await?))
    }
}
