//! The sessions, and what happened in them, one below the other.

use ratatui::text::Line;

use super::super::text::{Strip, fit, width};
use super::super::theme::{Role, Theme};
use super::super::view::{CallDuration, Mark, Pane, Row, SessionRow, Timeline, View};
use super::bars::state_role;
use super::{PaneContent, PaneSize, nothing, window};
use crate::log::LOST;

/// From this many columns on rows have a time.
const WITH_TIME: usize = 30;
/// How many columns the name of a session takes.
const NAME: usize = 16;

/// The sessions, the newest first, below a row for all of them.
pub(super) fn sessions(view: &View, theme: Theme, room: PaneSize) -> PaneContent {
    if view.sessions.is_empty() {
        return nothing("Sessions", "none yet: they appear when an agent opens them", theme, room);
    }
    let total = view.sessions.len() + 1;
    let first = view.session_cursor.saturating_sub(room.lines.saturating_sub(1));
    let (range, _) = window(total, room.lines, first, 0);
    let is_all = !view.sessions.iter().any(|row| row.is_only);
    let lines = range.map(|number| {
        let mut strip = Strip::new(room.columns);
        if let Some(row) = number.checked_sub(1).and_then(|number| view.sessions.get(number)) {
            session(row, theme, &mut strip);
        } else {
            let role = if is_all { Role::Strong } else { Role::Plain };
            strip.push("   all, follow the newest", theme.style(role));
        }
        finish(strip, number == view.session_cursor && view.focus == Pane::Sessions, Role::Chosen, theme)
    });
    PaneContent { title: format!("Sessions {}", view.sessions.len()), lines: lines.collect(), scroll: 0 }
}

fn session(row: &SessionRow, theme: Theme, strip: &mut Strip) {
    let sign = match row.state {
        "paused" => "■",
        "running" => "▷",
        "created" => "◆",
        LOST => "✗",
        _ => "○",
    };
    let role = state_role(row.state);
    strip.push(if row.is_only { "›" } else { " " }, theme.style(Role::Strong));
    strip.push(sign, theme.style(role)).push(" ", theme.style(Role::Plain));
    let name = if row.is_shown { Role::Strong } else { Role::Plain };
    strip.push(&row.name, theme.style(name)).push(" ", theme.style(Role::Plain));
    strip.push(&row.language, theme.style(Role::Faint));
    strip.push_right(row.state, theme.style(role));
}

/// What happened, and how long calls took.
pub(super) fn timeline(view: &View, theme: Theme, room: PaneSize) -> PaneContent {
    let timeline = &view.timeline;
    let mut title = "Timeline".to_owned();
    if !timeline.filter.is_empty() {
        // The numbers first: they change.
        let part = timeline.searched.map(|percent| format!(" in {percent} %")).unwrap_or_default();
        title = format!("{title}: {} found{part}: {}", timeline.count, timeline.filter);
    }
    if timeline.rows.is_empty() {
        let text = match (timeline.filter.is_empty(), timeline.searched.is_some()) {
            (true, _) if view.entries == 0 => {
                &*format!("nothing yet: actions of agents appear here live. Journal: {}", view.path)
            }
            (true, _) => "nothing yet in this session",
            (false, true) => "searching…",
            (false, false) => "no match; Esc shows everything again",
        };
        return nothing(&title, text, theme, room);
    }
    let role = if view.focus == Pane::Timeline { Role::Chosen } else { Role::Kept };
    let mut lines: Vec<Line> = Vec::new();
    if !timeline.strip.is_empty() {
        lines.push(over_time(timeline, theme, room));
    }
    lines.extend(timeline.rows.iter().enumerate().map(|(number, row)| {
        let is_chosen = timeline.cursor == Some(number);
        let mut strip = Strip::new(room.columns);
        strip.push(if is_chosen { "›" } else { " " }, theme.style(Role::Strong));
        line(row, view, theme, &mut strip);
        finish(strip, is_chosen, role, theme)
    }));
    lines.truncate(room.lines);
    PaneContent { title, lines, scroll: 0 }
}

/// What happened over time, from the left to the right.
fn over_time(timeline: &Timeline, theme: Theme, room: PaneSize) -> Line<'static> {
    let mut strip = Strip::new(room.columns);
    strip.push(" ", theme.style(Role::Plain));
    for (number, cell) in timeline.strip.iter().enumerate() {
        let (sign, role) = match cell.mark {
            Some(mark @ (Mark::Bad | Mark::Thrown | Mark::Stop)) => (mark.sign(), mark.into()),
            Some(Mark::Output | Mark::ErrorOutput) => ("·", Role::Plain),
            Some(Mark::Good) => ("╷", Role::Good),
            _ if cell.is_busy => ("─", Role::Faint),
            _ => (" ", Role::Plain),
        };
        let is_chosen = timeline.strip_cursor == Some(number);
        strip.push(sign, theme.style(if is_chosen { Role::Focus } else { role }));
    }
    strip.line()
}

fn finish(strip: Strip, is_chosen: bool, role: Role, theme: Theme) -> Line<'static> {
    if is_chosen { strip.chosen(theme.style(role)) } else { strip.line() }
}

fn line(row: &Row, view: &View, theme: Theme, strip: &mut Strip) {
    let columns = strip.room();
    if columns >= WITH_TIME {
        strip.push(&view.clock.time(row.timestamp), theme.style(Role::Faint));
        strip.push(" ", theme.style(Role::Plain));
    }
    let fold = match row.is_open {
        Some(true) => "▾",
        Some(false) => "▸",
        None => " ",
    };
    strip.push(if row.is_effect { "  " } else { "" }, theme.style(Role::Plain));
    strip.push(row.mark.sign(), theme.style(row.mark.into())).push(fold, theme.style(Role::Faint));
    let role = match row.mark {
        Mark::Bad | Mark::Thrown => Role::Bad,
        Mark::ErrorOutput => Role::ErrorOutput,
        Mark::State | Mark::Variables | Mark::Other => Role::Faint,
        _ if row.is_other => Role::Faint,
        Mark::Stop | Mark::Session => Role::Strong,
        _ => Role::Plain,
    };
    strip.push(&row.text, theme.style(role));
    if let Some(outcome) = &row.outcome {
        strip.push(" → ", theme.style(Role::Faint));
        if let Some(mark) = outcome.mark {
            strip.push(mark.sign(), theme.style(mark.into())).push(" ", theme.style(Role::Plain));
        }
        strip.push(&outcome.text, theme.style(Role::Faint));
    }
    let took = row.took.words();
    let role = if matches!(row.took, CallDuration::Already(_)) { Role::Busy } else { Role::Faint };
    // The event is not cut in favour of its session.
    let name = row.session.as_deref().map(|name| fit(name, NAME)).unwrap_or_default();
    let beside = width(&name) + width(&took) + 3;
    if !name.is_empty() && strip.room() >= beside {
        strip.pad_to(columns + 1 - width(&name) - width(&took) - usize::from(!took.is_empty()));
        strip.push(&name, theme.style(Role::Name));
    }
    if !took.is_empty() {
        strip.push_right(&took, theme.style(role));
    }
}
