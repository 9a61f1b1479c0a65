//! What was learned from files, kept for as long as they do not change.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};
use std::time::SystemTime;

use crate::error::Result;
use crate::lock::lock;

/// When a file was changed, and its length in bytes.
type Stamp = (SystemTime, u64);

/// Answers about files, such as what an interpreter says of itself.
pub(super) struct Known<T, K = PathBuf>(LazyLock<Mutex<HashMap<K, (Stamp, T)>>>);

impl<T: Clone, K: Eq + Hash> Known<T, K> {
    pub(super) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// The answer for `key`, kept from before unless `file` has changed since.
    ///
    /// # Errors
    ///
    /// That of `ask`, which is not kept.
    pub(super) async fn or_ask(
        &self,
        key: K,
        file: &Path,
        ask: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        // Read before the file is, so that a change in between is noticed the next time.
        let stamp = stamp(file);
        if let Some((then, answer)) = lock(&self.0).get(&key)
            && Some(*then) == stamp
        {
            return Ok(answer.clone());
        }
        let answer = ask.await?;
        if let Some(stamp) = stamp {
            lock(&self.0).insert(key, (stamp, answer.clone()));
        }
        Ok(answer)
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = file.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[tokio::test]
    async fn answers_are_kept_until_the_file_changes_and_failures_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let known = Known::new();
        let ask = |answer| known.or_ask(file.clone(), &file, async move { answer });
        assert_eq!(ask(Ok(1)).await, Ok(1), "no file, nothing to keep");
        std::fs::write(&file, "a").unwrap();
        assert_eq!(ask(Err(Error::Lost)).await, Err(Error::Lost));
        assert_eq!(ask(Ok(2)).await, Ok(2));
        assert_eq!(ask(Ok(3)).await, Ok(2));
        std::fs::write(&file, "ab").unwrap();
        assert_eq!(ask(Ok(4)).await, Ok(4));
        std::fs::remove_file(&file).unwrap();
        assert_eq!(ask(Ok(5)).await, Ok(5));
    }
}
