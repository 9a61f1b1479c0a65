//! What to debug, and how to start it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// What to run.
    pub program: Program,
    /// The script as the command line names it; `None` is its path.
    pub script_as_given: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Arguments of the interpreter, or of the command instead of it, before the program.
    pub runtime_args: Vec<String>,
    /// Its working directory; `None` is the server's.
    pub cwd: Option<PathBuf>,
    /// Changes to the environment; `None` removes a variable.
    pub env: BTreeMap<String, Option<String>>,
    /// What it reads.
    pub stdin: Stdin,
    /// Stop before the first line.
    pub stop_on_entry: bool,
    /// Step over libraries, and do not stop at exceptions inside them.
    pub just_my_code: bool,
    /// Files of other languages in which breakpoints are. Processes of these languages that the program starts are
    /// debugged, too.
    pub child_sources: Vec<PathBuf>,
    /// Names of other languages whose processes are debugged in any case, if they can be.
    pub child_languages: Vec<&'static str>,
    /// Debug the machine code that an interpreter loads, too, whatever source it comes from: a crash in it stops.
    pub native_too: bool,
    /// Beginnings of lines that a debugger of child processes makes them print, and that are left out.
    pub muted: &'static [&'static str],
}

impl Launch {
    /// How a program is started when nothing else is requested.
    pub fn new(program: Program) -> Self {
        Self {
            program,
            script_as_given: None,
            args: Vec::new(),
            runtime_args: Vec::new(),
            cwd: None,
            env: BTreeMap::new(),
            stdin: Stdin::Empty,
            stop_on_entry: false,
            just_my_code: true,
            child_sources: Vec::new(),
            child_languages: Vec::new(),
            native_too: false,
            muted: &[],
        }
    }

    /// The folder that the program runs in.
    pub fn working_folder(&self) -> PathBuf {
        self.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default()
    }

    /// Its display name, without folders: `basket.py`, `pytest tests/test_cart.py`, `npm run start`. `executable` is
    /// the interpreter, or the command instead of it.
    pub fn title(&self, executable: Option<&Path>) -> String {
        let (name, args) = match &self.program {
            Program::Script(path) => (base_name(path), &self.args),
            Program::Module(name) => (name.clone(), &self.args),
            Program::Package(folder) if self.runtime_args.is_empty() => (base_name(folder), &self.args),
            Program::Package(folder) => (base_name(folder), &self.runtime_args),
            Program::Command => (executable.map(base_name).unwrap_or_default(), &self.runtime_args),
        };
        let words = std::iter::once(name).chain(args.iter().cloned());
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// A file of the program, or where one would be: its interpreter is looked for around that.
    pub fn near(&self) -> Option<PathBuf> {
        match &self.program {
            Program::Script(path) => Some(path.clone()),
            Program::Package(folder) => Some(folder.join("package")),
            Program::Module(_) | Program::Command => {
                let cwd = self.cwd.clone().or_else(|| std::env::current_dir().ok());
                cwd.map(|cwd| cwd.join("module"))
            }
        }
    }
}

fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A file.
    Script(PathBuf),
    /// A module that the language finds by name, as in `python -m pytest`.
    /// In Node.js, a package that is installed, by a command of it: `vitest`.
    Module(String),
    /// Sources in this folder, which the language's own tool builds. [`Launch::runtime_args`] are the words of that
    /// tool, such as `test --lib`.
    Package(PathBuf),
    /// Nothing beside the interpreter's own arguments: `npm` with `run start`, `node` with `--test`.
    Command,
}

impl Program {
    /// What to call it.
    pub fn name(&self) -> String {
        match self {
            Self::Script(path) | Self::Package(path) => path.display().to_string(),
            Self::Module(name) => name.clone(),
            Self::Command => "the command".to_owned(),
        }
    }
}

/// What a program reads on its standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: the first read finds the end.
    #[default]
    Empty,
    /// Nothing yet: a read waits, as at an idle terminal.
    Open,
    /// This text.
    Text(String),
    /// This file.
    File(PathBuf),
}

