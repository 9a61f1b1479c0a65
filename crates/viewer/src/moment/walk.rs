//! From an entry back to what made things as they were.

use std::collections::HashMap;

use journal::entry::{
    BreakpointChange, BreakpointEvent, Event, Location, SourceWindow, State, StateEvent, Variable, Variables,
};

use super::{ComparedVariable, Line, Moment};
use crate::log::{Detail, Kind, Log};
use crate::plain;

/// How many pieces of output are told.
const OUTPUT: usize = 200;
/// How many entries about breakpoints are read.
const CHANGES: usize = 400;
/// How many entries about variables are read of one stop.
const READ: usize = 40;

/// What was found on the way back.
#[derive(Default)]
struct Walk {
    /// The session is closed.
    is_closed: bool,
    /// What the program does.
    state: Option<State>,
    /// What was read of the innermost frame at this stop, newest first.
    now: Vec<Variables>,
    /// What was read between the stop before and this one, newest first.
    earlier: Vec<Variables>,
    /// The stop before, once it is found.
    before: Option<State>,
    /// Newest first.
    output: Vec<Line>,
    /// Of each breakpoint the newest change, and the number of the oldest.
    breakpoints: HashMap<String, (usize, BreakpointChange)>,
    changes: usize,
}

pub(super) fn moment(log: &Log, session: usize, number: usize) -> Moment {
    let Some(known) = log.sessions().get(session) else { return Moment::default() };
    let mut walk = Walk::default();
    for (number, kind, detail) in log.back(session, number) {
        if walk.wants(kind, detail)
            && let Some(entry) = log.entry(number)
        {
            walk.take(number, &entry.event);
        }
    }
    let [session_id, session_name, language] =
        [&known.id, &known.name, &known.language].map(|raw| plain::line(raw));
    walk.end(Moment { session_id, session_name, language, ..Moment::default() })
}

impl Walk {
    /// Whether an entry tells what is not known yet.
    fn wants(&self, kind: Kind, detail: Detail) -> bool {
        match kind {
            Kind::State => self.state.is_none() || (self.is_paused() && self.before.is_none()),
            Kind::Closed => self.state.is_none(),
            Kind::Variables if self.state.is_none() => self.now.len() < READ,
            Kind::Variables => self.is_paused() && self.before.is_none() && self.earlier.len() < READ,
            Kind::Output => self.output.len() < OUTPUT,
            Kind::Breakpoint => detail != Detail::Hit && self.changes < CHANGES,
            _ => false,
        }
    }

    fn is_paused(&self) -> bool {
        self.state.as_ref().is_some_and(|state| state.event == StateEvent::Paused)
    }

    fn take(&mut self, number: usize, event: &Event) {
        match event {
            Event::State(state) if self.state.is_none() => self.state = Some(state.clone()),
            Event::State(state) if state.event == StateEvent::Paused => self.before = Some(state.clone()),
            // A program that ran anew is another one.
            Event::State(state) if state.event == StateEvent::Stopped => self.before = Some(state.clone()),
            Event::Closed(_) => self.is_closed = true,
            Event::Variables(read) if self.state.is_none() => self.now.push(read.clone()),
            Event::Variables(read) => self.earlier.push(read.clone()),
            Event::Output(written) => self.output.push(Line {
                category: plain::line(&written.category),
                text: plain::text(&written.output),
                omitted: written.omitted,
            }),
            Event::Breakpoint(change) => {
                self.changes += 1;
                let known = self.breakpoints.entry(change.breakpoint_id.clone());
                known.or_insert_with(|| (number, change.clone())).0 = number;
            }
            _ => {}
        }
    }

    fn end(mut self, mut moment: Moment) -> Moment {
        moment.output = self.output;
        moment.output.reverse();
        let mut breakpoints: Vec<_> = self.breakpoints.into_values().collect();
        breakpoints.sort_by_key(|(number, _)| *number);
        breakpoints.retain(|(_, change)| change.event != BreakpointEvent::Removed);
        moment.breakpoints = breakpoints.into_iter().map(|(_, change)| plain_change(change)).collect();
        moment.state = match &self.state {
            _ if self.is_closed => "closed",
            None => "created",
            Some(state) => match state.event {
                StateEvent::Paused => "paused",
                StateEvent::Running => "running",
                StateEvent::Stopped => "stopped",
            },
        };
        let Some(state) = self.state.take() else { return moment };
        moment.reason = state.reason.as_deref().map(plain::line);
        moment.description = state.description.as_deref().map(plain::text);
        if self.is_closed || state.event != StateEvent::Paused {
            return moment;
        }
        let innermost = state.location.as_ref().or(state.stack.first());
        let earlier = self.before.as_ref().and_then(|before| {
            let place = before.location.as_ref().or(before.stack.first())?;
            let is_same =
                innermost.is_some_and(|now| now.file == place.file && now.function == place.function);
            is_same.then(|| of_frame(&self.earlier, Some(place)))
        });
        moment.variables = compared(of_frame(&self.now, innermost), earlier.unwrap_or_default());
        moment.source = state.source.as_ref().map(plain_source);
        moment.stack = state.stack.iter().map(plain_place).collect();
        moment.location = state.location.as_ref().map(plain_place);
        moment
    }
}

