//! Goes through two runs together, step by step.

use std::collections::HashMap;

use super::side::{EVENTS, Moment, Side};
use super::values::{Comparison, Difference, Partners};
use super::versions::{Line, Versions};
use crate::error::Result;
use crate::memory::COLUMNS;
use crate::reading::{Event, Recording};
use crate::value::What;

/// Where two runs part.
#[derive(Debug, Default)]
pub(super) struct Parting {
    /// The first values that differ, before the steps do.
    pub(super) values: Option<Difference>,
    /// The first two events that are different steps. Where one run is longer, its next event is beside the last one of
    /// the other.
    pub(super) steps: Option<(Event, Event)>,
    /// What ran last before, if only that version has its line.
    pub(super) only_here: [Option<Event>; 2],
}

impl Parting {
    /// Whether values differ that were written before those of another one, in the first run.
    pub(super) fn begins_before(&self, other: &Self) -> bool {
        let event = |parting: &Self| parting.values.as_ref().map(|(value, _)| value.event.id);
        event(self).is_some_and(|event_of_this| event(other).is_none_or(|other| event_of_this < other))
    }
}

/// Finds where a thread of one run and a thread of the other part, by their numbers.
pub(super) fn part(recordings: [&Recording; 2], threads: [i64; 2], versions: &Versions) -> Result<Parting> {
    let [one, other] = recordings;
    let all_writes = format!("SELECT {COLUMNS} FROM writes ORDER BY id");
    let mut events = (one.database.prepare(EVENTS)?, other.database.prepare(EVENTS)?);
    let mut writes = (one.database.prepare(&all_writes)?, other.database.prepare(&all_writes)?);
    let [first, second] = &versions.both;
    let [thread, other_thread] = threads;
    let sides = [
        Side::new(one, first, events.0.query([thread])?, writes.0.query([])?),
        Side::new(other, second, events.1.query([other_thread])?, writes.1.query([])?),
    ];
    let mut walk = Walk {
        sides,
        calls: HashMap::new(),
        last: None,
        values: None,
        objects: Partners::default(),
        versions,
    };
    let steps = walk.run()?;
    let [first, second] = walk.sides;
    Ok(Parting { values: walk.values, steps, only_here: [first.only_here, second.only_here] })
}

struct Walk<'a> {
    sides: [Side<'a>; 2],
    /// The calls of the second run for those of the first one.
    calls: HashMap<i64, i64>,
    last: Option<(Event, Event)>,
    values: Option<Difference>,
    /// Objects that were values of the same variables.
    objects: Partners,
    versions: &'a Versions,
}

