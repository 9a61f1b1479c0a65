//! Revision 2026-07-28: no handshake, every request is self-contained.

use serde_json::{Value, json};
use test_support::Fixture;

use crate::STILLFRAME;
use crate::scenes::{arrived, error_code, output_of, paused_at, raw, session, stateless_meta};

/// Who answers, in the `_meta` of a result.
fn server_of(result: &Value) -> &Value {
    &result["_meta"]["io.modelcontextprotocol/serverInfo"]
}

fn this_server() -> Value {
    json!({ "name": "stillframe", "title": "stillframe", "version": env!("CARGO_PKG_VERSION") })
}

#[tokio::test]
async fn the_server_can_be_discovered() {
    let server = STILLFRAME.serve_stateless().await;
    let found = server.request("server/discover", json!({})).await.unwrap();
    let revisions = json!(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    assert_eq!(found["supportedVersions"], revisions);
    let resources = json!({ "subscribe": true, "listChanged": true });
    let expected =
        json!({ "completions": {}, "logging": {}, "prompts": {}, "resources": resources, "tools": {} });
    assert_eq!(found["capabilities"], expected);
    // Its icons are here, and in no other result.
    let mut server_info = server_of(&found).clone();
    let icons = server_info.as_object_mut().unwrap().remove("icons");
    assert_eq!(icons.unwrap()[0]["mimeType"], "image/svg+xml");
    assert_eq!(server_info, this_server());
    let instructions = found["instructions"].as_str().unwrap();
    assert!(instructions.contains("run_until"), "{instructions}");
    server.finish().await;
}

#[tokio::test]
async fn every_result_is_complete_and_names_the_server() {
    let server = STILLFRAME.serve_stateless().await;
    let session = session(&server).await;
    let table = [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": output_of(&session) })),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "debug", "arguments": { "problem": "x" } })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "debug" }, "argument": { "name": "problem", "value": "" } }),
        ),
        ("tools/call", json!({ "name": "list_debug_sessions", "arguments": {} })),
        ("tools/call", json!({ "name": "get_scopes", "arguments": {} })),
    ];
    for (method, params) in table {
        let result = server.request(method, params).await.unwrap();
        assert_eq!(result["resultType"], "complete", "{method}");
        assert_eq!(server_of(&result), &this_server(), "{method}");
    }
    server.finish().await;
}

#[tokio::test]
async fn lists_state_how_long_they_can_be_cached() {
    let server = STILLFRAME.serve_stateless().await;
    for method in ["tools/list", "prompts/list", "resources/templates/list"] {
        let list = server.request(method, json!({})).await.unwrap();
        assert_eq!((&list["ttlMs"], &list["cacheScope"]), (&json!(3_600_000), &json!("public")), "{method}");
    }
    // What follows the sessions is this client's, and changes at any time.
    let resources = server.request("resources/list", json!({})).await.unwrap();
    assert_eq!((&resources["ttlMs"], &resources["cacheScope"]), (&json!(0), &json!("private")));
    server.finish().await;
}

#[tokio::test]
async fn methods_of_the_other_era_are_unknown() {
    let server = STILLFRAME.serve_stateless().await;
    let uri = output_of(&session(&server).await);
    let table = [
        ("ping", json!({})),
        ("resources/subscribe", json!({ "uri": uri })),
        ("resources/unsubscribe", json!({ "uri": uri })),
        ("logging/setLevel", json!({ "level": "debug" })),
        ("no/such", json!({})),
    ];
    for (method, params) in table {
        assert_eq!(error_code(&server, method, params).await, -32601, "{method}");
    }
    server.finish().await;
}

#[tokio::test]
async fn bad_requests_have_distinct_errors() {
    let server = STILLFRAME.serve_stateless().await;
    let table = [
        ("tools/call", json!({ "name": "no_such_tool" })),
        ("tools/call", json!({ "name": "get_output", "arguments": [1] })),
        ("tools/call", json!({})),
        ("prompts/get", json!({ "name": "debug" })),
        ("resources/read", json!({ "uri": "stillframe://sessions/none/output" })),
    ];
    for (method, params) in table {
        assert_eq!(error_code(&server, method, params.clone()).await, -32602, "{method} {params}");
    }
    server.finish().await;
}

#[tokio::test]
async fn a_request_without_a_known_revision_is_refused() {
    let server = STILLFRAME.serve_stateless().await;
    server.request("tools/list", json!({})).await.unwrap();
    let bare = json!({ "jsonrpc": "2.0", "id": "bare", "method": "tools/list", "params": {} });
    assert_eq!(raw(&server, &bare).await["error"]["code"], -32602);
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let later =
        json!({ "jsonrpc": "2.0", "id": "later", "method": "tools/list", "params": { "_meta": meta } });
    let refused = raw(&server, &later).await;
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["requested"], "2031-01-01");
    server.request("tools/list", json!({})).await.unwrap();
    server.finish().await;
}

#[tokio::test]
async fn nothing_is_sent_without_a_request() {
    let server = STILLFRAME.serve_stateless().await;
    let mut messages = server.notifications();
    let program = Fixture::python("shop");
    let session = paused_at(&server, &program, "call").await;
    server.ok("continue_execution", json!({ "sessionId": session })).await;
    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    assert_eq!(arrived(&mut messages), Vec::<Value>::new());
    server.finish().await;
}

#[tokio::test]
async fn the_tool_list_is_constant_in_both_eras() {
    let stateless = STILLFRAME.serve_stateless().await;
    let handshake = STILLFRAME.serve().await;
    let before = stateless.request("tools/list", json!({})).await.unwrap();
    let program = Fixture::python("shop");
    paused_at(&stateless, &program, "call").await;
    let paused = stateless.request("tools/list", json!({})).await.unwrap();
    let other = handshake.request("tools/list", json!({})).await.unwrap();
    assert_eq!(before["tools"], paused["tools"]);
    assert_eq!(before["tools"], other["tools"]);
    stateless.finish().await;
    handshake.finish().await;
}
