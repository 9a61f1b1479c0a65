//! The machine, as adapters see it. Tests put another in its place.

#[cfg(test)]
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy;

use super::Boxed;
use crate::error::Result;
use crate::process::{self, Finished, ProcessSpec};

/// What an adapter may ask of the machine.
pub trait Host: std::fmt::Debug + Send + Sync {
    /// Runs a short program to its end.
    fn run<'a>(&'a self, spec: &'a ProcessSpec, deadline: Duration) -> Boxed<'a, Result<Finished>>;
    /// Finds a program on the search path.
    fn which(&self, name: &str) -> Option<PathBuf>;
    /// An environment variable.
    fn env(&self, name: &str) -> Option<String>;
    /// Whether there is a file of that name.
    fn is_file(&self, path: &Path) -> bool;
    /// The folder for what we install.
    fn cache_dir(&self) -> PathBuf;
}

/// This machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

impl Host for Machine {
    fn run<'a>(&'a self, spec: &'a ProcessSpec, deadline: Duration) -> Boxed<'a, Result<Finished>> {
        Box::pin(process::run(spec, deadline))
    }

    fn which(&self, name: &str) -> Option<PathBuf> {
        which::which(name).ok()
    }

    fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn cache_dir(&self) -> PathBuf {
        if let Some(dir) = self.env("STILLFRAME_CACHE_DIR") {
            return dir.into();
        }
        let base = etcetera::choose_base_strategy().map(|strategy| strategy.cache_dir());
        base.unwrap_or_else(|_| std::env::temp_dir()).join("stillframe")
    }
}

/// A machine that consists of what a test says.
#[cfg(test)]
#[derive(Debug, Default)]
pub(crate) struct FakeMachine {
    /// Files that exist; those with an answer are programs, and the answer is what they print.
    pub(crate) files: HashMap<PathBuf, Option<String>>,
    /// The search path.
    pub(crate) path: HashMap<String, PathBuf>,
    /// The environment.
    pub(crate) env: HashMap<String, String>,
}

#[cfg(test)]
impl Host for FakeMachine {
    fn run<'a>(&'a self, spec: &'a ProcessSpec, _deadline: Duration) -> Boxed<'a, Result<Finished>> {
        let printed = self.files.get(&spec.program).cloned().flatten();
        Box::pin(async move {
            Ok(Finished {
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

    fn cache_dir(&self) -> PathBuf {
        "/cache".into()
    }
}
