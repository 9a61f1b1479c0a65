//! Answers that are ours and not the SDK's.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};
use rmcp::model::RequestId;
use serde_json::{Value, json};

/// JSON-RPC's codes.
pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const INVALID_PARAMS: i32 = -32602;
/// The first of the codes that a server defines itself: an HTTP error, which the status explains.
const OF_HTTP: i32 = -32000;

/// Why a request is not answered.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: i32,
    message: String,
    id: Option<RequestId>,
}

impl Refusal {
    /// An HTTP error.
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, code: OF_HTTP, message: message.into(), id: None }
    }

    /// The same with a code of JSON-RPC.
    pub(super) fn coded(self, code: i32) -> Self {
        Self { code, ..self }
    }

    /// The same for a request whose number is known.
    pub(super) fn of(self, id: Option<RequestId>) -> Self {
        Self { id, ..self }
    }
}

/// An error of JSON-RPC, which has `null` for an unknown id.
impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = json!({
            "jsonrpc": "2.0",
            "id": self.id,
            "error": { "code": self.code, "message": self.message },
        });
        let mut response = json_answer(self.status, body).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Data.
pub(super) fn json_answer(status: StatusCode, body: Value) -> impl IntoResponse {
    (status, [(CACHE_CONTROL, "no-store"), (X_CONTENT_TYPE_OPTIONS, "nosniff")], Json(body))
}

/// Whether headers say that it is JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}
