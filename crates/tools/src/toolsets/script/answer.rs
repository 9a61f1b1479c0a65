//! What `debug-script` answers: results as data and no text, or an error as both.

use engine::model::ids::Reference;
use engine::model::stack::StackFrame;
use engine::recording::Cell;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::ops::settle::Settled;
use crate::ops::trace::{TraceEndReason, TraceResult, key_of};
use crate::render::output_text;
use crate::{Answer, Reply, ToolError, schema};

/// The specification's words.
const EXITED: &str = "Process exited before breakpoint was hit";
/// Room for what an answer has beside its results, in bytes.
const REST: usize = 8_000;
/// What a result takes beside its type and value, a stack and the remark that it is truncated, in bytes.
const RESULT: usize = "{'type':'','value':''},".len();
const FRAME: usize = "{'function':'','file':'','line':100000,'column':1000},".len();
const MORE: usize = "'truncated':true,'stack':[],".len();

/// What came of a command.
#[derive(Debug)]
pub(super) struct ScriptResult(Body);

/// The same without the fields that *nodejs-debug-mcp* does not have. There, nothing is cut: here, that is an error.
#[derive(Debug)]
pub(super) struct OriginalResult(pub(super) ScriptResult);

/// The structured content.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Body {
    /// One per hit, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<ResultData>>,
    /// The error. With results, it is a timeout, and these were recorded before.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Why the line was not reached, where the program was, and whether it was ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Number of hits, if there are more than results.
    #[serde(skip_serializing_if = "Option::is_none")]
    hits: Option<u64>,
    /// Exit code, if the program has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// End of the program's output, if requested or if nothing was reached.
    #[serde(skip_serializing_if = "String::is_empty")]
    output: String,
}

/// The value of the expression at one pass.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ResultData {
    /// Result of `typeof`; in Python the type name; `error` if the expression threw.
    #[serde(rename = "type")]
    type_name: String,
    /// Value, or its text if JSON cannot represent it; for an error, its message in one line.
    value: Value,
    /// The text is truncated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// Innermost first, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stack: Vec<StackEntry>,
}

/// A frame.
#[derive(Debug, Serialize, JsonSchema)]
struct StackEntry {
    function: String,
    file: String,
    /// 1-based.
    line: u32,
    /// 1-based.
    column: u32,
}

/// A failure.
#[derive(Debug, Serialize, JsonSchema)]
struct ScriptFailure {
    error: String,
}

/// What an answer is to have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// The requested one, in milliseconds.
    pub(super) timeout: u64,
    /// As requested.
    pub(super) max_hits: Option<u64>,
    pub(super) with_output: bool,
    /// The most bytes.
    pub(super) bytes: usize,
}

impl ScriptResult {
    pub(super) fn new(traced: TraceResult, wanted: Wanted) -> Self {
        let Wanted { timeout, max_hits, with_output, bytes } = wanted;
        let passes = traced.points.iter().map(|point| point.hits).sum::<u64>();
        let is_empty = traced.rows.is_empty();
        let has_all = max_hits.is_some_and(|max| traced.rows.len() as u64 >= max);
        let error = match traced.end_reason {
            TraceEndReason::ProgramEnded | TraceEndReason::Stopped if is_empty => Some(EXITED.to_owned()),
            TraceEndReason::TimedOut if !has_all => {
                Some(format!("Timeout waiting for breakpoint after {timeout}ms"))
            }
            _ => None,
        };
        let results = results(&traced, bytes.saturating_sub(REST));
        let told = results.len() as u64;
        let mut body = Body {
            hits: Some(passes).filter(|passes| *passes > told),
            results: (!is_empty).then_some(results),
            ..Body::default()
        };
        let failures = traced.points.iter().filter_map(|point| point.breakpoint.failures.as_ref());
        body.notes.extend(failures.map(|failures| {
            format!("the condition failed {} times; last error: {}", failures.count, failures.message)
        }));
        if has_all && traced.end_reason == TraceEndReason::TimedOut {
            body.notes.push(format!("the program was still running after {timeout} ms, and was ended"));
        }
        body.notes.extend(traced.points.into_iter().flat_map(|point| point.notes));
        body.notes.extend(traced.notes);
        if let Settled::Ended { end, output, .. } = &traced.settled {
            if error.is_some() {
                body.exit_code = end.exit_code();
            }
            if error.is_some() || with_output {
                body.output = output_text(output);
            }
        }
        body.error = error;
        Self(body)
    }

    /// The program did not come up, for this reason.
    pub(super) fn never_ran(error: ToolError) -> Self {
        Self(Body { error: Some(EXITED.to_owned()), notes: vec![error.message], ..Body::default() })
    }
}

