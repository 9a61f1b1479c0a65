//! What an assertion has thrown: both sides, as the source has them and as they are.

use std::sync::Arc;

use ::cdp::runtime::RemoteObject;

use super::binding::{self, BINDING};
use super::exceptions::{self, is_assertion, is_of_users, is_users};
use super::{CdpDebugger, frames, unhandled};
use crate::deadlines;
use crate::debugger::Evaluate;
use crate::error::Result;
use crate::javascript::{self, Asserted};
use crate::model::ids::RawId;
use crate::model::thrown::{Assertion, Side, SideValue, Thrown};

/// What holds the sides: Jest keeps them in an object of their own.
const HOLDER: &str = "(error=>Object(error.matcherResult??error))";

/// What is known of what the thread is stopped at.
pub(super) async fn thrown(debugger: &CdpDebugger, text: usize) -> Result<Thrown> {
    let stop = debugger.stop()?;
    let Some(thrown) = &stop.thrown else { return Ok(Thrown::default()) };
    let mark = unhandled::mark_of(debugger, &thrown.value).await;
    if !is_assertion(&thrown.value) {
        return Ok(Thrown { mark, ..Thrown::default() });
    }
    let values = values(debugger, &thrown.value, stop.id_of(0), text).await?;
    let written = written(debugger).await.unwrap_or_default();
    let side = |expression: Option<String>, value: Option<SideValue>| {
        (expression.is_some() || value.is_some()).then_some(Side { expression, value })
    };
    let assertion = Assertion {
        expression: written.expression,
        operator: written.operator.or(values.operator),
        left: side(written.left, values.left),
        // What is asserted of one side has another one only for the framework.
        right: side(written.right.clone(), values.right.filter(|_| !written.has_one_side)),
    };
    Ok(Thrown { mark, assertion: Some(assertion), ..Thrown::default() })
}

/// What the error holds.
#[derive(Debug, Default)]
struct Values {
    operator: Option<String>,
    left: Option<SideValue>,
    right: Option<SideValue>,
}

async fn values(debugger: &CdpDebugger, thrown: &RemoteObject, frame: RawId, text: usize) -> Result<Values> {
    let top = frames::frame(debugger, frame).await?;
    binding::bind_frame(debugger, &top).await?;
    exceptions::lend(debugger, thrown, true).await?;
    let ask = async |expression: &str| {
        let request = Evaluate {
            expression: format!("{HOLDER}({BINDING}.error){expression}"),
            frame,
            deadline: deadlines::CONDITION,
            text,
            pure: debugger.0.shared.policy.safety.read_only,
        };
        let value = debugger.0.values.evaluate(&top, &request).await.ok()?;
        Some(SideValue { text: value.text, type_name: value.type_name, cut: value.cut })
    };
    let has = async |name: &str| {
        let answer = ask(&format!(".hasOwnProperty('{name}')")).await;
        answer.is_some_and(|answer| answer.text == "true")
    };
    let mut values = Values::default();
    if has("actual").await {
        values.left = ask(".actual").await;
    }
    if has("expected").await {
        values.right = ask(".expected").await;
    }
    for name in ["operator", "name"] {
        if values.operator.is_none() && has(name).await {
            let operator = ask(&format!(".{name}")).await;
            let operator = operator.map(|operator| operator.text.trim_matches(['\'', '"']).to_owned());
            values.operator = operator.filter(|operator| operator != "AssertionError");
        }
    }
    exceptions::lend(debugger, thrown, false).await?;
    Ok(values)
}

/// What the user has written, at the place in his innermost function.
async fn written(debugger: &CdpDebugger) -> Option<Asserted> {
    let stop = debugger.stop().ok()?;
    let place = if let Some(frame) = stop.frames.iter().find(|frame| is_users(debugger, frame)) {
        frame.location.clone()
    } else {
        let mut traces = std::iter::successors(stop.asynchronous.as_ref(), |trace| trace.parent.as_deref());
        let first = traces.find_map(|trace| {
            trace.call_frames.iter().find(|frame| is_of_users(debugger, &frame.script_id))
        })?;
        unhandled::place(first)
    };
    let location = frames::location(debugger, &place).await?;
    let path = location.source.path?;
    let (line, column) = (location.line.saturating_sub(1), location.column.saturating_sub(1));
    let policy = Arc::clone(&debugger.0.shared.policy);
    let look = move || {
        let text = policy.safety.read_text(&path).ok()?;
        javascript::asserted(&text, &path, line, column)
    };
    tokio::task::spawn_blocking(look).await.ok()?
}
