//! Text of programs in the cells of a terminal: measured, cut, and without anything that a terminal would obey.

use journal::visible::{self, is_hidden};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar;

/// How far apart the stops of a tab are, in columns.
const TAB: usize = 4;
/// How many marks without a width may follow one character. More would make a cell of any size.
const MARKS: usize = 4;

/// A text in one line of at most about this many columns: tabs as spaces, control characters and ends of lines by
/// their numbers. What is longer is left out without a mark, which is the business of [`Strip`].
pub(super) fn clean(text: &str, columns: usize) -> String {
    let mut clean = String::new();
    let (mut used, mut marks) = (0, 0);
    for (char, is_numbered) in visible::letters(text) {
        if used > columns {
            break;
        }
        let char = match char {
            _ if is_numbered || matches!(char, '\n' | '\r' | '\u{2028}' | '\u{2029}') => {
                let mut number = String::new();
                visible::push(&mut number, char);
                // It is plain ASCII.
                clean.extend(number.chars().take(columns + 1 - used));
                used = (used + number.len()).min(columns + 1);
                marks = 0;
                continue;
            }
            '\t' => {
                let spaces = TAB - used % TAB;
                clean.extend(std::iter::repeat_n(' ', spaces));
                used += spaces;
                continue;
            }
            // A character that belongs to its neighbours, as between parts of an emoji, which not all terminals
            // support.
            _ if is_hidden(char) => continue,
            _ => char,
        };
        let width = char.width().unwrap_or(0);
        marks = if width == 0 { marks + 1 } else { 0 };
        if marks <= MARKS && !(width == 0 && clean.is_empty()) {
            clean.push(char);
            used += width;
        }
    }
    clean
}

/// How many columns a clean text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(|char| char.width().unwrap_or(0)).sum()
}

/// A text of at most this many columns, `…` where it was cut.
pub(super) fn fit(text: &str, columns: usize) -> String {
    let mut strip = Strip::new(columns);
    strip.push(text, Style::new());
    strip.text()
}

/// The same for a path, whose end says more than its beginning.
pub(super) fn truncate_start(text: &str, columns: usize) -> String {
    let text = clean(text, usize::MAX / 2);
    if width(&text) <= columns {
        return text;
    }
    let mut used = 1;
    let from = text.char_indices().rev().take_while(|(_, char)| {
        used += char.width().unwrap_or(0);
        used <= columns
    });
    let from = from.last().map_or(text.len(), |(at, _)| at);
    if columns == 0 { String::new() } else { format!("…{}", text.get(from..).unwrap_or_default()) }
}

/// One line of a pane while it is put together.
pub(super) struct Strip {
    spans: Vec<(String, Style)>,
    used: usize,
    columns: usize,
    is_cut: bool,
}

impl Strip {
    /// An empty one of this many columns.
    pub(super) fn new(columns: usize) -> Self {
        Self { spans: Vec::new(), used: 0, columns, is_cut: false }
    }

    /// How many columns are free.
    pub(super) fn room(&self) -> usize {
        self.columns.saturating_sub(self.used)
    }

    /// Adds a text, made clean. What does not fit is cut.
    pub(super) fn push(&mut self, text: &str, style: impl Into<Style>) -> &mut Self {
        let style = style.into();
        if self.is_cut {
            return self;
        }
        let text = clean(text, self.columns + TAB);
        let wide = width(&text);
        self.spans.push((text, style));
        self.used += wide;
        if self.used > self.columns {
            self.is_cut = true;
            self.shorten(self.columns.saturating_sub(1));
            if self.columns > 0 {
                self.spans.push(("…".to_owned(), style));
                self.used += 1;
            }
        }
        self
    }

