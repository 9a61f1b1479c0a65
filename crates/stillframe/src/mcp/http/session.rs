//! MCP sessions as the SDK expects them: from the handshake of one client to its end.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use journal::Secret;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, ProtocolVersion, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use rmcp::transport::streamable_http_server::{SessionId, SessionManager};
use tokio::sync::mpsc;

use super::clients::{Client, Clients, McpSession};
use super::outbox::{Outbox, StreamError};

/// Messages of a client that its server has not taken yet. More have to wait.
const QUEUED: usize = 64;

/// The sessions that one request can reach: that of its client.
///
/// The SDK's own manager keeps all sessions in one place, loses an answer that arrives without a reader, and blocks
/// while a client does not read (rmcp 3.9, `session/local.rs`).
pub(super) struct OneSession {
    pub(super) clients: Arc<Clients>,
    pub(super) client: Arc<Client>,
}

/// Opens the MCP session of a client: its id, and what its server reads and writes.
pub(super) fn open_link(clients: &Clients, client: &Arc<Client>) -> Result<(String, Line), StreamError> {
    let id = Secret::random().map_err(|_| StreamError::Closed)?.reveal().to_owned();
    let (inbox, messages) = mpsc::channel(QUEUED);
    let outbox = Outbox::new();
    let line = Line { messages, outbox: Arc::clone(&outbox) };
    client.link.set(McpSession { id: id.clone(), inbox, outbox }).map_err(|_| StreamError::Closed)?;
    clients.register(client);
    Ok((id, line))
}

impl OneSession {
    fn link(&self) -> Result<&McpSession, StreamError> {
        self.client.link.get().ok_or(StreamError::Closed)
    }
}

impl SessionManager for OneSession {
    type Error = StreamError;
    type Transport = Line;

    async fn create_session(&self) -> Result<(SessionId, Line), StreamError> {
        let (id, line) = open_link(&self.clients, &self.client)?;
        Ok((id.into(), line))
    }

    async fn initialize_session(
        &self,
        _: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, StreamError> {
        let link = self.link()?;
        let JsonRpcMessage::Request(request) = &message else { return Err(StreamError::Closed) };
        let answers = link.outbox.open(request)?;
        tokio::pin!(answers);
        link.inbox.send(message).await.map_err(|_| StreamError::Closed)?;
        let answer = answers.next().await.and_then(|event| event.message).ok_or(StreamError::Closed)?;
        if let JsonRpcMessage::Response(response) = answer.as_ref()
            && let ServerResult::InitializeResult(result) = &response.result
            && result.protocol_version.as_str() >= ProtocolVersion::V_2025_11_25.as_str()
        {
            link.outbox.prime();
        }
        Ok(answer.as_ref().clone())
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, StreamError> {
        Ok(self.link().is_ok_and(|link| *link.id == **id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), StreamError> {
        self.clients.forget(id);
        // The SDK does this again after the last call, which may have opened a debug session.
        self.client.end().await;
        Ok(())
    }

    async fn create_stream(
        &self,
        _: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, StreamError> {
        let link = self.link()?;
        let JsonRpcMessage::Request(request) = &message else { return Err(StreamError::Closed) };
        let stream = link.outbox.open(request)?;
        link.inbox.send(message).await.map_err(|_| StreamError::Closed)?;
        Ok(stream)
    }

    async fn accept_message(&self, _: &SessionId, message: ClientJsonRpcMessage) -> Result<(), StreamError> {
        let link = self.link()?;
        if let JsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            link.outbox.cancel(id);
        }
        link.inbox.send(message).await.map_err(|_| StreamError::Closed)
    }

    async fn create_standalone_stream(
        &self,
        _: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, StreamError> {
        self.link()?.outbox.open_common()
    }

    async fn resume(
        &self,
        _: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, StreamError> {
        self.link()?.outbox.resume(&last_event_id)
    }
}

/// What the server of a session reads and writes.
pub(super) struct Line {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    outbox: Arc<Outbox>,
}

impl Transport<RoleServer> for Line {
    type Error = Infallible;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        self.outbox.send(item);
        ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        self.outbox.close();
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.outbox.close();
    }
}
