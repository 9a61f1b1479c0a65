//! What is on the screen, out of the journal and of what is remembered.

use std::sync::Arc;
use std::time::Instant;

use engine::journal::entry::{Event, Failure, State, StateEvent, Written};

use super::super::layout::Layout;
use super::super::view::{Mark, Pace, Pane, Row, SessionRow, Timeline, Took, View};
use super::App;
use crate::log::{Kind, Known, Summary};
use crate::moment::Moment;
use crate::{plain, words};

/// A call that has had no answer for so long, in milliseconds, will have none: every call has a deadline.
const PATIENCE: i64 = 10 * 60 * 1000;
/// How many entries before one of no session are looked at for the session that it is among.
const NEAR: usize = 4096;
/// How many entries behind a stop are looked at for what was read there.
const READ: usize = 64;

impl App {
    /// Everything for a screen of that size, at a time in milliseconds since 1970.
    pub(in crate::terminal) fn view(&mut self, screen: ratatui::layout::Rect, now: i64) -> View {
        let sessions = self.log.sessions().len();
        let layout = Layout::of(screen, self.focus, sessions);
        let height = layout.pane(Pane::Timeline).map_or(0, |area| area.height.saturating_sub(1));
        let number = self.cursor.or_else(|| self.log.len().checked_sub(1));
        let session = number.and_then(|number| self.session_at(number));
        let moment = number.zip(session).and_then(|(number, session)| {
            let number = self.with_what_was_read(session, number);
            self.moment(session, number)
        });
        let timeline = self.timeline(height.into(), session, now);
        let is_busy = timeline.rows.iter().any(|row| matches!(row.took, Took::Already(_)));
        self.clock_since = is_busy.then(Instant::now);
        let shown =
            session.and_then(|session| self.log.sessions().get(session)).map(|known| known.id.as_str());
        let only = self.rows.filter().session.as_deref();
        let row = |known: &Known| SessionRow {
            name: name(known).to_owned(),
            language: known.language.clone(),
            state: known.state,
            is_only: only == Some(known.id.as_str()),
            is_shown: shown == Some(known.id.as_str()),
        };
        View {
            clock: self.clock.clone(),
            path: self.path.clone(),
            entries: self.log.len(),
            is_complete: self.is_complete,
            pace: match (self.replay, self.cursor) {
                (Some(_), _) => Pace::Replay(self.speed.0),
                (None, Some(_)) => Pace::Still,
                (None, None) => Pace::Live,
            },
            at: number.and_then(|number| self.log.summary(number)).map(|summary| summary.timestamp),
            sessions: self.log.sessions().iter().rev().map(row).collect(),
            session_cursor: self.session_row(),
            timeline,
            moment,
            focus: self.focus,
            scrolls: self.scrolls,
            overlay: self.overlay.clone(),
            notice: self.notice.clone(),
        }
    }

    /// The session that is shown at an entry: the only one that is wanted, else that of the entry.
    fn session_at(&self, number: usize) -> Option<usize> {
        let sessions = self.log.sessions();
        if let Some(id) = &self.rows.filter().session {
            return sessions.iter().position(|known| known.id == *id);
        }
        if self.cursor.is_none() {
            return (0..sessions.len()).max_by_key(|session| sessions.get(*session).map(|known| known.last));
        }
        let of = |number: usize| {
            let summary = self.log.summary(number)?;
            let answer = || self.log.summary(summary.partner?)?.session;
            summary.session.or_else(answer)
        };
        (number.saturating_sub(NEAR)..=number).rev().find_map(of)
    }

    /// Of a stop, the last entry of what the debugger read at once: a stop is shown with its variables.
    fn with_what_was_read(&self, session: usize, number: usize) -> usize {
        if !self.log.summary(number).is_some_and(|summary| summary.is_stop) {
            return number;
        }
        let mut last = number;
        for next in number + 1..number + READ {
            match self.log.summary(next) {
                Some(summary) if summary.session != Some(session) => {}
                Some(summary) if matches!(summary.kind, Kind::Variables | Kind::Breakpoint) => last = next,
                _ => break,
            }
        }
        last
    }

    fn moment(&mut self, session: usize, number: usize) -> Option<Arc<Moment>> {
        let id = &self.log.sessions().get(session)?.id;
        if let Some((of, at, moment)) = &self.moment
            && of == id
            && *at == number
        {
            return Some(Arc::clone(moment));
        }
        let moment = Arc::new(Moment::at(&self.log, session, number));
        self.moment = Some((id.clone(), number, Arc::clone(&moment)));
        Some(moment)
    }

