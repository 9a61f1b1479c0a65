//! Clients that send what they should not.

use serde_json::{Value, json};
use test_support::Server;

use crate::STILLFRAME;
use crate::scenes::{arrived, next, raw};

/// Fails unless the server answers a good request, and ends well without having panicked.
async fn lives(server: Server) -> Vec<Value> {
    let list = server.request("tools/list", json!({})).await.expect("the server answers");
    assert_eq!(list["tools"].as_array().map(Vec::len), Some(35));
    let (lines, log) = server.finish().await;
    assert!(!log.contains("panicked"), "{log}");
    lines.iter().map(|line| serde_json::from_str(line).expect("a message")).collect()
}

#[tokio::test]
async fn a_malformed_line_does_no_harm() {
    let table: [&[u8]; 16] = [
        b"hello\n",
        b"\n\r\n   \n\t\n",
        b"{\n",
        b"}{\n",
        b"\"text\"\n",
        b"null\n",
        b"42\n",
        b"{}\n",
        b"[]\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"pi\n",
        b"{\"id\":78,\"method\":\"ping\"}\n",
        b"{\"jsonrpc\":\"1.0\",\"id\":79,\"method\":\"ping\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":80,\"method\":7}\n",
        b"\0\0\0\0\n",
    ];
    for garbage in table {
        let server = STILLFRAME.serve().await;
        server.send_raw(garbage).await;
        lives(server).await;
    }
}

#[tokio::test]
async fn a_line_that_is_no_json_is_answered_before_and_after_the_handshake() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let twice = format!("{ping}{ping}\n");
    let table: [(&[u8], &str); 3] = [
        (b"{bad json\n", "line 1 column 2"),
        (twice.as_bytes(), "trailing characters"),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n", "utf-8"),
    ];
    for server in [STILLFRAME.serve().await, STILLFRAME.serve_stateless().await] {
        let mut messages = server.notifications();
        for (line, problem) in table {
            server.send_raw(line).await;
            let refused = next(&mut messages, |message| message.get("error").is_some()).await;
            assert_eq!(refused["error"]["code"], -32700, "{refused}");
            let message = refused["error"]["message"].as_str().unwrap();
            assert!(message.starts_with("invalid JSON: ") && message.contains(problem), "{refused}");
        }
        lives(server).await;
    }
}

#[tokio::test]
async fn invalid_utf_8_does_no_harm() {
    let server = STILLFRAME.serve().await;
    server.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":71,\"method\":\"\xff\xfe\"}\n").await;
    server.send_raw(b"\xff\xfe\xfd\n\xc3\n").await;
    server.send_raw(&(0..=255).collect::<Vec<u8>>()).await;
    server.send_raw(b"\n").await;
    lives(server).await;
}

#[tokio::test]
async fn a_batch_is_refused() {
    let server = STILLFRAME.serve().await;
    let mut messages = server.notifications();
    let batch = json!([
        { "jsonrpc": "2.0", "id": "one", "method": "ping" },
        { "jsonrpc": "2.0", "id": "two", "method": "ping" },
    ]);
    server.send(&batch).await;
    let refused = next(&mut messages, |message| message.get("error").is_some()).await;
    assert_eq!(refused["error"]["code"], -32600);
    assert_eq!(refused["error"]["message"], "batches are not supported: send one message per line");
    lives(server).await;
}

#[tokio::test]
async fn an_unparsable_call_is_answered() {
    let server = STILLFRAME.serve().await;
    let mut messages = server.notifications();
    let deep = "[".repeat(500) + &"]".repeat(500);
    let table = [("half", "\"\\ud800\""), ("large", "1e400"), ("deep", &deep)];
    for (id, language) in table {
        let call = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"tools/call\",\"params\":{{\"name\":\
             \"create_debug_session\",\"arguments\":{{\"language\":{language}}}}}}}\n"
        );
        server.send_raw(call.as_bytes()).await;
        let answer = next(&mut messages, |message| message["id"] == id).await;
        if id == "half" {
            assert_eq!(answer["result"]["structuredContent"]["code"], "language_unsupported", "{answer}");
        } else {
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        }
    }
    lives(server).await;
}

#[tokio::test]
async fn malformed_request_is_answered_with_its_id() {
    let server = STILLFRAME.serve().await;
    let call =
        |params: Value| json!({ "jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": params });
    let sessions = "list_debug_sessions";
    let table = [
        (call(json!([])), -32602),
        (call(json!("x")), -32602),
        (call(json!(7)), -32602),
        (call(json!({ "name": sessions, "arguments": {}, "_meta": [] })), -32602),
        (call(json!({ "name": sessions, "arguments": {}, "_meta": 5 })), -32602),
        (json!({ "jsonrpc": "2.0", "id": "x", "method": 5 }), -32600),
        (json!({ "jsonrpc": "2.0", "id": "x", "method": null, "params": {} }), -32600),
        (json!({ "jsonrpc": "2.0", "id": "x" }), -32600),
        (json!({ "jsonrpc": "1.0", "id": "x", "method": "ping" }), -32600),
        (json!({ "id": "x", "method": "ping" }), -32600),
        (json!({ "jsonrpc": "2.0", "id": "x", "method": "nope", "params": [1] }), -32601),
    ];
    for (message, code) in table {
        assert_eq!(raw(&server, &message).await["error"]["code"], code, "{message}");
    }
    for (params, problem) in [
        (json!({ "name": sessions, "arguments": "{}" }), "`arguments` must be an object"),
        (json!({ "name": sessions, "arguments": [] }), "`arguments` must be an object"),
        (json!({ "name": 7 }), "`name` must be a string"),
        (json!({}), "`name` must be a string"),
    ] {
        let refused = raw(&server, &call(params)).await;
        let expected = format!("malformed params for tools/call: {problem}");
        assert_eq!(
            (&refused["error"]["code"], &refused["error"]["message"]),
            (&json!(-32602), &json!(expected))
        );
    }
    // Methods without parameters ignore malformed ones.
    for (method, member) in [("tools/list", "tools"), ("resources/list", "resources")] {
        for params in [json!([]), json!("x"), json!({ "_meta": 5 })] {
            let request = json!({ "jsonrpc": "2.0", "id": "x", "method": method, "params": params });
            assert!(raw(&server, &request).await["result"][member].is_array(), "{request}");
        }
    }
    lives(server).await;
}

