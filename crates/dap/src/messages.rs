//! What requests, responses and events have around their content. Both sides of a connection write and read it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A request from the other side; it must be answered.
#[derive(Clone, Debug)]
pub struct IncomingRequest {
    /// Its name.
    pub command: String,
    /// Its arguments.
    pub arguments: Value,
    pub(crate) seq: i64,
}

#[derive(Serialize)]
pub(crate) struct OutgoingRequest<'a, A> {
    pub(crate) seq: i64,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) command: &'static str,
    pub(crate) arguments: &'a A,
}

#[derive(Serialize)]
pub(crate) struct OutgoingResponse<'a> {
    seq: i64,
    #[serde(rename = "type")]
    kind: &'static str,
    request_seq: i64,
    command: &'a str,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
}

impl<'a> OutgoingResponse<'a> {
    /// A response with this body, or with why there is none.
    pub(crate) fn new(seq: i64, request: &'a IncomingRequest, result: Result<Value, String>) -> Self {
        let (success, body, message) = match result {
            Ok(body) => (true, Some(body), None),
            Err(message) => (false, None, Some(message)),
        };
        let IncomingRequest { command, seq: request_seq, .. } = request;
        Self { seq, kind: "response", request_seq: *request_seq, command, success, message, body }
    }
}

#[derive(Serialize)]
pub(crate) struct OutgoingEvent<'a> {
    pub(crate) seq: i64,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) event: &'a str,
    pub(crate) body: Value,
}

#[derive(Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(rename = "type", borrow)]
    pub(crate) kind: std::borrow::Cow<'a, str>,
    #[serde(default)]
    pub(crate) seq: i64,
    #[serde(default)]
    pub(crate) request_seq: i64,
    #[serde(default)]
    pub(crate) success: bool,
    pub(crate) message: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) command: Option<String>,
    #[serde(borrow)]
    pub(crate) body: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
}

impl Envelope<'_> {
    /// The request that it is around.
    pub(crate) fn into_request(self) -> IncomingRequest {
        let arguments = self.arguments.and_then(|arguments| serde_json::from_str(arguments.get()).ok());
        IncomingRequest {
            command: self.command.unwrap_or_default(),
            arguments: arguments.unwrap_or_default(),
            seq: self.seq,
        }
    }
}