/// The values, as far as there is room for them. The first ones are kept.
fn results(traced: &TraceResult, mut left: usize) -> Vec<ResultData> {
    let mut results = Vec::new();
    for row in &traced.rows {
        let Some(cell) = row.cells.first() else { continue };
        let stack = traced.stacks.get(&key_of(row)).map(Vec::as_slice).unwrap_or_default();
        let (result, size) = result(cell, stack);
        let Some(rest) = left.checked_sub(size) else { break };
        left = rest;
        results.push(result);
    }
    results
}

/// A result, and about how many bytes it takes.
fn result(cell: &Cell, stack: &[StackFrame<Reference>]) -> (ResultData, usize) {
    let stack: Vec<StackEntry> = stack.iter().map(StackEntry::from).collect();
    let stack_size: usize = stack.iter().map(|frame| frame.function.len() + frame.file.len() + FRAME).sum();
    let (type_name, value, truncated, length) = match cell {
        Cell::Error(message) => ("error", Value::from(message.as_str()), false, message.len()),
        Cell::Value { type_name, text, cut, json } => {
            (type_name.as_str(), value(type_name, text, *json), *cut, text.len())
        }
    };
    let more = if truncated || !stack.is_empty() { MORE } else { 0 };
    let size = RESULT + type_name.len() + length + more + stack_size;
    (ResultData { type_name: type_name.to_owned(), value, truncated, stack }, size)
}

/// Numbers that would lose digits stay texts.
fn value(type_name: &str, text: &str, is_json: bool) -> Value {
    if type_name == "undefined" {
        return Value::Null;
    }
    let read: Option<Value> = serde_json::from_str(text).ok().filter(|_| is_json);
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    match read {
        Some(Value::Number(number)) if is_whole && number.is_f64() => Value::from(text),
        Some(value) => value,
        None => Value::from(text),
    }
}

impl From<&StackFrame<Reference>> for StackEntry {
    fn from(frame: &StackFrame<Reference>) -> Self {
        let location = frame.location.as_ref();
        Self {
            function: frame.name.clone(),
            file: location.map(|location| location.source.name.clone()).unwrap_or_default(),
            line: location.map_or(0, |location| location.line),
            column: location.map_or(0, |location| location.column),
        }
    }
}

impl Answer for OriginalResult {
    fn reply(self) -> Reply {
        let Self(ScriptResult(Body { mut results, mut error, hits, .. })) = self;
        let all = results.as_deref().unwrap_or_default();
        if let Some(hits) = hits.filter(|_| error.is_none()) {
            let shown = all.len();
            error = Some(format!(
                "{shown} of {hits} hits are here; the limits `rows` and `answer` allow no more"
            ));
        } else if error.is_none() && all.iter().any(|result| result.truncated) {
            error = Some("a value is truncated at the limit `longest_value`".to_owned());
        }
        for result in results.iter_mut().flatten() {
            result.truncated = false;
            match result.value {
                Value::Array(_) if result.type_name == "object" => "array".clone_into(&mut result.type_name),
                Value::Null if result.type_name == "object" => "null".clone_into(&mut result.type_name),
                _ => {}
            }
        }
        ScriptResult(Body { results, error, ..Body::default() }).reply()
    }

    fn failure(error: &ToolError, tool: &str) -> Reply {
        ScriptResult::failure(error, tool)
    }

    fn schema() -> Option<Map<String, Value>> {
        ScriptResult::schema()
    }

    fn failure_schema() -> Option<Map<String, Value>> {
        ScriptResult::failure_schema()
    }
}

impl Answer for ScriptResult {
    fn reply(self) -> Reply {
        let text = self.0.error.clone().unwrap_or_default();
        let is_error = self.0.error.is_some();
        Reply { text, structured: Some(serde_json::to_value(self.0).unwrap_or_default()), is_error }
    }

    fn failure(error: &ToolError, _tool: &str) -> Reply {
        let failed = ScriptFailure { error: error.message.clone() };
        let structured = serde_json::to_value(failed).unwrap_or_default();
        Reply { text: error.message.clone(), structured: Some(structured), is_error: true }
    }

    fn schema() -> Option<Map<String, Value>> {
        Some(schema::output::<Body>())
    }

    fn failure_schema() -> Option<Map<String, Value>> {
        Some(schema::output::<ScriptFailure>())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_json_or_else_text() {
        let table = [
            ("number", "42", true, json!(42)),
            ("number", "1.5", true, json!(1.5)),
            ("number", "NaN", false, json!("NaN")),
            ("string", "\"a\"", true, json!("a")),
            ("object", "{\"a\":[1]}", true, json!({ "a": [1] })),
            ("object", "Map(1) { 1 => 2 }", false, json!("Map(1) { 1 => 2 }")),
            ("undefined", "undefined", false, json!(null)),
            ("bigint", "12n", false, json!("12n")),
            ("int", "123456789012345678901234567890", true, json!("123456789012345678901234567890")),
        ];
        for (type_name, text, is_json, expected) in table {
            assert_eq!(value(type_name, text, is_json), expected, "{text}");
        }
    }
}
