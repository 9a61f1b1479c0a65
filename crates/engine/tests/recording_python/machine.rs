//! Which Pythons there are, and where their debuggers are kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::adapter::{BoxFuture, Host, Machine};
use engine::error::Result;
use engine::process::{self, HelperOutput, ProcessSpec};
use test_support::tries_everything;
use tokio::sync::OnceCell;

/// This machine, but what is installed goes to the folder of the tests.
#[derive(Debug)]
pub(crate) struct TestMachine;

impl Host for TestMachine {
    fn run<'a>(&'a self, spec: &'a ProcessSpec, deadline: Duration) -> BoxFuture<'a, Result<HelperOutput>> {
        Machine.run(spec, deadline)
    }

    fn which(&self, name: &str) -> Option<PathBuf> {
        Machine.which(name)
    }

    fn env(&self, name: &str) -> Option<String> {
        Machine.env(name)
    }

    fn is_file(&self, path: &Path) -> bool {
        Machine.is_file(path)
    }

    fn read(&self, path: &Path) -> Option<String> {
        Machine.read(path)
    }

    fn head(&self, path: &Path) -> Vec<u8> {
        Machine.head(path)
    }

    fn names_in(&self, folder: &Path) -> Vec<String> {
        Machine.names_in(folder)
    }

    fn program_of(&self, pid: u32) -> Option<PathBuf> {
        Machine.program_of(pid)
    }

    fn cache_dir(&self) -> PathBuf {
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
    }

    fn forbids_tracing(&self) -> bool {
        Machine.forbids_tracing()
    }
}

/// An interpreter, and whether it is kept from the fast way.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) python: PathBuf,
    pub(crate) version: (u32, u32),
    pub(crate) by_pydevd: bool,
}

impl Way {
    /// Places are watched past pydevd.
    pub(crate) fn is_fast(&self) -> bool {
        self.version >= (3, 12) && !self.by_pydevd
    }

    /// What the program finds in its environment.
    pub(crate) fn env(&self) -> BTreeMap<String, Option<String>> {
        let slow = || ("STILLFRAME_WITHOUT_MONITORING".to_owned(), Some("1".to_owned()));
        self.by_pydevd.then(slow).into_iter().collect()
    }
}

/// All ways that this machine has: `python3`, and of the versions that are supported the oldest, the first one
/// with `sys.monitoring` and the newest, where they are on the search path or among those that pyenv has built.
/// On each push, the oldest and the newest of them, each in its usual way.
pub(crate) async fn ways() -> Vec<Way> {
    static WAYS: OnceCell<Vec<Way>> = OnceCell::const_new();
    WAYS.get_or_init(find).await.clone()
}

async fn find() -> Vec<Way> {
    let mut found = BTreeMap::new();
    for name in ["python3", "python3.8", "python3.12", "python3.13"] {
        let candidates = Machine.which(name).into_iter().chain(built_by_pyenv(name));
        for python in candidates {
            if let Some(version) = version(&python).await {
                found.entry(version).or_insert(python);
                break;
            }
        }
    }
    let (oldest, newest) = (found.keys().next().copied(), found.keys().last().copied());
    found.retain(|version, _| tries_everything() || Some(*version) == oldest || Some(*version) == newest);
    let ways = found.into_iter().flat_map(|(version, python)| {
        let both = match version {
            (3, ..12) => &[true][..],
            _ if tries_everything() => &[true, false],
            _ => &[false],
        };
        both.iter().map(move |by_pydevd| Way { python: python.clone(), version, by_pydevd: *by_pydevd })
    });
    ways.collect()
}

fn built_by_pyenv(name: &str) -> Vec<PathBuf> {
    let home = || Machine.env("HOME").map(|home| Path::new(&home).join(".pyenv"));
    let Some(root) = Machine.env("PYENV_ROOT").map(PathBuf::from).or_else(home) else { return Vec::new() };
    let versions = root.join("versions");
    let programs =
        Machine.names_in(&versions).into_iter().map(|each| versions.join(each).join("bin").join(name));
    programs.filter(|program| program.is_file()).collect()
}

/// pyenv also puts names on the search path behind which there is nothing.
async fn version(python: &Path) -> Option<(u32, u32)> {
    let args = ["-c", "import sys; print(*sys.version_info[:2])"].map(Into::into).to_vec();
    let spec = ProcessSpec { program: python.to_owned(), args, ..ProcessSpec::default() };
    let done = process::run(&spec, Duration::from_secs(20)).await.ok().filter(|done| done.success)?;
    let (major, minor) = done.stdout.trim().split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
