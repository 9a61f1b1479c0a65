//! Expressions and variables.

use engine::model::variable::Page;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::StatusAnswer;
use super::data::{FrameData, ValueData, VariableData, variables};
use super::shared;
use crate::ops::{globals, inspect};
use crate::{Context, Effects, Tool, ToolError};

/// Characters of a value.
const VALUE: usize = 1000;
/// Variables of a page of a function's.
const LOCALS: u64 = 500;
/// Variables of a page of the global ones.
const GLOBALS: u64 = 200;

/// Evaluates.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerInspect {
    /// default: the only open session
    session_id: Option<String>,
    /// an expression, or a statement such as x = 1
    expression: String,
    /// default: the selected frame, else 0
    frame_index: Option<usize>,
    /// ms, default 5000; interrupted after that
    timeout: Option<u64>,
    /// maximum characters of the value, default 1000
    max_length: Option<usize>,
}

/// The value of an expression.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct InspectResult {
    expression: String,
    #[serde(flatten)]
    value: ValueData,
}

impl Tool for DebuggerInspect {
    type Answer = StatusAnswer<InspectResult>;
    const NAME: &'static str = "debugger_inspect";
    const TITLE: &'static str = "Inspect";
    const DESCRIPTION: &'static str =
        "Evaluate an expression in the paused program. Side effects are allowed and persist.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<InspectResult>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let frame = Some(shared::frame(&session, self.frame_index).await?.0);
        let length = context.bounds().requested_length("maxLength", self.max_length, VALUE)?;
        let value = inspect::evaluate(&session, &self.expression, frame, self.timeout, length, false).await?;
        Ok(StatusAnswer(InspectResult { value: ValueData::from(&value), expression: self.expression }))
    }
}

/// Lists the variables of a frame.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerGetLocalVariables {
    session_id: Option<String>,
    /// default: the selected frame, else 0
    frame_index: Option<usize>,
    /// first variable, default 0
    start: Option<u64>,
    /// include `this`, and a module's modules, functions and classes
    include_special: Option<bool>,
}

/// The variables of a frame.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalsData {
    variables: Vec<VariableData>,
    /// Total number.
    total: u64,
    /// Where the next page starts, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_start: Option<u64>,
    /// Number of omitted special variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<u64>,
    /// The frame they belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<FrameData>,
}

impl Tool for DebuggerGetLocalVariables {
    type Answer = StatusAnswer<LocalsData>;
    const NAME: &'static str = "debugger_get_local_variables";
    const TITLE: &'static str = "Get local variables";
    const DESCRIPTION: &'static str =
        "Show the variables of a frame: its own, those of blocks, and captured ones.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<StatusAnswer<LocalsData>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let frame = shared::frame(&session, self.frame_index).await?;
        let special = self.include_special.unwrap_or(false);
        let page = Page { start: self.start.unwrap_or(0), count: LOCALS, special, internals: false };
        let (_, children) = session.locals(frame, page, VALUE).await?;
        let (index, found) = inspect::place_of(&session, frame).await?;
        Ok(StatusAnswer(LocalsData {
            variables: variables(&children),
            total: children.total,
            next_start: children.next_start(),
            hidden: Some(children.hidden).filter(|hidden| *hidden > 0),
            frame: found.as_ref().map(|frame| FrameData::new(index, frame)),
        }))
    }
}

/// Lists the global variables.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerGetGlobalVariables {
    session_id: Option<String>,
    /// default: the selected frame, else 0
    frame_index: Option<usize>,
    /// first variable, default 0
    start: Option<u64>,
    /// default 200
    count: Option<u64>,
    /// include a module's modules, functions and classes
    include_special: Option<bool>,
}

/// Variables that are there everywhere.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GlobalVariables {
    variables: Vec<GlobalData>,
    /// Total number.
    total: u64,
    /// Where the next page starts, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_start: Option<u64>,
    /// Number of omitted special variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden: Option<u64>,
}
/// A variable and its scope.
#[derive(Debug, Serialize, JsonSchema)]
struct GlobalData {
    #[serde(flatten)]
    variable: VariableData,
    /// `Module`, `Script`, `Global` or `Globals`.
    scope: String,
}

impl Tool for DebuggerGetGlobalVariables {
    type Answer = StatusAnswer<GlobalVariables>;
    const NAME: &'static str = "debugger_get_global_variables";
    const TITLE: &'static str = "Get global variables";
    const DESCRIPTION: &'static str =
        "Show the variables of the frame's module, and in Node.js those of the global object.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<StatusAnswer<GlobalVariables>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let frame = shared::frame(&session, self.frame_index).await?;
        let start = self.start.unwrap_or(0);
        let count = context.bounds().requested_count(self.count, GLOBALS)?;
        let special = self.include_special.unwrap_or(false);
        let page = Page { start, count, special, internals: false };
        let globals = globals::globals(&session, frame, page, VALUE).await?;
        let next = start + globals.variables.len() as u64;
        let variable = |(scope, variable): &_| GlobalData {
            scope: String::clone(scope),
            variable: VariableData::from(variable),
        };
        Ok(StatusAnswer(GlobalVariables {
            variables: globals.variables.iter().map(variable).collect(),
            total: globals.total,
            next_start: Some(next).filter(|next| *next < globals.total),
            hidden: Some(globals.hidden).filter(|hidden| *hidden > 0),
        }))
    }
}
