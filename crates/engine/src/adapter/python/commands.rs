//! Command lines of Python.

use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use super::{Python, modules};
use crate::adapter::by_name::{Lookup, NamedFile};
use crate::adapter::commands::{CommandFile, CommandProblem, Commands, ProcessCommand, Wrapper};
use crate::model::launch::{Launch, Program};

/// What a command must be that is taken apart.
pub const COMMAND_FORM: &str = "for a breakpoint in Python, use `python FILE ARGS` or `python -m MODULE \
                                ARGS`, after NAME=value if needed, without pipes, `&&`, redirections or \
                                variables";
/// Options that take the next word.
const WITH_VALUE: [&str; 3] = ["-X", "-W", "--check-hash-based-pycs"];
/// The same for one letter, which may be glued to others.
const LETTERS_WITH_VALUE: [char; 3] = ['W', 'X', 'Q'];
/// Options of debugpy's command line that take the next word (debugpy 1.8, `server/cli.py`). So do `--configure-*`.
const OF_DEBUGPY: [&str; 6] =
    ["--listen", "--connect", "--log-to", "--adapter-access-token", "--parent-session-pid", "--pid"];
/// Commands that are modules: what their script does is `python -m`.
const MODULES: [(&str, &str); 2] = [("pytest", "pytest"), ("py.test", "pytest")];

/// Commands that run another one in the project's environment, which is found without them.
const WRAPPERS: [Wrapper; 7] = [
    Wrapper { words: ["uv", "run"], options: &OF_UV, module: Some("python") },
    wrapper("poetry"),
    wrapper("pipenv"),
    wrapper("hatch"),
    wrapper("pdm"),
    wrapper("rye"),
    wrapper("pixi"),
];
/// Those of `uv run` (uv 0.13) that only say how the environment is brought up to date, or what is printed.
const OF_UV: [&str; 27] = [
    "--all-extras",
    "--all-groups",
    "--cache-dir=",
    "--color=",
    "--dev",
    "--exact",
    "--extra=",
    "--frozen",
    "--group=",
    "--locked",
    "--managed-python",
    "--no-config",
    "--no-default-groups",
    "--no-dev",
    "--no-env-file",
    "--no-extra=",
    "--no-group=",
    "--no-managed-python",
    "--no-progress",
    "--no-sync",
    "--offline",
    "--only-dev",
    "--quiet",
    "-q",
    "--upgrade",
    "--verbose",
    "-v",
];

const fn wrapper(name: &'static str) -> Wrapper {
    Wrapper { words: [name, "run"], options: &[], module: None }
}

impl Commands for Python {
    /// `python -u app.py`, `python3 -m pytest`.
    fn of_interpreter(
        &self,
        name: &str,
        words: Vec<String>,
        folder: &Path,
    ) -> Option<Result<Launch, CommandProblem>> {
        let rest = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"))?;
        let is_version = rest.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
        is_version.then(|| launch_of(words, folder))
    }

    fn is_any_interpreter(&self, name: &str) -> bool {
        matches!(name, "python" | "python3")
    }

    fn of_file(&self, file: &CommandFile, args: Vec<String>) -> Option<(Option<PathBuf>, Launch)> {
        let module = MODULES.iter().find(|(command, _)| *command == file.name).map(|(_, module)| module);
        let interpreter: PathBuf = match &file.interpreter {
            Some(line) if line.contains("python") => {
                let mut words = line.split_whitespace();
                let first = words.next().unwrap_or_default();
                if first.ends_with("/env") { words.next().unwrap_or(first) } else { first }.into()
            }
            // A wrapper of a version manager, say: of the interpreters, that of its own folder has the module.
            _ if module.is_some() => file.path.with_file_name("python"),
            _ => return None,
        };
        let program =
            module.map_or(Program::Script(file.path.clone()), |name| Program::Module((*name).to_owned()));
        let executable =
            Some(interpreter).filter(|path| !path.to_str().is_some_and(|name| self.is_any_interpreter(name)));
        Some((executable, Launch { args, ..Launch::new(program) }))
    }

    fn main_file(&self, process: &ProcessCommand) -> Option<PathBuf> {
        let is_python = ["python", "pypy"].iter().any(|start| process.name().starts_with(start));
        is_python.then(|| main_file(process))
    }

    /// The port of `debugpy.listen` is held by a process of its own, to which the program is connected (debugpy 1.8,
    /// `adapter/__main__.py`).
    fn is_relay(&self, words: &[String]) -> bool {
        words.iter().any(|word| word == "--for-server")
    }

