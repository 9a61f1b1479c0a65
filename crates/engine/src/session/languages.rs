//! The languages of a session: its own, and those of processes that its program starts.

use std::collections::BTreeSet;
use std::path::Path;

use super::Session;
use crate::adapter::{self, Adapter};
use crate::error::{Error, Result};
use crate::model::launch::Start;

impl Session {
    /// The language in whose processes a file is debugged: the session's own, or that of child processes.
    pub fn language_of(&self, file: &Path) -> &'static dyn Adapter {
        self.child_language_of(file).unwrap_or_else(|| self.adapter())
    }

    /// The interpreter that the user chose for the session's own language.
    pub(super) fn executable_for(&self, adapter: &dyn Adapter) -> Option<&Path> {
        self.executable().filter(|_| adapter.name() == self.adapter().name())
    }

    /// Another language, whose processes the program may start.
    fn child_language_of(&self, file: &Path) -> Option<&'static dyn Adapter> {
        adapter::other_language(self.adapter(), file).filter(|owner| joins_others(*owner))
    }

    /// Refuses a file that no debugger of the session could stop in.
    pub(super) async fn check_language(&self, path: &Path) -> Result<()> {
        let own = self.adapter();
        let Some(owner) = adapter::other_language(own, path) else { return Ok(()) };
        // A program that was attached to has its environment already.
        let is_attached = matches!(self.last_start().await, Ok(Some(Start::Attach(_))));
        if joins_others(owner) && !is_attached {
            return self.policy().safety.check_language(owner.name());
        }
        let problem = format!("is for a `{}` session, but this is a `{}` session", owner.name(), own.name());
        Err(Error::BadFile { path: path.to_owned(), problem })
    }

    /// Processes of a language are followed from the start of the program on, and only if a breakpoint is in a file of
    /// that language: a debugger slows them down, and they inherit changes to their environment.
    pub(super) async fn with_child_sources(&self, mut start: Start) -> Result<Start> {
        if let Start::Launch(launch) = &mut start {
            let breakpoints = self.breakpoints().await?;
            let files = breakpoints.iter().filter(|one| one.enabled).filter_map(|one| one.path());
            let files = files.filter(|file| self.child_language_of(file).is_some());
            let files: BTreeSet<&Path> = files.collect();
            launch.child_sources = files.into_iter().map(Path::to_owned).collect();
            let safety = &self.policy().safety;
            launch.child_languages.retain(|name| safety.check_language(name).is_ok());
            // The debugger of machine code is there already.
            launch.native_too &= !self.adapter().facts().is_machine_code;
            if let Some(loaded) = adapter::loadable().filter(|_| launch.native_too) {
                self.policy().safety.check_language(loaded.name())?;
            }
        }
        Ok(start)
    }
}

/// Whether processes of a language are debugged when a program in another language starts them.
fn joins_others(language: &dyn Adapter) -> bool {
    language.child_processes().is_some() || language.facts().is_machine_code
}
