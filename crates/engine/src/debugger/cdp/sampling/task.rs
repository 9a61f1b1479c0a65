//! Answers that may arrive after the caller has given up.

use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Work that continues after the caller has given up, for as long as this exists.
#[derive(Debug)]
pub(super) struct LateAnswer<T>(Option<JoinHandle<T>>);

impl<T> Default for LateAnswer<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Send + 'static> LateAnswer<Option<T>> {
    /// Its result, if it arrives in time.
    pub(super) async fn result(&mut self, until: Instant) -> Option<T> {
        let result = tokio::time::timeout_at(until, self.0.as_mut()?).await.ok()?;
        self.0 = None;
        result.ok()?
    }

    /// Nothing was requested.
    pub(super) fn is_idle(&self) -> bool {
        self.0.is_none()
    }

    /// It has a result that has not been taken yet.
    pub(super) fn is_over(&self) -> bool {
        self.0.as_ref().is_none_or(JoinHandle::is_finished)
    }

    pub(super) fn begin(&mut self, work: impl Future<Output = Option<T>> + Send + 'static) {
        self.0 = Some(tokio::spawn(work));
    }
}

impl<T> Drop for LateAnswer<T> {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}
