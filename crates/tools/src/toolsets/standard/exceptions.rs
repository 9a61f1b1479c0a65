//! The exceptions to stop at.

use engine::model::stop::{ExceptionBreakpoints, ExceptionMode};
use schemars::JsonSchema;
use serde::Deserialize;

use super::shared::Done;
use crate::ops::run_until::check_condition;
use crate::{Context, Effects, Tool, ToolError};

/// Chooses the exceptions to stop at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SetExceptionBreakpoints {
    session_id: Option<String>,
    mode: ExceptionParam,
    /// only if true; `error` is the exception: error.code === 'ENOENT'
    exception_condition: Option<String>,
}

/// Which exceptions to stop at.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ExceptionParam {
    None,
    Uncaught,
    #[serde(rename = "userUnhandled")]
    UserUnhandled,
    All,
}

impl From<ExceptionParam> for ExceptionMode {
    fn from(mode: ExceptionParam) -> Self {
        match mode {
            ExceptionParam::None => Self::None,
            ExceptionParam::Uncaught => Self::Uncaught,
            ExceptionParam::UserUnhandled => Self::UserUnhandled,
            ExceptionParam::All => Self::All,
        }
    }
}

/// The exceptions to stop at, from what was given.
pub(super) fn exceptions(
    mode: ExceptionParam,
    condition: Option<String>,
) -> Result<ExceptionBreakpoints, ToolError> {
    let mode = ExceptionMode::from(mode);
    let condition = condition.filter(|condition| !condition.trim().is_empty());
    if mode == ExceptionMode::None && condition.is_some() {
        return Err(ToolError::argument(
            "exceptionCondition",
            "needs `exceptions` to be `uncaught`, `userUnhandled` or `all`",
        ));
    }
    Ok(ExceptionBreakpoints { mode, condition })
}

fn conditions_note(exceptions: &ExceptionBreakpoints) -> String {
    exceptions.condition.as_ref().map(|condition| format!(" where `{condition}`")).unwrap_or_default()
}

impl Tool for SetExceptionBreakpoints {
    type Answer = Done;
    const NAME: &'static str = "set_exception_breakpoints";
    const TITLE: &'static str = "Set exception breakpoints";
    const DESCRIPTION: &'static str = "Choose the exceptions to stop at; by default, uncaught ones.";
    const EFFECTS: Effects = Effects::SETS;

    async fn call(self, context: &Context) -> Result<Done, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let wanted = exceptions(self.mode, self.exception_condition)?;
        check_condition(&session, &wanted).await?;
        let now = format!("{} exceptions{}", wanted.mode, conditions_note(&wanted));
        let before = session.set_exception_breakpoints(wanted).await?;
        Ok(Done::new(format!("Stopping at {now} (before: {}{})", before.mode, conditions_note(&before))))
    }
}
