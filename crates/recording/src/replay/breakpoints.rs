//! Where moves end: lines, functions and exceptions.

use std::cell::RefCell;
use std::collections::BTreeMap;

use dap::{
    Breakpoint, ConditionFailedEvent, SetBreakpointsArguments, SetBreakpointsResponse,
    SetFunctionBreakpointsArguments, Source,
};

use super::moves::{Direction, Position, Reached, beyond};
use crate::error::Result;
use crate::memory::MemoryAt;
use crate::predicate::{Expression, Scope};
use crate::reading::{Code, Event, Recording, list};
use crate::value::What;

/// All that a client has set.
#[derive(Debug, Default)]
pub(super) struct Breakpoints {
    lines: Vec<Set>,
    functions: Vec<Set>,
    /// The exceptions to stop at.
    pub(super) filters: Vec<String>,
    count: i64,
    /// Conditions without an answer, by breakpoints: how often, and the last reason.
    unanswered: RefCell<BTreeMap<i64, (u64, String)>>,
}

/// What a condition is at an event.
enum Answer {
    Holds,
    DoesNotHold,
    /// The recording cannot tell, for this reason.
    Unknown(String),
}

/// A breakpoint.
#[derive(Debug)]
struct Set {
    id: i64,
    /// The source that it was set in; empty for a function.
    path: String,
    /// Numbers of places, or of codes.
    at: Vec<i64>,
    condition: Option<Expression>,
}

impl Breakpoints {
    /// Replaces those of a source.
    pub(super) fn set_lines(
        &mut self,
        recording: &Recording,
        arguments: SetBreakpointsArguments,
    ) -> SetBreakpointsResponse {
        let path = arguments.source.path.unwrap_or_default();
        self.lines.retain(|set| set.path != path);
        let answers = arguments.breakpoints.into_iter().map(|wanted| {
            let at = recording.places_at(&path, wanted.line);
            let missing = at.is_empty().then(|| recording.not_reached(&path, wanted.line));
            let (set, answer) = self.set(recording, path.clone(), at, (wanted.condition, missing));
            self.lines.extend(set);
            let source =
                Source { path: Some(path.clone()), name: arguments.source.name.clone(), ..Source::default() };
            Breakpoint { line: Some(wanted.line), source: Some(source), ..answer }
        });
        SetBreakpointsResponse { breakpoints: answers.collect() }
    }

    /// Replaces those on functions.
    pub(super) fn set_functions(
        &mut self,
        recording: &Recording,
        arguments: SetFunctionBreakpointsArguments,
    ) -> SetBreakpointsResponse {
        self.functions.clear();
        let answers = arguments.breakpoints.into_iter().map(|wanted| {
            let codes = recording.functions(&wanted.name);
            let missing =
                codes.is_empty().then(|| format!("no function `{}` was called in this run", wanted.name));
            let (set, answer) = self.set(recording, String::new(), codes, (wanted.condition, missing));
            self.functions.extend(set);
            answer
        });
        SetBreakpointsResponse { breakpoints: answers.collect() }
    }

    /// One, unless it cannot be set, and the answer about it.
    fn set(
        &mut self,
        recording: &Recording,
        path: String,
        at: Vec<i64>,
        (condition, missing): (Option<String>, Option<String>),
    ) -> (Option<Set>, Breakpoint) {
        self.count += 1;
        let id = self.count;
        let condition = condition.filter(|text| !text.trim().is_empty());
        let condition = condition.map(|text| recording.without_properties(recording.expression(&text)?));
        let condition = condition.transpose();
        let refused = missing.or_else(|| condition.as_ref().err().map(ToString::to_string));
        let set = refused.is_none().then(|| Set { id, path, at, condition: condition.ok().flatten() });
        let answer =
            Breakpoint { id: Some(id), verified: set.is_some(), message: refused, ..Breakpoint::default() };
        (set, answer)
    }

    /// The first stop beyond an event, up to another one.
    pub(super) fn next(
        &self,
        recording: &Recording,
        begin: i64,
        direction: Direction,
        until: i64,
    ) -> Result<Option<Reached>> {
        let mut from = begin;
        while let Some(event) = self.candidate(recording, from, direction, until)? {
            let hit = self.hits(recording, &event)?;
            let is_exception = event.what == What::Throw;
            if is_exception && self.stops_at(recording, &event)? || !hit.is_empty() {
                // A function's breakpoint stops at its first line.
                let shown = match event.what {
                    What::Call => recording.first_line(event.call, event.id)?.unwrap_or(event),
                    _ => event,
                };
                let reason = match event.what {
                    What::Throw => "exception",
                    What::Call => "function breakpoint",
                    _ => "breakpoint",
                };
                let is_beyond = match direction {
                    Direction::Forward => shown.id > begin && shown.id <= until.max(event.id),
                    Direction::Back => shown.id < begin,
                };
                if is_beyond {
                    let position = Position { event: shown, is_end: false };
                    return Ok(Some(Reached { position, reason, breakpoints: hit }));
                }
            }
            from = event.id;
        }
        Ok(None)
    }

