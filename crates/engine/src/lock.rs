//! Locking without poison.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Nothing panics while a lock of the engine is held, so a poisoned one is as good; none is held across an await.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
