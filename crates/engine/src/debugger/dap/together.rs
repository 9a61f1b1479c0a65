//! Threads that stop at the same time.
//!
//! A resume takes the frames of all threads with it. So all that have stopped are known before the rules of the first are
//! applied, the rules of all are applied before the session sees a stop, and the session shows one stop after the other
//! before the program moves. What they come to together:
//!
//! 1. Breakpoints, exceptions and pauses come first. If one of them stops the program, a step is over, whether it has
//!    ended or not.
//! 2. Otherwise the end of the step that is under way counts: it is reported, or the step continues, and the others are
//!    over.
//! 3. The end of an earlier step, which something else had interrupted, counts for nothing.
//! 4. The program continues if nothing stops it.

use std::collections::{HashMap, VecDeque};

use tokio::time::{Instant, timeout_at};

use super::breakpoints::place_of;
use super::events::{self, stop_reason};
use super::motion::RemovalStop;
use super::rules::{self, JudgedStop};
use super::{DapDebugger, awaits, calls, catches, commands, lock, start};
use crate::adapter::plan::SimultaneousStops;
use crate::deadlines;
use crate::debugger::Event;
use crate::model::ids::RawId;
use crate::model::stop::StopReason;
use crate::process;

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

    /// Takes out the stops of these threads, and any others that are there by then.
    async fn stops(&mut self, mut awaited: Vec<i64>) -> Vec<::dap::StoppedEvent> {
        let until = Instant::now() + deadlines::TOGETHER;
        let mut known = std::mem::take(&mut self.later);
        let mut stops = Vec::new();
        loop {
            while let Ok(message) = self.incoming.try_recv() {
                known.push_back(message);
            }
            for message in known.drain(..) {
                match message {
                    ::dap::Message::Event(::dap::Event::Stopped(stop)) => {
                        awaited.retain(|thread| stop.thread_id != Some(*thread));
                        stops.push(stop);
                    }
                    other => self.later.push_back(other),
                }
            }
            if awaited.is_empty() {
                return stops;
            }
            let Ok(Some(message)) = timeout_at(until, self.incoming.recv()).await else { return stops };
            known.push_back(message);
        }
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
    if calls::is_end_of_call(debugger, &first) {
        return Vec::new();
    }
    if debugger.quirks().keeps_steps {
        lock(&debugger.0.kept).stopped(first.thread_id.map(RawId), &reason(debugger, &first));
    }
    lock(&debugger.0.listed).clear();
    let stops = simultaneous(debugger, first, messages).await;
    let (ends, mut others): (Vec<_>, Vec<_>) = stops.into_iter().partition(|stop| is_step(debugger, stop));
    others.sort_by_key(|stop| order(debugger, stop));
    let mut outcome = Outcome::default();
    for stop in others {
        calls::choose_thread(debugger, &stop).await;
        outcome.add(events::stopped(debugger, stop).await);
    }
    for end in ends {
        if outcome.is_stop() {
            break;
        }
        let is_stale = is_stale(debugger, &end).await;
        outcome.add(match end.thread_id.filter(|_| is_stale) {
            Some(thread) => passed(debugger, RawId(thread)),
            None => events::stopped(debugger, end).await,
        });
        if lock(&debugger.0.motion).is_running() {
            break;
        }
    }
    if let Some((thread, reason)) = outcome.passes.take()
        && !outcome.is_stop()
        && !is_moving_on(debugger)
    {
        outcome.events.extend(rules::resume(debugger, thread, reason).await);
    }
    if outcome.is_stop() {
        lock(&debugger.0.motion).reported();
    }
    outcome.events
}

/// Why a thread has stopped, where an adapter may take a condition that cannot be evaluated for an exception.
fn reason(debugger: &DapDebugger, stop: &::dap::StoppedEvent) -> StopReason {
    let mut texts = [&stop.text, &stop.description].into_iter().flatten();
    match stop_reason(&stop.reason) {
        StopReason::Exception if texts.any(|text| (debugger.quirks().is_bad_condition)(text)) => {
            StopReason::Breakpoint
        }
        reason => reason,
    }
}

