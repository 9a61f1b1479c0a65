//! One of two runs that are gone through together.

use std::collections::{BTreeSet, HashMap, HashSet};

use rusqlite::Rows;

use super::versions::{Line, Version};
use crate::error::Result;
use crate::memory::{Write, write_of};
use crate::reading::{Event, Recording, event_of};
use crate::value::{Key, Kind, Owner, What};

/// The events of the main thread, with what is needed of their calls.
pub(super) const EVENTS: &str = "SELECT events.id, kind, call, place, value, code, owner, caller, caller_place FROM events \
                                 JOIN calls ON calls.id = events.call WHERE calls.thread = 1 ORDER BY events.id";

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
                }
                continue;
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

    /// Leaves out a call, and all that it calls.
    pub(super) fn skip(&mut self, moment: &Moment) {
        self.skipped.insert(moment.event.call);
    }

    /// A line or a call begins.
    pub(super) fn begin(&mut self, moment: &Moment, is_only_here: bool) {
        let event = moment.event;
        let step = self.steps.entry(event.call).or_insert_with(|| Step {
            event,
            is_only_here,
            writes: Vec::new(),
            written_here: BTreeSet::new(),
        });
        self.calls.remove(&step.event.id);
        (step.event, step.is_only_here) = (event, is_only_here);
        self.calls.insert(event.id, event.call);
    }

    /// What a call has written since this was asked last.
    pub(super) fn written(&mut self, call: i64) -> Option<Step> {
        let step = self.steps.get_mut(&call)?;
        Some(Step {
            event: step.event,
            is_only_here: step.is_only_here,
            writes: std::mem::take(&mut step.writes),
            written_here: std::mem::take(&mut step.written_here),
        })
    }

    /// The line that a call is at.
    pub(super) fn at(&self, call: i64) -> Option<i64> {
        self.steps.get(&call)?.event.place
    }

    /// A call has ended.
    pub(super) fn end(&mut self, call: i64) {
        if let Some(step) = self.steps.remove(&call) {
            self.calls.remove(&step.event.id);
        }
    }

    /// Takes in what was written before an event.
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
            } else if write.owner.as_object().is_none() {
                step.written_here.insert(write.key);
            }
        }
    }
}
