//! Command lines of Cargo, and binaries that rustc has made.

use std::path::{Path, PathBuf};

use super::Rust;
use crate::adapter::commands::{CommandFile, CommandProblem, Commands, ProcessCommand};
use crate::adapter::native::{Elf, is_go};
use crate::host::Machine;
use crate::model::launch::{Launch, Program};

/// Options of Cargo with a value after them.
const WITH_VALUES: &str = "-p --package --bin --example --test --bench -F --features --target --target-dir --manifest-path \
                           --profile -j --jobs --config --color --message-format -Z --exclude -C";

impl Commands for Rust {
    fn of_interpreter(
        &self,
        name: &str,
        words: Vec<String>,
        folder: &Path,
    ) -> Option<Result<Launch, CommandProblem>> {
        (name == "cargo").then(|| of_cargo(words, folder))
    }

    /// Cargo is not a debugger, which is what an executable of this language would be.
    fn is_any_interpreter(&self, _name: &str) -> bool {
        true
    }

    fn of_file(&self, file: &CommandFile, args: Vec<String>) -> Option<(Option<PathBuf>, Launch)> {
        let launch = Launch { args, ..Launch::new(Program::Script(file.path.clone())) };
        (file.is_binary && is_rust(&file.path)).then_some((None, launch))
    }

    fn main_file(&self, process: &ProcessCommand) -> Option<PathBuf> {
        is_rust(&process.executable).then(|| process.executable.clone())
    }

    fn install_hint(&self, name: &str) -> Option<&'static str> {
        (name == "cargo").then_some("install Rust with rustup (https://rustup.rs) or `apt-get install cargo`")
    }
}

/// rustc names its formatters for gdb in every binary with debug information, as Go does.
fn is_rust(binary: &Path) -> bool {
    Elf::read(&Machine, binary).is_some_and(|elf| elf.has(".debug_gdb_scripts")) && !is_go(binary)
}

/// `cargo run --bin shop -- words`, `cargo test --lib filter -- words`: the words of Cargo stay together, and the
/// others are the program's.
fn of_cargo(words: Vec<String>, folder: &Path) -> Result<Launch, CommandProblem> {
    let known = ["run", "r", "test", "t", "build", "b", "bench"];
    let (mut runtime_args, mut args) = (Vec::new(), Vec::new());
    let mut words = words.into_iter();
    let mut command = None;
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if command.is_none() && known.contains(&word.as_str()) {
            command = Some(word.clone());
        } else if command.is_some() && !word.starts_with(['-', '+']) {
            args.push(word);
            continue;
        }
        let has_value = WITH_VALUES.split(' ').any(|known| known == word);
        runtime_args.push(word);
        runtime_args.extend(has_value.then(|| words.next()).flatten());
    }
    args.extend(words);
    if command.is_none() {
        return Err(CommandProblem {
            problem: "is not a Cargo command that runs a program".to_owned(),
            next: "use `cargo run` or `cargo test`, with `--bin`, `--example` or `--test` to choose a target",
        });
    }
    Ok(Launch { args, runtime_args, ..Launch::new(Program::Package(folder.to_owned())) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_arguments_are_separated_from_program_arguments() {
        let table = [
            ("run --bin shop -- a --b", "run --bin shop", "a --b"),
            ("test -p shop --lib totals -- --exact", "test -p shop --lib", "totals --exact"),
            ("run --release a", "run --release", "a"),
            ("+nightly test", "+nightly test", ""),
        ];
        for (typed, cargo, program) in table {
            let words = typed.split_whitespace().map(str::to_owned).collect();
            let launch = of_cargo(words, Path::new("/shop")).unwrap();
            let split = |words: &str| words.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!((launch.runtime_args, launch.args), (split(cargo), split(program)), "{typed}");
            assert_eq!(launch.program, Program::Package("/shop".into()));
        }
        assert!(of_cargo(vec!["check".to_owned()], Path::new("/shop")).is_err());
    }
}