/// What comes of the stops so far.
#[derive(Default)]
struct Outcome {
    events: Vec<Event>,
    passes: Option<(RawId, StopReason)>,
    held: Vec<RemovalStop>,
}

impl Outcome {
    fn add(&mut self, judged: JudgedStop) {
        let JudgedStop { events, passes, held } = judged;
        self.events.extend(events);
        self.passes = self.passes.take().or(passes);
        self.held.extend(held);
    }

    fn is_stop(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Stopped { .. }))
    }
}

/// Whether the program runs again already, in the middle of a step, or only the user resumes it.
fn is_moving_on(debugger: &DapDebugger) -> bool {
    let motion = lock(&debugger.0.motion);
    motion.is_running() || motion.is_reported()
}

/// Whether a stop is a part of a step.
fn is_step(debugger: &DapDebugger, stop: &::dap::StoppedEvent) -> bool {
    let numbers = &stop.hit_breakpoint_ids;
    match stop_reason(&stop.reason) {
        StopReason::Step => true,
        StopReason::Breakpoint => {
            lock(&debugger.0.stepping).waits_for(numbers) || catches::may_have_landed(debugger, numbers)
        }
        _ => false,
    }
}

/// A requested pause must not be mistaken for another stop. An exception may still be rejected, so it must not be the only
/// stop that keeps the program from running.
fn order(debugger: &DapDebugger, stop: &::dap::StoppedEvent) -> usize {
    let is_pause = stop.description.as_deref().is_some_and(debugger.quirks().is_pause);
    match stop_reason(&stop.reason) {
        StopReason::Pause => 0,
        _ if is_pause => 0,
        StopReason::Exception => 2,
        _ => 1,
    }
}

/// Whether a step has ended that something else had interrupted before.
async fn is_stale(debugger: &DapDebugger, end: &::dap::StoppedEvent) -> bool {
    let (stepping, is_polled_again) = {
        let stepping = lock(&debugger.0.stepping);
        (stepping.thread(), stepping.waits_for(&end.hit_breakpoint_ids))
    };
    if is_polled_again {
        // Any thread may poll the future that the step is in.
        let Some(thread) = end.thread_id else { return false };
        return !awaits::is_polled_by(debugger, RawId(thread)).await;
    }
    let is_other = match debugger.quirks().simultaneous_stops {
        SimultaneousStops::None => false,
        SimultaneousStops::Each { .. } => stepping != end.thread_id.map(RawId),
        SimultaneousStops::One { .. } => stepping.is_none(),
    };
    // The end of a step may be what a pause is reported as.
    let is_pause = debugger.0.pausing.is_asked() || lock(&debugger.0.motion).is_held();
    is_other && !is_pause && !lock(&debugger.0.motion).is_backward()
}

/// A stop that means nothing.
fn passed(debugger: &DapDebugger, thread: RawId) -> JudgedStop {
    let held = lock(&debugger.0.motion).stopped(thread);
    JudgedStop { held, ..JudgedStop::passing(thread, StopReason::Step) }
}

/// All stops of this moment.
async fn simultaneous(
    debugger: &DapDebugger,
    first: ::dap::StoppedEvent,
    messages: &mut Messages,
) -> Vec<::dap::StoppedEvent> {
    match debugger.quirks().simultaneous_stops {
        SimultaneousStops::None => vec![first],
        SimultaneousStops::Each { .. } if has_one_thread(debugger) => vec![first],
        SimultaneousStops::Each { command } => {
            let said = commands::run(debugger, None, command.to_owned(), deadlines::REQUEST).await;
            let (moved, unmoved) = threads(&said.unwrap_or_default());
            let awaited = moved.iter().chain(&unmoved).copied();
            let others = messages.stops(awaited.filter(|thread| first.thread_id != Some(*thread)).collect());
            let mut others = others.await;
            // In a crash dump, the first thread has the signal that ended the program, and the others have none.
            others.retain(|_| !debugger.setup().is_dump);
            let mut stops: Vec<_> = std::iter::once(first.clone()).chain(others).collect();
            stops.retain(|stop| moved.is_empty() || stop.thread_id.is_none_or(|id| !unmoved.contains(&id)));
            // Better twice than never, where the event of a thread that has moved does not come.
            if stops.is_empty() { vec![first] } else { stops }
        }
        SimultaneousStops::One { may_be } => {
            let others = unreported(debugger, &first, may_be).await;
            std::iter::once(first).chain(others).collect()
        }
    }
}

