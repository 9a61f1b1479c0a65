//! Values, frames and breakpoints as this vocabulary has them.

use engine::model::breakpoint::{Binding, Breakpoint, Pending};
use engine::model::ids::Reference;
use engine::model::stack::StackFrame;
use engine::model::variable::{Children, Value, Variable};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

use crate::ops::run_until::moved_to_column;
use crate::render::{self, GeneratedData, failed, plain, unbound};

/// A value.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ValueData {
    /// JSON if that is lossless (numbers, strings, booleans), otherwise readable text.
    pub(super) value: Json,
    /// Type name; in JavaScript what `typeof` says.
    #[serde(rename = "type")]
    pub(super) type_name: String,
    /// Class, in JavaScript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) class_name: Option<String>,
    /// Pass it to `debugger_inspect_object`. Valid until the program resumes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) object_id: Option<String>,
    /// Number of properties, if known; without private fields and inherited getters unless it was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) property_count: Option<u64>,
    /// The text is truncated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// Length of the full text, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    /// The frame it was read in, if it is another one, or another remark on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl From<&Value<Reference>> for ValueData {
    fn from(value: &Value<Reference>) -> Self {
        let kind = value.kind.unwrap_or(&value.type_name);
        let is_object = !matches!(value.type_name.as_str(), "null");
        Self {
            value: plain(&value.type_name, &value.text),
            type_name: kind.to_owned(),
            class_name: Some(value.type_name.clone()).filter(|class| is_object && class != kind),
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
    /// Index in this list: pass it as `frameIndex`.
    pub(super) index: usize,
    pub(super) function: String,
    /// Absolute path, or a name for code without a file.
    pub(super) file: String,
    /// 1-based.
    pub(super) line: u32,
    /// 1-based.
    pub(super) column: u32,
    /// Location of the generated code that runs, if this file was compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) generated: Option<GeneratedData>,
    /// Belongs to a library or to the runtime.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) internal: bool,
}

impl FrameData {
    pub(super) fn new(index: usize, frame: &StackFrame<Reference>) -> Self {
        let render::FrameData { id: _, name, file, line, column, generated, internal } = frame.into();
        Self { index, function: name, file, line, column, generated, internal }
    }
}

/// A breakpoint.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BreakpointData {
    pub(super) breakpoint_id: String,
    /// The same as `breakpointId`.
    id: String,
    /// Absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The bound line; 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    /// The requested line, if different.
    #[serde(skip_serializing_if = "Option::is_none")]
    requested_line: Option<u32>,
    /// The bound column, if one was requested; 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    /// The function it is set on, in any file.
    #[serde(skip_serializing_if = "Option::is_none")]
    function_name: Option<String>,
    /// Stops only if this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<String>,
    /// Stops only at these hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    hit_count_condition: Option<HitCountCondition>,
    /// Prints this instead of stopping.
    #[serde(skip_serializing_if = "Option::is_none")]
    log_message: Option<String>,
    enabled: bool,
    /// Bound to a location in the running program.
    verified: bool,
    /// `bound`, `pending` until its code is loaded, `disabled`, or `refused`.
    state: &'static str,
    /// Why it is not bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Number of stops, or of logged messages.
    hit_count: u64,
    /// Number of failures of its condition or log message, and the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    /// More about its location.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}
/// Hits at which a breakpoint acts.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HitCountCondition {
    pub(super) operator: &'static str,
    pub(super) value: u64,
}

impl From<&Breakpoint> for BreakpointData {
    fn from(breakpoint: &Breakpoint) -> Self {
        let line = breakpoint.line();
        let hit_count_condition = breakpoint.rule.hit_condition.map(|condition| HitCountCondition {
            operator: condition.operator.as_str(),
            value: condition.count,
        });
        Self {
            breakpoint_id: breakpoint.id.to_string(),
            id: breakpoint.id.to_string(),
            file: breakpoint.path().map(|path| path.display().to_string()),
            line,
            requested_line: breakpoint.requested_line().filter(|asked| Some(*asked) != line),
            column: breakpoint.column(),
            function_name: breakpoint.at_entry_of().map(str::to_owned),
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
