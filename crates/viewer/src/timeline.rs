//! What happened, a row for each thing: an answer is part of the row of its call.
//!
//! What happened during a call is part of its row as well, until a person opens it.
//!
//! Reading order: `filter.rs` (which entries are selected), this file (the content of a row), `strip.rs` (the same
//! over time).

mod filter;
pub(crate) mod strip;

use journal::entry::{Event, Failure, OutputWritten, State, StateEvent};

pub(crate) use self::filter::{Filter, Kinds};
use crate::clock::duration;
use crate::log::{Kind, LOST, Log, LoggedSession, Summary};
use crate::{plain, words};

/// A call that has had no answer for so long, in milliseconds, will have none: every call has a deadline.
const PATIENCE: i64 = 10 * 60 * 1000;

/// How many of the last events during a call are searched for its effects.
const EFFECTS: usize = 1024;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// In milliseconds since 1970.
    pub(crate) timestamp: i64,
    pub(crate) mark: Mark,
    /// With control characters shown.
    pub(crate) text: String,
    /// The result of a call.
    pub(crate) outcome: Option<Outcome>,
    /// What happened during a call is shown below its row, or not; none where nothing happened.
    pub(crate) is_open: Option<bool>,
    /// It happened during the call above it.
    pub(crate) is_effect: bool,
    pub(crate) took: CallDuration,
    /// Its session, as an index into [`Log::sessions`].
    pub(crate) session: Option<usize>,
}

/// The result of a call: where the program is then, or what was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Of a stop.
    pub(crate) mark: Option<Mark>,
    pub(crate) text: String,
}

/// How long a call took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallDuration {
    /// It is not a call.
    Nothing,
    /// This many milliseconds.
    Milliseconds(i64),
    /// It has been in progress for this many milliseconds.
    Already(i64),
    /// It was never answered.
    NoAnswer,
}

impl CallDuration {
    /// For display; empty for anything but a call.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Milliseconds(took) => duration(took),
            Self::Already(took) => format!("{}…", duration(took)),
            Self::NoAnswer => "no answer".to_owned(),
        }
    }
}

/// What kind of thing happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Busy,
    Good,
    Bad,
    Unanswered,
    Stop,
    /// A stop at an exception.
    Thrown,
    State,
    Breakpoint,
    Variables,
    Session,
    Output,
    ErrorOutput,
    Other,
}

impl Mark {
    /// The character for it, one column wide.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Busy => "◐",
            Self::Good => "✓",
            Self::Bad => "✗",
            Self::Unanswered => "?",
            Self::Stop => "■",
            Self::Thrown => "▲",
            Self::State => "▷",
            Self::Breakpoint => "●",
            Self::Variables => "=",
            Self::Session => "◆",
            Self::Output => "│",
            Self::ErrorOutput => "┃",
            Self::Other => "·",
        }
    }
}

/// The row of an entry other than an answer, at a time in milliseconds since 1970.
pub(crate) fn row(log: &Log, number: usize, filter: &Filter, now: i64) -> Option<Row> {
    let summary = log.summary(number)?;
    let answer = summary.partner.and_then(|partner| Some((partner, log.summary(partner)?)));
    let mut row = Row {
        timestamp: summary.timestamp,
        mark: mark(log, number, &summary),
        text: text(log, number),
        outcome: None,
        is_open: None,
        is_effect: filter.has_groups() && summary.call.is_some(),
        took: CallDuration::Nothing,
        session: summary.session.or(answer.and_then(|(_, answer)| answer.session)),
    };
    if summary.kind == Kind::Call {
        let known = row.session.and_then(|session| log.sessions().get(session));
        let is_lost = known.is_some_and(|known| known.state == LOST);
        (row.mark, row.took) = call(&summary, answer.map(|(_, answer)| answer), is_lost, now);
        if filter.has_groups() && log.effects(number).next().is_some() {
            row.is_open = Some(filter.is_open(log, number));
        }
        if let Some((partner, _)) = answer
            && let Some(error) = error(log, partner)
        {
            row.text = format!("{}: {}", row.text, plain::line(&error));
        } else {
            row.outcome = outcome(log, number, answer.map(|(answer, _)| answer));
        }
    }
    Some(row)
}

