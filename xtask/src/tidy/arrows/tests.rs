use serde_json::{Value, json};

use super::*;

const MANIFEST: &str = "\
[package]
name = \"x\"

[dev-dependencies]
dap.workspace = true

[dependencies]
other = \"1\"
dap.workspace = true
rmcp = { version = \"3\", optional = true }

[target.'cfg(unix)'.dependencies]
clap = \"4\"

[dependencies.wrapper]
version = \"1\"
";

/// Name in the manifest, name of the package, kind.
type DependencyRow<'a> = (&'a str, &'a str, Option<&'a str>);
/// The line of a finding, and a part of what it says.
type Expected<'a> = (usize, &'a str);

/// A workspace of one crate in `crates/x` and what it depends on. The package `wrapper` depends on `clap`, and for its own tests on `rmcp`.
fn metadata(of: &str, dependencies: &[DependencyRow<'_>]) -> Metadata {
    let named: Vec<Value> = dependencies
        .iter()
        .map(|(key, name, kind)| {
            let rename = (key != name).then_some(key);
            json!({ "name": name, "rename": rename, "kind": kind })
        })
        .collect();
    let links: Vec<Value> = dependencies
        .iter()
        .map(|(_, name, kind)| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] }))
        .collect();
    let package = |name: &str, dependencies: Value| json!({ "id": name, "name": name, "manifest_path": "/w/crates/x/Cargo.toml", "dependencies": dependencies });
    let mut packages = vec![package(of, json!(named))];
    packages
        .extend(["clap", "rmcp", "other", "stillframe-dap", "wrapper"].map(|name| package(name, json!([]))));
    serde_json::from_value(json!({
        "packages": packages,
        "workspace_members": [of],
        "workspace_root": "/w",
        "resolve": { "nodes": [
            { "id": of, "deps": links },
            { "id": "wrapper", "deps": [
                { "pkg": "clap", "dep_kinds": [{ "kind": null }] },
                { "pkg": "rmcp", "dep_kinds": [{ "kind": "dev" }] },
            ] },
        ] },
    }))
    .unwrap()
}

#[test]
fn forbidden_dependencies_are_reported_where_they_are_declared() {
    let dap = ("dap", "stillframe-dap");
    let cases: &[(&str, &[DependencyRow<'_>], &[Expected<'_>])] = &[
        ("stillframe-tools", &[("other", "other", None)], &[]),
        ("stillframe-tools", &[(dap.0, dap.1, None)], &[(9, "stillframe-tools → stillframe-dap")]),
        ("stillframe-tools", &[(dap.0, dap.1, Some("dev"))], &[]),
        ("stillframe-engine", &[(dap.0, dap.1, None)], &[]),
        ("stillframe-engine", &[("clap", "clap", None)], &[(13, "stillframe-engine → clap")]),
        ("stillframe-engine", &[("clap", "clap", Some("build"))], &[]),
        ("stillframe-engine", &[("wrapper", "wrapper", None)], &[(15, "stillframe-engine → wrapper → clap")]),
        ("stillframe", &[("wrapper", "wrapper", None)], &[]),
        ("stillframe-new", &[], &[(1, "no rule")]),
    ];
    let files = [File::new("crates/x/Cargo.toml", MANIFEST)];
    for (of, dependencies, expected) in cases {
        let found = check(&metadata(of, dependencies), &files);
        assert_eq!(found.len(), expected.len(), "{of} {dependencies:?}: {found:?}");
        for (finding, (line, what)) in found.iter().zip(*expected) {
            assert_eq!((finding.path.as_str(), finding.line), ("crates/x/Cargo.toml", *line), "{finding}");
            assert!(finding.what.contains(what), "{finding} should say `{what}`");
        }
    }
}

#[test]
fn an_optional_dependency_counts_even_if_it_is_not_built() {
    let mut metadata = metadata("stillframe-engine", &[("rmcp", "rmcp", None)]);
    metadata.resolve.nodes.clear();
    let found = check(&metadata, &[File::new("crates/x/Cargo.toml", MANIFEST)]);
    assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [10]);
}
