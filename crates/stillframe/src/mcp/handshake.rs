//! Serves clients that send requests without a handshake, as scripts do: one is made up for them. Other servers answer
//! such requests, and the SDK refuses them (rmcp 3.9, `serve_server_with_ct`).

use std::collections::VecDeque;

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, GetMeta, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::json;

/// The id of the request that is made up. Its answer is not sent.
const OWN: &str = "stillframe:handshake";

/// A transport whose client may leave the handshake out.
pub(super) struct ImplicitHandshake<T> {
    inner: T,
    /// The client has begun, in whatever way.
    begun: bool,
    /// What comes next, before anything new is read.
    waiting: VecDeque<RxJsonRpcMessage<RoleServer>>,
}

impl<T> ImplicitHandshake<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, begun: false, waiting: VecDeque::new() }
    }
}

/// Whether a request needs a handshake before it. One of revision 2026-07-28 carries its version and needs none.
fn needs_handshake(request: &ClientRequest) -> bool {
    !matches!(
        request,
        ClientRequest::InitializeRequest(_)
            | ClientRequest::PingRequest(_)
            | ClientRequest::DiscoverRequest(_)
    ) && request.get_meta().0.keys().all(|key| !key.starts_with("io.modelcontextprotocol/"))
}

/// What a client sends to shake hands.
fn handshake() -> Option<[RxJsonRpcMessage<RoleServer>; 2]> {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "unknown", "version": "0" },
    });
    let request = json!({ "jsonrpc": "2.0", "id": OWN, "method": "initialize", "params": params });
    let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    Some([serde_json::from_value(request).ok()?, serde_json::from_value(done).ok()?])
}

fn is_own(message: &TxJsonRpcMessage<RoleServer>) -> bool {
    let id = match message {
        JsonRpcMessage::Response(response) => &response.id,
        JsonRpcMessage::Error(error) => match &error.id {
            Some(id) => id,
            None => return false,
        },
        _ => return false,
    };
    matches!(id, RequestId::String(id) if **id == *OWN)
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for ImplicitHandshake<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let sending = (!is_own(&item)).then(|| self.inner.send(item));
        async move {
            match sending {
                Some(sending) => sending.await,
                None => Ok(()),
            }
        }
    }

    /// Is dropped and called again all the time, so nothing is kept across the await.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        if let Some(message) = self.waiting.pop_front() {
            return Some(message);
        }
        let message = self.inner.receive().await?;
        let JsonRpcMessage::Request(request) = &message else { return Some(message) };
        if !self.begun
            && needs_handshake(&request.request)
            && let Some([initialize, initialized]) = handshake()
        {
            self.begun = true;
            self.waiting.extend([initialized, message]);
            return Some(initialize);
        }
        self.begun |= !matches!(request.request, ClientRequest::PingRequest(_));
        Some(message)
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.inner.close().await
    }
}
