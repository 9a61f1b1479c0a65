//! What comes with the program where a system has places for it: manual pages and completions.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::archive::Entry;

/// Shells, and the names of the files that they read.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "stillframe.bash"),
    ("zsh", "_stillframe"),
    ("fish", "stillframe.fish"),
    ("elvish", "stillframe.elv"),
    ("powershell", "_stillframe.ps1"),
];

/// The texts, as the program prints them.
#[derive(Debug)]
pub(super) struct Documents {
    pub(super) manual: Vec<Entry>,
    pub(super) completions: Vec<Entry>,
}

impl Documents {
    pub(super) fn of(program: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        run(program, &["manual", &folder.path().to_string_lossy()])?;
        let mut manual = Vec::new();
        for entry in std::fs::read_dir(folder.path())? {
            let path = entry?.path();
            let name = path.file_name().context("a page has no name")?.to_string_lossy().into_owned();
            manual.push(Entry::file(name, std::fs::read(&path)?));
        }
        manual.sort_by(|one, other| one.path.cmp(&other.path));
        ensure!(!manual.is_empty(), "the program wrote no manual pages");
        let completions =
            SHELLS.iter().map(|(shell, file)| Ok(Entry::file(*file, run(program, &["completions", shell])?)));
        Ok(Self { manual, completions: completions.collect::<Result<_>>()? })
    }

    /// The completions for one shell.
    pub(super) fn completion(&self, file: &str) -> Result<&Entry> {
        let found = self.completions.iter().find(|entry| entry.path == file);
        found.with_context(|| format!("there are no completions `{file}`"))
    }
}

#[expect(clippy::disallowed_methods, reason = "the program that was built, which ends by itself")]
fn run(program: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = std::process::Command::new(program).args(arguments).output();
    let output = output.with_context(|| format!("cannot run `{}`", program.display()))?;
    ensure!(output.status.success(), "`{} {}` failed", program.display(), arguments.join(" "));
    Ok(output.stdout)
}
