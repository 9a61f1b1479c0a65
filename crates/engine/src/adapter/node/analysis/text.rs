//! Where lines begin in a text.

use oxc_span::Span;

/// The places where the lines of a text begin, in bytes.
#[derive(Debug)]
pub(super) struct LineStarts(Vec<u32>);

impl LineStarts {
    /// Of a text whose lines end in `\n`.
    pub(super) fn of(text: &str) -> Self {
        let ends = text.bytes().zip(1u32..).filter(|(byte, _)| *byte == b'\n').map(|(_, next)| next);
        Self(std::iter::once(0).chain(ends).collect())
    }

    /// The line of a place, 1-based. A line end belongs to the line that it ends.
    pub(super) fn line(&self, offset: u32) -> u32 {
        let line = self.0.partition_point(|start| *start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// The column of a place in the text, 1-based, in UTF-16 units.
    pub(super) fn column(&self, text: &str, offset: u32) -> u32 {
        let line = self.0.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|line| self.0.get(line)).copied().unwrap_or(0);
        let before = text.get(start as usize..offset as usize).unwrap_or_default();
        u32::try_from(before.encode_utf16().count()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The line of the last character of a span, 1-based.
    pub(super) fn last_line(&self, span: Span) -> u32 {
        self.line(span.end.saturating_sub(1).max(span.start))
    }
}
