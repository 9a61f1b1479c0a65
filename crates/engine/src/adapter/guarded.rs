//! The machine as a server may use it: only certain programs are run to be asked who they are.
//!
//! A repository can bring its own interpreter, as the link or the script in its virtual environment. Someone who only
//! reads a file of the repository has not chosen to run it, so it must not run before a program starts. Until then,
//! the interpreter found by name on `PATH` runs.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{BoxFuture, Host};
use crate::error::{Error, Result};
use crate::process::{HelperOutput, ProcessSpec};
use crate::safety::{Safety, resolved};

/// A machine on which not every interpreter is run.
#[derive(Debug)]
pub struct Guarded<'a> {
    host: &'a dyn Host,
    safety: &'a Safety,
    chosen: Option<&'a Path>,
    /// A program is or was started.
    starts: bool,
    has_refused: AtomicBool,
}

impl<'a> Guarded<'a> {
    /// For starting a program: what a repository has is run where the policy allows it.
    pub fn starting(host: &'a dyn Host, safety: &'a Safety) -> Self {
        Self { host, safety, chosen: None, starts: true, has_refused: AtomicBool::new(false) }
    }

    /// For looking at files: nothing of a repository is run but what the user has chosen.
    pub fn for_reading(host: &'a dyn Host, safety: &'a Safety, chosen: Option<&'a Path>) -> Self {
        Self { host, safety, chosen, starts: false, has_refused: AtomicBool::new(false) }
    }

    /// Whether an interpreter was skipped, so that another one may have answered instead.
    pub fn has_refused(&self) -> bool {
        self.has_refused.load(Ordering::Relaxed)
    }

    /// Whether it is in a folder of the search path, whatever a link there leads to.
    fn is_named(&self, program: &Path) -> bool {
        let path = self.host.env("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| program.parent() == Some(&*folder))
    }

    /// With `--read-only`, the user's choice is run when it is listed.
    fn is_chosen(&self, program: &Path) -> bool {
        self.chosen == Some(program)
            && (!self.safety.read_only
                || resolved(program).is_some_and(|real| self.safety.programs.contains(&real)))
    }

    fn refuse<T>(&self, program: &Path, problem: &str) -> Result<T> {
        self.has_refused.store(true, Ordering::Relaxed);
        Err(Error::Environment {
            problem: format!("`{}` {problem}", program.display()),
            remedy: "install it in a folder on PATH, or allow its folder with `--allow-root`".to_owned(),
        })
    }
}

impl Host for Guarded<'_> {
    /// Before a start, the target of a link runs rather than the link: next to the link, the repository could set
    /// where Python finds its library.
    fn permitted(&self, program: &Path) -> Result<PathBuf> {
        if self.is_named(program) || self.is_chosen(program) {
            return Ok(program.to_owned());
        }
        if self.starts {
            return match self.safety.check_executable(self.host, program) {
                Ok(()) => Ok(program.to_owned()),
                Err(_) => self.refuse(program, "is outside the allowed folders"),
            };
        }
        match program.canonicalize().ok().filter(|real| self.is_named(real)) {
            Some(real) => Ok(real),
            None => self.refuse(program, "must not run before a program starts"),
        }
    }

    fn run<'a>(&'a self, spec: &'a ProcessSpec, deadline: Duration) -> BoxFuture<'a, Result<HelperOutput>> {
        self.host.run(spec, deadline)
    }

    fn run_telling<'a>(
        &'a self,
        spec: &'a ProcessSpec,
        deadline: Duration,
        said: &'a (dyn Fn(&str) + Send + Sync),
    ) -> BoxFuture<'a, Result<HelperOutput>> {
        self.host.run_telling(spec, deadline, said)
    }

    fn which(&self, name: &str) -> Option<PathBuf> {
        self.host.which(name)
    }

    fn env(&self, name: &str) -> Option<String> {
        self.host.env(name)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.host.is_file(path)
    }

    fn read(&self, path: &Path) -> Option<String> {
        self.host.read(path)
    }

    fn head(&self, path: &Path) -> Vec<u8> {
        self.host.head(path)
    }

    fn part(&self, path: &Path, from: u64, length: u64) -> Vec<u8> {
        self.host.part(path, from, length)
    }

    fn size(&self, path: &Path) -> u64 {
        self.host.size(path)
    }

    fn names_in(&self, folder: &Path) -> Vec<String> {
        self.host.names_in(folder)
    }

    fn program_of(&self, pid: u32) -> Option<PathBuf> {
        self.host.program_of(pid)
    }

    fn cache_dir(&self) -> PathBuf {
        self.host.cache_dir()
    }

    fn forbids_tracing(&self) -> bool {
        self.host.forbids_tracing()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::FakeMachine;

    fn machine() -> FakeMachine {
        let env = [("PATH".to_owned(), "/usr/local/bin:/bin".to_owned())].into();
        FakeMachine { env, ..FakeMachine::default() }
    }

    #[test]
    fn interpreter_of_a_repository_runs_only_once_a_program_is_started() {
        let (machine, safety) = (machine(), Safety::default());
        let own = Path::new("/project/.venv/bin/python");
        let for_reading = Guarded::for_reading(&machine, &safety, None);
        assert!(for_reading.permitted(Path::new("/bin/python3")).is_ok());
        assert!(!for_reading.has_refused());
        assert!(for_reading.permitted(own).is_err());
        assert!(for_reading.has_refused());
        assert!(Guarded::starting(&machine, &safety).permitted(own).is_ok());
        assert!(
            Guarded::for_reading(&machine, &safety, Some(own)).permitted(own).is_ok(),
            "the user's choice"
        );
    }

    #[test]
    fn disallowed_programs_are_not_run() {
        let (machine, own) = (machine(), Path::new("/project/.venv/bin/python"));
        let read_only = Safety { read_only: true, ..Safety::default() };
        assert!(Guarded::for_reading(&machine, &read_only, Some(own)).permitted(own).is_err());
        let elsewhere = Safety { roots: Some(vec!["/elsewhere".into()]), ..Safety::default() };
        let starting = Guarded::starting(&machine, &elsewhere);
        assert!(starting.permitted(own).is_err());
        assert!(starting.permitted(Path::new("/bin/python3")).is_ok());
    }
}
