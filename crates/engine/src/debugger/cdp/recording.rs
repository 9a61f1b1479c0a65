//! Values that the program writes down itself; see `debuggee/node/recorder.js`.
//!
//! V8's breakpoint has a condition that hands the values out and is false. Another global object, as test
//! runners make them, has no recorder before its first pass; there the condition is true, the program stops,
//! gets its recorder, and goes on.

use std::sync::LazyLock;

use ::cdp::debugger::EvaluateOnCallFrame;
use ::cdp::runtime::{CallFunctionOn, Evaluate};
use serde_json::json;

use super::rules::{BINDING, function};
use super::stops::Stop;
use super::{CdpDebugger, Kind, frames, sent};
use crate::deadlines;
use crate::debugger::RuleFor;
use crate::error::Result;
use crate::model::ids::BreakpointId;
use crate::recording::{Cells, Record};

/// What is called with the functions of `values.js`.
static RECORDER: LazyLock<String> = LazyLock::new(|| sent(include_str!("../../debuggee/node/recorder.js")));

/// Whether nothing but recording happens at a place.
pub(super) fn only_records(rules: &[RuleFor]) -> bool {
    !rules.is_empty() && rules.iter().all(|rule| rule.rule.record.is_some())
}

/// The condition of a place where nothing but recording happens.
pub(super) fn condition(rules: &[RuleFor], thread: &str) -> String {
    let calls = rules.iter().filter_map(|rule| Some(pass(rule, rule.rule.record.as_ref()?, thread)));
    let calls: Vec<String> = calls.map(|call| format!("({call}??true)")).collect();
    calls.join("|")
}

/// A call that writes a row, or does nothing where there is no recorder.
pub(super) fn pass(rule: &RuleFor, record: &Record, thread: &str) -> String {
    let BreakpointId(id) = rule.id;
    let condition = rule.rule.condition.as_deref().map_or("null".to_owned(), function);
    let asked = std::iter::once(condition).chain(record.expressions.iter().map(|text| function(text)));
    let asked: Vec<String> = asked.collect();
    let specification = json!(specification(record, thread));
    format!("{BINDING}.recorder?.pass({id},{specification},{})", asked.join(","))
}

/// What the recorder is to know of a place, as JSON.
pub(super) fn specification(record: &Record, thread: &str) -> String {
    let (limit, is_json) = match record.cells {
        Cells::Text(limit) => (limit, false),
        Cells::Json(limit) => (limit, true),
    };
    json!({
        "every": record.sample_every,
        "changed": record.only_when_changed,
        "max": record.max_rows,
        "limit": limit,
        "json": is_json,
        "pipe": record.recorder.pipe(),
        "thread": thread,
    })
    .to_string()
}

/// What rows call the thread.
pub(super) fn thread(debugger: &CdpDebugger) -> &str {
    match &debugger.0.kind {
        Kind::Program => "main",
        Kind::Child(name) | Kind::Worker(name) => name,
    }
}

/// Brings the recorder into the global object of the program.
pub(super) async fn install(debugger: &CdpDebugger) -> Result<()> {
    let helper = debugger.0.values.default_helper().await?;
    let Some(helper) = helper else { return Ok(()) };
    install_with(debugger, &helper).await
}

async fn install_with(debugger: &CdpDebugger, helper: &str) -> Result<()> {
    let call = CallFunctionOn {
        function_declaration: format!("function(){{{BINDING}.recorder??=({})(this)}}", *RECORDER),
        object_id: Some(helper.to_owned()),
        silent: true,
        ..CallFunctionOn::default()
    };
    let installed = debugger.0.client.request(call, deadlines::LONGEST_WAIT).await?;
    if let Some(exception) = &installed.exception_details {
        tracing::warn!(?exception, "the program cannot write values by itself");
    }
    Ok(())
}

/// The program has stopped at a place whose condition found no recorder: it gets one, and the pass is recorded.
pub(super) async fn catch_up(debugger: &CdpDebugger, stop: &Stop, rules: &[RuleFor]) {
    let caught_up = async {
        let frame = frames::frame(debugger, stop.id_of(0)).await?;
        if let Some(helper) = debugger.0.values.helper_of(&frame).await? {
            install_with(debugger, &helper).await?;
        }
        let pass = EvaluateOnCallFrame {
            call_frame_id: frame.call.call_frame_id.clone(),
            expression: condition(rules, thread(debugger)),
            silent: true,
            ..EvaluateOnCallFrame::default()
        };
        debugger.request(pass).await
    };
    if let Err(error) = caught_up.await {
        tracing::warn!(%error, "a pass could not be recorded");
    }
}

/// Has the program write what it has counted, and no more rows of these.
pub(super) async fn end(debugger: &CdpDebugger, ids: &[BreakpointId]) {
    let ids: Vec<u32> = ids.iter().map(|id| id.0).collect();
    let end = Evaluate {
        expression: format!("{BINDING}.recorder?.over({})", json!(ids)),
        silent: true,
        disable_breaks: true,
        ..Evaluate::default()
    };
    // One that is busy in native code ends with what it has written.
    let _ = debugger.0.client.request(end, deadlines::GOODBYE).await;
}
