//! The timeline, by pages; and from one error or stop to the next.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use super::WebState;
use crate::clock::{self, Clock};
use crate::log::{Kind, Log, Summary};
use crate::plain;
use crate::timeline::strip::strip;
use crate::timeline::{self, CallDuration, Filter, Kinds, Mark, Outcome};

/// How many rows a page has when nothing else is requested, and at most.
const USUAL: usize = 100;
const MOST: usize = 500;
/// How long one request searches for rows. Then it reports how far it got.
const LOOKING: Duration = Duration::from_millis(50);
/// How many entries are searched between checks of the clock, if none has to be read.
const BLOCK: usize = 512;
/// How many characters can be searched for.
const TEXT: usize = 200;

/// The query of the timeline.
#[derive(Debug, Default, Deserialize)]
pub(super) struct RowQuery {
    /// The id of the only session; none or empty for all.
    session: Option<String>,
    /// As [`Kinds::name`]; none or empty for all.
    kinds: Option<String>,
    /// What an entry contains.
    text: Option<String>,
    /// The places of the calls whose effects are rows too, with commas between them; `all` for all calls.
    open: Option<String>,
}

/// Which part: before a place, after a place, or around one; else the end.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Part {
    before: Option<i64>,
    after: Option<i64>,
    around: Option<i64>,
    limit: Option<usize>,
}

/// Rows in the order of time.
#[derive(Debug, Serialize)]
pub(super) struct Page {
    rows: Vec<Row>,
    /// Older rows are before this place; none when there are none.
    older: Option<i64>,
    /// Newer rows are after this place; none at the end.
    newer: Option<i64>,
}

/// One thing that happened.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    /// The place of its entry.
    at: i64,
    /// In milliseconds since 1970.
    timestamp: i64,
    time: String,
    sign: &'static str,
    /// The mark, as a class of the page.
    kind: &'static str,
    text: String,
    /// The result of a call: the sign of a stop and its class, and the text.
    outcome: Option<(&'static str, &'static str, String)>,
    /// Its effects are rows below it, or not; none where it has none.
    is_open: Option<bool>,
    /// It happened during the call above it.
    is_effect: bool,
    /// How long it took, for display; empty for anything but a call.
    took: String,
    /// It is running.
    is_busy: bool,
    session_id: Option<String>,
    /// The session's name, where there are several.
    session: Option<String>,
}

/// A part of the timeline.
pub(super) async fn rows(
    State(site): State<Arc<WebState>>,
    Query(wanted): Query<RowQuery>,
    Query(part): Query<Part>,
) -> Result<Json<Page>, StatusCode> {
    let filter = wanted.filter()?;
    let is_complete = site.reader.news().borrow().is_complete;
    let clock = site.clock.clone();
    site.reader.ask(move |log| Json(Walk::new(log, &filter, is_complete).page(&part, &clock))).await
}

/// How many cells a strip has at most.
const CELLS: usize = 400;

/// The selected time.
#[derive(Debug, Deserialize)]
pub(super) struct StripQuery {
    cells: usize,
}

/// A part of the time.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cell {
    /// The place of what matters most in it.
    at: Option<i64>,
    /// The place of the call during which it happened.
    call: Option<i64>,
    /// The mark, as a class of the page; empty for nothing.
    kind: &'static str,
    /// A call was in progress.
    is_busy: bool,
    title: String,
}

/// What happened over time.
pub(super) async fn over_time(
    State(site): State<Arc<WebState>>,
    Query(wanted): Query<RowQuery>,
    Query(StripQuery { cells }): Query<StripQuery>,
) -> Result<Json<Vec<Cell>>, StatusCode> {
    let filter = wanted.filter()?;
    let clock = site.clock.clone();
    let cells = site.reader.ask(move |log| {
        let cell = |cell: timeline::strip::Cell| Cell {
            at: cell.number.map(|number| log.place(number)),
            call: cell.number.and_then(|number| log.summary(number)?.call).map(|call| log.place(call)),
            kind: cell.mark.map_or("", kind),
            is_busy: cell.is_busy,
            title: cell.number.map(|number| title(log, number, &filter, &clock)).unwrap_or_default(),
        };
        strip(log, filter.session_in(log), cells.clamp(1, CELLS)).into_iter().map(cell).collect::<Vec<_>>()
    });
    cells.await.map(Json)
}