/// Whether no other thread can have stopped. In most programs this saves a question to the debugger at each stop.
fn has_one_thread(debugger: &DapDebugger) -> bool {
    start::pid(debugger).is_some_and(|pid| process::threads(pid).len() == 1)
}

/// The threads that have stopped now, and those that have not moved since an earlier stop, from what the debugger prints.
fn threads(said: &str) -> (Vec<i64>, Vec<i64>) {
    let moved = said.lines().filter_map(|line| line.parse().ok());
    let unmoved = said.lines().filter_map(|line| line.strip_suffix(" again")?.parse().ok());
    (moved.collect(), unmoved.collect())
}

/// The stops that the adapter does not report because it has reported that of another thread.
async fn unreported(
    debugger: &DapDebugger,
    first: &::dap::StoppedEvent,
    may_be: fn(&str) -> bool,
) -> Vec<::dap::StoppedEvent> {
    let is_at_breakpoint = !first.hit_breakpoint_ids.is_empty();
    let is_asked_for = match stop_reason(&first.reason) {
        StopReason::Breakpoint => is_at_breakpoint,
        StopReason::Step => lock(&debugger.0.breakpoints).are_set(),
        _ => false,
    };
    let Some(reported) = first.thread_id.filter(|_| is_asked_for) else { return Vec::new() };
    // No breakpoint is in a system call. One in a generic function has several addresses.
    let alone = start::pid(debugger).and_then(process::only_computing);
    let mut threads = Vec::new();
    if alone.is_none() {
        let answer = debugger.request::<::dap::Threads>(::dap::Empty {}, deadlines::REQUEST).await;
        threads = answer.map(|answer| answer.threads).unwrap_or_default();
        lock(&debugger.0.listed).clone_from(&threads);
    }
    threads.retain(|thread| thread.id != reported && may_be(&thread.name));
    if is_at_breakpoint {
        let place = if alone.is_some() { alone } else { address(debugger, RawId(reported)).await };
        let Some(place) = place else { return Vec::new() };
        lock(&debugger.0.addresses).insert(place, first.hit_breakpoint_ids.clone());
    }
    let mut stops = Vec::new();
    for thread in threads {
        let hit_breakpoint_ids = hits(debugger, RawId(thread.id)).await;
        if !lock(&debugger.0.breakpoints).hit(&hit_breakpoint_ids, None).is_empty() {
            let (thread_id, reason) = (Some(thread.id), "breakpoint".to_owned());
            stops.push(::dap::StoppedEvent { thread_id, reason, hit_breakpoint_ids, ..first.clone() });
        }
    }
    stops
}

/// The adapter's numbers for the breakpoints at which a thread has stopped without a report.
async fn hits(debugger: &DapDebugger, thread: RawId) -> Vec<i64> {
    let Some(address) = address(debugger, thread).await else { return Vec::new() };
    if let Some(known) = lock(&debugger.0.addresses).get(&address) {
        return known.clone();
    }
    // No thread was reported there yet. Elsewhere on the line of a breakpoint, a thread has not come to it, or has left it.
    if !start::pid(debugger).is_some_and(|pid| process::is_trap(pid, &address)) {
        return Vec::new();
    }
    match place_of(debugger, thread).await {
        Some((file, line)) => lock(&debugger.0.breakpoints).numbers_at(&file, line),
        None => Vec::new(),
    }
}

/// The address of a thread's next instruction.
pub(super) async fn address(debugger: &DapDebugger, thread: RawId) -> Option<String> {
    let arguments = ::dap::StackTraceArguments { thread_id: thread.0, start_frame: Some(0), levels: Some(1) };
    let stack = debugger.request::<::dap::StackTrace>(arguments, deadlines::REQUEST).await.ok()?;
    stack.stack_frames.into_iter().next()?.instruction_pointer_reference
}
