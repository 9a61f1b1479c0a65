//! From the text of a map to its segments, sources and names.
//!
//! The crate `sourcemap` reads JSON and mappings. Sections are combined here, because its implementation adds
//! positions without checking them, fails on a section without a map, and joins `sourceRoot` with absolute names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use memchr::{memchr, memchr2_iter};
use sourcemap::{DecodedMap, RawToken, SourceMap as Decoded};

use super::place::check_size;
use super::problem::MapProblem;
use super::resolve::Resolver;
use super::{MapSource, NONE, Position, Segment, SourceMap};

/// The most entries that are decoded. Each takes up to 52 bytes meanwhile.
const ENTRIES: usize = 10_000_000;

/// The largest line or column that is taken for one. Below zero becomes very large in the crate.
const FURTHEST: u32 = i32::MAX.cast_unsigned();

pub(super) fn decode(raw: &[u8], base: &Path) -> Result<SourceMap, MapProblem> {
    check_size(raw.len() as u64)?;
    let json = json(raw);
    // Texts of sources have commas too, but not so many.
    let entries = memchr2_iter(b',', b';', json).take(ENTRIES + 1).count();
    if entries > ENTRIES {
        return Err(MapProblem::TooLarge {
            size: entries as u64,
            limit: ENTRIES as u64,
            unit: "entries or more",
        });
    }
    let decoded =
        sourcemap::decode_slice(json).map_err(|error| MapProblem::Corrupt { reason: error.to_string() })?;
    let mut parts = MapBuilder::new(base);
    parts.add(decoded, (0, 0));
    Ok(parts.into_map())
}

/// The JSON of a map: without a byte order mark, and without the `)]}'` that keeps it from being run as a
/// script.
pub(super) fn json(raw: &[u8]) -> &[u8] {
    let raw = raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw);
    if !raw.starts_with(b")]}") {
        return raw;
    }
    memchr(b'{', raw).and_then(|at| raw.get(at..)).unwrap_or_default()
}

/// What has been collected of a map and its sections.
struct MapBuilder<'a> {
    resolver: Resolver<'a>,
    segments: Vec<Segment>,
    sources: Vec<MapSource>,
    /// By path, or by name without one.
    known: HashMap<SourceIdentity, u32>,
    names: Vec<Box<str>>,
}

#[derive(PartialEq, Eq, Hash)]
enum SourceIdentity {
    Path(PathBuf),
    Name(String),
}

impl<'a> MapBuilder<'a> {
    fn new(base: &'a Path) -> Self {
        Self {
            resolver: Resolver::new(base),
            segments: Vec::new(),
            sources: Vec::new(),
            known: HashMap::new(),
            names: Vec::new(),
        }
    }

    /// Adds a map that begins at `offset`. Sections can hold sections; JSON is read to a depth of 128 at
    /// most.
    fn add(&mut self, map: DecodedMap, offset: Position) {
        match map {
            DecodedMap::Regular(map) => self.add_plain(map, offset),
            DecodedMap::Hermes(map) => self.add_plain((*map).clone(), offset),
            DecodedMap::Index(mut index) => {
                for number in 0..index.get_section_count() {
                    let Some(section) = index.get_section_mut(number) else { continue };
                    let Some(offset) = moved(section.get_offset(), offset) else { continue };
                    if let Some(map) = section.get_sourcemap_mut() {
                        self.add(std::mem::replace(map, DecodedMap::Index(empty())), offset);
                    }
                }
            }
        }
    }

    fn add_plain(&mut self, mut map: Decoded, offset: Position) {
        let root = map.get_source_root().map(str::to_owned);
        map.set_source_root::<&str>(None);
        let ids: Vec<u32> = (0..map.get_source_count())
            .map(|number| self.add_source(&map, number, root.as_deref()))
            .collect();
        let first_name = u32::try_from(self.names.len()).unwrap_or(NONE);
        self.names.extend(map.names().map(Box::from));
        self.segments.reserve(map.tokens().count());
        for token in map.tokens() {
            let token = token.get_raw_token();
            self.segments.extend(segment(&token, offset, &ids, first_name));
        }
    }

    /// The number of a source among all. The same file in two sections is one source, unless both tell texts
    /// that differ: then they are parts of it, or made of it.
    fn add_source(&mut self, map: &Decoded, number: u32, root: Option<&str>) -> u32 {
        let name = map.get_source(number).unwrap_or_default();
        let content = map.get_source_contents(number);
        let path = self.resolver.path(name, root);
        let next = u32::try_from(self.sources.len()).unwrap_or(NONE);
        let identity = match &path {
            Some(path) => Some(SourceIdentity::Path(path.clone())),
            None if name.is_empty() => None,
            None => Some(SourceIdentity::Name(name.to_owned())),
        };
        if let Some(identity) = identity {
            let id = *self.known.entry(identity).or_insert(next);
            let known = usize::try_from(id).ok().and_then(|id| self.sources.get_mut(id));
            if let Some(known) = known
                && (content.is_none() || known.content.is_none() || known.content.as_deref() == content)
            {
                known.content = known.content.take().or_else(|| content.map(Box::from));
                return id;
            }
        }
        self.sources.push(MapSource { path, name: name.to_owned(), content: content.map(Box::from) });
        next
    }

    fn into_map(mut self) -> SourceMap {
        // Stable, so that of two at one position the later one stays the later one.
        self.segments.sort_by_key(Segment::generated);
        self.segments.shrink_to_fit();
        SourceMap {
            segments: self.segments,
            sources: self.sources,
            names: self.names,
            reverse: OnceLock::new(),
        }
    }
}

/// One entry, moved to where its section begins. None if its position cannot be one.
fn segment(token: &RawToken, offset: Position, ids: &[u32], first_name: u32) -> Option<Segment> {
    let (line, column) = moved((token.dst_line, token.dst_col), offset)?;
    if token.src_id == NONE {
        return Some(Segment {
            line,
            column,
            source: NONE,
            original_line: 0,
            original_column: 0,
            name: NONE,
        });
    }
    if token.src_line > FURTHEST || token.src_col > FURTHEST {
        return None;
    }
    let name = if token.name_id == NONE { NONE } else { token.name_id.checked_add(first_name)? };
    let source = *ids.get(usize::try_from(token.src_id).ok()?)?;
    Some(Segment {
        line,
        column,
        source,
        original_line: token.src_line,
        original_column: token.src_col,
        name,
    })
}

/// A position within a section as a position in the whole. Only the section's first line begins at a column.
fn moved((line, column): Position, (first_line, first_column): Position) -> Option<Position> {
    let column = if line == 0 { column.checked_add(first_column)? } else { column };
    let line = line.checked_add(first_line)?;
    (line <= FURTHEST && column <= FURTHEST).then_some((line, column))
}

fn empty() -> sourcemap::SourceMapIndex {
    sourcemap::SourceMapIndex::new(None, Vec::new())
}
