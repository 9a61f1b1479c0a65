//! Attaching to a JVM that runs.

use std::path::Path;
use std::process::Stdio;

use serde_json::json;
use test_support::{Fixture, Language};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::debugging::{Debugging, Report, folder};

const LISTENS: &str = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0";

/// A program, compiled into `folder` and started, and the port that its debugger listens at.
pub(super) async fn started(
    java: &Path,
    program: &Fixture,
    folder: &Path,
    options: &[&str],
) -> (Child, Option<u16>) {
    let compiled = Command::new("javac").args(["-g", "-d"]).arg(folder).arg(program.path()).status().await;
    assert!(compiled.expect("javac runs").success());
    let mut command = Command::new(java);
    command.args(options).arg("-cp").arg(folder).arg("Main").stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().expect("java runs");
    if options.is_empty() {
        return (child, None);
    }
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .await
        .expect("the agent says where it listens");
    let port = line.trim().rsplit([':', ' ']).next().and_then(|port| port.parse().ok());
    (child, port)
}

#[tokio::test]
async fn a_jvm_is_attached_to_by_port_and_pid_and_continues() {
    let folder = folder();
    let program = Fixture::of(Language::Java, "life_ticks");
    let (mut child, port) = started("java".as_ref(), &program, folder.path(), &[LISTENS]).await;
    for arguments in [json!({ "host": "127.0.0.1", "port": port }), json!({ "processId": child.id() })] {
        let session = Debugging::of(Language::Java).await;
        session.break_at(&program, "here").await;
        session.ok("attach_to_process", arguments).await;
        let stopped = session.go_on().await;
        assert_eq!(stopped.place(), (program.path(), program.line("here")), "{}", stopped.text);
        assert_eq!(session.evaluate("i > 0").await, "true");
        session.ok("clear_breakpoints", json!({})).await;
        let hang = session.ok("diagnose_hang", json!({ "timeout": 500 })).await;
        assert!(hang.text.contains("it used the CPU for"), "its process is known: {}", hang.text);
        session.ok("detach_from_process", json!({})).await;
        assert!(child.try_wait().unwrap().is_none(), "it lives on");
        session.finish().await;
    }
    child.kill().await.unwrap();
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_jvm_without_the_agent_is_refused_with_the_option_it_needs() {
    let folder = folder();
    let program = Fixture::of(Language::Java, "life_ticks");
    let (mut child, _) = started("java".as_ref(), &program, folder.path(), &[]).await;
    let session = Debugging::of(Language::Java).await;
    let failed = session.call("attach_to_process", json!({ "processId": child.id() })).await;
    assert_eq!(failed["success"], false, "{}", failed.text);
    assert!(failed.text.contains("-agentlib:jdwp="), "{}", failed.text);
    assert!(child.try_wait().unwrap().is_none(), "it lives on");
    session.finish().await;
    child.kill().await.unwrap();
}
