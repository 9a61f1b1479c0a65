//! Through time, and through panes.

use std::time::Instant;

use super::super::keys::Direction;
use super::super::replay::Replay;
use super::super::view::Pane;
use super::App;
use crate::log::Summary;

impl App {
    /// The row that is chosen: of the entry that is shown, else the last.
    pub(super) fn row(&self) -> Option<usize> {
        match self.cursor {
            Some(number) => self.rows.row_of(number),
            None => self.rows.len().checked_sub(1),
        }
    }

    /// Goes to a row and stays there.
    fn go_to(&mut self, row: usize) {
        if let Some(number) = self.rows.get(row) {
            self.cursor = Some(number);
            self.scrolls = Default::default();
        }
    }

    /// By so many rows. Beyond the last one is the end, which moves.
    pub(super) fn step(&mut self, direction: Direction, count: usize) {
        self.replay = None;
        let Some(row) = self.row() else { return };
        match direction {
            Direction::Back => self.go_to(row.saturating_sub(count)),
            Direction::Forward if row + 1 >= self.rows.len() => self.go_to_end(),
            Direction::Forward => self.go_to((row + count).min(self.rows.len() - 1)),
        }
    }

    pub(super) fn go_to_first(&mut self) {
        self.replay = None;
        self.go_to(0);
    }

    pub(super) fn go_to_end(&mut self) {
        self.replay = None;
        self.cursor = None;
        self.scrolls = Default::default();
    }

    /// To the next row of a kind, or the one before. At the end, the next one is the last that there was.
    pub(super) fn jump(&mut self, direction: Direction, what: &str, is_it: fn(&Summary) -> bool) {
        let end = self.rows.len();
        let found = match (self.row(), direction) {
            (Some(row), Direction::Forward) if self.cursor.is_some() => {
                (row + 1..end).find(|row| self.row_is(*row, is_it))
            }
            (Some(row), _) => {
                let before = if self.cursor.is_some() { row } else { end };
                (0..before).rev().find(|row| self.row_is(*row, is_it))
            }
            (None, _) => None,
        };
        if let Some(row) = found {
            self.replay = None;
            self.go_to(row);
            return;
        }
        let is_later = direction == Direction::Forward && self.cursor.is_some();
        let which = if is_later { "no later" } else { "no earlier" };
        let so_far = if self.rows.is_done(&self.log) && self.is_complete { "" } else { " so far" };
        self.notice = Some(format!("{which} {what}{so_far}"));
    }

    /// Whether a row, or the answer in it, is of a kind.
    fn row_is(&self, row: usize, is_it: fn(&Summary) -> bool) -> bool {
        let Some(summary) = self.rows.get(row).and_then(|number| self.log.summary(number)) else {
            return false;
        };
        let answer = summary.partner.and_then(|partner| self.log.summary(partner));
        is_it(&summary) || answer.is_some_and(|answer| is_it(&answer))
    }

    pub(super) fn toggle_replay(&mut self, now: Instant) {
        if self.replay.take().is_some() {
            return;
        }
        if self.cursor.is_none() {
            // From the end there is nothing to replay, so it begins where the session did.
            self.go_to(0);
        }
        if let Some(row) = self.row()
            && let Some(gap) = self.gap(row)
        {
            self.replay = Some(Replay::new(now, self.speed, gap));
        }
    }

    pub(super) fn change_speed(&mut self, direction: Direction) {
        self.speed = self.speed.changed(direction == Direction::Back);
        self.notice = Some(format!("replay at ×{}", self.speed.0));
    }

    /// Lets a replay go on.
    pub(super) fn play(&mut self, now: Instant) {
        let (Some(mut replay), Some(row)) = (self.replay, self.row()) else { return };
        let steps = replay.advance(now, self.speed, |steps| self.gap(row + steps));
        if steps == 0 {
            return;
        }
        self.is_stale = true;
        self.notice = None;
        self.replay = Some(replay);
        self.go_to(row + steps);
        if row + steps + 1 >= self.rows.len() {
            self.go_to_end();
        }
    }

    /// How many milliseconds after a row the next one came; none for the last.
    fn gap(&self, row: usize) -> Option<i64> {
        let time = |row| Some(self.log.summary(self.rows.get(row)?)?.timestamp);
        Some(time(row + 1)?.saturating_sub(time(row)?))
    }

    pub(super) fn focus_next(&mut self, direction: Direction) {
        let count = Pane::ALL.len();
        let by = if direction == Direction::Back { count - 1 } else { 1 };
        if let Some(pane) = Pane::ALL.get((self.focus.number() + by) % count) {
            self.focus = *pane;
        }
    }

    /// By lines; in the timeline that is through time.
    pub(super) fn move_in_pane(&mut self, direction: Direction, lines: usize) {
        match self.focus {
            Pane::Timeline => self.step(direction, lines),
            Pane::Sessions => self.move_in_sessions(direction, lines),
            pane => {
                let by = i32::try_from(lines).unwrap_or(i32::MAX);
                let by = if direction == Direction::Back { -by } else { by };
                if let Some(scroll) = self.scrolls.get_mut(pane.number()) {
                    *scroll = scroll.saturating_add(by);
                }
            }
        }
    }

    /// The row of the sessions where the keys are; 0 is all of them.
    pub(super) fn session_row(&self) -> usize {
        let newest_first = self.log.sessions().iter().rev();
        let wanted = self.session_cursor.as_ref();
        wanted
            .and_then(|id| newest_first.into_iter().position(|known| known.id == *id))
            .map_or(0, |row| row + 1)
    }

    fn move_in_sessions(&mut self, direction: Direction, rows: usize) {
        let row = self.session_row();
        let row = match direction {
            Direction::Back => row.saturating_sub(rows),
            Direction::Forward => row.saturating_add(rows).min(self.log.sessions().len()),
        };
        let chosen = row.checked_sub(1).and_then(|row| self.log.sessions().iter().rev().nth(row));
        self.session_cursor = chosen.map(|known| known.id.clone());
    }
}
