//! The repository as tasks see it: where it is, what it holds, and the programs that know more.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// A text file that git tracks.
#[derive(Debug)]
pub(crate) struct File {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    /// Its lines with their numbers, which count from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        // Not `str::lines`, which hides a carriage return.
        (1..).zip(self.text.split_terminator('\n'))
    }

    /// The part of the name after the last dot.
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }

    #[cfg(test)]
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }
}

/// External inputs, verbatim.
const CORPORA: &str = "fuzz/corpus/";

/// The text files that git tracks. What is deleted, a link, no UTF-8 or in a corpus is left out.
pub(crate) fn files() -> Result<Vec<File>> {
    let mut files = Vec::new();
    for path in output("git", &["ls-files", "-z"])?.split_terminator('\0') {
        let place = root().join(path);
        if path.starts_with(CORPORA) || !place.symlink_metadata().is_ok_and(|found| found.is_file()) {
            continue;
        }
        let bytes = std::fs::read(&place).with_context(|| format!("cannot read `{path}`"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(File { path: path.to_owned(), text });
        }
    }
    Ok(files)
}

/// What `cargo metadata` says of the workspace, as JSON, with every feature of its crates.
pub(crate) fn metadata() -> Result<String> {
    metadata_with(&["--all-features"])
}

/// The same without what is for other platforms, and with the features that the program is built with.
pub(crate) fn metadata_for(platform: &str) -> Result<String> {
    metadata_with(&["--filter-platform", platform])
}

fn metadata_with(options: &[&str]) -> Result<String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    output(&cargo, &[&["metadata", "--format-version", "1", "--locked"], options].concat())
}

/// In what `cargo metadata` says: what each package is built with.
#[derive(Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

/// What a package is built with.
#[derive(Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) deps: Vec<DependencyLink>,
}

/// A package that another is built with.
#[derive(Deserialize)]
pub(crate) struct DependencyLink {
    pub(crate) pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl DependencyLink {
    /// The package itself needs it, and not only its tests or its build script.
    pub(crate) fn is_normal(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.is_none())
    }

    /// It is needed for the program, or for building it.
    pub(crate) fn is_built_in(&self) -> bool {
        self.is_normal() || self.dep_kinds.iter().any(|kind| kind.kind.as_deref() == Some("build"))
    }
}

/// The platform that the compiler runs on.
pub(crate) fn host() -> Result<String> {
    let said = output("rustc", &["--version", "--verbose"])?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc` does not tell its host")?.to_owned())
}

/// Cargo, at the root.
#[expect(clippy::disallowed_methods, reason = "a program of the developer's own, not a debuggee")]
pub(crate) fn cargo() -> std::process::Command {
    let mut cargo = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// What a program prints when it runs at the root.
#[expect(clippy::disallowed_methods, reason = "a short program of the developer's own, not a debuggee")]
pub(crate) fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let call = || format!("`{program} {}`", arguments.join(" "));
    let output = std::process::Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .with_context(|| format!("cannot run {}", call()))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} failed: {}", call(), errors.trim());
    String::from_utf8(output.stdout).with_context(|| format!("{} printed no UTF-8", call()))
}