fn title(log: &Log, number: usize, filter: &Filter, clock: &Clock) -> String {
    let row = timeline::row(log, number, filter, 0);
    row.map(|row| format!("{} {} {}", clock.time(row.timestamp), row.mark.sign(), row.text))
        .unwrap_or_default()
}

/// From where to look for what.
#[derive(Debug, Deserialize)]
pub(super) struct Jump {
    /// `error` or `stop`.
    what: String,
    /// To what is later.
    forward: bool,
    /// Not this place, but those beyond it; none for the end.
    at: Option<i64>,
}

/// Where a jump leads.
#[derive(Debug, Serialize)]
pub(super) struct JumpTarget {
    /// The place; none when nothing was found.
    at: Option<i64>,
    /// The place of the call during which it happened.
    call: Option<i64>,
    /// Search again from here: not everything was searched.
    next: Option<i64>,
}

/// The next error or stop among the rows.
pub(super) async fn jump(
    State(site): State<Arc<WebState>>,
    Query(wanted): Query<RowQuery>,
    Query(jump): Query<Jump>,
) -> Result<Json<JumpTarget>, StatusCode> {
    let filter = wanted.filter()?;
    let is_it: fn(&Summary) -> bool = match jump.what.as_str() {
        "error" => |summary| summary.is_error,
        "stop" => |summary| summary.is_stop,
        _ => return Err(StatusCode::BAD_REQUEST),
    };
    site.reader.ask(move |log| Json(Walk::new(log, &filter, true).jump(&jump, is_it))).await
}

impl RowQuery {
    fn filter(self) -> Result<Filter, StatusCode> {
        let kinds = Kinds::named(self.kinds.as_deref().unwrap_or_default());
        let text = self.text.unwrap_or_default();
        Ok(Filter {
            session: self.session.filter(|session| !session.is_empty()),
            kinds: kinds.ok_or(StatusCode::BAD_REQUEST)?,
            text: text.chars().take(TEXT).collect::<String>().to_lowercase(),
            is_flat: self.open.as_deref() == Some("all"),
            open: self
                .open
                .iter()
                .flat_map(|open| open.split(','))
                .filter_map(|at| at.parse().ok())
                .collect(),
        })
    }
}

/// Goes through the rows of a journal for a while.
struct Walk<'a> {
    log: &'a Log,
    filter: &'a Filter,
    session: Option<usize>,
    /// There is nothing older than what is here.
    is_complete: bool,
    began: Instant,
}

impl<'a> Walk<'a> {
    fn new(log: &'a Log, filter: &'a Filter, is_complete: bool) -> Self {
        Self { log, filter, session: filter.session_in(log), is_complete, began: Instant::now() }
    }

    fn page(&self, part: &Part, clock: &Clock) -> Page {
        let limit = part.limit.unwrap_or(USUAL).clamp(1, MOST);
        let end = self.log.len();
        // Those before `from` are searched backward, those from `to` on forward.
        let (from, to) = match part {
            Part { around: Some(place), .. } => (self.number(*place), self.number(*place)),
            Part { after: Some(place), .. } => (0, self.number(place.saturating_add(1))),
            Part { before: Some(place), .. } => (self.number(*place), end),
            _ => (end, end),
        };
        let (before, behind) = match part {
            Part { around: Some(_), .. } => (limit / 2, limit - limit / 2),
            Part { after: Some(_), .. } => (0, limit),
            _ => (limit, 0),
        };
        let mut numbers = Vec::new();
        let mut page = Page { rows: Vec::new(), older: None, newer: None };
        if before > 0 {
            let looked = self.find((0..from).rev(), before, |number| self.is_row(number), &mut numbers);
            let reached = from - looked;
            page.older = (reached > 0 || !self.is_complete).then(|| self.log.place(reached));
        }
        numbers.reverse();
        if behind > 0 {
            let most = numbers.len() + behind;
            let looked = self.find(to..end, most, |number| self.is_row(number), &mut numbers);
            let reached = to + looked;
            page.newer = (reached < end).then(|| self.log.place(reached).saturating_sub(1));
        }
        let now = clock::now();
        page.rows = numbers.into_iter().filter_map(|number| self.row(number, clock, now)).collect();
        page
    }