    fn variables(&self) -> &'static [&'static str] {
        &["PYTHON", "PYTEST_", "PYENV_", "PYDEVD_", "DEBUGPY_", "VIRTUAL_ENV", "COVERAGE_"]
    }

    fn wrappers(&self) -> &'static [Wrapper] {
        &WRAPPERS
    }

    fn folders(&self) -> &'static [&'static str] {
        &[".venv/bin", "venv/bin", ".pixi/envs/default/bin"]
    }

    fn names_follow(&self, option: &str) -> bool {
        matches!(option, "-m" | "-p")
    }

    fn files_of_name(&self, lookup: &Lookup<'_>, name: &str) -> Vec<NamedFile> {
        modules::files(lookup, name)
    }

    fn implicitly_loaded_files(&self, lookup: &Lookup<'_>, launch: &Launch) -> Vec<PathBuf> {
        modules::implicitly_loaded_files(lookup, launch)
    }

    fn install_hint(&self, name: &str) -> Option<&'static str> {
        MODULES.iter().any(|(command, _)| *command == name).then_some(
            "install it with `pip install pytest`, or use the interpreter that has it: `python -m pytest`",
        )
    }
}

/// What an interpreter runs by its words. Relative paths are of `folder`.
pub fn launch_of(words: Vec<String>, folder: &Path) -> Result<Launch, CommandProblem> {
    let mut words = words.into_iter().peekable();
    let (runtime_args, mut program) = program(&mut words)?;
    let mut script_as_given = None;
    if let Program::Script(path) = &mut program {
        script_as_given = Some(path.display().to_string());
        *path = folder.join(&*path);
    }
    Ok(Launch { script_as_given, args: words.collect(), runtime_args, ..Launch::new(program) })
}

/// The options of the interpreter, and what it runs, as written. The remaining words stay.
fn program(words: &mut Peekable<IntoIter<String>>) -> Result<(Vec<String>, Program), CommandProblem> {
    let nothing = |problem: &str| Err(CommandProblem { problem: problem.to_owned(), next: COMMAND_FORM });
    let mut options = Vec::new();
    loop {
        match words.next() {
            None => return nothing("names no script and no module"),
            Some(option) if option == "-m" => match words.next() {
                Some(module) => return Ok((options, Program::Module(module))),
                None => return nothing("names no module after `-m`"),
            },
            Some(option) if option == "-c" || option == "-" => {
                return Err(CommandProblem {
                    problem: format!("has `{option}`, so there is no file to stop in"),
                    next: "write the code to a file and run it: `python FILE ARGS`",
                });
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

fn main_file(process: &ProcessCommand) -> PathBuf {
    let mut words = process.words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if word == "--check-hash-based-pycs" {
            words.next();
        }
        if word.starts_with("--") {
            continue;
        }
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            return if word == "-" { process.folder.clone() } else { process.folder.join(word) };
        };
        let ends_options = |letter| LETTERS_WITH_VALUE.contains(&letter) || matches!(letter, 'c' | 'm');
        let Some(at) = letters.find(ends_options) else { continue };
        let (option, glued) = letters.split_at(at).1.split_at(1);
        let value = if glued.is_empty() { words.next() } else { Some(glued) };
        match (option, value) {
            ("c", _) => break,
            ("m", Some("debugpy")) => return behind_debugpy(words, process),
            ("m", Some(module)) => return module_file(module, process),
            _ => {}
        }
    }
    process.folder.clone()
}

fn behind_debugpy<'w>(mut words: impl Iterator<Item = &'w str>, process: &ProcessCommand) -> PathBuf {
    while let Some(word) = words.next() {
        match word {
            "-c" => break,
            "-m" => {
                return words.next().map_or(process.folder.clone(), |name| module_file(name, process));
            }
            _ if OF_DEBUGPY.contains(&word) || word.starts_with("--configure-") => {
                words.next();
            }
            _ if word.starts_with('-') => {}
            _ => return process.folder.join(word),
        }
    }
    process.folder.clone()
}

/// Where a module is found first. One that is installed has no place of its own.
fn module_file(name: &str, process: &ProcessCommand) -> PathBuf {
    let path = name.replace('.', "/");
    let search = process.folders_in("PYTHONPATH");
    let folders = std::iter::once(process.folder.clone())
        .chain(search.iter().map(|folder| process.folder.join(folder)));
    let places = folders.flat_map(|folder| [folder.join(format!("{path}.py")), folder.join(&path)]);
    places.into_iter().find(|place| place.exists()).unwrap_or_else(|| process.folder.clone())
}
