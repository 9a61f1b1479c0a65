//! `diagnose_hang` of Go programs.

use serde_json::json;
use test_support::HangTable;

use crate::STILLFRAME;

const PROGRAMS: HangTable = HangTable {
    folder: "go_hangs",
    timeout: 3_000,
    rows: &[
        ("two_mutexes.go", "deadlocked", "lock", "@held"),
        ("all_asleep.go", "deadlocked", "lock", "@held"),
        ("channel.go", "deadlocked", "lock", "@held"),
        ("with_cgo.go", "deadlocked", "lock", "@held"),
        ("wait_group.go", "waiting", "lock", "@held"),
        ("selects.go", "waiting", "lock", "@held"),
        ("sleeps.go", "waiting", "timer", "@held"),
        ("server.go", "waiting", "server", "@held"),
        ("busy.go", "busy_loop", "", "@held"),
        ("busy_goroutine.go", "busy_loop", "", "@held"),
        ("slow.go", "slow", "", "@held"),
        ("finishes.go", "failed", "", ""),
    ],
};

#[tokio::test]
async fn every_program_gets_the_right_verdict() {
    let server = STILLFRAME.serve().await;
    PROGRAMS.check(&server).await;
    server.finish().await;
}

#[test]
fn the_table_has_all_programs() {
    PROGRAMS.check_complete();
}

#[tokio::test]
async fn deadlocked_goroutines_are_reported_with_the_holders() {
    let server = STILLFRAME.serve().await;
    let answer = PROGRAMS.diagnose(&server, "two_mutexes.go").await;
    let message = answer.text_of("message");
    assert!(
        message.starts_with("Threads `goroutine ") && message.ends_with("wait for each other"),
        "{answer:?}"
    );
    let evidence = answer.at("/evidence").to_string();
    assert_eq!(evidence.matches("(held by thread `goroutine ").count(), 2, "{evidence}");
    let place = format!("two_mutexes.go:{}", PROGRAMS.program("two_mutexes.go").line("held"));
    assert_eq!(evidence.matches(&place).count(), 2, "{evidence}");
    let threads = answer.at("/threads").as_array().unwrap();
    assert_eq!(threads.iter().filter(|thread| thread["deadlocked"] == true).count(), 2, "{answer:?}");
    server.finish().await;
}

#[tokio::test]
async fn a_deadlock_that_the_runtime_finds_is_reported_with_its_words() {
    let server = STILLFRAME.serve().await;
    let answer = PROGRAMS.diagnose(&server, "channel.go").await;
    assert!(answer.at("/evidence").to_string().contains("all goroutines are asleep"), "{answer:?}");
    assert_eq!(answer.at("/hungAt/function"), "receive", "{answer:?}");
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_running_session_is_diagnosed_and_continues() {
    let server = STILLFRAME.serve().await;
    let session = server.ok("create_debug_session", json!({ "language": "go" })).await;
    let session = session.at("/sessionId").clone();
    let program = PROGRAMS.program("busy.go");
    let start = json!({ "sessionId": session, "scriptPath": program.path(), "timeout": 0 });
    server.ok("start_debugging", start).await;
    let answer = server.ok("diagnose_hang", json!({ "sessionId": session, "timeout": 2_000 })).await;
    assert_eq!(answer.at("/verdict"), "busy_loop", "{answer:?}");
    assert_eq!(answer.at("/closed"), false);
    let paused = server.ok("pause_execution", json!({ "sessionId": session })).await;
    assert_eq!(paused.at("/state"), "paused", "it ran on: {paused:?}");
    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    server.finish().await;
}
