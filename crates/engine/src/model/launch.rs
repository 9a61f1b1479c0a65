//! What to debug, and how to start it.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// What to run.
    pub program: Program,
    /// Its arguments.
    pub args: Vec<String>,
    /// Arguments of the interpreter, or of the command in its place, in front of the program.
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
}

impl Launch {
    /// How a program is started when nothing else is asked for.
    pub fn new(program: Program) -> Self {
        Self {
            program,
            args: Vec::new(),
            runtime_args: Vec::new(),
            cwd: None,
            env: BTreeMap::new(),
            stdin: Stdin::Empty,
            stop_on_entry: false,
            just_my_code: true,
        }
    }

    /// The folder that the program runs in.
    pub fn working_folder(&self) -> PathBuf {
        self.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default()
    }

    /// A file of the program, or where one would be: its interpreter is looked for around that.
    pub fn near(&self) -> Option<PathBuf> {
        match &self.program {
            Program::Script(path) => Some(path.clone()),
            Program::Module(_) | Program::Command => {
                let cwd = self.cwd.clone().or_else(|| std::env::current_dir().ok());
                cwd.map(|cwd| cwd.join("module"))
            }
        }
    }
}

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A file.
    Script(PathBuf),
    /// A module that the language finds by name, as in `python -m pytest`.
    /// In Node.js, a package that is installed, by a command of it: `vitest`.
    Module(String),
    /// Nothing beside the interpreter's own arguments: `npm` with `run start`, `node` with `--test`.
    Command,
}

impl Program {
    /// What to call it.
    pub fn name(&self) -> String {
        match self {
            Self::Script(path) => path.display().to_string(),
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
    /// Nothing yet: a read waits, as at a terminal where nobody types.
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
}

/// How a session came by its debuggee, kept for a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// It was started.
    Launch(Launch),
    /// It ran already.
    Attach(Attach),
}
