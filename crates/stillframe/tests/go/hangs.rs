//! `diagnose_hang` of Go programs.

use std::fmt::Write;

use serde_json::json;
use test_support::{Answer, Fixture, Server, repository, rows_to_try};

use crate::STILLFRAME;

/// A program of `fixtures/go_hangs`, the verdict, a kind of thing that is waited for, and where it hangs: `@held` for the
/// line of that name. The last two may be missing.
const PROGRAMS: &[(&str, &str, &str, &str)] = &[
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
];

/// One of so many is tried on each push.
const ONE_OF: usize = 16;

fn program(name: &str) -> Fixture {
    Fixture::read(repository().join("fixtures/go_hangs").join(name))
}

async fn diagnose(server: &Server, name: &str) -> Answer {
    let arguments = json!({ "command": program(name).path(), "timeout": 3_000 });
    server.ok("diagnose_hang", arguments).await
}

/// Whether an answer reports everything besides the verdict.
fn reports(name: &str, kind: &str, place: &str, answer: &Answer) -> bool {
    let waits = answer.at("/waitsFor").as_array().cloned().unwrap_or_default();
    let has_kind = kind.is_empty() || waits.iter().any(|wait| wait["kind"] == kind);
    let Some(marker) = place.strip_prefix('@') else { return has_kind };
    let line = program(name).line(marker);
    let is_there = answer.at("/hungAt/line") == line || answer.at("/loop/startLine") == line;
    has_kind && is_there && answer.at("/hungAt/file") == program(name).path()
}

#[tokio::test]
async fn every_program_gets_the_right_verdict() {
    let server = STILLFRAME.serve().await;
    let mut wrong = String::new();
    for (name, verdict, kind, place) in rows_to_try(PROGRAMS, ONE_OF) {
        let answer = diagnose(&server, name).await;
        println!("{name}: {}, {}", answer.at("/verdict"), answer.text_of("message"));
        if answer.at("/verdict") != *verdict || !reports(name, kind, place, &answer) {
            let _ = writeln!(wrong, "{name}: not {verdict} with {kind} {place}, but {answer:#?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    server.finish().await;
}

#[test]
fn the_table_has_all_programs() {
    let mut names: Vec<String> = std::fs::read_dir(repository().join("fixtures/go_hangs"))
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be read").file_name().into_string().expect("a plain name"))
        .collect();
    names.retain(|name| !PROGRAMS.iter().any(|(listed, ..)| listed == name));
    assert_eq!(names, [""; 0]);
}

#[tokio::test]
async fn deadlocked_goroutines_are_reported_with_the_holders() {
    let server = STILLFRAME.serve().await;
    let answer = diagnose(&server, "two_mutexes.go").await;
    let message = answer.text_of("message");
    assert!(
        message.starts_with("Threads `goroutine ") && message.ends_with("wait for each other"),
        "{answer:?}"
    );
    let evidence = answer.at("/evidence").to_string();
    assert_eq!(evidence.matches("(held by thread `goroutine ").count(), 2, "{evidence}");
    let place = format!("two_mutexes.go:{}", program("two_mutexes.go").line("held"));
    assert_eq!(evidence.matches(&place).count(), 2, "{evidence}");
    let threads = answer.at("/threads").as_array().unwrap();
    assert_eq!(threads.iter().filter(|thread| thread["deadlocked"] == true).count(), 2, "{answer:?}");
    server.finish().await;
}

#[tokio::test]
async fn a_deadlock_that_the_runtime_finds_is_reported_with_its_words() {
    let server = STILLFRAME.serve().await;
    let answer = diagnose(&server, "channel.go").await;
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
    let program = program("busy.go");
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
