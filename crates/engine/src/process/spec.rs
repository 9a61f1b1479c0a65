//! What is started, and how.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::model::launch::{Launch, Stdin};

/// What to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessSpec {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Changes to the environment; `None` removes a variable.
    pub env: BTreeMap<String, Option<String>>,
    /// The working directory; `None` is ours.
    pub cwd: Option<PathBuf>,
    /// What it reads.
    pub stdin: Stdin,
    /// Lines on its standard error that begin with one of these are the debugger's own, and are dropped.
    pub muted: &'static [&'static str],
    /// Its standard output is a terminal, so that it writes line by line.
    pub has_terminal: bool,
    /// A line that begins so is kept for [`super::Process::announced`], and dropped from its output.
    pub announces: Option<&'static str>,
}

impl ProcessSpec {
    /// The process of a launch: the folder and the input are the launch's.
    pub fn of_launch(
        launch: &Launch,
        program: PathBuf,
        args: Vec<OsString>,
        env: BTreeMap<String, Option<String>>,
    ) -> Self {
        let (cwd, stdin) = (launch.cwd.clone(), launch.stdin.clone());
        Self { program, args, env, cwd, stdin, muted: launch.muted, ..Self::default() }
    }
}