impl Walk<'_> {
    /// The first different step.
    fn run(&mut self) -> Result<Option<(Event, Event)>> {
        let [one, other] = &mut self.sides;
        let (mut first, mut second) = (one.next()?, other.next()?);
        loop {
            let (ours, theirs) = match (&first, &second) {
                (Some(ours), Some(theirs)) => (*ours, *theirs),
                (None, None) => return Ok(None),
                // What the rules below leave out makes no difference at the end, either.
                (Some(ours), None) if self.may_skip(0, ours) => {
                    first = self.skip(0, ours)?;
                    continue;
                }
                (None, Some(theirs)) if self.may_skip(1, theirs) => {
                    second = self.skip(1, theirs)?;
                    continue;
                }
                (Some(ours), None) => return Ok(self.last.map(|(_, theirs)| (ours.event, theirs))),
                (None, Some(theirs)) => return Ok(self.last.map(|(ours, _)| (ours, theirs.event))),
            };
            if self.is_same_step(&ours, &theirs) {
                self.compare(&ours, &theirs)?;
                self.advance(&ours, &theirs);
                let [one, other] = &mut self.sides;
                (first, second) = (one.next()?, other.next()?);
                continue;
            }
            // A line that calls different functions does so on purpose only if it was edited.
            let are_calls = ours.event.what == What::Call
                && theirs.event.what == What::Call
                && self.is_same_call(ours.caller, theirs.caller)
                && !self.is_edited(0, ours.caller_place);
            let skips = [!are_calls && self.may_skip(0, &ours), !are_calls && self.may_skip(1, &theirs)];
            match skips {
                [false, false] => {
                    self.compare(&ours, &theirs)?;
                    return Ok(Some((ours.event, theirs.event)));
                }
                [skips_ours, skips_theirs] => {
                    if skips_ours {
                        first = self.skip(0, &ours)?;
                    }
                    if skips_theirs {
                        second = self.skip(1, &theirs)?;
                    }
                }
            }
        }
    }

    /// Whether a step may be left out although the other run does not take it: a call of a function that only one
    /// version has, or by a line that was edited, such a line itself, of which a part runs again, and a definition that
    /// was moved or edited, or that a decorator runs again, and an `await` or a `yield` that only one version has.
    fn may_skip(&self, at: usize, moment: &Moment) -> bool {
        let Some(side) = self.sides.get(at) else { return false };
        match moment.event.what {
            What::Call => {
                let function = side.version.functions.get(&moment.code);
                self.is_edited(at, moment.caller_place)
                    || function.is_some_and(|function| function.spot.is_none())
            }
            What::Line => {
                let is_at = side.at(moment.event.call);
                let is_again = is_at.is_some() && is_at == moment.event.place;
                let line = side.line(moment.event.place);
                let is_defined = |line: Line| line.is_moved || line.is_edited || side.is_again(&moment.event);
                line.is_some_and(|line| line.is_definition && is_defined(line) || is_again && line.is_edited)
            }
            What::Yield | What::Resume => side.is_suspended_here(&moment.event),
            _ => false,
        }
    }

    fn skip(&mut self, at: usize, moment: &Moment) -> Result<Option<Moment>> {
        let Some(side) = self.sides.get_mut(at) else { return Ok(None) };
        side.skip(moment);
        side.next()
    }

    fn is_edited(&self, at: usize, place: Option<i64>) -> bool {
        self.sides.get(at).and_then(|side| side.line(place)).is_some_and(|line| line.is_edited)
    }

    fn is_same_call(&self, ours: i64, theirs: i64) -> bool {
        // What no recorded code called has no caller.
        (ours == 0 && theirs == 0) || self.calls.get(&ours) == Some(&theirs)
    }

    fn is_same_step(&self, ours: &Moment, theirs: &Moment) -> bool {
        let [one, other] = &self.sides;
        if ours.event.what != theirs.event.what {
            return false;
        }
        if ours.event.what == What::Call {
            let spot = |side: &Side<'_>, moment: &Moment| {
                side.version.functions.get(&moment.code).and_then(|function| function.spot.clone())
            };
            let functions = (spot(one, ours), spot(other, theirs));
            return functions.0.is_some()
                && functions.0 == functions.1
                && self.is_same_call(ours.caller, theirs.caller);
        }
        if !self.is_same_call(ours.event.call, theirs.event.call) {
            return false;
        }
        let spot =
            |side: &Side<'_>, moment: &Moment| side.line(moment.event.place).and_then(|line| line.spot);
        // Where a call ends does not matter: the lines before have been compared.
        !matches!(ours.event.what, What::Line | What::Throw) || spot(one, ours) == spot(other, theirs)
    }

    /// Looks for the first value that differs.
    fn compare(&mut self, ours: &Moment, theirs: &Moment) -> Result<()> {
        if self.values.is_some() {
            return Ok(());
        }
        // Of a call that begins, the line that called is compared, which may write more later.
        let call = |moment: &Moment| match moment.event.what {
            What::Call => moment.caller,
            _ => moment.event.call,
        };
        let is_complete = ours.event.what != What::Call && theirs.event.what != What::Call;
        let is_same_step = self.is_same_step(ours, theirs);
        if (is_same_step && !is_complete) || !self.is_same_call(call(ours), call(theirs)) {
            return Ok(());
        }
        let [one, other] = &mut self.sides;
        let (Some(first), Some(second)) = (one.written(call(ours)), other.written(call(theirs))) else {
            return Ok(());
        };
        let [one, other] = &self.sides;
        let comparison = Comparison {
            sides: [one, other],
            moments: [ours, theirs],
            steps: [first, second],
            is_complete,
            versions: self.versions,
            objects: &self.objects,
        };
        let mut found = comparison.of_writes()?;
        if found.is_none() && is_same_step {
            found = comparison.of_event()?;
        }
        self.values = found;
        Ok(())
    }

    /// Both runs have taken a step.
    fn advance(&mut self, ours: &Moment, theirs: &Moment) {
        let [one, other] = &mut self.sides;
        match ours.event.what {
            What::Call | What::Line => {
                if ours.event.what == What::Call {
                    self.calls.insert(ours.event.call, theirs.event.call);
                }
                one.begin(ours, false);
                other.begin(theirs, false);
            }
            What::Return | What::Unwind => {
                self.calls.remove(&ours.event.call);
                one.end(ours);
                other.end(theirs);
            }
            What::Throw | What::Yield | What::Resume => {}
        }
        (one.only_here, other.only_here) = (None, None);
        self.last = Some((ours.event, theirs.event));
    }
}
