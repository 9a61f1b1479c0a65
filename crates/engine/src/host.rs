//! The machine, as adapters and the safety rules see it. Tests replace it.

use std::collections::BTreeMap;
#[cfg(test)]
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use etcetera::BaseStrategy;

use crate::error::Result;
use crate::process::{self, HelperOutput, ProcessSpec};

/// A future that a trait object can return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What an adapter may ask of the machine.
pub trait Host: std::fmt::Debug + Send + Sync {
    /// What to run to ask an interpreter for its identity: itself, or a replacement.
    ///
    /// # Errors
    ///
    /// [`Environment`](crate::error::Error::Environment) when it must not be run.
    fn permitted(&self, program: &Path) -> Result<PathBuf> {
        Ok(program.to_owned())
    }
    /// Runs a short program to its end.
    fn run<'a>(&'a self, spec: &'a ProcessSpec, deadline: Duration) -> BoxFuture<'a, Result<HelperOutput>>;
    /// The same, and each line that it writes to its standard error is reported as it comes.
    fn run_telling<'a>(
        &'a self,
        spec: &'a ProcessSpec,
        deadline: Duration,
        said: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<HelperOutput>> {
        let _ = said;
        self.run(spec, deadline)
    }
    /// Finds a program on the search path.
    fn which(&self, name: &str) -> Option<PathBuf>;
    /// An environment variable.
    fn env(&self, name: &str) -> Option<String>;
    /// The same for a program with these changes to the environment.
    fn env_with(&self, changes: &BTreeMap<String, Option<String>>, name: &str) -> Option<String> {
        changes.get(name).cloned().unwrap_or_else(|| self.env(name))
    }
    /// Whether there is a file of that name.
    fn is_file(&self, path: &Path) -> bool;
    /// The text of a small file, such as a package's description.
    fn read(&self, path: &Path) -> Option<String>;
    /// The first bytes of a file, at most 256; none of one that cannot be read.
    fn head(&self, path: &Path) -> Vec<u8>;
    /// Some of the bytes of a file, at most `length`; none of one that cannot be read.
    fn part(&self, path: &Path, from: u64, length: u64) -> Vec<u8> {
        let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        self.head(path).into_iter().skip(at(from)).take(at(length)).collect()
    }
    /// The size of a file in bytes; 0 for one that cannot be read.
    fn size(&self, path: &Path) -> u64 {
        self.head(path).len() as u64
    }
    /// The names of what is in a folder, in order.
    fn names_in(&self, folder: &Path) -> Vec<String>;
    /// The program that a process runs, if the system reports it.
    fn program_of(&self, pid: u32) -> Option<PathBuf>;
    /// The folder for what we install.
    fn cache_dir(&self) -> PathBuf;
    /// Whether the system keeps a process from tracing another one of the same user that it did not start.
    fn forbids_tracing(&self) -> bool;
}

/// This machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl Host for Machine {
    fn run<'a>(&'a self, spec: &'a ProcessSpec, deadline: Duration) -> BoxFuture<'a, Result<HelperOutput>> {
        Box::pin(process::run(spec, deadline))
    }

    fn run_telling<'a>(
        &'a self,
        spec: &'a ProcessSpec,
        deadline: Duration,
        said: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<HelperOutput>> {
        Box::pin(process::run_telling(spec, deadline, said))
    }

    fn which(&self, name: &str) -> Option<PathBuf> {
        let there = process::users_path()
            .and_then(|path| which::which_in(name, Some(path), std::env::current_dir().ok()?).ok());
        there.or_else(|| which::which(name).ok())
    }

    fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn read(&self, path: &Path) -> Option<String> {
        crate::sources::read_text(path).ok()
    }

    fn head(&self, path: &Path) -> Vec<u8> {
        let mut head = Vec::new();
        // Opening a pipe would wait for a writer.
        if path.is_file()
            && let Ok(file) = File::open(path)
        {
            let _ = file.take(256).read_to_end(&mut head);
        }
        head
    }

    fn part(&self, path: &Path, from: u64, length: u64) -> Vec<u8> {
        let mut part = Vec::new();
        if path.is_file()
            && let Ok(mut file) = File::open(path)
            && file.seek(SeekFrom::Start(from)).is_ok()
        {
            let _ = file.take(length).read_to_end(&mut part);
        }
        part
    }

    fn size(&self, path: &Path) -> u64 {
        std::fs::metadata(path).map_or(0, |file| file.len())
    }

    fn names_in(&self, folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn program_of(&self, pid: u32) -> Option<PathBuf> {
        std::fs::read_link(format!("/proc/{pid}/exe")).ok()
    }

    fn cache_dir(&self) -> PathBuf {
        if let Some(dir) = self.env("STILLFRAME_CACHE_DIR") {
            return dir.into();
        }
        let base = etcetera::choose_base_strategy().map(|strategy| strategy.cache_dir());
        base.unwrap_or_else(|_| std::env::temp_dir()).join("stillframe")
    }

    fn forbids_tracing(&self) -> bool {
        // Systems without that restriction have no such files.
        let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        is_tracing_forbidden(&scope, &status)
    }
}

