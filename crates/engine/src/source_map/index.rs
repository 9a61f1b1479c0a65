//! The reverse mapping: from a line of source to its generated positions in the script.

use super::problem::MapProblem;
use super::{NONE, Position, Segment, SourceId, SourceMap};

/// The lines around one without code, 0-based.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NearestLines {
    /// The last line before it that has code.
    pub before: Option<u32>,
    /// The first line after it that has code.
    pub after: Option<u32>,
}

impl SourceMap {
    /// All generated positions of an original line, in the order of the original columns, then of the script;
    /// each once.
    ///
    /// With a column, only those of the piece of code that the column is in: the last that begins at or
    /// before it, or else the first of the line.
    pub fn generated(&self, source: SourceId, line: u32, column: Option<u32>) -> Vec<Position> {
        let mut positions: Vec<Position> =
            self.pieces(source, line, column).map(|(_, segment)| segment.generated()).collect();
        // Several entries of one position can differ in the original column: the first mention stays.
        let mut seen = std::collections::HashSet::new();
        positions.retain(|position| seen.insert(*position));
        positions
    }

    /// Where to stop for an original line: the first piece of code on it, or the one that the column is in,
    /// once for each copy of it in the script, in the script's order.
    ///
    /// A bundler or a compiler may have copied the code; each copy needs a separate breakpoint. Consecutive entries
    /// with only this line between them are one copy, represented by its leftmost position.
    ///
    /// A line can have a position and yet no place to stop, such as a closing brace or the head of a function: then
    /// V8 binds the breakpoint elsewhere, possibly before it. [`original`](Self::original) of the bound position
    /// shows that. In minified code it may show another line even for the right stop, because statements of several
    /// lines have become one.
    pub fn places(
        &self,
        source: SourceId,
        line: u32,
        column: Option<u32>,
    ) -> Result<Vec<Position>, MapProblem> {
        let first = self.line(source, line).next().map(|(_, segment)| segment.original_column);
        let mut pieces: Vec<(usize, &Segment)> = self.pieces(source, line, column.or(first)).collect();
        if pieces.is_empty() {
            return Err(self.no_code(source, line));
        }
        pieces.sort_unstable_by_key(|(at, _)| *at);
        let mut places = Vec::new();
        let mut previous = None;
        for (at, segment) in pieces {
            // The same position can be twice in a map, with something of another line between.
            let is_new = places.last() != Some(&segment.generated());
            if is_new && previous.is_none_or(|previous| self.is_left_between(previous, at, source, line)) {
                places.push(segment.generated());
            }
            previous = Some(at);
        }
        Ok(places)
    }

    /// The nearest lines with code around an original line, itself left out.
    pub fn nearest_lines(&self, source: SourceId, line: u32) -> NearestLines {
        let reverse = self.reverse();
        let line_at = |index: usize| {
            let segment = self.segment(*reverse.get(index)?)?;
            (segment.source == source.0).then_some(segment.original_line)
        };
        let start = self.first_at((source.0, line));
        let end = line.checked_add(1).map_or(reverse.len(), |next| self.first_at((source.0, next)));
        NearestLines { before: start.checked_sub(1).and_then(line_at), after: line_at(end) }
    }

    /// Says that a line has no code, and which lines near it have.
    pub fn no_code(&self, source: SourceId, line: u32) -> MapProblem {
        let nearest = self.nearest_lines(source, line);
        let name = self.source(source).map(|source| {
            source.path.as_ref().map_or_else(|| source.name.clone(), |path| path.display().to_string())
        });
        let counted = |line: u32| line.saturating_add(1);
        MapProblem::NoCode {
            name: name.unwrap_or_default(),
            line: counted(line),
            before: nearest.before.map(counted),
            after: nearest.after.map(counted),
        }
    }

    /// The segments of an original line, or of one piece of code on it, each with its number.
    fn pieces(
        &self,
        source: SourceId,
        line: u32,
        column: Option<u32>,
    ) -> impl Iterator<Item = (usize, &Segment)> {
        let columns = || self.line(source, line).map(|(_, segment)| segment.original_column);
        let begins = column.map(|column| {
            columns().take_while(|begins| *begins <= column).last().or_else(|| columns().next())
        });
        self.line(source, line)
            .filter(move |(_, segment)| begins.is_none_or(|begins| begins == Some(segment.original_column)))
    }

    /// The segments of an original line, each with its number, in original order.
    fn line(&self, source: SourceId, line: u32) -> impl Iterator<Item = (usize, &Segment)> {
        let start = self.first_at((source.0, line));
        let numbers = self.reverse().get(start..).unwrap_or_default();
        numbers
            .iter()
            .map_while(|number| Some((usize::try_from(*number).ok()?, self.segment(*number)?)))
            .take_while(move |(_, segment)| (segment.source, segment.original_line) == (source.0, line))
    }

    /// Whether code of another line is between two segments.
    fn is_left_between(&self, from: usize, to: usize, source: SourceId, line: u32) -> bool {
        let between = self.segments.get(from..to).unwrap_or_default();
        between.iter().any(|segment| {
            segment.source != NONE && (segment.source, segment.original_line) != (source.0, line)
        })
    }

    /// Where in the reverse order a source and line begin.
    fn first_at(&self, wanted: (u32, u32)) -> usize {
        self.reverse().partition_point(|number| {
            self.segment(*number).is_some_and(|segment| (segment.source, segment.original_line) < wanted)
        })
    }

    fn segment(&self, number: u32) -> Option<&Segment> {
        self.segments.get(usize::try_from(number).ok()?)
    }

    fn reverse(&self) -> &[u32] {
        self.reverse.get_or_init(|| {
            let numbered = (0u32..).zip(&self.segments).filter(|(_, segment)| segment.source != NONE);
            let mut keyed: Vec<(u32, u32, u32, u32)> = numbered
                .map(|(number, segment)| {
                    (segment.source, segment.original_line, segment.original_column, number)
                })
                .collect();
            #[expect(clippy::stable_sort_primitive, reason = "three times as fast on mostly sorted input")]
            keyed.sort();
            keyed.into_iter().map(|(.., number)| number).collect()
        })
    }
}
