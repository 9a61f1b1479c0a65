//! Walks back from an entry to those that determine the state at it.

use std::collections::HashMap;

use journal::entry::{
    BreakpointChange, BreakpointEvent, Event, Exposure, ExposureEvent, Location, SourceWindow, State,
    StateEvent, Variable, Variables,
};

use super::{ComparedVariable, Line, Moment};
use crate::log::{Detail, Kind, LOST, Log};
use crate::plain;

/// How many pieces of output are shown.
const OUTPUT: usize = 200;
/// How many entries about breakpoints are read.
const CHANGES: usize = 400;
/// How many entries about variables are read of one stop.
const READ: usize = 40;
/// How many entries after a moment are searched for children of its values.
const LATER: usize = 4096;
/// How deep the parts of values are shown; a value may have itself as a part.
const DEPTH: usize = 10;

/// What was found on the way back.
#[derive(Default)]
struct Walk {
    /// The session is closed, or its server is gone.
    end: Option<&'static str>,
    /// What the program does.
    state: Option<State>,
    /// The stop that is shown: where the program is suspended, or was the last time before it ended.
    stop: Option<State>,
    /// What was read of the innermost frame at this stop, newest first.
    now: Vec<Variables>,
    /// What was read between the stop before and this one, newest first.
    earlier: Vec<Variables>,
    /// The stop before, once it is found.
    before: Option<State>,
    /// Newest first.
    output: Vec<Line>,
    /// How much of the output is later than the first state of a run, when that is the last state that was passed.
    run: Option<usize>,
    /// Of each breakpoint the newest change, and the number of the oldest.
    breakpoints: HashMap<String, (usize, BreakpointChange)>,
    changes: usize,
    /// Whether an editor can attach, and where.
    exposure: Option<Exposure>,
}

pub(super) fn moment(log: &Log, session: usize, number: usize) -> Moment {
    let Some(known) = log.sessions().get(session) else { return Moment::default() };
    let is_lost = known.state == LOST && number >= known.last;
    let mut walk = Walk { end: is_lost.then_some(LOST), ..Walk::default() };
    for (number, kind, detail) in log.back(session, number) {
        if walk.needs(kind, detail)
            && let Some(entry) = log.entry(number)
        {
            walk.take(number, &entry.event);
        }
        if kind == Kind::State {
            walk.run = (detail != Detail::Stopped).then_some(walk.output.len());
        }
    }
    if walk.state.as_ref().is_some_and(|state| state.event == StateEvent::Paused) && walk.end.is_none() {
        walk.now.extend(parts_read_later(log, session, number));
    }
    let [session_id, session_name, language] =
        [&known.id, &known.name, &known.language].map(|raw| plain::line(raw));
    walk.end(Moment { session_id, session_name, language, ..Moment::default() })
}

/// The parts of values that were read later at the same stop: they belong to what is shown, and were no others before.
fn parts_read_later(log: &Log, session: usize, number: usize) -> Vec<Variables> {
    let later = (number + 1..log.len()).take(LATER).filter_map(|number| Some((number, log.summary(number)?)));
    later
        .filter(|(_, summary)| summary.session == Some(session))
        .take_while(|(_, summary)| !matches!(summary.kind, Kind::State | Kind::Closed))
        .filter(|(_, summary)| summary.kind == Kind::Variables)
        .filter_map(|(number, _)| match &log.entry(number)?.event {
            Event::Variables(read) if read.scope.is_none() => Some(read.clone()),
            _ => None,
        })
        .take(READ)
        .collect()
}

impl Walk {
    /// Whether an entry adds something new.
    fn needs(&self, kind: Kind, detail: Detail) -> bool {
        match kind {
            Kind::State if detail == Detail::Stopped && self.run.is_some() => true,
            Kind::State if self.state.is_none() => true,
            Kind::State => detail != Detail::Running && self.shows_a_stop() && self.before.is_none(),
            Kind::Closed => self.state.is_none(),
            Kind::Variables if self.state.is_some() && !self.shows_a_stop() => false,
            Kind::Variables if self.stop.is_none() => self.now.len() < READ,
            Kind::Variables => self.before.is_none() && self.earlier.len() < READ,
            Kind::Output => self.output.len() < OUTPUT,
            Kind::Breakpoint => detail != Detail::Hit && self.changes < CHANGES,
            Kind::Exposure => self.exposure.is_none(),
            _ => false,
        }
    }

