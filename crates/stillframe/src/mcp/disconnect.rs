//! Cancels everything once the client disconnects: a transport around the SDK's line transport.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio_util::sync::CancellationToken;

/// Notices at once that the client is gone, and keeps early notifications away.
///
/// The SDK answers the calls in flight before it reads the end of input, and only logs a failed write. It also gives
/// up when the first message is a notification, which clients do send.
pub(super) struct DisconnectWatcher<T> {
    inner: T,
    /// Cancelled at the end of input and at an error on either side.
    gone: CancellationToken,
    /// A request came that the SDK's opening takes as such.
    open: bool,
}

impl<T> DisconnectWatcher<T> {
    pub(super) fn new(inner: T, gone: CancellationToken) -> Self {
        Self { inner, gone, open: false }
    }
}

/// Whether this is the request with which the SDK leaves its opening (rmcp 3.9, `serve_server_with_ct`).
fn opens(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        other => {
            let meta = other.get_meta();
            let version = meta.protocol_version();
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && version.is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for DisconnectWatcher<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let (sending, gone) = (self.inner.send(item), self.gone.clone());
        async move { sending.await.inspect_err(|_| gone.cancel()) }
    }

    /// Is dropped and called again all the time, so nothing is kept across the await.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(message) = self.inner.receive().await else {
                self.gone.cancel();
                return None;
            };
            match &message {
                JsonRpcMessage::Request(request) => self.open |= opens(&request.request),
                _ if !self.open => continue,
                _ => {}
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.inner.close().await
    }
}
