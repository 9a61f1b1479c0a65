//! What a debugged program was last made to do, so that only changes are sent.

use tokio::sync::Mutex;

use crate::error::Result;

/// A setting in a program. By default its value is not known, and neither is it after a request that failed: the
/// program may have carried that out nevertheless.
#[derive(Debug, Default)]
pub(super) struct RemoteSetting<T>(Mutex<Option<T>>);

impl<T: PartialEq> RemoteSetting<T> {
    pub(super) fn new(initial: T) -> Self {
        Self(Mutex::new(Some(initial)))
    }

    /// Sends `request`, which sets it to `value`, unless that is its value. Concurrent calls wait for each other.
    pub(super) async fn set(&self, value: T, request: impl Future<Output = Result<()>>) -> Result<()> {
        let mut known = self.0.lock().await;
        if known.as_ref() == Some(&value) {
            return Ok(());
        }
        *known = None;
        request.await?;
        *known = Some(value);
        Ok(())
    }
}
