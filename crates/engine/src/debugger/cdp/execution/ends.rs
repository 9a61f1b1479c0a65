//! Internal breakpoints where a step may end that V8 itself would miss.
//!
//! V8 steps out of a function by the places where it returns. There is none where a `return` leaves a `for … of` or
//! comes through a `finally`, as in Node's own `require`: the step is lost then, and the program runs away.

use ::cdp::debugger::{self, BreakLocation, CallFrame, Location};
use futures_util::future;

use super::super::breakpoints::BreakpointBinder;
use super::super::sources::Sources;
use super::super::stop::V8Stop;
use super::super::v8::V8Client;
use crate::javascript::ScriptOutline;

/// A function with more places is caught at those that come next.
const MOST_PLACES: usize = 500;

/// Sets breakpoints where steps may end. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct StepEndBreakpoints {
    v8: V8Client,
    sources: Sources,
    breakpoints: BreakpointBinder,
}

impl StepEndBreakpoints {
    pub(super) fn new(v8: V8Client, sources: Sources, breakpoints: BreakpointBinder) -> Self {
        Self { v8, sources, breakpoints }
    }

    /// Breakpoints at all returns of the function of a stop: only there is its return value available. A function
    /// that throws does not reach them; then V8's own step out continues.
    pub(super) async fn of_function(&self, stop: &V8Stop) -> Vec<String> {
        let Some(frame) = stop.frames.first() else { return Vec::new() };
        if frame.return_value.is_some() {
            return Vec::new();
        }
        let mut possible = self.places(frame).await.unwrap_or_default();
        possible.retain(|location| location.kind.as_deref() == Some("return"));
        self.set_breakpoints(possible).await
    }

    /// The frames that a step from a stop may come back to without V8 knowing it, by their index, innermost first. For
    /// a step out, the place at which the function will be left is not known yet.
    pub(super) async fn unseen_ends(&self, stop: &V8Stop, is_out: bool) -> Vec<usize> {
        let mut found = Vec::new();
        for (index, frame) in stop.frames.iter().enumerate() {
            let is_foreign = self.sources.is_skipped(frame);
            if index > 0 && !is_foreign {
                found.push(index);
            }
            // What is foreign may have such places as well.
            if !is_foreign && !self.exits_without_stop(&frame.location, is_out && index == 0).await {
                break;
            }
        }
        found
    }

    /// Whether the function of a stop is an async generator. V8 (Node 20 to 24) crashes at a step out of one.
    pub(super) async fn is_in_async_generator(&self, stop: &V8Stop) -> bool {
        let Some(location) = stop.frames.first().map(|frame| &frame.location) else { return false };
        self.sources.at_outline(location, ScriptOutline::is_in_async_generator).await.unwrap_or(false)
    }

    async fn exits_without_stop(&self, location: &Location, any: bool) -> bool {
        let leaves = move |outline: &ScriptOutline, place| outline.exits_without_stop(place, any);
        self.sources.at_outline(location, leaves).await.unwrap_or(false)
    }

    /// Breakpoints at the places of a function that waits for a call: one of them comes next.
    pub(super) async fn in_caller(&self, frame: &CallFrame) -> Vec<String> {
        let mut possible = self.places(frame).await.unwrap_or_default();
        let at = |line: i32, column: Option<i32>| (line, column.unwrap_or(0));
        let here = at(frame.location.line_number, frame.location.column_number);
        let before = possible.partition_point(|place| at(place.line_number, place.column_number) <= here);
        possible.rotate_left(before);
        possible.truncate(MOST_PLACES);
        self.set_breakpoints(possible).await
    }

    /// All places of the function of a frame, in their order.
    async fn places(&self, frame: &CallFrame) -> Option<Vec<BreakLocation>> {
        let is_its = |kind: &str| kind == "local" || kind == "module";
        let scope = frame.scope_chain.iter().find(|scope| is_its(&scope.kind))?;
        let start = frame.function_location.clone().or_else(|| scope.start_location.clone())?;
        let from = |start: Location| async {
            let end = scope.end_location.clone();
            let question = debugger::GetPossibleBreakpoints { start, end, restrict_to_function: true };
            self.v8.request(question).await.ok().map(|possible| possible.locations)
        };
        let (all, next) = future::join(from(start), from(frame.location.clone())).await;
        // For V8 the start of a module may be that of the function that is its first statement.
        let last =
            |places: &[BreakLocation]| places.last().map(|last| (last.line_number, last.column_number));
        let next = next?;
        Some(all.filter(|all| last(all) == last(&next)).unwrap_or(next))
    }

    async fn set_breakpoints(&self, places: Vec<BreakLocation>) -> Vec<String> {
        let set = places.into_iter().map(|place| {
            let location = Location {
                script_id: place.script_id,
                line_number: place.line_number,
                column_number: place.column_number,
            };
            self.v8.request(debugger::SetBreakpoint { location, condition: None })
        });
        // One of the user's that is there already does as well.
        let ids: Vec<String> =
            future::join_all(set).await.into_iter().flatten().map(|set| set.breakpoint_id).collect();
        self.breakpoints.add_temporary(&ids);
        ids
    }

    /// Takes back what a step has set.
    pub(super) async fn clear(&self, ids: Vec<String>) {
        self.breakpoints.remove_temporary(ids).await;
    }
}
