//! What a host has to start.

use std::path::{Path, PathBuf};

use anyhow::Context;
use engine::adapter::{Host as _, Machine};
use tools::CommandLine;

use super::entry::NAME;
use super::hosts::Scope;
use super::start::{self, Start};
use crate::setup::cli_error;

/// The words before `serve`; a given command may also have it, and options after it.
pub(crate) fn words(given: Option<&str>, scope: &Scope) -> anyhow::Result<Vec<String>> {
    if let Some(given) = given {
        let next = "no shell runs it; put such a word in single quotes";
        let words = CommandLine::from(given).words(next).map_err(cli_error)?;
        anyhow::ensure!(!words.is_empty(), "`--command` is empty; give the command that starts stillframe");
        if let Some(other) = start::other_command(&words) {
            anyhow::ensure!(!other.starts_with('-'), "`--command` has `{other}`; put `serve` before it");
            anyhow::bail!(
                "`--command` starts `{other}` and not the server; leave out `{other}` and what follows it"
            );
        }
        anyhow::ensure!(
            !Start::of(&words).takes_options(),
            "`--command` lets npm take options of the server for its own; write `npm exec -- {NAME}`"
        );
        return Ok(words);
    }
    let program = std::env::current_exe().context("cannot find out where stillframe is installed")?;
    let on_path = Machine.which(NAME).filter(|found| is_same(found, &program));
    Ok(choose(&program, on_path, scope))
}

/// Whether a program is stillframe under another name: a link to it, or a copy of this one.
pub(super) fn is_stillframe(program: &str) -> bool {
    let found = Machine.which(program).and_then(|found| found.canonicalize().ok());
    let Some((found, this)) = found.zip(std::env::current_exe().ok()) else { return false };
    let is_named = found.file_name().and_then(|name| name.to_str()).is_some_and(start::is_program);
    is_named || is_same(&found, &this) || is_copy(&found, &this)
}

fn is_copy(one: &Path, other: &Path) -> bool {
    let length = |path: &Path| std::fs::metadata(path).map(|found| found.len()).ok();
    length(one) == length(other)
        && matches!((std::fs::read(one), std::fs::read(other)), (Ok(one), Ok(other)) if one == other)
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// A project's file is read on other machines too, and gets the name. In a user's file, the path works also for a
/// host that was not started from a shell, and so has another `PATH`.
fn choose(program: &Path, on_path: Option<PathBuf>, scope: &Scope) -> Vec<String> {
    let has = |part: &str| program.components().any(|component| component.as_os_str() == part);
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    if has("_npx") {
        // npx removes what it keeps there.
        return words(&["npx", "-y", NAME]);
    }
    if has("uv") && has("archive-v0") || has("pipx") && has(".cache") {
        return words(&["uvx", NAME]);
    }
    match scope {
        Scope::Project(_) => words(&[NAME]),
        Scope::User => vec![on_path.unwrap_or_else(|| program.to_owned()).display().to_string()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_chosen_that_works_later_too() {
        let project = Scope::Project(PathBuf::from("/p"));
        let rows: &[(&str, Option<&str>, &Scope, &str)] = &[
            ("/opt/stillframe", None, &Scope::User, "/opt/stillframe"),
            ("/opt/v1/stillframe", Some("/usr/bin/stillframe"), &Scope::User, "/usr/bin/stillframe"),
            ("/opt/stillframe", None, &project, "stillframe"),
            (
                "/home/ann/.npm/_npx/1a2b/node_modules/@stillframe/linux-x64/stillframe",
                None,
                &project,
                "npx -y stillframe",
            ),
            ("/home/ann/.cache/uv/archive-v0/x1/bin/stillframe", None, &Scope::User, "uvx stillframe"),
        ];
        for (program, on_path, scope, expected) in rows {
            let chosen = choose(Path::new(program), on_path.map(PathBuf::from), scope);
            assert_eq!(chosen.join(" "), *expected);
        }
    }
}