    /// The rows around the chosen one, as many as fit.
    fn timeline(&self, height: usize, shown: Option<usize>, now: i64) -> Timeline {
        let filter = self.rows.filter();
        let is_searching = !self.is_complete || !self.rows.is_done(&self.log);
        let mut names = Vec::new();
        names.extend(filter.kinds.name().map(str::to_owned));
        if !filter.text.is_empty() {
            names.push(format!("\"{}\"", filter.text));
        }
        let mut timeline = Timeline {
            filter: names.join(", "),
            count: self.rows.len(),
            searched: (is_searching && !names.is_empty()).then(|| self.rows.searched(&self.log)),
            ..Timeline::default()
        };
        let Some(chosen) = self.row() else { return timeline };
        let last = self.rows.len().saturating_sub(height);
        let first = chosen.saturating_sub(height / 2).min(last);
        let has_several = filter.session.is_none() && self.log.sessions().len() > 1;
        let numbers = (first..first + height).map_while(|row| self.rows.get(row));
        timeline.rows =
            numbers.filter_map(|number| self.timeline_row(number, shown, has_several, now)).collect();
        timeline.cursor = Some(chosen - first);
        timeline
    }

    fn timeline_row(&self, number: usize, shown: Option<usize>, has_several: bool, now: i64) -> Option<Row> {
        let summary = self.log.summary(number)?;
        let answer = summary.partner.and_then(|partner| Some((partner, self.log.summary(partner)?)));
        let session = summary.session.or(answer.and_then(|(_, answer)| answer.session));
        let is_other = session.is_some() && session != shown;
        let session = session.filter(|_| has_several).and_then(|session| self.log.sessions().get(session));
        let mut row = Row {
            timestamp: summary.timestamp,
            mark: self.mark(number, &summary),
            text: self.text(number),
            took: Took::Nothing,
            session: session.map(|known| name(known).to_owned()),
            is_other,
        };
        if summary.kind == Kind::Call {
            (row.mark, row.took) = call(&summary, answer.map(|(_, answer)| answer), now);
            if let Some((partner, _)) = answer
                && let Some(error) = self.error(partner)
            {
                row.text = format!("{}: {error}", row.text);
            }
        }
        Some(row)
    }

    /// An entry in few words. Its mark says what kind it is, and the column is narrow, so what matters comes first.
    fn text(&self, number: usize) -> String {
        match self.log.entry(number).as_deref().map(|entry| &entry.event) {
            Some(Event::State(State { event: StateEvent::Paused, location: Some(at), reason, .. })) => {
                let place = words::place(&at.file, at.line);
                let function = if at.function.is_empty() { "" } else { " in " };
                let reason = reason.as_deref().unwrap_or("paused");
                format!("{place}{function}{}, {reason}", at.function)
            }
            Some(Event::Output(Written { output, omitted: 0, .. })) => {
                let text = plain::line(output.trim_end());
                if text.is_empty() { "⏎".to_owned() } else { text }
            }
            _ => {
                let words = words::of(&self.log, number);
                words.strip_prefix("✗ ").map(str::to_owned).unwrap_or(words)
            }
        }
    }

    fn mark(&self, number: usize, summary: &Summary) -> Mark {
        match summary.kind {
            Kind::Call | Kind::Response => Mark::Good,
            Kind::Failure => Mark::Bad,
            Kind::State if summary.is_stop && summary.is_error => Mark::Thrown,
            Kind::State if summary.is_stop => Mark::Stop,
            Kind::State => Mark::State,
            Kind::Breakpoint => Mark::Breakpoint,
            Kind::Variables => Mark::Variables,
            Kind::Created | Kind::Closed => Mark::Session,
            Kind::Output => match self.log.entry(number).as_deref().map(|entry| &entry.event) {
                Some(Event::Output(Written { category, .. })) if category == "stderr" => Mark::ErrorOutput,
                _ => Mark::Output,
            },
            Kind::Dropped | Kind::Other => Mark::Other,
        }
    }

    /// What was wrong, if a call failed.
    fn error(&self, answer: usize) -> Option<String> {
        match &self.log.entry(answer)?.event {
            Event::Failure(Failure { error, .. }) => Some(error.clone()),
            _ => None,
        }
    }
}

/// The mark and the duration of a call.
fn call(call: &Summary, answer: Option<Summary>, now: i64) -> (Mark, Took) {
    let Some(answer) = answer else {
        let already = now.saturating_sub(call.timestamp);
        let goes_on = already < PATIENCE;
        return if goes_on {
            (Mark::Busy, Took::Already(already))
        } else {
            (Mark::Unanswered, Took::NoAnswer)
        };
    };
    let took = Took::Milliseconds(answer.timestamp.saturating_sub(call.timestamp));
    (if answer.is_error { Mark::Bad } else { Mark::Good }, took)
}

/// A session's name; the beginning of its id where it has none.
fn name(known: &Known) -> &str {
    if known.name.is_empty() { known.id.get(..8).unwrap_or(&known.id) } else { &known.name }
}
