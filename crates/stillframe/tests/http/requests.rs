//! Malformed and unsupported requests: each is answered with the right status.

use serde_json::{Value, json};
use test_support::HttpServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::STILLFRAME;
use crate::scenes::{ACCEPT, Header, JSON};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn malformed_bodies_and_headers_are_refused_with_the_reason() {
    let server = STILLFRAME.http().await.args(&["--no-token"]).start().await;
    let client = server.client().await;
    let session = ("mcp-session-id", client.session());
    let old = ("mcp-protocol-version", "2025-11-25");
    let large = " ".repeat(4 * 1024 * 1024 + 1);
    let table: [(&str, &[Header<'_>], &str, u16, i64); 17] = [
        ("garbage", &[ACCEPT, JSON, session, old], "garbage", 400, -32700),
        ("nothing", &[ACCEPT, JSON, session, old], "", 400, -32700),
        ("half a message", &[ACCEPT, JSON, session, old], r#"{"jsonrpc":"2.0","id":1"#, 400, -32700),
        ("no message", &[ACCEPT, JSON, session, old], r#"{"id":1}"#, 400, -32600),
        ("a batch", &[ACCEPT, JSON, session, old], "[]", 400, -32600),
        ("a full batch", &[ACCEPT, JSON, session, old], &format!("[{PING}]"), 400, -32600),
        ("a number", &[ACCEPT, JSON, session, old], "17", 400, -32600),
        ("too large", &[ACCEPT, JSON, session, old], &large, 413, -32000),
        ("another type", &[ACCEPT, ("content-type", "text/plain"), session, old], PING, 415, -32000),
        (
            "a type that begins so",
            &[ACCEPT, ("content-type", "application/jsonp"), session, old],
            PING,
            415,
            -32000,
        ),
        ("no type", &[ACCEPT, session, old], PING, 415, -32000),
        ("no stream is taken", &[("accept", "application/json"), JSON, session, old], PING, 406, -32000),
        ("nothing is taken", &[JSON, session, old], PING, 406, -32000),
        (
            "a revision that never was",
            &[ACCEPT, JSON, session, ("mcp-protocol-version", "1999-01-01")],
            PING,
            400,
            -32000,
        ),
        ("no session", &[ACCEPT, JSON, old], PING, 400, -32000),
        ("two sessions", &[ACCEPT, JSON, session, session, old], PING, 400, -32000),
        ("right", &[ACCEPT, JSON, session, old], PING, 200, 0),
    ];
    for (what, headers, body, status, code) in table {
        let answered = server.ask("POST", "/mcp", headers, body).await;
        assert_eq!(answered.status, status, "{what}");
        if code != 0 {
            let body = answered.json().await;
            assert_eq!(body["error"]["code"], code, "{what}: {body}");
        }
    }
    let numbered = server.ask("POST", "/mcp", &[ACCEPT, JSON, session, old], r#"{"id":"seven"}"#).await;
    assert_eq!(numbered.json().await["id"], "seven");
    server.finish().await;
}

/// The status of a refusal, its code, and what its text says of what is allowed.
type ExpectedRefusal<'a> = (u16, i64, &'a str);

#[tokio::test]
async fn every_refusal_names_what_is_allowed() {
    let server = STILLFRAME.http().await.args(&["--no-token"]).start().await;
    let client = server.client().await;
    let session = ("mcp-session-id", client.session());
    let (old, new) = (("mcp-protocol-version", "2025-11-25"), ("mcp-protocol-version", "2026-07-28"));
    let nonsense = ("mcp-protocol-version", "nonsense");
    let some = ("accept", "application/json");
    let handshake = |params: Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string()
    };
    let none = r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;
    let nameless = handshake(json!({ "protocolVersion": "2025-11-25", "capabilities": {} }));
    let wrong = handshake(json!({ "protocolVersion": 3, "capabilities": {}, "clientInfo": {} }));
    let table: [(&str, &[Header<'_>], &str, ExpectedRefusal<'_>); 15] = [
        ("POST", &[ACCEPT, JSON], none, (400, -32602, "params")),
        ("POST", &[ACCEPT, JSON], &nameless, (400, -32602, "clientInfo")),
        ("POST", &[ACCEPT, JSON], &wrong, (400, -32602, "initialize")),
        ("POST", &[some, JSON, session, old], PING, (406, -32000, "text/event-stream")),
        ("POST", &[JSON, session, old], PING, (406, -32000, "application/json")),
        ("POST", &[ACCEPT, JSON, session, nonsense], PING, (400, -32000, "2025-11-25")),
        ("POST", &[ACCEPT, JSON, old], PING, (400, -32000, "initialize")),
        ("POST", &[ACCEPT, JSON], PING, (400, -32000, "initialize")),
        ("GET", &[ACCEPT, old], "", (400, -32000, "initialize")),
        ("GET", &[some, session, old], "", (406, -32000, "text/event-stream")),
        ("GET", &[ACCEPT, session, nonsense], "", (400, -32000, "2025-11-25")),
        ("DELETE", &[old], "", (400, -32000, "initialize")),
        ("GET", &[ACCEPT, new], "", (405, -32000, "POST")),
        ("DELETE", &[new], "", (405, -32000, "POST")),
        ("DELETE", &[session, nonsense], "", (400, -32000, "2025-11-25")),
    ];
    for (method, headers, body, (status, code, allowed)) in table {
        let what = format!("{method} {headers:?} {body}");
        let answered = server.ask(method, "/mcp", headers, body).await;
        assert_eq!(
            (answered.status, answered.header("content-type")),
            (status, "application/json"),
            "{what}"
        );
        if status == 405 {
            assert_eq!(answered.header("allow"), "POST", "{what}");
        }
        let refused = answered.json().await;
        assert_eq!(refused["error"]["code"], code, "{what}: {refused}");
        assert_eq!(refused["id"], if method == "POST" { json!(1) } else { Value::Null }, "{what}");
        let message = refused["error"]["message"].as_str().expect("a refusal says why");
        assert!(message.contains(allowed), "{what}: {message}");
    }
    // None of them makes anybody a client.
    assert_eq!(server.health().await["clients"], 1);
    server.finish().await;
}

/// The conformance suite has tools, prompts and resources of its own, which only the server of unit tests offers.
#[tokio::test]
async fn the_program_offers_nothing_of_the_conformance_suite() {
    let server = STILLFRAME.serve_http().await;
    let table = [
        ("tools/call", json!({ "name": "test_simple_text", "arguments": {} })),
        ("prompts/get", json!({ "name": "test_simple_prompt" })),
        ("resources/read", json!({ "uri": "test://static-text" })),
    ];
    let (shaken, stateless) = (server.client().await, server.stateless());
    for (method, params) in table {
        for client in [&shaken, &stateless] {
            let error = client.request(method, params.clone()).await.expect_err("it is not offered");
            assert!([-32602, -32002].contains(&error["code"].as_i64().unwrap()), "{method}: {error}");
        }
    }
    let listed = shaken.request("tools/list", json!({})).await.unwrap();
    let names = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
    let foreign: Vec<&str> = names.filter(|name| name.starts_with("test_")).collect();
    assert!(foreign.is_empty(), "{foreign:?}");
    server.finish().await;
}

#[tokio::test]
async fn unknown_methods_are_refused() {
    let server = STILLFRAME.serve_http().await;
    let level = json!({ "level": "info" });
    let table = [
        ("logging/setLevel", level, false),
        ("no/such/method", json!({}), true),
        ("ping", json!({}), false),
        ("resources/subscribe", json!({ "uri": "stillframe://sessions/x/output" }), false),
    ];
    let (shaken, stateless) = (server.client().await, server.stateless());
    for (method, params, in_both) in table {
        for client in [Some(&stateless), in_both.then_some(&shaken)].into_iter().flatten() {
            let error = client.request(method, params.clone()).await.expect_err("it is not served");
            assert_eq!(error["code"], -32601, "{method}: {error}");
            assert_eq!(error["message"], format!("unknown method: {method}"));
        }
    }
    server.finish().await;
}

#[tokio::test]
async fn unsupported_http_methods_and_paths_name_the_supported_ones() {
    let server = STILLFRAME.http().await.args(&["--no-token"]).start().await;
    let table = [
        ("PUT", "/mcp", 405, "GET, POST, DELETE"),
        ("PATCH", "/mcp", 405, "GET, POST, DELETE"),
        ("HEAD", "/mcp", 405, "GET, POST, DELETE"),
        ("OPTIONS", "/mcp", 405, "GET, POST, DELETE"),
        ("POST", "/health", 405, "GET, HEAD"),
        ("HEAD", "/health", 200, ""),
        ("GET", "/", 404, ""),
        ("POST", "/mcp/", 404, ""),
        ("GET", "/../mcp", 404, ""),
        ("GET", "/mcp", 406, ""),
    ];
    for (method, path, status, allowed) in table {
        let answered = server.ask(method, path, &[], "").await;
        assert_eq!((answered.status, answered.header("allow")), (status, allowed), "{method} {path}");
    }
    server.finish().await;
}

/// Sends bytes and returns everything that comes back until the server hangs up.
async fn raw(server: &HttpServer, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address()).await.expect("the server listens");
    // One that answers early may not read the rest.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let read = tokio::time::timeout(std::time::Duration::from_mins(1), stream.read_to_end(&mut answer)).await;
    // One that has not read everything resets the connection.
    let _ = read.expect("the server hangs up");
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn malformed_http_is_answered_or_disconnected() {
    let server = STILLFRAME.http().await.args(&["--no-token"]).start().await;
    let long = format!("GET /health HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(64 * 1024));
    let longer = format!(
        "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: {}\r\n\r\n",
        "x".repeat(40_000)
    );
    let many = format!("GET /health HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "x: y\r\n".repeat(200));
    let table = [
        ("GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n", "HTTP/1.0 200"),
        ("GET /health HTTP/1.0\r\n\r\n", "HTTP/1.0 400"),
        ("GET /health HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 400"),
        ("GET /health HTTP/1.1\r\nHost: evil@localhost\r\nConnection: close\r\n\r\n", "HTTP/1.1 400"),
        ("GET /health HTTP/1.1\r\nHost: localhost:abc\r\nConnection: close\r\n\r\n", "HTTP/1.1 400"),
        ("GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n", "HTTP/1.1 400"),
        (
            "GET http://evil.example/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 403",
        ),
        ("nonsense\r\n\r\n", "HTTP/1.1 400"),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n", "HTTP/1.1 400"),
        (&long, "HTTP/1.1 431"),
        (&longer, "HTTP/1.1 431"),
        (&many, "HTTP/1.1 431"),
    ];
    for (bytes, begins) in table {
        let answer = raw(&server, bytes.as_bytes()).await;
        let shown: String = bytes.chars().take(60).collect();
        assert!(answer.starts_with(begins), "{shown:?}: {answer}");
    }
    assert_eq!(server.health().await["status"], "ok");
    server.finish().await;
}

/// A call that panics is answered, and so is a method: unit tests of `mcp.rs` have such tools. Here is what comes
/// nearest by itself, the largest numbers.
#[tokio::test]
async fn wrong_arguments_are_results_and_unknown_tools_are_errors() {
    let server = STILLFRAME.serve_http().await;
    for client in [server.client().await, server.stateless()] {
        client.fails("invalid_arguments", "set_breakpoint", json!({ "line": "many" })).await;
        let huge = json!({ "sessionId": "x", "depth": u64::MAX });
        assert!(client.call("get_stack_trace", huge).await.is_error);
        let unknown = client.request("tools/call", json!({ "name": "no_such_tool", "arguments": {} })).await;
        assert_eq!(unknown.unwrap_err()["code"], -32602);
        let unknown = client.request("no/such/method", json!({})).await;
        assert_eq!(unknown.unwrap_err()["code"], -32601);
    }
    server.finish().await;
}

#[tokio::test]
async fn an_id_in_use_is_refused() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    let session = crate::scenes::running(&client).await;
    let (id, mut events, _) = crate::scenes::begin_waiting(&client, &session).await;
    let again = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    let refused = client.post(&again, &[]).await;
    assert_eq!(refused.status, 400);
    let body: Value = refused.json().await;
    assert_eq!((&body["id"], &body["error"]["code"]), (&json!(id), &json!(-32600)));
    client.ok("pause_execution", json!({ "sessionId": session })).await;
    assert!(events.response(id).await.is_some());
    server.finish().await;
}
