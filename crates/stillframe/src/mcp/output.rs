//! Each session's output as a resource that can be read and subscribed to.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::output::Output;
use engine::sessions::Sessions;
use journal::visible::visible;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate, ResourceUpdatedNotificationParam};
use rmcp::service::SubscriptionSink;
use rmcp::{ErrorData, Peer, RoleServer};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tools::render::output_text;
use tools::{hide_in_text, show_in_text};

/// At most this often does a subscriber hear of one session.
const PACE: Duration = Duration::from_millis(50);
/// What all addresses begin with, as in mcp-debugger: its clients make them up from the id of a session.
const BEGIN: &str = "debug://sessions/";
/// What they may begin with, too. One name is listed for each thing.
const OTHER_BEGIN: &str = "stillframe://sessions/";
/// What they end with.
const END: &str = "/output";

fn uri_of(session: &str) -> String {
    format!("{BEGIN}{session}{END}")
}

/// The template of all addresses.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(uri_of("{sessionId}"), "session-output")
        .with_title("Output of a debug session")
        .with_description("The program's output: standard output, standard error, logpoints.")
        .with_mime_type("text/plain")
}

/// Whether this is the template of an address that names a session.
pub(super) fn is_template(uri: &str) -> bool {
    uri == template().uri_template
}

/// The outputs of the open sessions.
pub(super) fn list(sessions: &Sessions) -> Vec<Resource> {
    let open = sessions.list();
    let resource = |session: &engine::session::Session| {
        let name = format!("Output of {}", visible(session.name()));
        Resource::new(uri_of(session.id().as_str()), name).with_mime_type("text/plain")
    };
    open.iter().map(resource).collect()
}

/// The output at an address.
pub(super) fn find(sessions: &Sessions, uri: &str) -> Result<Output, ErrorData> {
    let rest = uri.strip_prefix(BEGIN).or_else(|| uri.strip_prefix(OTHER_BEGIN));
    let session = rest.and_then(|rest| rest.strip_suffix(END)).and_then(|id| sessions.find(id));
    session.map(|session| session.output().clone()).ok_or_else(|| {
        let problem = format!("no resource `{uri}`; call resources/list for valid ones");
        ErrorData::resource_not_found(problem, Some(json!({ "uri": uri })))
    })
}

/// All of it that is kept, without credentials unless they are to be shown.
pub(super) fn read(output: &Output, uri: &str, shows_credentials: bool) -> ResourceContents {
    let all = output.read(0, usize::MAX);
    let mut text = output_text(&all);
    if all.skipped > 0 {
        text.insert_str(0, &format!("[the first {} bytes were dropped]\n", all.skipped));
    }
    show_in_text(&mut text);
    if !shows_credentials {
        hide_in_text(&mut text);
    }
    ResourceContents::text(text, uri)
}

/// Calls `tell` after each change, until what changes is gone.
async fn follow<F: Future>(mut changes: watch::Receiver<u64>, tell: impl Fn() -> F) {
    while changes.changed().await.is_ok() {
        tell().await;
        tokio::time::sleep(PACE).await;
    }
}

/// Notifies a client of revisions up to 2025-11-25 about each session that is opened or closed.
pub(super) async fn follow_list(sessions: watch::Receiver<u64>, peer: Peer<RoleServer>) {
    follow(sessions, async || drop(peer.notify_resource_list_changed().await)).await;
}

/// Notifies a listener (revision 2026-07-28) about the same.
pub(super) async fn follow_list_for_listener(sessions: watch::Receiver<u64>, sink: SubscriptionSink) {
    follow(sessions, async || drop(sink.notify_resource_list_changed().await)).await;
}

/// Notifies one listener (revision 2026-07-28) about one output.
pub(super) async fn follow_for_listener(
    mut output: watch::Receiver<u64>,
    uri: String,
    sink: SubscriptionSink,
) {
    // The listener was acknowledged, and may have read, before this began to follow.
    if *output.borrow() > 0 {
        output.mark_changed();
    }
    follow(output, async || drop(sink.notify_resource_updated(uri.as_str()).await)).await;
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
    /// Begins to tell of the sessions that come and go.
    pub(super) fn add_list(&self, sessions: watch::Receiver<u64>, peer: Peer<RoleServer>) {
        let following = tokio::spawn(follow_list(sessions, peer));
        // No address is empty.
        if let Some(old) = self.lock().insert(String::new(), following.abort_handle()) {
            old.abort();
        }
    }

    /// Begins to tell of an output.
    pub(super) fn add(&self, output: &Output, uri: String, peer: Peer<RoleServer>) {
        // Only the watch is held: a subscription must not keep a closed session's output.
        let end = output.watch();
        let address = uri.clone();
        let following = tokio::spawn(follow(end, move || {
            let (peer, uri) = (peer.clone(), address.clone());
            async move { peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await }
        }));
        if let Some(old) = self.lock().insert(uri, following.abort_handle()) {
            old.abort();
        }
    }

    /// Stops telling of it.
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
