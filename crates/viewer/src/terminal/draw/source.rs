//! The source around the place where a program is suspended.

use ratatui::style::Modifier;
use ratatui::text::Line;

use super::super::text::{Strip, clean, fit, truncate_start, width};
use super::super::theme::{Role, Theme};
use super::super::view::{Mark, View};
use super::{PaneContent, PaneSize, nothing, window, wrap};
use crate::lexer::{Grammar, Lexer, Word};
use crate::moment::{ComparedVariable, Moment};
use crate::plain;

/// How much of a line is parsed. A window's own lines are cut at 200 characters.
const COLUMNS: usize = 400;
/// How many columns a value beside its line takes at most, and how many there must be at least.
const VALUE: usize = 40;
const LEAST: usize = 8;
/// From this many lines on there is a description below the source, of this many lines at most.
const WITH_DESCRIPTION: usize = 5;
const DESCRIPTION: usize = 2;

pub(super) fn content(view: &View, theme: Theme, room: PaneSize) -> PaneContent {
    let Some(moment) = &view.moment else {
        return nothing("Source", "appears at a stop", theme, room);
    };
    let Some(location) = &moment.location else {
        return nothing("Source", moment.without_source(), theme, room);
    };
    let place = format!(":{}", location.line);
    let file = truncate_start(&location.file, room.columns.saturating_sub(10 + width(&place)));
    let title = if moment.is_past { "Last stop" } else { "Source" };
    let title = format!("{title} {file}{place}");
    let Some(source) = moment.source.as_ref().filter(|source| !source.lines.is_empty()) else {
        return nothing(&title, moment.without_source(), theme, room);
    };
    let mut lexer = Lexer::new(Grammar::of_file(&location.file));
    let breakpoints = moment.breakpoints_here();
    let values = moment.inline_values();
    let digits = (u64::from(source.first_line) + source.lines.len() as u64).to_string().len();
    let wrong = wrong(moment, theme, room);
    let room = PaneSize { lines: room.lines.saturating_sub(wrong.len()), ..room };
    let total = source.lines.len();
    let current = usize::try_from(location.line.saturating_sub(source.first_line)).unwrap_or(0);
    let first = current.saturating_sub(room.lines / 2);
    let scroll = view.scrolls.get(super::Pane::Source.number()).copied().unwrap_or(0);
    let (range, scroll) = window(total, room.lines, first, scroll);
    // Those before the window too, because they may open a string.
    let numbered = (u64::from(source.first_line)..).zip(&source.lines).take(range.end);
    let lines = numbered.map(|(number, text)| {
        let text = clean(text, COLUMNS);
        let is_current = number == u64::from(location.line);
        let mut strip = Strip::new(room.columns);
        let sign = match breakpoints.get(&number) {
            Some(true) => "●",
            Some(false) => "○",
            None => " ",
        };
        strip.push(sign, theme.style(Role::Breakpoint));
        let (role, arrow) = if is_current { (Role::Place, "▶") } else { (Role::Faint, " ") };
        strip.push(&format!("{number:>digits$}"), theme.style(role)).push(arrow, theme.style(role));
        let mut pieces = lexer.line(&text);
        let seen = values.get(&number).map(Vec::as_slice).unwrap_or_default();
        if seen.first().is_some_and(|first| !has_room(first, &text, &strip)) {
            // Rather the values than a comment after the code.
            let code =
                pieces.iter().rposition(|(piece, word)| *word != Word::Comment && !piece.trim().is_empty());
            pieces.truncate(code.map_or(0, |last| last + 1));
        }
        for (piece, word) in pieces {
            let style = theme.style(word.into());
            strip.push(piece, if is_current { style.add_modifier(Modifier::BOLD) } else { style });
        }
        for seen in seen {
            inline(seen, theme, &mut strip);
        }
        strip.line()
    });
    let lines: Vec<Line> = lines.collect();
    let mut lines: Vec<Line> = lines.into_iter().skip(range.start).collect();
    lines.resize(lines.len().max(room.lines.min(total)), Line::default());
    lines.extend(wrong);
    PaneContent { title, lines, scroll }
}

/// Whether some of a value has room behind a text.
fn has_room(seen: &ComparedVariable, text: &str, strip: &Strip) -> bool {
    strip.room() > width(text) + width(&seen.variable.name) + LEAST
}

/// A value beside the line that names it, where there is room for some of it.
fn inline(seen: &ComparedVariable, theme: Theme, strip: &mut Strip) {
    let text = format!("{} = {}", seen.variable.name, seen.variable.value);
    if has_room(seen, "", strip) {
        let role = if seen.has_changed() { Role::Changed } else { Role::Faint };
        strip.push("  ", theme.style(Role::Plain)).push(&fit(&text, VALUE), theme.style(role));
    }
}

/// What the debugger adds to a stop, such as the exception, below the source.
fn wrong(moment: &Moment, theme: Theme, room: PaneSize) -> Vec<Line<'static>> {
    let text = moment.description.as_deref().unwrap_or_default();
    if text.is_empty() || room.lines < WITH_DESCRIPTION {
        return Vec::new();
    }
    let role = if moment.is_exception { Role::Bad } else { Role::Strong };
    let columns = room.columns.saturating_sub(2).max(1);
    let broken = wrap(&clean(&plain::line(text), columns * DESCRIPTION), columns);
    let lines = broken.into_iter().take(DESCRIPTION).enumerate().map(|(number, line)| {
        let mut strip = Strip::new(room.columns);
        if number == 0 {
            strip.push(Mark::Thrown.sign(), theme.style(role));
        }
        strip.pad_to(2).push(&line, theme.style(role));
        strip.line()
    });
    lines.collect()
}
