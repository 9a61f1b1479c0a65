//! Answers that are ours and not the SDK's.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::header::{
    CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use rmcp::model::RequestId;
use serde_json::{Value, json};

/// What all answers are sent as.
pub(super) type Body = BoxBody<Bytes, Infallible>;

/// JSON-RPC's codes.
pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;
pub(super) const INVALID_PARAMS: i32 = -32602;
/// The first of those that a server defines itself: a matter of HTTP, which the status tells.
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
    /// A matter of HTTP.
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

    /// As an error of JSON-RPC, which has `null` for an unknown id.
    pub(super) fn answer(self) -> Response<Body> {
        let body = json!({
            "jsonrpc": "2.0",
            "id": self.id,
            "error": { "code": self.code, "message": self.message },
        });
        let mut response = json_answer(self.status, &body);
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Data.
pub(super) fn json_answer(status: StatusCode, body: &Value) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())).boxed());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether headers say that it is JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// Nothing but a status.
pub(super) fn empty_answer(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Empty::new().boxed());
    *response.status_mut() = status;
    response
}
