//! The entries that a user selects.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::log::{Kind, Log, Summary};
use crate::words;

/// The user's selection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// The id of the only session; none for all.
    pub(crate) session: Option<String>,
    pub(crate) kinds: Kinds,
    /// What an entry contains, in lower case; empty for anything.
    pub(crate) text: String,
    /// The positions of the calls whose effects have separate rows.
    pub(crate) open: BTreeSet<i64>,
    /// Those of all calls are.
    pub(crate) is_flat: bool,
}

impl Filter {
    /// The index of the only session until the next poll; none for all. Nothing is of a session that is not known yet.
    pub(crate) fn session_in(&self, log: &Log) -> Option<usize> {
        let session = self.session.as_ref();
        session.map(|id| log.sessions().iter().position(|known| known.id == *id).unwrap_or(usize::MAX))
    }

    /// Whether an entry is selected. `session` is the result of [`Filter::session_in`]. With a text, the entry is
    /// read.
    pub(crate) fn matches(&self, log: &Log, number: usize, session: Option<usize>) -> bool {
        let Some(summary) = log.summary(number) else { return false };
        let partner = || log.summary(summary.partner?)?.session;
        let is_of_session = session.is_none_or(|session| summary.session.or_else(partner) == Some(session));
        let is_wanted = match summary.call.filter(|_| self.has_groups()) {
            Some(call) => self.is_open(log, call),
            None => self.kinds.contain(&summary) && contains(log, number, &self.text),
        };
        is_of_session && is_wanted
    }

    /// Whether events during a call are part of its row. A filter for other events finds them separately.
    pub(crate) fn has_groups(&self) -> bool {
        matches!(self.kinds, Kinds::All | Kinds::Calls) && self.text.is_empty()
    }

    /// Whether the effects of a call have separate rows.
    pub(crate) fn is_open(&self, log: &Log, call: usize) -> bool {
        self.is_flat || self.open.contains(&log.place(call))
    }

    /// The entry up to which a row describes: a closed call's row covers all of its effects, and the program's events
    /// after them.
    pub(crate) fn end_of(&self, log: &Log, number: usize) -> usize {
        match log.summary(number) {
            Some(summary)
                if summary.kind == Kind::Call && self.has_groups() && !self.is_open(log, number) =>
            {
                summary.partner.or_else(|| log.effects(number).next_back()).unwrap_or(number)
            }
            _ => number,
        }
    }
}

/// Which kinds of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kinds {
    #[default]
    All,
    Calls,
    Stops,
    Output,
    Errors,
}

impl Kinds {
    const ORDER: [Self; 5] = [Self::All, Self::Calls, Self::Stops, Self::Output, Self::Errors];

    /// The one after it, or before it, in a circle.
    pub(crate) fn next(self, is_back: bool) -> Self {
        let at = Self::ORDER.iter().position(|kinds| *kinds == self).unwrap_or(0);
        let by = if is_back { Self::ORDER.len() - 1 } else { 1 };
        Self::ORDER.get((at + by) % Self::ORDER.len()).copied().unwrap_or_default()
    }

    /// For display; none for all.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Calls => Some("calls"),
            Self::Stops => Some("stops"),
            Self::Output => Some("output"),
            Self::Errors => Some("errors"),
        }
    }

    /// The one of that name; an empty one is for all.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ORDER.into_iter().find(|kinds| kinds.name().unwrap_or_default() == name)
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

/// Whether what an entry says has a text in it, which is in lower case.
fn contains(log: &Log, number: usize, text: &str) -> bool {
    if text.is_empty() {
        return true;
    }
    let Some(raw) = log.raw(number) else { return false };
    // Most entries are ruled out here. What JSON escapes, and what is composed for display, such as `main.py:42`, has
    // to be read.
    if text.chars().all(|char| char.is_ascii_alphanumeric()) && !raw.to_lowercase().contains(text) {
        return false;
    }
    let value: Value = serde_json::from_str(&raw).unwrap_or_default();
    let is_common = |key: &str| {
        ["timestamp", "time", "level", "namespace", "message", "sessionId", "sessionName", "callId"]
            .contains(&key)
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
