//! Command lines of Node.js.

use std::path::{Path, PathBuf};

use super::{Node, names_code, resolution, takes_next_word};
use crate::adapter::by_name::{Lookup, NamedFile};
use crate::adapter::commands::{CommandFile, CommandProblem, Commands, ProcessCommand};
use crate::model::launch::{Launch, Program};

/// Options with which Node runs something that is neither a script nor in the command line.
const ALONE: [&str; 2] = ["--test", "--run"];
/// Programs that start Node without being scripts of it.
const STARTERS: [&str; 8] = ["npm", "npx", "pnpm", "pnpx", "yarn", "corepack", "sh", "bash"];

impl Commands for Node {
    /// `node --import tsx app.ts`, `node --test`.
    fn of_interpreter(
        &self,
        name: &str,
        words: Vec<String>,
        folder: &Path,
    ) -> Option<Result<Launch, CommandProblem>> {
        let rest = name.strip_prefix("node")?;
        let rest = rest.strip_prefix("js").unwrap_or(rest);
        let is_version = rest.chars().all(|letter| letter.is_ascii_digit() || "-_v.".contains(letter));
        is_version.then(|| Ok(launch_of(words, folder)))
    }

    fn of_file(&self, file: &CommandFile, args: Vec<String>) -> Option<(Option<PathBuf>, Launch)> {
        let is_script = file.interpreter.as_ref().is_some_and(|line| line.contains("node"));
        let starts_node = is_script || STARTERS.contains(&file.name.as_str());
        starts_node.then(|| (Some(file.path.clone()), with(args, Program::Command, Vec::new())))
    }

    fn main_file(&self, process: &ProcessCommand) -> Option<PathBuf> {
        process.name().starts_with("node").then(|| main_file(process))
    }

    fn variables(&self) -> &'static [&'static str] {
        &["NODE_", "npm_config_", "NPM_CONFIG_", "TS_NODE_", "TSX_"]
    }

    fn folders(&self) -> &'static [&'static str] {
        &["node_modules/.bin"]
    }

    fn names_follow(&self, option: &str) -> bool {
        matches!(option, "-r" | "--require" | "--import" | "--loader" | "--experimental-loader")
    }

    fn files_of_name(&self, lookup: &Lookup<'_>, name: &str) -> Vec<NamedFile> {
        resolution::files(lookup, name)
    }

    fn install_hint(&self, name: &str) -> Option<&'static str> {
        matches!(name, "jest" | "vitest" | "mocha" | "tsx" | "ts-node")
            .then_some("install it with `npm install --save-dev`, in the folder given as `cwd`")
    }
}

/// What Node runs by its words.
fn launch_of(words: Vec<String>, folder: &Path) -> Launch {
    let mut words = words.into_iter();
    let mut options = Vec::new();
    while let Some(word) = words.next() {
        if names_code(&word) || ALONE.contains(&word.split('=').next().unwrap_or_default()) {
            options.push(word);
            options.extend(words);
            return with(options, Program::Command, Vec::new());
        }
        if !word.starts_with('-') || word == "-" {
            return with(options, Program::Script(folder.join(word)), words.collect());
        }
        let takes_value = takes_next_word(&word);
        options.push(word);
        if takes_value {
            options.extend(words.next());
        }
    }
    with(options, Program::Command, Vec::new())
}

fn with(runtime_args: Vec<String>, program: Program, args: Vec<String>) -> Launch {
    Launch { args, runtime_args, ..Launch::new(program) }
}

fn main_file(process: &ProcessCommand) -> PathBuf {
    let mut words = process.words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if names_code(word) || word == "-" {
            break;
        }
        if takes_next_word(word) {
            words.next();
        } else if !word.starts_with('-') {
            return process.folder.join(word);
        }
    }
    process.folder.clone()
}
