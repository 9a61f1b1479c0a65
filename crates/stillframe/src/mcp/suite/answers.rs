//! Answers as JSON, in the words of the suite.

use rmcp::ErrorData;
use rmcp::model::CallToolResult;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A PNG of one red pixel.
pub(super) const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/// A WAV file without a sample.
pub(super) const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// A message of the SDK from its JSON.
pub(super) fn parsed<T: DeserializeOwned>(json: Value) -> Result<T, ErrorData> {
    serde_json::from_value(json)
        .map_err(|error| ErrorData::internal_error(format!("the suite's own answer: {error}"), None))
}

pub(super) fn result(content: &Value) -> Result<CallToolResult, ErrorData> {
    parsed(json!({ "resultType": "complete", "content": content }))
}

pub(super) fn text(text: &str) -> Result<CallToolResult, ErrorData> {
    result(&json!([{ "type": "text", "text": text }]))
}
