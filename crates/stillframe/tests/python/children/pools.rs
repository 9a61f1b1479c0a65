//! Pools of processes and threads.

use serde_json::{Value, json};
use test_support::pythons;

use crate::debugging::{Debugging, Report};
use crate::script::Script;

/// Stops at `inside` until the end, and returns what an expression was there.
async fn stops(script: &Script, expression: &str, output: &str) -> Vec<String> {
    let session = Debugging::new().await;
    session.break_at(script, "inside").await;
    let mut report = session.start(script).await;
    let mut observed = Vec::new();
    while report.outcome() == "breakpoint" {
        observed.push(session.evaluate(expression).await);
        report = session.go_on().await;
    }
    assert_eq!((report.outcome(), &report["exitCode"]), ("ended", &Value::from(0)), "{}", report.text);
    assert_eq!(session.written("stdout").await, output);
    session.finish().await;
    observed.sort();
    observed
}

async fn multiprocessing_by(method: &str) {
    let script = Script::new(&format!(
        r#"
import multiprocessing

def square(number):
    result = number * number
    return result  # @inside

if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        print(pool.map(square, [3, 4], chunksize=1))
"#
    ));
    let observed = stops(&script, "(number, result)", "[9, 16]\n").await;
    assert_eq!(observed, ["(3, 9)", "(4, 16)"]);
}

#[tokio::test]
async fn a_forking_pool_stops_in_each_task() {
    multiprocessing_by("fork").await;
}

#[tokio::test]
async fn a_spawning_pool_stops_in_each_task() {
    multiprocessing_by("spawn").await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_forkserver_pool_stops_in_each_task() {
    multiprocessing_by("forkserver").await;
}

#[tokio::test]
async fn process_and_thread_executors_stop_in_each_task() {
    let script = Script::new(
        r#"
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

def square(number):
    return number * number  # @inside

if __name__ == "__main__":
    with ProcessPoolExecutor(1) as pool:
        print(list(pool.map(square, [3])), flush=True)
    with ThreadPoolExecutor(1, thread_name_prefix="pool") as pool:
        print(list(pool.map(square, [4])))
"#,
    );
    let observed = stops(
        &script,
        "(number, __import__('threading').current_thread().name.startswith('pool'))",
        "[9]\n[16]\n",
    )
    .await;
    assert_eq!(observed, ["(3, False)", "(4, True)"]);
}

/// A forked worker has the breakpoints of its parent from its own connection, and no connection at first. The pool is
/// finalized before the modules that it uses.
#[tokio::test]
async fn a_function_stops_in_forked_workers() {
    let script = Script::new(
        r#"
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

def square(number):
    return number * number  # @square

if __name__ == "__main__":
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        print(list(pool.map(square, [3, 4])))
"#,
    );
    for python in pythons(&["3.8.", "3.12."]) {
        let session = Debugging::new().await;
        session.ok("set_breakpoint", json!({ "function": "square" })).await;
        let start = json!({ "scriptPath": script.path(), "executablePath": python });
        let mut stopped = session.ok("start_debugging", start).await;
        for number in ["3", "4"] {
            assert_eq!(stopped.place(), (script.path(), script.line("square")), "{}", stopped.text);
            assert_eq!(stopped.variable("number"), number);
            stopped = session.go_on().await;
        }
        assert_eq!((stopped.outcome(), &stopped["exitCode"]), ("ended", &json!(0)), "{}", stopped.text);
        assert_eq!(session.output().await, [("stdout".to_owned(), "[9, 16]\n".to_owned())]);
        session.finish().await;
    }
}
