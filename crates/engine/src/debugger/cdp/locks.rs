//! Locking without poison.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Nothing panics while one of these locks is held, and none is held across an await.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
