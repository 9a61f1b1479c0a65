//! Where maps are, reading them, whether they matter, whether they are still true.

use std::time::{Duration, SystemTime};

use super::*;

#[test]
fn scripts_name_their_map() {
    let file = |path: &str| MapLocation::File(path.into());
    let remote = |url: &str| MapLocation::Remote(url.to_owned());
    let table = [
        ("main.js.map", file("/app/dist/main.js.map")),
        (" ./main.js.map\n", file("/app/dist/main.js.map")),
        ("../maps/main.js.map", file("/app/maps/main.js.map")),
        ("../../../x.map", file("/x.map")),
        ("/maps/main.js.map", file("/maps/main.js.map")),
        ("main.js.map?v=1#2", file("/app/dist/main.js.map")),
        ("my%20file%3F.map", file("/app/dist/my file?.map")),
        ("100%.map", file("/app/dist/100%.map")),
        ("%C3%A4.map", file("/app/dist/ä.map")),
        ("file:///maps/a%20b/./x.map", file("/maps/a b/x.map")),
        ("FILE://localhost/x.map", file("/x.map")),
        ("file://elsewhere/x.map", remote("file://elsewhere/x.map")),
        ("https://example.org/x.map", remote("https://example.org/x.map")),
        ("//example.org/x.map", remote("//example.org/x.map")),
        ("webpack://x.map", remote("webpack://x.map")),
        ("data:application/json,{}", MapLocation::Inline("data:application/json,{}".to_owned())),
    ];
    for (url, expected) in table {
        assert_eq!(place(url, Path::new("/app/dist/main.js")), expected, "{url}");
    }
}

#[test]
fn existing_map_is_found_whatever_its_name() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a#b.js.map", "100%25.js.map", "c d?.js.map"] {
        std::fs::write(folder.path().join(name), "{}").unwrap();
    }
    let table = [
        ("a#b.js.map", "a#b.js.map"),
        ("a%23b.js.map", "a#b.js.map"),
        ("100%25.js.map", "100%25.js.map"),
        ("100%2525.js.map", "100%25.js.map"),
        ("c%20d?.js.map", "c d?.js.map"),
    ];
    for (url, expected) in table {
        let found = place(url, &folder.path().join("x.js"));
        assert_eq!(found, MapLocation::File(folder.path().join(expected)), "{url}");
    }
}

