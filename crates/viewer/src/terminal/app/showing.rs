//! What is on the screen, out of the journal and of what is remembered.

use std::sync::Arc;
use std::time::Instant;

use ratatui::layout::Rect;

use super::super::layout::Layout;
use super::super::view::{CallDuration, Pane, PlaybackMode, Row, SessionRow, Timeline, View};
use super::App;
use crate::log::LoggedSession;
use crate::moment::Moment;
use crate::source_context;
use crate::timeline::strip::{cell_of, strip};
use crate::timeline::{self, name};

/// From this many lines on the timeline has a strip above it.
const WITH_STRIP: u16 = 7;

impl App {
    /// Everything for a screen of that size, at a time in milliseconds since 1970.
    pub(in crate::terminal) fn view(&mut self, screen: Rect, now: i64) -> View {
        let sessions = self.log.sessions().len();
        let layout = Layout::of(screen, self.focus, sessions);
        let end = |number| self.rows.filter().end_of(&self.log, number);
        let number = self.cursor.map(end).or_else(|| self.log.len().checked_sub(1));
        let session = number.and_then(|number| self.session_at(number));
        let moment = number.zip(session).and_then(|(number, session)| {
            let number = source_context::with_what_was_read(&self.log, session, number);
            self.moment(session, number)
        });
        let timeline = self.timeline(layout.pane(Pane::Timeline), session, now);
        let is_busy = timeline.rows.iter().any(|row| matches!(row.took, CallDuration::Already(_)));
        self.clock_since = is_busy.then(Instant::now);
        let shown =
            session.and_then(|session| self.log.sessions().get(session)).map(|known| known.id.as_str());
        let only = self.rows.filter().session.as_deref();
        let row = |known: &LoggedSession| SessionRow {
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
                (Some(_), _) => PlaybackMode::Replay(self.speed.0),
                (None, Some(_)) => PlaybackMode::Still,
                (None, None) => PlaybackMode::Live,
            },
            at: number.and_then(|number| self.log.summary(number)).map(|summary| summary.timestamp),
            sessions: self.log.sessions().iter().rev().map(row).collect(),
            session_cursor: self.session_row(),
            timeline,
            moment,
            focus: self.focus,
            scrolls: self.scrolls,
            open_values: self.open_values.clone(),
            overlay: self.overlay.clone(),
            notice: self.notice.clone(),
        }
    }

    /// The session that is shown at an entry: the only selected one, or else that of the entry.
    fn session_at(&self, number: usize) -> Option<usize> {
        let sessions = self.log.sessions();
        if let Some(id) = &self.rows.filter().session {
            return sessions.iter().position(|known| known.id == *id);
        }
        if self.cursor.is_none() {
            source_context::acting(&self.log)
        } else {
            source_context::session_near(&self.log, number)
        }
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
    fn timeline(&self, area: Option<Rect>, shown: Option<usize>, now: i64) -> Timeline {
        let area = area.unwrap_or_default();
        let has_strip = area.height >= WITH_STRIP && !self.log.is_empty();
        let height = usize::from(area.height.saturating_sub(if has_strip { 2 } else { 1 }));
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
        if has_strip {
            let number = self.cursor.map_or(self.log.len(), |cursor| filter.end_of(&self.log, cursor));
            timeline.strip =
                strip(&self.log, filter.session_in(&self.log), area.width.saturating_sub(2).into());
            timeline.strip_cursor = cell_of(&timeline.strip, number);
        }
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
        let row = timeline::row(&self.log, number, self.rows.filter(), now)?;
        let session = row
            .session
            .filter(|_| has_several && !row.is_effect)
            .and_then(|session| self.log.sessions().get(session));
        Some(Row {
            timestamp: row.timestamp,
            mark: row.mark,
            text: row.text,
            outcome: row.outcome,
            is_open: row.is_open,
            is_effect: row.is_effect,
            took: row.took,
            session: session.map(|known| name(known).to_owned()),
            is_other: row.session.is_some() && row.session != shown,
        })
    }
}
