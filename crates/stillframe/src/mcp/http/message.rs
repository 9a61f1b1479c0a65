//! The body of a request: read within limits of size and time, and checked before the SDK reads it.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::StatusCode;
use axum::http::header::HeaderMap;
use futures_util::StreamExt;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, InitializeRequestParams, JsonRpcMessage, RequestId};
use serde::Deserialize as _;
use serde_json::Value;
use tokio::time::timeout;

use super::answers::{INVALID_REQUEST, PARSE_ERROR, Refusal, is_json};
use crate::mcp::repair;

/// The most bytes that a message may have.
pub(super) const MOST_BYTES: usize = 4 * 1024 * 1024;
/// The most bytes of a larger one that are read all the same.
const MOST_SKIPPED: usize = 16 * 1024 * 1024;
/// How long a message may take to arrive.
const ARRIVES_WITHIN: Duration = Duration::from_secs(15);

/// What was sent.
#[derive(Debug)]
pub(super) struct Message {
    /// As it came.
    pub(super) bytes: Bytes,
    parsed: ClientJsonRpcMessage,
}

impl Message {
    pub(super) async fn read(headers: &HeaderMap, body: Body) -> Result<Self, Refusal> {
        if !is_json(headers) {
            let message = "`Content-Type` must be `application/json`";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        // One that is far too large is not waited for.
        if body.size_hint().lower() > MOST_SKIPPED as u64 {
            return Err(too_large());
        }
        let Ok(read) = timeout(ARRIVES_WITHIN, collect(body)).await else {
            let message = format!("the message did not arrive within {} s", ARRIVES_WITHIN.as_secs());
            return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, message));
        };
        Self::parse(read?)
    }

    fn parse(bytes: Bytes) -> Result<Self, Refusal> {
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
            let message = "batches are not supported: send one message per request";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, message).coded(INVALID_REQUEST));
        }
        if let Ok(parsed) = serde_json::from_slice(&bytes) {
            return Ok(Self { bytes, parsed });
        }
        let mut mended = Vec::from(bytes);
        repair::repair(&mut mended);
        let bytes = Bytes::from(mended);
        match serde_json::from_slice(&bytes) {
            Ok(parsed) => Ok(Self { bytes, parsed }),
            Err(error) => {
                let id = id_in(&bytes);
                let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok();
                let (code, message) = if is_json {
                    (INVALID_REQUEST, "not a JSON-RPC 2.0 message".to_owned())
                } else {
                    (PARSE_ERROR, format!("invalid JSON: {error}"))
                };
                Err(Refusal::new(StatusCode::BAD_REQUEST, message).coded(code).of(id))
            }
        }
    }

    /// Its number; none unless it is a request.
    pub(super) fn id(&self) -> Option<RequestId> {
        match &self.parsed {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        }
    }

    pub(super) fn into_parsed(self) -> ClientJsonRpcMessage {
        self.parsed
    }

    /// The method that it calls; none unless it is a request.
    pub(super) fn method(&self) -> Option<&str> {
        match &self.parsed {
            JsonRpcMessage::Request(request) => Some(request.request.method()),
            _ => None,
        }
    }

    /// What is wrong with a handshake whose parameters cannot be read, which the SDK takes for an unknown request.
    pub(super) fn wrong_handshake(&self) -> Option<String> {
        let JsonRpcMessage::Request(request) = &self.parsed else { return None };
        let ClientRequest::CustomRequest(request) = &request.request else { return None };
        if request.method != "initialize" {
            return None;
        }
        let Some(params) = &request.params else { return Some("there are none".to_owned()) };
        let problem = params.get(repair::PROBLEM).and_then(Value::as_str).map(str::to_owned);
        problem.or_else(|| Some(InitializeRequestParams::deserialize(params).err()?.to_string()))
    }

    /// Whether a handshake begins with it.
    pub(super) fn begins_session(&self) -> bool {
        self.asks(|request| matches!(request, ClientRequest::InitializeRequest(_)))
    }

    /// Whether it is to be answered soon, as all are but those that listen.
    pub(super) fn is_call(&self) -> bool {
        self.asks(|request| !matches!(request, ClientRequest::SubscriptionsListenRequest(_)))
    }

    fn asks(&self, what: impl Fn(&ClientRequest) -> bool) -> bool {
        matches!(&self.parsed, JsonRpcMessage::Request(request) if what(&request.request))
    }
}

