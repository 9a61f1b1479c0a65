//! Source maps: from a position in a running script to the position in the source file, and back.
//!
//! The format is [ECMA-426](https://tc39.es/ecma426/). Reading order: `place` (where a script's map is),
//! `source_names` (whether it can matter), [`SourceMap::decode`], [`SourceMap::original`], `index` (the reverse
//! mapping), `chain` (of two maps), `names` (of mangled variables), `stale` (whether it is up to date), `problem` (what can be wrong with
//! it). Pure except for reading files; independent of protocols and sessions.
//!
//! Everywhere lines and columns are 0-based and columns count UTF-16 units, as in the maps themselves and in
//! V8.

mod place;
mod resolve;

mod source_names;

mod chain;
mod decode;
mod index;
mod names;

mod problem;
mod stale;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::sources;

pub use index::NearestLines;
pub use names::{Mention, Part};
pub(crate) use place::read_checked;
pub use place::{MapLocation, place, read};
pub use problem::MapProblem;
pub use resolve::file_url_path;
pub use source_names::may_mention;
pub use stale::staleness;

/// A line and a column, both 0-based; the column in UTF-16 units.
pub type Position = (u32, u32);

/// In a segment, marks a missing source or name.
const NONE: u32 = u32::MAX;

/// Which of a map's sources. Means nothing to another map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(u32);

/// A file that a script was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapSource {
    /// Where it is: absolute, without `.` and `..`, and without links if it exists, as Node reports paths.
    /// None if the name cannot be made a path, as with `webpack/runtime` or a null source.
    pub path: Option<PathBuf>,
    /// As the map says it, without its `sourceRoot`; empty for a null source.
    pub name: String,
    /// Its text at the time that the map was made, if the map has it.
    pub content: Option<Box<str>>,
}

/// What a generated position maps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginalPosition<'a> {
    /// The file.
    pub source: SourceId,
    /// The line, 0-based.
    pub line: u32,
    /// The column where the piece of code begins, 0-based, in UTF-16 units.
    pub column: u32,
    /// What the identifier there was called.
    pub name: Option<&'a str>,
}

/// One entry of the mappings: from this generated position to the next entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    line: u32,
    column: u32,
    /// [`NONE`] for code without a source; then the original position is meaningless.
    source: u32,
    original_line: u32,
    original_column: u32,
    /// [`NONE`] without one.
    name: u32,
}

impl Segment {
    fn generated(&self) -> Position {
        (self.line, self.column)
    }
}

/// A decoded source map. The way back is indexed when it is first asked for.
#[derive(Debug)]
pub struct SourceMap {
    /// In generated order; those at the same position in the order of the map.
    segments: Vec<Segment>,
    sources: Vec<MapSource>,
    names: Vec<Box<str>>,
    /// Which segments have a source, in original order.
    reverse: OnceLock<Vec<u32>>,
}

impl SourceMap {
    /// Decodes a plain or an indexed map (with `sections`).
    ///
    /// `base` is the folder that relative sources are resolved against: that of the map, or of the script
    /// whose inline map it is. Entries with impossible positions are left out; anything else that is against
    /// the format is [`MapProblem::Corrupt`], and a map that would take too much memory [`MapProblem::TooLarge`].
    pub fn decode(raw: &[u8], base: &Path) -> Result<Self, MapProblem> {
        decode::decode(raw, base)
    }

    /// The sources, each once however often the map names it.
    pub fn sources(&self) -> impl Iterator<Item = &MapSource> {
        self.sources.iter()
    }

    /// The sources with their identities.
    pub fn identified(&self) -> impl Iterator<Item = (SourceId, &MapSource)> {
        (0..).map(SourceId).zip(&self.sources)
    }

    /// A source. Always there for an id that this map gave.
    pub fn source(&self, id: SourceId) -> Option<&MapSource> {
        self.sources.get(usize::try_from(id.0).ok()?)
    }

    /// The source at this path. A path that is not found is also tried with its links resolved.
    pub fn source_of(&self, path: &Path) -> Option<SourceId> {
        self.at(path).or_else(|| self.at(&path.canonicalize().ok()?))
    }

    /// Like [`source_of`](Self::source_of), with the reason.
    pub fn find(&self, path: &Path) -> Result<SourceId, MapProblem> {
        self.source_of(path).ok_or_else(|| {
            let wanted = path.file_name().unwrap_or_default().to_string_lossy();
            let known = self.sources.iter().map(|source| source.name.clone()).filter(|name| !name.is_empty());
            // Names in maps are often paths: the last part says most.
            let mut known: Vec<String> = known.collect();
            known.sort_by_cached_key(|name| {
                sources::distance(name.rsplit('/').next().unwrap_or(name), &wanted)
            });
            known.truncate(5);
            MapProblem::NotASource { path: path.to_owned(), similar: known }
        })
    }

    /// The mapping of a generated position. None for code without a source, and if no entry begins on the same
    /// generated line at or before the column: an entry of an earlier line does not apply to this one.
    pub fn original(&self, line: u32, column: u32) -> Option<OriginalPosition<'_>> {
        let segment = self.covering((line, column))?;
        Some(OriginalPosition {
            source: SourceId(segment.source),
            line: segment.original_line,
            column: segment.original_column,
            name: self.name(segment),
        })
    }

    /// The entry that a generated position belongs to, if it has a source.
    fn covering(&self, position: Position) -> Option<&Segment> {
        let after = self.segments.partition_point(|segment| segment.generated() <= position);
        let segment = self.segments.get(after.checked_sub(1)?)?;
        (segment.line == position.0 && segment.source != NONE).then_some(segment)
    }

    /// Whether it has any original names.
    pub fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    fn at(&self, path: &Path) -> Option<SourceId> {
        let found = self.identified().filter(|(_, source)| source.path.as_deref() == Some(path));
        // Parts of a file, such as the script of `App.vue?vue&type=script`, come after the file itself.
        found.min_by_key(|(_, source)| source.name.contains('?')).map(|(id, _)| id)
    }

    fn name(&self, segment: &Segment) -> Option<&str> {
        self.names.get(usize::try_from(segment.name).ok()?).map(AsRef::as_ref)
    }
}