    /// Adds a text at the right end. It takes the place of what is there.
    pub(super) fn push_right(&mut self, text: &str, style: impl Into<Style>) -> &mut Self {
        let text = fit(text, self.columns);
        let from = self.columns - width(&text).min(self.columns);
        if !text.is_empty() && self.used > from.saturating_sub(1) {
            let keep = from.saturating_sub(2);
            self.shorten(keep);
            if from > 1 {
                self.spans.push(("…".to_owned(), Style::new()));
                self.used += 1;
            }
        }
        self.pad_to(from);
        self.used += width(&text);
        self.spans.push((text, style.into()));
        self
    }

    /// Fills with spaces up to a column.
    pub(super) fn pad_to(&mut self, column: usize) -> &mut Self {
        let missing = column.min(self.columns).saturating_sub(self.used);
        if missing > 0 {
            self.spans.push((" ".repeat(missing), Style::new()));
            self.used += missing;
        }
        self
    }

    /// Takes away what is after a column.
    fn shorten(&mut self, columns: usize) {
        while self.used > columns {
            let Some((text, _)) = self.spans.last_mut() else { return };
            match text.pop() {
                Some(char) => self.used -= char.width().unwrap_or(0).min(self.used),
                None => drop(self.spans.pop()),
            }
        }
    }

    fn text(self) -> String {
        self.spans.into_iter().map(|(text, _)| text).collect()
    }

    pub(super) fn line(self) -> Line<'static> {
        self.spans.into_iter().map(|(text, style)| Span::styled(text, style)).collect::<Vec<_>>().into()
    }

    /// The line as the one that is chosen: in one style, over the whole width.
    pub(super) fn chosen(mut self, style: Style) -> Line<'static> {
        self.pad_to(self.columns);
        Line::from(Span::styled(self.text(), style))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_sequence_reaches_the_terminal() {
        let table = [
            ("plain", "plain"),
            ("a\tb", "a   b"),
            ("\x1b[31mred\x07\0", "\\x1b[31mred\\x07\\x00"),
            ("two\r\nlines", "two\\x0d\\x0alines"),
            ("\u{9b}2J\u{7f}", "\\x9b2J\\x7f"),
            ("a\u{202e}b\u{200d}c\u{2028}", "a\\u{202e}b\\u{200d}c\\u{2028}"),
            ("👩\u{200d}💻", "👩💻"),
            ("\u{301}e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}", "e\u{301}\u{301}\u{301}\u{301}"),
        ];
        for (text, shown) in table {
            assert_eq!(clean(text, 100), shown, "{text:?}");
            assert_eq!(clean(shown, 100), shown, "a second time");
        }
        assert!(clean(&"x".repeat(1_000_000), 10).len() < 20);
    }

    #[test]
    fn a_truncated_text_is_marked_and_fits() {
        let table = [
            ("short", 5, "short"),
            ("shorter", 5, "shor…"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("ab", 1, "…"),
            ("ab", 0, ""),
            ("", 0, ""),
        ];
        for (text, columns, shown) in table {
            assert_eq!(fit(text, columns), shown, "{text:?} in {columns}");
        }
        assert_eq!(truncate_start("long/b.py", 6), "…/b.py");
        assert_eq!(truncate_start("a/b.py", 6), "a/b.py");
        assert_eq!(truncate_start("a/b.py", 0), "");
        assert_eq!(truncate_start("a\nlong/b.py", 14), "a\\x0along/b.py");
    }

    #[test]
    fn right_aligned_text_is_whole() {
        let shown = |left: &str, right: &str, columns| {
            let mut strip = Strip::new(columns);
            strip.push(left, Style::new()).push_right(right, Style::new());
            strip.text()
        };
        assert_eq!(shown("left", "3ms", 10), "left   3ms");
        assert_eq!(shown("a longer text", "3ms", 10), "a lon… 3ms");
        assert_eq!(shown("ab", "3ms", 6), "ab 3ms");
        assert_eq!(shown("abc", "3ms", 6), "a… 3ms");
        assert_eq!(shown("abc", "3ms", 2), "3…");
        assert_eq!(shown("日本語日本語", "3ms", 8), "日… 3ms".replace("… ", "…  "));
    }
}
