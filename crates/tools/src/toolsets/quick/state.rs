//! The one session, and what outlives its program.

use std::path::PathBuf;
use std::sync::Arc;

use engine::model::breakpoint::{Breakpoint, Rule};
use engine::model::ids::BreakpointId;
use engine::process::Identity;
use engine::session::Session;
use engine::session::placing::PlaceRequest;
use tokio::sync::{Mutex, MutexGuard};

use super::recovery::{self, CORRUPT, FILE, RecoveryFile, SavedState};
use super::target::{Target, base_name, language, language_name};
use super::text;
use crate::{Text, ToolError};

/// The one session of this vocabulary. Clones are the same.
///
/// Nothing is read or written before the first call that needs it.
#[derive(Clone, Debug, Default)]
pub struct Quick(Arc<Mutex<State>>);

impl Quick {
    /// One that leaves nothing to recover: the file is for a server's only client.
    pub(crate) fn unrecovered() -> Self {
        Self(Arc::new(Mutex::new(State { keeps_nothing: true, ..State::default() })))
    }

    /// The state, locked only for moments: never while waiting for a program, because all other calls wait for it.
    pub(super) async fn lock(&self) -> MutexGuard<'_, State> {
        let mut state = self.0.lock().await;
        state.read_once();
        state
    }

    /// The session, once there is one.
    pub(crate) async fn session(&self) -> Result<Session, ToolError> {
        let state = self.lock().await;
        state.session.clone().ok_or_else(|| state.no_program())
    }

    /// The result of a call, with one-time messages.
    pub(super) async fn with_notes(&self, came_to: Result<String, ToolError>) -> Result<Text, ToolError> {
        let notes = std::mem::take(&mut self.lock().await.notes);
        match came_to {
            // Output is reported verbatim, and may end in a line break.
            Ok(text) if notes.is_empty() => Ok(Text(text)),
            Ok(text) => Ok(Text(text::lines([text, text::notes(&notes)]))),
            Err(error) => Err(notes.iter().fold(error, |error, note| error.and(note))),
        }
    }

    /// The server ends in an orderly way: there is nothing to recover afterwards.
    pub async fn leave(&self) {
        let mut state = self.0.lock().await;
        if let Some(folder) = state.folder.take().filter(|_| !state.restored) {
            recovery::remove(&folder);
        }
        state.keeps_nothing = true;
    }
}

/// A requested breakpoint.
#[derive(Clone, Debug)]
pub(super) struct RequestedBreakpoint {
    /// Absolute.
    pub(super) file: PathBuf,
    pub(super) line: u32,
    pub(super) condition: Option<String>,
    /// What it is in the session, and where.
    pub(super) set: Option<(BreakpointId, Option<u32>)>,
}

impl RequestedBreakpoint {
    /// What to ask a session for.
    pub(super) fn wanted(&self) -> PlaceRequest {
        PlaceRequest {
            file: Some(self.file.clone()),
            line: Some(self.line),
            rule: Rule { condition: self.condition.clone(), ..Rule::default() },
            ..PlaceRequest::default()
        }
    }

    /// The session has set it.
    pub(super) fn mark_set(&mut self, breakpoint: &Breakpoint) {
        self.set = Some((breakpoint.id, breakpoint.line()));
    }

    /// The line that it is on, as far as is known.
    pub(super) fn at(&self) -> u32 {
        self.set.and_then(|(_, line)| line).unwrap_or(self.line)
    }

    /// `app.py:22`.
    pub(super) fn label(&self) -> String {
        format!("{}:{}", base_name(&self.file), self.at())
    }
}

/// What there is.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The session of the last launch.
    pub(super) session: Option<Session>,
    /// What was launched last.
    pub(super) target: Option<Target>,
    /// In the order in which they were set.
    pub(super) breakpoints: Vec<RequestedBreakpoint>,
    /// What there is comes from a server that was killed, and no launch has applied it yet.
    pub(super) restored: bool,
    /// Messages for the next answer.
    pub(super) notes: Vec<String>,
    /// The server's working directory, once it was looked into.
    folder: Option<PathBuf>,
    /// It was reported that nothing can be saved for recovery.
    has_complained: bool,
    /// Nothing is kept for recovery: the server is at its end, or has several clients.
    keeps_nothing: bool,
}

