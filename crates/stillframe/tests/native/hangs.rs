//! `diagnose_hang` of C, C++ and Rust programs.

use serde_json::json;
use test_support::{HangTable, Server};

use crate::STILLFRAME;

pub(crate) const PROGRAMS: HangTable = HangTable {
    folder: "native_hangs",
    // LLDB needs seconds to start a program on a busy machine, and the program is to be sampled after that.
    timeout: 6_000,
    rows: &[
        ("two_mutexes.c", "deadlocked", "lock", "@held"),
        ("locked_twice.c", "deadlocked", "lock", "@held"),
        ("condition.c", "deadlocked", "lock", "@held"),
        ("joins.c", "waiting", "thread", "@held"),
        ("sleeps.c", "waiting", "timer", "@held"),
        ("reads_pipe.c", "waiting", "file", "@held"),
        ("scans_pipe.c", "waiting", "file", "@held"),
        ("polls.c", "waiting", "socket", "@held"),
        ("busy.c", "busy_loop", "", "@held"),
        ("endless.c", "busy_loop", "", "@held"),
        ("thread_spins.c", "busy_loop", "", "@held"),
        ("slow.c", "slow", "", "@held"),
        ("finishes.c", "failed", "", ""),
        ("crashes.c", "failed", "", ""),
        ("two_mutexes.cpp", "deadlocked", "lock", "@held"),
        ("condition.cpp", "deadlocked", "lock", "@held"),
        ("busy.cpp", "busy_loop", "", "@held"),
        ("busy_beside_polling.cpp", "busy_loop", "", "@held"),
        ("two_mutexes.rs", "deadlocked", "lock", "@held"),
        ("channel.rs", "deadlocked", "lock", "@held"),
        ("sleeps.rs", "waiting", "timer", "@held"),
        ("busy.rs", "busy_loop", "", "@held"),
        ("search.rs", "busy_loop", "", "@held"),
        ("starts_over.rs", "busy_loop", "", "@held"),
        ("slow.rs", "slow", "", "@held"),
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

pub(crate) async fn assert_holders_are_reported(server: &Server, name: &str) {
    let answer = PROGRAMS.diagnose(server, name).await;
    let message = answer.text_of("message");
    assert!(message.starts_with("Threads `") && message.ends_with("wait for each other"), "{answer:?}");
    let evidence = answer.at("/evidence").to_string();
    assert_eq!(evidence.matches("(held by thread `").count(), 2, "{evidence}");
    for marker in ["held", "other"] {
        let place = format!("{name}:{}", PROGRAMS.program(name).line(marker));
        assert!(evidence.contains(&place), "{evidence}");
    }
    let threads = answer.at("/threads").as_array().expect("threads");
    assert_eq!(threads.iter().filter(|thread| thread["deadlocked"] == true).count(), 2, "{answer:?}");
    // The program is shown where it hangs, and not in `main`, which waits for the threads.
    assert_eq!(answer.at("/location/line"), answer.at("/hungAt/line"), "{answer:?}");
}

#[tokio::test]
async fn deadlocked_threads_are_reported_with_the_holders() {
    let server = STILLFRAME.serve().await;
    for name in ["two_mutexes.c", "two_mutexes.cpp"] {
        assert_holders_are_reported(&server, name).await;
    }
    server.finish().await;
}

#[tokio::test]
async fn a_mutex_of_rust_has_no_known_holder() {
    let server = STILLFRAME.serve().await;
    let answer = PROGRAMS.diagnose(&server, "two_mutexes.rs").await;
    let evidence = answer.at("/evidence").to_string();
    assert_eq!(evidence.matches("a mutex, whose holder is not recorded").count(), 2, "{evidence}");
    assert!(evidence.contains("thread `other`"), "{evidence}");
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_busy_loop_is_reported_with_its_values() {
    let server = STILLFRAME.serve().await;
    let answer = PROGRAMS.diagnose(&server, "busy.c").await;
    assert_eq!(answer.at("/loop/function"), "spin", "{answer:?}");
    assert_eq!(answer.at("/loop/steady"), &json!([{ "name": "limit", "value": "101" }]), "{answer:?}");
    let changing = answer.at("/loop/changing").as_array().unwrap();
    assert!(changing.iter().any(|change| change["name"] == "step"), "{answer:?}");
    server.finish().await;
}

#[tokio::test]
async fn a_running_session_is_diagnosed_and_continues() {
    let server = STILLFRAME.serve().await;
    let session = server.ok("create_debug_session", json!({ "language": "c" })).await;
    let session = session.at("/sessionId").clone();
    let program = PROGRAMS.program("endless.c");
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
