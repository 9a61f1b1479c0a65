//! Clients that are gone without a word.

use serde_json::json;
use std::process::Stdio;
use test_support::{Fixture, HttpServer};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::STILLFRAME;
use crate::scenes::{begin_waiting, paused_at, running};

async fn impatient() -> HttpServer {
    STILLFRAME.http().await.args(&["--session-idle", "1"]).start().await
}

#[tokio::test]
async fn idle_clients_are_ended_with_their_programs() {
    let server = impatient().await;
    let tasks = server.health().await["tasks"].as_u64();
    let (client, stateless) = (server.client().await, server.stateless());
    paused_at(&client, &Fixture::python("shop"), "call").await;
    paused_at(&stateless, &Fixture::python("shop"), "call").await;
    server.healthy(|health| health["clients"] == 0 && health["processes"] == 0).await;
    server.healthy(|health| health["tasks"].as_u64() <= tasks).await;
    // The session is gone: the client must start a new one.
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let answered = client.post(&ping, &[]).await;
    assert_eq!(answered.status, 404);
    assert!(answered.text().await.contains("start a new one"));
    assert_eq!(stateless.ok("list_debug_sessions", json!({})).await["count"], 0);
    server.finish().await;
}

/// A client that listens or waits is there, however long that takes.
#[tokio::test]
async fn a_listening_or_waiting_client_is_not_idle() {
    let server = impatient().await;
    let (listens, waits, silent) = (server.client().await, server.client().await, server.client().await);
    let _events = listens.listen(None).await;
    let waiting = running(&waits).await;
    let (id, mut answer, _) = begin_waiting(&waits, &waiting).await;
    // Three clients, of whom one is silent: once it is gone, the others have been there as long.
    server.healthy(|health| health["clients"] == 2).await;
    drop(silent);
    for client in [&listens, &waits] {
        client.ok("list_debug_sessions", json!({})).await;
    }
    waits.ok("pause_execution", json!({ "sessionId": waiting })).await;
    assert!(answer.response(id).await.is_some());
    server.finish().await;
}

/// A client process that is killed in the middle of a call.
const CLIENT: &str = r#"
import http.client, json, sys
host, token, session, debugged = sys.argv[1:]
call = {"name": "continue_execution", "arguments": {"sessionId": debugged, "timeout": 2000},
        "_meta": {"progressToken": 1}}
body = json.dumps({"jsonrpc": "2.0", "id": "killed", "method": "tools/call", "params": call})
connection = http.client.HTTPConnection(host)
connection.request("POST", "/mcp", body, {
    "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
    "Authorization": "Bearer " + token, "Mcp-Session-Id": session})
answer = connection.getresponse()
for line in answer:
    print(line.decode().strip(), flush=True)
"#;

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a client of the test, which kills it")]
async fn a_client_killed_during_a_call_is_cleaned_up() {
    let server = impatient().await;
    let client = server.client().await;
    let debugged = running(&client).await;
    let other = server.client().await;
    let _listens = other.listen(None).await;
    let session = paused_at(&other, &Fixture::python("shop"), "call").await;

    let mut process = tokio::process::Command::new("python3");
    process.args(["-c", CLIENT, &server.address().to_string(), server.token(), client.session(), &debugged]);
    process.stdout(Stdio::piped()).kill_on_drop(true);
    let mut process = process.spawn().expect("python3 runs");
    let mut lines = BufReader::new(process.stdout.take().expect("stdout is piped")).lines();
    while let Some(line) = lines.next_line().await.expect("the client writes") {
        if line.contains("notifications/progress") {
            break;
        }
    }
    process.kill().await.expect("the client can be killed");
    server.healthy(|health| health["clients"] == 1 && health["processes"] == 1).await;
    let still = other.ok("get_stack_trace", json!({ "sessionId": session })).await;
    assert_eq!(still.at("/stackFrames/0/name"), "check_out");
    server.finish().await;
}
