//! Processes and threads that a program starts: they join the session.

mod workers;

use serde_json::json;
use test_support::{Answer, Fixture};

use crate::debugging::{Debugging, Report};
use crate::script::Script;

/// A program that starts `child.js` in some way, and the child, which stops at `inside` and exits with 5.
fn family(start: &str) -> (Script, Fixture) {
    let script = Script::new(&format!(
        r#"
const {{ exec, execFileSync, fork, spawn, spawnSync }} = require("node:child_process");
const child = require("node:path").join(__dirname, "child.js");
const node = process.execPath;
const inherit = {{ stdio: "inherit" }};
{start}
"#
    ));
    let child = "const value = Number(process.argv[2]) * 2;\nconsole.log('child', value); // @inside\nprocess.exit(5);\n";
    let child = script.file("child.js", child);
    (script, child)
}

/// Stops in the child, and returns the report.
async fn stopped_in(script: &Script, child: &Fixture) -> (Debugging, Answer) {
    let session = Debugging::of(script.language()).await;
    session.break_at(child, "inside").await;
    let stopped = session.start(script).await;
    assert_eq!(stopped.outcome(), "breakpoint", "{}", stopped.text);
    assert_eq!(stopped.place(), (child.path(), child.line("inside")));
    (session, stopped)
}

#[tokio::test]
async fn a_breakpoint_in_a_child_stops_and_its_exit_reaches_the_parent() {
    let (script, child) = family(
        "const done = spawnSync(node, [child, '21'], inherit);\nconsole.log('exit', done.status); // @after",
    );
    let session = Debugging::of(script.language()).await;
    session.break_at(&child, "inside").await;
    session.break_at(&script, "after").await;
    let stopped = session.start(&script).await;
    assert_eq!((stopped.outcome(), stopped.place()), ("breakpoint", (child.path(), child.line("inside"))));
    assert_eq!(stopped.variable("value"), "42");
    assert_eq!(session.evaluate("process.argv.slice(2)").await, "[ '21' ]");
    let after = session.go_on().await;
    assert_eq!(after.place(), (script.path(), script.line("after")));
    assert_eq!(
        (after.text_of("output"), session.evaluate("done.status").await),
        ("child 42\n", "5".to_owned())
    );
    assert_eq!(session.run_to_the_end().await["output"], "exit 5\n");
    session.finish().await;
}

#[tokio::test]
async fn every_kind_of_child_joins_the_session() {
    let table = [
        "fork(child, ['4']).on('exit', (code) => process.exit(code - 5));",
        "fork(child, ['4'], { execArgv: ['--no-warnings'] });",
        "spawn(node, [child, '4'], inherit);",
        "spawn('node', [child, '4'], { ...inherit, env: { ...process.env, OWN: '1' } });",
        "spawn(node, ['--no-warnings', child, '4'], { ...inherit, detached: true });",
        "spawnSync(node, [child, '4'], { stdio: 'pipe' });",
        "try { execFileSync(node, [child, '4']); } catch {}",
        "exec(`node '${child}' 4`);",
    ];
    for start in table {
        let (script, child) = family(start);
        let (session, stopped) = stopped_in(&script, &child).await;
        assert_eq!(stopped.variable("value"), "8", "{start}");
        assert_eq!(session.go_on().await.outcome(), "ended", "{start}");
        session.finish().await;
    }
}

