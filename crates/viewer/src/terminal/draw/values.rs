//! The variables, with what changed, and the stack.

use super::super::text::{Strip, fit, width};
use super::super::theme::{Role, Theme};
use super::super::view::{Pane, View};
use super::{PaneContent, PaneSize, file_name, nothing, window};
use crate::moment::shown::ValueRow;

/// How many columns names may take.
const NAMES: usize = 18;
/// From this many columns on there are types.
const WITH_TYPES: usize = 56;
/// Without a session.
const NOBODY: &str = "appear when an agent reads them at a stop";

pub(super) fn variables(view: &View, theme: Theme, room: PaneSize) -> PaneContent {
    let moment = view.moment.as_deref().filter(|moment| !moment.variables.is_empty());
    let Some(moment) = moment else {
        let text = view.moment.as_ref().map_or(NOBODY, |moment| moment.without_variables());
        return nothing("Variables", text, theme, room);
    };
    let rows = moment.value_rows(&view.open_values);
    let names = rows.iter().map(|row| row.depth * 2 + width(&fit(&row.seen.variable.name, NAMES))).max();
    let names = names.unwrap_or(0).min(room.columns / 3);
    let chosen = chosen_row(view, rows.len());
    let has_focus = view.focus == Pane::Variables;
    // Changes must stay visible, unless the user scrolls.
    let changed = rows.iter().position(|row| row.seen.has_changed()).filter(|_| !has_focus && chosen == 0);
    let first = changed.unwrap_or(chosen).saturating_sub(room.lines / 2);
    let (range, _) = window(rows.len(), room.lines, first, 0);
    let lines = rows.iter().enumerate().skip(range.start).take(range.len());
    let lines = lines.map(|(number, row)| {
        let strip = value(row, names, theme, room.columns);
        if has_focus && number == chosen { strip.chosen(theme.style(Role::Chosen)) } else { strip.line() }
    });
    let changed = moment.variables.iter().filter(|seen| seen.has_changed()).count();
    let mut title = format!("Variables {}", moment.variables.len());
    if changed > 0 {
        title = format!("{title}, {changed} changed");
    }
    PaneContent { title, lines: lines.collect(), scroll: i32::try_from(chosen).unwrap_or(0) }
}

/// The path of the value that is chosen.
pub(super) fn chosen(view: &View) -> Option<String> {
    let rows = view.moment.as_ref()?.value_rows(&view.open_values);
    rows.get(chosen_row(view, rows.len())).map(|row| row.path.clone())
}

fn chosen_row(view: &View, rows: usize) -> usize {
    let chosen = view.scrolls.get(Pane::Variables.number()).copied().unwrap_or(0);
    usize::try_from(chosen).unwrap_or(0).min(rows.saturating_sub(1))
}

fn value(row: &ValueRow<'_>, names: usize, theme: Theme, columns: usize) -> Strip {
    let seen = row.seen;
    let mut strip = Strip::new(columns);
    let sign = match (&seen.before, seen.is_new) {
        (Some(_), _) => "~",
        (None, true) => "+",
        (None, false) => " ",
    };
    let fold = match row.is_open {
        Some(true) => "▾",
        Some(false) => "▸",
        None => " ",
    };
    strip.push(sign, theme.style(Role::Changed)).push(&"  ".repeat(row.depth), theme.style(Role::Plain));
    strip.push(fold, theme.style(Role::Faint));
    let name = fit(&seen.variable.name, names.saturating_sub(row.depth * 2).max(4));
    strip.push(&name, theme.style(Role::Name)).pad_to(names + 3);
    if let Some(before) = &seen.before {
        // The new value is the point, so the old one takes half of the room at most.
        let half = strip.room().saturating_sub(3) / 2;
        strip.push(&fit(before, half), theme.style(Role::Faint));
        strip.push(" → ", theme.style(Role::Faint));
    }
    let role = if seen.has_changed() { Role::Changed } else { Role::Plain };
    strip.push(&seen.variable.value, theme.style(role));
    if row.is_open == Some(true) && seen.more > 0 {
        strip.push(&format!("  +{} more", seen.more), theme.style(Role::Faint));
    }
    let type_name = &seen.variable.type_name;
    if columns >= WITH_TYPES && !type_name.is_empty() && strip.room() > 26 {
        strip.push_right(&fit(type_name, 24), theme.style(Role::Faint));
    }
    strip
}

pub(super) fn stack(view: &View, theme: Theme, room: PaneSize) -> PaneContent {
    let moment = view.moment.as_deref().filter(|moment| !moment.stack.is_empty());
    let Some(moment) = moment else {
        return nothing("Stack", "appears at a stop", theme, room);
    };
    let scroll = view.scrolls.get(Pane::Stack.number()).copied().unwrap_or(0);
    let (range, scroll) = window(moment.stack.len(), room.lines, 0, scroll);
    let frames = moment.stack.iter().enumerate().skip(range.start).take(range.len());
    let lines = frames.map(|(number, frame)| {
        let mut strip = Strip::new(room.columns);
        let (sign, role) = if number == 0 { ("▶", Role::Place) } else { (" ", Role::Plain) };
        strip.push(sign, theme.style(role));
        let function = if frame.function.is_empty() { "?" } else { &frame.function };
        strip.push(function, theme.style(role));
        let place = format!("{}:{}", file_name(&frame.file), frame.line);
        strip.push_right(&fit(&place, room.columns / 2), theme.style(Role::Faint));
        strip.line()
    });
    PaneContent { title: format!("Stack {}", moment.stack.len()), lines: lines.collect(), scroll }
}
