//! Command lines of PHP.

use std::path::{Path, PathBuf};

use super::{Php, interpreter};
use crate::adapter::commands::{CommandFile, CommandProblem, Commands, ProcessCommand};
use crate::model::launch::{Launch, Program};

/// Options of the interpreter that take the next word.
const WITH_VALUE: [&str; 9] = ["-d", "-c", "-z", "-t", "-B", "-R", "-F", "-E", "--define"];

const FORM: &str = "for a breakpoint in PHP it is `php FILE ARGS`, `php -S ADDRESS`, or a command such as `vendor/bin/phpunit`";

impl Commands for Php {
    fn of_interpreter(
        &self,
        name: &str,
        words: Vec<String>,
        folder: &Path,
    ) -> Option<Result<Launch, CommandProblem>> {
        interpreter::is_php(Path::new(name)).then(|| launch_of(words, folder))
    }

    fn is_any_interpreter(&self, name: &str) -> bool {
        name == "php"
    }

    /// A script whose first line names PHP, such as those of Composer's packages.
    fn of_file(&self, file: &CommandFile, args: Vec<String>) -> Option<(Option<PathBuf>, Launch)> {
        let interpreter = file.interpreter.as_deref()?;
        let is_php = interpreter.split_whitespace().take(2).any(|word| interpreter::is_php(Path::new(word)));
        is_php.then(|| (None, Launch { args, ..Launch::new(Program::Script(file.path.clone())) }))
    }

    fn main_file(&self, process: &ProcessCommand) -> Option<PathBuf> {
        if !interpreter::is_php(&process.executable) {
            return None;
        }
        let script = script(&process.words).and_then(|at| process.words.get(at));
        Some(script.map_or_else(|| process.folder.clone(), |script| process.folder.join(script)))
    }

    fn variables(&self) -> &'static [&'static str] {
        &["PHP_INI_SCAN_DIR", "PHPRC", "XDEBUG_", "COMPOSER_"]
    }

    fn folders(&self) -> &'static [&'static str] {
        &["vendor/bin", "bin"]
    }

    fn install_hint(&self, name: &str) -> Option<&'static str> {
        match name {
            "phpunit" => Some("install it with `composer require --dev phpunit/phpunit`"),
            "composer" => Some("install it with `apt-get install composer`"),
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
        } else if word == "-f" || word == "--" {
            return words.get(at + 1).map(|_| at + 1);
        } else if word == "-r" || word == "-" || word.starts_with("-S") {
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
    if words.iter().any(|word| word.starts_with("-S") || word == "-r") && script(&words).is_none() {
        return Ok(Launch { runtime_args: words, ..Launch::new(Program::Command) });
    }
    let Some(at) = script(&words) else {
        return Err(CommandProblem { problem: "names no script".to_owned(), next: FORM });
    };
    let args = words.split_off(at + 1);
    let path = folder.join(words.pop().unwrap_or_default());
    words.retain(|word| word != "-f" && word != "--");
    Ok(Launch { args, runtime_args: words, ..Launch::new(Program::Script(path)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_an_interpreter_are_a_launch() {
        let launch = |words: &str| launch_of(words.split(' ').map(str::to_owned).collect(), Path::new("/a"));
        let script = launch("-d memory_limit=1G -f app.php x").unwrap();
        assert_eq!(script.program, Program::Script("/a/app.php".into()));
        assert_eq!(
            (script.runtime_args, script.args),
            (vec!["-d".to_owned(), "memory_limit=1G".to_owned()], vec!["x".to_owned()])
        );
        let server = launch("-S 127.0.0.1:8000 router.php").unwrap();
        assert_eq!((server.program, server.runtime_args.len()), (Program::Command, 3));
        assert!(launch("-v").is_err());
    }
}
