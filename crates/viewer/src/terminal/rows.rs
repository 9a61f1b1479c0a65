//! Which entries are rows of the timeline: those that a person asked for, an answer being part of its call.
//!
//! A journal may have a million entries, so they are searched piece by piece: first the new ones at the end, then
//! backward from the current position.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::log::{Kind, Log, Poll};
use crate::timeline::Filter;

/// How many entries are searched between checks of the clock, if none has to be read.
const BLOCK: usize = 512;

/// The rows that were found so far.
#[derive(Debug, Default)]
pub(super) struct Rows {
    filter: Filter,
    /// Ascending. The number of an entry is this and `offset`, so that nothing moves when older ones are put in front.
    found: VecDeque<i32>,
    offset: i64,
    /// The entries that were searched.
    from: usize,
    to: usize,
}

impl Rows {
    /// None yet, to be looked for from an entry on.
    pub(super) fn new(filter: Filter, source_context: usize) -> Self {
        Self { filter, found: VecDeque::new(), offset: 0, from: source_context, to: source_context }
    }

    pub(super) fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Shows what happened during a call in rows of its own, or in the call's again.
    pub(super) fn toggle(&mut self, log: &Log, call: usize) {
        let place = log.place(call);
        if !self.filter.open.remove(&place) {
            self.filter.open.insert(place);
        }
        self.regroup(log);
        let session = self.filter.session_in(log);
        for effect in log.effects(call) {
            if self.filter.matches(log, effect, session) {
                self.add(effect, false);
            }
        }
    }

    /// Takes away rows that turned out to be part of others.
    pub(super) fn regroup(&mut self, log: &Log) {
        if self.filter.has_groups() {
            let (filter, offset) = (&self.filter, self.offset);
            let is_open = |call| filter.is_open(log, call);
            self.found.retain(|found| {
                let number = usize::try_from(i64::from(*found) + offset).ok();
                let call = number.and_then(|number| log.summary(number)?.call);
                call.is_none_or(is_open)
            });
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// The number of the entry of a row.
    pub(super) fn get(&self, row: usize) -> Option<usize> {
        let found = *self.found.get(row)?;
        usize::try_from(i64::from(found) + self.offset).ok()
    }

    /// The row of an entry: the last one that is not behind it, else the first.
    pub(super) fn row_of(&self, number: usize) -> Option<usize> {
        let behind = self.found.partition_point(|found| self.number(*found) <= as_i64(number));
        (!self.found.is_empty()).then(|| behind.saturating_sub(1))
    }

    fn number(&self, found: i32) -> i64 {
        i64::from(found) + self.offset
    }

    /// Numbers of entries have moved.
    pub(super) fn shift(&mut self, poll: Poll) {
        self.offset += as_i64(poll.prepended) - as_i64(poll.removed);
        let moved = |number: usize| (number + poll.prepended).saturating_sub(poll.removed);
        (self.from, self.to) = (moved(self.from), moved(self.to));
        while self.found.front().is_some_and(|found| self.number(*found) < 0) {
            self.found.pop_front();
        }
    }

    /// Whether every entry was searched.
    pub(super) fn is_done(&self, log: &Log) -> bool {
        self.from == 0 && self.to >= log.len()
    }

    /// How much of the journal was searched, in percent.
    pub(super) fn searched(&self, log: &Log) -> usize {
        self.to.saturating_sub(self.from) * 100 / log.len().max(1)
    }

    /// Searches further entries for about this long. Returns whether there are more rows than before.
    pub(super) fn grow(&mut self, log: &Log, time: Duration) -> bool {
        let (before, began) = (self.found.len(), Instant::now());
        let block = if self.filter.text.is_empty() { BLOCK } else { 1 };
        let session = self.filter.session_in(log);
        while !self.is_done(log) {
            for _ in 0..block {
                if self.to < log.len() {
                    self.take(log, self.to, session, false);
                    self.to += 1;
                } else if self.from > 0 {
                    self.from -= 1;
                    self.take(log, self.from, session, true);
                }
            }
            if began.elapsed() >= time {
                break;
            }
        }
        self.found.len() != before
    }

    fn take(&mut self, log: &Log, number: usize, session: Option<usize>, in_front: bool) {
        if !self.filter.matches(log, number, session) {
            return;
        }
        let call =
            log.summary(number).filter(|summary| matches!(summary.kind, Kind::Response | Kind::Failure));
        let row = call.and_then(|summary| summary.partner).unwrap_or(number);
        self.add(row, in_front);
    }

    /// Adds a row, unless it is there.
    fn add(&mut self, number: usize, in_front: bool) {
        let Ok(found) = i32::try_from(as_i64(number) - self.offset) else { return };
        if in_front && self.found.front().is_none_or(|first| found < *first) {
            self.found.push_front(found);
        } else if !in_front && self.found.back().is_none_or(|last| *last < found) {
            self.found.push_back(found);
        } else if let Err(at) = self.found.binary_search(&found) {
            self.found.insert(at, found);
        }
    }
}

fn as_i64(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
