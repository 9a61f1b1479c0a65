//! What the journal is told of a session: changes of what its program does and of its breakpoints.
//!
//! A stop is told with its place. The place is known when somebody has read the stack, as every report does; where
//! nobody does, the stack is read for the journal after a moment.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::Actor;
use crate::debugger::Connector;
use crate::error::Result;
use crate::journal::entry::{BreakpointChange, BreakpointEvent, Event, Location, State, StateEvent};
use crate::journal::{SessionJournal, truncation};
use crate::model::breakpoint::{Binding, Breakpoint, Place};
use crate::model::ids::{BreakpointId, Reference};
use crate::model::stack::{Stack, StackFrame};
use crate::model::stop::Stop;
use crate::session::state::Execution;
use crate::snapshot;

/// How long it is waited for somebody to read the stack of a stop.
const PATIENCE: Duration = Duration::from_millis(100);
/// How many frames are read then.
const READ: usize = 40;
/// How many frames of the user's are told.
const FRAMES: usize = 20;

/// What the journal knows of a session.
#[derive(Debug, Default)]
pub(super) struct Journaling {
    journal: SessionJournal,
    /// A stop that is not told yet, and when it was.
    untold: Option<(Timestamp, Arc<Stop>)>,
    /// The program is known to run.
    runs: bool,
    breakpoints: BTreeMap<BreakpointId, BreakpointChange>,
}

impl Journaling {
    pub(super) fn new(journal: SessionJournal) -> Self {
        Self { journal, ..Self::default() }
    }

    /// The program does something else than before.
    fn execution(&mut self, now: &Execution) {
        self.tell_stop(&[]);
        match now {
            Execution::Created | Execution::Starting => {}
            Execution::Running => {
                if !std::mem::replace(&mut self.runs, true) {
                    self.state(StateEvent::Running, None);
                }
            }
            Execution::Stopped(stop) => {
                self.runs = false;
                self.untold = Some((Timestamp::now(), Arc::clone(stop)));
            }
            Execution::Ended(end) => {
                self.runs = false;
                self.state(StateEvent::Stopped, Some(truncation::text(&end.to_string())));
            }
        }
    }

    fn state(&self, event: StateEvent, reason: Option<String>) {
        let state = State { reason, ..State::of(event) };
        self.journal.record(Event::State(state));
    }

    /// Tells of the stop that is not told yet, with its frames, where they are known.
    fn tell_stop(&mut self, frames: &[StackFrame<Reference>]) {
        let Some((time, stop)) = self.untold.take() else { return };
        let (users, _) = snapshot::users_frames(frames.to_vec(), Some(&stop));
        let stack: Vec<Location> = users.iter().filter_map(place).take(FRAMES).collect();
        let state = State {
            reason: Some(truncation::text(&stop.reason.to_string())),
            location: stack.first().cloned(),
            thread_id: Some(stop.thread.0),
            description: stop.text.as_deref().map(truncation::text),
            stack,
            ..State::of(StateEvent::Paused)
        };
        for id in &stop.breakpoints {
            if let Some(known) = self.breakpoints.get(id) {
                let hit = BreakpointChange { event: BreakpointEvent::Hit, ..known.clone() };
                self.journal.record_at(time, Event::Breakpoint(hit));
            }
        }
        self.journal.record_at(time, Event::State(state));
    }

    /// What is known of the breakpoints may have changed.
    fn breakpoints(&mut self, all: &[Breakpoint]) {
        let gone: Vec<BreakpointId> =
            self.breakpoints.keys().filter(|id| all.iter().all(|one| one.id != **id)).copied().collect();
        for id in gone {
            if let Some(known) = self.breakpoints.remove(&id) {
                self.breakpoint(BreakpointEvent::Removed, &known);
            }
        }
        for breakpoint in all {
            let now = change(breakpoint);
            let before = self.breakpoints.insert(breakpoint.id, now.clone());
            if before.is_none() {
                self.breakpoint(BreakpointEvent::Set, &BreakpointChange { verified: false, ..now.clone() });
            }
            let was_bound = before.is_some_and(|before| before.verified && before.line == now.line);
            if now.verified && !was_bound {
                self.breakpoint(BreakpointEvent::Verified, &now);
            }
        }
    }

    fn breakpoint(&self, event: BreakpointEvent, of: &BreakpointChange) {
        self.journal.record(Event::Breakpoint(BreakpointChange { event, ..of.clone() }));
    }
}

impl<C: Connector> Actor<C> {
    /// The program does something else than before.
    pub(super) fn journal_execution(&mut self, now: &Execution) {
        if !self.journaling.journal.is_kept() {
            return;
        }
        self.journal_breakpoints();
        if matches!(now, Execution::Ended(_)) {
            self.sinks.output.finish();
        }
        self.journaling.execution(now);
        if let Some(stop) = now.stop() {
            let epoch = stop.epoch;
            self.spawn(tokio::time::sleep(PATIENCE), move |actor, ()| actor.journal_unread_stop(epoch));
        }
    }

    /// What is known of the breakpoints may have changed.
    pub(super) fn journal_breakpoints(&mut self) {
        if self.journaling.journal.is_kept() {
            self.journaling.breakpoints(&self.breakpoints.list(&self.untold()));
        }
    }

    /// Somebody has read the stack of the thread that is stopped, or has found that it cannot be read.
    pub(super) fn journal_stack(&mut self, stack: &Result<Stack<Reference>>) {
        self.journaling.tell_stop(stack.as_ref().map_or(&[], |stack| &stack.frames));
    }

    /// Reads the stack of a stop that nobody has looked at.
    fn journal_unread_stop(&mut self, epoch: u64) {
        let is_untold = self.journaling.untold.as_ref().is_some_and(|(_, stop)| stop.epoch == epoch);
        if is_untold {
            let (reply, _) = tokio::sync::oneshot::channel();
            self.stack_trace(None, 0, READ, reply);
        }
    }
}

fn place(frame: &StackFrame<Reference>) -> Option<Location> {
    let location = frame.location.as_ref()?;
    Some(Location {
        file: location.source.name.clone(),
        line: location.line,
        function: truncation::text(&frame.name),
        frame_id: Some(frame.id.0),
    })
}

/// What there is to tell of a breakpoint.
fn change(breakpoint: &Breakpoint) -> BreakpointChange {
    let (bound, verified) = match &breakpoint.binding {
        Binding::Bound { line, .. } => (*line, true),
        Binding::Pending(_) | Binding::Refused(_) => (None, false),
    };
    let (file, line, function) = match &breakpoint.place {
        Place::Line { path, line, .. } => (path.display().to_string(), Some(*line), None),
        Place::Function { name } => (String::new(), None, Some(truncation::text(name))),
    };
    BreakpointChange {
        event: BreakpointEvent::Set,
        breakpoint_id: breakpoint.id.to_string(),
        file,
        line: bound.or(breakpoint.planned.line).or(line).unwrap_or(0),
        verified,
        function,
        condition: breakpoint.rule.condition.as_deref().map(truncation::text),
        log_message: breakpoint.rule.log_message.as_deref().map(truncation::text),
    }
}
