//! Around the server: no panic leaves a request without an answer, and every answer names the server.

use std::any::Any;
use std::borrow::Cow;
use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use rmcp::model::{
    ClientNotification, ClientRequest, Implementation, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, Service};

use super::server::is_stateless;

/// Where results name the server (2026-07-28, "Servers SHOULD include this field on every response").
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// A server whose every method may panic.
pub(super) struct Guarded<H>(pub(super) H);

impl<H: ServerHandler> Service<RoleServer> for Guarded<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        cx: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let method = request.method().to_owned();
        let stateless = is_stateless(&cx);
        let handled =
            AssertUnwindSafe(Service::<RoleServer>::handle_request(&self.0, request, cx)).catch_unwind();
        let mut answer = handled.await.unwrap_or_else(|panic| {
            Err(ErrorData::internal_error(
                format!("internal error in {method}: {}", panic_text(&*panic)),
                None,
            ))
        });
        if stateless && let Ok(result) = &mut answer {
            name_the_server(result, ServerHandler::get_info(&self.0).server_info);
        }
        answer
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        cx: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::<RoleServer>::handle_notification(&self.0, notification, cx).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.0)
    }
}

/// What a panic said.
pub(super) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&'static str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// The SDK does it for `server/discover` and `subscriptions/listen` only.
fn name_the_server(result: &mut ServerResult, info: Implementation) {
    let meta = match result {
        ServerResult::CallToolResult(result) => &mut result.meta,
        ServerResult::ListToolsResult(result) => &mut result.meta,
        ServerResult::ListResourcesResult(result) => &mut result.meta,
        ServerResult::ListResourceTemplatesResult(result) => &mut result.meta,
        ServerResult::ReadResourceResult(result) => &mut result.meta,
        ServerResult::ListPromptsResult(result) => &mut result.meta,
        ServerResult::GetPromptResult(result) => &mut result.meta,
        _ => return,
    };
    if let Ok(info) = serde_json::to_value(info) {
        meta.get_or_insert_default().insert(SERVER_INFO.into(), info);
    }
}
