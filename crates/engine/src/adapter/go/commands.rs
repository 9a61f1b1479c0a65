//! Command lines: `go run`, `go test`, and binaries.

use std::path::{Path, PathBuf};

use super::super::commands::{CommandFile, CommandProblem, Commands, ProcessCommand};
use super::super::native::is_go;
use super::Go;
use crate::model::launch::{Launch, Program};

impl Commands for Go {
    /// `go run .`, `go test ./cart -run TestTotal`.
    fn of_interpreter(
        &self,
        name: &str,
        words: Vec<String>,
        folder: &Path,
    ) -> Option<Result<Launch, CommandProblem>> {
        if name != "go" {
            return None;
        }
        if !matches!(words.first().map(String::as_str), Some("run" | "test")) {
            return Some(Err(CommandProblem {
                problem: "does not run a program".to_owned(),
                next: "for a breakpoint in Go, use `go run PACKAGE ARGS` or `go test PACKAGE`",
            }));
        }
        let launch = Launch { runtime_args: words, ..Launch::new(Program::Package(folder.to_owned())) };
        Some(Ok(launch))
    }

    fn is_any_interpreter(&self, name: &str) -> bool {
        name == "go"
    }

    fn of_file(&self, file: &CommandFile, args: Vec<String>) -> Option<(Option<PathBuf>, Launch)> {
        let launch = Launch { args, ..Launch::new(Program::Script(file.path.clone())) };
        (file.is_binary && is_go(&file.path)).then_some((None, launch))
    }

    fn main_file(&self, process: &ProcessCommand) -> Option<PathBuf> {
        is_go(&process.executable).then(|| process.executable.clone())
    }

    fn variables(&self) -> &'static [&'static str] {
        &["GOFLAGS", "GOROOT", "GOPATH", "GOENV", "GOWORK", "GOTOOLCHAIN"]
    }
}
