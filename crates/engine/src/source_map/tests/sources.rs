//! Names of sources become paths.

use serde_json::json;

use super::*;

/// A project with a few files, and a folder for what is built.
fn project() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for name in ["src/main.ts", "src/my file.ts", "src/50%.ts", "src/App.vue", "src/ab:c.ts", "dist/js/keep"]
    {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    std::fs::create_dir(root.join(".git")).unwrap();
    (folder, root)
}

#[test]
fn source_names_become_paths() {
    let (_folder, root) = project();
    let at = |path: &str| Some(root.join(path));
    let absolute = root.join("src/main.ts").display().to_string();
    let url = format!("file://{}", root.join("src/my%20file.ts").display());
    let bundled = format!("webpack://{absolute}");
    let table = [
        ("../../src/main.ts", None, at("src/main.ts")),
        ("..//../src/./main.ts", None, at("src/main.ts")),
        ("main.ts", Some("../../src"), at("src/main.ts")),
        ("main.ts", Some("../../src/"), at("src/main.ts")),
        ("main.ts", Some(""), at("dist/js/main.ts")),
        ("../../src/gone.ts", None, at("src/gone.ts")),
        (&absolute, Some("elsewhere"), at("src/main.ts")),
        (&url, Some("elsewhere"), at("src/my file.ts")),
        ("../../src/my%20file.ts", None, at("src/my file.ts")),
        ("../../src/my file.ts", None, at("src/my file.ts")),
        ("../../src/50%.ts", None, at("src/50%.ts")),
        ("../../src/App.vue?vue&type=script", None, at("src/App.vue")),
        ("webpack://name/./src/main.ts", None, at("src/main.ts")),
        ("webpack:///./src/main.ts", None, at("src/main.ts")),
        ("webpack:///src/App.vue?1234", None, at("src/App.vue")),
        (&bundled, None, at("src/main.ts")),
        ("./src/main.ts", Some("webpack://name/"), at("src/main.ts")),
        ("turbopack:///[project]/src/main.ts", None, at("src/main.ts")),
        ("webpack://name/webpack/bootstrap", None, None),
        ("webpack://name/external commonjs \"fs\"", None, None),
        ("webpack://name", None, None),
        ("..", None, None),
        ("src/../.", None, None),
        ("#top", None, None),
        ("?x", None, None),
        ("https://example.org/src/main.ts", None, None),
        ("node:fs", None, None),
        ("ab:c.ts", Some("../../src"), None),
        ("../../src/ab:c.ts", None, at("src/ab:c.ts")),
        ("", None, None),
    ];
    for (name, root_of_sources, expected) in table {
        let found = resolve::Resolver::new(&root.join("dist/js")).path(name, root_of_sources);
        assert_eq!(found, expected, "{name} below {root_of_sources:?}");
    }
}

#[test]
fn a_project_ends_at_its_repository() {
    let (_folder, root) = project();
    std::fs::create_dir_all(root.join("inner/.git")).unwrap();
    std::fs::create_dir_all(root.join("inner/dist")).unwrap();
    let base = root.join("inner/dist");
    assert_eq!(resolve::Resolver::new(&base).path("webpack://x/./src/main.ts", None), None);
}

#[test]
#[cfg(unix)]
fn a_source_is_found_by_real_path_and_by_link() {
    let (_folder, root) = project();
    std::os::unix::fs::symlink(root.join("src"), root.join("linked")).unwrap();
    let raw = r#"{"version":3,"sources":["../../linked/main.ts"],"names":[],"mappings":"AAAA"}"#;
    let map = SourceMap::decode(raw.as_bytes(), &root.join("dist/js")).unwrap();
    let id = only(&map);
    assert_eq!(map.source(id).unwrap().path, Some(root.join("src/main.ts")));
    for path in ["src/main.ts", "linked/main.ts", "dist/../src/main.ts"] {
        assert_eq!(map.source_of(&root.join(path)), Some(id), "{path}");
    }
    assert_eq!(map.source_of(&root.join("src/App.vue")), None);
}

#[test]
fn a_missing_file_has_similar_names() {
    let map = decoded(&json!({
        "version": 3, "sources": ["../src/mian.ts", "../src/other.ts", null], "names": [], "mappings": "",
    }));
    let problem = map.find(Path::new("/nowhere/src/main.ts")).unwrap_err();
    let MapProblem::NotASource { similar, .. } = &problem else { panic!("{problem:?}") };
    assert_eq!(similar, &["../src/mian.ts", "../src/other.ts"]);
    assert_eq!(map.find(Path::new("/nowhere/src/other.ts")), Ok(SourceId(1)));
}

#[test]
fn null_and_repeated_sources() {
    let map = decoded(&json!({
        "version": 3,
        "sources": [null, "a.ts", "./a.ts", null, "webpack/runtime://x", "webpack/runtime://x"],
        "sourcesContent": ["nobody's", null, "text"],
        "names": [],
        // One entry of each source.
        "mappings": "AAAA,CCAA,CCAA,CCAA,CCAA,CCAA",
    }));
    let names: Vec<(&str, Option<&str>)> =
        map.sources().map(|source| (source.name.as_str(), source.content.as_deref())).collect();
    assert_eq!(names[..3], [("", Some("nobody's")), ("a.ts", Some("text")), ("", None)]);
    let ids: Vec<u32> = (0..6).map(|column| map.original(0, column).unwrap().source.0).collect();
    assert_eq!(ids, [0, 1, 1, 2, 3, 3]);
    assert_eq!(map.source_of(Path::new("/nowhere/out/a.ts")), Some(SourceId(1)));
}

#[test]
fn parts_of_a_file_follow_the_file() {
    let (_folder, root) = project();
    let raw = json!({
        "version": 3,
        "sources": ["../../src/App.vue?vue&type=script", "../../src/App.vue"],
        "sourcesContent": ["part", "whole"],
        "names": [],
        "mappings": "AAAA,CCAA",
    });
    let map = SourceMap::decode(raw.to_string().as_bytes(), &root.join("dist/js")).unwrap();
    assert_eq!(map.sources().count(), 2);
    assert_eq!(map.source_of(&root.join("src/App.vue")), Some(SourceId(1)));
}
