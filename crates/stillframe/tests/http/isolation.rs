//! Clients do not see each other.

use futures_util::future::join_all;
use serde_json::json;
use test_support::{Fixture, HttpClient};

use crate::STILLFRAME;
use crate::scenes::{paused_at, seen};

/// Tries everything with another client's debug session.
async fn cannot_reach(client: &HttpClient, session: &str) {
    assert_eq!(seen(client).await, 0);
    let known = json!({ "sessionId": session });
    for tool in
        ["close_debug_session", "step_over", "continue_execution", "get_stack_trace", "get_local_variables"]
    {
        client.fails("session_not_found", tool, known.clone()).await;
    }
    let arguments = json!({ "sessionId": session, "expression": "1" });
    client.fails("session_not_found", "evaluate_expression", arguments).await;
    let uri = json!({ "uri": format!("stillframe://sessions/{session}/output") });
    assert!(client.request("resources/read", uri.clone()).await.is_err());
    let list = client.request("resources/list", json!({})).await.expect("resources are listed");
    assert_eq!(list["resources"], json!([]));
}

#[tokio::test]
async fn sessions_are_invisible_to_other_clients() {
    let server = STILLFRAME.http().await.tokens(&["alice:abcdefghijklmnop", "bob:qrstuvwxyz012345"]);
    let server = server.start().await;
    let (alice, bob) = ("abcdefghijklmnop", "qrstuvwxyz012345");
    let clients = [
        server.client().await,
        server.client().await,
        server.stateless(),
        server.stateless().with_token(bob),
    ];
    let program = Fixture::python("shop");
    let sessions = join_all(clients.iter().map(|client| paused_at(client, &program, "call"))).await;
    let strangers = [server.client().await, server.client_with(bob).await];
    for session in &sessions {
        for stranger in &strangers {
            cannot_reach(stranger, session).await;
        }
    }
    for (client, own) in clients.iter().zip(&sessions) {
        let list = client.ok("list_debug_sessions", json!({})).await;
        assert_eq!((&list["count"], list.at("/sessions/0/id")), (&json!(1), &json!(own)), "{}", list.text);
    }
    // Stateless requests with the same token are one client.
    assert_eq!(seen(&server.stateless().with_token(alice)).await, 1);
    server.finish().await;
}

#[tokio::test]
async fn an_mcp_session_id_is_useless_to_other_clients() {
    let server = STILLFRAME.http().await.tokens(&["alice:abcdefghijklmnop", "bob:qrstuvwxyz012345"]);
    let server = server.start().await;
    let alice = server.client().await;
    let session = paused_at(&alice, &Fixture::python("shop"), "call").await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let thief = alice.with_token("qrstuvwxyz012345");
    let guesses = ["0", "", "00000000-0000-0000-0000-000000000000", &"0".repeat(64), &alice.session()[1..]];
    let guessers = guesses.iter().map(|guess| alice.with_session(guess));
    for other in guessers.chain([thief]) {
        assert_eq!(other.post(&ping, &[]).await.status, 404, "{}", other.session());
        assert_eq!(other.delete().await, 404, "{}", other.session());
        let listening = other.get(None).await;
        assert_eq!(listening.status, 404, "{}", other.session());
    }
    let still = alice.ok("get_stack_trace", json!({ "sessionId": session })).await;
    assert_eq!(still.at("/stackFrames/0/name"), "check_out");
    server.finish().await;
}

/// Its events are found by numbers that other sessions have too.
#[tokio::test]
async fn a_stream_is_resumed_only_in_its_own_session() {
    let server = STILLFRAME.serve_http().await;
    let (one, other) = (server.client().await, server.client().await);
    let session = paused_at(&one, &Fixture::python("shop"), "call").await;
    for event in ["0-0", "1-0", "2-0", "3-0", "4-0", "5-0", "9-0"] {
        let answered = other.get(Some(event)).await;
        // Its own streams: of what belongs to no call, on which nothing was sent, and of its handshake.
        let is_own = ["0-0", "1-0"].contains(&event);
        assert_eq!(answered.status, if is_own { 200 } else { 400 }, "{event}");
        if event == "0-0" {
            continue;
        }
        assert!(!answered.text().await.contains(&session), "{event}");
    }
    server.finish().await;
}

#[tokio::test]
async fn the_end_of_one_client_ends_only_its_programs() {
    let server = STILLFRAME.serve_http().await;
    let (one, other) = (server.client().await, server.client().await);
    let program = Fixture::python("shop");
    paused_at(&one, &program, "call").await;
    let session = paused_at(&other, &program, "call").await;
    assert_eq!(server.health().await["processes"], 2);
    assert_eq!(one.delete().await, 204);
    server.healthy(|health| health["processes"] == 1 && health["clients"] == 1).await;
    let over = other.ok("step_over", json!({ "sessionId": session })).await;
    assert_eq!(over.at("/location/line"), program.line("pay"));
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(one.post(&ping, &[]).await.status, 404);
    server.finish().await;
}

/// The vocabulary of one session is so for each client, and leaves nothing that another would take up.
#[tokio::test]
async fn a_toolset_without_session_ids_has_one_session_per_client() {
    let folder = tempfile::tempdir().unwrap();
    let server = STILLFRAME.http().await.args(&["--toolset", "quick"]).cwd(folder.path()).start().await;
    let (one, other) = (server.client().await, server.client().await);
    let program = Fixture::python("shop");
    let location = json!({ "file": program.path(), "line": program.line("call") });
    one.text("debug_breakpoint", location).await;
    let stopped = one.text("debug_launch", json!({ "program": program.path() })).await;
    assert!(stopped.contains("Debugger started"), "{stopped}");
    let nothing = other.text("debug_continue", json!({})).await;
    assert!(nothing.contains("debug_launch"), "there is nothing to go on with: {nothing}");
    let stopped = one.text("debug_continue", json!({})).await;
    assert!(stopped.contains("check_out"), "{stopped}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    server.finish().await;
}
