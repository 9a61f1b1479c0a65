//! `cargo xtask tidy`: the rules of this repository that no other tool checks.
//!
//! Each kind of rule is a module with a pure `check`. Every finding is one line that an editor can follow.

mod arrows;
pub(crate) mod chapters;
mod layers;
pub(crate) mod links;
mod prose;
mod sizes;
mod sources;
mod texts;
mod vocabulary;

use std::fmt;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::repository;

/// Something that is not as it should be.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// From the root of the repository.
    path: String,
    line: usize,
    what: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Prints all findings and fails if there are any.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    ensure!(arguments.is_empty(), "takes no arguments");
    let metadata = repository::metadata()?;
    let metadata = serde_json::from_str(&metadata).context("`cargo metadata` has an unknown form")?;
    let files = repository::files()?;
    let exists = |path: &str| repository::root().join(path).exists();

    let mut findings = arrows::check(&metadata, &files);
    findings.extend(chapters::check(&files));
    findings.extend(layers::check(&files));
    findings.extend(prose::check(&files));
    findings.extend(sizes::check(&files));
    findings.extend(sources::check(&files));
    findings.extend(texts::check(&files));
    findings.extend(vocabulary::check(&files));
    findings.extend(links::check(&files, exists));
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
