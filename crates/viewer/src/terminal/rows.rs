//! Which entries are rows of the timeline: those that a person asked for, an answer being part of its call.
//!
//! A journal may have a million entries, so they are looked at piece by piece: first what comes at the end, then
//! backwards from where the person is.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::log::{Kind, Log, Poll, Summary};
use crate::words;

/// How many entries are looked at before the clock is, when nothing has to be read.
const BLOCK: usize = 512;

/// What a person wants to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    /// The id of the only session; none for all.
    pub(super) session: Option<String>,
    pub(super) kinds: Kinds,
    /// What an entry contains, in lower case; empty for anything.
    pub(super) text: String,
}

/// Which kinds of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kinds {
    #[default]
    All,
    Calls,
    Stops,
    Output,
    Errors,
}

impl Kinds {
    const ORDER: [Self; 5] = [Self::All, Self::Calls, Self::Stops, Self::Output, Self::Errors];

    /// The one behind it, or before it, in a circle.
    pub(super) fn next(self, is_back: bool) -> Self {
        let at = Self::ORDER.iter().position(|kinds| *kinds == self).unwrap_or(0);
        let by = if is_back { Self::ORDER.len() - 1 } else { 1 };
        Self::ORDER.get((at + by) % Self::ORDER.len()).copied().unwrap_or_default()
    }

    /// For people; none for all.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Calls => Some("calls"),
            Self::Stops => Some("stops"),
            Self::Output => Some("output"),
            Self::Errors => Some("errors"),
        }
    }

    fn contain(self, summary: &Summary) -> bool {
        match self {
            Self::All => true,
            Self::Calls => matches!(summary.kind, Kind::Call | Kind::Response | Kind::Failure),
            Self::Stops => summary.is_stop,
            Self::Output => summary.kind == Kind::Output,
            Self::Errors => summary.is_error,
        }
    }
}

/// The rows that were found so far.
#[derive(Debug, Default)]
pub(super) struct Rows {
    filter: Filter,
    /// Ascending. The number of an entry is this and `offset`, so that nothing moves when older ones are put in front.
    found: VecDeque<i32>,
    offset: i64,
    /// The entries that were looked at.
    from: usize,
    to: usize,
}

impl Rows {
    /// None yet, to be looked for from an entry on.
    pub(super) fn new(filter: Filter, around: usize) -> Self {
        Self { filter, found: VecDeque::new(), offset: 0, from: around, to: around }
    }

    pub(super) fn filter(&self) -> &Filter {
        &self.filter
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

    /// Whether every entry was looked at.
    pub(super) fn is_done(&self, log: &Log) -> bool {
        self.from == 0 && self.to >= log.len()
    }

    /// How much of the journal was looked at, in percent.
    pub(super) fn searched(&self, log: &Log) -> usize {
        self.to.saturating_sub(self.from) * 100 / log.len().max(1)
    }

    /// Looks at further entries for about so long. Tells whether there are more rows than before.
    pub(super) fn grow(&mut self, log: &Log, time: Duration) -> bool {
        let (before, began) = (self.found.len(), Instant::now());
        let block = if self.filter.text.is_empty() { BLOCK } else { 1 };
        let session = self.filter.session.as_ref();
        // Nothing is of a session that is not known yet.
        let session =
            session.map(|id| log.sessions().iter().position(|known| known.id == *id).unwrap_or(usize::MAX));
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
        let Some(summary) = log.summary(number) else { return };
        let partner = summary.partner.and_then(|partner| Some((partner, log.summary(partner)?)));
        let of = summary.session.or(partner.and_then(|(_, partner)| partner.session));
        let is_wanted = session.is_none_or(|session| of == Some(session))
            && self.filter.kinds.contain(&summary)
            && contains(log, number, &self.filter.text);
        if !is_wanted {
            return;
        }
        let row = match (summary.kind, partner) {
            (Kind::Response | Kind::Failure, Some((call, _))) => call,
            _ => number,
        };
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

/// Whether what an entry says has a text in it, which is in lower case.
fn contains(log: &Log, number: usize, text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    let Some(raw) = log.raw(number) else { return false };
    // Most entries are ruled out here. What JSON writes in another way, and what is put together for people, such as
    // `main.py:42`, has to be read.
    if text.chars().all(|char| char.is_ascii_alphanumeric()) && !raw.to_lowercase().contains(text) {
        return false;
    }
    let value: Value = serde_json::from_str(&raw).unwrap_or_default();
    let is_common = |key: &str| {
        ["timestamp", "time", "level", "namespace", "message", "sessionId", "callId"].contains(&key)
    };
    let values = value.as_object().into_iter().flatten().filter(|(key, _)| !is_common(key));
    values.into_iter().any(|(_, value)| has(value, text))
        || words::of(log, number).to_lowercase().contains(text)
}

fn has(value: &Value, text: &str) -> bool {
    match value {
        Value::Null => false,
        Value::String(string) => string.to_lowercase().contains(text),
        Value::Array(values) => values.iter().any(|value| has(value, text)),
        Value::Object(values) => {
            values.iter().any(|(key, value)| key.to_lowercase().contains(text) || has(value, text))
        }
        other => other.to_string().contains(text),
    }
}
