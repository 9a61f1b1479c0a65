//! Modules and packages that a start names without a path, as interpreters find them. The file that is found may be a link
//! out of the allowed folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Host;
use super::commands::{self, names_files};
use crate::error::Result;
use crate::model::launch::{Launch, Program};
use crate::safety::{self, Safety};

/// Where names are looked up.
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'a> {
    /// The machine.
    pub host: &'a dyn Host,
    /// The working folder.
    pub folder: &'a Path,
    /// The requested interpreter.
    pub executable: Option<&'a Path>,
    env: &'a BTreeMap<String, Option<String>>,
}

/// A file or folder that a name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The folder in which the search found it.
    pub base: PathBuf,
    /// It, or something on the way to it.
    pub path: PathBuf,
}

impl Lookup<'_> {
    /// The folders in a variable of the program's environment.
    pub fn folders_in(&self, variable: &str) -> Vec<PathBuf> {
        let value = self.host.env_with(self.env, variable).filter(|value| !value.is_empty());
        value
            .iter()
            .flat_map(|value| std::env::split_paths(value))
            .map(|path| self.folder.join(path))
            .collect()
    }
}

/// Whether there is something, even a link that leads nowhere.
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Refuses to start a program that must not be, by its path or by its name.
pub fn check_launch(
    safety: &Safety,
    host: &dyn Host,
    executable: Option<&Path>,
    launch: &Launch,
) -> Result<()> {
    safety.check_launch(host, executable, launch, names_files)?;
    if !safety.is_confined() {
        return Ok(());
    }
    let folder = launch.working_folder();
    let lookup = Lookup { host, folder: &folder, executable, env: &launch.env };
    if let Program::Script(path) = &launch.program
        && is_command(path)
    {
        safety.check_words(host, &folder, launch.args.iter().map(String::as_str))?;
    }
    for (word, is_name) in words(launch) {
        for part in safety::parts_of(word) {
            check_name(safety, &lookup, part, is_name)?;
        }
    }
    for (_, commands) in commands::all() {
        for path in commands.implicitly_loaded_files(&lookup, launch) {
            if path.parent().is_some_and(|folder| safety.check_path(folder).is_ok()) {
                safety.check_path(&path)?;
            }
        }
    }
    Ok(())
}

/// A word that is surely a name is refused when it is found outside first. Another one may be no name at all, so that only
/// links count that are inside and lead out.
fn check_name(safety: &Safety, lookup: &Lookup<'_>, name: &str, is_name: bool) -> Result<()> {
    for (_, commands) in commands::all() {
        let mut is_found = false;
        for file in commands.files_of_name(lookup, name) {
            let is_inside = safety.check_path(&file.base).is_ok();
            if is_inside || is_name && !is_found {
                safety.check_path(&file.path)?;
            }
            is_found |= is_inside;
        }
    }
    Ok(())
}

/// The words of a start that may be names, and whether they certainly are. The words after a script belong to the
/// script, unless it is a command that a package manager has installed.
fn words(launch: &Launch) -> Vec<(&str, bool)> {
    let mut words = Vec::new();
    let has_words = match &launch.program {
        Program::Module(name) => {
            words.push((name.as_str(), true));
            true
        }
        Program::Script(path) => is_command(path),
        Program::Package(_) => false,
        Program::Command => true,
    };
    let args: &[String] = if has_words { &launch.args } else { &[] };
    let mut is_name = false;
    for word in launch.runtime_args.iter().chain(args) {
        let option = word.split('=').next().unwrap_or_default();
        let takes_name = commands::all().any(|(_, commands)| commands.names_follow(option));
        words.push((word, is_name || takes_name && option != word));
        is_name = takes_name && option == word;
    }
    let variables = launch.env.iter().filter(|(name, _)| names_files(name));
    words.extend(variables.filter_map(|(_, value)| Some((value.as_deref()?, false))));
    words
}

/// Whether a script is a command of a project: `.venv/bin/uvicorn`.
fn is_command(script: &Path) -> bool {
    let folder = script.parent();
    folder.is_some_and(|folder| {
        commands::all().flat_map(|(_, commands)| commands.folders()).any(|end| folder.ends_with(end))
    })
}
