//! The repository as tasks see it: where it is, what it holds, and the programs that know more.

use std::path::Path;

use anyhow::{Context, Result, ensure};

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

/// The text files that git tracks. What is deleted, a link or no UTF-8 is left out.
pub(crate) fn files() -> Result<Vec<File>> {
    let mut files = Vec::new();
    for path in output("git", &["ls-files", "-z"])?.split_terminator('\0') {
        let place = root().join(path);
        if !place.symlink_metadata().is_ok_and(|found| found.is_file()) {
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
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    output(&cargo, &["metadata", "--format-version", "1", "--locked", "--all-features"])
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
