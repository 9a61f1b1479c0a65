//! A debug session: the handle that everyone else holds, and the actor behind it.
//!
//! The actor is one task that owns the state of the debugging; see `session/actor.rs`, whose modules have the
//! operations. The handle sends it requests and watches what the program is doing. No lock is held across an await.
//! Whatever takes time happens outside the actor, so that `pause` and `close` work while another call waits, and
//! waiting itself happens here, in the handle.

mod actor;
pub mod breakpoints;
mod info;
mod languages;
pub mod placing;
mod references;
mod reported;
pub mod seen_values;
mod selection;
pub mod state;
mod usage;
pub mod watches;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

pub use self::actor::until_next_stop::UntilNextStop;
use self::actor::{Actor, Reply, Request};
use self::info::SessionInfo;
use self::reported::ReportedState;
use self::seen_values::SeenValues;
use self::selection::Selection;
use self::state::Execution;
pub use self::usage::Busy;
use self::usage::Usage;
use self::watches::Watches;
use crate::adapter::{Adapter, Host, by_name, commands};
use crate::debugger::{Connector, Sinks};
use crate::error::{Error, Result};
use crate::model::ids::SessionId;
use crate::model::launch::Start;
use crate::model::stop::{End, Stop};
use crate::output::Output;
use crate::policy::{Policy, SharedPolicy};
use crate::progress::Progress;
use journal::entry::{Closed, Created};
use journal::{Event, Journal, SessionJournal};

/// A session. Clones are the same session; when the last one goes, it is closed.
#[derive(Clone)]
pub struct Session {
    shared: Arc<SessionShared>,
    mailbox: mpsc::Sender<Request>,
    execution: watch::Receiver<Execution>,
    /// Calls through this handle do not count as use of the session.
    is_onlooker: bool,
    breakpoint_changes: watch::Receiver<u64>,
}

/// What is used without asking the actor.
struct SessionShared {
    info: SessionInfo,
    output: Output,
    progress: Progress,
    journal: SessionJournal,
    usage: Usage,
    reported: ReportedState,
    selection: Selection,
    watches: Watches,
    seen_values: SeenValues,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Session").field(&self.shared.info.id).finish()
    }
}

/// How a wait ended. All three are successes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The program is suspended.
    Stopped(Arc<Stop>),
    /// It is still running.
    Running,
    /// It has ended.
    Ended(Arc<End>),
}

/// What to make a session of.
pub struct SessionOptions {
    /// Its id.
    pub id: SessionId,
    /// A display name.
    pub name: String,
    /// The language.
    pub adapter: &'static dyn Adapter,
    /// The machine.
    pub host: &'static dyn Host,
    /// The user's choice of interpreter.
    pub executable: Option<PathBuf>,
    /// Starts and reaches programs.
    pub connector: Arc<dyn Connector>,
    /// Records what happens.
    pub journal: Journal,
    /// The policy of the server.
    pub policy: SharedPolicy,
}

impl Session {
    /// A session without a program, and its actor as a task of its own.
    pub fn spawn(options: SessionOptions) -> Self {
        let SessionOptions { id, name, adapter, host, executable, connector, journal, policy } = options;
        let journal = journal.of_session(id.as_str(), &name);
        journal.record(Event::Created(Created {
            language: adapter.name().to_owned(),
            executable_path: executable.as_ref().map(|path| path.display().to_string()),
            server: Some(std::process::id()),
        }));
        let output = Output::journaled(journal.clone(), policy.bounds.kept_output());
        let progress = Progress::new();
        let sinks = Sinks {
            output: output.clone(),
            progress: progress.clone(),
            session: id.to_string(),
            policy: Arc::clone(&policy),
        };
        let (mailbox, requests) = mpsc::channel(64);
        let (published, execution) = watch::channel(Execution::Created);
        let (changed, breakpoint_changes) = watch::channel(0);
        tokio::spawn(Actor::new(connector, sinks, requests, published, changed, journal.clone()).run());
        let created = Timestamp::now();
        let shared = SessionShared {
            info: SessionInfo { id, name, adapter, host, executable, created, policy },
            output,
            progress,
            journal,
            usage: Usage::new(created),
            reported: ReportedState::default(),
            selection: Selection::default(),
            watches: Watches::default(),
            seen_values: SeenValues::default(),
        };
        Self { shared: Arc::new(shared), mailbox, execution, breakpoint_changes, is_onlooker: false }
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.shared.info.id
    }

    /// Its display name.
    pub fn name(&self) -> &str {
        &self.shared.info.name
    }

