//! Breakpoints of our own where a step may end, and where V8 by itself would miss that.
//!
//! V8 steps out of a function by the places where it returns. There is none where a `return` leaves a `for … of` or
//! comes through a `finally`, as in Node's own `require`: the step is lost then, and the program runs away.

use ::cdp::debugger::{self, BreakLocation, CallFrame, Location};
use futures_util::future;

use super::stops::Stop;
use super::{CdpDebugger, breakpoints, execution, frames};
use crate::javascript::Handlers;

/// A function with more places is caught at those that come next.
const MOST_PLACES: usize = 500;

/// Breakpoints at all places where the function of a stop returns: only there its value is to be seen. A
/// function that throws does not come by; V8's own step out goes on then.
pub(super) async fn of_function(debugger: &CdpDebugger, stop: &Stop) -> Vec<String> {
    let Some(frame) = stop.frames.first() else { return Vec::new() };
    if frame.return_value.is_some() {
        return Vec::new();
    }
    let mut possible = places(debugger, frame).await.unwrap_or_default();
    possible.retain(|location| location.kind.as_deref() == Some("return"));
    plant(debugger, possible).await
}

/// The frames that a step from a stop may come back to without V8 knowing it, by their index, innermost first. For
/// a step out, the place at which the function will be left is not known yet.
pub(super) async fn unseen(debugger: &CdpDebugger, stop: &Stop, is_out: bool) -> Vec<usize> {
    let mut found = Vec::new();
    for (index, frame) in stop.frames.iter().enumerate() {
        let is_foreign = execution::is_passed_over(debugger, frame);
        if index > 0 && !is_foreign {
            found.push(index);
        }
        // What is foreign may have such places as well.
        if !is_foreign && !leaves_unseen(debugger, &frame.location, is_out && index == 0).await {
            break;
        }
    }
    found
}

async fn leaves_unseen(debugger: &CdpDebugger, location: &Location, any: bool) -> bool {
    let Some(script) = debugger.0.scripts.get(&location.script_id) else { return false };
    let Some(text) = frames::text(debugger, &script).await else { return false };
    let (line, column) = script.in_text(frames::position(location));
    let look = move || {
        let handlers = script.handlers.get_or_init(|| Handlers::of(&text));
        handlers.as_ref().is_some_and(|handlers| handlers.leaves_unseen(line, column, any))
    };
    tokio::task::spawn_blocking(look).await.unwrap_or(false)
}

/// Breakpoints at the places of a function that waits for a call: one of them comes next.
pub(super) async fn in_caller(debugger: &CdpDebugger, frame: &CallFrame) -> Vec<String> {
    let mut possible = places(debugger, frame).await.unwrap_or_default();
    let at = |line: i32, column: Option<i32>| (line, column.unwrap_or(0));
    let here = at(frame.location.line_number, frame.location.column_number);
    let before = possible.partition_point(|place| at(place.line_number, place.column_number) <= here);
    possible.rotate_left(before);
    possible.truncate(MOST_PLACES);
    plant(debugger, possible).await
}

/// All places of the function of a frame, in their order.
async fn places(debugger: &CdpDebugger, frame: &CallFrame) -> Option<Vec<BreakLocation>> {
    let is_its = |kind: &str| kind == "local" || kind == "module";
    let scope = frame.scope_chain.iter().find(|scope| is_its(&scope.kind))?;
    let start = frame.function_location.clone().or_else(|| scope.start_location.clone())?;
    let from = |start: Location| async {
        let end = scope.end_location.clone();
        let question = debugger::GetPossibleBreakpoints { start, end, restrict_to_function: true };
        debugger.request(question).await.ok().map(|possible| possible.locations)
    };
    let (all, next) = future::join(from(start), from(frame.location.clone())).await;
    // For V8 the start of a module may be that of the function that is its first statement.
    let last = |places: &[BreakLocation]| places.last().map(|last| (last.line_number, last.column_number));
    let next = next?;
    Some(all.filter(|all| last(all) == last(&next)).unwrap_or(next))
}

async fn plant(debugger: &CdpDebugger, places: Vec<BreakLocation>) -> Vec<String> {
    let set = places.into_iter().map(|place| {
        let location = Location {
            script_id: place.script_id,
            line_number: place.line_number,
            column_number: place.column_number,
        };
        debugger.request(debugger::SetBreakpoint { location, condition: None })
    });
    // One of the user's that is there already does as well.
    let ids: Vec<String> =
        future::join_all(set).await.into_iter().flatten().map(|set| set.breakpoint_id).collect();
    for id in &ids {
        debugger.0.breakpoints.add_temporary(id.clone());
    }
    ids
}

/// Takes back what a step has planted.
pub(super) async fn clear(debugger: &CdpDebugger, ids: Vec<String>) {
    for id in &ids {
        debugger.0.breakpoints.remove_temporary(id);
    }
    // One that V8 does not know any more is gone.
    let _ = breakpoints::remove(debugger, ids).await;
}
