//! Expressions that do not end, end the program, or do more than a value needs.

mod effects;

use std::time::Instant;

use serde_json::json;

use crate::debugging::{Debugging, Report};
use crate::script::Script;

/// How long an expression may take in these tests.
const LIMIT: u64 = 700;

/// A program that is stopped in `main`, with another thread that works.
async fn stopped() -> (Script, Debugging) {
    let script = Script::new(
        r#"
import os, re, subprocess, sys, threading, time

lock = threading.Lock()
lock.acquire()

def helper(number):
    return number + 1  # @helper

def main():
    value = 41
    return helper(value)  # @here

main()
print("end")
"#,
    );
    let (session, _) = script.stopped_at("here").await;
    (script, session)
}

/// Evaluates something that has no end, and checks that the session is as good as before.
async fn is_cut(expression: &str) {
    let (_script, session) = stopped().await;
    let arguments = json!({ "expression": expression, "timeout": LIMIT });
    let failed = session.fails("deadline_exceeded", "evaluate_expression", arguments).await;
    assert_eq!(failed["error"], format!("the expression did not end within {LIMIT} ms"), "{expression}");
    assert_eq!(failed.at("/context/timeout"), LIMIT);
    assert_eq!(session.evaluate("value + 1").await, "42", "after {expression}");
    let ended = session.run_to_the_end().await;
    assert_eq!(ended["output"], "end\n", "after {expression}");
    session.finish().await;
}

#[tokio::test]
async fn an_endless_loop_is_interrupted() {
    is_cut("while True: pass").await;
}

#[tokio::test]
async fn a_loop_that_catches_everything_is_interrupted() {
    let code = "def stubborn():\n    while True:\n        try:\n            while True: pass\n        except Exception: pass\nstubborn()";
    is_cut(code).await;
}

#[tokio::test]
async fn a_sleep_is_interrupted() {
    is_cut("time.sleep(100)").await;
}

#[tokio::test]
async fn waiting_for_a_held_lock_is_interrupted() {
    is_cut("lock.acquire()").await;
}

#[tokio::test]
async fn waiting_for_an_event_is_interrupted() {
    is_cut("threading.Event().wait()").await;
}

#[tokio::test]
async fn reading_from_a_pipe_is_interrupted() {
    is_cut("os.read(os.pipe()[0], 1)").await;
}

#[tokio::test]
async fn waiting_for_a_child_process_is_interrupted() {
    is_cut("subprocess.run(['sleep', '100'])").await;
}

/// The search keeps the interpreter's lock, so that only a signal from outside reaches it.
#[tokio::test]
async fn an_endless_regular_expression_is_interrupted() {
    is_cut("re.match(r'(a+)+$', 'a' * 40 + 'b')").await;
}

/// A program that is stopped in a thread that is not the main one.
async fn stopped_in_worker() -> (Script, Debugging) {
    let script = Script::new(
        r#"
import threading, time

def work():
    value = 41
    return value  # @here

worker = threading.Thread(target=work)
worker.start()
worker.join()
print("end")
"#,
    );
    let (session, _) = script.stopped_at("here").await;
    (script, session)
}

/// Only the main thread hears signals; in others an exception is raised between two instructions.
#[tokio::test]
async fn a_loop_in_a_worker_thread_is_interrupted() {
    let (_script, session) = stopped_in_worker().await;
    for expression in ["while True: pass", "while True: time.sleep(0.01)"] {
        let arguments = json!({ "expression": expression, "timeout": LIMIT });
        session.fails("deadline_exceeded", "evaluate_expression", arguments).await;
        assert_eq!(session.evaluate("value").await, "41", "after {expression}");
    }
    assert_eq!(session.run_to_the_end().await["output"], "end\n");
    session.finish().await;
}

/// A system call in a thread that is not the main one cannot be left: the answer says so, and that the thread
/// answers again when the call returns, which it does here.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_system_call_in_a_worker_thread_is_reported_as_not_interruptible() {
    let (_script, session) = stopped_in_worker().await;
    let arguments = json!({ "expression": "time.sleep(4)", "timeout": LIMIT });
    let failed = session.call("evaluate_expression", arguments).await;
    let error = format!(
        "the expression did not end within {LIMIT} ms and cannot be interrupted, because native code is \
         running; the thread responds again when it returns"
    );
    assert!(failed.is_error);
    assert_eq!(failed["error"], error);
    let arguments = json!({ "expression": "value", "timeout": 20_000 });
    assert_eq!(session.ok("evaluate_expression", arguments).await["result"], "41");
    assert_eq!(session.run_to_the_end().await["output"], "end\n");
    session.finish().await;
}

/// Native code that keeps the interpreter's lock and looks for no signal cannot be cut at all, and nothing
/// else in the process answers meanwhile. Every call comes back, and closing works.
#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn uninterruptible_native_code_delays_no_call() {
    let (_script, session) = stopped().await;
    let began = Instant::now();
    let arguments = json!({ "expression": "sum(range(10 ** 11))", "timeout": LIMIT });
    let failed = session.call("evaluate_expression", arguments).await;
    assert!(failed.is_error);
    assert!(failed.text_of("error").contains("cannot be interrupted"), "{}", failed.text);
    let state = session.server.ok("list_debug_sessions", json!({})).await;
    assert_eq!(state.at("/sessions/0/state"), "paused");
    let again = session.call("evaluate_expression", json!({ "expression": "value", "timeout": LIMIT })).await;
    assert!(again.is_error, "{}", again.text);
    let running = session.ok("continue_execution", json!({ "timeout": 300 })).await;
    assert_eq!(running.outcome(), "running", "{}", running.text);
    session.ok("close_debug_session", json!({})).await;
    assert!(began.elapsed().as_secs() < 40, "{:?}", began.elapsed());
    session.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn an_endless_expression_does_not_delay_another_session() {
    let (_first_script, first) = stopped().await;
    let second = Script::new("x = 1  # @here\nprint(x)\n");
    let id = first.server.ok("create_debug_session", json!({ "language": "python" })).await;
    let id = id.text_of("sessionId");
    let location = json!({ "sessionId": id, "file": second.path(), "line": second.line("here") });
    first.server.ok("set_breakpoint", location).await;
    let endless =
        first.call("evaluate_expression", json!({ "expression": "while True: pass", "timeout": 2000 }));
    let other = async {
        let arguments = json!({ "sessionId": id, "scriptPath": second.path() });
        let stopped = first.server.ok("start_debugging", arguments).await;
        assert_eq!(stopped.outcome(), "breakpoint");
        let ended = first.server.ok("continue_execution", json!({ "sessionId": id })).await;
        assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "1\n"));
    };
    let (failed, ()) = tokio::join!(endless, other);
    assert_eq!(failed["code"], "deadline_exceeded");
    first.finish().await;
}

#[tokio::test]
async fn an_await_is_refused_with_what_works() {
    let (_script, session) = stopped().await;
    for expression in ["await helper(1)", "x = await helper(1)", "[await helper(1)]"] {
        let arguments = json!({ "expression": expression });
        let refused = session.fails("evaluation_failed", "evaluate_expression", arguments).await;
        assert!(
            refused.text.contains("the event loop does not run while the program is stopped"),
            "{}",
            refused.text
        );
    }
    session.finish().await;
}
