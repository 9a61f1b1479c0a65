//! Notifies clients of changed resources, and of sessions that are opened and closed.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::session::state::Execution;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::SubscriptionSink;
use rmcp::{Peer, RoleServer};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// At most this often does a subscriber hear of one resource.
const PACE: Duration = Duration::from_millis(50);

/// Signals that a resource may have changed.
pub(super) struct Changes {
    output: Option<watch::Receiver<u64>>,
    execution: Option<watch::Receiver<Execution>>,
}

impl Changes {
    pub(super) fn new(
        output: Option<watch::Receiver<u64>>,
        execution: Option<watch::Receiver<Execution>>,
    ) -> Self {
        Self { output, execution }
    }

    /// Waits for the next change; false when what changes is gone.
    async fn next(&mut self) -> bool {
        async fn of<T>(changes: &mut Option<watch::Receiver<T>>) -> bool {
            match changes {
                Some(changes) => changes.changed().await.is_ok(),
                None => std::future::pending().await,
            }
        }
        tokio::select! {
            is_there = of(&mut self.output) => is_there,
            is_there = of(&mut self.execution) => is_there,
        }
    }

    /// The next change is one that was before.
    fn mark_earlier(&mut self) {
        if let Some(output) = self.output.as_mut().filter(|output| *output.borrow() > 0) {
            output.mark_changed();
        }
        if let Some(execution) =
            self.execution.as_mut().filter(|now| !matches!(*now.borrow(), Execution::Created))
        {
            execution.mark_changed();
        }
    }
}

impl From<watch::Receiver<u64>> for Changes {
    fn from(changes: watch::Receiver<u64>) -> Self {
        Self::new(Some(changes), None)
    }
}

/// Calls `tell` after each change, until what changes is gone.
async fn follow<F: Future>(mut changes: Changes, tell: impl Fn() -> F) {
    while changes.next().await {
        tell().await;
        tokio::time::sleep(PACE).await;
    }
}

/// Notifies a client of revisions up to 2025-11-25 about each session that is opened or closed.
async fn follow_list(sessions: watch::Receiver<u64>, peer: Peer<RoleServer>) {
    follow(sessions.into(), async || drop(peer.notify_resource_list_changed().await)).await;
}

/// Notifies a listener (revision 2026-07-28) about the same.
pub(super) async fn follow_list_for_listener(sessions: watch::Receiver<u64>, sink: SubscriptionSink) {
    follow(sessions.into(), async || drop(sink.notify_resource_list_changed().await)).await;
}

/// Notifies one listener (revision 2026-07-28) about one resource.
pub(super) async fn follow_for_listener(mut changes: Changes, uri: String, sink: SubscriptionSink) {
    // The listener was acknowledged, and may have read, before this began to follow.
    changes.mark_earlier();
    follow(changes, async || drop(sink.notify_resource_updated(uri.as_str()).await)).await;
}

/// The subscriptions of revisions up to 2025-11-25, by address. They last as long as the connection.
#[derive(Default)]
pub(super) struct Subscriptions(Mutex<HashMap<String, AbortHandle>>);

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.lock().values().for_each(AbortHandle::abort);
    }
}

impl Subscriptions {
    /// Begins to notify of the sessions that are opened and closed.
    pub(super) fn add_list(&self, sessions: watch::Receiver<u64>, peer: Peer<RoleServer>) {
        let following = tokio::spawn(follow_list(sessions, peer));
        // No address is empty.
        if let Some(old) = self.lock().insert(String::new(), following.abort_handle()) {
            old.abort();
        }
    }

    /// Begins to notify of a resource.
    pub(super) fn add(&self, changes: Changes, uri: String, peer: Peer<RoleServer>) {
        let address = uri.clone();
        let following = tokio::spawn(follow(changes, move || {
            let (peer, uri) = (peer.clone(), address.clone());
            async move { peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await }
        }));
        if let Some(old) = self.lock().insert(uri, following.abort_handle()) {
            old.abort();
        }
    }

    /// Stops notifying of it.
    pub(super) fn remove(&self, uri: &str) {
        if let Some(following) = self.lock().remove(uri) {
            following.abort();
        }
    }

    /// Nothing panics while the lock is held, so a poisoned one is as good.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
