//! Revisions up to 2025-11-25: a handshake first, then plain requests.

use serde_json::{Value, json};

use crate::STILLFRAME;
use crate::scenes::{error_code, output_of, raw, session};

fn initialize(revision: &str) -> Value {
    let params = json!({
        "protocolVersion": revision,
        "capabilities": { "roots": { "listChanged": true }, "sampling": {} },
        "clientInfo": { "name": "tests", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params })
}

#[tokio::test]
async fn each_revision_with_a_handshake_is_accepted() {
    let table = [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // It has no handshake, so a client that shakes hands cannot mean it.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ];
    for (asked, agreed) in table {
        let server = STILLFRAME.serve_stateless().await;
        let hello = raw(&server, &initialize(asked)).await;
        assert_eq!(hello["result"]["protocolVersion"], agreed, "{asked}");
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        let list = json!({ "jsonrpc": "2.0", "id": "list", "method": "tools/list" });
        let list = raw(&server, &list).await;
        assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(35), "{asked}");
        let params = json!({ "name": "list_debug_sessions", "arguments": {} });
        let call = json!({ "jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params });
        let call = raw(&server, &call).await;
        assert_eq!(call["result"]["structuredContent"]["count"], 0, "{asked}");
        server.finish().await;
    }
}

#[tokio::test]
async fn the_server_reports_its_name_and_capabilities() {
    let server = STILLFRAME.serve_stateless().await;
    let hello = raw(&server, &initialize("2025-11-25")).await;
    let result = &hello["result"];
    let resources = json!({ "subscribe": true, "listChanged": true });
    let expected =
        json!({ "completions": {}, "logging": {}, "prompts": {}, "resources": resources, "tools": {} });
    assert_eq!(result["capabilities"], expected);
    let (info, version) = (&result["serverInfo"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&info["name"], &info["title"]), (&json!("stillframe"), &json!("stillframe")));
    assert_eq!(info["version"], version);
    let icon = &info["icons"][0];
    assert_eq!((&icon["mimeType"], &icon["sizes"]), (&json!("image/svg+xml"), &json!(["any"])));
    let data = icon["src"].as_str().unwrap().strip_prefix("data:image/svg+xml;base64,").unwrap();
    assert!(data.len() < 1000 && data.starts_with("PHN2ZyB"), "an SVG: {data}");
    let instructions = result["instructions"].as_str().unwrap();
    assert!(instructions.contains("run_until"), "{instructions}");
    server.finish().await;
}

#[tokio::test]
async fn unsupported_methods_are_refused() {
    let server = STILLFRAME.serve().await;
    let table = [
        ("tasks/list", json!({})),
        ("no/such", json!({})),
        // It belongs to the other era.
        ("subscriptions/listen", json!({ "notifications": {} })),
    ];
    for (method, params) in table {
        assert_eq!(error_code(&server, method, params).await, -32601, "{method}");
    }
    server.finish().await;
}

#[tokio::test]
async fn malformed_parameters_are_invalid() {
    let server = STILLFRAME.serve().await;
    let table = [
        ("tools/call", json!({})),
        ("tools/call", json!({ "name": 3 })),
        ("tools/call", json!({ "name": "get_output", "arguments": [1] })),
        ("tools/call", json!({ "name": "no_such_tool" })),
        ("resources/read", json!({})),
        ("resources/read", json!({ "uri": 1 })),
        ("resources/subscribe", json!({})),
        ("resources/unsubscribe", json!({})),
        ("prompts/get", json!({})),
        ("prompts/get", json!({ "name": "no_such_prompt" })),
        ("prompts/get", json!({ "name": "debug" })),
        ("prompts/get", json!({ "name": "debug", "arguments": { "problem": 3 } })),
        ("completion/complete", json!({})),
    ];
    for (method, params) in table {
        assert_eq!(error_code(&server, method, params.clone()).await, -32602, "{method} {params}");
    }
    server.finish().await;
}

#[tokio::test]
async fn a_ping_is_answered() {
    let server = STILLFRAME.serve().await;
    assert_eq!(server.request("ping", json!({})).await, Ok(json!({})));
    server.finish().await;
}

#[tokio::test]
async fn results_have_no_fields_of_the_later_revision() {
    let server = STILLFRAME.serve().await;
    let session = session(&server).await;
    let table = [
        ("tools/list", json!({}), vec!["tools"]),
        ("resources/list", json!({}), vec!["resources"]),
        ("resources/templates/list", json!({}), vec!["resourceTemplates"]),
        ("resources/read", json!({ "uri": output_of(&session) }), vec!["contents"]),
        ("resources/subscribe", json!({ "uri": output_of(&session) }), vec![]),
        ("resources/unsubscribe", json!({ "uri": output_of(&session) }), vec![]),
        ("prompts/list", json!({}), vec!["prompts"]),
        (
            "prompts/get",
            json!({ "name": "debug", "arguments": { "problem": "x" } }),
            vec!["description", "messages"],
        ),
        ("tools/call", json!({ "name": "list_debug_sessions" }), vec!["content", "structuredContent"]),
        ("tools/call", json!({ "name": "get_scopes" }), vec!["content", "structuredContent", "isError"]),
    ];
    for (method, params, fields) in table {
        let result = server.request(method, params).await.unwrap();
        assert_eq!(result.as_object().unwrap().keys().collect::<Vec<_>>(), fields, "{method}");
    }
    server.finish().await;
}
