//! The MCP endpoint: identifies the client of a request, and lets the SDK answer it for that client alone.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use futures_util::StreamExt;
use rmcp::model::{ProtocolVersion, RequestId};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::answers::{INVALID_REQUEST, Refusal};
use super::clients::ActiveClient;
use super::explain::{self, RequestSummary};
use super::message::{self, Message};
use super::outbox::StreamError;
use super::session::OneSession;
use super::{HttpState, wrong_method};
use crate::mcp::handler;
use crate::mcp::server::Server;

/// How often a stream sends a keep-alive.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Answers a request to MCP.
pub(super) async fn mcp(State(site): State<Arc<HttpState>>, request: Request) -> Result<Response, Refusal> {
    let owner = site.access.owner(request.headers())?;
    if site.ending.is_cancelled() {
        return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down"));
    }
    let (mut parts, body) = request.into_parts();
    // It goes no further, so that nothing can write it down.
    parts.headers.remove(AUTHORIZATION);
    let message = match parts.method {
        Method::POST => Some(Message::read(&parts.headers, body).await?),
        Method::GET | Method::DELETE => None,
        _ => return Ok(wrong_method("GET, POST, DELETE")),
    };
    let busy = match session_id(&parts.headers)? {
        Some(id) => site.clients.session(id, &owner)?,
        None if message.as_ref().is_some_and(Message::begins_session) => site.clients.admit(&owner)?,
        None => site.clients.stateless(&owner),
    };
    if let Some(id) = message.as_ref().and_then(Message::id) {
        admit_call(&busy, &id)?;
    }
    if parts.method == Method::GET {
        admit_reader(&busy, &parts.headers)?;
    }
    let call = message.as_ref().is_some_and(Message::is_call).then(|| site.calls.token());
    let bytes = message.as_ref().map(|message| message.bytes.clone()).unwrap_or_default();
    let has_session = busy.0.link.get().is_some();
    let (method, revision) = (parts.method.clone(), explain::revision(&parts.headers));
    let asked = RequestSummary { method, revision, has_session, message };
    let response = site.serve(&busy, Request::from_parts(parts, Body::from(bytes))).await;
    let mut response = asked.explain(response).await;
    site.clients.was_answered(&busy, !response.status().is_success());
    if busy.0.link.get().is_none() {
        // A handshake that was refused, or none at all.
        busy.0.leaves_place();
    }
    if asked.method == Method::DELETE && response.status() == StatusCode::ACCEPTED {
        // It is done, and one of the clients of the field takes nothing else for a success.
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    // A stream keeps its client busy for as long as it is open. A response with a length is sent at once.
    if response.body().size_hint().exact().is_none() {
        let held = (busy, call);
        response = response.map(|body| {
            Body::from_stream(body.into_data_stream().inspect(move |_| {
                let _ = &held;
            }))
        });
    }
    Ok(response)
}

impl HttpState {
    /// The SDK's service, which sees only this client.
    async fn serve(&self, busy: &ActiveClient, request: Request) -> Response {
        let client = Arc::clone(&busy.0);
        let sessions = OneSession { clients: Arc::clone(&self.clients), client: Arc::clone(&client) };
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_sse_keep_alive(Some(KEEP_ALIVE))
            // Streams begin in `outbox.rs`.
            .with_sse_retry(None)
            .with_max_request_body_bytes(message::MOST_BYTES)
            // Both were checked, by rules that know more.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_cancellation_token(client.ends.clone());
        let offer = Arc::clone(&self.offer);
        let server = move || {
            Ok(handler(Server::new(client.context.clone(), Arc::clone(&offer), client.remotes.clone())))
        };
        StreamableHttpService::new(server, Arc::new(sessions), config).handle(request).await.map(Body::new)
    }
}

/// Whether the session of a client takes a call with this id.
fn admit_call(busy: &ActiveClient, id: &RequestId) -> Result<(), Refusal> {
    let Some(link) = busy.0.link.get() else { return Ok(()) };
    link.outbox.admits(id).map_err(|refused| {
        Refusal::new(status(refused), refused.to_string()).coded(INVALID_REQUEST).of(Some(id.clone()))
    })
}

/// Whether the session of a client has a stream to read. The SDK would answer with an empty one, which the clients
/// of the field ask for again and again (rmcp 3.9).
fn admit_reader(busy: &ActiveClient, headers: &HeaderMap) -> Result<(), Refusal> {
    let Some(link) = busy.0.link.get() else { return Ok(()) };
    let behind = headers.get("last-event-id").map(|event| event.to_str().unwrap_or_default());
    link.outbox.admits_reader(behind).map_err(|refused| Refusal::new(status(refused), refused.to_string()))
}

pub(super) fn status(refused: StreamError) -> StatusCode {
    match refused {
        StreamError::TooManyCalls => StatusCode::TOO_MANY_REQUESTS,
        StreamError::TooManyReaders => StatusCode::CONFLICT,
        StreamError::Closed => StatusCode::NOT_FOUND,
        // Not 404, at which clients begin anew.
        StreamError::TakenId | StreamError::UnknownEvent => StatusCode::BAD_REQUEST,
    }
}

/// The MCP session of a request. From 2026-07-28 there are none, whatever the header says.
fn session_id(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let version = text("mcp-protocol-version").unwrap_or_default();
    if ProtocolVersion::KNOWN_VERSIONS
        .iter()
        .any(|known| known.as_str() == version && !known.has_initialize())
    {
        return Ok(None);
    }
    if headers.get_all("mcp-session-id").iter().count() > 1 {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "send `Mcp-Session-Id` only once"));
    }
    Ok(headers.get("mcp-session-id").map(|value| value.to_str().unwrap_or_default()))
}
