//! From a pause of V8 to a stop that is worth telling.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};

use ::cdp::debugger::{CallFrame, Paused};
use ::cdp::runtime::{RemoteObject, StackTrace};

use super::breakpoints::{self, Hit};
use super::execution::{self, Intent};
use super::values::Frame;
use super::{CdpDebugger, THREAD, ends, lock, transpiled};
use crate::debugger::Event;
use crate::model::ids::{BreakpointId, RawId};
use crate::model::stop::StopReason;

/// Raw numbers of frames are this times the number of the stop, and the number of the frame in it.
const FRAMES: i64 = 1 << 20;

/// The name of the script that is evaluated to bring an idle program to its pause.
pub(super) const POKE: &str = "stillframe:pause";

/// A suspended thread.
#[derive(Debug)]
pub(super) struct Stop {
    number: i64,
    /// Innermost first.
    pub(super) frames: Vec<CallFrame>,
    /// Who called the outermost of them, in an earlier turn of the event loop.
    pub(super) asynchronous: Option<StackTrace>,
    /// What was thrown, when that is why.
    pub(super) thrown: Option<Thrown>,
    /// The program waits for events: its only frame is ours.
    pub(super) is_idle: bool,
    /// The thread has begun, and waits before its first statement.
    pub(super) is_start: bool,
    /// What the function returned that was just stepped out of.
    pub(super) returned: OnceLock<RemoteObject>,
    /// The frames that values were read from so far, by their index.
    pub(super) read: Mutex<HashMap<usize, Arc<Frame>>>,
}

/// What was thrown.
#[derive(Debug)]
pub(super) struct Thrown {
    pub(super) value: RemoteObject,
    /// V8 predicts that nothing will catch it.
    pub(super) is_uncaught: bool,
}

impl Stop {
    /// The number of a frame. It means nothing at another stop.
    pub(super) fn id_of(&self, index: usize) -> RawId {
        RawId(self.number * FRAMES + i64::try_from(index).unwrap_or(FRAMES - 1))
    }

    /// The index of a frame of this stop.
    pub(super) fn index_of(&self, frame: RawId) -> Option<usize> {
        let belongs = frame.0.div_euclid(FRAMES) == self.number;
        belongs.then(|| usize::try_from(frame.0.rem_euclid(FRAMES)).ok())?
    }
}

/// Takes a pause: what is none of the user's is dealt with and gone on from. `told` are the breakpoints that the
/// program itself named for it.
pub(super) async fn paused(debugger: &CdpDebugger, paused: Paused, told: Vec<BreakpointId>) -> Vec<Event> {
    let connection = &debugger.0;
    connection.is_running.send_replace(false);
    let number = connection.stops.fetch_add(1, Ordering::Relaxed) + 1;
    let thrown = thrown(&paused);
    let is_idle = matches!(paused.call_frames.as_slice(), [only] if is_poke(debugger, only));
    let stop = Arc::new(Stop {
        number,
        frames: paused.call_frames,
        asynchronous: paused.async_stack_trace,
        thrown,
        is_idle,
        is_start: paused.reason.starts_with("Break on start"),
        returned: OnceLock::new(),
        read: Mutex::default(),
    });
    *lock(&connection.stop) = Some(Arc::clone(&stop));
    if transpiled::pass(debugger, &paused.reason, paused.data.as_ref(), &stop).await {
        execution::go_on(debugger).await;
        return Vec::new();
    }
    if stop.thrown.is_some() {
        // When the session finds it not worth telling, what is under way goes on.
        let text = name_of_error(&stop);
        let reason = StopReason::Exception;
        return vec![Event::Stopped { thread: THREAD, reason, text, breakpoints: Vec::new() }];
    }
    if !paused.hit_breakpoints.is_empty() {
        return match breakpoints::hit(debugger, &paused.hit_breakpoints, told, &stop).await {
            Hit::Users(ids) => vec![shown(debugger, StopReason::Breakpoint, None, ids).await],
            Hit::Entry => vec![shown(debugger, StopReason::Entry, None, Vec::new()).await],
            Hit::Temporary => execution::settle(debugger, &stop).await,
            // A step may end there.
            Hit::Spent if execution::is_stepping(debugger) => execution::settle(debugger, &stop).await,
            Hit::Spent | Hit::Nobodys => {
                execution::go_on(debugger).await;
                Vec::new()
            }
        };
    }
    if paused.reason == "OOM" {
        let reason = StopReason::Other("out of memory".to_owned());
        return vec![shown(debugger, reason, None, Vec::new()).await];
    }
    execution::settle(debugger, &stop).await
}

/// Ends what the program was told to do: it is suspended, and this is why.
pub(super) async fn shown(
    debugger: &CdpDebugger,
    reason: StopReason,
    text: Option<String>,
    breakpoints: Vec<BreakpointId>,
) -> Event {
    let intent = std::mem::take(&mut *lock(&debugger.0.intent));
    if let Intent::Step(stepping) = intent {
        ends::clear(debugger, stepping.ends).await;
    }
    Event::Stopped { thread: THREAD, reason, text, breakpoints }
}

/// The protocol's words for a stop at something that was thrown are `exception` and `promiseRejection`.
fn thrown(paused: &Paused) -> Option<Thrown> {
    let is_rejection = paused.reason == "promiseRejection";
    if !is_rejection && paused.reason != "exception" {
        return None;
    }
    let data = paused.data.clone()?;
    let is_uncaught = data.get("uncaught").and_then(serde_json::Value::as_bool).unwrap_or(is_rejection);
    Some(Thrown { value: serde_json::from_value(data).ok()?, is_uncaught })
}

fn name_of_error(stop: &Stop) -> Option<String> {
    let value = &stop.thrown.as_ref()?.value;
    value.class_name.clone().or_else(|| value.description.clone())
}

/// A frame of our own evaluation.
pub(super) fn is_poke(debugger: &CdpDebugger, frame: &CallFrame) -> bool {
    debugger.0.scripts.get(&frame.location.script_id).is_some_and(|script| script.url == POKE)
}
