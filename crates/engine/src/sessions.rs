//! All sessions of a server.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::adapter::{Adapter, Host, Machine, Protocol};
use crate::debugger::cdp::CdpConnector;
use crate::debugger::dap::DapConnector;
use crate::session::{Session, SessionOptions};

/// The machine that sessions run on.
static MACHINE: Machine = Machine;

/// The sessions that are open. Clones are the same collection.
#[derive(Clone, Debug)]
pub struct Sessions(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    open: Mutex<Vec<Session>>,
    /// Counts the openings and closings.
    changed: watch::Sender<u64>,
}

impl Default for Sessions {
    fn default() -> Self {
        Self::new()
    }
}

impl Sessions {
    /// None yet.
    pub fn new() -> Self {
        Self(Arc::new(Shared { open: Mutex::default(), changed: watch::Sender::new(0) }))
    }

    /// Opens a session for a language.
    pub fn open(&self, adapter: &'static dyn Adapter, name: String, executable: Option<PathBuf>) -> Session {
        let host: &'static dyn Host = &MACHINE;
        let chosen = executable.clone();
        self.add(match adapter.protocol() {
            Protocol::Dap => {
                let connector = DapConnector::new(adapter, host, chosen);
                Session::spawn(SessionOptions { name, adapter, host, executable, connector })
            }
            Protocol::Cdp => {
                let connector = CdpConnector::new(adapter, host, chosen);
                Session::spawn(SessionOptions { name, adapter, host, executable, connector })
            }
        })
    }

    /// Takes up a session that was made elsewhere.
    pub fn add(&self, session: Session) -> Session {
        self.lock().push(session.clone());
        self.0.changed.send_modify(|count| *count += 1);
        session
    }

    /// All of them, oldest first.
    pub fn list(&self) -> Vec<Session> {
        self.lock().clone()
    }

    /// The session of that id.
    pub fn find(&self, id: &str) -> Option<Session> {
        self.lock().iter().find(|session| session.id().as_str() == id).cloned()
    }

    /// Closes a session: its program is ended, or left running when it was attached to.
    pub async fn close(&self, session: &Session) {
        self.lock().retain(|open| open.id() != session.id());
        self.0.changed.send_modify(|count| *count += 1);
        // A session that is gone is closed.
        let _ = session.end().await;
    }

    /// Closes all sessions, side by side.
    pub async fn close_all(&self) {
        let open = std::mem::take(&mut *self.lock());
        futures_util::future::join_all(open.iter().map(Session::end)).await;
    }

    /// Tells of every opening and closing.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.changed.subscribe()
    }

    /// Nothing panics while the lock is held, so a poisoned one is as good.
    fn lock(&self) -> MutexGuard<'_, Vec<Session>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