    /// Its language.
    pub fn adapter(&self) -> &'static dyn Adapter {
        self.shared.info.adapter
    }

    /// The machine that it runs on.
    pub fn host(&self) -> &'static dyn Host {
        self.shared.info.host
    }

    /// The interpreter that the user chose.
    pub fn executable(&self) -> Option<&Path> {
        self.shared.info.executable.as_deref()
    }

    /// The policy of its server.
    pub fn policy(&self) -> &Policy {
        &self.shared.info.policy
    }

    /// When it was made.
    pub fn created(&self) -> Timestamp {
        self.shared.info.created
    }

    /// The lines of a source file, when it may be read.
    pub fn read_lines(&self, path: &Path) -> Result<Vec<String>> {
        self.policy().safety.read_lines(path)
    }

    /// The same as one text.
    pub(crate) fn read_text(&self, path: &Path) -> Result<String> {
        self.policy().safety.read_text(path)
    }

    /// Refuses what it must not start or reach.
    pub fn check_start(&self, start: &Start) -> Result<()> {
        let safety = &self.policy().safety;
        match start {
            Start::Launch(launch) => by_name::check_launch(safety, self.host(), self.executable(), launch),
            Start::Attach(attach) => safety.check_attach(attach, commands::main_of),
        }
    }

    /// What its program wrote.
    pub fn output(&self) -> &Output {
        &self.shared.output
    }

    /// What is being done for it at the moment; empty for nothing special.
    pub fn progress(&self) -> String {
        self.shared.progress.last()
    }

    /// How far its start is.
    pub fn start_progress(&self) -> &Progress {
        &self.shared.progress
    }

    /// The expressions whose changes every stop report has.
    pub fn watches(&self) -> &Watches {
        &self.shared.watches
    }

    /// The values at earlier stops.
    fn seen_values(&self) -> &SeenValues {
        &self.shared.seen_values
    }

    /// The same session, for an observer: it is still closed when it is idle.
    #[must_use]
    pub fn for_onlooker(&self) -> Self {
        Self { is_onlooker: true, ..self.clone() }
    }

    /// What its program is doing.
    pub fn execution(&self) -> Execution {
        self.execution.borrow().clone()
    }

    /// Follows what the program is doing.
    pub fn watch(&self) -> watch::Receiver<Execution> {
        self.execution.clone()
    }

    /// Signals every possible change of [`Session::breakpoints`].
    pub fn watch_breakpoints(&self) -> watch::Receiver<u64> {
        self.breakpoint_changes.clone()
    }

    /// Waits until the program is suspended or has ended, at most until `until`.
    ///
    /// A wait owns nothing: any other call can be made meanwhile, and dropping the future changes nothing.
    pub async fn wait(&self, until: Instant) -> Outcome {
        let _busy = self.busy();
        let mut execution = self.execution.clone();
        let settled = execution.wait_for(Execution::is_settled);
        match tokio::time::timeout_at(until, settled).await {
            Ok(Ok(execution)) => match &*execution {
                Execution::Stopped(stop) => Outcome::Stopped(Arc::clone(stop)),
                Execution::Ended(end) => Outcome::Ended(Arc::clone(end)),
                _ => Outcome::Running,
            },
            Ok(Err(_)) => Outcome::Ended(Arc::new(End::Lost)),
            Err(_) => Outcome::Running,
        }
    }

    /// The session is closed and will not be used again.
    pub(crate) fn journal_closing(&self) {
        let open = Timestamp::now().as_millisecond() - self.created().as_millisecond();
        self.shared.journal.record(Event::Closed(Closed { duration: u64::try_from(open).unwrap_or(0) }));
    }

    /// Asks the actor. `serve` must not block: what takes time is a job of the actor's, which answers later.
    async fn ask<T: Send + 'static>(
        &self,
        serve: impl FnOnce(&mut Actor, Reply<T>) + Send + 'static,
    ) -> Result<T> {
        self.send(false, serve).await
    }

    /// Asks what only a program that has a debugger can answer. While the program is leaving, the request is held
    /// until it is known whether the program has ended.
    async fn ask_live<T: Send + 'static>(
        &self,
        serve: impl FnOnce(&mut Actor, Reply<T>) + Send + 'static,
    ) -> Result<T> {
        self.send(true, serve).await
    }

    async fn send<T: Send + 'static>(
        &self,
        is_live: bool,
        serve: impl FnOnce(&mut Actor, Reply<T>) + Send + 'static,
    ) -> Result<T> {
        if !self.is_onlooker {
            self.shared.usage.touch();
        }
        let (reply, answer) = oneshot::channel();
        let request = Request { is_live, serve: Box::new(move |actor| serve(actor, reply)) };
        self.mailbox.send(request).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }
}

#[cfg(test)]
mod models;
