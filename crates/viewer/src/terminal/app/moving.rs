//! Through time, and through panes.

use std::time::Instant;

use super::super::keys::Direction;
use super::super::replay::Replay;
use super::super::rows::Rows;
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
            self.unscroll();
        }
    }

    /// By this many rows. Beyond the last one is the end, which moves.
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
        self.unscroll();
    }

    /// Each pane from its beginning. The variable that was chosen stays so.
    fn unscroll(&mut self) {
        for pane in Pane::ALL.into_iter().filter(|pane| *pane != Pane::Variables) {
            if let Some(scroll) = self.scrolls.get_mut(pane.number()) {
                *scroll = 0;
            }
        }
    }

    /// To the next entry of a kind, or the one before, also in calls that are closed. At the end, the next one is the
    /// last that there was.
    pub(super) fn jump(&mut self, direction: Direction, what: &str, is_it: fn(&Summary) -> bool) {
        let end = self.rows.len();
        let found = match (self.row(), direction) {
            (Some(row), Direction::Forward) if self.cursor.is_some() => {
                (row + 1..end).find_map(|row| self.found_in(row, direction, is_it))
            }
            (Some(row), _) => {
                let before = if self.cursor.is_some() { row } else { end };
                (0..before).rev().find_map(|row| self.found_in(row, Direction::Back, is_it))
            }
            (None, _) => None,
        };
        if let Some(number) = found {
            self.replay = None;
            self.reveal(number);
            if let Some(row) = self.rows.row_of(number) {
                self.go_to(row);
            }
            return;
        }
        let is_later = direction == Direction::Forward && self.cursor.is_some();
        let which = if is_later { "no later" } else { "no earlier" };
        let so_far = if self.rows.is_done(&self.log) && self.is_complete { "" } else { " so far" };
        self.notice = Some(format!("{which} {what}{so_far}"));
    }

    /// The entry of a kind in a row: of the row itself or the answer in it, or of what happened during a closed call.
    fn found_in(&self, row: usize, direction: Direction, is_it: fn(&Summary) -> bool) -> Option<usize> {
        let number = self.rows.get(row)?;
        let is_it = |number: usize| self.log.summary(number).is_some_and(|summary| is_it(&summary));
        let answer = self.log.summary(number)?.partner;
        if is_it(number) || answer.is_some_and(is_it) {
            return Some(number);
        }
        let filter = self.rows.filter();
        let is_closed = filter.has_groups() && !filter.is_open(&self.log, number);
        let mut effects = self.log.effects(number).filter(|effect| is_closed && is_it(*effect));
        if direction == Direction::Forward { effects.next() } else { effects.next_back() }
    }

    /// Opens the call during which something happened, and closes the one that the jump before has opened.
    fn reveal(&mut self, number: usize) {
        let call = self.log.summary(number).and_then(|summary| summary.call);
        let revealed = self.revealed.take().and_then(|place| self.log.number(place));
        let is_open = |rows: &Rows, call: usize| rows.filter().is_open(&self.log, call);
        if let Some(other) = revealed.filter(|other| call != Some(*other) && is_open(&self.rows, *other)) {
            self.rows.toggle(&self.log, other);
        }
        if let Some(call) = call.filter(|call| self.rows.filter().has_groups() && !is_open(&self.rows, *call))
        {
            self.rows.toggle(&self.log, call);
            self.revealed = Some(self.log.place(call));
        } else if call == revealed {
            self.revealed = call.map(|call| self.log.place(call));
        }
    }

    /// Opens or closes the call that is chosen, or the one during which it happened.
    pub(super) fn toggle_call(&mut self) {
        let Some(number) = self.row().and_then(|row| self.rows.get(row)) else { return };
        let call = self.log.summary(number).and_then(|summary| summary.call).unwrap_or(number);
        if !self.rows.filter().has_groups() || self.log.effects(call).next().is_none() {
            self.notice = Some("nothing to expand here".to_owned());
            return;
        }
        if self.rows.filter().is_flat {
            self.notice = Some("all calls are expanded; O collapses them".to_owned());
            return;
        }
        self.rows.toggle(&self.log, call);
        self.moment = None;
        self.cursor = Some(call);
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
