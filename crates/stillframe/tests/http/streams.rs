//! Streams: what comes while a call runs, what belongs to no call, and taking both up again.

use futures_util::future::join_all;
use serde_json::json;
use test_support::{Events, Fixture, HttpClient};

use crate::STILLFRAME;
use crate::scenes::{begin_waiting, paused_at, running, session};

async fn pause(client: &HttpClient, session: &str) {
    client.ok("pause_execution", json!({ "sessionId": session })).await;
}

#[tokio::test]
async fn a_call_resumes_after_its_stream_was_cut() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    let session = running(&client).await;
    let (id, events, last) = begin_waiting(&client, &session).await;
    drop(events);
    let mut again = client.listen(Some(&last)).await;
    // The answer arrives while the client listens again.
    pause(&client, &session).await;
    let answer = again.response(id).await.expect("the answer comes");
    assert_eq!(answer["result"]["structuredContent"]["state"], "paused");
    assert_eq!(again.next().await, None, "the stream ends with its answer");
    server.finish().await;
}

#[tokio::test]
async fn an_answer_sent_to_no_listener_is_kept() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    let session = running(&client).await;
    let (id, events, last) = begin_waiting(&client, &session).await;
    drop(events);
    pause(&client, &session).await;
    // And it is not lost when it was lost on the way, either.
    for _ in 0..2 {
        let answer = client.listen(Some(&last)).await.response(id).await.expect("the answer is kept");
        assert_eq!(answer["result"]["structuredContent"]["state"], "paused");
    }
    server.finish().await;
}

/// A connection that was cut may seem to be there for a while; it must not swallow the answer.
#[tokio::test]
async fn a_resumed_stream_continues() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    let session = running(&client).await;
    let (id, mut first, last) = begin_waiting(&client, &session).await;
    let mut second = client.listen(Some(&last)).await;
    pause(&client, &session).await;
    assert!(second.response(id).await.is_some());
    assert!(first.response(id).await.is_none(), "no message comes twice");
    server.finish().await;
}

#[tokio::test]
async fn an_expired_position_is_refused() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    for event in ["999-0", "0-99", "nonsense", "-", "1-x", ""] {
        nothing_behind(&client, event).await;
    }
    server.finish().await;
}

/// Common clients reconnect endlessly if they get an empty stream.
async fn nothing_behind(client: &HttpClient, event: &str) {
    let answered = client.get(Some(event)).await;
    assert_eq!(answered.status, 400, "{event:?}");
    let body = answered.json().await;
    let message = body["error"]["message"].as_str().expect("a refusal says why");
    assert!(message.contains("Last-Event-ID"), "{event:?}: {message}");
}

#[tokio::test]
async fn an_answered_or_cancelled_call_is_not_resumed() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    let session = running(&client).await;
    let (id, mut events, last) = begin_waiting(&client, &session).await;
    client.notify("notifications/cancelled", json!({ "requestId": id })).await;
    assert!(events.response(id).await.is_none());
    nothing_behind(&client, &last).await;

    let (id, mut events, _) = begin_waiting(&client, &session).await;
    pause(&client, &session).await;
    let answer = events.message().await.expect("the call is answered");
    assert_eq!(answer.message["id"], id);
    nothing_behind(&client, &answer.id.expect("events have ids")).await;
    server.finish().await;
}

/// Unread messages are kept, whatever else is called and answered meanwhile.
#[tokio::test]
async fn an_unread_answer_outlives_read_ones() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    let session = running(&client).await;
    let (id, events, last) = begin_waiting(&client, &session).await;
    drop(events);
    pause(&client, &session).await;
    for _ in 0..40 {
        client.ok("list_debug_sessions", json!({})).await;
    }
    let answer = client.listen(Some(&last)).await.response(id).await.expect("the answer is kept");
    assert_eq!(answer["result"]["structuredContent"]["state"], "paused");
    server.finish().await;
}

/// Streams are connections, which one client does not get all of.
#[tokio::test]
async fn the_number_of_unrelated_streams_per_session_is_limited() {
    let server = STILLFRAME.serve_http().await;
    let (client, other) = (server.client().await, server.client().await);
    let mut open = Vec::new();
    for _ in 0..4 {
        let mut events = client.listen(None).await;
        events.next().await.expect("the stream begins with its place");
        open.push(events);
    }
    let refused = client.get(None).await;
    assert_eq!(refused.status, 409);
    let body = refused.json().await;
    assert!(body["error"]["message"].as_str().is_some_and(|text| text.contains("4 streams")), "{body}");
    let _of_another = other.listen(None).await;
    // Who takes it up may have lost a connection that seems to be there: one that waits gives way.
    let _again = client.listen(Some("0-0")).await;
    let mut last = open.pop().expect("four are open");
    assert_eq!(last.next().await, None);
    drop(open);
    while client.get(None).await.status != 200 {}
    server.finish().await;
}

/// The last position that output updates reported. Notifications of the session's opening may come first.
async fn update(events: &mut Events, session: &str) -> String {
    let mut event = events.message().await.expect("an update comes");
    let opening = ["notifications/resources/list_changed", "notifications/message"];
    while opening.iter().any(|method| event.message["method"] == *method) {
        event = events.message().await.expect("an update comes");
    }
    assert_eq!(event.message["method"], "notifications/resources/updated");
    assert_eq!(event.message["params"]["uri"], format!("stillframe://sessions/{session}/output"));
    event.id.expect("events have ids")
}

