//! What many tests begin with.

use serde_json::json;
use test_support::{Events, Fixture, HttpClient};

/// A name and a value.
pub(crate) type Header<'a> = (&'a str, &'a str);

/// What each client sends with a message.
pub(crate) const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");
pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");

/// A new debug session.
pub(crate) async fn session(client: &HttpClient) -> String {
    let created = client.ok("create_debug_session", json!({ "language": "python" })).await;
    created.text_of("sessionId").to_owned()
}

/// A debug session whose program is paused at a line.
pub(crate) async fn paused_at(client: &HttpClient, program: &Fixture, mark: &str) -> String {
    let session = session(client).await;
    let line = program.line(mark);
    client.ok("set_breakpoint", json!({ "sessionId": session, "file": program.path(), "line": line })).await;
    let start = json!({ "sessionId": session, "scriptPath": program.path(), "timeout": 60_000 });
    let stopped = client.ok("start_debugging", start).await;
    assert_eq!((&stopped["state"], stopped.at("/location/line")), (&json!("paused"), &json!(line)));
    session
}

/// A debug session whose program runs forever.
pub(crate) async fn running(client: &HttpClient) -> String {
    let session = session(client).await;
    let start = json!({ "sessionId": session, "scriptPath": Fixture::python("naps").path(), "timeout": 0 });
    assert_eq!(client.ok("start_debugging", start).await["state"], "running");
    session
}

/// Calls a tool, and leaves once the call is under way: a message of its progress has come.
pub(crate) async fn begin_waiting(client: &HttpClient, session: &str) -> (u64, Events, String) {
    let call = json!({
        "name": "continue_execution",
        "arguments": { "sessionId": session, "timeout": 60_000 },
        "_meta": { "progressToken": format!("of {session}") },
    });
    let (id, answered) = client.begin("tools/call", call).await;
    let mut events = answered.events();
    let event = events.message().await.expect("the call is under way");
    assert_eq!(event.message["method"], "notifications/progress");
    (id, events, event.id.unwrap_or_default())
}

/// How many debug sessions a client sees.
pub(crate) async fn seen(client: &HttpClient) -> usize {
    let list = client.ok("list_debug_sessions", json!({})).await;
    list["sessions"].as_array().expect("a list").len()
}
