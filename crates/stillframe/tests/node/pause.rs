//! Pausing programs that are busy in every way there is, or have nothing to do.

use serde_json::json;
use test_support::Language;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::debugging::{Debugging, Report};
use crate::script::{Script, frames};

/// Endless busy loops in a function of the program.
const BUSY: &[&str] = &[
    "for (;;);",
    "while (true) turns += 1;",
    "do { turns += Math.sqrt(turns); } while (turns >= 0);",
    "for (;;) garbage = [garbage.length, {}];",
    "for (;;) again(turns);",
    "for (;;) try { throw new Error('busy'); } catch { turns += 1; }",
    "for (;;) JSON.parse('[1, 2, 3]').forEach((item) => { turns += item; });",
    "for (;;) 'text'.replace(/t/g, (found) => found + turns);",
    "for (;;) Atomics.wait(cell, 0, 0, 10);",
];

/// A function that says `ready` and is busy, and what it uses.
fn program(busy: &str) -> String {
    format!(
        r#"
const cell = new Int32Array(new SharedArrayBuffer(4));
function again(number) {{
  return number + 1;
}}
function work() {{
  let turns = 0;
  let garbage = [];
  const mine = 41;
  console.log("ready"); // @ready
  {busy} // @busy
  return [turns, garbage, mine];
}}
work();
"#
    )
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn every_busy_loop_is_paused_and_resumes() {
    for busy in BUSY {
        let script = Script::new(&program(busy));
        let (session, _) = script.running().await;
        let mut pauses = 0;
        while pauses < 2 {
            let paused = session.step("pause_execution").await;
            assert_eq!(paused.outcome(), "pause", "{busy}: {}", paused.text);
            assert!(frames(&paused).contains(&"work"), "{busy}: {}", paused.text);
            let frame =
                paused["stackFrames"].as_array().unwrap().iter().find(|frame| frame["name"] == "work");
            let frame = frame.unwrap();
            // It may have written its line and not come back from that yet.
            let is_busy = frame["line"] != script.line("ready");
            if is_busy {
                assert_eq!(frame["line"], script.line("busy"), "{busy}");
                pauses += 1;
            }
            let arguments = json!({ "expression": "mine + 1", "frameId": frame["id"] });
            assert_eq!(session.ok("evaluate_expression", arguments).await["result"], "42", "{busy}");
            let running = session.ok("continue_execution", json!({ "timeout": 50 })).await;
            assert_eq!(running.outcome(), "running", "{busy}: {}", running.text);
        }
        session.finish().await;
    }
}

/// An endless loop through a function.
const TURNS: &str = "let turns = 0;\nfunction turn() {\n  turns += 1; // @turn\n}\nfor (;;) turn();\n";

/// A condition in which the program is nearly all the time, with its result.
fn slow(result: &str) -> String {
    format!("((end) => {{ while (Date.now() < end); return {result}; }})(Date.now() + 3)")
}

#[tokio::test]
async fn a_loop_through_a_condition_is_paused_and_each_hit_counts_once() {
    let script = Script::new(TURNS);
    let session = Debugging::of(Language::Node).await;
    let rules = json!({ "condition": slow("true"), "hitCondition": "== 1000" });
    session.break_with(&script, "turn", rules).await;
    session.ok("start_debugging", json!({ "scriptPath": script.path(), "timeout": 200 })).await;
    for _ in 0..3 {
        let paused = session.ok("pause_execution", json!({ "timeout": 20_000 })).await;
        assert_eq!(paused.outcome(), "pause", "{}", paused.text);
        session.ok("continue_execution", json!({ "timeout": 100 })).await;
    }
    let hit = session.ok("continue_execution", json!({ "timeout": 20_000 })).await;
    assert_eq!(hit.outcome(), "breakpoint", "{}", hit.text);
    assert_eq!(session.evaluate("turns").await, "999");
    session.finish().await;
}

#[tokio::test]
async fn a_loop_through_a_condition_is_paused_in_other_global_objects() {
    let script = Script::new(TURNS);
    let outer = Script::new(&format!(
        "const file = {:?};\nconst text = require('fs').readFileSync(file, 'utf8');\nnew (require('vm').Script)(text, {{ filename: file }}).runInNewContext({{ Date }});\n",
        script.path(),
    ));
    let session = Debugging::of(Language::Node).await;
    session.break_with(&script, "turn", json!({ "condition": slow("false") })).await;
    session.ok("start_debugging", json!({ "scriptPath": outer.path(), "timeout": 200 })).await;
    for _ in 0..3 {
        let paused = session.ok("pause_execution", json!({ "timeout": 5000 })).await;
        assert_eq!(paused.outcome(), "pause", "{}", paused.text);
        session.ok("continue_execution", json!({ "timeout": 100 })).await;
    }
    session.finish().await;
}

#[tokio::test]
async fn a_loop_at_module_level_is_paused() {
    for text in [
        "let turns = 0;\nconsole.log('ready');\nwhile (true) turns += 1; // @busy\n",
        "console.log('ready');\nfor (;;) Math.random(); // @busy\n",
    ] {
        for script in [Script::new(text), Script::module(text)] {
            let (session, _) = script.running().await;
            let mut paused = session.step("pause_execution").await;
            // It may have written its line and not come back from that yet.
            while paused.place() == (script.path(), script.line("busy") - 1) {
                session.ok("continue_execution", json!({ "timeout": 50 })).await;
                paused = session.step("pause_execution").await;
            }
            assert_eq!((paused.outcome(), paused.place()), ("pause", (script.path(), script.line("busy"))));
            session.finish().await;
        }
    }
}

#[tokio::test]
async fn a_program_busy_in_short_turns_is_paused() {
    for busy in [
        "(async () => { for (;;) await null; })(); // @busy",
        "(function turn() { setImmediate(turn); })(); // @busy",
        "(function turn() { setTimeout(turn, 1); })(); // @busy",
        "(function turn() { process.nextTick(turn); })(); // @busy",
    ] {
        let script = Script::new(&format!("console.log('ready');\n{busy}\n"));
        let (session, _) = script.running().await;
        let paused = session.step("pause_execution").await;
        assert_eq!(paused.outcome(), "pause", "{busy}: {}", paused.text);
        let is_between = paused.text.contains("between two events");
        assert!(
            is_between || frames(&paused).contains(&"turn") || busy.contains("await"),
            "{busy}: {}",
            paused.text
        );
        let running = session.ok("continue_execution", json!({ "timeout": 50 })).await;
        assert_eq!(running.outcome(), "running", "{busy}: {}", running.text);
        session.finish().await;
    }
}

/// A server that says its port, and answers every request.
const SERVER: &str = r#"
const http = require("node:http");
let served = 0;
const server = http.createServer((request, response) => {
  served += 1;
  response.end(`hello ${request.url}`); // @handler
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
"#;

#[tokio::test]
async fn an_idle_server_is_paused_and_reported_as_idle() {
    let script = Script::new(SERVER);
    let (session, _) = script.running().await;
    let paused = session.step("pause_execution").await;
    assert_eq!((&paused["state"], paused.outcome()), (&json!("paused"), "pause"), "{}", paused.text);
    // It has said its port, and may still be on its way back from that.
    let is_between = paused.text.contains("between two events");
    assert!(paused.text.contains("idle") || is_between, "{}", paused.text);
    assert_eq!(session.evaluate("typeof process.pid").await, "'number'", "globals are there all the same");
    let running = session.ok("continue_execution", json!({ "timeout": 50 })).await;
    assert_eq!(running.outcome(), "running", "{}", running.text);
    let again = session.step("pause_execution").await;
    assert_eq!(again.outcome(), "pause", "{}", again.text);
    session.finish().await;
}

#[tokio::test]
async fn a_server_paused_while_idle_answers_after_resume() {
    let script = Script::new(SERVER);
    let (session, port) = script.running().await;
    assert_eq!(session.step("pause_execution").await.outcome(), "pause");
    assert_eq!(session.break_at(&script, "handler").await["verified"], true);
    session.ok("continue_execution", json!({ "wait": false })).await;
    let mut client = TcpStream::connect(("127.0.0.1", port.parse::<u16>().expect("a port"))).await.unwrap();
    client.write_all(b"GET /there HTTP/1.0\r\n\r\n").await.unwrap();
    let stopped = session.go_on().await;
    assert_eq!((stopped.outcome(), stopped.place()), ("breakpoint", (script.path(), script.line("handler"))));
    assert_eq!(session.evaluate("[served, request.url]").await, "[ 1, '/there' ]");
    session.ok("continue_execution", json!({ "wait": false })).await;
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.ends_with("hello /there"), "{answer}");
    session.finish().await;
}

#[tokio::test]
async fn a_program_that_waits_for_a_child_is_idle() {
    let script = Script::new(
        "const { spawn } = require('node:child_process');\nspawn('sleep', ['1000']);\nconsole.log('ready');\n",
    );
    let (session, _) = script.running().await;
    let paused = session.step("pause_execution").await;
    assert_eq!(paused.outcome(), "pause", "{}", paused.text);
    assert!(paused.text.contains("idle"), "{}", paused.text);
    session.finish().await;
}