async fn collect(body: Body) -> Result<Bytes, Refusal> {
    let mut parts = body.into_data_stream();
    let (mut whole, mut length) = (Vec::new(), 0);
    // What is too large is read on: a client that still writes when the connection is closed would not see the answer.
    while length < MOST_SKIPPED
        && let Some(part) = parts.next().await
    {
        let part = part.map_err(|error| {
            Refusal::new(StatusCode::BAD_REQUEST, format!("the message is incomplete: {error}"))
        })?;
        length += part.len();
        if length <= MOST_BYTES {
            whole.extend_from_slice(&part);
        }
    }
    if length > MOST_BYTES { Err(too_large()) } else { Ok(whole.into()) }
}

fn too_large() -> Refusal {
    let message = format!("a message is limited to {MOST_BYTES} bytes");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
}

/// The number of what would be a request.
fn id_in(bytes: &[u8]) -> Option<RequestId> {
    #[derive(serde::Deserialize)]
    struct Numbered {
        id: RequestId,
    }
    serde_json::from_slice::<Numbered>(bytes).ok().map(|numbered| numbered.id)
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;

    use super::*;

    #[test]
    fn malformed_message_is_refused_with_the_reason() {
        let table = [
            ("", "invalid JSON"),
            ("{", "invalid JSON"),
            ("\u{0}\u{1}", "invalid JSON"),
            (" [{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", "batches are not supported"),
            ("[]", "batches are not supported"),
            ("1", "not a JSON-RPC 2.0 message"),
            ("null", "not a JSON-RPC 2.0 message"),
            ("{}", "not a JSON-RPC 2.0 message"),
            ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "not a JSON-RPC 2.0 message"),
        ];
        for (text, problem) in table {
            let refused = Message::parse(Bytes::from_static(text.as_bytes())).expect_err(text);
            let shown = format!("{refused:?}");
            assert!(shown.contains(problem), "{text}: {shown}");
            assert_eq!(refused.into_response().status(), 400, "{text}");
        }
        let numbered = Message::parse(Bytes::from_static(b"{\"id\":7,\"method\":\"ping\"}")).err().unwrap();
        assert!(format!("{numbered:?}").contains("id: Some(Number(7))"), "{numbered:?}");
    }

    #[test]
    fn a_malformed_handshake_is_refused_with_the_reason() {
        let initialize =
            |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize"{params}}}"#);
        let good =
            r#","params":{"protocolVersion":"1","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#;
        let table = [
            (initialize(""), Some("there are none")),
            (initialize(r#","params":{"protocolVersion":3}"#), Some("invalid type")),
            (initialize(r#","params":{"protocolVersion":"1","capabilities":{}}"#), Some("clientInfo")),
            (initialize(r#","params":{"protocolVersion":1e999}"#), Some("number out of range")),
            (initialize(good), None),
            (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#.to_owned(), None),
        ];
        for (text, problem) in table {
            let message = Message::parse(Bytes::from(text.clone())).expect(&text);
            let told = message.wrong_handshake();
            assert_eq!(told.is_some(), problem.is_some(), "{text}: {told:?}");
            assert!(told.unwrap_or_default().contains(problem.unwrap_or_default()), "{text}");
        }
    }

    #[test]
    fn requests_notifications_and_replies_are_distinguished() {
        let table = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, true, false),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, false, false),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#,
                true,
                true,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}"#,
                false,
                false,
            ),
        ];
        for (text, is_call, begins) in table {
            let message = Message::parse(Bytes::from_static(text.as_bytes())).expect(text);
            assert_eq!((message.is_call(), message.begins_session()), (is_call, begins), "{text}");
        }
    }
}
