//! All sessions of a server.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::adapter::{Adapter, Host, Machine, Protocol};
use crate::debugger::cdp::CdpConnector;
use crate::debugger::dap::DapConnector;
use crate::journal::Journal;
use crate::session::{Session, SessionOptions};

/// The machine that sessions run on.
static MACHINE: Machine = Machine;

/// The sessions that are open. Clones are the same collection.
#[derive(Clone, Debug)]
pub struct Sessions {
    shared: Arc<Shared>,
    /// The id and the name of the session that was opened or found last.
    used: Arc<Mutex<Option<(String, String)>>>,
}

#[derive(Debug)]
struct Shared {
    open: Mutex<Vec<Session>>,
    /// Those that only their openers know of.
    own: Mutex<Vec<Session>>,
    /// Counts the openings and closings.
    changed: watch::Sender<u64>,
    journal: Journal,
}

impl Default for Sessions {
    fn default() -> Self {
        Self::new()
    }
}

impl Sessions {
    /// None yet, and nothing is written down of them.
    pub fn new() -> Self {
        Self::journaled(Journal::none())
    }

    /// None yet. What happens in them is written down.
    pub fn journaled(journal: Journal) -> Self {
        let shared =
            Shared { open: Mutex::default(), own: Mutex::default(), changed: watch::Sender::new(0), journal };
        Self { shared: Arc::new(shared), used: Arc::default() }
    }

    /// The same, for one call: [`Sessions::used`] tells what that call has used.
    #[must_use]
    pub fn for_call(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), used: Arc::default() }
    }

    /// The id and the name of the session that was opened or used last.
    pub fn used(&self) -> Option<(String, String)> {
        lock(&self.used).clone()
    }

    /// A session is used.
    pub fn note(&self, session: &Session) {
        *lock(&self.used) = Some((session.id().to_string(), session.name().to_owned()));
    }

    /// Where it is written down what happens.
    pub fn journal(&self) -> &Journal {
        &self.shared.journal
    }

    /// Opens a session for a language.
    pub fn open(&self, adapter: &'static dyn Adapter, name: String, executable: Option<PathBuf>) -> Session {
        let session = self.add(self.spawn(adapter, name, executable));
        self.note(&session);
        session
    }

    /// Opens a session that only its opener knows of: it is not listed, found or told of, and ends with the
    /// others.
    pub fn open_own(
        &self,
        adapter: &'static dyn Adapter,
        name: String,
        executable: Option<PathBuf>,
    ) -> Session {
        let session = self.spawn(adapter, name, executable);
        lock(&self.shared.own).push(session.clone());
        self.note(&session);
        session
    }

    /// Takes up a session that was made elsewhere.
    pub fn add(&self, session: Session) -> Session {
        lock(&self.shared.open).push(session.clone());
        self.shared.changed.send_modify(|count| *count += 1);
        session
    }

    /// All of them but those that only their openers know of, oldest first.
    pub fn list(&self) -> Vec<Session> {
        lock(&self.shared.open).clone()
    }

    /// The session of that id.
    pub fn find(&self, id: &str) -> Option<Session> {
        lock(&self.shared.open).iter().find(|session| session.id().as_str() == id).cloned()
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

    fn spawn(&self, adapter: &'static dyn Adapter, name: String, executable: Option<PathBuf>) -> Session {
        let host: &'static dyn Host = &MACHINE;
        let chosen = executable.clone();
        let journal = self.shared.journal.clone();
        match adapter.protocol() {
            Protocol::Dap => {
                let connector = DapConnector::new(adapter, host, chosen);
                Session::spawn(SessionOptions { name, adapter, host, executable, connector, journal })
            }
            Protocol::Cdp => {
                let connector = CdpConnector::new(adapter, host, chosen);
                Session::spawn(SessionOptions { name, adapter, host, executable, connector, journal })
            }
        }
    }

    /// Tells of every opening and closing.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.shared.changed.subscribe()
    }
}

/// A session is being closed. It is written down also where nobody waits for the end of its program.
struct Closing<'a>(&'a Session);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.journal_closing();
    }
}

/// Nothing panics while a lock is held, so a poisoned one is as good.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
