//! Worker threads.

use serde_json::json;
use test_support::Fixture;

use crate::debugging::{Debugging, Report};
use crate::script::Script;

/// A program with a worker that adds, and the worker's file.
fn adding() -> (Script, Fixture) {
    let script = Script::new(
        r#"
const { Worker } = require("node:worker_threads");
const file = require("node:path").join(__dirname, "worker.js");
const worker = new Worker(file, { workerData: 20, name: "adder" });
worker.on("message", (sum) => {
  console.log("got", sum); // @got
});
"#,
    );
    let worker = script.file(
        "worker.js",
        r#"
const { parentPort, workerData } = require("node:worker_threads");
function add(number) {
  const sum = number + 1; // @sum
  return sum; // @return
}
parentPort.postMessage(add(workerData)); // @post
"#,
    );
    (script, worker)
}

#[tokio::test]
async fn a_breakpoint_in_a_worker_stops_there_and_steps_stay_in_it() {
    let (script, worker) = adding();
    let session = Debugging::of(script.language()).await;
    session.break_at(&worker, "sum").await;
    session.break_at(&script, "got").await;
    let stopped = session.start(&script).await;
    assert_eq!((stopped.outcome(), stopped.place()), ("breakpoint", (worker.path(), worker.line("sum"))));
    assert_eq!(stopped.variable("number"), "20");
    let stepped = session.step("step_over").await;
    assert_eq!((stepped.place(), stepped.variable("sum")), ((worker.path(), worker.line("return")), "21"));
    assert_eq!(session.evaluate("sum * 2").await, "42");
    let got = session.go_on().await;
    assert_eq!((got.place(), got.variable("sum")), ((script.path(), script.line("got")), "21"));
    assert_eq!(session.run_to_the_end().await["output"], "got 21\n");
    session.finish().await;
}

#[tokio::test]
async fn a_worker_is_a_thread_of_its_process_with_its_own_name() {
    let (script, worker) = adding();
    let (session, stopped) = (Debugging::of(script.language()).await, "sum");
    session.break_at(&worker, stopped).await;
    let stopped = session.start(&script).await;
    let listed = session.ok("list_threads", json!({})).await;
    let threads = listed["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 2, "{}", listed.text);
    let inside = threads.iter().find(|thread| thread["id"] == *stopped.at("/location/threadId")).unwrap();
    assert!(inside["name"].as_str().unwrap().contains("adder"), "{}", listed.text);
    assert_eq!(inside["state"], "paused");
    let main = threads.iter().find(|thread| thread["id"] != inside["id"]).unwrap();
    assert_eq!((&main["state"], &main["processId"]), (&json!("running"), &inside["processId"]));
    session.finish().await;
}

#[tokio::test]
async fn conditions_and_log_messages_work_in_workers() {
    let script = Script::new(
        r#"
const { Worker } = require("node:worker_threads");
const file = require("node:path").join(__dirname, "worker.js");
for (const workerData of [1, 2, 3]) new Worker(file, { workerData });
"#,
    );
    let worker = script.file(
        "worker.js",
        "const { workerData } = require('node:worker_threads');\nconst twice = workerData * 2; // @twice\nconsole.log(twice); // @print\n",
    );
    let session = Debugging::of(script.language()).await;
    session.break_with(&worker, "twice", json!({ "logMessage": "data {workerData}" })).await;
    session.break_with(&worker, "print", json!({ "condition": "twice === 4" })).await;
    let stopped = session.start(&script).await;
    assert_eq!((stopped.outcome(), stopped.variable("twice")), ("breakpoint", "4"), "{}", stopped.text);
    session.run_to_the_end().await;
    let mut logged: Vec<String> = session.written("log").await.lines().map(str::to_owned).collect();
    logged.sort_unstable();
    assert_eq!(logged, ["data 1", "data 2", "data 3"]);
    session.finish().await;
}

#[tokio::test]
async fn an_error_in_a_worker_stops_at_its_throw() {
    let script = Script::new(
        r#"
const { Worker } = require("node:worker_threads");
const worker = new Worker(require("node:path").join(__dirname, "worker.js"));
worker.on("error", (error) => console.log("failed:", error.message));
"#,
    );
    let worker = script
        .file("worker.js", "function work() {\n  throw new RangeError('in there'); // @throw\n}\nwork();\n");
    let (session, stopped) = script.start().await;
    assert_eq!((stopped.outcome(), stopped.place()), ("exception", (worker.path(), worker.line("throw"))));
    assert_eq!(
        (stopped.at("/exception/type"), stopped.at("/exception/message")),
        (&json!("RangeError"), &json!("in there"))
    );
    assert_eq!(session.run_to_the_end().await["output"], "failed: in there\n");
    session.finish().await;
}

/// What catches an error is read from the text of the script, which does not begin where the file does.
#[tokio::test]
async fn an_uncaught_error_in_evaluated_code_with_an_offset_stops_at_its_throw() {
    let script = Script::new(
        r#"
const { Worker } = require("node:worker_threads");
const worker = new Worker(require("node:path").join(__dirname, "worker.js"));
worker.on("error", (error) => console.log("failed:", error.message));
"#,
    );
    let worker = script.file(
        "worker.js",
        r#"
const vm = require("node:vm");
const text = require("node:fs").readFileSync(__filename, "utf8");
const lineOffset = text.slice(0, text.indexOf("\nconst code")).split("\n").length;
const code = `
function tries() {
  try {
    throw new Error("caught");
  } catch {}
}
function work() {
  throw new RangeError("in there"); // @throw
}
tries();
work();
`;
vm.runInThisContext(code, { filename: __filename, lineOffset });
"#,
    );
    let (session, stopped) = script.start().await;
    let place = (worker.path(), worker.line("throw"));
    assert_eq!((stopped.outcome(), stopped.place()), ("exception", place), "{}", stopped.text);
    assert_eq!(stopped.at("/exception/uncaught"), true);
    assert_eq!(session.run_to_the_end().await["output"], "failed: in there\n");
    session.finish().await;
}

#[tokio::test]
async fn a_busy_worker_is_paused_by_thread() {
    let script = Script::new(
        r#"
const { Worker } = require("node:worker_threads");
const worker = new Worker(require("node:path").join(__dirname, "worker.js"), { name: "spinner" });
worker.on("message", (text) => console.log(text));
"#,
    );
    let worker = script.file(
        "worker.js",
        "let turns = 0;\nrequire('node:worker_threads').parentPort.postMessage('spins');\nfor (;;) turns += 1; // @spin\n",
    );
    let (session, line) = script.running().await;
    assert_eq!(line, "spins");
    let listed = session.ok("list_threads", json!({})).await;
    let threads = listed["threads"].as_array().unwrap();
    let spinner = threads.iter().find(|thread| thread["name"].as_str().unwrap().contains("spinner")).unwrap();
    let paused = session.ok("pause_execution", json!({ "threadId": spinner["id"] })).await;
    assert_eq!((paused.outcome(), paused.place()), ("pause", (worker.path(), worker.line("spin"))));
    assert_eq!(session.evaluate("turns > 0").await, "true");
    session.finish().await;
}

#[tokio::test]
async fn closing_the_session_ends_a_program_with_a_stopped_worker() {
    let (script, worker) = adding();
    let session = Debugging::of(script.language()).await;
    session.break_at(&worker, "post").await;
    assert_eq!(session.start(&script).await.outcome(), "breakpoint");
    session.ok("close_debug_session", json!({})).await;
    session.finish().await;
}
