//! Letting the program run.

use engine::debugger::Step;
use schemars::JsonSchema;
use serde::Deserialize;

use super::QuickTool;
use super::text;
use crate::ops::execution;
use crate::ops::settle::Wait;
use crate::{Context, Effects, ToolError};

/// Lets the program run on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DebugContinue {
    /// ms to wait for the next stop, default 20000
    timeout: Option<u64>,
    /// true: pause the running program instead
    pause: Option<bool>,
}

impl QuickTool for DebugContinue {
    const NAME: &'static str = "debug_continue";
    const TITLE: &'static str = "Continue";
    const DESCRIPTION: &'static str =
        "Run to the next breakpoint or the end. On a running program: wait for it.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn run(self, context: &Context) -> Result<String, ToolError> {
        let session = context.quick_session().await?;
        let settled = if self.pause == Some(true) {
            let wait = execution::pause_wait(context.bounds(), self.timeout, context.bounds().report())?;
            execution::pause(&session, None, wait, context).await?
        } else {
            let wait = Wait::new(context.bounds(), self.timeout, context.bounds().report())?;
            execution::resume(&session, wait, context).await?
        };
        Ok(text::settled(&settled))
    }
}

/// Steps.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DebugStep {
    /// default next, over calls; `step_in`: into the next call; `step_out`: to the caller
    action: Option<Action>,
    /// ms to wait for the stop, default 20000
    timeout: Option<u64>,
}

/// How to step.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    Next,
    StepIn,
    StepOut,
}

impl From<Action> for Step {
    fn from(action: Action) -> Self {
        match action {
            Action::Next => Self::Over,
            Action::StepIn => Self::Into,
            Action::StepOut => Self::Out,
        }
    }
}

impl QuickTool for DebugStep {
    const NAME: &'static str = "debug_step";
    const TITLE: &'static str = "Step";
    const DESCRIPTION: &'static str = "Step over or into the current line, or out of the function.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn run(self, context: &Context) -> Result<String, ToolError> {
        let session = context.quick_session().await?;
        let wait = Wait::new(context.bounds(), self.timeout, context.bounds().report())?;
        let step = self.action.unwrap_or_default().into();
        let settled = execution::step(&session, None, step, wait, context).await?;
        Ok(text::settled(&settled))
    }
}
