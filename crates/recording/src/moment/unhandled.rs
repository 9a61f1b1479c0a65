//! The exception that ended the program, or a test: the last one that none of the recorded calls handled.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use super::{MOST_EVENTS, MOST_THROWN};
use crate::error::Result;
use crate::reading::{Event, Recording, event_of};
use crate::spelling::Spelling;
use crate::value::{What, Word};

/// The main thread of the first process, and all threads.
const THREADS: [RangeInclusive<i64>; 2] = [1..=1, 0..=i64::MAX];

/// Types of exceptions that leave a call which has not failed.
const NO_FAILURES: [&str; 4] = ["Skipped", "SkipTest", "XFailed", "GeneratorExit"];

/// What marks a test as one that fails, in a decorator.
const MARKS: [&str; 2] = ["expectedFailure", "mark.xfail"];

/// Where an exception ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// A recorded call handled it.
    Handled,
    /// It left all recorded calls.
    Left,
    /// It left an asynchronous function, whose caller had ended.
    Rejected,
    /// Its call did nothing more, because the program ended.
    Open,
}

impl Recording {
    /// The last exception that no recorded call is known to have handled, in the outermost call that it left. Those of
    /// other threads and processes are about them, unless there is none in the main thread.
    pub(crate) fn unhandled(&self) -> Result<Option<Event>> {
        for threads in &THREADS {
            let found = self.unhandled_in(threads)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn unhandled_in(&self, threads: &RangeInclusive<i64>) -> Result<Option<Event>> {
        let outermost = self.left_outermost(threads)?;
        // What called an asynchronous function that threw later may have ended before.
        let since = self.last_event()? - MOST_EVENTS;
        let since = outermost.map_or(since, |thrown| since.max(thrown.id));
        let range = (What::Throw.stored(), since, threads.start(), threads.end(), MOST_THROWN);
        let (mut handled, mut open) = (HashSet::new(), None);
        let mut newest = true;
        let found = self.find_event_where(
            "JOIN calls ON calls.id = events.call WHERE kind = ? AND events.id > ? AND thread BETWEEN ? AND ? \
             ORDER BY events.id DESC LIMIT ?",
            range,
            |thrown| {
                if !self.is_failure(thrown)? {
                    return Ok(false);
                }
                let is_newest = std::mem::take(&mut newest);
                let fate = self.fate(thrown, &mut handled)?;
                // A test or a loop that ends cancels the tasks that are left.
                let is_open = fate == Fate::Open || fate == Fate::Left && self.is_stopped(thrown)?;
                if is_open {
                    open = open.or(Some(*thrown));
                }
                // What a caller that has ended does with a rejection is not recorded. One after which the program threw
                // others did not end it.
                Ok(!is_open && (fate == Fate::Left || fate == Fate::Rejected && is_newest))
            },
        )?;
        Ok(found.or(outermost).or(open))
    }

    /// The last exception that left a call which no recorded call had called.
    fn left_outermost(&self, threads: &RangeInclusive<i64>) -> Result<Option<Event>> {
        let left = "SELECT events.id, kind, call, place, value FROM calls JOIN events ON events.id = calls.ended \
                    WHERE caller = 0 AND kind = ? AND thread BETWEEN ? AND ? ORDER BY events.id DESC LIMIT ?";
        let range = (What::Unwind.stored(), threads.start(), threads.end(), MOST_THROWN);
        self.find_row(left, range, event_of, |left| {
            if self.resumer_at(&left)?.is_some() {
                return Ok(None);
            }
            let thrown = match self.thrown_since(&left) {
                Some(since) => Some(self.thrown_earlier(&left, since)?),
                None => self.thrown_in(left.call, &left, false)?,
            };
            Ok(match thrown {
                Some(thrown) if self.has_failed(&thrown)? => Some(thrown),
                _ => None,
            })
        })
    }

    /// What failed in what a line called or waited for that ended the program by `SystemExit`, as a test runner does, or by a
    /// group of exceptions: the last exception that left a call, or else the last assertion.
    pub(super) fn failed_within(&self, end: &Event) -> Result<Option<Event>> {
        let is_group = self.is_of_type(end, |name| name.ends_with("ExceptionGroup"))?;
        if !is_group && !self.is_of_type(end, |name| name == "SystemExit")? {
            return Ok(None);
        }
        let within = "SELECT events.id, kind, call, place, value, (caller = ?3 OR ?6) \
                      AND EXISTS (SELECT 1 FROM events AS ends WHERE ends.id = calls.ended AND ends.kind = ?4) \
                      FROM events JOIN calls ON calls.id = call WHERE kind = ?1 AND events.id < ?2 AND call <> ?3 \
                      AND events.id > (SELECT coalesce(max(id), 0) FROM events WHERE call = ?3 AND id < ?2 AND kind = ?7) \
                      ORDER BY events.id DESC LIMIT ?5";
        let (throw, unwind) = (What::Throw.stored(), What::Unwind.stored());
        let range = (throw, end.id, end.call, unwind, MOST_THROWN, is_group, What::Line.stored());
        let mut assertion = None;
        let read = |row: &rusqlite::Row<'_>| Ok((event_of(row)?, row.get::<_, bool>(5)?));
        let failed = self.find_row(within, range, read, |(thrown, has_left)| {
            if has_left && self.has_failed(&thrown)? {
                return Ok(Some(thrown));
            }
            if self.is_of_type(&thrown, |name| name == "AssertionError")? {
                assertion = assertion.or(Some(thrown));
            }
            Ok(None)
        })?;
        Ok(failed.or(assertion))
    }

    fn is_failure(&self, thrown: &Event) -> Result<bool> {
        Ok(!self.is_of_type(thrown, |name| NO_FAILURES.contains(&name))?)
    }

    fn has_failed(&self, thrown: &Event) -> Result<bool> {
        Ok(self.is_failure(thrown)? && !self.is_stopped(thrown)? && !self.is_expected(thrown)?)
    }

    /// Whether an exception is in a test of Python that is marked as one that fails.
    pub(super) fn is_expected(&self, thrown: &Event) -> Result<bool> {
        let call = self.call(thrown.call)?;
        let Some(code) = call.and_then(|call| self.codes.get(&call.code)) else { return Ok(false) };
        let (head, _) = self.head_of(code);
        let mut decorators = (code.line..head).map(|line| self.source(code, line));
        Ok(decorators.any(|line| line.starts_with('@') && MARKS.iter().any(|mark| line.contains(mark))))
    }

    /// The recorded call that resumed a generator last before it ended, which is where an exception goes.
    fn resumer_at(&self, end: &Event) -> Result<Option<i64>> {
        let resumption = self.last_resumption(end.call, end.id)?;
        Ok(resumption.map(|resumption| resumption.caller).filter(|caller| *caller != 0))
    }

    /// How many exceptions were thrown since the one that left a call; none for Python, which reports that one in each call
    /// that it leaves.
    fn thrown_since(&self, end: &Event) -> Option<i64> {
        match end.value.map(Word::of) {
            Some(Word::Integer(since)) => Some(since),
            _ => (self.spelling == Spelling::JavaScript).then_some(0),
        }
    }

    /// What left a call after which this many others were thrown; the end of the call, if it is from before the recording.
    fn thrown_earlier(&self, left: &Event, since: i64) -> Result<Event> {
        let earlier = "JOIN calls ON calls.id = events.call WHERE kind = ? AND events.id < ? \
                       AND thread = (SELECT thread FROM calls WHERE id = ?) ORDER BY events.id DESC LIMIT 1 OFFSET ?";
        let found = self.event_where(earlier, [What::Throw.stored(), left.id, left.call, since])?;
        Ok(found.unwrap_or(*left))
    }

    /// Follows an exception outwards. The calls through which others passed that were handled are known.
    fn fate(&self, thrown: &Event, handled: &mut HashSet<i64>) -> Result<Fate> {
        let later = "SELECT id FROM events WHERE call = ? AND id > ? LIMIT 1";
        let (mut call, mut event) = (thrown.call, thrown.id);
        let mut passed = Vec::new();
        let fate = loop {
            let end = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let end = self.row("SELECT caller, ended FROM calls WHERE id = ?", [call], end)?;
            let Some((caller, ended)): Option<(i64, Option<i64>)> = end else {
                // What left the outermost call is known; this may be one that a `finally` of it handled.
                break if call == 0 { Fate::Handled } else { Fate::Left };
            };
            let Some(ended) = ended else {
                break if self.has_row(later, [call, event])? { Fate::Handled } else { Fate::Open };
            };
            // What called an asynchronous function may have ended before that.
            if ended < event {
                break Fate::Rejected;
            }
            let end = self.find_event(ended)?;
            if handled.contains(&call) || end.is_some_and(|end| end.what != What::Unwind) {
                break Fate::Handled;
            }
            if let Some(end) = end
                && let Some(since) = self.thrown_since(&end)
                && self.thrown_earlier(&end, since)?.id != thrown.id
            {
                return Ok(Fate::Handled);
            }
            passed.push(call);
            let resumer = end.map(|end| self.resumer_at(&end)).transpose()?.flatten();
            (call, event) = (resumer.unwrap_or(caller), ended);
        };
        if fate == Fate::Handled {
            handled.extend(passed);
            handled.insert(call);
        }
        Ok(fate)
    }
}