/// The result of a call that did not fail.
fn outcome(log: &Log, call: usize, answer: Option<usize>) -> Option<Outcome> {
    let is_state = |number: &usize| log.summary(*number).is_some_and(|one| one.kind == Kind::State);
    let state = log.effects(call).rev().take(EFFECTS).find(is_state);
    let state = state.and_then(|number| Some((number, log.summary(number)?)));
    if let Some((number, summary)) = state.filter(|(_, summary)| summary.is_stop) {
        return Some(Outcome { mark: Some(mark(log, number, &summary)), text: text(log, number) });
    }
    match (state, answer.and_then(|answer| log.entry(answer)).as_deref().map(|entry| &entry.event)) {
        (None, Some(Event::Response(response))) => {
            let text = plain::line(&words::answer(&response.response));
            Some(Outcome { mark: None, text }).filter(|outcome| outcome.text != "done")
        }
        (Some((number, _)), _) => Some(Outcome { mark: None, text: text(log, number) }),
        _ => None,
    }
}

/// A session's name; the beginning of its id where it has none.
pub(crate) fn name(known: &LoggedSession) -> &str {
    if known.name.is_empty() { known.id.get(..8).unwrap_or(&known.id) } else { &known.name }
}

/// An entry in few words. Its mark says what kind it is, and the column is narrow, so what matters comes first.
fn text(log: &Log, number: usize) -> String {
    match log.entry(number).as_deref().map(|entry| &entry.event) {
        Some(Event::State(State { event: StateEvent::Paused, location: Some(at), reason, .. })) => {
            let place = words::place(&at.file, at.line);
            let function = if at.function.is_empty() { "" } else { " in " };
            let reason = reason.as_deref().unwrap_or("paused");
            plain::line(&format!("{place}{function}{}, {reason}", at.function))
        }
        Some(Event::Output(OutputWritten { output, omitted: 0, .. })) => {
            let text = plain::line(output.trim_end());
            if text.is_empty() { "⏎".to_owned() } else { text }
        }
        _ => {
            let words = words::of(log, number);
            words.strip_prefix("✗ ").map(str::to_owned).unwrap_or(words)
        }
    }
}

fn mark(log: &Log, number: usize, summary: &Summary) -> Mark {
    match (summary.kind, log.entry(number).as_deref().map(|entry| &entry.event)) {
        (Kind::Output, Some(Event::Output(OutputWritten { category, .. }))) if category == "stderr" => {
            Mark::ErrorOutput
        }
        _ => mark_of(log, summary),
    }
}

/// The mark of an entry that need not be read. A call has that of its answer.
fn mark_of(log: &Log, summary: &Summary) -> Mark {
    match summary.kind {
        Kind::Call => match summary.partner.and_then(|answer| log.summary(answer)) {
            Some(answer) if answer.is_error => Mark::Bad,
            _ => Mark::Good,
        },
        Kind::Response if !summary.is_error => Mark::Good,
        Kind::Response | Kind::Failure => Mark::Bad,
        Kind::State if summary.is_stop && summary.is_error => Mark::Thrown,
        Kind::State if summary.is_stop => Mark::Stop,
        Kind::State => Mark::State,
        Kind::Breakpoint => Mark::Breakpoint,
        Kind::Variables => Mark::Variables,
        Kind::Created | Kind::Closed | Kind::Exposure => Mark::Session,
        Kind::Output => Mark::Output,
        Kind::Dropped | Kind::Other => Mark::Other,
    }
}

/// What was wrong, if a call failed.
fn error(log: &Log, answer: usize) -> Option<String> {
    match &log.entry(answer)?.event {
        Event::Failure(Failure { error, .. }) => Some(error.clone()),
        _ => None,
    }
}

fn call(call: &Summary, answer: Option<Summary>, is_lost: bool, now: i64) -> (Mark, CallDuration) {
    let Some(answer) = answer else {
        let already = now.saturating_sub(call.timestamp);
        let goes_on = already < PATIENCE && !is_lost;
        return if goes_on {
            (Mark::Busy, CallDuration::Already(already))
        } else {
            (Mark::Unanswered, CallDuration::NoAnswer)
        };
    };
    let took = CallDuration::Milliseconds(answer.timestamp.saturating_sub(call.timestamp));
    (if answer.is_error { Mark::Bad } else { Mark::Good }, took)
}
