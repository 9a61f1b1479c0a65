//! What an assertion has thrown: both sides, as the source has them and as they are.

use std::sync::Arc;

use ::cdp::runtime::RemoteObject;

use super::super::frames::{self, place_of};
use super::super::injected::BINDING;
use super::super::sources::Sources;
use super::super::stop::V8Stop;
use super::ExceptionPauses;
use crate::deadlines;
use crate::debugger::Evaluate;
use crate::error::Result;
use crate::javascript::{self, Compared, ParsedAssertion};
use crate::model::thrown::{Assertion, Side, SideValue};

/// Contains the sides: Jest keeps them in a separate object.
const HOLDER: &str = "(error=>Object(error.matcherResult??error))";

impl ExceptionPauses {
    /// Both sides of the assertion that has thrown an error at a stop.
    pub(super) async fn assertion(
        &self,
        stop: &V8Stop,
        thrown: &RemoteObject,
        text: usize,
    ) -> Result<Assertion> {
        let held = self.held_sides(stop, thrown, text).await?;
        let written = written(stop, &self.sources).await.unwrap_or_default();
        let is_derived = written.compared != Compared::Value;
        // A framework leaves out what it does not compare.
        let is_value = |value: &SideValue, is_left_out: bool| value.text != "undefined" || !is_left_out;
        let left = held.left.filter(|value| is_value(value, is_derived));
        // What is asserted of one side has another one only for the framework.
        let is_written = written.is_of_equality || written.right.as_deref() == Some("undefined");
        let right =
            held.right.filter(|value| !written.has_one_side && is_value(value, is_derived || !is_written));
        // The text of a value is not that of what was derived from it.
        let side = |expression: Option<String>, value: Option<SideValue>| {
            let expression = expression.filter(|_| value.is_none() || written.compared != Compared::Part);
            (expression.is_some() || value.is_some()).then_some(Side { expression, value })
        };
        Ok(Assertion {
            left: side(written.left.clone(), left),
            right: side(written.right.clone(), right),
            expression: written.expression,
            operator: written.operator.or(held.operator),
        })
    }

    async fn held_sides(&self, stop: &V8Stop, thrown: &RemoteObject, text: usize) -> Result<AssertionSides> {
        let frame = stop.id_of(0);
        let top = frames::frame(stop, &self.sources.scripts, frame).await?;
        let ask = async |expression: &str| {
            let request = Evaluate {
                expression: format!("{HOLDER}({BINDING}.error){expression}"),
                frame,
                deadline: deadlines::CONDITION,
                text,
                pure: self.sources.program.is_read_only(),
            };
            let value = self.values.evaluate(&top, &request).await.ok()?;
            Some(SideValue { text: value.text, type_name: value.type_name, cut: value.cut })
        };
        let has = async |name: &str| {
            let answer = ask(&format!(".hasOwnProperty('{name}')")).await;
            answer.is_some_and(|answer| answer.text == "true")
        };
        let read = async {
            let mut held = AssertionSides::default();
            if has("actual").await {
                held.left = ask(".actual").await;
            }
            if has("expected").await {
                held.right = ask(".expected").await;
            }
            for name in ["operator", "name"] {
                if held.operator.is_none() && has(name).await {
                    let operator = ask(&format!(".{name}")).await;
                    let operator =
                        operator.map(|operator| operator.text.trim_matches(['\'', '"']).to_owned());
                    held.operator = operator.filter(|operator| operator != "AssertionError");
                }
            }
            Ok(held)
        };
        self.binding.with_error(&top, thrown, read).await
    }
}

/// What the error holds.
#[derive(Debug, Default)]
struct AssertionSides {
    operator: Option<String>,
    left: Option<SideValue>,
    right: Option<SideValue>,
}

/// What the user has written, at the place in his innermost function.
async fn written(stop: &V8Stop, sources: &Sources) -> Option<ParsedAssertion> {
    let place = if let Some(frame) = stop.frames.iter().find(|frame| sources.is_users_frame(frame)) {
        frame.location.clone()
    } else {
        let mut callers = stop.traces().flat_map(|trace| &trace.call_frames);
        place_of(callers.find(|frame| sources.is_users(&frame.script_id))?)
    };
    let location = sources.location(&place).await?;
    let path = location.source.path?;
    let place = (location.line.saturating_sub(1), location.column.saturating_sub(1));
    let policy = Arc::clone(&sources.program.policy);
    let look = move || {
        let text = policy.safety.read_text(&path).ok()?;
        javascript::asserted(&text, &path, place)
    };
    tokio::task::spawn_blocking(look).await.ok()?
}
