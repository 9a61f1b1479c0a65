//! Maps that are broken or made to break something.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn try_decode(raw: &[u8]) -> Result<SourceMap, MapProblem> {
    SourceMap::decode(raw, Path::new("/nowhere/out"))
}

#[test]
fn malformed_map_is_corrupt() {
    let deep = format!(
        "{}{}",
        r#"{"sections":[{"offset":{"line":0,"column":0},"map":"#.repeat(1000),
        "}]}".repeat(1000)
    );
    let with =
        |mappings: &str| json!({"version":3,"sources":["a"],"names":[],"mappings":mappings}).to_string();
    let table = [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "<!DOCTYPE html>".to_owned(),
        ")]}'".to_owned(),
        with("AAA"),
        with("AAAAAA"),
        with("!!!!"),
        with("ä"),
        with("AAAg"),
        with("ggggggggggggggggg"),
        with("ACAA"),
        with("ADAA"),
        with("AAAAC"),
        deep,
    ];
    for raw in table {
        let found = try_decode(raw.as_bytes());
        assert!(matches!(found, Err(MapProblem::Corrupt { .. })), "{raw:.80}: {found:?}");
    }
    assert!(matches!(try_decode(b"\xff\xfe{}"), Err(MapProblem::Corrupt { .. })));
}

#[test]
fn a_map_with_too_many_entries_is_not_decoded() {
    let mut raw = br#"{"version":3,"sources":[],"names":[],"mappings":""#.to_vec();
    raw.resize(raw.len() + 11_000_000, b';');
    raw.extend(b"\"}");
    assert!(matches!(try_decode(&raw), Err(MapProblem::TooLarge { .. })));
}

#[test]
fn impossible_positions_are_skipped() {
    // The second entry is from line -1, the third is at column -1 of the script.
    let map = map_of("AAAA,CADA,FAEA,IACA", &[]);
    let id = only(&map);
    assert_eq!(map.generated(id, 0, None), [(0, 0)]);
    assert_eq!(map.generated(id, 2, None), [(0, 3)]);
    assert_eq!(map.segments.len(), 2, "{:?}", map.segments);
}

#[test]
fn xssi_prefix_and_byte_order_mark_are_skipped() {
    let raw = r#"{"version":3,"sources":["a.ts"],"names":[],"mappings":"AAAA"}"#;
    for header in ["\u{feff}", ")]}'\n", ")]}\r\n", ")]}'", "\u{feff})]}',\n"] {
        let map = try_decode(format!("{header}{raw}").as_bytes()).unwrap();
        assert_eq!(map.generated(only(&map), 0, None), [(0, 0)], "{header:?}");
    }
}

fn section(line: u32, column: u32, map: &Value) -> Value {
    json!({ "offset": { "line": line, "column": column }, "map": map })
}

/// A map of the first two lines of a source.
fn part(source: &str, root: &str) -> Value {
    json!({
        "version": 3, "sources": [source], "sourceRoot": root, "names": ["n"], "mappings": "AAAAA;AACA",
    })
}

#[test]
fn sections_are_merged() {
    let sections = [section(0, 0, &part("a.ts", "")), section(1, 5, &part("b.ts", "../x"))];
    let inner = json!({ "version": 3, "sections": sections });
    let map = decoded(&json!({
        "version": 3,
        "sections": [
            section(10, 3, &inner),
            { "offset": { "line": 5, "column": 0 }, "url": "https://example.org/x.map" },
            section(2, 7, &part("a.ts", "")),
            section(u32::MAX, 0, &part("far.ts", "")),
        ],
    }));
    let a = map.source_of(Path::new("/nowhere/out/a.ts")).unwrap();
    let b = map.source_of(Path::new("/nowhere/x/b.ts")).unwrap();
    assert_eq!(map.generated(a, 0, None), [(2, 7), (10, 3)]);
    assert_eq!(map.generated(a, 1, None), [(3, 0), (11, 0)]);
    assert_eq!(map.generated(b, 0, None), [(11, 5)]);
    assert_eq!(map.generated(b, 1, None), [(12, 0)]);
    assert_eq!(
        map.original(11, 9).unwrap(),
        OriginalPosition { source: b, line: 0, column: 0, name: Some("n") }
    );
    assert_eq!(map.original(11, 4).unwrap().source, a);
    assert_eq!(map.original(2, 6), None);
}

proptest! {
    #[test]
    fn any_mappings_are_decoded_or_refused(
        mappings in "[A-Za-z0-9+/,;]{0,80}", line in 0u32..9, column in 0u32..99,
    ) {
        let raw = json!({"version":3,"sources":["a.ts","b.ts",null],"names":["x","y"],"mappings":mappings});
        if let Ok(map) = try_decode(raw.to_string().as_bytes()) {
            let _ = map.original(line, column);
            let _ = map.names("let a = b;\nü🍐.a", (0, 0), (u32::MAX, u32::MAX));
            for (id, _) in map.identified() {
                let _ = (map.places(id, line, Some(column)), map.nearest_lines(id, u32::MAX));
                prop_assert!(map.generated(id, line, None).is_empty() == map.places(id, line, None).is_err());
            }
        }
    }

    #[test]
    fn any_bytes_are_refused(raw in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(try_decode(&raw).is_err());
        let _ = may_mention(&raw, "main.ts");
    }

    #[test]
    fn any_source_and_map_names_are_accepted(name in "\\PC{0,30}", root in "\\PC{0,10}") {
        let raw = json!({"version":3,"sources":[name],"sourceRoot":root,"names":[],"mappings":"AAAA"});
        let map = try_decode(raw.to_string().as_bytes()).unwrap();
        prop_assert_eq!(&map.source(SourceId(0)).unwrap().name, &name);
        let _ = place(&name, Path::new("/nowhere/main.js"));
        let last = name.rsplit('/').next().unwrap();
        prop_assert!(may_mention(raw.to_string().as_bytes(), last));
    }
}
