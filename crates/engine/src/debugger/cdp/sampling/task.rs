//! Answers that may come when nobody waits for them any more.

use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Work that goes on when nobody waits for it any more, as long as this is there.
#[derive(Debug)]
pub(super) struct LateAnswer<T>(Option<JoinHandle<T>>);

impl<T> Default for LateAnswer<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Send + 'static> LateAnswer<Option<T>> {
    /// What it comes to, if that is until then.
    pub(super) async fn result(&mut self, until: Instant) -> Option<T> {
        let result = tokio::time::timeout_at(until, self.0.as_mut()?).await.ok()?;
        self.0 = None;
        result.ok()?
    }

    /// Nothing was asked for.
    pub(super) fn is_idle(&self) -> bool {
        self.0.is_none()
    }

    /// It has come to something that nobody has asked for yet.
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
