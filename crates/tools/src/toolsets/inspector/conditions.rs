//! Breakpoints on functions and exceptions, and at which passes to stop.

use engine::adapter;
use engine::model::breakpoint::{Failures, HitCondition, HitOperator, Rule};
use engine::model::stop::{ExceptionBreakpoints, ExceptionMode};
use engine::session::Session;
use engine::session::breakpoints::Change;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::StatusAnswer;
use super::data::{BreakpointData, HitCountCondition};
use super::shared;
use crate::ops::functions::{self, Pattern};
use crate::ops::run_until::check_condition;
use crate::render::failed;
use crate::{Context, Effects, Tool, ToolError};

/// There is one such setting in a session.
const EXCEPTIONS: &str = "exceptions";

/// Sets breakpoints on functions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerSetFunctionBreakpoint {
    session_id: Option<String>,
    /// name, Class.method, or a regular expression for functions in the files around the program: /^handle/, matched against Class.method, then against the last part alone
    function_name: String,
    /// stop only where this expression is true
    condition: Option<String>,
}

/// Breakpoints on functions.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionBreakpoints {
    /// ID of the first one.
    function_breakpoint_id: String,
    function_name: String,
    enabled: bool,
    /// All are bound.
    verified: bool,
    /// One per function, each with its own ID.
    breakpoints: Vec<BreakpointData>,
    /// Additional notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Tool for DebuggerSetFunctionBreakpoint {
    type Answer = StatusAnswer<FunctionBreakpoints>;
    const NAME: &'static str = "debugger_set_function_breakpoint";
    const TITLE: &'static str = "Set function breakpoint";
    const DESCRIPTION: &'static str =
        "Stop at the entry of a function, or of all functions whose names match.";
    const EFFECTS: Effects = Effects::ADDS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<FunctionBreakpoints>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let pattern = Pattern::read(&self.function_name)?;
        let set = functions::set_breakpoints(&session, &pattern, &Rule::on(self.condition)).await?;
        let set_one = |(breakpoint, note)| BreakpointData::noted(&breakpoint, note);
        let breakpoints: Vec<BreakpointData> = set.breakpoints.into_iter().map(set_one).collect();
        let first = breakpoints.first().map(|first| first.breakpoint_id.clone());
        Ok(StatusAnswer(FunctionBreakpoints {
            function_breakpoint_id: first.unwrap_or_default(),
            function_name: self.function_name,
            enabled: true,
            verified: breakpoints.iter().all(BreakpointData::is_verified),
            breakpoints,
            notes: set.notes,
        }))
    }
}

/// Chooses the exceptions to stop at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerSetExceptionBreakpoint {
    session_id: Option<String>,
    /// default false; true: stop at caught exceptions too
    break_on_caught: Option<bool>,
    /// default true
    break_on_uncaught: Option<bool>,
    /// only exceptions of this type or a subclass, such as `TypeError`, or a regular expression matched against type and message: /Error: no .*
    /// left/
    exception_filter: Option<String>,
}

/// The exceptions to stop at.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExceptionModeResult {
    exception_breakpoint_id: &'static str,
    /// Whether it stops at any.
    enabled: bool,
    break_on_caught: bool,
    break_on_uncaught: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    exception_filter: Option<String>,
    #[serde(flatten)]
    exceptions: ExceptionsData,
    /// Additional notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<&'static str>,
}

/// The exceptions to stop at, as they are.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExceptionsData {
    /// `none`, `uncaught` or `all`.
    mode: String,
    /// Only if this is true for the exception, `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    /// Number of failures of the condition, and the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

impl ExceptionsData {
    pub(super) fn new(wanted: ExceptionBreakpoints, failures: Option<&Failures>) -> Self {
        let failure = failures.map(failed);
        Self { mode: wanted.mode.to_string(), condition: wanted.condition, failure }
    }
}

impl Tool for DebuggerSetExceptionBreakpoint {
    type Answer = StatusAnswer<ExceptionModeResult>;
    const NAME: &'static str = "debugger_set_exception_breakpoint";
    const TITLE: &'static str = "Set exception breakpoint";
    const DESCRIPTION: &'static str = "Choose the exceptions to stop at; by default, uncaught ones.";
    const EFFECTS: Effects = Effects::SETS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<ExceptionModeResult>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let caught = self.break_on_caught.unwrap_or(false);
        let uncaught = self.break_on_uncaught.unwrap_or(true);
        let filter = self.exception_filter.filter(|filter| !filter.trim().is_empty());
        let (mode, notes) = mode(caught, uncaught);
        let condition = match &filter {
            Some(_) if mode == ExceptionMode::None => {
                return Err(ToolError::argument(
                    "exceptionFilter",
                    "needs `breakOnCaught` or `breakOnUncaught`",
                ));
            }
            Some(filter) => Some(condition(&session, filter)?),
            None => None,
        };
        let wanted = ExceptionBreakpoints { mode, condition };
        check_condition(&session, &wanted).await?;
        session.set_exception_breakpoints(wanted.clone()).await?;
        Ok(StatusAnswer(ExceptionModeResult {
            exception_breakpoint_id: EXCEPTIONS,
            enabled: wanted.mode != ExceptionMode::None,
            break_on_caught: caught,
            break_on_uncaught: uncaught,
            exception_filter: filter,
            exceptions: ExceptionsData::new(wanted, None),
            notes,
        }))
    }
}

