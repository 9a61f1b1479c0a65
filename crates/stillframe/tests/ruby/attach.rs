//! Attaching to a program in which rdbg listens.

use std::process::Stdio;

use serde_json::json;
use test_support::{ClosedPort, Fixture, Language};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::debugging::{Debugging, Report};

/// A program of `fixtures/life_ticks`, and the port at which its rdbg listens.
async fn started(library: &str) -> (Child, u16) {
    let program = Fixture::of(Language::Ruby, "life_ticks");
    let mut command = Command::new("ruby");
    command.args(["-r", library, program.path()]).env("RUBY_DEBUG_PORT", "0");
    let mut child = command.stderr(Stdio::piped()).kill_on_drop(true).spawn().expect("ruby runs");
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    loop {
        let line = lines.next_line().await.unwrap().expect("it says where it listens");
        let number = line.trim_end_matches(')').rsplit_once(':').and_then(|(_, number)| number.parse().ok());
        if let Some(port) = number {
            return (child, port);
        }
    }
}

#[tokio::test]
async fn a_program_with_rdbg_is_attached_to_by_port_and_continues() {
    let program = Fixture::of(Language::Ruby, "life_ticks");
    // One that waits for a debugger, and one that runs, and is in a system call.
    for library in ["debug/open", "debug/open_nonstop"] {
        let (mut child, port) = started(library).await;
        let session = Debugging::of(Language::Ruby).await;
        session.break_at(&program, "here").await;
        session.ok("attach_to_process", json!({ "host": "127.0.0.1", "port": port })).await;
        let stopped = session.go_on().await;
        assert_eq!(stopped.place(), (program.path(), program.line("here")), "{}", stopped.text);
        assert_eq!(session.evaluate("i > 0").await, "true");
        session.ok("detach_from_process", json!({})).await;
        assert!(child.try_wait().unwrap().is_none(), "it lives on");
        session.finish().await;
        assert!(child.try_wait().unwrap().is_none(), "{library}: it lives on");
        child.kill().await.unwrap();
    }
}

#[tokio::test]
async fn a_port_without_rdbg_is_refused_with_instructions() {
    let closed = ClosedPort::new();
    let session = Debugging::of(Language::Ruby).await;
    let failed =
        session.call("attach_to_process", json!({ "host": "127.0.0.1", "port": closed.number })).await;
    assert_eq!(failed["success"], false, "{}", failed.text);
    assert!(failed.text.contains("rdbg --open"), "{}", failed.text);
    session.finish().await;
}
