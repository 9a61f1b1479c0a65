//! Programs that are paused wherever they are.

use serde_json::{Value, json};

use crate::debugging::{Debugging, Report};
use crate::script::Script;

/// A pause of debugpy 1.8.22 has no effect on a thread that waits in the operating system.
async fn is_paused_in(statement: &str) {
    let script = Script::new(&format!(
        r#"
import asyncio, os, queue, select, signal, socket, subprocess, threading, time

lock = threading.Lock()
lock.acquire()
sleeper = threading.Thread(target=time.sleep, args=(1000,), daemon=True)
sleeper.start()
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
read, write = os.pipe()

def wait():
    mine = 41
    {statement}  # @wait

print("waits", flush=True)
wait()
"#
    ));
    let session = Debugging::new().await;
    let running =
        session.ok("start_debugging", json!({ "scriptPath": script.path(), "timeout": 3000 })).await;
    assert_eq!(running.outcome(), "running", "{statement}: {}", running.text);
    while session.written("stdout").await != "waits\n" {}
    let paused = session.ok("pause_execution", json!({ "timeout": 10_000 })).await;
    assert_eq!(paused.outcome(), "pause", "{statement}: {}", paused.text);
    assert_eq!(paused.place(), (script.path(), script.line("wait")), "{statement}");
    assert_eq!(session.evaluate("mine + 1").await, "42");
    let frames = paused["stackFrames"].as_array().unwrap();
    let names: Vec<_> = frames.iter().map(|frame| frame["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["wait", "<module>"], "{statement}: the pause itself is no frame of the program");
    // The wait continues.
    let running = session.ok("continue_execution", json!({ "timeout": 300 })).await;
    assert_eq!(running.outcome(), "running", "{statement}: {}", running.text);
    let paused = session.ok("pause_execution", json!({ "timeout": 10_000 })).await;
    assert_eq!(paused.place().1, script.line("wait"), "{statement}");
    let stepped = session.ok("step_over", json!({ "timeout": 300 })).await;
    assert!(!stepped.text.contains("stillframe_pause"), "{statement}: {}", stepped.text);
    session.finish().await;
}

#[tokio::test]
async fn a_program_that_waits_for_a_lock_is_paused() {
    is_paused_in("lock.acquire()").await;
}

#[tokio::test]
async fn a_program_that_waits_for_a_thread_is_paused() {
    is_paused_in("sleeper.join()").await;
}

#[tokio::test]
async fn a_program_that_sleeps_is_paused() {
    is_paused_in("time.sleep(1000)").await;
}

#[tokio::test]
async fn a_program_that_waits_for_a_connection_is_paused() {
    is_paused_in("server.accept()").await;
}

#[tokio::test]
async fn a_program_that_waits_for_a_pipe_is_paused() {
    is_paused_in("os.read(read, 1)").await;
}

#[tokio::test]
async fn a_program_that_waits_for_a_child_is_paused() {
    is_paused_in("subprocess.run(['sleep', '1000'])").await;
}

#[tokio::test]
async fn a_program_that_waits_for_a_queue_is_paused() {
    is_paused_in("queue.Queue().get()").await;
}

#[tokio::test]
async fn an_event_loop_that_waits_is_paused() {
    is_paused_in("asyncio.run(asyncio.sleep(1000))").await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_busy_worker_is_paused_while_the_main_thread_waits_for_it() {
    let script = Script::new(
        r#"
import threading

def work():
    turns = 0
    while True:
        turns += 1

worker = threading.Thread(target=work, name="busy", daemon=True)
worker.start()
print("joins", flush=True)
worker.join()  # @join
"#,
    );
    let session = Debugging::new().await;
    let running =
        session.ok("start_debugging", json!({ "scriptPath": script.path(), "timeout": 3000 })).await;
    assert_eq!(running.outcome(), "running");
    let paused = session.ok("pause_execution", json!({ "timeout": 10_000 })).await;
    assert_eq!(paused.outcome(), "pause", "{}", paused.text);
    let listed = session.ok("list_threads", json!({})).await;
    let main =
        listed["threads"].as_array().unwrap().iter().find(|thread| thread["name"] == "MainThread").unwrap();
    let stack = session.ok("get_stack_trace", json!({ "threadId": main["id"] })).await;
    assert_eq!(stack.at("/stackFrames/0/line"), script.line("join"));
    session.finish().await;
}

/// pydevd puts an end to the tracing of a thread in which a hook of its fails, and says so in the output.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_program_without_breakpoints_is_paused_repeatedly() {
    let script = Script::new(
        r"
import threading

def work():
    while True:
        turns = 1
        turns = 2

threading.Thread(target=work, daemon=True).start()
work()
",
    );
    let session = Debugging::new().await;
    let mut report =
        session.ok("start_debugging", json!({ "scriptPath": script.path(), "timeout": 1000 })).await;
    for _ in 0..5 {
        assert_eq!((report.outcome(), &report["output"]), ("running", &Value::Null), "{}", report.text);
        let paused = session.ok("pause_execution", json!({ "timeout": 10_000 })).await;
        assert_eq!((paused.outcome(), &paused["output"]), ("pause", &Value::Null), "{}", paused.text);
        report = session.ok("continue_execution", json!({ "timeout": 300 })).await;
    }
    session.finish().await;
}

#[tokio::test]
async fn a_pause_works_while_another_call_waits() {
    let script = Script::new("import time\nprint('up', flush=True)\nwhile True:\n    time.sleep(0.01)\n");
    let session = Debugging::new().await;
    let arguments = json!({ "scriptPath": script.path(), "timeout": 3000 });
    assert_eq!(session.ok("start_debugging", arguments).await.outcome(), "running");
    let (waited, paused) = tokio::join!(session.go_on(), session.step("pause_execution"));
    assert_eq!((waited.outcome(), paused.outcome()), ("pause", "pause"));
    session.finish().await;
}

/// Its rows are written by statements that pydevd runs beside the program.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_recorded_program_keeps_its_own_streams() {
    let script = Script::new(
        r#"
import os, sys
own = sys.stdout, sys.stderr
lost = 0
print("ready")
while not os.path.exists(sys.argv[0] + ".stop"):
    lost += 0  # @here
    for _ in range(2000):
        lost += (sys.stdout, sys.stderr) != own
print("lost", lost)
"#,
    );
    let session = Debugging::new().await;
    let started = session.ok("start_debugging", json!({ "scriptPath": script.path(), "timeout": 0 })).await;
    assert_eq!(started.outcome(), "running");
    let point = json!({ "file": script.path(), "line": script.line("here"), "expressions": ["1"] });
    for _ in 0..5 {
        let traced = session.ok("trace_values", json!({ "points": [point], "maxHits": 1 })).await;
        assert_eq!(traced["endedBy"], "maxHits", "{}", traced.text);
    }
    std::fs::write(format!("{}.stop", script.path()), "").unwrap();
    session.run_to_the_end().await;
    assert_eq!(session.written("stdout").await, "ready\nlost 0\n");
    session.finish().await;
}
