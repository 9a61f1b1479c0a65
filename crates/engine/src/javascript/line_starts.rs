//! Where lines begin in a text.

use oxc_span::Span;

use crate::source_map::Position;

/// The places where the lines of a text begin, in bytes.
#[derive(Debug)]
pub struct LineStarts {
    starts: Vec<u32>,
    /// Places in the text, and how many UTF-16 units are before them: a minifier puts all code on one line.
    marks: Vec<(u32, u32)>,
}

/// How far marks are apart.
const MARK: u32 = 1024;

impl LineStarts {
    /// Of a text whose lines end in `\n`.
    pub fn of(text: &str) -> Self {
        let ends = text.bytes().zip(1u32..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next);
        let starts = std::iter::once(0).chain(ends).collect();
        let (mut marks, mut units) = (vec![(0, 0)], 0);
        for (at, character) in text.char_indices() {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            if marks.last().is_none_or(|(last, _)| at.saturating_sub(*last) >= MARK) {
                marks.push((at, units));
            }
            units += if character.len_utf16() == 2 { 2 } else { 1 };
        }
        Self { starts, marks }
    }

    /// The line of a place, 1-based. A line end belongs to the line that it ends.
    pub fn line(&self, offset: u32) -> u32 {
        let line = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// The column of a place on a line, both 1-based; in UTF-16 units.
    pub fn column(&self, line: u32, offset: u32, text: &str) -> u32 {
        let index = usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1);
        let start = self.starts.get(index).copied().unwrap_or(offset);
        let before = if offset.saturating_sub(start) < MARK {
            units(text, start, offset)
        } else {
            self.units_before(offset, text).saturating_sub(self.units_before(start, text))
        };
        before.saturating_add(1)
    }

    fn units_before(&self, offset: u32, text: &str) -> u32 {
        let behind = self.marks.partition_point(|(at, _)| *at <= offset);
        let (at, before) = self.marks.get(behind.saturating_sub(1)).copied().unwrap_or_default();
        before.saturating_add(units(text, at, offset))
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

/// How many UTF-16 units a part of a text has.
fn units(text: &str, start: u32, end: u32) -> u32 {
    let number = |place: u32| usize::try_from(place).unwrap_or(usize::MAX);
    let part = text.get(number(start)..number(end)).unwrap_or_default();
    u32::try_from(part.encode_utf16().count()).unwrap_or(u32::MAX - 1)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_utf16_units_on_short_and_on_long_lines() {
        let long = "aé🙂;".repeat(500);
        let text = format!("short\n🙂é = 1\n{long}\nlast");
        let starts = LineStarts::of(&text);
        for (at, _) in text.char_indices() {
            let before = text[..at].rsplit('\n').next().unwrap();
            let expected = u32::try_from(before.encode_utf16().count()).unwrap() + 1;
            let place = u32::try_from(at).unwrap();
            assert_eq!(starts.column(starts.line(place), place, &text), expected, "at {at}");
        }
    }

    /// Counting from the start of the line for each place would take minutes.
    #[test]
    fn all_places_of_a_long_line_are_found_quickly() {
        let text = "a(b);".repeat(200_000);
        let starts = LineStarts::of(&text);
        let places = (0..u32::try_from(text.len()).unwrap()).step_by(5);
        let columns = places.map(|at| starts.column(starts.line(at), at, &text));
        assert_eq!(columns.max(), Some(999_996));
    }
}
