//! From a pause of V8 to a stop that is worth reporting.

use ::cdp::debugger::Paused;

use super::breakpoints::Hit;
use super::connection::CdpDebugger;
use super::data::Access;
use super::thread::THREAD;
use crate::debugger::Event;
use crate::model::ids::BreakpointId;
use crate::model::stop::StopReason;

/// Takes a pause. Names that led to no function before may lead to one at a stop.
pub(super) async fn paused(debugger: &CdpDebugger, paused: Paused, named: Vec<BreakpointId>) -> Vec<Event> {
    let mut events = decide(debugger, paused, named).await;
    if events.iter().any(|event| matches!(event, Event::Stopped { .. })) {
        events.splice(0..0, debugger.0.breakpoints.follow_names().await);
    }
    events
}

/// Stops that are not the user's are handled and resumed. `named` are the breakpoints that the program itself named
/// for the pause.
async fn decide(debugger: &CdpDebugger, mut paused: Paused, named: Vec<BreakpointId>) -> Vec<Event> {
    let parts = &debugger.0;
    let is_idle = matches!(paused.call_frames.as_slice(), [only] if parts.sources.is_own_evaluation(only));
    if let Some(access) = parts.data.take_access(&mut paused).await {
        return at_data(debugger, paused, access).await;
    }
    let unwound = parts.exceptions.unwound(&paused).await;
    let stop = parts.run.pause(&mut paused, is_idle, unwound);
    if parts.breakpoints.take_compiled(&paused.reason, paused.data.as_ref(), &stop).await {
        if paused.reason == "instrumentation" {
            // V8 continues a step by itself, and hangs at the command for another one.
            parts.execution.proceed(None).await;
        } else {
            parts.execution.resume_intent().await;
        }
        return Vec::new();
    }
    if stop.thrown.is_some() {
        // If the session does not report it, the current command continues.
        let (reason, text) = (StopReason::Exception, stop.error_name());
        return vec![Event::Stopped { thread: THREAD, reason, text, breakpoints: Vec::new() }];
    }
    let stopped = async |reason, ids| vec![parts.execution.stopped(reason, None, ids).await];
    if !paused.hit_breakpoints.is_empty() {
        return match parts.breakpoints.hit(&paused.hit_breakpoints, named, &stop).await {
            Hit::Users(ids) => stopped(StopReason::Breakpoint, ids).await,
            Hit::Entry => stopped(StopReason::Entry, Vec::new()).await,
            Hit::Temporary => parts.execution.settle(&stop).await,
            // A step may end there.
            Hit::Spent if parts.execution.is_stepping() => parts.execution.settle(&stop).await,
            Hit::Spent | Hit::Nobodys if parts.execution.is_pausing() => parts.execution.settle(&stop).await,
            Hit::Spent | Hit::Nobodys => {
                parts.execution.pass_breakpoint(&stop).await;
                Vec::new()
            }
        };
    }
    if paused.reason == "OOM" {
        return stopped(StopReason::Other("out of memory".to_owned()), Vec::new()).await;
    }
    parts.execution.settle(&stop).await
}

/// A watched value was written or read. The frame of our accessor is not the program's, and no longer in the pause.
async fn at_data(debugger: &CdpDebugger, mut paused: Paused, access: Access) -> Vec<Event> {
    let parts = &debugger.0;
    let stop = parts.run.pause(&mut paused, false, None);
    let mut events = parts.data.judge(access, &stop).await;
    let hits = |event: &Event| match event {
        Event::DataChanged(change) => Some(change.id),
        _ => None,
    };
    let ids: Vec<BreakpointId> = events.iter().filter_map(hits).collect();
    if ids.is_empty() {
        parts.execution.resume_intent().await;
    } else {
        events.push(parts.execution.stopped(StopReason::DataBreakpoint, None, ids).await);
    }
    events
}
