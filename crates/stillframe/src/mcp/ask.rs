//! Requests to the client, which revisions up to 2025-11-25 have. From 2026-07-28 on, a call is answered with what it
//! needs, and the client repeats it.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientResult, ServerRequest};
use rmcp::service::{PeerRequestOptions, RequestContext, RequestHandle, ServiceError};
use tokio::time::timeout;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// It took too long.
    Late,
    /// The client refused, or is gone.
    Failed(String),
}

/// A request that the client has not answered. When the call that needs it is dropped, the client need not answer.
struct PendingQuestion(Option<RequestHandle<RoleServer>>);

impl Drop for PendingQuestion {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take() {
            tokio::spawn(handle.cancel(Some("the call that needs it is over".to_owned())));
        }
    }
}

/// Sends a request to the client while it waits for a call, and waits for the answer.
pub(super) async fn ask(
    cx: &RequestContext<RoleServer>,
    request: ServerRequest,
    patience: Duration,
) -> Result<ClientResult, Unanswered> {
    let failed = |error: ServiceError| Unanswered::Failed(error.to_string());
    let handle = cx.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
    let mut asked = PendingQuestion(Some(handle.map_err(failed)?));
    let Some(handle) = &mut asked.0 else { return Err(Unanswered::Late) };
    let answer = timeout(patience, &mut handle.rx).await.map_err(|_| Unanswered::Late)?;
    drop(asked.0.take());
    answer.map_err(|_| failed(ServiceError::TransportClosed))?.map_err(failed)
}
