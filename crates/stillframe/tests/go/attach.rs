//! Processes that run already.

use std::process::Stdio;

use serde_json::json;
use test_support::Language;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::Module;
use crate::debugging::{Debugging, Report};

const COUNTS: &str = "\
package main

import (
\t\"fmt\"
\t\"time\"
)

func main() {
\tfmt.Println(\"ready\")
\tfor count := 0; ; count++ {
\t\ttime.Sleep(5 * time.Millisecond) // @count
\t}
}
";

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a program that is not ours, which ends with the test")]
async fn a_process_is_attached_to_and_continues_after_detach() {
    let module = Module::new(&[("main.go", COUNTS)]);
    let program = module.file("main.go");
    let binary = module.path("counts");
    let arguments = ["build", "-gcflags=all=-N -l", "-o", binary.to_str().unwrap(), "."];
    test_support::run_go(module.folder(), &arguments).await;
    let mut child = tokio::process::Command::new(&binary)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the program runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("ready"));

    let session = Debugging::of(Language::Go).await;
    session.break_at(&program, "count").await;
    let attached = session.ok("attach_to_process", json!({ "processId": child.id() })).await;
    let stopped = if attached.outcome() == "breakpoint" { attached } else { session.go_on().await };
    assert_eq!(stopped.place(), (program.path(), program.line("count")), "{}", stopped.text);
    session.ok("clear_breakpoints", json!({})).await;
    session.ok("detach_from_process", json!({})).await;
    session.finish().await;
    assert_eq!(child.try_wait().unwrap(), None, "it runs on");
    child.kill().await.unwrap();
}