#[tokio::test]
async fn unrelated_messages_arrive_on_their_own_stream() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    let session = running(&client).await;
    let uri = json!({ "uri": format!("stillframe://sessions/{session}/output") });
    client.request("resources/subscribe", uri.clone()).await.expect("subscribing succeeds");
    let mut events = client.listen(None).await;
    let primer = events.next().await.expect("the stream begins with its place");
    assert!(primer.message.is_null() && primer.id.is_some());
    let one = update(&mut events, &session).await;
    let two = update(&mut events, &session).await;
    assert_ne!(one, two);
    drop(events);
    // Nothing is lost in between, and nothing comes twice.
    let mut again = client.listen(Some(&one)).await;
    assert_eq!(update(&mut again, &session).await, two);
    let three = update(&mut again, &session).await;
    assert_ne!(three, two);
    client.request("resources/unsubscribe", uri).await.expect("unsubscribing succeeds");
    server.finish().await;
}

/// A second stream waits, and continues where the first one ends.
#[tokio::test]
async fn no_message_arrives_on_two_streams() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    let session = running(&client).await;
    let mut first = client.listen(None).await;
    let mut second = client.listen(None).await;
    let uri = json!({ "uri": format!("stillframe://sessions/{session}/output") });
    client.request("resources/subscribe", uri).await.expect("subscribing succeeds");
    let reported = update(&mut first, &session).await;
    drop(first);
    assert_ne!(update(&mut second, &session).await, reported);
    server.finish().await;
}

#[tokio::test]
async fn stateless_clients_get_output_notices_on_their_requests_stream() {
    let server = STILLFRAME.serve_http().await;
    let client = server.stateless();
    let session = running(&client).await;
    let wanted = json!([format!("stillframe://sessions/{session}/output")]);
    let wanted = json!({ "notifications": { "resourceSubscriptions": wanted } });
    let (_, answered) = client.begin("subscriptions/listen", wanted).await;
    let mut events = answered.events();
    let acknowledged = events.message().await.expect("listening is acknowledged");
    assert_eq!(acknowledged.message["method"], "notifications/subscriptions/acknowledged");
    let update = events.message().await.expect("an update comes");
    assert_eq!(update.message["method"], "notifications/resources/updated");
    // There is nothing to take up in this revision.
    assert_eq!(client.get(None).await.status, 405);
    assert_eq!(client.delete().await, 405);
    server.finish().await;
}

#[tokio::test]
async fn a_cancelled_call_ends_its_stream() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    let session = running(&client).await;
    let (id, mut events, _) = begin_waiting(&client, &session).await;
    client.notify("notifications/cancelled", json!({ "requestId": id })).await;
    assert!(events.response(id).await.is_none(), "what was cancelled is not answered");
    let list = client.ok("list_debug_sessions", json!({})).await;
    assert_eq!(list.at("/sessions/0/state"), "running", "{}", list.text);
    server.finish().await;
}

/// A stateless client cancels by going away (2026-07-28, "Cancellation").
#[tokio::test]
async fn a_stateless_call_is_cancelled_by_disconnecting() {
    let server = STILLFRAME.serve_http().await;
    let client = server.stateless();
    let session = running(&client).await;
    let before = server.health().await;
    let (_, events, _) = begin_waiting(&client, &session).await;
    drop(events);
    server.healthy(|health| health["tasks"].as_u64() <= before["tasks"].as_u64()).await;
    let list = client.ok("list_debug_sessions", json!({})).await;
    assert_eq!(list.at("/sessions/0/state"), "running", "{}", list.text);
    server.finish().await;
}

#[tokio::test]
async fn several_clients_debug_at_once() {
    let server = STILLFRAME.serve_http().await;
    let program = Fixture::python("shop");
    let clients = [server.client().await, server.client().await, server.client_of("2025-03-26").await];
    let debug = async |client: &HttpClient| {
        let session = paused_at(client, &program, "call").await;
        let arguments = json!({ "sessionId": session, "expression": "prices['pear'] * 2" });
        let waits = async {
            let waiting = running(client).await;
            let (id, mut events, _) = begin_waiting(client, &waiting).await;
            pause(client, &waiting).await;
            assert!(events.response(id).await.is_some());
        };
        let values = async {
            for _ in 0..20 {
                assert_eq!(client.ok("evaluate_expression", arguments.clone()).await["result"], "6");
            }
        };
        tokio::join!(waits, values);
        let ended = client.ok("continue_execution", json!({ "sessionId": session })).await;
        assert_eq!(ended["state"], "ended");
    };
    let stateless = server.stateless();
    join_all(clients.iter().chain([&stateless]).map(debug)).await;
    server.finish().await;
}

/// A client that opens streams without reading them delays no one, not even itself.
#[tokio::test]
async fn a_client_that_does_not_read_does_not_delay_others() {
    let server = STILLFRAME.serve_http().await;
    let client = server.client().await;
    let debugged = running(&client).await;
    let uri = json!({ "uri": format!("stillframe://sessions/{debugged}/output") });
    client.request("resources/subscribe", uri).await.expect("subscribing succeeds");
    let _unread = client.listen(None).await;
    let _waiting = begin_waiting(&client, &debugged).await;
    for _ in 0..50 {
        client.ok("list_debug_sessions", json!({})).await;
    }
    session(&client).await;
    server.finish().await;
}
