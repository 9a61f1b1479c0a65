//! HTTP with SSE, the transport of revision 2024-11-05: `GET /sse` is the session, on whose stream everything is sent;
//! its first event names the address that messages are posted to. The session ends with its stream.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{Method, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt};
use rmcp::model::{ClientNotification, JsonRpcMessage};
use rmcp::service::serve_server_with_ct;
use serde::Deserialize;

use super::answers::{INVALID_REQUEST, Refusal};
use super::clients::{ActiveClient, Clients};
use super::endpoint::{KEEP_ALIVE, status};
use super::message::Message;
use super::session::open_link;
use super::{HttpState, wrong_method};
use crate::mcp::disconnect::DisconnectWatcher;
use crate::mcp::handler;
use crate::mcp::server::Server;

/// Where a session is opened, and where its messages go.
pub(super) const ADDRESS: &str = "/sse";

/// The session that a message is for.
#[derive(Deserialize)]
pub(super) struct Addressee {
    #[serde(rename = "sessionId")]
    session: Option<String>,
}

/// Opens a session, or takes a message for one.
pub(super) async fn sse(
    State(site): State<Arc<HttpState>>,
    Query(addressee): Query<Addressee>,
    request: Request,
) -> Result<Response, Refusal> {
    let owner = site.access.owner(request.headers())?;
    if site.ending.is_cancelled() {
        return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down"));
    }
    let method = request.method().clone();
    match (method, addressee.session) {
        (Method::GET, _) => {
            let busy = site.clients.admit(&owner)?;
            let events = site.open(busy)?;
            Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
        }
        (Method::POST, Some(id)) => {
            let busy = site.clients.session(&id, &owner)?;
            let (parts, body) = request.into_parts();
            take(&busy, Message::read(&parts.headers, body).await?).await?;
            Ok((StatusCode::ACCEPTED, "Accepted").into_response())
        }
        (Method::POST, None) => {
            let message = format!(
                "`sessionId` is missing; open a session with `GET {ADDRESS}`, which returns its address"
            );
            Err(Refusal::new(StatusCode::BAD_REQUEST, message))
        }
        _ => Ok(wrong_method("GET, POST")),
    }
}

impl HttpState {
    /// Begins to serve a client, and returns what it is sent.
    fn open(
        &self,
        busy: ActiveClient,
    ) -> Result<impl Stream<Item = Result<Event, Infallible>> + Send + use<>, Refusal> {
        let refused = |refused| Refusal::new(status(refused), "cannot open the session");
        let client = Arc::clone(&busy.0);
        let (id, line) = open_link(&self.clients, &client).map_err(refused)?;
        let link = client.link.get().ok_or_else(|| refused(super::outbox::StreamError::Closed))?;
        let messages = link.outbox.open_common().map_err(refused)?;
        let server =
            handler(Server::new(client.context.clone(), Arc::clone(&self.offer), client.remotes.clone()));
        let ends = client.ends.clone();
        let transport = DisconnectWatcher::new(line, ends.clone());
        tokio::spawn(async move {
            // A client that leaves before its handshake is not an error.
            if let Ok(running) = Box::pin(serve_server_with_ct(server, transport, ends)).await {
                let _ = running.waiting().await;
            }
        });
        let session = SessionStream { clients: Arc::clone(&self.clients), id: id.clone(), busy };
        let address = Event::default().event("endpoint").data(format!("{ADDRESS}?sessionId={id}"));
        let messages = messages.filter_map(move |event| {
            // The session lives as long as its stream.
            let _ = &session;
            let text = event.message.and_then(|message| serde_json::to_string(message.as_ref()).ok());
            std::future::ready(text.map(|text| Event::default().event("message").data(text)))
        });
        Ok(futures_util::stream::iter([address]).chain(messages).map(Ok))
    }
}

/// Hands a message to its session. Its answer comes on the session's stream.
async fn take(busy: &ActiveClient, message: Message) -> Result<(), Refusal> {
    let link =
        busy.0.link.get().ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, "the session has ended"))?;
    let message = message.into_parsed();
    match &message {
        JsonRpcMessage::Request(request) => link.outbox.expect(request).map_err(|refused| {
            Refusal::new(status(refused), refused.to_string())
                .coded(INVALID_REQUEST)
                .of(Some(request.id.clone()))
        })?,
        JsonRpcMessage::Notification(notification) => {
            if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                && let Some(id) = &cancelled.params.request_id
            {
                link.outbox.cancel(id);
            }
        }
        _ => {}
    }
    let over = |_| Refusal::new(StatusCode::NOT_FOUND, "the session has ended");
    link.inbox.send(message).await.map_err(over)
}

/// Ends its session when the client is gone: nothing refers to it any longer.
struct SessionStream {
    clients: Arc<Clients>,
    id: String,
    busy: ActiveClient,
}

impl Drop for SessionStream {
    fn drop(&mut self) {
        self.clients.forget(&self.id);
        let client = Arc::clone(&self.busy.0);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { client.end().await });
        }
    }
}
