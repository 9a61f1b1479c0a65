//! The suite's tools that answer at once, report, or send requests to the client.

#![expect(deprecated, reason = "the suite tests log messages and sampling")]

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientResult, LoggingLevel,
    LoggingMessageNotificationParam, ProgressNotificationParam, ServerRequest, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::answers::{PIXEL, SILENCE, parsed, result, text};
use crate::mcp::ask::ask;
use crate::mcp::server::is_stateless;

/// The suite wants a while between messages.
const PAUSE: Duration = Duration::from_millis(50);
/// How long the suite may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Those without arguments.
const PLAIN: [&str; 21] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_tool_with_progress",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
];

/// All of them.
pub(super) fn list() -> Result<Vec<Tool>, ErrorData> {
    let tool = |name: &str, schema: Value| {
        parsed(json!({ "name": name, "description": "For the conformance suite.", "inputSchema": schema }))
    };
    let one = |name: &str, more: Value| json!({ "type": "object", "properties": { name: more }, "required": [name] });
    let plain = PLAIN.iter().map(|name| tool(name, json!({ "type": "object", "properties": {} })));
    let others = [
        tool("test_sampling", one("prompt", json!({ "type": "string" }))),
        tool("test_elicitation", one("message", json!({ "type": "string" }))),
        tool("test_custom_headers", one("region", json!({ "type": "string", "x-mcp-header": "Region" }))),
        tool("json_schema_2020_12_tool", schema_2020_12()),
    ];
    plain.chain(others).collect()
}

/// A schema with the keywords of JSON Schema 2020-12, which must arrive as they are.
fn schema_2020_12() -> Value {
    let text = json!({ "type": "string" });
    let address = json!({
        "$anchor": "addressDef", "type": "object", "properties": { "street": text, "city": text },
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": { "address": address },
        "properties": {
            "name": text, "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": text, "email": text,
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

/// Calls one of them; none if it is another's.
pub(super) async fn call(
    call: &CallToolRequestParams,
    cx: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResult, ErrorData>> {
    let given = |name: &str| {
        let value = call.arguments.as_ref().and_then(|arguments| arguments.get(name)?.as_str());
        value.unwrap_or_default().to_owned()
    };
    let embedded = |uri: &str, mime: &str, text: &str| json!({ "type": "resource", "resource": { "uri": uri, "mimeType": mime, "text": text } });
    let image = json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" });
    Some(match &*call.name {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => result(&json!([image])),
        "test_audio_content" => {
            result(&json!([{ "type": "audio", "data": SILENCE, "mimeType": "audio/wav" }]))
        }
        "test_embedded_resource" => {
            let content = "This is an embedded resource content.";
            result(&json!([embedded("test://embedded-resource", "text/plain", content)]))
        }
        "test_multiple_content_types" => {
            let data = json!({ "test": "data", "value": 123 }).to_string();
            let data = embedded("test://mixed-content-resource", "application/json", &data);
            result(&json!([{ "type": "text", "text": "Multiple content types test:" }, image, data]))
        }
        "test_error_handling" => parsed(json!({
            "resultType": "complete",
            "content": [{ "type": "text", "text": "This tool intentionally returns an error for testing" }],
            "isError": true,
        })),
        "test_tool_with_logging" | "test_logging_tool" => logging(cx).await,
        "test_tool_with_progress" => progress(cx).await,
        "test_missing_capability" => missing_capability(cx),
        "test_custom_headers" | "json_schema_2020_12_tool" => text("called"),
        "test_sampling" => sampling(cx, &given("prompt")).await,
        "test_elicitation" => {
            let schema = json!({
                "type": "object",
                "properties": {
                    "username": { "type": "string", "description": "User's response" },
                    "email": { "type": "string", "description": "User's email address" },
                },
                "required": ["username", "email"],
            });
            elicitation(cx, "User response: ", &given("message"), schema).await
        }
        "test_elicitation_sep1034_defaults" => {
            elicitation(cx, "Elicitation completed: ", "Check the defaults", defaults()).await
        }
        "test_elicitation_sep1330_enums" => {
            elicitation(cx, "Elicitation completed: ", "Choose", choices()).await
        }
        _ => return None,
    })
}

/// Three messages, for a client that wants messages.
async fn logging(cx: &RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
    let wants = !is_stateless(cx) || cx.meta.log_level().is_some();
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        if wants {
            let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, message.into());
            drop(cx.peer.notify_logging_message(message).await);
        }
        // sleep: the suite asks for it.
        sleep(PAUSE).await;
    }
    text("Tool with logging executed successfully")
}

async fn progress(cx: &RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = cx.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, done).with_total(100.0);
            drop(cx.peer.notify_progress(progress).await);
        }
        // sleep: the suite asks for it.
        sleep(PAUSE).await;
    }
    text("Tool with progress executed successfully")
}

fn missing_capability(cx: &RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
    let declared = cx.client_capabilities().unwrap_or_default();
    if declared.sampling.is_some() {
        return text("the client can sample");
    }
    let required: ClientCapabilities = parsed(json!({ "sampling": {} }))?;
    Err(ErrorData::missing_required_client_capability(required))
}

async fn sampling(cx: &RequestContext<RoleServer>, prompt: &str) -> Result<CallToolResult, ErrorData> {
    if cx.client_capabilities().and_then(|declared| declared.sampling).is_none() {
        return Err(ErrorData::invalid_request("the client cannot sample", None));
    }
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    let params = json!({ "messages": [message], "maxTokens": 100 });
    let request: ServerRequest = parsed(json!({ "method": "sampling/createMessage", "params": params }))?;
    match ask(cx, request, PATIENCE).await {
        Ok(ClientResult::CreateMessageResult(answer)) => {
            let answer = serde_json::to_value(answer).unwrap_or_default();
            let content = &answer["content"];
            let said = content["text"].as_str().or_else(|| content[0]["text"].as_str());
            text(&format!("LLM response: {}", said.unwrap_or_default()))
        }
        other => Err(ErrorData::internal_error(format!("no answer: {other:?}"), None)),
    }
}

async fn elicitation(
    cx: &RequestContext<RoleServer>,
    begin: &str,
    message: &str,
    schema: Value,
) -> Result<CallToolResult, ErrorData> {
    if cx.client_capabilities().and_then(|declared| declared.elicitation).is_none() {
        return Err(ErrorData::invalid_request("the client cannot ask its user", None));
    }
    let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    let request: ServerRequest = parsed(json!({ "method": "elicitation/create", "params": params }))?;
    match ask(cx, request, PATIENCE).await {
        Ok(ClientResult::ElicitResult(answer)) => {
            let answer = serde_json::to_value(answer).unwrap_or_default();
            let action = answer["action"].as_str().unwrap_or_default();
            text(&format!("{begin}action={action}, content={}", answer["content"]))
        }
        other => Err(ErrorData::internal_error(format!("no answer: {other:?}"), None)),
    }
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
        "required": [],
    })
}

fn choices() -> Value {
    let titled = |names: [&str; 3]| {
        let values = ["value1", "value2", "value3"].into_iter().zip(names);
        values.map(|(value, title)| json!({ "const": value, "title": title })).collect::<Vec<_>>()
    };
    let plain = ["option1", "option2", "option3"];
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": plain },
            "titledSingle": {
                "type": "string", "oneOf": titled(["First Option", "Second Option", "Third Option"]),
            },
            "legacyEnum": {
                "type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
            "titledMulti": {
                "type": "array",
                "items": { "anyOf": titled(["First Choice", "Second Choice", "Third Choice"]) },
            },
        },
        "required": [],
    })
}