#[tokio::test]
async fn a_message_can_arrive_in_two_chunks() {
    let server = STILLFRAME.serve().await;
    let mut messages = server.notifications();
    server.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":\"ha").await;
    // By now the server has long read the first half: a fresh one has come, shaken hands and answered.
    lives(STILLFRAME.serve().await).await;
    server.send_raw(b"lves\",\"method\":\"ping\"}\n").await;
    let answer = next(&mut messages, |message| message["id"] == "halves").await;
    assert_eq!(answer["result"], json!({}));
    lives(server).await;
}

#[tokio::test]
async fn an_incomplete_message_at_the_end_of_input_is_dropped() {
    for half in [&b"{\"jsonrpc\":\"2.0\",\"id\":99,\"method\":\"pi"[..], b"{", b"\xc3"] {
        let server = STILLFRAME.serve().await;
        server.send_raw(half).await;
        let (_, log) = server.finish().await;
        assert!(!log.contains("panicked"), "{log}");
    }
}

#[tokio::test]
async fn a_line_of_twenty_megabytes_is_refused() {
    let server = STILLFRAME.serve().await;
    let mut messages = server.notifications();
    let long = "x".repeat(20 << 20);
    let params = json!({ "name": "create_debug_session", "arguments": { "language": long } });
    server.send(&json!({ "method": "tools/call", "params": params, "jsonrpc": "2.0", "id": "huge" })).await;
    let answer = next(&mut messages, |message| message["id"] == "huge").await;
    let message = answer.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
    assert!(message.contains("the limit of 16777216 bytes"), "{answer}");
    // There is no request to answer.
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/x", "params": { "x": long } })).await;
    server.send_raw(long.as_bytes()).await;
    server.send_raw(b"\n").await;
    lives(server).await;
}

#[tokio::test]
async fn an_argument_of_five_megabytes_is_answered_briefly() {
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": "x".repeat(5 << 20) });
    let params = json!({ "name": "create_debug_session", "arguments": arguments });
    let call = json!({ "jsonrpc": "2.0", "id": "large", "method": "tools/call", "params": params });
    let answer = raw(&server, &call).await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"]["structuredContent"]["code"], "language_unsupported");
    lives(server).await;
}

#[tokio::test]
async fn notifications_can_come_first() {
    let table = [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": 1, "progress": 1 } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/no-such" }),
        json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": 1 } }),
        json!({ "jsonrpc": "2.0", "id": "nobody asked", "result": {} }),
    ];
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "tests", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params });
    for first in table {
        // Neither era is begun when it comes.
        let server = STILLFRAME.serve_stateless().await;
        server.send(&first).await;
        assert_eq!(raw(&server, &hello).await["result"]["protocolVersion"], "2025-11-25", "{first}");
        server.finish().await;

        let server = STILLFRAME.serve_stateless().await;
        server.send(&first).await;
        server.request("server/discover", json!({})).await.unwrap();
        server.send(&first).await;
        lives(server).await;
    }
}

#[tokio::test]
async fn unknown_notifications_are_ignored() {
    let server = STILLFRAME.serve().await;
    for message in [
        json!({ "jsonrpc": "2.0", "method": "notifications/no-such", "params": [1, 2] }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "nobody" } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }),
        json!({ "jsonrpc": "2.0", "id": 12345, "result": { "roots": [] } }),
        json!({ "jsonrpc": "2.0", "id": 12346, "error": { "code": -1, "message": "no" } }),
    ] {
        server.send(&message).await;
    }
    lives(server).await;
}

#[tokio::test]
async fn two_requests_with_one_id_are_both_answered() {
    let server = STILLFRAME.serve().await;
    let mut messages = server.notifications();
    let request = json!({ "jsonrpc": "2.0", "id": "twice", "method": "tools/list" });
    server.send_raw(format!("{request}\n{request}\n").as_bytes()).await;
    next(&mut messages, |message| message["id"] == "twice").await;
    lives(server).await;
}

#[tokio::test]
async fn a_request_before_the_handshake_is_answered_and_the_handshake_still_works() {
    let server = STILLFRAME.serve_stateless().await;
    let mut messages = server.notifications();
    let early = json!({ "jsonrpc": "2.0", "id": "early", "method": "tools/list" });
    assert!(raw(&server, &early).await["result"]["tools"].is_array());
    let own = "stillframe:handshake";
    assert!(
        arrived(&mut messages).iter().all(|message| message["id"] != own),
        "the client has not asked for it"
    );
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "tests", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params });
    assert_eq!(raw(&server, &hello).await["result"]["protocolVersion"], "2025-11-25");
    server.finish().await;
}

#[tokio::test]
async fn crlf_line_ends_are_accepted() {
    let server = STILLFRAME.serve().await;
    let mut messages = server.notifications();
    server.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":\"crlf\",\"method\":\"ping\"}\r\n").await;
    next(&mut messages, |message| message["id"] == "crlf").await;
    lives(server).await;
}
