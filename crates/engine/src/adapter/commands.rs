//! What the command lines of a language mean: those that are typed, and those of processes that run.

use std::path::{Path, PathBuf};

use super::by_name::{Lookup, NamedFile};
use super::{ADAPTERS, Adapter, Host};
use crate::model::launch::{Endpoint, Launch, Program};
use crate::process;

/// A command that runs another one in the environment of a project, such as `uv run`.
#[derive(Debug)]
pub struct Wrapper {
    /// The words that it begins with.
    pub words: [&'static str; 2],
    /// Its options that do not change what is run, or in which environment. One with `=` at its end takes a value.
    pub options: &'static [&'static str],
    /// The command that `-m` is short for.
    pub module: Option<&'static str>,
}

/// Reads the command lines of a language.
pub trait Commands: Send + Sync {
    /// What the interpreter runs by its words; none when no interpreter of the language has that name. Relative paths
    /// are of `folder`.
    fn of_interpreter(
        &self,
        _name: &str,
        _words: Vec<String>,
        _folder: &Path,
    ) -> Option<Result<Launch, CommandProblem>> {
        None
    }

    /// Whether a command does not determine the interpreter: the project's is used, if it has one.
    fn is_any_interpreter(&self, _name: &str) -> bool {
        false
    }

    /// What another command runs, by its file: the executable, if it matters, and the launch. None when the command is
    /// not one of the language.
    fn of_file(&self, file: &CommandFile, args: Vec<String>) -> Option<(Option<PathBuf>, Launch)>;

    /// The main file of a process, whether it exists or not; the working folder when the program is in the command
    /// line. None when the process does not run the language.
    fn main_file(&self, process: &ProcessCommand) -> Option<PathBuf>;

    /// Whether a process with these words only passes messages between a debugger and a program.
    fn is_relay(&self, _words: &[String]) -> bool {
        false
    }

    /// How the names of environment variables begin that give code or files to programs of the language and to its
    /// tools.
    fn variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// Commands that run another one in the environment of a project.
    fn wrappers(&self) -> &'static [Wrapper] {
        &[]
    }

    /// Folders of a project that hold commands.
    fn folders(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether the word after this option, or its value, is the name of a module or package and nothing else.
    fn names_follow(&self, _option: &str) -> bool {
        false
    }

    /// The files that code of this name would be read from, of those that are there, in the order of the search.
    fn files_of_name(&self, _lookup: &Lookup<'_>, _name: &str) -> Vec<NamedFile> {
        Vec::new()
    }

    /// The files with code that a start reads without being asked to, such as settings and plugins.
    fn implicitly_loaded_files(&self, _lookup: &Lookup<'_>, _launch: &Launch) -> Vec<PathBuf> {
        Vec::new()
    }

    /// How to install a command.
    fn install_hint(&self, _name: &str) -> Option<&'static str> {
        None
    }
}

/// A command that does not say what to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandProblem {
    /// What is wrong, as in "`command` has two programs" without the first word.
    pub problem: String,
    /// What to write instead.
    pub next: &'static str,
}

/// The file of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFile {
    /// The command's name, without folders.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// The interpreter and its options, from a first line with `#!`.
    pub interpreter: Option<String>,
    /// It holds machine code.
    pub is_binary: bool,
}

impl CommandFile {
    /// Reads the beginning of the file.
    pub fn read(host: &dyn Host, name: &str, path: PathBuf) -> Self {
        let head = host.head(&path);
        let line = head.strip_prefix(b"#!").and_then(|rest| rest.split(|byte| *byte == b'\n').next());
        let interpreter = line.map(|line| String::from_utf8_lossy(line).trim().to_owned());
        Self { name: name.to_owned(), path, interpreter, is_binary: is_machine_code(&head) }
    }
}

/// Whether a file begins as an executable of Linux (ELF) or macOS (Mach-O, for one or several processors).
fn is_machine_code(head: &[u8]) -> bool {
    const MAGIC: [&[u8]; 3] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];
    MAGIC.iter().any(|magic| head.starts_with(magic))
}

/// The language of a program: by the extension of its file, by what is in its folder, by the interpreter in its first
/// line, or because it is a binary.
pub fn by_program(host: &dyn Host, path: &Path) -> Option<&'static dyn Adapter> {
    let is_package =
        |adapter: &&&dyn Adapter| matches!(adapter.program(host, path.to_owned()), Program::Package(_));
    let has_main_file = |adapter: &&&dyn Adapter| super::first_file(**adapter, path) != path;
    let by_folder =
        || ADAPTERS.iter().find(is_package).or_else(|| ADAPTERS.iter().find(has_main_file)).copied();
    super::by_extension(path).or_else(by_folder).or_else(|| {
        let name = path.file_name()?.to_string_lossy();
        let file = CommandFile::read(host, &name, path.to_owned());
        // A file with neither may have the name of a command, and be anything.
        let is_program = file.is_binary || file.interpreter.is_some();
        is_program.then(|| of_file(&file, &[]).map(|(adapter, ..)| adapter)).flatten()
    })
}

/// What the file of a command runs, in the first language that recognizes it.
pub fn of_file(
    file: &CommandFile,
    args: &[String],
) -> Option<(&'static dyn Adapter, Option<PathBuf>, Launch)> {
    all().find_map(|(adapter, commands)| {
        let (executable, launch) = commands.of_file(file, args.to_vec())?;
        Some((adapter, executable, launch))
    })
}

