//! The transport of revision 2024-11-05: one stream for a session, and an address that its messages are posted to.

use serde_json::{Value, json};
use test_support::{Events, HttpServer};

use crate::STILLFRAME;
use crate::scenes::JSON;

/// A session of a client that knows only this transport.
struct Older<'a> {
    server: &'a HttpServer,
    authorization: String,
    address: String,
    events: Events,
    last: u64,
}

impl<'a> Older<'a> {
    /// Opens a stream and shakes hands.
    async fn connect(server: &'a HttpServer, token: &str) -> Self {
        let authorization = format!("Bearer {token}");
        let head = [("authorization", authorization.as_str()), ("accept", "text/event-stream")];
        let mut events = server.ask("GET", "/sse", &head, "").await.events();
        let endpoint = events.message().await.expect("the first event names the address").message;
        let address = endpoint.as_str().expect("an address").to_owned();
        assert!(address.starts_with("/sse?sessionId="), "{address}");
        let mut client = Self { server, authorization, address, events, last: 0 };
        let params = json!({
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": { "name": "tests", "version": "1" },
        });
        let hello = client.request("initialize", params).await;
        assert_eq!(hello["result"]["protocolVersion"], "2024-11-05", "{hello}");
        client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    async fn post(&self, message: &Value) {
        let head = [("authorization", self.authorization.as_str()), JSON];
        let answered = self.server.ask("POST", &self.address, &head, &message.to_string()).await;
        assert_eq!(answered.status, 202, "the answer comes on the stream");
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        self.post(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params })).await;
        self.events.response(self.last).await.expect("an answer")
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        answer["result"]["structuredContent"].clone()
    }
}

#[tokio::test]
async fn a_session_is_a_stream_and_ends_with_it() {
    let server = STILLFRAME.serve_http().await;
    let mut client = Older::connect(&server, server.token()).await;
    let mut other = Older::connect(&server, server.token()).await;
    let created = client.call("create_debug_session", json!({ "language": "python", "name": "old" })).await;
    assert_eq!(created["success"], true);
    assert_eq!(client.call("list_debug_sessions", json!({})).await["count"], 1);
    assert_eq!(other.call("list_debug_sessions", json!({})).await["count"], 0, "each has its own");
    let address = client.address.clone();
    drop(client);
    server.healthy(|health| health["clients"] == 1 && health["debugSessions"] == 0).await;
    let head = [("authorization", other.authorization.as_str()), JSON];
    let late = server.ask("POST", &address, &head, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    assert_eq!(late.status, 404);
    server.finish().await;
}

#[tokio::test]
async fn two_calls_of_a_session_run_at_once() {
    let server = STILLFRAME.serve_http().await;
    let mut client = Older::connect(&server, server.token()).await;
    let program = test_support::Fixture::python("naps");
    let session =
        client.call("create_debug_session", json!({ "language": "python" })).await["sessionId"].clone();
    let start = json!({ "sessionId": session, "scriptPath": program.path(), "timeout": 0 });
    assert_eq!(client.call("start_debugging", start).await["state"], "running");
    let arguments = json!({ "sessionId": session, "timeout": 60_000 });
    let waits = json!({ "name": "continue_execution", "arguments": arguments });
    client.post(&json!({ "jsonrpc": "2.0", "id": 1000, "method": "tools/call", "params": waits })).await;
    let pause = json!({ "name": "pause_execution", "arguments": { "sessionId": session } });
    client.post(&json!({ "jsonrpc": "2.0", "id": 1001, "method": "tools/call", "params": pause })).await;
    let answer = client.events.response(1000).await.expect("the pause ends the wait");
    assert_eq!(answer["result"]["structuredContent"]["state"], "paused", "{answer}");
    server.finish().await;
}

#[tokio::test]
async fn unauthorized_and_malformed_requests_are_refused() {
    let (alice, bob) = ("a".repeat(32), "b".repeat(32));
    let server = STILLFRAME.http().await.tokens(&[&alice, &bob]).start().await;
    let client = Older::connect(&server, &alice).await;
    let (own, others) = (format!("Bearer {alice}"), format!("Bearer {bob}"));
    let address = client.address.as_str();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let table = [
        ("GET", "/sse", None, "", 401),
        ("POST", address, None, ping, 401),
        ("POST", address, Some(&others), ping, 404),
        ("POST", "/sse?sessionId=none", Some(&own), ping, 404),
        ("POST", "/sse", Some(&own), ping, 400),
        ("POST", address, Some(&own), "{", 400),
        ("PUT", address, Some(&own), "", 405),
    ];
    for (method, path, token, body, status) in table {
        let mut head = vec![JSON];
        head.extend(token.map(|token| ("authorization", token.as_str())));
        assert_eq!(server.ask(method, path, &head, body).await.status, status, "{method} {path} {token:?}");
    }
    let strange = [("authorization", own.as_str()), ("origin", "https://evil.example")];
    assert_eq!(server.ask("GET", "/sse", &strange, "").await.status, 403);
    server.finish().await;
}