impl State {
    /// Restores what a killed server left.
    fn read_once(&mut self) {
        if self.folder.is_some() || self.keeps_nothing {
            return;
        }
        let folder = std::env::current_dir().unwrap_or_default();
        match recovery::find(&folder) {
            RecoveryFile::Left(saved) => self.take_up(*saved),
            RecoveryFile::Corrupt(reason) => {
                let aside = match recovery::move_aside(&folder) {
                    Ok(()) => format!("it was renamed to `{CORRUPT}`"),
                    Err(error) => format!("it cannot be renamed: {error}"),
                };
                self.notes.push(format!("`{FILE}` is not a valid session file ({reason}); {aside}"));
            }
            RecoveryFile::Missing | RecoveryFile::Others(_) | RecoveryFile::Unreadable(_) => {}
        }
        self.folder = Some(folder);
    }

    fn take_up(&mut self, saved: SavedState) {
        let SavedState {
            language: name,
            program,
            breakpoints,
            mut conditions,
            args,
            cwd,
            executable_path,
            env,
            ..
        } = saved;
        self.target = program.and_then(|program| {
            let adapter = language(name.as_deref(), &program).ok()?;
            let plain = Target::new(adapter, program);
            Some(Target { args, cwd, lost_env: env, executable: executable_path, ..plain })
        });
        for (file, lines) in breakpoints {
            let mut conditions = conditions.remove(&file).unwrap_or_default();
            for line in lines {
                let condition = conditions.remove(&line);
                self.breakpoints.push(RequestedBreakpoint { file: file.clone(), line, condition, set: None });
            }
        }
        self.restored = self.target.is_some() || !self.breakpoints.is_empty();
    }

    /// Keeps what there is for a server that comes after this one, should it be killed.
    pub(super) fn save(&mut self) {
        let Some(folder) = self.folder.clone().filter(|_| !self.keeps_nothing) else { return };
        let problem = match recovery::find(&folder) {
            RecoveryFile::Others(pid) => format!("`{FILE}` belongs to another server, process {pid}"),
            RecoveryFile::Unreadable(kind) => format!("`{FILE}` cannot be read: {kind}"),
            _ => match recovery::write(&folder, &self.saved()) {
                Ok(()) => return,
                Err(error) => format!("cannot write `{FILE}`: {error}"),
            },
        };
        if !self.has_complained {
            self.has_complained = true;
            self.notes.push(format!("this session cannot be recovered later: {problem}"));
        }
    }

    fn saved(&self) -> SavedState {
        let target = self.target.as_ref();
        let mut saved = SavedState {
            language: target.map(|target| language_name(target.adapter).to_owned()),
            program: target.map(|target| target.program.clone()),
            args: target.map(|target| target.args.clone()).unwrap_or_default(),
            cwd: target.and_then(|target| target.cwd.clone()),
            executable_path: target.and_then(|target| target.executable.clone()),
            env: target
                .map(|target| target.env.keys().chain(&target.lost_env).cloned().collect())
                .unwrap_or_default(),
            server: Some(Identity::own()),
            ..SavedState::default()
        };
        for wished in &self.breakpoints {
            saved.breakpoints.entry(wished.file.clone()).or_default().push(wished.line);
            if let Some(condition) = &wished.condition {
                let conditions = saved.conditions.entry(wished.file.clone()).or_default();
                conditions.insert(wished.line, condition.clone());
            }
        }
        saved
    }

    /// As at the beginning: nothing is kept, and nothing is left to recover.
    pub(super) fn reset(&mut self) {
        if let Some(folder) = &self.folder {
            recovery::remove(folder);
        }
        let notes = std::mem::take(&mut self.notes);
        let (folder, keeps_nothing) = (self.folder.take(), self.keeps_nothing);
        *self = Self { notes, folder, keeps_nothing, has_complained: self.has_complained, ..Self::default() };
    }

    /// There is nothing to debug, and what would be.
    fn no_program(&self) -> ToolError {
        let last = self.target.as_ref().map(|target| base_name(&target.program));
        ToolError::no_program(last.as_deref())
    }
}
