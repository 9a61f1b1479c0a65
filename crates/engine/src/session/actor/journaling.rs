//! Recording a session in the journal: what its program does, its breakpoints, and the variables that were read.
//!
//! A stop is recorded with its location. That is known once a caller has read the stack, as every report does; when
//! none does, the stack is read for the journal after a moment.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::Actor;
use crate::error::Result;
use crate::model::breakpoint::{Binding, Breakpoint, BreakpointTarget};
use crate::model::ids::{BreakpointId, Reference};
use crate::model::stack::{Scope, Stack, StackFrame, users_frames};
use crate::model::stop::Stop;
use crate::model::variable::Children;
use crate::session::state::Execution;
use journal::entry::{
    BreakpointChange, BreakpointEvent, Event, Location, State, StateEvent, Variable, Variables,
};
use journal::{SessionJournal, truncation};

/// How long to wait for a caller to read the stack of a stop.
const PATIENCE: Duration = Duration::from_millis(100);
/// How many frames are read then.
const READ: usize = 40;
/// How many of the user's frames are recorded.
const FRAMES: usize = 20;
/// How many variables are recorded.
const VARIABLES: usize = 100;
/// How many scopes are remembered.
const SCOPES: usize = 64;

/// The journal's view of a session.
#[derive(Debug, Default)]
pub(super) struct Journaling {
    journal: SessionJournal,
    /// A stop that is not recorded yet, and when it was.
    unrecorded: Option<(Timestamp, Arc<Stop>)>,
    /// The program is known to run.
    runs: bool,
    /// What was started, until the first state of its run is recorded.
    program: Option<String>,
    breakpoints: BTreeMap<BreakpointId, BreakpointChange>,
    /// The last scopes that were listed: their variables are recorded under their names.
    scopes: VecDeque<NamedScope>,
}

/// A scope as the journal names it.
#[derive(Debug)]
struct NamedScope {
    reference: Reference,
    frame: Reference,
    name: String,
}

impl Journaling {
    pub(super) fn new(journal: SessionJournal) -> Self {
        Self { journal, ..Self::default() }
    }

    /// A program is started or attached to, by this name.
    pub(super) fn begins(&mut self, program: &str) {
        self.program = Some(truncation::text(program));
    }

    /// The program does something else than before.
    fn execution(&mut self, now: &Execution) {
        self.stop(&[]);
        match now {
            Execution::Created | Execution::Starting => {}
            Execution::Running => {
                if !std::mem::replace(&mut self.runs, true) {
                    self.state(StateEvent::Running, None);
                }
            }
            Execution::Stopped(stop) => {
                self.runs = false;
                self.unrecorded = Some((Timestamp::now(), Arc::clone(stop)));
            }
            Execution::Ended(end) => {
                self.runs = false;
                self.state(StateEvent::Stopped, Some(truncation::text(&end.to_string())));
            }
        }
    }

    fn state(&mut self, event: StateEvent, reason: Option<String>) {
        let state = State { reason, program: self.program.take(), ..State::of(event) };
        self.journal.record(Event::State(state));
    }

