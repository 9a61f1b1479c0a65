//! What happened over time, in one line.

use super::{Mark, mark_of};
use crate::log::{Kind, LOST, Log, Summary};

/// How long nothing happens at most, in milliseconds. What took longer is shortened to it.
const PAUSE: i64 = 3_000;
/// How many entries are searched, the newest.
const MOST: usize = 65_536;

/// A part of the time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The number of the entry that matters most in it.
    pub(crate) number: Option<usize>,
    pub(crate) mark: Option<Mark>,
    /// A call was in progress.
    pub(crate) is_busy: bool,
}

/// This many parts of the time of a session, or of all.
pub(crate) fn strip(log: &Log, session: Option<usize>, cells: usize) -> Vec<Cell> {
    let span = match session {
        Some(session) => log.sessions().get(session).map_or(0..0, |known| known.first..known.last + 1),
        None => 0..log.len(),
    };
    let first = span.start.max(span.end.saturating_sub(MOST));
    let is_of_it = |summary: &Summary| session.is_none() || summary.session == session;
    let entries = || {
        let all = (first..span.end).filter_map(|number| Some((number, log.summary(number)?)));
        // Entries at the same time are beside each other.
        let mut before = None;
        all.filter(|(_, summary)| is_of_it(summary)).scan(0, move |at, (number, summary)| {
            let since = before.replace(summary.timestamp).map_or(0, |before| summary.timestamp - before);
            *at += since.clamp(1, PAUSE);
            Some((*at, number, summary))
        })
    };
    let total = entries().last().map_or(1, |(at, ..)| at).max(1);
    let last = cells.saturating_sub(1);
    let cell_of =
        |at: i64| usize::try_from(at).unwrap_or(0) * last / usize::try_from(total).unwrap_or(1).max(1);
    let mut strip = vec![Cell::default(); cells];
    // Since which cell, and up to which entry, a call runs.
    let mut call: Option<(usize, usize)> = None;
    for (at, number, summary) in entries() {
        let place = cell_of(at);
        if let Some((since, _)) = call.take_if(|(_, until)| number >= *until) {
            strip.iter_mut().take(place + 1).skip(since).for_each(|cell| cell.is_busy = true);
        }
        if summary.kind == Kind::Call && call.is_none() {
            let known = summary.session.and_then(|session| log.sessions().get(session));
            let goes_on = known.is_some_and(|known| !matches!(known.state, LOST | "closed"));
            let until = summary.partner.or_else(|| goes_on.then_some(usize::MAX));
            call = until.map(|until| (place, until));
        }
        // An answer is shown by the mark of its call.
        let is_answer = matches!(summary.kind, Kind::Response | Kind::Failure) && summary.partner.is_some();
        let mark = mark_of(log, &summary);
        if let Some(cell) = strip.get_mut(place).filter(|_| !is_answer)
            && cell.mark.is_none_or(|known| priority(mark) >= priority(known))
        {
            (cell.number, cell.mark) = (Some(number), Some(mark));
        }
    }
    if let Some((since, _)) = call {
        strip.iter_mut().skip(since).for_each(|cell| cell.is_busy = true);
    }
    strip
}

/// The cell of an entry: the last one that is not behind it.
pub(crate) fn cell_of(strip: &[Cell], number: usize) -> Option<usize> {
    strip.iter().rposition(|cell| cell.number.is_some_and(|first| first <= number))
}

/// How much something matters where several things share a cell.
fn priority(mark: Mark) -> u8 {
    match mark {
        Mark::Bad | Mark::Thrown => 4,
        Mark::Stop => 3,
        Mark::Busy | Mark::Good | Mark::Unanswered => 2,
        Mark::Output | Mark::ErrorOutput => 1,
        _ => 0,
    }
}
