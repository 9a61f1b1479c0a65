//! Calls that wait: their progress, their cancellation, and what works meanwhile.

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Server};
use tokio::sync::oneshot::Receiver;

use crate::STILLFRAME;
use crate::scenes::{arrived, is_progress, next, paused_at, printed, running};

/// Longer than the test waits for anything, so that an answer cannot be the timeout's.
const LONG: u64 = 600_000;

/// Starts to wait for a running program, and returns once the server is known to wait.
async fn begin_waiting(server: &Server, session: &str) -> (u64, Receiver<Value>) {
    let mut messages = server.notifications();
    let params = json!({
        "name": "continue_execution",
        "arguments": { "sessionId": session, "timeout": LONG },
        "_meta": { "progressToken": session },
    });
    let waiting = server.begin("tools/call", params).await;
    next(&mut messages, |message| is_progress(message) && message["params"]["progressToken"] == session)
        .await;
    waiting
}

async fn answer(waiting: Receiver<Value>) -> Answer {
    let result = Server::reply("continue_execution", waiting).await.expect("the call succeeds");
    Answer::of("continue_execution", &result)
}

/// The values of the progress messages with a token and of the answer to a request, in the order of the wire.
fn told(lines: &[String], token: &Value, id: u64) -> Vec<Option<f64>> {
    let messages = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let reported = messages.filter_map(|message| {
        let answer = message["id"] == id;
        let progress = is_progress(&message) && message["params"]["progressToken"] == *token;
        (answer || progress).then(|| message["params"]["progress"].as_f64())
    });
    reported.collect()
}

async fn progress_increases_and_ends_with_the_answer(server: Server) {
    let naps = Fixture::python("naps");
    let session = running(&server, &naps).await;
    let mut calls = Vec::new();
    for token in [json!("a token"), json!(7)] {
        let params = json!({
            "name": "continue_execution",
            "arguments": { "sessionId": session, "timeout": 3500 },
            "_meta": { "progressToken": token },
        });
        let (id, waiting) = server.begin("tools/call", params).await;
        assert_eq!(answer(waiting).await["state"], "running");
        calls.push((token, id));
    }
    // Progress that were still to come would come while this waits.
    let (_, waiting) = begin_waiting(&server, &session).await;
    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    Server::reply("continue_execution", waiting).await.expect("a close is no failure of the wait");
    let (lines, _) = server.finish().await;
    for (token, id) in calls {
        let reported = told(&lines, &token, id);
        let (answer, progress) = reported.split_last().unwrap();
        assert_eq!(*answer, None, "nothing comes after the answer: {reported:?}");
        assert!(progress.len() >= 2, "{reported:?}");
        assert!(progress.is_sorted_by(|one, two| one.unwrap() < two.unwrap()), "{reported:?}");
    }
}

#[tokio::test]
async fn progress_is_reported_after_a_handshake() {
    progress_increases_and_ends_with_the_answer(STILLFRAME.serve().await).await;
}

#[tokio::test]
async fn progress_is_reported_without_a_handshake() {
    progress_increases_and_ends_with_the_answer(STILLFRAME.serve_stateless().await).await;
}

#[tokio::test]
async fn no_progress_is_reported_without_a_token() {
    let server = STILLFRAME.serve().await;
    let naps = Fixture::python("naps");
    let session = running(&server, &naps).await;
    let mut messages = server.notifications();
    let wait = json!({ "sessionId": session, "timeout": 2500 });
    assert_eq!(server.ok("continue_execution", wait).await["state"], "running");
    assert_eq!(arrived(&mut messages), Vec::<Value>::new());
    server.finish().await;
}

async fn a_cancelled_call_gives_up_its_wait_only(server: Server) {
    let spins = Fixture::python("spins");
    let session = running(&server, &spins).await;
    let (id, _waiting) = begin_waiting(&server, &session).await;
    let params = json!({ "requestId": id, "reason": "the user has had enough" });
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;

    let sessions = server.ok("list_debug_sessions", json!({})).await;
    assert_eq!(sessions.at("/sessions/0/state"), "running");
    let paused = server.ok("pause_execution", json!({ "sessionId": session, "timeout": LONG })).await;
    assert_eq!((&paused["state"], paused.at("/location/function")), (&json!("paused"), &json!("spin")));
    let turns: u64 = paused.variable("turns").parse().unwrap();
    let on = json!({ "sessionId": session, "wait": false });
    assert_eq!(server.ok("continue_execution", on).await["state"], "running");
    let paused = server.ok("pause_execution", json!({ "sessionId": session, "timeout": LONG })).await;
    assert!(paused.variable("turns").parse::<u64>().unwrap() > turns, "the program has run on");
    let (lines, _) = server.finish().await;
    let answers = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert_eq!(answers.filter(|message| message["id"] == id).count(), 0, "nobody waits for the answer");
}

