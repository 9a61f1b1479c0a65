//! Commands that run Node.js.

use std::path::{Path, PathBuf};

use engine::adapter::node::{Node, names_code, takes_next_word};
use engine::model::launch::{Launch, Program};

use super::ResolvedCommand;

/// Options with which Node runs something that is neither a script nor in the command line.
const ALONE: [&str; 2] = ["--test", "--run"];
/// Programs that start Node without being scripts of it.
const STARTERS: [&str; 8] = ["npm", "npx", "pnpm", "pnpx", "yarn", "corepack", "sh", "bash"];

/// Whether a command is Node, by its name: `node`, `nodejs`, `node22`.
pub(super) fn is_node(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("node") else { return false };
    let rest = rest.strip_prefix("js").unwrap_or(rest);
    rest.chars().all(|letter| letter.is_ascii_digit() || "-_v.".contains(letter))
}

/// Whether a command ends in Node although it is no script of it.
pub(super) fn starts_node(name: &str) -> bool {
    STARTERS.contains(&name)
}

/// `node --import tsx app.ts`, `node --test`.
pub(super) fn with_node(executable: PathBuf, words: Vec<String>, folder: &Path) -> ResolvedCommand {
    let mut words = words.into_iter();
    let mut options = Vec::new();
    while let Some(word) = words.next() {
        if names_code(&word) || ALONE.contains(&word.split('=').next().unwrap_or_default()) {
            options.push(word);
            options.extend(words);
            return (&Node, Some(executable), with(options, Program::Command, Vec::new()));
        }
        if !word.starts_with('-') || word == "-" {
            let program = Program::Script(folder.join(word));
            return (&Node, Some(executable), with(options, program, words.collect()));
        }
        let takes_value = takes_next_word(&word);
        options.push(word);
        if takes_value {
            options.extend(words.next());
        }
    }
    (&Node, Some(executable), with(options, Program::Command, Vec::new()))
}

/// A command that starts Node by itself.
pub(super) fn command(path: PathBuf, args: Vec<String>) -> ResolvedCommand {
    (&Node, Some(path), with(args, Program::Command, Vec::new()))
}

fn with(runtime_args: Vec<String>, program: Program, args: Vec<String>) -> Launch {
    Launch { runtime_args, args, ..Launch::new(program) }
}