/// A stop, and what was read while it lasted, newest first.
pub(crate) type Stop<'a> = (&'a State, &'a [Variables]);

/// The variables of the innermost frame of a stop, compared with those of the stop before, if that was in the same
/// function.
pub(crate) fn variables((state, read): Stop<'_>, before: Option<Stop<'_>>) -> Vec<ComparedVariable> {
    let innermost = innermost(state);
    let earlier = before.and_then(|(before, read)| {
        let place = self::innermost(before)?;
        let is_same = innermost.is_some_and(|now| now.file == place.file && now.function == place.function);
        is_same.then(|| of_frame(read, Some(place)))
    });
    compared(of_frame(read, innermost), earlier.unwrap_or_default())
}

fn innermost(state: &State) -> Option<&Location> {
    state.location.as_ref().or(state.stack.first())
}

/// Variables of a frame, and whether these are all.
#[derive(Default)]
struct Frame {
    variables: Vec<Variable>,
    is_whole: bool,
}

/// Puts together what was read of a frame's scopes, newest first. Global ones count where there are no others.
fn of_frame(read: &[Variables], frame: Option<&Location>) -> Frame {
    let number = frame.and_then(|frame| frame.frame_id);
    let is_scope = |one: &&Variables| one.scope.is_some() || one.variables_reference == 0;
    let is_of_it = |one: &&Variables| number.is_none() || one.frame_id.is_none() || one.frame_id == number;
    let is_global = |one: &&Variables| {
        let scope = one.scope.as_deref().unwrap_or_default().to_ascii_lowercase();
        scope.starts_with("global") || scope.starts_with("builtin")
    };
    let all: Vec<&Variables> = read.iter().filter(is_scope).filter(is_of_it).collect();
    let are_local = all.iter().any(|one| !is_global(one));
    let mut frame = Frame { variables: Vec::new(), is_whole: true };
    let mut places: HashMap<&str, usize> = HashMap::new();
    // Oldest first, for the order; what was read later is what it is.
    for one in all.into_iter().rev().filter(|one| !(are_local && is_global(one))) {
        frame.is_whole &= one.variables.len() as u64 >= one.variable_count;
        for variable in &one.variables {
            let place = *places.entry(&variable.name).or_insert(frame.variables.len());
            match frame.variables.get_mut(place) {
                Some(known) => known.clone_from(variable),
                None => frame.variables.push(variable.clone()),
            }
        }
    }
    frame
}

fn compared(now: Frame, earlier: Frame) -> Vec<ComparedVariable> {
    let is_known = !earlier.variables.is_empty();
    let before: HashMap<String, String> =
        earlier.variables.into_iter().map(|variable| (variable.name, variable.value)).collect();
    let compared = now.variables.into_iter().map(|variable| {
        let value = before.get(&variable.name);
        ComparedVariable {
            before: value.filter(|value| **value != variable.value).map(|value| plain::line(value)),
            is_new: is_known && earlier.is_whole && value.is_none(),
            variable: Variable {
                name: plain::line(&variable.name),
                type_name: plain::line(&variable.type_name),
                value: plain::line(&variable.value),
            },
        }
    });
    compared.collect()
}

fn plain_place(place: &Location) -> Location {
    let [file, function] = [&place.file, &place.function].map(|raw| plain::line(raw));
    Location { file, function, ..*place }
}

fn plain_source(source: &SourceWindow) -> SourceWindow {
    let lines = source.lines.iter().map(|line| plain::text(line).replace('\n', "⏎"));
    SourceWindow { lines: lines.collect(), ..*source }
}

fn plain_change(change: BreakpointChange) -> BreakpointChange {
    let plain = |text: Option<String>| text.as_deref().map(plain::line);
    BreakpointChange {
        breakpoint_id: plain::line(&change.breakpoint_id),
        file: plain::line(&change.file),
        function: plain(change.function),
        condition: plain(change.condition),
        log_message: plain(change.log_message),
        ..change
    }
}