    fn jump(&self, jump: &Jump, is_it: fn(&Summary) -> bool) -> JumpTarget {
        // Also what happened during a call whose row is closed.
        let flat = Filter { is_flat: true, ..self.filter.clone() };
        let walk = Walk { filter: &flat, ..Walk::new(self.log, self.filter, true) };
        let is_it = |number: usize| {
            let summary = self.log.summary(number);
            let answer = summary.and_then(|summary| self.log.summary(summary.partner?));
            summary.is_some_and(|summary| is_it(&summary) || answer.is_some_and(|answer| is_it(&answer)))
                && walk.is_row(number)
        };
        let end = self.log.len();
        let mut found = Vec::new();
        let next = if jump.forward {
            let first = jump.at.map_or(end, |at| self.number(at.saturating_add(1)));
            let reached = first + self.find(first..end, 1, is_it, &mut found);
            (reached < end).then(|| self.log.place(reached).saturating_sub(1))
        } else {
            let first = jump.at.map_or(end, |at| self.number(at));
            let reached = first - self.find((0..first).rev(), 1, is_it, &mut found);
            (reached > 0).then(|| self.log.place(reached))
        };
        let place = |number: &usize| self.log.place(*number);
        let call = found.first().and_then(|number| self.log.summary(*number)?.call);
        let at = found.first().map(place);
        JumpTarget { at, call: call.as_ref().map(place), next: next.filter(|_| at.is_none()) }
    }

    /// Adds numbers up to a count or a time limit. Returns how many were searched.
    fn find(
        &self,
        numbers: impl Iterator<Item = usize>,
        most: usize,
        is_it: impl Fn(usize) -> bool,
        found: &mut Vec<usize>,
    ) -> usize {
        let block = if self.filter.text.is_empty() { BLOCK } else { 1 };
        let mut looked = 0;
        for number in numbers {
            let is_over = looked > 0 && looked % block == 0 && self.began.elapsed() >= LOOKING;
            if found.len() >= most || is_over {
                break;
            }
            looked += 1;
            if is_it(number) {
                found.push(number);
            }
        }
        looked
    }

    /// Whether an entry is a row: it or its answer is selected. An answer is not a row, unless its call is missing.
    fn is_row(&self, number: usize) -> bool {
        let Some(summary) = self.log.summary(number) else { return false };
        let is_answer = matches!(summary.kind, Kind::Response | Kind::Failure);
        let matches = |number| self.filter.matches(self.log, number, self.session);
        match summary.partner {
            Some(_) if is_answer => false,
            Some(answer) => matches(number) || matches(answer),
            None => matches(number),
        }
    }

    /// The number of a place, or of the nearest entry that there is.
    fn number(&self, place: i64) -> usize {
        let behind = place.saturating_sub(self.log.place(0)).max(0);
        usize::try_from(behind).unwrap_or(usize::MAX).min(self.log.len())
    }

    fn row(&self, number: usize, clock: &Clock, now: i64) -> Option<Row> {
        let row = timeline::row(self.log, number, self.filter, now)?;
        let outcome = |outcome: Outcome| {
            (outcome.mark.map_or("", Mark::sign), outcome.mark.map_or("", kind), outcome.text)
        };
        let known = row.session.and_then(|session| self.log.sessions().get(session));
        let has_several = self.session.is_none() && self.log.sessions().len() > 1;
        Some(Row {
            at: self.log.place(number),
            timestamp: row.timestamp,
            time: clock.time(row.timestamp),
            sign: row.mark.sign(),
            kind: kind(row.mark),
            text: row.text,
            outcome: row.outcome.map(outcome),
            is_open: row.is_open,
            is_effect: row.is_effect,
            took: row.took.words(),
            is_busy: matches!(row.took, CallDuration::Already(_)),
            session_id: known.map(|known| known.id.clone()),
            session: known
                .filter(|_| has_several && !row.is_effect)
                .map(|known| plain::line(timeline::name(known))),
        })
    }
}

fn kind(mark: Mark) -> &'static str {
    match mark {
        Mark::Busy => "busy",
        Mark::Good => "good",
        Mark::Bad => "bad",
        Mark::Unanswered => "unanswered",
        Mark::Stop => "stop",
        Mark::Thrown => "thrown",
        Mark::State => "state",
        Mark::Breakpoint => "breakpoint",
        Mark::Variables => "variables",
        Mark::Session => "session",
        Mark::Output => "output",
        Mark::ErrorOutput => "error-output",
        Mark::Other => "other",
    }
}