/// Decides by Yama's `ptrace_scope` (0: unrestricted, 1 and 2: only processes with the capability, 3: never) and by
/// the capabilities in a process's `status`.
fn is_tracing_forbidden(scope: &str, status: &str) -> bool {
    /// `CAP_SYS_PTRACE`, as a bit.
    const MAY_TRACE: u64 = 1 << 19;
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    match scope.trim().parse::<u8>() {
        Ok(0) | Err(_) => false,
        Ok(1 | 2) => mask & MAY_TRACE == 0,
        Ok(_) => true,
    }
}

/// A machine that consists of what a test says.
#[cfg(test)]
#[derive(Debug, Default)]
pub(crate) struct FakeMachine {
    /// Files that exist; those with an answer are programs, and the answer is what they print, or texts, and
    /// it is what they hold.
    pub(crate) files: HashMap<PathBuf, Option<String>>,
    /// The search path.
    pub(crate) path: HashMap<String, PathBuf>,
    /// The environment.
    pub(crate) env: HashMap<String, String>,
    /// The programs of processes.
    pub(crate) processes: HashMap<u32, PathBuf>,
    /// Processes must not trace others.
    pub(crate) forbids_tracing: bool,
}

#[cfg(test)]
impl Host for FakeMachine {
    fn run<'a>(&'a self, spec: &'a ProcessSpec, _deadline: Duration) -> BoxFuture<'a, Result<HelperOutput>> {
        let printed = self.files.get(&spec.program).cloned().flatten();
        Box::pin(async move {
            Ok(HelperOutput {
                success: printed.is_some(),
                stdout: printed.unwrap_or_default(),
                stderr: String::new(),
            })
        })
    }

    fn which(&self, name: &str) -> Option<PathBuf> {
        self.path.get(name).cloned()
    }

    fn env(&self, name: &str) -> Option<String> {
        self.env.get(name).cloned()
    }

    fn is_file(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    fn read(&self, path: &Path) -> Option<String> {
        self.files.get(path).cloned().flatten()
    }

    fn head(&self, path: &Path) -> Vec<u8> {
        self.read(path).unwrap_or_default().into_bytes()
    }

    fn names_in(&self, folder: &Path) -> Vec<String> {
        let inside = self.files.keys().filter_map(|path| path.strip_prefix(folder).ok());
        let first = inside.filter_map(|path| path.components().next());
        let mut names: Vec<String> =
            first.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        names.sort();
        names.dedup();
        names
    }

    fn program_of(&self, pid: u32) -> Option<PathBuf> {
        self.processes.get(&pid).cloned()
    }

    fn cache_dir(&self) -> PathBuf {
        "/cache".into()
    }

    fn forbids_tracing(&self) -> bool {
        self.forbids_tracing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptrace_scope_forbids_tracing_without_the_capability() {
        let (root, user) = ("Name:\tx\nCapEff:\t000001ffffffffff\n", "CapEff:\t0000000000000000\n");
        let table = [
            ("0\n", user, false),
            ("1\n", user, true),
            ("2\n", user, true),
            ("1\n", root, false),
            ("1\n", "CapEff:\t0000000000080000\n", false),
            ("3\n", root, true),
            ("", user, false),
        ];
        for (scope, status, forbidden) in table {
            assert_eq!(is_tracing_forbidden(scope, status), forbidden, "{scope} {status}");
        }
    }
}
