//! Where the text of a script comes from: a script that a compiler made has lines of its source.

use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use engine::source_map::SourceMap;

/// What marks a map that is part of the script.
const INLINE: &str = "//# sourceMappingURL=data:application/json;";

/// The source of a script.
#[derive(Debug)]
pub(super) struct Original {
    map: Option<SourceMap>,
    pub(super) path: PathBuf,
}

impl Original {
    /// By the map in a script, if it has one and was made of one file.
    pub(super) fn of(text: &str, script: &Path) -> Self {
        let found = mapped(text, script);
        let (map, path) = found.map_or((None, None), |(map, path)| (Some(map), Some(path)));
        Self { map, path: path.unwrap_or_else(|| script.to_owned()) }
    }

    /// The line and the column in the source, both 0-based. None for what the compiler added.
    pub(super) fn position(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let Some(map) = &self.map else { return Some((line, column)) };
        let original = map.original(line, column)?;
        Some((original.line, original.column))
    }

    pub(super) fn is_compiled(&self) -> bool {
        self.map.is_some()
    }
}

fn mapped(text: &str, script: &Path) -> Option<(SourceMap, PathBuf)> {
    let url = text.get(text.rfind(INLINE)?..)?.lines().next()?;
    let (_, encoded) = url.split_once("base64,")?;
    let raw = BASE64.decode(encoded.trim().as_bytes()).ok()?;
    let map = SourceMap::decode(&raw, script.parent()?).ok()?;
    let mut paths = map.sources().filter_map(|source| source.path.clone());
    let path = paths.next().filter(|path| path.is_file())?;
    let is_only = paths.next().is_none();
    drop(paths);
    is_only.then_some((map, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_without_a_map_are_their_own_source() {
        let original = Original::of("let a;\n", Path::new("/a.js"));
        assert_eq!((original.position(3, 4), original.path.as_path()), (Some((3, 4)), Path::new("/a.js")));
        let broken = Original::of(
            "let a;\n//# sourceMappingURL=data:application/json;base64,AAAA",
            Path::new("/a.js"),
        );
        assert!(!broken.is_compiled());
    }
}
