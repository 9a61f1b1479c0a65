//! What the program wrote, the last of it at the bottom.

use super::super::text::Strip;
use super::super::theme::{Role, Theme};
use super::super::view::{Pane, View};
use super::{Content, Room, nothing, window};

pub(super) fn content(view: &View, theme: Theme, room: Room) -> Content {
    let mut lines: Vec<(&str, Role, String)> = Vec::new();
    // Of what was written last, when it was not the whole line.
    let mut unfinished: Option<&str> = None;
    for piece in view.moment.iter().flat_map(|moment| &moment.output) {
        let (sign, role) = match piece.category.as_str() {
            "stderr" => ("┃", Role::ErrorOutput),
            "log" => ("»", Role::Place),
            "console" => ("·", Role::Faint),
            _ => (" ", Role::Plain),
        };
        if piece.omitted > 0 {
            lines.push((" ", Role::Faint, format!("… {} bytes are not in the journal", piece.omitted)));
        }
        let goes_on = piece.omitted == 0 && unfinished == Some(piece.category.as_str());
        let text = piece.text.strip_suffix('\n').unwrap_or(&piece.text);
        for (number, line) in text.split('\n').enumerate() {
            match lines.last_mut().filter(|_| number == 0 && goes_on) {
                Some((_, _, before)) => before.push_str(line),
                None => lines.push((sign, role, line.trim_end_matches('\r').to_owned())),
            }
        }
        unfinished = (!piece.text.ends_with('\n')).then_some(piece.category.as_str());
    }
    if lines.is_empty() {
        return nothing("Output", "what the program writes appears here", theme, room);
    }
    let scroll = view.scrolls.get(Pane::Output.number()).copied().unwrap_or(0);
    let (range, scroll) = window(lines.len(), room.lines, lines.len(), scroll);
    let lines = lines.into_iter().skip(range.start).take(range.len());
    let lines = lines.map(|(sign, role, text)| {
        let mut strip = Strip::new(room.columns);
        strip.push(sign, theme.style(role)).push(&text, theme.style(role));
        strip.line()
    });
    Content { title: "Output".to_owned(), lines: lines.collect(), scroll }
}