/// A program that runs already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attach {
    /// How to reach it.
    pub to: Endpoint,
    /// The same folder under the two names it has, ours first.
    pub path_mappings: Vec<(String, String)>,
    /// Step over libraries, and do not stop at exceptions inside them.
    pub just_my_code: bool,
}

/// A host without the brackets that an IPv6 address may have.
pub(crate) fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Whether a host is `localhost` or an address of the loopback.
pub(crate) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost") || is_loopback_address(host)
}

/// Whether a host is an address of the loopback, maybe an IPv4 address in the notation of IPv6.
pub(crate) fn is_loopback_address(host: &str) -> bool {
    let address = without_brackets(host).parse::<IpAddr>();
    address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// How to reach a running program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A debugger listens there.
    Address {
        /// Name or address of the machine.
        host: String,
        /// The port.
        port: u16,
    },
    /// A process of this machine.
    Process(u32),
    /// What a program left when it crashed.
    Core {
        /// The dump.
        file: PathBuf,
        /// The program; none if the dump says it.
        program: Option<PathBuf>,
    },
}

/// How a session came by its debuggee, kept for a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// It was started.
    Launch(Launch),
    /// It ran already.
    Attach(Attach),
}

impl Start {
    /// As [`Launch::title`]; of what ran already, how it is reached.
    pub fn title(&self, executable: Option<&Path>) -> String {
        match self {
            Self::Launch(launch) => launch.title(executable),
            Self::Attach(Attach { to: Endpoint::Process(pid), .. }) => format!("process {pid}"),
            Self::Attach(Attach { to: Endpoint::Core { file, .. }, .. }) => base_name(file),
            Self::Attach(Attach { to: Endpoint::Address { host, port }, .. }) => format!("{host}:{port}"),
        }
    }

    /// Whether the numbers of its processes are those of this machine. At an address they are if it is one of the
    /// loopback.
    pub fn is_on_this_machine(&self) -> bool {
        match self {
            Self::Launch(_) | Self::Attach(Attach { to: Endpoint::Process(_), .. }) => true,
            Self::Attach(Attach { to: Endpoint::Core { .. }, .. }) => false,
            Self::Attach(Attach { to: Endpoint::Address { host, .. }, .. }) => is_loopback(host),
        }
    }

    /// Whether it is a crash dump, of which nothing can run.
    pub fn is_dump(&self) -> bool {
        matches!(self, Self::Attach(Attach { to: Endpoint::Core { .. }, .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_as_users_type_it() {
        let args = |words: &str| words.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let table = [
            (Program::Script("/shop/basket.py".into()), "--fast", "", "basket.py --fast"),
            (Program::Module("pytest".to_owned()), "tests/test_x.py", "-X dev", "pytest tests/test_x.py"),
            (Program::Command, "", "run start", "npm run start"),
        ];
        for (program, given, runtime, expected) in table {
            let launch = Launch { args: args(given), runtime_args: args(runtime), ..Launch::new(program) };
            assert_eq!(Start::Launch(launch).title(Some(Path::new("/usr/bin/npm"))), expected);
        }
        let attach = |to| Start::Attach(Attach { to, path_mappings: Vec::new(), just_my_code: true });
        assert_eq!(attach(Endpoint::Process(7)).title(None), "process 7");
    }

    #[test]
    fn processes_at_an_address_are_here_if_it_is_one_of_the_loopback() {
        let attach = |to| Start::Attach(Attach { to, path_mappings: Vec::new(), just_my_code: true });
        let at = |host: &str| attach(Endpoint::Address { host: host.to_owned(), port: 2345 });
        for here in ["127.0.0.1", "127.1.2.3", "::1", "[::1]", "::ffff:127.0.0.1", "localhost"] {
            assert!(at(here).is_on_this_machine(), "{here}");
        }
        for elsewhere in ["10.0.0.7", "board", "localhost.example", "127.example", "0.0.0.0"] {
            assert!(!at(elsewhere).is_on_this_machine(), "{elsewhere}");
        }
        let dump = Endpoint::Core { file: "core".into(), program: None };
        assert!(attach(Endpoint::Process(7)).is_on_this_machine() && !attach(dump).is_on_this_machine());
    }
}
