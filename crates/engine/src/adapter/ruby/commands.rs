//! Command lines of Ruby.

use std::path::{Path, PathBuf};

use super::{Ruby, interpreter};
use crate::adapter::commands::{CommandFile, CommandProblem, Commands, ProcessCommand};
use crate::model::launch::{Launch, Program};

/// Options of the interpreter that take the next word.
const WITH_VALUE: [&str; 8] = ["-I", "-r", "-C", "-E", "-K", "-F", "--encoding", "--external-encoding"];

const FORM: &str =
    "for a breakpoint in Ruby it is `ruby FILE ARGS`, or a command such as `bundle exec rspec` or `rake`";

impl Commands for Ruby {
    fn of_interpreter(
        &self,
        name: &str,
        words: Vec<String>,
        folder: &Path,
    ) -> Option<Result<Launch, CommandProblem>> {
        interpreter::is_ruby(Path::new(name)).then(|| launch_of(words, folder))
    }

    fn is_any_interpreter(&self, name: &str) -> bool {
        name == "ruby"
    }

    /// Programs of gems run under whichever Ruby their first line names, and start others: they are run as they are.
    fn of_file(&self, file: &CommandFile, args: Vec<String>) -> Option<(Option<PathBuf>, Launch)> {
        let interpreter = file.interpreter.as_deref()?;
        let is_ruby =
            interpreter.split_whitespace().take(2).any(|word| interpreter::is_ruby(Path::new(word)));
        is_ruby.then(|| (Some(file.path.clone()), Launch { args, ..Launch::new(Program::Command) }))
    }

    fn main_file(&self, process: &ProcessCommand) -> Option<PathBuf> {
        if !interpreter::is_ruby(&process.executable) {
            return None;
        }
        let script = script(&process.words).and_then(|at| process.words.get(at));
        Some(script.map_or_else(|| process.folder.clone(), |script| process.folder.join(script)))
    }

    fn variables(&self) -> &'static [&'static str] {
        &["RUBY", "GEM_", "BUNDLE_", "RUBYOPT"]
    }

    fn folders(&self) -> &'static [&'static str] {
        &["bin"]
    }

    fn install_hint(&self, name: &str) -> Option<&'static str> {
        match name {
            "rspec" => Some("install it with `gem install rspec`, or run it with `bundle exec rspec`"),
            "rake" | "bundle" => Some("install it with `gem install rake bundler`"),
            _ => None,
        }
    }
}

/// Where the script is among the words of an interpreter.
fn script(words: &[String]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if WITH_VALUE.contains(&word.as_str()) {
            at += 2;
        } else if word == "-e" || word == "-" || word == "-S" {
            return None;
        } else if word.starts_with('-') {
            at += 1;
        } else {
            return Some(at);
        }
    }
    None
}

fn launch_of(mut words: Vec<String>, folder: &Path) -> Result<Launch, CommandProblem> {
    if let Some(at) = words.iter().position(|word| word == "-S")
        && at + 1 < words.len()
        && words.iter().take(at).all(|word| word.starts_with('-'))
    {
        let args = words.split_off(at + 2);
        let name = words.pop().unwrap_or_default();
        words.pop();
        return Ok(Launch { args, runtime_args: words, ..Launch::new(Program::Module(name)) });
    }
    let Some(at) = script(&words) else {
        return Err(CommandProblem { problem: "names no script".to_owned(), next: FORM });
    };
    let args = words.split_off(at + 1);
    let path = folder.join(words.pop().unwrap_or_default());
    Ok(Launch { args, runtime_args: words, ..Launch::new(Program::Script(path)) })
}
