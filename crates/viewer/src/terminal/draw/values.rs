//! The variables, with what changed, and the stack.

use super::super::text::{Strip, fit, width};
use super::super::theme::{Role, Theme};
use super::super::view::{Pane, View};
use super::{Content, Room, file_name, nothing, window};
use crate::moment::ComparedVariable;

/// How many columns names may take.
const NAMES: usize = 18;
/// From so many columns on there are types.
const WITH_TYPES: usize = 56;
/// Without a session.
const NOBODY: &str = "appear when an agent reads them at a stop";

pub(super) fn variables(view: &View, theme: Theme, room: Room) -> Content {
    let moment = view.moment.as_deref().filter(|moment| !moment.variables.is_empty());
    let Some(moment) = moment else {
        let text = view.moment.as_ref().map_or(NOBODY, |moment| moment.without_variables());
        return nothing("Variables", text, theme, room);
    };
    let mut seen: Vec<&ComparedVariable> = moment.variables.iter().collect();
    if seen.len() > room.lines {
        // What changed must not be out of sight.
        seen.sort_by_key(|seen| !seen.has_changed());
    }
    let names = seen.iter().map(|seen| width(&fit(&seen.variable.name, NAMES))).max().unwrap_or(0);
    let names = names.min(room.columns / 3);
    let scroll = view.scrolls.get(Pane::Variables.number()).copied().unwrap_or(0);
    let (range, scroll) = window(seen.len(), room.lines, 0, scroll);
    let lines = seen.iter().skip(range.start).take(range.len()).map(|seen| {
        let mut strip = Strip::new(room.columns);
        let sign = match (&seen.before, seen.is_new) {
            (Some(_), _) => "~",
            (None, true) => "+",
            (None, false) => " ",
        };
        strip.push(sign, theme.style(Role::Changed));
        strip.push(&fit(&seen.variable.name, names), theme.style(Role::Name)).pad_to(names + 2);
        if let Some(before) = &seen.before {
            // The new value is the point, so the old one takes half of the room at most.
            let half = strip.room().saturating_sub(3) / 2;
            strip.push(&fit(before, half), theme.style(Role::Faint));
            strip.push(" → ", theme.style(Role::Faint));
        }
        let role = if seen.has_changed() { Role::Changed } else { Role::Plain };
        strip.push(&seen.variable.value, theme.style(role));
        let type_name = &seen.variable.type_name;
        if room.columns >= WITH_TYPES && !type_name.is_empty() && strip.room() > 26 {
            strip.push_right(&fit(type_name, 24), theme.style(Role::Faint));
        }
        strip.line()
    });
    let changed = moment.variables.iter().filter(|seen| seen.has_changed()).count();
    let mut title = format!("Variables {}", moment.variables.len());
    if changed > 0 {
        title = format!("{title}, {changed} changed");
    }
    Content { title, lines: lines.collect(), scroll }
}

pub(super) fn stack(view: &View, theme: Theme, room: Room) -> Content {
    let moment = view.moment.as_deref().filter(|moment| !moment.stack.is_empty());
    let Some(moment) = moment else {
        return nothing("Stack", "appears when a program is suspended", theme, room);
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
    Content { title: format!("Stack {}", moment.stack.len()), lines: lines.collect(), scroll }
}
