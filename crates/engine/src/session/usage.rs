//! When a session was last used, so that an idle one can be closed.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;

use super::Session;

/// When a session was last used, and by how many it is in use.
pub(super) struct Usage {
    updated: watch::Sender<Timestamp>,
    /// Held by whatever is under way.
    busy: Arc<()>,
}

impl Usage {
    pub(super) fn new(created: Timestamp) -> Self {
        Self { updated: watch::Sender::new(created), busy: Arc::default() }
    }

    pub(super) fn touch(&self) {
        self.updated.send_replace(Timestamp::now());
    }
}

/// A session in use; see [`Session::busy`].
#[derive(Debug)]
pub struct Busy {
    session: Session,
    held: Option<Arc<()>>,
}

impl Busy {
    /// Which.
    pub fn session(&self) -> &Session {
        &self.session
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.held.take();
        self.session.shared.usage.touch();
    }
}

impl Session {
    /// When it was last used.
    pub fn updated(&self) -> Timestamp {
        *self.shared.usage.updated.borrow()
    }

    /// The session is used for as long as this is held.
    #[must_use]
    pub fn busy(&self) -> Busy {
        Busy { session: self.clone(), held: Some(Arc::clone(&self.shared.usage.busy)) }
    }

    /// How long it has not been used.
    pub fn idle(&self) -> Duration {
        if Arc::strong_count(&self.shared.usage.busy) > 1 {
            return Duration::ZERO;
        }
        Duration::try_from(Timestamp::now().duration_since(self.updated())).unwrap_or_default()
    }
}
