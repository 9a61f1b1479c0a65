//! All sessions of a server.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::watch;

use crate::adapter::{Adapter, Driver, Host, Machine};
use crate::debugger::Connector;
use crate::debugger::cdp::CdpConnector;
use crate::debugger::dap::{DapConnector, DapDebugger};
use crate::debugger::java::JavaConnector;
use crate::debugger::mixed::MixedConnector;
use crate::debugger::python::PythonConnector;
use crate::error::Result;
use crate::lock::lock;
use crate::model::ids::SessionId;
use crate::policy::{Policy, SharedPolicy};
use crate::session::{Busy, Session, SessionOptions};
use jiff::Timestamp;
use journal::{Entry, Event, Journal};

/// How many closed sessions are remembered.
const CLOSED: usize = 100;
/// The machine that sessions run on.
static MACHINE: Machine = Machine;

/// The sessions that are open. Clones are the same collection.
#[derive(Clone, Debug)]
pub struct Sessions {
    shared: Arc<Shared>,
    /// The session that was opened or found last, which is in use as long as this is there.
    used: Arc<Mutex<Option<Busy>>>,
    /// A call that is not recorded yet, because its session is not known.
    call: Arc<Mutex<Option<(Timestamp, Event)>>>,
}

#[derive(Debug)]
struct Shared {
    open: Mutex<Vec<Session>>,
    /// Those that only their openers know of.
    own: Mutex<Vec<Session>>,
    /// The ids of the last ones that were closed.
    closed: Mutex<VecDeque<String>>,
    /// Held while a session is opened.
    opening: Mutex<()>,
    /// Counts the openings and closings.
    changed: watch::Sender<u64>,
    journal: Journal,
    policy: SharedPolicy,
}

impl Default for Sessions {
    fn default() -> Self {
        Self::new()
    }
}

impl Sessions {
    /// None yet, and no journal.
    pub fn new() -> Self {
        Self::journaled(Journal::none())
    }

    /// None yet, with a journal.
    pub fn journaled(journal: Journal) -> Self {
        Self::with_policy(journal, SharedPolicy::default())
    }

    /// None yet, and this holds for all of them.
    pub fn with_policy(journal: Journal, policy: SharedPolicy) -> Self {
        let shared = Shared {
            open: Mutex::default(),
            own: Mutex::default(),
            closed: Mutex::default(),
            opening: Mutex::default(),
            changed: watch::Sender::new(0),
            journal,
            policy,
        };
        Self { shared: Arc::new(shared), used: Arc::default(), call: Arc::default() }
    }