    /// A program that runs has none; one that has ended shows its last.
    fn shows_a_stop(&self) -> bool {
        let event = self.state.as_ref().map(|state| state.event);
        self.end.is_some() || event.is_some_and(|event| event != StateEvent::Running)
    }

    fn take(&mut self, number: usize, event: &Event) {
        match event {
            Event::State(state) => self.take_state(state),
            Event::Closed(_) => self.end = Some("closed"),
            Event::Exposure(exposure) => self.exposure = Some(exposure.clone()),
            Event::Variables(read) if self.stop.is_none() => self.now.push(read.clone()),
            Event::Variables(read) => self.earlier.push(read.clone()),
            Event::Output(written) => self.output.push(Line {
                category: plain::line(&written.category),
                text: plain::text(&written.output),
                omitted: written.omitted,
                is_divider: false,
            }),
            Event::Breakpoint(change) => {
                self.changes += 1;
                let known = self.breakpoints.entry(change.breakpoint_id.clone());
                known.or_insert_with(|| (number, change.clone())).0 = number;
            }
            _ => {}
        }
    }

    fn take_state(&mut self, state: &State) {
        let is_stop = state.event == StateEvent::Paused;
        if self.state.is_none() {
            self.state = Some(state.clone());
        }
        if state.event == StateEvent::Stopped
            && let Some(at) = self.run.take().filter(|at| *at < OUTPUT)
        {
            let ended = plain::line(state.reason.as_deref().unwrap_or("the program ended"));
            let text = format!("{ended}, then run again");
            self.output.insert(at, Line { text, is_divider: true, ..Line::default() });
        }
        if !self.shows_a_stop() {
            return;
        }
        if is_stop && self.stop.is_none() {
            self.stop = Some(state.clone());
        } else if self.stop.is_some() && self.before.is_none() && state.event != StateEvent::Running {
            // A program that ran anew is another one.
            self.before = Some(state.clone());
        }
    }

    fn end(mut self, mut moment: Moment) -> Moment {
        moment.output = self.output;
        moment.output.reverse();
        let mut breakpoints: Vec<_> = self.breakpoints.into_values().collect();
        breakpoints.sort_by_key(|(number, _)| *number);
        breakpoints.retain(|(_, change)| change.event != BreakpointEvent::Removed);
        moment.breakpoints = breakpoints.into_iter().map(|(_, change)| plain_change(change)).collect();
        let event = self.state.as_ref().map(|state| state.event);
        moment.state = self.end.unwrap_or(match event {
            None => "created",
            Some(StateEvent::Paused) => "paused",
            Some(StateEvent::Running) => "running",
            Some(StateEvent::Stopped) => "stopped",
        });
        let open = self.exposure.filter(|last| self.end.is_none() && last.event == ExposureEvent::Opened);
        moment.editor = open.map(|Exposure { host, port, .. }| plain::line(&format!("{host}:{port}")));
        let is_suspended = moment.state == "paused";
        let state = self.state.take().filter(|state| is_suspended || state.event != StateEvent::Paused);
        moment.reason = state.and_then(|state| state.reason.as_deref().map(plain::line));
        let Some(stop) = self.stop.take() else { return moment };
        moment.is_past = !is_suspended;
        moment.is_exception = stop.reason.as_deref() == Some("exception");
        moment.description = stop.description.as_deref().map(plain::text);
        let now = (&stop, &*self.now);
        moment.is_read = of_frame(&self.now, innermost(&stop)).is_read;
        moment.variables = variables(now, self.before.as_ref().map(|before| (before, &*self.earlier)));
        moment.source = stop.source.as_ref().map(plain_source);
        moment.stack = stop.stack.iter().map(plain_place).collect();
        moment.location = stop.location.as_ref().map(plain_place);
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
        is_same.then(|| (of_frame(read, Some(place)), Parts::of(read)))
    });
    let (before, parts_before) = earlier.unzip();
    let before = before.filter(|before| before.is_read);
    let parts = (&Parts::of(read), &parts_before.unwrap_or_default());
    compared(&of_frame(read, innermost), before.as_ref(), parts, 0)
}