    /// The next event that may be a stop.
    fn candidate(
        &self,
        recording: &Recording,
        from: i64,
        direction: Direction,
        until: i64,
    ) -> Result<Option<Event>> {
        let numbers = |sets: &[Set]| list(sets.iter().flat_map(|set| &set.at));
        let (beyond, order) = beyond(direction);
        let limit = if direction == Direction::Forward { "<=" } else { ">=" };
        let wanted = [
            (!self.lines.is_empty())
                .then(|| format!("kind = {} AND place IN ({})", What::Line.stored(), numbers(&self.lines))),
            (!self.functions.is_empty()).then(|| {
                format!(
                    "kind = {} AND call IN (SELECT id FROM calls WHERE code IN ({}))",
                    What::Call.stored(),
                    numbers(&self.functions)
                )
            }),
            (!self.filters.is_empty()).then(|| format!("kind = {}", What::Throw.stored())),
        ];
        let mut nearest: Option<Event> = None;
        for wanted in wanted.into_iter().flatten() {
            let until = nearest.map_or(until, |event| event.id);
            let next =
                format!("WHERE id {beyond} ? AND id {limit} ? AND {wanted} ORDER BY id {order} LIMIT 1");
            nearest = recording.event_where(&next, [from, until])?.or(nearest);
        }
        Ok(nearest)
    }

    /// The breakpoints that an event hits.
    fn hits(&self, recording: &Recording, event: &Event) -> Result<Vec<i64>> {
        let code = recording.call(event.call)?.map(|call| call.code);
        let (sets, at) = match event.what {
            What::Line => (&self.lines, event.place),
            What::Call => (&self.functions, code),
            _ => return Ok(Vec::new()),
        };
        let mut hit = Vec::new();
        for set in sets.iter().filter(|set| at.is_some_and(|at| set.at.contains(&at))) {
            match recording.satisfies(set.condition.as_ref(), event)? {
                Answer::Holds => hit.push(set.id),
                Answer::DoesNotHold => {}
                Answer::Unknown(reason) => {
                    let mut unanswered = self.unanswered.borrow_mut();
                    let (times, last) = unanswered.entry(set.id).or_default();
                    (*times, *last) = (*times + 1, reason);
                }
            }
        }
        Ok(hit)
    }

    /// The conditions that had no answer since this was asked last.
    pub(super) fn unanswered(&self) -> Vec<ConditionFailedEvent> {
        let failed = |(id, (times, message))| ConditionFailedEvent { breakpoint_id: id, times, message };
        self.unanswered.take().into_iter().map(failed).collect()
    }

    /// Whether an exception is one to stop at, in the call that threw it.
    fn stops_at(&self, recording: &Recording, event: &Event) -> Result<bool> {
        if recording.thrown_below(event)?.is_some() {
            return Ok(false);
        }
        let wants = |name: &str| self.filters.iter().any(|filter| filter == name);
        Ok(wants("raised") || wants("uncaught") && recording.is_uncaught(event)?)
    }
}

impl Recording {
    /// The codes of a function, by its name with or without its class.
    fn functions(&self, name: &str) -> Vec<i64> {
        let is_in_class =
            |code: &Code| code.name.strip_suffix(name).is_some_and(|before| before.ends_with('.'));
        let mut found = self.codes_where(|code| &*code.name == name || is_in_class(code));
        found.sort_unstable();
        found
    }

    /// Whether a condition holds at an event.
    fn satisfies(&self, condition: Option<&Expression>, event: &Event) -> Result<Answer> {
        let Some(condition) = condition else { return Ok(Answer::Holds) };
        let Some(call) = self.call(event.call)? else { return Ok(Answer::DoesNotHold) };
        // The arguments of a call are written after its event.
        let moment = event.id + i64::from(event.what == What::Call);
        let memory = MemoryAt { recording: self, event: moment };
        let scope = Scope::of(self, &memory, &call)?;
        Ok(match scope.holds(condition)? {
            Some(true) => Answer::Holds,
            Some(false) => Answer::DoesNotHold,
            None => {
                let missing = scope.missing_part(condition)?.unwrap_or_else(|| "a part of it".to_owned());
                let place = self.place_text(event.place);
                Answer::Unknown(format!("{missing} has no recorded value at event {}, {place}", event.id))
            }
        })
    }

    /// Whether an exception ended the program, or what its thread ran.
    pub(super) fn is_uncaught(&self, event: &Event) -> Result<bool> {
        if self.moment("exception")?.id != event.id {
            return Ok(false);
        }
        let later = "SELECT 1 FROM calls JOIN events ON events.id = calls.ended \
                     WHERE calls.caller = 0 AND events.kind = ? AND events.id > ? LIMIT 1";
        self.has_row(later, [What::Unwind.stored(), event.id])
    }
}
