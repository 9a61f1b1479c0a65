//! Commands that run Python.

use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use engine::adapter::python::Python;
use engine::model::launch::{Launch, Program};

use super::ResolvedCommand;
use crate::ToolError;

/// Options of Python that take the next word.
const WITH_VALUE: [&str; 3] = ["-X", "-W", "--check-hash-based-pycs"];
/// Commands that are modules: what their script does is `python -m`.
const MODULES: [(&str, &str); 2] = [("pytest", "pytest"), ("py.test", "pytest")];

/// Whether a command is an interpreter, by its name.
pub(super) fn is_python(name: &str) -> bool {
    let rest = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    rest.is_some_and(|rest| rest.chars().all(|letter| letter.is_ascii_digit() || letter == '.'))
}

/// `python -u app.py`, `python3 -m pytest`.
pub(super) fn with_interpreter(
    executable: PathBuf,
    words: Vec<String>,
    folder: &Path,
) -> Result<ResolvedCommand, ToolError> {
    Ok((&Python, Some(executable), launch(&mut words.into_iter().peekable(), folder)?))
}

/// What an interpreter is told to run by its words. Paths are of `folder`.
pub(crate) fn launch(words: &mut Peekable<IntoIter<String>>, folder: &Path) -> Result<Launch, ToolError> {
    let (runtime_args, mut program) = program(words)?;
    if let Program::Script(path) = &mut program {
        *path = folder.join(&*path);
    }
    Ok(Launch { args: words.collect(), runtime_args, ..Launch::new(program) })
}

/// A script that an installer made; `line` names its interpreter.
pub(super) fn script(name: &str, path: PathBuf, line: &str, args: Vec<String>) -> ResolvedCommand {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let interpreter = if first.ends_with("/env") { words.next().unwrap_or(first) } else { first };
    let module = MODULES.iter().find(|(command, _)| *command == name);
    let program = module.map_or(Program::Script(path), |(_, module)| Program::Module((*module).to_owned()));
    (&Python, Some(interpreter.into()), Launch { args, ..Launch::new(program) })
}

/// Whether a command is known to run a module of Python.
pub(super) fn is_module(name: &str) -> bool {
    MODULES.iter().any(|(command, _)| *command == name)
}

/// A command that runs a module, of which it is not said which interpreter has it: that of its own folder.
pub(super) fn beside(name: &str, path: &Path, args: Vec<String>) -> ResolvedCommand {
    script(name, path.to_owned(), &path.with_file_name("python").to_string_lossy(), args)
}

/// The options of the interpreter, and what it runs, as it is written. The words behind that are left.
fn program(words: &mut Peekable<IntoIter<String>>) -> Result<(Vec<String>, Program), ToolError> {
    let mut options = Vec::new();
    loop {
        match words.next() {
            None => return Err(ToolError::python_command("names no script and no module")),
            Some(option) if option == "-m" => match words.next() {
                Some(module) => return Ok((options, Program::Module(module))),
                None => return Err(ToolError::python_command("names no module after `-m`")),
            },
            Some(option) if option == "-c" || option == "-" => {
                return Err(ToolError::python_without_file(&option));
            }
            Some(option) if option.starts_with('-') => {
                let takes_value = WITH_VALUE.contains(&option.as_str());
                options.push(option);
                options.extend(words.next_if(|_| takes_value));
            }
            Some(script) => return Ok((options, Program::Script(script.into()))),
        }
    }
}
