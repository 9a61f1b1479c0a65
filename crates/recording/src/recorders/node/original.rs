//! Where the text of a script comes from: a script that a compiler made has lines of its source.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use engine::source_map::{Part, Position, SourceMap};

/// What names the map of a script, or is followed by all of it.
const NAMES: &str = "//# sourceMappingURL=";
const INLINE: &str = "data:application/json;";

/// All of a script.
pub(super) const WHOLE: Part = ((0, 0), (u32::MAX, u32::MAX));

/// The source of a script.
#[derive(Debug)]
pub(super) struct Original {
    map: Option<SourceMap>,
    /// From the name of a variable in the script to where that is mentioned, in order, and its name in the source there.
    mentions: HashMap<String, Vec<(Position, String)>>,
    pub(super) path: PathBuf,
}

impl Original {
    /// By the map in a script or the one that it names, if it was made of one file.
    pub(super) fn of(text: &str, script: &Path) -> Self {
        let found = mapped(text, script);
        let (map, path) = found.map_or((None, None), |(map, path)| (Some(map), Some(path)));
        let mut mentions: HashMap<String, Vec<(Position, String)>> = HashMap::new();
        for it in map.iter().flat_map(|map| map.mentions(text, WHOLE)) {
            let known = mentions.entry(it.mangled.to_owned()).or_default();
            known.push((it.at, it.original.to_owned()));
        }
        Self { map, mentions, path: path.unwrap_or_else(|| script.to_owned()) }
    }

    /// The line and the column in the source, both 0-based. None for what the compiler added.
    pub(super) fn position(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let Some(map) = &self.map else { return Some((line, column)) };
        let original = map.original(line, column)?;
        Some((original.line, original.column))
    }

    /// The name in the source of a variable that a function declares, if that has a map. None if other variables in the
    /// function have the same name in the script: that is better than a wrong one.
    pub(super) fn name(&self, name: &str, (start, end): Part) -> Option<&str> {
        let mentions = self.mentions.get(name)?;
        let from = mentions.partition_point(|(at, _)| *at < start);
        let to = mentions.partition_point(|(at, _)| *at < end);
        let ((_, first), others) = mentions.get(from..to)?.split_first()?;
        others.iter().all(|(_, other)| other == first).then_some(first)
    }

    pub(super) fn is_compiled(&self) -> bool {
        self.map.is_some()
    }
}

fn mapped(text: &str, script: &Path) -> Option<(SourceMap, PathBuf)> {
    let (_, url) = text.rsplit_once(NAMES)?;
    let url = url.lines().next()?.trim();
    let map = if let Some(inline) = url.strip_prefix(INLINE) {
        let (_, encoded) = inline.split_once("base64,")?;
        SourceMap::decode(&BASE64.decode(encoded.as_bytes()).ok()?, script.parent()?).ok()?
    } else {
        let path = script.parent()?.join(url);
        let is_map = path.extension().is_some_and(|extension| extension == "map") && path.is_file();
        let raw = is_map.then(|| std::fs::read(&path).ok()).flatten()?;
        SourceMap::decode(&raw, path.parent()?).ok()?
    };
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

    #[test]
    fn a_name_is_that_of_the_only_variable_in_the_function_that_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("a.ts", "(event)=>event;(error)=>error");
        let map = r#"{"version":3,"sources":["a.ts"],"names":["event","error"],"mappings":"CAACA,IAAQA,GAAOC,IAAQA"}"#;
        write("a.js.map", map);
        let script = "(n)=>n;(n)=>n\n//# sourceMappingURL=a.js.map";
        let original = Original::of(script, &folder.path().join("a.js"));
        assert!(original.is_compiled());
        assert_eq!(original.name("n", ((0, 0), (0, 6))), Some("event"));
        assert_eq!(original.name("n", ((0, 7), (0, 13))), Some("error"));
        assert_eq!(original.name("n", WHOLE), None);
        assert_eq!(original.name("e", WHOLE), None);
    }

    #[test]
    fn the_map_beside_a_script_names_its_source() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("a.ts", "\n\nlet a: number;\n");
        write("a.js.map", r#"{"version":3,"sources":["a.ts"],"names":[],"mappings":"AAEA"}"#);
        let script = "let a;\n//# sourceMappingURL=a.js.map";
        let original = Original::of(script, &folder.path().join("a.js"));
        assert_eq!((original.position(0, 0), original.path), (Some((2, 0)), folder.path().join("a.ts")));
        let missing = Original::of(&script.replace("a.js", "b.js"), &folder.path().join("b.js"));
        assert!(!missing.is_compiled());
    }
}
