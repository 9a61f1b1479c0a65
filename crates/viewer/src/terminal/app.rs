//! What the person does with what the journal says: the place in time, the filters, the panes.

mod moving;
mod opening;
mod showing;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::draw::DrawnState;
use super::keys::{Action, Direction};
use super::replay::{Replay, Speed};
use super::rows::Rows;
use super::view::{DetailForm, Overlay, Pane, Scrolls};
use crate::clock::Clock;
use crate::log::Log;
use crate::moment::Moment;
use crate::timeline::{Filter, Kinds};

/// How long one look at further entries takes.
const LOOKING: Duration = Duration::from_millis(8);
/// How often the journal is asked for news.
pub(super) const TICK: Duration = Duration::from_millis(100);
/// The same while older parts are being read.
const READING: Duration = Duration::from_millis(10);
/// How often the durations of calls that go on are shown anew.
const SECOND: Duration = Duration::from_secs(1);
/// How many characters can be searched for.
const TEXT: usize = 200;

/// Everything that is remembered between two keys.
#[derive(Debug)]
pub(super) struct App {
    log: Log,
    path: String,
    clock: Clock,
    rows: Rows,
    /// The entry that is shown; none for the end, whatever comes.
    cursor: Option<usize>,
    replay: Option<Replay>,
    speed: Speed,
    is_complete: bool,
    focus: Pane,
    scrolls: Scrolls,
    /// The paths of the values whose parts are shown, and the path of the one that is chosen.
    open_values: BTreeSet<String>,
    chosen_value: Option<String>,
    /// The place of the call that a jump has opened, which the next one closes again.
    revealed: Option<i64>,
    overlay: Overlay,
    notice: Option<String>,
    /// The id of the session where the keys are; none for the row of all.
    session_cursor: Option<String>,
    /// The moment that was shown last: its session's id, its entry.
    moment: Option<(String, usize, Arc<Moment>)>,
    /// The call that is on the screen and running; and since when.
    clock_since: Option<Instant>,
    /// Something changed since it was drawn.
    is_stale: bool,
}

impl App {
    /// At the end of a journal; with the id of a session, that one alone.
    pub(super) fn new(log: Log, path: &Path, clock: Clock, session: Option<String>) -> Self {
        let end = log.len();
        let filter = Filter { session: session.clone(), ..Filter::default() };
        let mut app = Self {
            log,
            path: path.display().to_string(),
            clock,
            rows: Rows::new(filter, end),
            cursor: None,
            replay: None,
            speed: Speed(1.0),
            is_complete: false,
            focus: Pane::Timeline,
            scrolls: Scrolls::default(),
            open_values: BTreeSet::new(),
            chosen_value: None,
            revealed: None,
            overlay: Overlay::None,
            notice: None,
            session_cursor: session,
            moment: None,
            clock_since: None,
            is_stale: true,
        };
        app.tick(Instant::now());
        app
    }

    /// Reads what is new in the journal, and advances a replay. A bounded amount of work.
    pub(super) fn tick(&mut self, now: Instant) {
        let poll = self.log.poll();
        let has_moved = poll.prepended > 0 || poll.removed > 0;
        if poll.is_lost {
            self.moment = None;
        }
        if has_moved {
            self.rows.shift(poll);
            self.cursor = self.cursor.map(|number| (number + poll.prepended).saturating_sub(poll.removed));
            self.moment = None;
        }
        if poll.is_regrouped {
            self.rows.regroup(&self.log);
        }
        self.is_stale |= has_moved
            || poll.is_regrouped
            || poll.is_lost
            || poll.added > 0
            || poll.is_complete != self.is_complete;
        self.is_complete = poll.is_complete;
        self.look();
        self.play(now);
        if self.clock_since.is_some_and(|since| now.duration_since(since) >= SECOND) {
            self.is_stale = true;
        }
    }

    /// Searches further entries for rows.
    fn look(&mut self) {
        let before = (self.rows.is_done(&self.log), self.rows.searched(&self.log));
        let has_found = self.rows.grow(&self.log, LOOKING);
        self.is_stale |= has_found || before != (self.rows.is_done(&self.log), self.rows.searched(&self.log));
    }

    /// How long nothing has to be done.
    pub(super) fn idle(&self, now: Instant) -> Duration {
        if !self.rows.is_done(&self.log) {
            return Duration::from_millis(1);
        }
        if !self.is_complete {
            return READING;
        }
        self.replay.map_or(TICK, |replay| replay.idle(now).clamp(Duration::from_millis(5), TICK))
    }

    /// Whether what is on the screen is not what it should be.
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// What lies over the panes.
    pub(super) fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    /// The screen has another size.
    pub(super) fn resized(&mut self) {
        self.is_stale = true;
    }

