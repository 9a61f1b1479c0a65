//! The client's roots as the folders that files and programs must be in (`--allow-client-roots`).

#![expect(deprecated, reason = "the current revision has roots, even if a later one may not")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::deadlines::ROOTS;
use engine::safety::Safety;
use engine::source_map::file_url_path;
use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, InputRequest, InputRequiredResult, InputResponses, ListRootsRequest, ListRootsResult,
    ServerRequest,
};
use rmcp::service::RequestContext;
use tools::ToolError;

use super::ask::{Unanswered, ask};
use super::server::is_stateless;

/// The roots among what a call needs.
const NAME: &str = "roots";
/// How long the roots of a client of revision 2026-07-28 hold, which does not say when they change.
const HOLD: Duration = Duration::from_mins(1);

/// Why a call cannot begin.
pub(super) enum Obstacle {
    Refused(ToolError),
    /// The client is to list its roots, and to repeat the call (2026-07-28).
    Needed(InputRequiredResult),
}

/// Whether the client's roots have changed since it listed them.
#[derive(Default)]
pub(super) struct RootsState {
    have_changed: AtomicBool,
}

impl RootsState {
    /// The client says so.
    pub(super) fn mark_changed(&self) {
        self.have_changed.store(true, Ordering::Relaxed);
    }

    /// Makes sure that the client's roots are known before a call.
    pub(super) async fn learn(
        &self,
        cx: &RequestContext<RoleServer>,
        safety: &Safety,
        responses: Option<&InputResponses>,
    ) -> Result<(), Obstacle> {
        let Some(known) = &safety.client_roots else { return Ok(()) };
        let has_changed = self.have_changed.swap(false, Ordering::Relaxed);
        let holds = |age: Duration| !is_stateless(cx) || age < HOLD;
        if !has_changed && known.age().is_some_and(holds) {
            return Ok(());
        }
        let listed = self.list(cx, responses).await.inspect_err(|_| {
            if has_changed {
                self.mark_changed();
            }
        })?;
        safety.set_client_roots(&folders(&listed));
        Ok(())
    }

    async fn list(
        &self,
        cx: &RequestContext<RoleServer>,
        responses: Option<&InputResponses>,
    ) -> Result<ListRootsResult, Obstacle> {
        let refused = |problem: &str| Obstacle::Refused(ToolError::no_client_roots(problem));
        if cx.client_capabilities().and_then(|declared| declared.roots).is_none() {
            return Err(refused("the client declares no `roots`"));
        }
        if is_stateless(cx) {
            let Some(response) = responses.and_then(|responses| responses.get(NAME)) else {
                let request = InputRequest::ListRoots(ListRootsRequest::default());
                let requests = BTreeMap::from([(NAME.to_owned(), request)]);
                return Err(Obstacle::Needed(InputRequiredResult::from_input_requests(requests)));
            };
            return serde_json::from_value(response.clone())
                .map_err(|error| refused(&format!("the client's list is unreadable: {error}")));
        }
        match ask(cx, ServerRequest::ListRootsRequest(ListRootsRequest::default()), ROOTS).await {
            Ok(ClientResult::ListRootsResult(listed)) => Ok(listed),
            Ok(_) => Err(refused("the client's answer is not a list of roots")),
            Err(Unanswered::Late) => {
                Err(refused(&format!("the client did not list them within {} s", ROOTS.as_secs())))
            }
            Err(Unanswered::Failed(error)) => Err(refused(&format!("the client did not list them: {error}"))),
        }
    }
}

/// The folders of this machine among the roots.
fn folders(listed: &ListRootsResult) -> Vec<PathBuf> {
    listed
        .roots
        .iter()
        .filter(|root| root.uri.starts_with("file:"))
        .filter_map(|root| file_url_path(&root.uri))
        .collect()
}
