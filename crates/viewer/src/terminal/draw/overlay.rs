//! What lies over the panes: the keys, and whole entries.

use ratatui::layout::Rect;
use ratatui::text::Line;
use unicode_width::UnicodeWidthChar;

use super::super::keys::HELP;
use super::super::text::{Strip, clean};
use super::super::theme::{Role, Theme};
use super::super::view::{DetailForm, Overlay, View};
use super::{PaneContent, PaneSize, room, window};
use crate::lexer::{self, Lexer};

/// How much of one line of an entry is shown, in columns.
const LINE: usize = 4096;
/// Where the texts of the help begin, in columns.
const TEXTS: usize = 14;

/// None when nothing lies over the panes.
pub(super) fn content(view: &View, theme: Theme, area: Rect) -> Option<PaneContent> {
    let room = room(area);
    match &view.overlay {
        Overlay::None | Overlay::Search(_) => None,
        Overlay::Help(scroll) => Some(cut("Keys and symbols".to_owned(), help(theme, room), *scroll, room)),
        Overlay::Detail { title, lines, form, scroll } => {
            Some(cut(title.clone(), broken(lines, *form, theme, room.columns), *scroll, room))
        }
    }
}

fn cut(title: String, lines: Vec<Line<'static>>, scroll: usize, room: PaneSize) -> PaneContent {
    let scroll = i32::try_from(scroll).unwrap_or(i32::MAX);
    let (range, scroll) = window(lines.len(), room.lines, 0, scroll);
    PaneContent { title, lines: lines.into_iter().skip(range.start).take(range.len()).collect(), scroll }
}

fn help(theme: Theme, room: PaneSize) -> Vec<Line<'static>> {
    let lines = HELP.iter().map(|(keys, what)| {
        let mut strip = Strip::new(room.columns);
        strip.push(" ", theme.style(Role::Plain)).push(keys, theme.style(Role::Strong)).pad_to(TEXTS);
        strip.push(" ", theme.style(Role::Plain)).push(what, theme.style(Role::Plain));
        strip.line()
    });
    lines.collect()
}

/// Lines, broken where they are longer than the pane.
fn broken(lines: &[String], form: DetailForm, theme: Theme, columns: usize) -> Vec<Line<'static>> {
    let mut lexer = Lexer::new(if form == DetailForm::Json { &lexer::JSON } else { &lexer::NONE });
    let mut broken = Vec::new();
    for line in lines {
        let line = clean(line, LINE);
        let mut strip = Strip::new(columns);
        for (piece, word) in lexer.line(&line) {
            let is_head = form == DetailForm::Readable && !line.starts_with(' ');
            let style = theme.style(if is_head { Role::Strong } else { word.into() });
            let mut rest = piece;
            while !rest.is_empty() {
                let (now, later) = rest.split_at(fitting(rest, strip.room()));
                strip.push(now, style);
                rest = later;
                if !rest.is_empty() {
                    if strip.room() == columns {
                        // Not even one character has room.
                        break;
                    }
                    broken.push(std::mem::replace(&mut strip, Strip::new(columns)).line());
                }
            }
        }
        broken.push(strip.line());
    }
    broken
}

/// How many bytes of a clean text fit.
fn fitting(text: &str, columns: usize) -> usize {
    let mut used = 0;
    let over = text.char_indices().find(|(_, char)| {
        used += char.width().unwrap_or(0);
        used > columns
    });
    over.map_or(text.len(), |(at, _)| at)
}
