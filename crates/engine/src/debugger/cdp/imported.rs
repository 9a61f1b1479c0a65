//! Names that a source imports, where its script has them only as members of modules.

use std::collections::HashMap;
use std::path::Path;

use super::sources::Sources;
use crate::javascript::{self, offset};
use crate::source_map::{Position, SourceMap};

/// What a script calls the names that the source of a place in it imports. `in_text` leads from places in the file of
/// the script to those in its text.
pub(super) fn names(
    sources: &Sources,
    map: &SourceMap,
    script: &str,
    place: Position,
    in_text: impl Fn(Position) -> Position,
    is_wanted: impl Fn(&str) -> bool,
) -> HashMap<String, String> {
    let Some(original) = map.original(place.0, place.1) else { return HashMap::new() };
    let Some(source) = map.source(original.source) else { return HashMap::new() };
    let path = source.path.as_deref().map(|path| sources.program.setup.to_local(path));
    let read = || path.as_deref().and_then(|path| sources.program.policy.safety.read_text(path).ok());
    let Some(text) = source.content.as_deref().map(str::to_owned).or_else(read) else {
        return HashMap::new();
    };
    let imports = javascript::imports(&text, path.as_deref().unwrap_or(Path::new(&source.name)));
    let wanted = imports.into_iter().filter(|import| is_wanted(&import.local));
    let in_script = wanted.filter_map(|import| {
        let name = import.uses.iter().find_map(|&(line, column)| {
            let is_exact = |(at, column_at): &Position| {
                map.original(*at, *column_at)
                    .is_some_and(|found| (found.line, found.column) == (line, column))
            };
            let places = map.generated(original.source, line, Some(column)).into_iter().filter(is_exact);
            places
                .filter_map(|place| offset(script, in_text(place)))
                .find_map(|at| import.in_script(script.get(usize::try_from(at).ok()?..)?))
        })?;
        Some((import.local, name))
    });
    in_script.collect()
}
