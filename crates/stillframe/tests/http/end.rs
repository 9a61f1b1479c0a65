//! The end of the server, and what becomes of those who are served.

use serde_json::json;
use test_support::Fixture;

use crate::STILLFRAME;
use crate::scenes::{begin_waiting, paused_at, running};

/// `finish` fails unless the server and all programs are gone in time, and the code is 0.
#[tokio::test]
async fn a_signal_ends_paused_and_running_programs() {
    let server = STILLFRAME.serve_http().await;
    for client in [server.client().await, server.stateless()] {
        paused_at(&client, &Fixture::python("shop"), "call").await;
        running(&client).await;
    }
    server.finish().await;
}

#[tokio::test]
async fn a_waiting_call_is_answered_when_the_server_ends() {
    let server = STILLFRAME.serve_http().await;
    let (client, stateless) = (server.client().await, server.stateless());
    let mut waiting = Vec::new();
    for client in [&client, &stateless] {
        let session = running(client).await;
        waiting.push(begin_waiting(client, &session).await);
    }
    let mut listening = client.listen(None).await;
    server.terminate();
    for (id, mut events, _) in waiting {
        let answer = events.response(id).await.expect("the call is answered");
        assert!(answer["result"]["structuredContent"].is_object(), "{answer}");
    }
    while listening.next().await.is_some() {}
    server.ended().await;
}

#[tokio::test]
async fn a_waiting_call_is_answered_when_its_session_ends() {
    let server = STILLFRAME.serve_http().await;
    let (client, other) = (server.client().await, server.client().await);
    let session = running(&client).await;
    let (id, mut events, _) = begin_waiting(&client, &session).await;
    let mut listening = client.listen(None).await;
    assert_eq!(client.delete().await, 204);
    let answer = events.response(id).await.expect("the call is answered");
    assert!(answer["result"]["structuredContent"].is_object(), "{answer}");
    assert_eq!(events.next().await, None, "the stream ends with its answer");
    while listening.next().await.is_some() {}
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(client.post(&ping, &[]).await.status, 404);
    other.ok("list_debug_sessions", json!({})).await;
    server.finish().await;
}

/// While the last calls come to their answers, nothing new is begun.
#[tokio::test]
async fn nothing_starts_during_shutdown() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    let session = running(&client).await;
    let (_, _events, _) = begin_waiting(&client, &session).await;
    let asks = async {
        loop {
            // Each has an id of its own: one that is under way is refused for another reason.
            let (id, answered) = client.begin("ping", json!({})).await;
            if answered.status != 200 {
                return answered.status;
            }
            answered.events().response(id).await.expect("the ping is answered");
        }
    };
    server.terminate();
    assert_eq!(asks.await, 503);
    server.ended().await;
}

#[tokio::test]
async fn a_killed_server_leaves_nothing_behind() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    paused_at(&client, &Fixture::python("shop"), "call").await;
    running(&server.stateless()).await;
    server.kill().await;
}
