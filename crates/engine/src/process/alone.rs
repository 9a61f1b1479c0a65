//! Waiting for what a process has started.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::{Process, Usage, marked};
use crate::deadlines;

impl Process {
    /// Waits until nothing is left of what the process started, at most this long. The time for which what is left
    /// waits for a processor does not count, up to [`deadlines::QUEUED`].
    pub async fn alone(&self, limit: Duration) {
        let began = Instant::now();
        let mut first_queued = BTreeMap::new();
        loop {
            let mark = self.0.mark.clone();
            let left = tokio::task::spawn_blocking(move || {
                let queued = |pid| (pid, Usage::of(pid).map(|usage| usage.queued()).unwrap_or_default());
                marked::marked(&mark).into_iter().map(queued).collect::<Vec<_>>()
            });
            let left = left.await.unwrap_or_default();
            let since_first_seen = left
                .iter()
                .map(|(pid, queued)| queued.saturating_sub(*first_queued.entry(*pid).or_insert(*queued)));
            let queued = since_first_seen.max().unwrap_or_default();
            if left.is_empty() || began.elapsed() >= limit + queued.min(deadlines::QUEUED) {
                return;
            }
            tokio::time::sleep(deadlines::LOOK).await;
        }
    }
}