/// The parts of values that were read at a stop, by the numbers of these values.
#[derive(Default)]
struct Parts<'a>(HashMap<u64, &'a Variables>);

impl<'a> Parts<'a> {
    /// Of several readings, newest first, the newest.
    fn of(read: &'a [Variables]) -> Self {
        let numbered = read.iter().rev().filter_map(|one| Some((one.variables_reference?, one)));
        Self(numbered.filter(|(_, one)| one.scope.is_none()).collect())
    }

    fn of_value(&self, variable: &Variable) -> Option<Frame> {
        let read = self.0.get(&variable.variables_reference?)?;
        let variables = read.variables.clone();
        let missing = read.variable_count.saturating_sub(variables.len() as u64);
        Some(Frame { variables, missing, is_read: true })
    }
}

fn innermost(state: &State) -> Option<&Location> {
    state.location.as_ref().or(state.stack.first())
}

/// Variables of a frame, or the parts of a value.
struct Frame {
    variables: Vec<Variable>,
    /// How many more there are.
    missing: u64,
    is_read: bool,
}

/// Combines the values read from a frame's scopes, newest first. Global ones count if there are no others.
fn of_frame(read: &[Variables], frame: Option<&Location>) -> Frame {
    let number = frame.and_then(|frame| frame.frame_id);
    let is_scope =
        |one: &&Variables| one.scope.is_some() || one.variables_reference.is_none_or(|number| number == 0);
    let is_of_it = |one: &&Variables| number.is_none() || one.frame_id.is_none() || one.frame_id == number;
    let is_global = |one: &&Variables| {
        let scope = one.scope.as_deref().unwrap_or_default().to_ascii_lowercase();
        scope.starts_with("global") || scope.starts_with("builtin")
    };
    let all: Vec<&Variables> = read.iter().filter(is_scope).filter(is_of_it).collect();
    let are_local = all.iter().any(|one| !is_global(one));
    let mut frame = Frame { variables: Vec::new(), missing: 0, is_read: !all.is_empty() };
    let mut places: HashMap<&str, usize> = HashMap::new();
    // Oldest first, for the order; what was read later is what it is.
    for one in all.into_iter().rev().filter(|one| !(are_local && is_global(one))) {
        frame.missing += one.variable_count.saturating_sub(one.variables.len() as u64);
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

/// Compares variables with those of the stop before, and their parts, of now and before.
fn compared(
    now: &Frame,
    before: Option<&Frame>,
    parts: (&Parts<'_>, &Parts<'_>),
    depth: usize,
) -> Vec<ComparedVariable> {
    let known: HashMap<&str, &Variable> = before
        .into_iter()
        .flat_map(|before| &before.variables)
        .map(|variable| (variable.name.as_str(), variable))
        .collect();
    let is_whole = before.is_some_and(|before| before.missing == 0 && !before.variables.is_empty());
    let all = now.variables.iter().map(|variable| {
        let earlier = known.get(variable.name.as_str()).copied();
        let inner = parts.0.of_value(variable).filter(|_| depth < DEPTH);
        let inner_before = earlier.and_then(|earlier| parts.1.of_value(earlier));
        let changed = earlier.filter(|earlier| earlier.value != variable.value);
        ComparedVariable {
            before: changed.map(|earlier| plain::line(&earlier.value)),
            is_new: is_whole && earlier.is_none(),
            more: inner.as_ref().map_or(0, |inner| inner.missing),
            parts: inner
                .map(|inner| compared(&inner, inner_before.as_ref(), parts, depth + 1))
                .unwrap_or_default(),
            variable: Variable {
                name: plain::line(&variable.name),
                type_name: plain::line(&variable.type_name),
                value: plain::line(&variable.value),
                variables_reference: variable.variables_reference,
            },
        }
    });
    all.collect()
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
