//! Rules of looking up, on maps that are made for it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use sourcemap::SourceMapBuilder;

use super::*;

/// A map of `a.ts` and `b.ts` with an entry for each generated position: from which file, line and column.
fn built(entries: &BTreeMap<Position, Option<(bool, u32, u32)>>) -> SourceMap {
    let mut builder = SourceMapBuilder::new(None);
    for (&(line, column), original) in entries {
        let (from_b, original_line, original_column) = original.unwrap_or((false, NONE, NONE));
        let source = original.map(|_| if from_b { "b.ts" } else { "a.ts" });
        builder.add(line, column, original_line, original_column, source, None, false);
    }
    let mut raw = Vec::new();
    builder.into_sourcemap().to_writer(&mut raw).unwrap();
    SourceMap::decode(&raw, Path::new("/nowhere")).unwrap()
}

fn path(from_b: bool) -> &'static Path {
    Path::new(if from_b { "/nowhere/b.ts" } else { "/nowhere/a.ts" })
}

prop_compose! {
    fn entries()(
        entries in prop::collection::btree_map(
            (0u32..6, 0u32..40),
            prop::option::weighted(0.8, (any::<bool>(), 0u32..8, 0u32..12)),
            0..40,
        )
    ) -> BTreeMap<Position, Option<(bool, u32, u32)>> { entries }
}

