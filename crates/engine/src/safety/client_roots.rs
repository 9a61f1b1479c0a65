//! The folders that the client of a server lists. They change while the server runs.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// The folders that one client lists, links resolved. None are allowed before it has. Clones are the same list.
#[derive(Clone, Debug, Default)]
pub struct ClientRoots(Arc<RwLock<(Vec<PathBuf>, Option<Instant>)>>);

impl PartialEq for ClientRoots {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for ClientRoots {}

// Nothing panics while the lock is held, so a poisoned one is as good.
impl ClientRoots {
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    pub(super) fn set(&self, folders: Vec<PathBuf>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = (folders, Some(Instant::now()));
    }

    /// How long ago the client has listed them; none if it never has.
    pub fn age(&self) -> Option<Duration> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).1.map(|at| at.elapsed())
    }
}