    /// The same, for one call: [`Sessions::used`] returns what that call has used.
    #[must_use]
    pub fn for_call(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), used: Arc::default(), call: Arc::default() }
    }

    /// The id and the name of the session that was opened or used last.
    pub fn used(&self) -> Option<(String, String)> {
        let used = lock(&self.used);
        used.as_ref().map(|used| (used.session().id().to_string(), used.session().name().to_owned()))
    }

    /// Records a call, with the session that it uses first: at once, or when that is known, or with
    /// [`Sessions::record_call`].
    pub fn begin_call(&self, call: Event) {
        *lock(&self.call) = Some((Timestamp::now(), call));
        if let Some(session) = self.used() {
            self.record_call(Some(session));
        }
    }

    /// Records the call, unless that was done, with the id and the name of its session, if it has one.
    pub fn record_call(&self, session: Option<(String, String)>) {
        if let Some((time, call)) = lock(&self.call).take() {
            self.journal().record(Entry::at(time, session, call));
        }
    }

    /// A session is used.
    pub fn note(&self, session: &Session) {
        self.record_call(Some((session.id().to_string(), session.name().to_owned())));
        let before = lock(&self.used).replace(session.busy());
        // It signals the end of the use, which needs no lock.
        drop(before);
    }

    /// The journal.
    pub fn journal(&self) -> &Journal {
        &self.shared.journal
    }

    /// Their common policy.
    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }

    /// Opens a session for a language, when there may be one more, and the language and the executable may be
    /// used.
    pub fn open(
        &self,
        adapter: &'static dyn Adapter,
        name: String,
        executable: Option<PathBuf>,
    ) -> Result<Session> {
        self.begin(adapter, name, executable, |session| drop(self.add(session)))
    }

    /// Opens a private session: it is not listed, found or announced, and ends with the others.
    pub fn open_unlisted(
        &self,
        adapter: &'static dyn Adapter,
        name: String,
        executable: Option<PathBuf>,
    ) -> Result<Session> {
        self.begin(adapter, name, executable, |session| lock(&self.shared.own).push(session))
    }

    fn begin(
        &self,
        adapter: &'static dyn Adapter,
        name: String,
        executable: Option<PathBuf>,
        keep: impl FnOnce(Session),
    ) -> Result<Session> {
        // No other session can open between the count and the opening.
        let turn = lock(&self.shared.opening);
        let session = self.spawn(adapter, name, executable)?;
        keep(session.clone());
        drop(turn);
        self.note(&session);
        Ok(session)
    }

    /// Adds a session that was created elsewhere.
    pub fn add(&self, session: Session) -> Session {
        lock(&self.shared.open).push(session.clone());
        self.shared.changed.send_modify(|count| *count += 1);
        session
    }

    /// All of them but those that only their openers know of, oldest first.
    pub fn list(&self) -> Vec<Session> {
        lock(&self.shared.open).clone()
    }

    /// How many there are, with those that only their openers know of.
    pub fn count(&self) -> usize {
        lock(&self.shared.open).len() + lock(&self.shared.own).len()
    }

    /// The session of that id.
    pub fn find(&self, id: &str) -> Option<Session> {
        lock(&self.shared.open).iter().find(|session| session.id().as_str() == id).cloned()
    }

    /// Whether there was one of that id, which was closed not long ago.
    pub fn was_closed(&self, id: &str) -> bool {
        lock(&self.shared.closed).iter().any(|closed| closed == id)
    }

    /// The same among those that only their openers know of, too.
    fn find_any(&self, id: &str) -> Option<Session> {
        let own = || lock(&self.shared.own).iter().find(|session| session.id().as_str() == id).cloned();
        self.find(id).or_else(own)
    }

    /// Closes a session: its program is ended, or left running when it was attached to.
    pub async fn close(&self, session: &Session) {
        let mut was_open = false;
        for sessions in [&self.shared.open, &self.shared.own] {
            let mut sessions = lock(sessions);
            let before = sessions.len();
            sessions.retain(|known| known.id() != session.id());
            was_open |= sessions.len() < before;
        }
        if was_open {
            let mut closed = lock(&self.shared.closed);
            closed.push_back(session.id().to_string());
            if closed.len() > CLOSED {
                closed.pop_front();
            }
        }
        self.shared.changed.send_modify(|count| *count += 1);
        let _told = was_open.then(|| Closing(session));
        // A session that is gone is closed.
        let _ = session.end().await;
    }

    /// Closes all sessions, side by side.
    pub async fn close_all(&self) {
        let mut open = std::mem::take(&mut *lock(&self.shared.open));
        open.append(&mut lock(&self.shared.own));
        let close = async |session: &Session| {
            let _told = Closing(session);
            session.end().await
        };
        futures_util::future::join_all(open.iter().map(close)).await;
    }

    /// Refuses what may not be opened.
    fn check(&self, adapter: &'static dyn Adapter, executable: Option<&Path>) -> Result<()> {
        let Policy { bounds, safety } = self.policy();
        safety.check_language(adapter.name())?;
        if let Some(executable) = executable {
            safety.check_executable(&MACHINE, executable)?;
        }
        let open = lock(&self.shared.open).len() + lock(&self.shared.own).len();
        if open as u64 >= bounds.sessions {
            return Err(bounds.reached("sessions", format!("{open} debug sessions are already open")));
        }
        Ok(())
    }

    fn spawn(
        &self,
        adapter: &'static dyn Adapter,
        name: String,
        executable: Option<PathBuf>,
    ) -> Result<Session> {
        self.check(adapter, executable.as_deref())?;
        let session = self.spawn_checked(adapter, name, executable);
        if let Some(after) = self.policy().bounds.idle_after() {
            tokio::spawn(close_when_idle(Arc::downgrade(&self.shared), session.id().to_string(), after));
        }
        Ok(session)
    }

    fn spawn_checked(
        &self,
        adapter: &'static dyn Adapter,
        name: String,
        executable: Option<PathBuf>,
    ) -> Session {
        let host: &'static dyn Host = &MACHINE;
        let program = connector(adapter, executable.clone());
        let connector = Arc::new(MixedConnector::new(program, |language| connector(language, None)));
        let policy = Arc::clone(&self.shared.policy);
        let journal = self.shared.journal.clone();
        let id = SessionId::random();
        self.record_call(Some((id.to_string(), name.clone())));
        Session::spawn(SessionOptions { id, name, adapter, host, executable, connector, journal, policy })
    }

    /// Signals every opening and closing.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.shared.changed.subscribe()
    }
}

/// What starts and reaches programs of a language, run by the user's choice of interpreter.
fn connector(adapter: &'static dyn Adapter, executable: Option<PathBuf>) -> Arc<dyn Connector> {
    match adapter.facts().driver {
        Driver::Dap => Arc::new(DapConnector::<DapDebugger>::new(adapter, &MACHINE, executable)),
        Driver::Java => Arc::new(JavaConnector::new(adapter, &MACHINE, executable)),
        Driver::Python => Arc::new(PythonConnector::new(adapter, &MACHINE, executable)),
        Driver::Node => Arc::new(CdpConnector::new(adapter, &MACHINE, executable)),
    }
}

/// Closes a session after it has been unused for that long, unless it is closed before.
async fn close_when_idle(shared: Weak<Shared>, id: String, after: Duration) {
    loop {
        let idle = {
            let Some(shared) = shared.upgrade() else { return };
            let sessions = Sessions { shared, used: Arc::default(), call: Arc::default() };
            let Some(session) = sessions.find_any(&id) else { return };
            let idle = session.idle();
            if idle >= after {
                tracing::info!(session = %id, "closed after {} s without use", after.as_secs());
                return sessions.close(&session).await;
            }
            idle
        };
        tokio::time::sleep(after.saturating_sub(idle)).await;
    }
}

/// A session is being closed. This is recorded even if the caller does not wait for the end of its program.
struct Closing<'a>(&'a Session);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.journal_closing();
    }
}
