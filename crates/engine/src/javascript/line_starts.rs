//! Where lines begin in a text.

use oxc_span::Span;

use crate::source_map::Position;

/// The places where the lines of a text begin, in bytes.
#[derive(Debug)]
pub struct LineStarts(Vec<u32>);

impl LineStarts {
    /// Of a text whose lines end in `\n`.
    pub fn of(text: &str) -> Self {
        let ends = text.bytes().zip(1u32..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next);
        Self(std::iter::once(0).chain(ends).collect())
    }

    /// The line of a place, 1-based. A line end belongs to the line that it ends.
    pub fn line(&self, offset: u32) -> u32 {
        let line = self.0.partition_point(|start| *start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// The column of a place on a line, both 1-based; in UTF-16 units.
    pub fn column(&self, line: u32, offset: u32, text: &str) -> u32 {
        let number = |place: u32| usize::try_from(place).unwrap_or(usize::MAX);
        let start = self.0.get(number(line).saturating_sub(1)).copied().unwrap_or(offset);
        let before = text.get(number(start)..number(offset)).unwrap_or_default();
        u32::try_from(before.encode_utf16().count()).unwrap_or(u32::MAX - 1).saturating_add(1)
    }

    /// The line and column of a place, both 0-based.
    pub(crate) fn position(&self, offset: u32, text: &str) -> Position {
        let line = self.line(offset);
        (line.saturating_sub(1), self.column(line, offset, text).saturating_sub(1))
    }

    /// The line of the last character of a span, 1-based.
    pub(crate) fn last_line(&self, span: Span) -> u32 {
        self.line(span.end.saturating_sub(1).max(span.start))
    }
}

/// The byte at a position, 0-based with a UTF-16 column, as far as the text has it.
pub(crate) fn offset(text: &str, (line, column): Position) -> Option<u32> {
    let line_text = text.split('\n').nth(usize::try_from(line).ok()?)?;
    let start = line_text.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let mut units = 0;
    let inside = line_text.char_indices().find_map(|(at, character)| {
        let is_there = units >= column;
        units += u32::try_from(character.len_utf16()).unwrap_or(1);
        is_there.then_some(at)
    });
    u32::try_from(start + inside.unwrap_or(line_text.len())).ok()
}
