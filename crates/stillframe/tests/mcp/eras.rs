//! The same session in each era of the protocol, and both on one pipe.

use serde_json::{Value, json};
use test_support::{Client, Fixture};

use crate::STILLFRAME;
use crate::scenes::{paused_at, raw, stateless_meta};

/// From the first breakpoint to the program's last word.
async fn a_session(server: &impl Client) {
    let program = Fixture::python("shop");
    let session = paused_at(server, &program, "call").await;
    let value = |expression: &str| json!({ "sessionId": session, "expression": expression });
    let prices = server.ok("evaluate_expression", value("prices['pear'] * 2")).await;
    assert_eq!((&prices["result"], &prices["type"]), (&json!("6"), &json!("int")));

    let inside = server.ok("step_into", json!({ "sessionId": session })).await;
    assert_eq!(inside.at("/location/function"), "total");
    let stack = server.ok("get_stack_trace", json!({ "sessionId": session })).await;
    let names = stack["stackFrames"].as_array().map(|frames| frames.iter().map(|frame| &frame["name"]));
    let names: Vec<&Value> = names.into_iter().flatten().collect();
    assert_eq!(names, ["total", "check_out", "main", "<module>"]);

    let back = server.ok("step_out", json!({ "sessionId": session })).await;
    assert_eq!(back.at("/location/function"), "check_out");
    let over = server.ok("step_over", json!({ "sessionId": session })).await;
    assert_eq!(over.at("/location/line"), program.line("pay"));
    assert_eq!(over.variable("amount"), "11");

    let ended = server.ok("continue_execution", json!({ "sessionId": session })).await;
    assert_eq!((&ended["state"], &ended["exitCode"]), (&json!("ended"), &json!(0)));
    assert_eq!(ended["output"], "to pay: 11\nthank you\n");
    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    let none = server.ok("list_debug_sessions", json!({})).await;
    assert_eq!(none["sessions"], json!([]));
}

#[tokio::test]
async fn a_session_works_after_a_handshake() {
    let server = STILLFRAME.serve().await;
    a_session(&server).await;
    server.finish().await;
}

#[tokio::test]
async fn a_session_works_without_a_handshake() {
    let server = STILLFRAME.serve_stateless().await;
    a_session(&server).await;
    server.finish().await;
}

#[tokio::test]
async fn the_same_session_works_over_http_in_both_eras() {
    let server = STILLFRAME.serve_http().await;
    a_session(&server.client().await).await;
    a_session(&server.stateless()).await;
    server.finish().await;
}

#[tokio::test]
async fn both_eras_on_one_pipe_share_their_sessions() {
    let server = STILLFRAME.serve().await;
    let program = Fixture::python("shop");
    let session = paused_at(&server, &program, "pay").await;

    let arguments = json!({ "sessionId": session, "expression": "amount" });
    let params = json!({ "name": "evaluate_expression", "arguments": arguments });
    let old = server.request("tools/call", params.clone()).await.unwrap();
    let mut params = params;
    params["_meta"] = stateless_meta();
    let new = server.request("tools/call", params).await.unwrap();
    assert_eq!(old["structuredContent"]["result"], "11");
    assert_eq!(new["structuredContent"]["result"], "11");
    assert_eq!((old.get("resultType"), old.get("_meta")), (None, None));
    assert_eq!(new["resultType"], "complete");

    let stepped = server.ok("step_over", json!({ "sessionId": session })).await;
    assert_eq!(stepped.at("/location/line"), program.line("paid"), "the old era goes on");
    server.finish().await;
}

#[tokio::test]
async fn a_client_may_discover_before_the_handshake() {
    // One client of the field asks for `server/discover` and, although it succeeds, sends `initialize` then.
    let server = STILLFRAME.serve_stateless().await;
    let discovered = server.request("server/discover", json!({})).await.unwrap();
    assert_eq!(discovered["resultType"], "complete");
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "tests", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params });
    let hello = raw(&server, &hello).await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    let list = raw(&server, &json!({ "jsonrpc": "2.0", "id": "list", "method": "tools/list" })).await;
    assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(35));
    assert_eq!(list["result"].get("resultType"), None);
    server.finish().await;
}