proptest! {
    #[test]
    fn mappings_round_trip(entries in entries()) {
        let map = built(&entries);
        for (&(line, column), original) in &entries {
            let found = map.original(line, column);
            let Some((from_b, original_line, original_column)) = *original else {
                prop_assert_eq!(found, None);
                continue;
            };
            let source = map.source_of(path(from_b)).unwrap();
            prop_assert_eq!(
                found, Some(OriginalPosition { source, line: original_line, column: original_column, name: None })
            );
            prop_assert!(map.generated(source, original_line, None).contains(&(line, column)));
            let exact = map.generated(source, original_line, Some(original_column));
            prop_assert!(exact.contains(&(line, column)));
        }
    }

    #[test]
    fn an_entry_covers_its_line_up_to_the_next_entry(
        entries in entries(), line in 0u32..8, column in 0u32..50,
    ) {
        let last = entries.range((line, 0)..=(line, column)).next_back();
        let expected = last.and_then(|(_, original)| *original);
        let map = built(&entries);
        let found = map.original(line, column).map(|found| {
            (found.source == map.source_of(path(true)).unwrap_or(SourceId(NONE)), found.line, found.column)
        });
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_line_maps_to_all_its_ranges_in_order(entries in entries(), from_b: bool, line in 0u32..9) {
        let map = built(&entries);
        let Some(source) = map.source_of(path(from_b)) else { return Ok(()) };
        let of_source = || {
            entries.iter().filter_map(|(at, original)| original.map(|original| (*at, original)))
        };
        let mut expected: Vec<(u32, Position)> = of_source()
            .filter(|(_, original)| (original.0, original.1) == (from_b, line))
            .map(|(at, original)| (original.2, at))
            .collect();
        expected.sort_unstable();
        let expected: Vec<Position> = expected.into_iter().map(|(_, at)| at).collect();
        let own = || of_source().filter(|(_, original)| original.0 == from_b);
        let lines = || own().map(|(_, original)| original.1);
        let nearest = NearestLines {
            before: lines().filter(|other| *other < line).max(),
            after: lines().filter(|other| *other > line).min(),
        };
        prop_assert_eq!(map.generated(source, line, None), expected.clone());
        prop_assert_eq!(map.nearest_lines(source, line), nearest);
        match map.places(source, line, None) {
            Ok(places) => {
                prop_assert_eq!(places.iter().min(), places.first());
                prop_assert!(places.iter().all(|location| expected.contains(location)));
            }
            Err(problem) => {
                prop_assert!(expected.is_empty());
                prop_assert_eq!(problem, map.no_code(source, line));
            }
        }
    }
}

#[test]
fn a_column_maps_to_the_range_that_contains_it() {
    // Pieces begin at the columns 4 and 10 of the line.
    let map = map_of("AAAI,IAAM", &[]);
    let id = only(&map);
    let table = [(0, (0, 0)), (4, (0, 0)), (9, (0, 0)), (10, (0, 4)), (99, (0, 4))];
    for (column, expected) in table {
        assert_eq!(map.generated(id, 0, Some(column)), [expected], "{column}");
        assert_eq!(map.places(id, 0, Some(column)), Ok(vec![expected]), "{column}");
    }
    assert_eq!(map.generated(id, 1, Some(0)), []);
}

#[test]
fn each_copy_of_a_line_is_a_separate_location() {
    // Line 0 twice in one run, then line 1, then line 0 again, and once more after unmapped code.
    let map = map_of("AAAA,CAAA,CACA,CADA;A,CAAA", &[]);
    let id = only(&map);
    assert_eq!(map.generated(id, 0, None), [(0, 0), (0, 1), (0, 3), (1, 1)]);
    assert_eq!(map.places(id, 0, None), Ok(vec![(0, 0), (0, 3)]));
    assert_eq!(map.original(1, 0), None);
}

#[test]
fn the_later_of_two_entries_at_one_position_applies() {
    let map = map_of("AAAA,AACA", &[]);
    assert_eq!(map.original(0, 0).unwrap().line, 1);
    assert_eq!(map.generated(only(&map), 0, None), [(0, 0)]);
    let map = map_of("AAAA,AACA,AADA", &[]);
    assert_eq!(map.places(only(&map), 0, None), Ok(vec![(0, 0)]));
}

#[test]
fn originals_that_could_be_several_variables_are_unclear() {
    let mut builder = SourceMapBuilder::new(None);
    for (number, (column, name)) in (0u32..).zip([(2, "own"), (4, "kept"), (7, "inner"), (10, "inner")]) {
        builder.add(0, column, number, 0, Some("a.ts"), Some(name), false);
    }
    let mut raw = Vec::new();
    builder.into_sourcemap().to_writer(&mut raw).unwrap();
    let map = SourceMap::decode(&raw, Path::new("/nowhere")).unwrap();
    let (clear, unclear) = map.clear_names("f(a,b){a=>a}", ((0, 0), (1, 0)), &[]);
    assert_eq!(clear.into_iter().collect::<Vec<_>>(), [("b".to_owned(), "kept".to_owned())]);
    let mut unclear: Vec<_> = unclear.into_iter().collect();
    unclear.sort();
    assert_eq!(unclear, ["inner", "own"]);
}

/// As a compiler writes it that names in its map only what it renames.
#[test]
fn a_name_that_is_kept_in_one_block_is_not_that_of_another_block() {
    let source = "f() {\n{ e; g(e) }\n{ never; g(never, never) }\n}";
    let script = "f(){{e;g(e)}{e;g(e,e)}}";
    let mut builder = SourceMapBuilder::new(None);
    let id = builder.add_source("a.ts");
    builder.set_source_contents(id, Some(source));
    let entries = [
        (5, 1, 2, None),
        (9, 1, 7, None),
        (13, 2, 2, Some("never")),
        (17, 2, 11, Some("never")),
        (19, 2, 18, Some("never")),
    ];
    for (column, line, original, name) in entries {
        builder.add(0, column, line, original, Some("a.ts"), name, false);
    }
    let mut raw = Vec::new();
    builder.into_sourcemap().to_writer(&mut raw).unwrap();
    let map = SourceMap::decode(&raw, Path::new("/nowhere")).unwrap();
    let function = ((0, 3), (0, 23));
    let at = |start, end| {
        let (clear, mut unclear) = map.clear_names(script, function, &[((0, start), (0, end))]);
        let unclear: Vec<String> = unclear.drain().collect();
        (clear.get("e").cloned(), unclear.join(" "))
    };
    assert_eq!(at(4, 12), (None, "never".to_owned()));
    assert_eq!(at(12, 22), (Some("never".to_owned()), "e".to_owned()));
    // Nothing says in which of them the place is.
    assert_eq!(map.names(script, function.0, function.1).get("e"), None);
}

#[test]
fn unambiguous_names_are_returned() {
    let named = |text: &str, entries: &[(&str, &str)]| -> Vec<(String, String)> {
        // Each entry is looked for after the one before.
        let mut builder = SourceMapBuilder::new(None);
        let mut from = 0;
        for (number, (identifier, name)) in (0u32..).zip(entries) {
            from += text[from..].find(identifier).unwrap();
            let column = text[..from].encode_utf16().count();
            builder.add(0, u32::try_from(column).unwrap(), number, 0, Some("a.ts"), Some(name), false);
            from += identifier.chars().next().unwrap().len_utf8();
        }
        let mut raw = Vec::new();
        builder.into_sourcemap().to_writer(&mut raw).unwrap();
        let map = SourceMap::decode(&raw, Path::new("/nowhere")).unwrap();
        let mut found: Vec<_> = map.names(text, (0, 0), (1, 0)).into_iter().collect();
        found.sort();
        found
    };
    let own = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect()
    };
    let clear = named("f(a,b){a+=b}", &[("a", "total"), ("b", "x"), ("a", "total"), ("b", "x")]);
    assert_eq!(clear, own(&[("a", "total"), ("b", "x")]));
    let kept = named("f(a,b)", &[("a", "a"), ("b", "x")]);
    assert_eq!(kept, own(&[("b", "x")]));
    let first_and_most = named("f(a){a;a=>a}", &[("a", "own"), ("a", "own"), ("a", "own"), ("a", "inner")]);
    assert_eq!(first_and_most, own(&[("a", "own")]));
    let unclear = named("f(a){a=>a}", &[("a", "own"), ("a", "inner"), ("a", "inner")]);
    assert_eq!(unclear, own(&[]));
    let property = named("x.a;[...a]", &[("a", "field"), ("a", "list")]);
    assert_eq!(property, own(&[("a", "list")]));
    let imported = named("m_1.sum(1);n_1.default()", &[("m_1", "sum"), ("n_1", "thing")]);
    assert_eq!(imported, own(&[]));
    let after_wide = named("'ü🍐';ä$_1+b", &[("ä", "apple"), ("b", "pear")]);
    assert_eq!(after_wide, own(&[("b", "pear"), ("ä$_1", "apple")]));
    let inside_a_word = named("banana", &[("n", "x")]);
    assert_eq!(inside_a_word, own(&[]));
}

#[test]
fn names_belong_to_their_section() {
    let map = map_of("AAAAA,EAACC;AACCC", &["first", "second", "third"]);
    let text = "a b\na";
    let names = |start, end| {
        let mut names: Vec<_> = map.names(text, start, end).into_iter().collect();
        names.sort();
        names.into_iter().map(|(mangled, name)| format!("{mangled}={name}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names((0, 0), (1, 0)), "a=first b=second");
    assert_eq!(names((0, 1), (9, 0)), "a=third b=second");
    assert_eq!(names((1, 0), (1, 1)), "a=third");
    assert_eq!(names((1, 1), (0, 0)), "");
}
