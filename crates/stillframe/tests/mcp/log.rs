//! Log messages for the client.

use serde_json::{Value, json};
use test_support::Fixture;
use tokio::sync::broadcast::Receiver;

use crate::STILLFRAME;
use crate::scenes::{arrived, error_code, next, paused_at, session};

fn is_log(message: &Value) -> bool {
    message["method"] == "notifications/message"
}

/// The text of the next message with these words, and its level.
async fn logged(messages: &mut Receiver<Value>, words: &str) -> Value {
    let has_words = |message: &Value| {
        is_log(message) && message["params"]["data"].as_str().is_some_and(|data| data.contains(words))
    };
    let message = next(messages, has_words).await;
    assert_eq!(message["params"]["logger"], "stillframe");
    message["params"]["level"].clone()
}

#[tokio::test]
async fn a_session_is_logged_from_its_opening_to_its_close() {
    let server = STILLFRAME.serve().await;
    let mut messages = server.notifications();
    server.request("logging/setLevel", json!({ "level": "debug" })).await.unwrap();
    let id = paused_at(&server, &Fixture::python("shop"), "pay").await;
    assert_eq!(logged(&mut messages, &format!("({id}) is open: python")).await, "info");
    assert_eq!(logged(&mut messages, "the program is paused: breakpoint").await, "debug");
    while server.ok("continue_execution", json!({ "sessionId": id })).await["state"] == "paused" {}
    assert_eq!(logged(&mut messages, "the program exited with code 0").await, "info");
    server.ok("close_debug_session", json!({ "sessionId": id })).await;
    assert_eq!(logged(&mut messages, &format!("({id}) is closed")).await, "info");
    server.finish().await;
}

#[tokio::test]
async fn messages_below_the_level_are_left_out() {
    let server = STILLFRAME.serve().await;
    let mut messages = server.notifications();
    server.request("logging/setLevel", json!({ "level": "warning" })).await.unwrap();
    let closed = session(&server).await;
    server.ok("close_debug_session", json!({ "sessionId": closed })).await;
    let fails = tempfile::tempdir().unwrap();
    let program = fails.path().join("fails.py");
    std::fs::write(&program, "import os\nos._exit(3)\n").unwrap();
    let id = session(&server).await;
    server.ok("start_debugging", json!({ "sessionId": id, "scriptPath": program })).await;
    assert_eq!(logged(&mut messages, "the program exited with code 3").await, "warning");
    let more: Vec<Value> = arrived(&mut messages).into_iter().filter(is_log).collect();
    assert_eq!(more, Vec::<Value>::new());
    server.finish().await;
}

#[tokio::test]
async fn a_level_that_does_not_exist_is_invalid() {
    let server = STILLFRAME.serve().await;
    let loud = server.request("logging/setLevel", json!({ "level": "loud" })).await.unwrap_err();
    assert_eq!(loud["code"], -32602);
    assert!(loud["message"].as_str().unwrap().contains("`level` must be `debug`, `info`, "), "{loud}");
    assert_eq!(error_code(&server, "logging/setLevel", json!({})).await, -32602);
    server.finish().await;
}

/// A name may be a credential, and an invisible character may hide something.
#[tokio::test]
async fn messages_have_no_credentials_and_no_invisible_characters() {
    let server = STILLFRAME.serve().await;
    let mut messages = server.notifications();
    let name = "ghp_0123456789abcdefghijABCDEFGHIJ012345 \u{202e}x";
    server.ok("create_debug_session", json!({ "language": "python", "name": name })).await;
    let message = next(&mut messages, is_log).await;
    let data = message["params"]["data"].as_str().unwrap();
    assert!(!data.contains("ghp_0123456789") && !data.contains('\u{202e}'), "{data}");
    server.finish().await;
}

/// Revision 2026-07-28: a call names the level, and hears of what happens during it.
#[tokio::test]
async fn a_stateless_call_is_logged_if_it_names_a_level() {
    let server = STILLFRAME.serve_stateless().await;
    let mut messages = server.notifications();
    let create = |name: &str| json!({ "name": "create_debug_session", "arguments": { "language": "python", "name": name } });
    server.request("tools/call", create("silent")).await.unwrap();
    let mut loud = create("loud");
    loud["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "info" });
    server.request("tools/call", loud).await.unwrap();
    let mut quiet = create("quiet");
    quiet["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "error" });
    server.request("tools/call", quiet).await.unwrap();
    let logs: Vec<Value> = arrived(&mut messages).into_iter().filter(is_log).collect();
    let [only] = logs.as_slice() else { panic!("one message: {logs:?}") };
    assert!(only["params"]["data"].as_str().unwrap().contains("`loud`"), "{only}");
    server.finish().await;
}

/// The warnings of a server with one client are about that client.
#[tokio::test]
async fn warnings_of_the_server_reach_its_client() {
    let server = STILLFRAME.serve().await;
    let mut messages = server.notifications();
    let long =
        format!("{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"{}\"}}\n", "x".repeat(17 * 1024 * 1024));
    server.send_raw(long.as_bytes()).await;
    assert_eq!(logged(&mut messages, "skipped a client message that is too long").await, "warning");
    server.finish().await;
}
