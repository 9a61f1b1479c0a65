//! One of two runs that are compared step by step.

use std::collections::{BTreeSet, HashMap, HashSet};

use rusqlite::Rows;

use super::versions::{Line, Version};
use crate::error::Result;
use crate::memory::{Write, write_of};
use crate::reading::{Event, Recording, event_of};
use crate::spelling::Spelling;
use crate::value::{Key, Kind, OUTER, Owner, What, Word};

/// The events of a thread, with what is needed of their calls.
pub(super) const EVENTS: &str = "SELECT events.id, kind, call, place, value, code, owner, caller, caller_place FROM events \
                                 JOIN calls ON calls.id = events.call WHERE calls.thread = ? ORDER BY events.id";

/// An event, and its call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) event: Event,
    pub(super) code: i64,
    pub(super) owner: Owner,
    pub(super) caller: i64,
    pub(super) caller_place: Option<i64>,
}

/// A call that has not ended, and what its line has written so far.
#[derive(Debug)]
pub(super) struct Step {
    /// The event of the line, or of the call before its first line.
    pub(super) event: Event,
    /// Only this version has the line.
    is_only_here: bool,
    /// The place of the last line that both versions have.
    last_of_both: Option<i64>,
    /// What the line wrote.
    pub(super) writes: Vec<Write>,
    /// The variables of the call that were written by lines before it that only this version has.
    pub(super) written_here: BTreeSet<Key>,
}

/// One run, at some event.
pub(super) struct Side<'a> {
    pub(super) recording: &'a Recording,
    pub(super) version: &'a Version,
    events: Rows<'a>,
    writes: Rows<'a>,
    next_write: Option<Write>,
    /// By calls.
    steps: HashMap<i64, Step>,
    /// The calls of lines, by events.
    calls: HashMap<i64, i64>,
    /// Calls that are not compared.
    skipped: HashSet<i64>,
    /// Calls that wait at an `await` or a `yield` that only this version has, or for such a call.
    suspended: HashSet<i64>,
    /// The caller of a call that has just been suspended there. It is suspended next if it awaits that call.
    awaiting: Option<i64>,
    /// The last write of each variable, attribute and item that is there.
    last: HashMap<Owner, HashMap<Key, Write>>,
    /// The number of the name of what a closure has for the call around it.
    outer: Option<i64>,
    /// The last event of a line that only this version has, since the last that both have.
    pub(super) only_here: Option<Event>,
}

impl<'a> Side<'a> {
    pub(super) fn new(
        recording: &'a Recording,
        version: &'a Version,
        events: Rows<'a>,
        writes: Rows<'a>,
    ) -> Self {
        Self {
            recording,
            version,
            events,
            writes,
            next_write: None,
            steps: HashMap::new(),
            calls: HashMap::new(),
            skipped: HashSet::new(),
            suspended: HashSet::new(),
            awaiting: None,
            last: HashMap::new(),
            outer: recording.number(OUTER),
            only_here: None,
        }
    }

    /// The line of a place; none before the first line of a call.
    pub(super) fn line(&self, place: Option<i64>) -> Option<Line> {
        self.version.lines.get(&place?).copied()
    }

    fn is_only_here(&self, place: Option<i64>) -> bool {
        self.line(place).is_some_and(|line| line.spot.is_none())
    }

    /// The next event that is not one of a line that only this version has, or of what such a line called.
    pub(super) fn next(&mut self) -> Result<Option<Moment>> {
        loop {
            let Some(row) = self.events.next()? else {
                self.take_writes(i64::MAX)?;
                return Ok(None);
            };
            let event = event_of(row)?;
            let moment = Moment {
                event,
                code: row.get(5)?,
                owner: Owner(row.get(6)?),
                caller: row.get(7)?,
                caller_place: row.get(8)?,
            };
            self.take_writes(event.id)?;
            if self.skipped.contains(&event.call) {
                if matches!(event.what, What::Return | What::Unwind) {
                    self.skipped.remove(&event.call);
                    self.last.remove(&moment.owner);
                }
                continue;
            }
            if event.what != What::Yield {
                self.awaiting = None;
            }
            match event.what {
                What::Call
                    if self.skipped.contains(&moment.caller) || self.is_only_here(moment.caller_place) =>
                {
                    self.skip(&moment);
                }
                What::Line | What::Throw if self.is_only_here(event.place) => {
                    if event.what == What::Line {
                        self.begin(&moment, true);
                    }
                    self.only_here = Some(event);
                }
                _ => return Ok(Some(moment)),
            }
        }
    }

