//! Threads that come to breakpoints at the same time.
//!
//! A stop that no rule wants resumes the program, which takes the frames of all threads with it. So the rules of all that
//! have stopped are applied first, and the program continues only if none of them is to stop.

use std::collections::{HashMap, VecDeque};

use super::events::{self, stop_reason};
use super::rules::{self, JudgedStop};
use super::{DapDebugger, lock};
use crate::adapter::plan::SimultaneousStops;
use crate::deadlines;
use crate::debugger::Event;
use crate::model::ids::RawId;
use crate::model::stop::StopReason;

/// What the adapter sends.
pub(super) struct Messages {
    incoming: ::dap::Incoming,
    /// What was inspected before its turn.
    later: VecDeque<::dap::Message>,
}

impl Messages {
    pub(super) fn new(incoming: ::dap::Incoming) -> Self {
        Self { incoming, later: VecDeque::new() }
    }

    /// The next message, until the connection closes.
    pub(super) async fn next(&mut self) -> Option<::dap::Message> {
        match self.later.pop_front() {
            Some(message) => Some(message),
            None => self.incoming.recv().await,
        }
    }

    /// Takes out the stops that are there already.
    fn stops(&mut self) -> Vec<::dap::StoppedEvent> {
        while let Ok(message) = self.incoming.try_recv() {
            self.later.push_back(message);
        }
        let mut stops = Vec::new();
        for message in std::mem::take(&mut self.later) {
            match message {
                ::dap::Message::Event(::dap::Event::Stopped(stop)) => stops.push(stop),
                other => self.later.push_back(other),
            }
        }
        stops
    }
}

/// The addresses of breakpoints at which threads have stopped, with the adapter's numbers for these breakpoints.
pub(super) type KnownAddresses = HashMap<String, Vec<i64>>;

/// What comes of a stop, and of those of other threads at the same time.
pub(super) async fn stopped(
    debugger: &DapDebugger,
    first: ::dap::StoppedEvent,
    messages: &mut Messages,
) -> Vec<Event> {
    let JudgedStop { mut events, mut passes, held: _held } = events::stopped(debugger, first.clone()).await;
    let others = match debugger.quirks().simultaneous_stops {
        SimultaneousStops::Each if passes.is_some() => {
            // They are sent together, so they are there before the answer to a later request.
            let _ = debugger.request::<::dap::Threads>(::dap::Empty {}, deadlines::REQUEST).await;
            messages.stops()
        }
        SimultaneousStops::One { may_be } => unreported(debugger, &first, may_be).await,
        SimultaneousStops::Each | SimultaneousStops::None => Vec::new(),
    };
    for other in others {
        let judged = events::stopped(debugger, other).await;
        events.extend(judged.events);
        passes = passes.or(judged.passes);
    }
    if let Some((thread, reason)) = passes
        && !events.iter().any(is_stop)
        && !lock(&debugger.0.motion).is_reported()
    {
        events.extend(rules::resume(debugger, thread, reason).await);
    }
    if events.iter().any(is_stop) {
        lock(&debugger.0.motion).reported();
    }
    events
}

fn is_stop(event: &Event) -> bool {
    matches!(event, Event::Stopped { .. })
}

/// The stops that the adapter does not report because it has reported that of another thread.
async fn unreported(
    debugger: &DapDebugger,
    first: &::dap::StoppedEvent,
    may_be: fn(&str) -> bool,
) -> Vec<::dap::StoppedEvent> {
    let is_at_breakpoint =
        stop_reason(&first.reason) == StopReason::Breakpoint && !first.hit_breakpoint_ids.is_empty();
    let Some(reported) = first.thread_id.filter(|_| is_at_breakpoint) else { return Vec::new() };
    if lock(&debugger.0.motion).is_running() {
        return Vec::new();
    }
    let answer = debugger.request::<::dap::Threads>(::dap::Empty {}, deadlines::REQUEST).await;
    let mut threads = answer.map(|answer| answer.threads).unwrap_or_default();
    threads.retain(|thread| thread.id != reported && may_be(&thread.name));
    if threads.is_empty() {
        return Vec::new();
    }
    let Some(place) = address(debugger, RawId(reported)).await else { return Vec::new() };
    lock(&debugger.0.addresses).insert(place, first.hit_breakpoint_ids.clone());
    let mut stops = Vec::new();
    for thread in threads {
        let Some(place) = address(debugger, RawId(thread.id)).await else { continue };
        let Some(numbers) = lock(&debugger.0.addresses).get(&place).cloned() else { continue };
        if !lock(&debugger.0.breakpoints).hit(&numbers, None).is_empty() {
            let thread_id = Some(thread.id);
            stops.push(::dap::StoppedEvent { thread_id, hit_breakpoint_ids: numbers, ..first.clone() });
        }
    }
    stops
}

/// The address of a thread's next instruction.
async fn address(debugger: &DapDebugger, thread: RawId) -> Option<String> {
    let arguments = ::dap::StackTraceArguments { thread_id: thread.0, start_frame: Some(0), levels: Some(1) };
    let stack = debugger.request::<::dap::StackTrace>(arguments, deadlines::REQUEST).await.ok()?;
    stack.stack_frames.into_iter().next()?.instruction_pointer_reference
}