#[tokio::test]
async fn cancelling_ends_the_wait_after_a_handshake() {
    a_cancelled_call_gives_up_its_wait_only(STILLFRAME.serve().await).await;
}

#[tokio::test]
async fn cancelling_ends_the_wait_without_a_handshake() {
    a_cancelled_call_gives_up_its_wait_only(STILLFRAME.serve_stateless().await).await;
}

#[tokio::test]
async fn a_pause_works_while_another_call_waits_and_both_are_answered() {
    let server = STILLFRAME.serve().await;
    let spins = Fixture::python("spins");
    let session = running(&server, &spins).await;
    let (_, waiting) = begin_waiting(&server, &session).await;
    let paused = server.ok("pause_execution", json!({ "sessionId": session, "timeout": LONG })).await;
    let waited = answer(waiting).await;
    for report in [&paused, &waited] {
        assert_eq!((&report["state"], &report["reason"]), (&json!("paused"), &json!("pause")));
        assert_eq!(report.at("/location/function"), "spin");
    }
    server.finish().await;
}

#[tokio::test]
async fn a_close_works_while_other_calls_wait_and_all_are_answered() {
    let server = STILLFRAME.serve().await;
    let spins = Fixture::python("spins");
    let session = running(&server, &spins).await;
    let (_, one) = begin_waiting(&server, &session).await;
    let (_, two) = begin_waiting(&server, &session).await;
    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    for waiting in [one, two] {
        let ended = answer(waiting).await;
        assert_eq!((&ended["state"], ended.is_error), (&json!("ended"), false), "{}", ended.text);
    }
    server.finish().await;
}

#[tokio::test]
async fn a_breakpoint_set_while_a_call_waits_is_hit() {
    let server = STILLFRAME.serve().await;
    let naps = Fixture::python("naps");
    let session = running(&server, &naps).await;
    let (_, waiting) = begin_waiting(&server, &session).await;
    let target_location = json!({ "sessionId": session, "file": naps.path(), "line": naps.line("nap") });
    assert_eq!(server.ok("set_breakpoint", target_location).await["verified"], true);
    let stopped = answer(waiting).await;
    assert_eq!((&stopped["state"], &stopped["reason"]), (&json!("paused"), &json!("breakpoint")));
    assert_eq!(stopped.at("/location/line"), naps.line("nap"));
    server.finish().await;
}

#[tokio::test]
async fn another_session_works_while_a_call_waits() {
    let server = STILLFRAME.serve().await;
    let busy = running(&server, &Fixture::python("spins")).await;
    let (_, mut waiting) = begin_waiting(&server, &busy).await;
    let shop = Fixture::python("shop");
    let session = paused_at(&server, &shop, "pay").await;
    let value = json!({ "sessionId": session, "expression": "amount + 1" });
    assert_eq!(server.ok("evaluate_expression", value).await["result"], "12");
    let stepped = server.ok("step_over", json!({ "sessionId": session })).await;
    assert_eq!(stepped.at("/location/line"), shop.line("paid"));
    assert!(waiting.try_recv().is_err(), "the first call still waits");
    server.finish().await;
}

#[tokio::test]
async fn a_call_returns_at_its_timeout_and_the_program_continues() {
    let server = STILLFRAME.serve().await;
    let naps = Fixture::python("naps");
    let session = running(&server, &naps).await;
    for wait in [json!({ "timeout": 300 }), json!({ "timeout": 0 }), json!({ "wait": false })] {
        let mut arguments = wait.clone();
        arguments["sessionId"] = json!(session);
        let answer = server.ok("continue_execution", arguments).await;
        assert_eq!((&answer["state"], answer.is_error), (&json!("running"), false), "{wait}");
    }
    let paused = server.ok("pause_execution", json!({ "sessionId": session, "timeout": LONG })).await;
    let nap = |answer: &Answer| answer.variable("nap").parse::<u64>().unwrap();
    let before = nap(&paused);
    server.ok("continue_execution", json!({ "sessionId": session, "timeout": 300 })).await;
    printed(&server, &session, &format!("nap {}", before + 3)).await;
    server.finish().await;
}