#[test]
fn inline_maps_are_read() {
    let table = [
        ("data:application/json;base64,eyJhIjoxfQ==", Ok(r#"{"a":1}"#)),
        ("data:application/json;charset=utf-8;base64,eyJhIjoxfQ", Ok(r#"{"a":1}"#)),
        ("data:application/json;BASE64,eyJh\nIjoxfQ%3D%3D", Ok(r#"{"a":1}"#)),
        ("data:application/json;charset=utf8,{%22a%22:1}", Ok(r#"{"a":1}"#)),
        ("data:,%C3%A4", Ok("ä")),
        ("data:application/json", Err("has no comma")),
        ("data:;base64,ey!h", Err("is not base64")),
    ];
    for (url, expected) in table {
        let found = read(&place(url, Path::new("/x.js")));
        match (found, expected) {
            (Ok(bytes), Ok(text)) => assert_eq!(String::from_utf8(bytes).unwrap(), text, "{url}"),
            (Err(problem), Err(part)) => assert!(problem.to_string().contains(part), "{url}: {problem}"),
            (found, _) => panic!("{url}: {found:?}"),
        }
    }
}

#[test]
fn unreadable_maps_have_distinct_errors() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("x.map");
    assert_eq!(read(&MapLocation::File(missing.clone())), Err(MapProblem::Missing { path: missing.clone() }));
    for path in [folder.path(), Path::new("/dev/zero")] {
        let found = read(&MapLocation::File(path.to_owned()));
        assert!(matches!(found, Err(MapProblem::Unreadable { .. })), "{found:?}");
    }
    std::fs::File::create(&missing).unwrap().set_len(200 << 20).unwrap();
    assert!(matches!(read(&MapLocation::File(missing)), Err(MapProblem::TooLarge { .. })));
    let url = "https://example.org/x.map".to_owned();
    assert_eq!(read(&MapLocation::Remote(url.clone())), Err(MapProblem::Remote { url }));
}

#[test]
fn a_map_that_names_a_file_is_never_skipped() {
    let table = [
        (r#"{"sources":["src/main.ts"],"mappings":""}"#, "main.ts", true),
        (r#"{"sources":["src/main.ts"],"mappings":""}"#, "other.ts", false),
        (r#"{"sources":["src\/main.ts"],"mappings":""}"#, "main.ts", true),
        (r#"{"sources":["src/\u00e4pfel.ts"],"mappings":""}"#, "äpfel.ts", true),
        (r#"{"sources":["src/äpfel.ts"],"mappings":""}"#, "äpfel.ts", true),
        (r#"{"sources":["src/%C3%A4pfel.ts"],"mappings":""}"#, "äpfel.ts", true),
        (r#"{"sources":["src/m\u0061in.ts"],"mappings":""}"#, "main.ts", true),
        (r#"{"sources":["my%20file.ts"],"mappings":""}"#, "my file.ts", true),
        (r#"{"sources":["a\"b.ts"],"mappings":""}"#, "a\"b.ts", true),
        (r#"{"sources":["a\\b.ts"],"mappings":""}"#, "a\\b.ts", true),
        (r#"{"sources":["x.vue?type=script"],"mappings":""}"#, "x.vue", true),
        (r#"{"sources":[null,"%"],"sourcesContent":["100 \u0041"],"mappings":""}"#, "main.ts", false),
        (
            r#"{"sections":[{"offset":{"line":0,"column":0},"map":{"sources":["%6dain.ts"]}}]}"#,
            "main.ts",
            true,
        ),
        (
            r#"{"sections":[{"offset":{"line":0,"column":0},"map":{"sources":["%6dain.ts"]}}]}"#,
            "other.ts",
            false,
        ),
        (")]}'\n{\"sources\":[\"m\\u0061in.ts\"]}", "main.ts", true),
        (r#"{"sources":["\u0061"#, "main.ts", true),
    ];
    for (raw, name, expected) in table {
        assert_eq!(may_mention(raw.as_bytes(), name), expected, "{raw} {name}");
    }
}

#[test]
fn embedded_source_decides_staleness_before_modification_times() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ts");
    let built = folder.path().join("a.js.map");
    std::fs::write(&path, "one\r\ntwo\n").unwrap();
    std::fs::write(&built, "{}").unwrap();
    let source = |name: &str, content: Option<&str>| MapSource {
        path: Some(path.clone()),
        name: name.to_owned(),
        content: content.map(Box::from),
    };
    let set = |path: &Path, seconds: u64| {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    set(&path, 2000);
    set(&built, 1000);
    let differs = Some(MapProblem::Differs { path: path.clone() });
    let newer = Some(MapProblem::Newer { path: path.clone(), built: built.clone() });
    assert_eq!(staleness(&source("a.ts", Some("one\ntwo\n")), &built), None);
    assert_eq!(staleness(&source("a.ts", Some("\u{feff}one\rtwo\r")), &built), None);
    assert_eq!(staleness(&source("a.ts", Some("one\nthree\n")), &built), differs);
    assert_eq!(staleness(&source("a.ts?part", Some("one")), &built), None);
    assert_eq!(staleness(&source("a.ts", None), &built), newer);
    set(&built, 2000);
    assert_eq!(staleness(&source("a.ts", None), &built), None, "made at once with it");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(staleness(&source("a.ts", Some("gone")), &built), None);
    assert_eq!(staleness(&MapSource { path: None, ..source("a.ts", None) }, &built), None);
}

#[test]
fn problems_suggest_what_to_do_next() {
    let nearest =
        |before, after| MapProblem::NoCode { name: "/a.ts".to_owned(), line: 3, before, after }.to_string();
    let similar = |similar: &[&str]| {
        let similar = similar.iter().map(ToString::to_string).collect();
        MapProblem::NotASource { path: "/a.ts".into(), similar }.to_string()
    };
    let table = [
        (
            nearest(Some(1), Some(5)),
            "no code was generated from line 3 of `/a.ts`: the nearest lines with code are 1 and 5",
        ),
        (
            nearest(None, Some(5)),
            "no code was generated from line 3 of `/a.ts`: the nearest line with code is 5",
        ),
        (nearest(None, None), "no code was generated from line 3 of `/a.ts`, nor from any other line of it"),
        (similar(&["b.ts", "c.ts"]), "`/a.ts` is not in the source map, which names `b.ts`, `c.ts`"),
        (similar(&[]), "`/a.ts` is not in the source map, which names no file"),
    ];
    for (text, expected) in table {
        assert_eq!(text, expected);
    }
}
