//! Values, frames and breakpoints as this vocabulary has them.

use engine::model::breakpoint::{Binding, Breakpoint, BreakpointTarget, Pending};
use engine::model::ids::Reference;
use engine::model::stack::StackFrame;
use engine::model::variable::{Children, Value, Variable};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::ops::run_until::moved_to_column;
use crate::render::{GeneratedData, failed, plain, unbound};

/// A value.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ValueData {
    /// As JSON where that says all of it: numbers, texts, truth values, nothing. Otherwise a text for people.
    pub(super) value: Json,
    /// The name of its type.
    #[serde(rename = "type")]
    pub(super) type_name: String,
    /// Pass it to `debugger_inspect_object`. Good until the program runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) object_id: Option<String>,
    /// How many properties it has, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) property_count: Option<u64>,
    /// The text is not all of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// How long the whole is, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    /// Where it was read, when that is another frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl From<&Value<Reference>> for ValueData {
    fn from(value: &Value<Reference>) -> Self {
        Self {
            value: plain(&value.type_name, &value.text),
            type_name: value.type_name.clone(),
            object_id: value.reference.map(|reference| reference.to_string()),
            property_count: value.children,
            truncated: value.cut,
            length: value.length.filter(|_| value.cut),
            note: value.note.clone(),
        }
    }
}

/// A named value.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VariableData {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) value: ValueData,
}

impl From<&Variable<Reference>> for VariableData {
    fn from(variable: &Variable<Reference>) -> Self {
        Self { name: variable.name.clone(), value: ValueData::from(&variable.value) }
    }
}

/// All of a page.
pub(super) fn variables(children: &Children<Reference>) -> Vec<VariableData> {
    children.variables.iter().map(VariableData::from).collect()
}

/// A frame of a stack.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FrameData {
    /// Its place in this list: pass it as `frameIndex`.
    pub(super) index: usize,
    pub(super) function: String,
    /// Absolute path, or the name of code that is in no file.
    pub(super) file: String,
    /// 1-based.
    pub(super) line: u32,
    /// 1-based.
    pub(super) column: u32,
    /// Where the code is that really runs, when a compiler made it of this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) generated: Option<GeneratedData>,
    /// It belongs to a library or to the runtime.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) internal: bool,
}

impl FrameData {
    pub(super) fn new(index: usize, frame: &StackFrame<Reference>) -> Self {
        let location = frame.location.as_ref();
        Self {
            index,
            function: frame.name.clone(),
            file: location.map(|location| location.source.name.clone()).unwrap_or_default(),
            line: location.map_or(0, |location| location.line),
            column: location.map_or(0, |location| location.column),
            generated: location.and_then(GeneratedData::of),
            internal: frame.is_internal(),
        }
    }
}

/// A breakpoint.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BreakpointData {
    pub(super) breakpoint_id: String,
    /// Absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The line that it is on; 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// The line that was asked for, when it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_line: Option<u32>,
    /// The column that it is at, when one was asked for; 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    /// The function whose entry it is on, in whatever file.
    #[serde(skip_serializing_if = "Option::is_none")]
    function_name: Option<String>,
    /// Stops only where this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    /// Stops only at these passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    hit_count_condition: Option<HitCountCondition>,
    /// Prints this instead of stopping.
    #[serde(skip_serializing_if = "Option::is_none")]
    log_message: Option<String>,
    enabled: bool,
    /// It is bound to a place in the running program.
    verified: bool,
    /// `bound`, `pending` until its code is loaded, `disabled`, or `refused`.
    state: &'static str,
    /// Why it is not bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// How often it stopped the program, or logged.
    hit_count: u64,
    /// How often its condition or log message failed, and how the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    /// What else there is to know of its place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

/// At which passes a breakpoint acts.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HitCountCondition {
    pub(super) operator: &'static str,
    pub(super) value: u64,
}

impl From<&Breakpoint> for BreakpointData {
    fn from(breakpoint: &Breakpoint) -> Self {
        let line = breakpoint.line();
        let function_name = match &breakpoint.place {
            BreakpointTarget::Function { name } => Some(name.clone()),
            BreakpointTarget::Line { .. } => None,
        };
        let hit_count_condition = breakpoint.rule.hit_condition.map(|condition| HitCountCondition {
            operator: condition.operator.as_str(),
            value: condition.count,
        });
        Self {
            breakpoint_id: breakpoint.id.to_string(),
            file: breakpoint.path().map(|path| path.display().to_string()),
            line,
            requested_line: breakpoint.requested_line().filter(|asked| Some(*asked) != line),
            column: breakpoint.column(),
            function_name,
            condition: breakpoint.rule.condition.clone(),
            hit_count_condition,
            log_message: breakpoint.rule.log_message.clone(),
            enabled: breakpoint.enabled,
            verified: breakpoint.is_verified(),
            state: match &breakpoint.binding {
                Binding::Bound { .. } => "bound",
                Binding::Pending(Pending::Disabled) => "disabled",
                Binding::Pending(_) => "pending",
                Binding::Refused(_) => "refused",
            },
            reason: unbound(breakpoint),
            hit_count: breakpoint.hits,
            failure: breakpoint.failures.as_ref().map(failed),
            notes: moved_to_column(breakpoint).into_iter().collect(),
        }
    }
}

impl BreakpointData {
    pub(super) fn is_verified(&self) -> bool {
        self.verified
    }

    /// With what was found out about its place.
    pub(super) fn noted(breakpoint: &Breakpoint, note: Option<String>) -> Self {
        let mut data = Self::from(breakpoint);
        data.notes.extend(note);
        data
    }
}