    /// It was drawn. What was scrolled too far is not, now.
    pub(super) fn drawn(&mut self, drawn: DrawnState, now: Instant) {
        self.is_stale = false;
        self.scrolls = drawn.scrolls;
        self.chosen_value = drawn.chosen_value;
        self.clock_since = self.clock_since.map(|_| now);
        match &mut self.overlay {
            Overlay::Help(scroll) | Overlay::Detail { scroll, .. } => *scroll = drawn.overlay,
            Overlay::None | Overlay::Search(_) => {}
        }
    }

    /// Executes an action. False to quit.
    pub(super) fn act(&mut self, action: Action, page: usize) -> bool {
        self.is_stale = true;
        self.notice = None;
        match action {
            Action::Quit => return false,
            Action::Back => self.back(),
            Action::Type(char) => self.type_text(char),
            Action::Erase => self.erase(1),
            Action::EraseAll => self.erase(usize::MAX),
            _ if matches!(self.overlay, Overlay::Search(_)) => {
                if action == Action::Open {
                    self.search();
                }
            }
            Action::Help => {
                let is_open = matches!(self.overlay, Overlay::Help(_));
                self.overlay = if is_open { Overlay::None } else { Overlay::Help(0) };
            }
            _ if self.overlay != Overlay::None => self.scroll_overlay(action, page),
            Action::Focus(direction) => self.focus_next(direction),
            Action::Move(direction) => self.move_in_pane(direction, 1),
            Action::Page(direction) => self.move_in_pane(direction, page),
            Action::Step(direction) => self.step(direction, 1),
            Action::First => self.go_to_first(),
            Action::Live => self.go_to_end(),
            Action::Error(direction) => self.jump(direction, "error", |summary| summary.is_error),
            Action::Stop(direction) => self.jump(direction, "stop", |summary| summary.is_stop),
            Action::Play => self.toggle_replay(Instant::now()),
            Action::Speed(direction) => self.change_speed(direction),
            Action::Kinds(direction) => {
                let kinds = self.rows.filter().kinds.next(direction == Direction::Back);
                self.show(Filter { kinds, ..self.rows.filter().clone() });
            }
            Action::Search => self.overlay = Overlay::Search(self.rows.filter().text.clone()),
            Action::Open => self.open(false),
            Action::Raw => self.open(true),
            Action::Toggle => self.toggle(),
            Action::ToggleAll => {
                let filter = self.rows.filter().clone();
                self.show(Filter { is_flat: !filter.is_flat, open: BTreeSet::new(), ..filter });
            }
        }
        true
    }

    /// Closes what is open; else takes away one filter.
    fn back(&mut self) {
        let filter = self.rows.filter().clone();
        if self.overlay != Overlay::None {
            self.overlay = Overlay::None;
        } else if self.replay.take().is_some() {
            // The replay is paused.
        } else if !filter.text.is_empty() {
            self.show(Filter { text: String::new(), ..filter });
        } else if filter.kinds.name().is_some() {
            self.show(Filter { kinds: Kinds::All, ..filter });
        } else if filter.session.is_some() {
            self.show(Filter { session: None, ..filter });
        } else if self.cursor.is_some() {
            self.go_to_end();
        }
    }

    fn type_text(&mut self, char: char) {
        if let Overlay::Search(text) = &mut self.overlay
            && !char.is_control()
            && text.chars().count() < TEXT
        {
            text.push(char);
        }
    }

    fn erase(&mut self, count: usize) {
        if let Overlay::Search(text) = &mut self.overlay {
            let kept = text.chars().count().saturating_sub(count);
            *text = text.chars().take(kept).collect();
        }
    }

    fn search(&mut self) {
        if let Overlay::Search(text) = std::mem::take(&mut self.overlay) {
            self.show(Filter { text: text.to_lowercase(), ..self.rows.filter().clone() });
        }
    }

    fn scroll_overlay(&mut self, action: Action, page: usize) {
        let (Overlay::Help(scroll) | Overlay::Detail { scroll, .. }) = &mut self.overlay else { return };
        *scroll = match action {
            Action::Move(Direction::Back) => scroll.saturating_sub(1),
            Action::Move(Direction::Forward) => *scroll + 1,
            Action::Page(Direction::Back) => scroll.saturating_sub(page),
            Action::Page(Direction::Forward) | Action::Play => *scroll + page,
            Action::First => 0,
            // Drawing stops at the end.
            Action::Live => usize::try_from(i32::MAX).unwrap_or(0),
            Action::Raw => {
                let is_raw = matches!(self.overlay, Overlay::Detail { form: DetailForm::Json, .. });
                return self.open(!is_raw);
            }
            Action::Open => {
                self.overlay = Overlay::None;
                return;
            }
            _ => return,
        };
    }

    /// Selects other rows, from the current position.
    fn show(&mut self, filter: Filter) {
        if filter != *self.rows.filter() {
            let source_context =
                self.cursor.map_or(self.log.len(), |number| (number + 1).min(self.log.len()));
            self.rows = Rows::new(filter, source_context);
            self.moment = None;
            self.look();
        }
    }
}

#[cfg(test)]
mod tests;
