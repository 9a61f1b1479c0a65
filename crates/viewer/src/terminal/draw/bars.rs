//! The first line, which says what is shown, and the last one, which says what can be done.

use ratatui::text::Line;

use super::super::text::{Strip, width};
use super::super::theme::{Role, Theme};
use super::super::view::{Overlay, PlaybackMode, View};
use super::file_name;
use crate::log::LOST;

/// The keys that matter, the most important first; the last two are always there.
const KEYS: &[(&str, &str)] = &[
    ("←→", "step"),
    ("e", "error"),
    ("s", "stop"),
    ("o", "open"),
    ("Enter", "whole"),
    ("/", "find"),
    ("G", "live"),
    ("r", "JSON"),
    ("Space", "replay"),
    ("f", "kinds"),
    ("Tab", "pane"),
    ("+-", "speed"),
];
const ALWAYS: &[(&str, &str)] = &[("?", "help"), ("q", "quit")];

/// ` ● live 12:04:33  calc · python · paused at main.py:42 in f: breakpoint`.
pub(super) fn header(view: &View, theme: Theme, columns: usize) -> Line<'static> {
    let mut strip = Strip::new(columns);
    strip.push(" ", theme.style(Role::Plain));
    pace(view, theme, &mut strip);
    strip.push("  ", theme.style(Role::Plain));
    state(view, theme, &mut strip);
    if !view.is_complete {
        strip.push_right("reading older entries… ", theme.style(Role::Faint));
    }
    strip.line()
}

/// The same where there is room for nothing else.
pub(super) fn only_line(view: &View, theme: Theme, columns: usize) -> Line<'static> {
    let mut strip = Strip::new(columns);
    match &view.moment {
        Some(moment) => {
            strip.push(moment.state, theme.style(state_role(moment.state)));
            if let Some(location) = &moment.location {
                let place = format!(" {}:{}", file_name(&location.file), location.line);
                strip.push(&place, theme.style(Role::Plain));
            }
        }
        None => drop(strip.push("no session", theme.style(Role::Faint))),
    }
    strip.line()
}

fn pace(view: &View, theme: Theme, strip: &mut Strip) {
    let (text, role) = match view.pace {
        PlaybackMode::Live => ("● live".to_owned(), Role::Good),
        PlaybackMode::Still => ("◷ past".to_owned(), Role::Busy),
        PlaybackMode::Replay(speed) => (format!("▶ ×{speed}"), Role::Busy),
    };
    strip.push(&text, theme.style(role));
    if let Some(at) = view.at {
        strip.push(" ", theme.style(Role::Plain)).push(&view.clock.time(at), theme.style(Role::Plain));
    }
}

fn state(view: &View, theme: Theme, strip: &mut Strip) {
    let Some(moment) = &view.moment else {
        let text = if view.entries == 0 { "no session yet" } else { "no session here" };
        strip.push(text, theme.style(Role::Faint));
        return;
    };
    let faint = theme.style(Role::Faint);
    strip.push(&moment.session_name, theme.style(Role::Strong));
    if !moment.language.is_empty() {
        strip.push(" ", faint).push(&moment.language, faint);
    }
    strip.push("  ", faint).push(moment.state, theme.style(state_role(moment.state)));
    if moment.is_past {
        strip.push(", last stop", faint);
    }
    if let Some(location) = &moment.location {
        let place = format!("{}:{}", file_name(&location.file), location.line);
        strip.push(" at ", faint).push(&place, theme.style(Role::Place));
        if !location.function.is_empty() {
            strip.push(" in ", faint).push(&location.function, theme.style(Role::Plain));
        }
    }
    let role = if moment.is_exception { Role::Bad } else { Role::Plain };
    let mut separator = ": ";
    for text in [moment.reason.as_deref(), moment.description.as_deref()]
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
    {
        strip.push(separator, faint).push(text, theme.style(role));
        separator = ", ";
    }
    if let Some(editor) = &moment.editor {
        strip.push("  editor: ", faint).push(editor, theme.style(Role::Place));
    }
}

/// How a state of a session is shown.
pub(super) fn state_role(state: &str) -> Role {
    match state {
        "paused" => Role::Place,
        "running" => Role::Good,
        "created" => Role::Plain,
        LOST => Role::Bad,
        _ => Role::Faint,
    }
}

/// The keys, as many as fit; or the typed text; or a message.
pub(super) fn footer(view: &View, theme: Theme, columns: usize) -> Line<'static> {
    let mut strip = Strip::new(columns);
    strip.push(" ", theme.style(Role::Plain));
    if let Overlay::Search(text) = &view.overlay {
        // The end of a long text is where the person types.
        let shown = super::super::text::truncate_start(text, columns.saturating_sub(4));
        strip.push("/", theme.style(Role::Strong)).push(&shown, theme.style(Role::Plain));
        strip.push(" ", theme.style(Role::Chosen));
        let hint = "  Enter: keep filter  Esc: cancel";
        if strip.room() > width(hint) {
            strip.push(hint, theme.style(Role::Faint));
        }
        return strip.line();
    }
    if let Some(notice) = &view.notice {
        strip.push(notice, theme.style(Role::Strong));
        return strip.line();
    }
    let keys: &[(&str, &str)] = match view.overlay {
        Overlay::None => KEYS,
        _ => &[("Esc", "back"), ("↑↓", "scroll")],
    };
    let room = columns.saturating_sub(1 + ALWAYS.iter().map(|key| length(*key)).sum::<usize>());
    let mut used = 0;
    let fitting = keys.iter().take_while(|key| {
        used += length(**key);
        used <= room
    });
    for (key, what) in fitting.chain(ALWAYS) {
        strip.push(key, theme.style(Role::Strong)).push(" ", theme.style(Role::Plain));
        strip.push(what, theme.style(Role::Faint));
        if strip.room() >= 2 {
            strip.push("  ", theme.style(Role::Plain));
        }
    }
    strip.line()
}

fn length((key, what): (&str, &str)) -> usize {
    width(key) + width(what) + 3
}
