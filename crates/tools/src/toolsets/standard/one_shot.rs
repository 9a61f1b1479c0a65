//! The session that a one-shot tool works in: one that is there, or a new one for the program that it starts.

use std::path::Path;

use engine::adapter;
use engine::adapter::commands::by_program;
use engine::session::Session;

use crate::ops::closing::Closing;
use crate::ops::{execution, lifecycle};
use crate::{Context, ToolError};

/// What the parameters of a one-shot tool say of its session.
pub(super) struct Asked<'a> {
    /// The tool.
    pub(super) tool: &'static str,
    /// The session that is named.
    pub(super) session_id: Option<&'a str>,
    /// There is a program to start.
    pub(super) starts: bool,
    pub(super) program: Option<&'a Path>,
    pub(super) module: Option<&'a str>,
    /// Files that places are in.
    pub(super) files: Vec<&'a Path>,
    pub(super) language: Option<&'a str>,
    pub(super) cwd: Option<&'a Path>,
    pub(super) executable: Option<&'a Path>,
}

/// The session of a one-shot tool.
pub(super) struct OneShot<'a> {
    /// Closes it when the call is given up, if it was opened for it: nobody knows its id.
    closing: Closing<'a>,
    /// It was opened for this call.
    pub(super) opened_here: bool,
}

impl<'a> OneShot<'a> {
    /// Opens or finds it. `closes` is for one that is closed afterwards in any case.
    pub(super) fn open(context: &'a Context, asked: &Asked<'_>, closes: bool) -> Result<Self, ToolError> {
        let opened_here = asked.starts && asked.session_id.is_none();
        let session = if opened_here {
            let language = asked.language()?;
            let name = asked.program.map(|program| format!("{} {}", asked.tool, program.display()));
            lifecycle::open(context, &language, name, asked.executable.map(Path::to_owned))?
        } else {
            let session = context.session(asked.session_id)?;
            if !asked.starts {
                execution::must_be_live(&session)?;
            }
            session
        };
        Ok(Self { closing: Closing::new(context, &session, opened_here || closes), opened_here })
    }

    /// The session.
    pub(super) fn session(&self) -> Session {
        self.closing.session().clone()
    }

    /// The call is done: closes the session or leaves it open.
    pub(super) async fn settle(self, close: bool) {
        self.closing.settle(close).await;
    }
}

impl Asked<'_> {
    fn language(&self) -> Result<String, ToolError> {
        if let Some(language) = self.language {
            return Ok(language.to_owned());
        }
        let files = self.program.into_iter().chain(self.files.iter().copied());
        let by_file = files.into_iter().find_map(|file| by_program(&adapter::Machine, file));
        let by_module = || {
            let folder = self.cwd.map(Path::to_owned).or_else(|| std::env::current_dir().ok());
            let folder = folder.unwrap_or_default();
            self.module.map(|module| adapter::by_module(&adapter::Machine, &folder, module))
        };
        let adapter = by_file.or_else(by_module);
        let adapter = adapter
            .ok_or_else(|| ToolError::argument("language", "is missing; the program does not tell it"))?;
        Ok(adapter.name().to_owned())
    }
}
