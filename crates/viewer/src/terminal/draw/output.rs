//! What the program wrote, the last of it at the bottom.

use ratatui::text::Line;

use super::super::text::Strip;
use super::super::theme::{Role, Theme};
use super::super::view::{Pane, View};
use super::{PaneContent, PaneSize, nothing, window};

pub(super) fn content(view: &View, theme: Theme, room: PaneSize) -> PaneContent {
    let lines = view.moment.as_ref().map(|moment| moment.output_lines()).unwrap_or_default();
    if lines.is_empty() {
        return nothing("Output", "the program's output appears here", theme, room);
    }
    let scroll = view.scrolls.get(Pane::Output.number()).copied().unwrap_or(0);
    let (range, scroll) = window(lines.len(), room.lines, lines.len(), scroll);
    let lines = lines.into_iter().skip(range.start).take(range.len());
    let lines = lines.map(|line| {
        if line.is_divider {
            return divider(&line.text, theme, room);
        }
        let (sign, role) = match line.category.as_deref() {
            Some("stderr") => ("┃", Role::ErrorOutput),
            Some("log") => ("»", Role::Place),
            Some("console") => ("·", Role::Faint),
            None => (" ", Role::Faint),
            Some(_) => (" ", Role::Plain),
        };
        let mut strip = Strip::new(room.columns);
        strip.push(sign, theme.style(role)).push(&line.text, theme.style(role));
        strip.line()
    });
    PaneContent { title: "Output".to_owned(), lines: lines.collect(), scroll }
}

/// Between two runs.
fn divider(text: &str, theme: Theme, room: PaneSize) -> Line<'static> {
    let mut strip = Strip::new(room.columns);
    strip.push("── ", theme.style(Role::Faint)).push(text, theme.style(Role::Strong));
    let rest = strip.room().saturating_sub(1);
    strip.push(" ", theme.style(Role::Faint)).push(&"─".repeat(rest), theme.style(Role::Faint));
    strip.line()
}