    /// Records the stop that is not recorded yet, with its frames, where they are known.
    fn stop(&mut self, frames: &[StackFrame<Reference>]) {
        let Some((time, stop)) = self.unrecorded.take() else { return };
        let (users, _) = users_frames(frames.to_vec(), Some(&stop));
        let stack: Vec<Location> = users.iter().filter_map(location).take(FRAMES).collect();
        let state = State {
            reason: Some(truncation::text(&stop.reason.to_string())),
            location: stack.first().cloned(),
            thread_id: Some(stop.thread.0),
            description: stop.text.as_deref().map(truncation::text),
            program: self.program.take(),
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

    /// The breakpoints may have changed.
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

impl Actor {
    /// The program does something else than before.
    pub(super) fn journal_execution(&mut self, now: &Execution) {
        self.breakpoints_changed();
        if !self.journaling.journal.is_kept() {
            return;
        }
        if matches!(now, Execution::Ended(_)) {
            self.sinks.output.finish();
        }
        self.journaling.execution(now);
        if let Some(stop) = now.stop() {
            let epoch = stop.epoch;
            self.spawn(tokio::time::sleep(PATIENCE), move |actor, ()| actor.journal_unread_stop(epoch));
        }
    }

    /// The breakpoints may have changed.
    pub(super) fn breakpoints_changed(&mut self) {
        self.breakpoint_changes.send_modify(|count| *count += 1);
        if self.journaling.journal.is_kept() {
            self.journaling.breakpoints(&self.breakpoints.list(&self.pending_reason()));
        }
    }

    /// The stack of the thread that is stopped was read, or cannot be.
    pub(super) fn journal_stack(&mut self, stack: &Result<Stack<Reference>>) {
        self.journaling.stop(stack.as_ref().map_or(&[], |stack| &stack.frames));
    }

    /// Reads the stack of a stop whose stack no caller has read.
    fn journal_unread_stop(&mut self, epoch: u64) {
        let is_unrecorded = self.journaling.unrecorded.as_ref().is_some_and(|(_, stop)| stop.epoch == epoch);
        if is_unrecorded {
            let (reply, _) = tokio::sync::oneshot::channel();
            self.stack_trace(None, 0, READ, reply);
        }
    }

    /// These scopes were listed.
    pub(super) fn remember_scopes(&mut self, frame: Reference, listed: &[Scope<Reference>]) {
        if !self.journaling.journal.is_kept() {
            return;
        }
        let scopes = &mut self.journaling.scopes;
        scopes.extend(listed.iter().map(|scope| NamedScope {
            reference: scope.reference,
            frame,
            name: scope.name.clone(),
        }));
        let old = scopes.len().saturating_sub(SCOPES);
        scopes.drain(..old);
    }

    /// The children of a scope or value were read.
    pub(super) fn journal_children(&self, reference: Reference, children: &Children<Reference>) {
        let scope = self.journaling.scopes.iter().rev().find(|scope| scope.reference == reference);
        let scope = scope.map(|scope| (scope.frame, scope.name.as_str()));
        self.journal_variables(scope, Some(reference), children);
    }

    /// Variables were read, of a scope or of a value; without a reference, those of a frame.
    pub(super) fn journal_variables(
        &self,
        scope: Option<(Reference, &str)>,
        reference: Option<Reference>,
        children: &Children<Reference>,
    ) {
        if !self.journaling.journal.is_kept() {
            return;
        }
        let variables = children.variables.iter().take(VARIABLES).map(|variable| Variable {
            name: truncation::text(&variable.name),
            type_name: truncation::text(&variable.value.type_name),
            value: truncation::text(&variable.value.text),
            variables_reference: variable.value.reference.map(|reference| reference.0),
        });
        self.journaling.journal.record(Event::Variables(Variables {
            frame_id: scope.map(|(frame, _)| frame.0),
            scope: scope.map(|(_, name)| name.to_owned()),
            variables_reference: reference.map(|reference| reference.0),
            variable_count: children.total,
            variables: variables.collect(),
        }));
    }
}

fn location(frame: &StackFrame<Reference>) -> Option<Location> {
    let location = frame.location.as_ref()?;
    Some(Location {
        file: location.source.name.clone(),
        line: location.line,
        function: truncation::text(&frame.name),
        frame_id: Some(frame.id.0),
    })
}

/// A breakpoint as recorded.
fn change(breakpoint: &Breakpoint) -> BreakpointChange {
    let (bound, verified) = match &breakpoint.binding {
        Binding::Bound { line, .. } => (*line, true),
        Binding::Pending(_) | Binding::Refused(_) => (None, false),
    };
    let (file, line, function) = match &breakpoint.place {
        BreakpointTarget::Line { path, line, .. } => (path.display().to_string(), Some(*line), None),
        BreakpointTarget::Function { name } => (String::new(), None, Some(truncation::text(name))),
        BreakpointTarget::Data(data) => (String::new(), None, Some(truncation::text(&data.expression))),
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
