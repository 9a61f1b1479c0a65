//! Scripts that a compiler made: what they were made of.

use std::path::Path;
use std::sync::Arc;

use crate::javascript::is_plain;
use crate::safety::Safety;
use crate::source_map::{self, MapLocation, MapProblem, SourceMap};

/// How much of the end of a script is read to find what it says of its map.
const TAIL: u64 = 64 * 1024;

/// Reads and decodes the map that a script at `path` names.
pub(crate) fn read_map(url: &str, path: &Path, safety: &Safety) -> Result<Arc<SourceMap>, MapProblem> {
    let place = source_map::place(url, path);
    let raw = safety.read_map(&place)?;
    let beside = match &place {
        MapLocation::File(map) => map.parent(),
        _ => path.parent(),
    };
    SourceMap::decode(&raw, beside.unwrap_or(path)).map(Arc::new)
}

/// The map of a script on disk: what its last lines name, or the file beside it.
pub(crate) fn map_of(script: &Path, safety: &Safety) -> Option<Arc<SourceMap>> {
    read_map(&map_url(script, safety)?, script, safety).ok()
}

/// The name of the map beside a script, which a bundler may leave without a comment in the script.
pub(crate) fn map_beside(script: &Path) -> Option<String> {
    let beside = format!("{}.map", script.file_name()?.to_str()?);
    script.with_file_name(&beside).is_file().then_some(beside)
}

/// The map from a script to what its file was compiled from, if a loader rewrote that file when it was loaded: then
/// `map`, which the script names as `url`, leads only to the file.
pub(crate) fn map_through_file(
    map: &SourceMap,
    url: &str,
    script: &Path,
    safety: &Safety,
) -> Option<SourceMap> {
    if !is_plain(script) || map.sources().count() != 1 || map.source_of(script).is_none() {
        return None;
    }
    let of_file = map_url(script, safety).filter(|of_file| of_file != url)?;
    Some(map.followed_by(read_map(&of_file, script, safety).ok()?.as_ref()))
}

fn map_url(script: &Path, safety: &Safety) -> Option<String> {
    comment_at_end(script, safety).or_else(|| map_beside(script))
}

fn comment_at_end(script: &Path, safety: &Safety) -> Option<String> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = std::fs::File::open(script).ok()?;
    safety.check_open(&file, script).ok()?;
    let length = file.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    let found = comment(&String::from_utf8_lossy(&tail));
    // An inline map is longer than the tail, and its beginning is what is missing.
    found.or_else(|| comment(&safety.read_text(script).ok().filter(|_| length > TAIL)?))
}

/// The last `//# sourceMappingURL=` of a text.
fn comment(text: &str) -> Option<String> {
    let (_, after) = text.rsplit_once("//# sourceMappingURL=")?;
    let url = after.lines().next()?.trim();
    (!url.is_empty()).then(|| url.to_owned())
}
