//! Old and new revisions of the protocol, side by side.

use serde_json::{Value, json};

use crate::STILLFRAME;
use crate::scenes::{ACCEPT, Header, JSON};

/// What a client asks for, and what it gets.
const NEGOTIATED: [(&str, &str); 7] = [
    ("2024-11-05", "2024-11-05"),
    ("2025-03-26", "2025-03-26"),
    ("2025-06-18", "2025-06-18"),
    ("2025-11-25", "2025-11-25"),
    // That revision has no handshake, so a client with one gets the last revision that had it.
    ("2026-07-28", "2025-11-25"),
    ("2099-01-01", "2025-11-25"),
    ("nonsense", "2025-11-25"),
];

#[tokio::test]
async fn a_handshake_negotiates_a_revision() {
    let server = STILLFRAME.http().await.args(&["--no-token"]).start().await;
    for (asked, given) in NEGOTIATED {
        let params = json!({
            "protocolVersion": asked,
            "capabilities": {},
            "clientInfo": { "name": "tests", "version": "1" },
        });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let answered = server.ask("POST", "/mcp", &[ACCEPT, JSON], &request.to_string()).await;
        let session = answered.header("mcp-session-id").to_owned();
        let response = answered.events().response(1).await.expect("an answer");
        assert_eq!(response["result"]["protocolVersion"], given, "{asked}");

        // The agreed revision is named from then on; before 2025-06-18 there was no header for it.
        let mut headers = vec![ACCEPT, JSON, ("mcp-session-id", session.as_str())];
        if given >= "2025-06-18" {
            headers.push(("mcp-protocol-version", given));
        }
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(server.ask("POST", "/mcp", &headers, initialized).await.status, 202, "{asked}");
        let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
        let mut events = server.ask("POST", "/mcp", &headers, list).await.events();
        let first = events.next().await.expect("an event");
        // Older clients would take an event without data for a broken message.
        assert_eq!(first.message.is_null(), given >= "2025-11-25", "{asked}");
        assert!(first.id.is_some(), "{asked}");
        let list = if first.message.is_null() { events.response(2).await.unwrap() } else { first.message };
        assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(35), "{asked}");
        assert_eq!(list["result"].get("ttlMs"), None, "{asked}");
        assert_eq!(server.ask("DELETE", "/mcp", &headers, "").await.status, 204, "{asked}");
    }
    server.finish().await;
}

#[tokio::test]
async fn without_a_handshake_each_request_names_its_revision() {
    let server = STILLFRAME.serve_http().await;
    let client = server.stateless();
    let found = client.request("server/discover", json!({})).await.expect("discovery is answered");
    let known = found["supportedVersions"].as_array().expect("revisions").clone();
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        assert!(known.contains(&json!(revision)), "{revision}: {known:?}");
    }
    let list = client.request("tools/list", json!({})).await.expect("tools are listed");
    assert!(list["ttlMs"].is_u64(), "{list}");
    assert_eq!(list["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "stillframe");
    for gone in ["initialize", "ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"] {
        let (_, answered) = client.begin(gone, json!({})).await;
        assert_eq!(answered.status, 404, "{gone}");
        assert_eq!(answered.json().await["error"]["code"], -32601, "{gone}");
    }
    server.finish().await;
}

#[tokio::test]
async fn headers_that_contradict_the_message_are_refused() {
    let server = STILLFRAME.http().await.args(&["--no-token"]).start().await;
    let body = |version: &str| -> String {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "tests", "version": "1" },
        });
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } }).to_string()
    };
    let new = ("mcp-protocol-version", "2026-07-28");
    let method = ("mcp-method", "tools/list");
    let table: [(&str, Vec<Header<'_>>, String, u16); 6] = [
        ("right", vec![new, method], body("2026-07-28"), 200),
        ("another method", vec![new, ("mcp-method", "tools/call")], body("2026-07-28"), 400),
        ("no method", vec![new], body("2026-07-28"), 400),
        ("another revision", vec![("mcp-protocol-version", "2025-11-25"), method], body("2026-07-28"), 400),
        ("no revision", vec![method], body("2026-07-28"), 400),
        (
            "one that is not known",
            vec![("mcp-protocol-version", "2027-01-01"), method],
            body("2027-01-01"),
            400,
        ),
    ];
    for (what, headers, body, status) in table {
        let headers: Vec<_> = [ACCEPT, JSON].into_iter().chain(headers).collect();
        let answered = server.ask("POST", "/mcp", &headers, &body).await;
        assert_eq!(answered.status, status, "{what}");
        if status != 200 {
            let refused: Value = answered.json().await;
            assert!(refused["error"]["code"].is_i64(), "{what}: {refused}");
        }
    }
    server.finish().await;
}
