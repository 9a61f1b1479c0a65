//! `diagnose_hang` under GDB.

use super::GdbOnly;
use crate::hangs::{PROGRAMS, assert_holders_are_reported};

#[tokio::test]
async fn deadlocked_threads_are_reported_with_the_holders() {
    let GdbOnly { server, path: _path } = GdbOnly::serve().await;
    assert_holders_are_reported(&server, "two_mutexes.c").await;
    server.finish().await;
}

#[tokio::test]
async fn a_thread_in_a_system_call_is_reported_with_what_it_waits_for() {
    let GdbOnly { server, path: _path } = GdbOnly::serve().await;
    for (name, kind) in [("reads_pipe.c", "file"), ("joins.c", "thread")] {
        let answer = PROGRAMS.diagnose(&server, name).await;
        assert_eq!(answer.at("/verdict"), "waiting", "{answer:?}");
        let waits = answer.at("/waitsFor").as_array().cloned().unwrap_or_default();
        assert!(waits.iter().any(|wait| wait["kind"] == kind), "{answer:?}");
    }
    server.finish().await;
}
