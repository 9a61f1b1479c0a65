//! What Cargo says with `--message-format=json`, a message a line.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// What came of a build.
#[derive(Debug, Default)]
pub(super) struct Built {
    pub(super) executables: Vec<Executable>,
    /// What the compiler says is wrong.
    pub(super) errors: String,
}

/// A program that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Executable {
    pub(super) path: PathBuf,
    /// `bin`, `example`, `test`, `bench` or, for the tests inside a library, `lib`.
    pub(super) kind: String,
    pub(super) name: String,
    /// The source that it is made of, in its package.
    pub(super) source: PathBuf,
    /// The folder of its package.
    pub(super) package: PathBuf,
    /// The name of its package.
    pub(super) package_name: String,
    /// It runs tests.
    pub(super) is_test: bool,
    /// The tests run in the standard harness, which takes filters.
    pub(super) has_harness: bool,
    /// It has debug information for variables, not only for lines.
    pub(super) has_variables: bool,
}

impl Executable {
    /// The words of Cargo that choose it.
    pub(super) fn choice(&self) -> String {
        match self.kind.as_str() {
            "lib" => "--lib".to_owned(),
            kind => format!("--{kind} {}", self.name),
        }
    }
}

impl Built {
    pub(super) fn read(messages: &str) -> Self {
        let mut built = Self::default();
        for message in messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            match text(&message, "/reason") {
                "compiler-artifact" => built.executables.extend(executable(&message)),
                "compiler-message" if text(&message, "/message/level").starts_with("error") => {
                    built.errors.push_str(text(&message, "/message/rendered"));
                }
                _ => {}
            }
        }
        built
    }
}

fn text<'a>(message: &'a Value, pointer: &str) -> &'a str {
    message.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// That of `path+file:///work/shop#0.1.0` and `path+file:///work/parts#shop@0.1.0` is `shop`.
fn package_name(id: &str) -> &str {
    let Some((source, fragment)) = id.rsplit_once('#') else {
        return id.split(' ').next().unwrap_or_default();
    };
    let folder = || source.rsplit('/').next().unwrap_or_default();
    fragment.split_once('@').map_or_else(folder, |(name, _)| name)
}

fn executable(artifact: &Value) -> Option<Executable> {
    let path = artifact.get("executable")?.as_str()?.into();
    let kinds = artifact.pointer("/target/kind")?.as_array()?;
    let kind = kinds.first().and_then(Value::as_str).unwrap_or_default();
    if kind == "custom-build" {
        return None;
    }
    let kind = if matches!(kind, "bin" | "example" | "test" | "bench") { kind } else { "lib" };
    let debug = artifact.pointer("/profile/debuginfo");
    let package = Path::new(text(artifact, "/manifest_path")).parent()?;
    let source = Path::new(text(artifact, "/target/src_path"));
    Some(Executable {
        path,
        kind: kind.to_owned(),
        name: text(artifact, "/target/name").to_owned(),
        source: source.strip_prefix(package).unwrap_or(source).to_owned(),
        package: package.to_owned(),
        package_name: package_name(text(artifact, "/package_id")).to_owned(),
        is_test: artifact.pointer("/profile/test").and_then(Value::as_bool).unwrap_or(false)
            || kind == "bench",
        has_harness: true,
        has_variables: debug
            .is_some_and(|debug| debug == 2 || debug == "full" || debug == 1 || debug == "limited"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named() {
        let table = [
            ("path+file:///work/shop#0.1.0", "shop"),
            ("path+file:///work/parts#shop@0.1.0", "shop"),
            ("shop 0.1.0 (path+file:///work/parts)", "shop"),
        ];
        for (id, name) in table {
            assert_eq!(package_name(id), name, "{id}");
        }
    }

    #[test]
    fn executables_and_errors_are_parsed() {
        let built = Built::read(concat!(
            r#"{"reason":"compiler-artifact","manifest_path":"/shop/Cargo.toml","target":{"kind":["bin"],"name":"shop"},"profile":{"debuginfo":2,"test":false},"executable":"/shop/target/debug/shop"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","manifest_path":"/shop/Cargo.toml","target":{"kind":["lib"],"name":"shop"},"profile":{"debuginfo":"line-tables-only","test":true},"executable":"/shop/target/debug/deps/shop-1"}"#,
            "\n",
            r#"{"reason":"compiler-artifact","manifest_path":"/shop/Cargo.toml","target":{"kind":["custom-build"],"name":"b"},"profile":{},"executable":"/b"}"#,
            "\nnot JSON\n",
            r#"{"reason":"compiler-message","message":{"level":"error","rendered":"error[E0425]: no `x`\n --> src/main.rs:2:5\n"}}"#,
            "\n",
            r#"{"reason":"compiler-message","message":{"level":"warning","rendered":"unused"}}"#,
        ));
        let choices: Vec<String> = built.executables.iter().map(Executable::choice).collect();
        assert_eq!(choices, ["--bin shop", "--lib"]);
        let facts = built.executables.iter().map(|one| (one.is_test, one.has_variables)).collect::<Vec<_>>();
        assert_eq!(facts, [(false, true), (true, false)]);
        assert_eq!(built.errors, "error[E0425]: no `x`\n --> src/main.rs:2:5\n");
    }
}
