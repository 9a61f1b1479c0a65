//! The SDK's refusals, in messages that say what is allowed.
//!
//! It answers a violation of HTTP's rules with a status and plain text, and an unknown method with its name alone
//! (rmcp 3.9, `tower.rs`). This module derives the violated rule from the request.

use axum::body::to_bytes;
use axum::http::header::HeaderMap;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use rmcp::model::{ErrorCode, ProtocolVersion};

use super::answers::{INVALID_PARAMS, Refusal, is_json};
use super::message::Message;
use super::wrong_method;

/// The parts of a request that can cause a refusal.
pub(super) struct RequestSummary {
    pub(super) method: Method,
    /// The revision in its header; none without one.
    pub(super) revision: Option<String>,
    pub(super) has_session: bool,
    pub(super) message: Option<Message>,
}

impl RequestSummary {
    /// The same answer, and in place of a refusal one that says what is allowed.
    pub(super) async fn explain(&self, response: Response) -> Response {
        let status = response.status();
        if !status.is_client_error() && !status.is_server_error() {
            return response;
        }
        let refusal = if is_json(response.headers()) {
            let Some(method) = self.unknown_method(status) else { return response };
            Refusal::new(status, format!("unknown method: {method}")).coded(ErrorCode::METHOD_NOT_FOUND.0)
        } else if status == StatusCode::METHOD_NOT_ALLOWED {
            return wrong_method("POST");
        } else {
            self.refusal(response).await
        };
        refusal.of(self.message.as_ref().and_then(Message::id)).into_response()
    }

    /// The method of an independent request, which the SDK answers with 404 only if it is unknown.
    fn unknown_method(&self, status: StatusCode) -> Option<&str> {
        self.message.as_ref().filter(|_| status == StatusCode::NOT_FOUND)?.method()
    }

    async fn refusal(&self, response: Response) -> Refusal {
        let status = response.status();
        if status == StatusCode::NOT_ACCEPTABLE {
            let needed = match self.method {
                Method::POST => "`application/json` and `text/event-stream`",
                _ => "`text/event-stream`",
            };
            return Refusal::new(status, format!("`Accept` must include {needed}"));
        }
        if status == StatusCode::BAD_REQUEST {
            if let Some(message) = self.wrong_revision() {
                return Refusal::new(status, message);
            }
            if let Some(problem) = self.message.as_ref().and_then(Message::wrong_handshake) {
                let message = format!("malformed params for initialize: {problem}");
                return Refusal::new(status, message).coded(INVALID_PARAMS);
            }
            if !self.has_session {
                let message = "an MCP session is required: start with `initialize`, and send the \
                               `Mcp-Session-Id` of its response; requests of revision 2026-07-28 need none";
                return Refusal::new(status, message);
            }
        }
        let said = to_bytes(response.into_body(), usize::MAX).await.unwrap_or_default();
        Refusal::new(status, String::from_utf8_lossy(&said))
    }

    fn wrong_revision(&self) -> Option<String> {
        let revision = self.revision.as_ref()?;
        let known = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str);
        let known: Vec<&str> = known.collect();
        let is_known = known.contains(&revision.as_str());
        (!is_known).then(|| format!("unsupported `MCP-Protocol-Version`; use {}", known.join(", ")))
    }
}

/// The revision that the header names; an empty one when it cannot be read.
pub(super) fn revision(headers: &HeaderMap) -> Option<String> {
    headers.get("mcp-protocol-version").map(|value| value.to_str().unwrap_or_default().to_owned())
}
