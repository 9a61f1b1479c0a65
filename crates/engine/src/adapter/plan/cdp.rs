//! Programs with an inspector that we speak to.

use std::path::{Path, PathBuf};

use crate::process::ProcessSpec;

/// How a connection to an inspector comes about.
#[derive(Clone, Debug, PartialEq)]
pub enum CdpWire {
    /// The program is started; each process of it opens its inspector, writes where to the pipe at [`ADDRESS`](super::ADDRESS), and
    /// waits for us.
    Announced(ProcessSpec),
    /// We connect to an inspector that listens.
    Connect {
        /// Name or address of its machine.
        host: String,
        /// Its port.
        port: u16,
    },
    /// We make a process of this machine open its inspector, by a signal.
    Signal {
        /// The process.
        pid: u32,
    },
}

/// What we need to know of a program whose inspector we speak to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CdpSetup {
    /// Stop before the first statement of this; none runs on.
    pub entry: Option<Entry>,
    /// The script that is started, where there is one.
    pub program: Option<PathBuf>,
    /// The folder that it is started in.
    pub folder: Option<PathBuf>,
    /// Our own script inside the program.
    pub hook: PathBuf,
    /// Sources may be compiled when they are loaded.
    pub transpiles: bool,
    /// Step over libraries, and do not stop at exceptions inside them.
    pub just_my_code: bool,
    /// The same folder under the two names it has, ours first.
    pub path_mappings: Vec<(String, String)>,
    /// Its process numbers and files are this machine's.
    pub is_local: bool,
}

impl CdpSetup {
    /// Whether a script is our hook, or one that the hook loads.
    pub fn is_hook(&self, path: &Path) -> bool {
        path.parent() == self.hook.parent()
    }

    /// The local path of a file that the program names.
    pub fn to_local(&self, path: &Path) -> PathBuf {
        self.mapped(path, |(ours, theirs)| (theirs, ours))
    }

    /// The program's name for a local path.
    pub fn to_remote(&self, path: &Path) -> PathBuf {
        self.mapped(path, |(ours, theirs)| (ours, theirs))
    }

    fn mapped(&self, path: &Path, direction: fn(&(String, String)) -> (&String, &String)) -> PathBuf {
        let found = self
            .path_mappings
            .iter()
            .map(direction)
            .find_map(|(from, to)| path.strip_prefix(from).ok().map(|rest| Path::new(to).join(rest)));
        found.unwrap_or_else(|| path.to_owned())
    }
}

/// Where a program begins for its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// In this file.
    Script(PathBuf),
    /// In the first file that is not internal, of any process.
    First,
}
