//! Values that the program records itself, through the condition of V8's breakpoint, which is false; see
//! `debuggee/node/recorder.js`.

use std::sync::LazyLock;

use serde_json::json;

use super::injected::{BINDING, arrow_function, stripped};
use super::v8::{V8Client, evaluation};
use crate::deadlines;
use crate::debugger::RuleFor;
use crate::model::ids::BreakpointId;
use crate::recording::{CellFormat, Record};

/// What is called with the functions of `values.js`.
static RECORDER: LazyLock<String> =
    LazyLock::new(|| stripped(include_str!("../../debuggee/node/recorder.js")));

/// A function that brings the recorder into the global object of the helper that it is called on.
pub(super) fn installation() -> String {
    format!("function(){{{BINDING}.recorder??=({})(this)}}", *RECORDER)
}

/// Whether nothing but recording happens at a place.
pub(super) fn only_records(rules: &[RuleFor]) -> bool {
    !rules.is_empty() && rules.iter().all(|rule| rule.rule.record.is_some())
}

/// The condition of a place where nothing but recording happens.
pub(super) fn condition(rules: &[RuleFor], thread: &str) -> String {
    let calls = rules.iter().filter_map(|rule| Some(pass(rule, rule.rule.record.as_ref()?, thread)));
    calls.map(|call| format!("({call}??true)")).collect::<Vec<_>>().join("|")
}

/// A call that writes a row, or does nothing without a recorder.
pub(super) fn pass(rule: &RuleFor, record: &Record, thread: &str) -> String {
    let BreakpointId(id) = rule.id;
    let condition = rule.rule.condition.as_deref().map_or("null".to_owned(), arrow_function);
    let asked = std::iter::once(condition).chain(record.expressions.iter().map(|text| arrow_function(text)));
    let asked: Vec<String> = asked.collect();
    let specification = json!(specification(record, thread));
    format!("{BINDING}.recorder?.pass({id},{specification},{})", asked.join(","))
}

/// What the recorder is to know of a place, as JSON.
pub(super) fn specification(record: &Record, thread: &str) -> String {
    let (limit, is_json) = match record.cells {
        CellFormat::Text(limit) => (limit, false),
        CellFormat::Json(limit) => (limit, true),
    };
    json!({
        "every": record.sample_every,
        "changed": record.only_when_changed,
        "max": record.max_rows,
        "limit": limit,
        "json": is_json,
        // One that is not UTF-8 cannot be opened, and lines come as messages.
        "pipe": record.recorder.pipe().to_string_lossy(),
        "thread": thread,
    })
    .to_string()
}

/// Makes the program write its counts, and stop writing rows for these.
pub(super) async fn end(v8: &V8Client, ids: &[BreakpointId]) {
    let ids: Vec<u32> = ids.iter().map(|id| id.0).collect();
    let end = evaluation(format!("{BINDING}.recorder?.over({})", json!(ids)));
    // One that is busy in native code ends with what it has written.
    let _ = v8.request_within(deadlines::GOODBYE, end).await;
}
