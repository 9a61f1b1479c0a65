//! Letting the program run.

use engine::debugger::Step;
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::StatusAnswer;
use super::report::Report;
use crate::ops::execution;
use crate::ops::settle::Wait;
use crate::{Context, Effects, Tool, ToolError};

/// The parameters of all that let the program run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RunParams {
    /// default: the only open session
    session_id: Option<String>,
    /// ms to wait for the stop, default 20000
    timeout: Option<u64>,
}

impl RunParams {
    async fn step(self, step: Step, did: &str, context: &Context) -> Result<StatusAnswer<Report>, ToolError> {
        let wait = Wait::new(context.bounds(), self.timeout, context.bounds().report())?;
        let session = context.session(self.session_id.as_deref())?;
        let settled = execution::step(&session, None, step, wait, context).await?;
        Ok(StatusAnswer(Report::new(did, settled)))
    }
}

/// Lets the program run on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct DebuggerContinue(RunParams);

impl Tool for DebuggerContinue {
    type Answer = StatusAnswer<Report>;
    const NAME: &'static str = "debugger_continue";
    const TITLE: &'static str = "Continue";
    const DESCRIPTION: &'static str =
        "Run to the next breakpoint or the end. On a running program: wait for it.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<Report>, ToolError> {
        let wait = Wait::new(context.bounds(), self.0.timeout, context.bounds().report())?;
        let session = context.session(self.0.session_id.as_deref())?;
        let settled = execution::resume(&session, wait, context).await?;
        Ok(StatusAnswer(Report::new("Continued", settled)))
    }
}

/// Steps over.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct DebuggerStepOver(RunParams);

impl Tool for DebuggerStepOver {
    type Answer = StatusAnswer<Report>;
    const NAME: &'static str = "debugger_step_over";
    const TITLE: &'static str = "Step over";
    const DESCRIPTION: &'static str = "Step over: run the line, including its calls, and stop after it.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<Report>, ToolError> {
        self.0.step(Step::Over, "Stepped over", context).await
    }
}

/// Steps into.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct DebuggerStepInto(RunParams);

impl Tool for DebuggerStepInto {
    type Answer = StatusAnswer<Report>;
    const NAME: &'static str = "debugger_step_into";
    const TITLE: &'static str = "Step into";
    const DESCRIPTION: &'static str =
        "Step into the next function that the line calls, or stop after the line.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<Report>, ToolError> {
        self.0.step(Step::Into, "Stepped into", context).await
    }
}

/// Steps out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct DebuggerStepOut(RunParams);

impl Tool for DebuggerStepOut {
    type Answer = StatusAnswer<Report>;
    const NAME: &'static str = "debugger_step_out";
    const TITLE: &'static str = "Step out";
    const DESCRIPTION: &'static str = "Step out: run to the end of the function and stop in its caller.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<Report>, ToolError> {
        self.0.step(Step::Out, "Stepped out", context).await
    }
}

/// Suspends the program.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerPause {
    session_id: Option<String>,
    /// ms to wait for the stop, default 2000
    timeout: Option<u64>,
}

impl Tool for DebuggerPause {
    type Answer = StatusAnswer<Report>;
    const NAME: &'static str = "debugger_pause";
    const TITLE: &'static str = "Pause";
    const DESCRIPTION: &'static str = "Pause the running program.";
    const EFFECTS: Effects = Effects::SETS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<Report>, ToolError> {
        let wait = execution::pause_wait(context.bounds(), self.timeout, context.bounds().report())?;
        let session = context.session(self.session_id.as_deref())?;
        let settled = execution::pause(&session, None, wait, context).await?;
        Ok(StatusAnswer(Report::new("Pause requested", settled)))
    }
}