#[tokio::test]
async fn parent_and_child_are_listed_as_threads_under_their_programs_names() {
    let (script, child) = family("fork(child, ['1']);");
    let (session, stopped) = stopped_in(&script, &child).await;
    let listed = session.ok("list_threads", json!({})).await;
    let threads = listed["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 2, "{}", listed.text);
    let inside = threads.iter().find(|thread| thread["id"] == *stopped.at("/location/threadId")).unwrap();
    assert!(inside["name"].as_str().unwrap().contains("child.js"), "{}", listed.text);
    assert_eq!((&inside["state"], &inside["current"]), (&json!("paused"), &json!(true)));
    let parent = threads.iter().find(|thread| thread["id"] != inside["id"]).unwrap();
    assert_eq!(parent["state"], "running", "the parent goes on while its child is stopped");
    assert_ne!(parent["processId"], inside["processId"]);
    session.finish().await;
}

#[tokio::test]
async fn output_to_a_pipe_of_the_parent_is_not_the_sessions() {
    let (script, child) = family(
        "const done = spawnSync(node, [child, '3'], { encoding: 'utf8' });\nconsole.log([done.stdout]);",
    );
    let (session, _) = stopped_in(&script, &child).await;
    assert_eq!(session.run_to_the_end().await["output"], "[ 'child 6\\n' ]\n");
    session.finish().await;
}

#[tokio::test]
async fn ipc_between_child_and_parent_works_under_the_debugger() {
    let script = Script::new(
        r#"
const { fork } = require("node:child_process");
const child = fork(require("node:path").join(__dirname, "talks.js"));
child.on("message", (answer) => {
  console.log("answer", answer); // @answer
  child.disconnect();
});
child.send(20);
"#,
    );
    let talks = "process.on('message', (number) => {\n  process.send(number + 1); // @asked\n});\n";
    let talks = script.file("talks.js", talks);
    let session = Debugging::of(script.language()).await;
    session.break_at(&talks, "asked").await;
    session.break_at(&script, "answer").await;
    let arguments = session.start(&script).await;
    assert_eq!(
        (arguments.place(), arguments.variable("number")),
        ((talks.path(), talks.line("asked")), "20")
    );
    let answered = session.go_on().await;
    assert_eq!(
        (answered.place(), answered.variable("answer")),
        ((script.path(), script.line("answer")), "21")
    );
    session.finish_at_end().await;
}

#[tokio::test]
async fn every_worker_of_a_cluster_stops() {
    let script = Script::new(
        r#"
const cluster = require("node:cluster");

if (cluster.isPrimary) {
  for (const name of ["one", "two"]) {
    cluster.fork({ WORKER: name });
  }
} else {
  const name = process.env.WORKER;
  console.log("worker", name); // @worker
  cluster.worker.disconnect();
}
"#,
    );
    let (session, mut report) = script.stopped_at("worker").await;
    let mut names = Vec::new();
    while report.outcome() == "breakpoint" {
        names.push(session.evaluate("name").await);
        report = session.go_on().await;
    }
    names.sort_unstable();
    assert_eq!((names, report.outcome()), (vec!["'one'".to_owned(), "'two'".to_owned()], "ended"));
    session.finish().await;
}

#[tokio::test]
async fn a_grandchild_joins_too() {
    let (script, child) = family(
        "const between = `require('node:child_process').spawnSync(process.execPath, [process.argv[1], '6'], { stdio: 'inherit' })`;\nspawnSync(node, ['-e', between, child], inherit);",
    );
    let (session, stopped) = stopped_in(&script, &child).await;
    assert_eq!(stopped.variable("value"), "12");
    let listed = session.ok("list_threads", json!({})).await;
    assert_eq!(listed["count"], 3, "{}", listed.text);
    session.finish_at_end().await;
}

#[tokio::test]
async fn an_error_in_a_child_stops_there_and_is_not_the_parents() {
    let (script, _) = family(
        "const done = spawnSync(node, [require('node:path').join(__dirname, 'fails.js')], { encoding: 'utf8' });\nconsole.log('exit', done.status);",
    );
    let fails = script.file("fails.js", "function check(input) {\n  input.check(); // @throw\n}\ncheck();\n");
    let (session, stopped) = script.start().await;
    assert_eq!((stopped.outcome(), stopped.place()), ("exception", (fails.path(), fails.line("throw"))));
    assert_eq!(stopped.at("/exception/type"), "TypeError");
    assert_eq!(session.run_to_the_end().await["output"], "exit 1\n");
    session.finish().await;
}

/// It clears what would make it join, so nothing stops in it; nothing holds it up either.
#[tokio::test]
async fn a_child_with_an_empty_environment_runs_undebugged() {
    let (script, child) = family("spawnSync(node, [child, '4'], { ...inherit, env: {} });");
    let session = Debugging::of(script.language()).await;
    session.break_at(&child, "inside").await;
    let ended = session.start(&script).await;
    assert_eq!((ended.outcome(), ended.text_of("output")), ("ended", "child 8\n"), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn a_child_outlives_its_parent_and_still_stops() {
    let script = Script::new(
        r#"
const { fork } = require("node:child_process");
const late = require("node:path").join(__dirname, "late.js");
const child = fork(late, { detached: true, stdio: "ignore" });
child.once("message", () => {
  console.log("parent ends");
  child.disconnect();
  child.unref();
});
"#,
    );
    let late = script.file(
        "late.js",
        r#"
const parent = process.ppid;
process.send("ready");
const timer = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(timer);
  console.log("child goes on"); // @late
}, 10);
"#,
    );
    let session = Debugging::of(script.language()).await;
    session.break_at(&late, "late").await;
    let stopped = session.start(&script).await;
    assert_eq!((stopped.outcome(), stopped.place()), ("breakpoint", (late.path(), late.line("late"))));
    assert_eq!(stopped["output"], "parent ends\n");
    assert_eq!(session.go_on().await.outcome(), "ended");
    session.finish().await;
}

#[tokio::test]
async fn closing_the_session_ends_stopped_running_and_detached_children() {
    let (script, child) = family(
        r#"
const forever = "setInterval(() => {}, 1000)";
spawn(node, ["-e", forever], { detached: true, stdio: "ignore" }).unref();
spawn(node, ["-e", forever], inherit);
fork(child, ["4"]);
"#,
    );
    let (session, _) = stopped_in(&script, &child).await;
    session.ok("close_debug_session", json!({})).await;
    session.finish().await;
}