/// Debuggers have no way to stop at what is caught and to pass over what is not.
fn mode(caught: bool, uncaught: bool) -> (ExceptionMode, Vec<&'static str>) {
    match (caught, uncaught) {
        (true, true) => (ExceptionMode::All, Vec::new()),
        (true, false) => {
            let note = "uncaught exceptions stop the program too: at the throw, it is not certain whether \
                        code will catch it";
            (ExceptionMode::All, vec![note])
        }
        (false, true) => (ExceptionMode::Uncaught, Vec::new()),
        (false, false) => (ExceptionMode::None, Vec::new()),
    }
}

/// A filter is the name of a type, or else a regular expression for type and message.
fn condition(session: &Session, filter: &str) -> Result<String, ToolError> {
    let Some(expressions) = session.adapter().value_expressions() else {
        let instead = "leave out `exceptionFilter`, and evaluate at each stop";
        return Err(adapter::unsupported(session.adapter(), "filtering exceptions", instead).into());
    };
    let name = filter.trim();
    let is_part = |part: &str| {
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
        !part.is_empty() && part.chars().all(is_letter) && !part.starts_with(|c: char| c.is_ascii_digit())
    };
    if name.split('.').all(is_part) {
        return Ok(expressions.is_of_type(name));
    }
    let between = name.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    Ok(expressions.is_like(between.unwrap_or(name)))
}

/// Says at which passes a breakpoint stops.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerSetHitCountCondition {
    session_id: Option<String>,
    breakpoint_id: String,
    /// how the hit count is compared; % means every Nth
    operator: Operator,
    value: u64,
}

/// How a count is compared.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
enum Operator {
    #[serde(rename = "==")]
    Equal,
    #[serde(rename = ">")]
    Greater,
    #[serde(rename = ">=")]
    GreaterOrEqual,
    #[serde(rename = "<")]
    Less,
    #[serde(rename = "<=")]
    LessOrEqual,
    #[serde(rename = "%")]
    Multiple,
}

impl From<Operator> for HitOperator {
    fn from(operator: Operator) -> Self {
        match operator {
            Operator::Equal => Self::Equal,
            Operator::Greater => Self::Greater,
            Operator::GreaterOrEqual => Self::GreaterOrEqual,
            Operator::Less => Self::Less,
            Operator::LessOrEqual => Self::LessOrEqual,
            Operator::Multiple => Self::Multiple,
        }
    }
}

/// At which passes a breakpoint stops now.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HitCountResult {
    breakpoint_id: String,
    hit_count_condition: HitCountCondition,
    /// Number of stops, or of logged messages, in this run.
    current_hit_count: u64,
    verified: bool,
}

impl Tool for DebuggerSetHitCountCondition {
    type Answer = StatusAnswer<HitCountResult>;
    const NAME: &'static str = "debugger_set_hit_count_condition";
    const TITLE: &'static str = "Set hit count condition";
    const DESCRIPTION: &'static str =
        "Stop at a breakpoint only at some of its hits, counted where its condition is true.";
    const EFFECTS: Effects = Effects::SETS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<HitCountResult>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let id = shared::breakpoint_id(&session, &self.breakpoint_id).await?;
        let condition = HitCondition { operator: self.operator.into(), count: self.value };
        if condition.count == 0 && condition.operator == HitOperator::Multiple {
            return Err(ToolError::argument("value", "must be at least 1 with the operator `%`"));
        }
        let known = session.breakpoints().await?;
        let old = known.into_iter().find(|known| known.id == id).map(|known| known.rule);
        let rule = Rule { hit_condition: Some(condition), ..old.unwrap_or_default() };
        let change = Change { enabled: None, rule: Some(rule) };
        let breakpoint = session.change_breakpoint(id, change).await?;
        Ok(StatusAnswer(HitCountResult {
            breakpoint_id: id.to_string(),
            hit_count_condition: HitCountCondition {
                operator: condition.operator.as_str(),
                value: condition.count,
            },
            current_hit_count: breakpoint.hits,
            verified: breakpoint.is_verified(),
        }))
    }
}
