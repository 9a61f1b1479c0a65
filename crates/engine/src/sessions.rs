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
pub struct Sessions(Arc<Shared>);

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
        Self(Arc::new(Shared {
            open: Mutex::default(),
            own: Mutex::default(),
            changed: watch::Sender::new(0),
            journal,
        }))
    }

    /// Where it is written down what happens.
    pub fn journal(&self) -> &Journal {
        &self.0.journal
    }

    /// Opens a session for a language.
    pub fn open(&self, adapter: &'static dyn Adapter, name: String, executable: Option<PathBuf>) -> Session {
        self.add(self.spawn(adapter, name, executable))
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
        lock(&self.0.own).push(session.clone());
        session
    }

    /// Takes up a session that was made elsewhere.
    pub fn add(&self, session: Session) -> Session {
        lock(&self.0.open).push(session.clone());
        self.0.changed.send_modify(|count| *count += 1);
        session
    }

    /// All of them but those that only their openers know of, oldest first.
    pub fn list(&self) -> Vec<Session> {
        lock(&self.0.open).clone()
    }

    /// The session of that id.
    pub fn find(&self, id: &str) -> Option<Session> {
        lock(&self.0.open).iter().find(|session| session.id().as_str() == id).cloned()
    }

    /// Closes a session: its program is ended, or left running when it was attached to.
    pub async fn close(&self, session: &Session) {
        for sessions in [&self.0.open, &self.0.own] {
            lock(sessions).retain(|known| known.id() != session.id());
        }
        self.0.changed.send_modify(|count| *count += 1);
        // A session that is gone is closed.
        let _ = session.end().await;
    }

    /// Closes all sessions, side by side.
    pub async fn close_all(&self) {
        let mut open = std::mem::take(&mut *lock(&self.0.open));
        open.append(&mut lock(&self.0.own));
        futures_util::future::join_all(open.iter().map(Session::end)).await;
    }

    fn spawn(&self, adapter: &'static dyn Adapter, name: String, executable: Option<PathBuf>) -> Session {
        let host: &'static dyn Host = &MACHINE;
        let chosen = executable.clone();
        let journal = self.0.journal.clone();
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
        self.0.changed.subscribe()
    }
}

/// Nothing panics while a lock is held, so a poisoned one is as good.
fn lock(sessions: &Mutex<Vec<Session>>) -> MutexGuard<'_, Vec<Session>> {
    sessions.lock().unwrap_or_else(PoisonError::into_inner)
}