/// Every language that has commands.
pub fn all() -> impl Iterator<Item = (&'static dyn Adapter, &'static dyn Commands)> {
    ADAPTERS.iter().filter_map(|adapter| Some((*adapter, adapter.commands()?)))
}

/// Whether a variable gives code or files to the programs of some language.
pub fn names_files(variable: &str) -> bool {
    all().flat_map(|(_, commands)| commands.variables()).any(|start| variable.starts_with(start))
}

/// A process that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessCommand {
    /// Its program, links resolved.
    pub executable: PathBuf,
    /// What follows the name of the program.
    pub words: Vec<String>,
    /// Its working folder.
    pub folder: PathBuf,
    /// Its variables, as `NAME=value`.
    pub environment: Vec<String>,
}

impl ProcessCommand {
    /// A process of this machine. None if the system does not report it.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let of = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
        let texts = |name: &str| {
            let bytes = std::fs::read(of(name)).unwrap_or_default();
            let texts = bytes.split(|byte| *byte == 0).filter(|text| !text.is_empty());
            texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect::<Vec<String>>()
        };
        Some(Self {
            executable: std::fs::read_link(of("exe")).ok()?,
            words: texts("cmdline").into_iter().skip(1).collect(),
            folder: std::fs::read_link(of("cwd")).ok()?,
            environment: texts("environ"),
        })
    }

    /// The name of its program.
    pub(super) fn name(&self) -> &str {
        self.executable.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// A list of folders in its environment.
    pub(super) fn folders_in(&self, variable: &str) -> Vec<PathBuf> {
        let values = self.environment.iter().filter_map(|one| one.split_once('='));
        let value = values.filter(|(name, _)| *name == variable).map(|(_, value)| value).next();
        std::env::split_paths(value.unwrap_or_default()).collect()
    }
}

/// The main file of the program that is debugged there; the working folder of one whose code is in its command line.
/// None if it runs no supported language, or the system does not report it.
pub(crate) fn main_of(endpoint: &Endpoint) -> Option<PathBuf> {
    debuggee_of(endpoint).map(|(_, main)| main)
}

/// The process of this machine that is debugged there, with the same. What only passes messages on, such as a tunnel,
/// is none.
pub(crate) fn debuggee_of(endpoint: &Endpoint) -> Option<(u32, PathBuf)> {
    let pid = match endpoint {
        Endpoint::Process(pid) => *pid,
        Endpoint::Core { .. } => return None,
        Endpoint::Address { port, .. } => process::debuggee_at(*port, |pid| {
            let words = ProcessCommand::of(pid).map(|process| process.words).unwrap_or_default();
            all().any(|(_, commands)| commands.is_relay(&words))
        })?,
    };
    let process = ProcessCommand::of(pid)?;
    Some((pid, all().find_map(|(_, commands)| commands.main_file(&process))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_file_follows_options_and_their_values() {
        let base = tempfile::tempdir().unwrap();
        let (folder, library) = (base.path().join("work"), base.path().join("library"));
        for file in ["work/own.py", "library/far.py"] {
            let file = base.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let main_file = |executable: &str, words: &str| {
            let process = ProcessCommand {
                executable: executable.into(),
                words: words.split_whitespace().map(str::to_owned).collect(),
                folder: folder.clone(),
                environment: vec![format!("PYTHONPATH={}", library.display())],
            };
            all().find_map(|(_, commands)| commands.main_file(&process))
        };
        let table = [
            ("python3.11", "a.py x.py", "work/a.py"),
            ("python3", "-u -W ignore -Xdev /o/a.py", "/o/a.py"),
            ("python3", "-uW ignore a.py", "work/a.py"),
            ("python3", "-c code a.py", "work"),
            ("python3", "-m own", "work/own.py"),
            ("python3", "-mfar a.py", "library/far.py"),
            ("python3", "-m pytest a.py", "work"),
            ("python3", "-m debugpy --listen 1 --configure-qt none --wait-for-client a.py", "work/a.py"),
            ("python3", "-m debugpy --listen 1 -m far", "library/far.py"),
            ("python3", "-", "work"),
            ("node", "-r ./x.js --import y a.js", "work/a.js"),
            ("node", "--inspect=0 ../a", "work/../a"),
            ("node", "--watch-path ../b --inspect-port 0 a.js", "work/a.js"),
            ("node", "--eval=1 a.js", "work"),
            ("node", "-e 1 a.js", "work"),
            ("nodejs", "", "work"),
            ("/w/program", "a", "/w/program"),
        ];
        for (executable, words, expected) in table {
            let found = main_file(executable, words);
            assert_eq!(found, Some(base.path().join(expected)), "{executable} {words:?}");
        }
    }

    #[test]
    fn binaries_are_distinguished_from_scripts_by_their_first_bytes() {
        for (head, expected) in [
            (&b"\x7fELF\x02\x01"[..], true),
            (b"\xcf\xfa\xed\xfe\x0c", true),
            (b"#!/bin/sh\n", false),
            (b"", false),
        ] {
            assert_eq!(is_machine_code(head), expected, "{head:?}");
        }
    }
}