    /// Whether a call is suspended by a line that only this version has, or continues there.
    pub(super) fn is_suspended_here(&self, event: &Event) -> bool {
        let is_only_here = self.steps.get(&event.call).is_some_and(|step| step.is_only_here);
        match event.what {
            What::Yield => is_only_here || self.awaiting == Some(event.call),
            What::Resume => self.suspended.contains(&event.call),
            _ => false,
        }
    }

    /// Leaves out a call and all that it calls, or that a call is suspended or continues.
    pub(super) fn skip(&mut self, moment: &Moment) {
        let call = moment.event.call;
        match moment.event.what {
            What::Call => {
                self.skipped.insert(call);
            }
            What::Yield => {
                self.suspended.insert(call);
                // In JavaScript, the caller has its promise, and awaits that in any case.
                let is_python = self.recording.spelling == Spelling::Python;
                self.awaiting = is_python.then_some(moment.caller);
                self.only_here.get_or_insert(moment.event);
            }
            What::Resume => {
                self.suspended.remove(&call);
            }
            _ => {}
        }
    }

    /// A line or a call begins.
    pub(super) fn begin(&mut self, moment: &Moment, is_only_here: bool) {
        let event = moment.event;
        let step = self.steps.entry(event.call).or_insert_with(|| Step {
            event,
            is_only_here,
            last_of_both: None,
            writes: Vec::new(),
            written_here: BTreeSet::new(),
        });
        self.calls.remove(&step.event.id);
        (step.event, step.is_only_here) = (event, is_only_here);
        if !is_only_here {
            step.last_of_both = event.place;
        }
        self.calls.insert(event.id, event.call);
    }

    /// What a call has written since this was asked last.
    pub(super) fn written(&mut self, call: i64) -> Option<Step> {
        let step = self.steps.get_mut(&call)?;
        Some(Step {
            event: step.event,
            is_only_here: step.is_only_here,
            last_of_both: step.last_of_both,
            writes: std::mem::take(&mut step.writes),
            written_here: std::mem::take(&mut step.written_here),
        })
    }

    /// The line that a call is at.
    pub(super) fn at(&self, call: i64) -> Option<i64> {
        self.steps.get(&call)?.event.place
    }

    /// Whether a step is of the line that the call ran last, apart from lines that only this version has. Python runs
    /// the line of a definition again after its decorators.
    pub(super) fn is_again(&self, event: &Event) -> bool {
        let last = self.steps.get(&event.call).and_then(|step| step.last_of_both);
        self.recording.spelling == Spelling::Python && last.is_some() && last == event.place
    }

    /// A call has ended.
    pub(super) fn end(&mut self, moment: &Moment) {
        if let Some(step) = self.steps.remove(&moment.event.call) {
            self.calls.remove(&step.event.id);
        }
        self.last.remove(&moment.owner);
    }

    /// The last write of a variable, an attribute or an item; none if it is not there.
    pub(super) fn last(&self, owner: Owner, key: Key) -> Option<&Write> {
        self.last.get(&owner)?.get(&key)
    }

    /// Keeps the last write of what may be compared again.
    fn keep(&mut self, write: Write) {
        let known = self.last.entry(write.owner).or_default();
        if write.word == Word::Absent {
            known.remove(&write.key);
        } else {
            known.insert(write.key, write);
        }
    }

    /// Adds the writes before an event.
    fn take_writes(&mut self, before: i64) -> Result<()> {
        loop {
            let write = match self.next_write.take() {
                Some(write) => write,
                None => match self.writes.next()? {
                    Some(row) => write_of(row)?,
                    None => return Ok(()),
                },
            };
            if write.event >= before {
                self.next_write = Some(write);
                return Ok(());
            }
            let is_object = write.owner.as_object().is_some();
            if !is_object && matches!(write.key, Key::Name(name) if Some(name) == self.outer) {
                continue;
            }
            self.keep(write);
            let call = self.calls.get(&write.line).copied();
            let Some(step) = call.and_then(|call| self.steps.get_mut(&call)) else { continue };
            if write.is_shown_again {
                continue;
            }
            if !step.is_only_here {
                // The order of a set's members is another one in each process.
                let is_member = match write.owner.as_object() {
                    Some(object) => {
                        write.key != Key::Length && self.recording.object(object)?.kind == Kind::Set
                    }
                    None => false,
                };
                if !is_member {
                    step.writes.push(write);
                }
            } else if !is_object {
                step.written_here.insert(write.key);
            }
        }
    }
}
