//! Programs that end, vanish or hang where one does not expect it.

mod locations;

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report};
use crate::script::Script;

#[tokio::test]
async fn an_exit_during_a_step_is_reported_with_its_code() {
    let script = Script::new("const code = 7;\nprocess.exit(code); // @exit\n");
    for tool in ["step_over", "step_into", "step_out"] {
        let (session, _) = script.stopped_at("exit").await;
        let ended = session.step(tool).await;
        assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(7)), "{tool}: {}", ended.text);
        session.finish().await;
    }
}

#[tokio::test]
async fn an_exit_in_an_expression_ends_the_session_and_the_call_returns() {
    let program = Fixture::node("swap_vars");
    let (session, _) = Debugging::stopped_at(&program, "call").await;
    let failed = session.call("evaluate_expression", json!({ "expression": "process.exit(3)" })).await;
    assert!(failed.is_error, "{}", failed.text);
    session.assert_ended().await;
    let again = session.step("restart_debugging").await;
    assert_eq!(again.place(), (program.path(), program.line("call")), "the session is whole: {}", again.text);
    session.finish().await;
}

#[tokio::test]
async fn an_abort_is_reported_with_its_signal() {
    let program = Fixture::node("endings");
    let session = Debugging::of(Language::Node).await;
    let arguments = json!({ "scriptPath": program.path(), "args": ["abort"] });
    let ended = session.ok("start_debugging", arguments).await;
    assert_eq!((ended.outcome(), &ended["signal"]), ("ended", &json!("SIGABRT")), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn every_endless_expression_is_terminated_at_its_deadline() {
    let program = Fixture::node("swap_vars");
    let (session, _) = Debugging::stopped_at(&program, "call").await;
    for expression in [
        "(() => { for (;;); })()",
        "(() => { while (true) [].push({}); })()",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "(function again() { try { again(); } finally { again(); } })()",
        "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
    ] {
        let arguments = json!({ "expression": expression, "timeout": 500 });
        let failed = session.fails("deadline_exceeded", "evaluate_expression", arguments).await;
        assert_eq!(failed["error"], "the expression did not end within 500 ms", "{expression}");
        assert_eq!(session.evaluate("x + y").await, "30", "after {expression}");
    }
    session.finish_at_end().await;
}

/// What waits in the operating system cannot be cut. The call comes back, and the session can be closed.
#[tokio::test]
async fn an_expression_blocked_on_another_process_is_abandoned_at_its_deadline() {
    let program = Fixture::node("swap_vars");
    let (session, _) = Debugging::stopped_at(&program, "call").await;
    let expression = "process.mainModule.require('node:child_process').execSync('sleep 1000')";
    let arguments = json!({ "expression": expression, "timeout": 500 });
    let failed = session.fails("refused", "evaluate_expression", arguments).await;
    assert!(failed.text.contains("500 ms"), "{}", failed.text);
    session.ok("close_debug_session", json!({})).await;
    session.finish().await;
}

#[tokio::test]
async fn a_pending_promise_is_a_value_and_is_not_awaited() {
    let program = Fixture::node("swap_vars");
    let (session, _) = Debugging::stopped_at(&program, "call").await;
    assert_eq!(session.evaluate("new Promise(() => {})").await, "Promise { <pending> }");
    session.finish_at_end().await;
}

#[tokio::test]
async fn a_script_that_deletes_itself_is_debugged_and_cannot_restart() {
    let script = Script::new(
        "require('node:fs').unlinkSync(__filename);\nconst rest = 1; // @after\nconsole.log(rest);\n",
    );
    let (session, stopped) = script.stopped_at("after").await;
    assert!(!std::path::Path::new(script.path()).exists());
    let stepped = session.step("step_over").await;
    assert_eq!((stepped.outcome(), stepped.variable("rest")), ("step", "1"), "{}", stepped.text);
    assert_eq!(stopped.at("/location/function"), "<module>");
    session.ok("get_stack_trace", json!({})).await;
    session.run_to_the_end().await;
    session.fails("file_not_found", "restart_debugging", json!({})).await;
    session.finish().await;
}

#[tokio::test]
async fn output_before_a_crash_is_available_when_the_end_is_reported() {
    let script = Script::new("process.stdout.write('x'.repeat(60_000) + '\\n', () => process.abort());\n");
    let (session, ended) = script.start().await;
    assert_eq!((ended.outcome(), &ended["signal"]), ("ended", &json!("SIGABRT")), "{}", ended.text);
    assert_eq!(session.written("stdout").await, "x".repeat(60_000) + "\n");
    session.finish().await;
}

/// `node` prints that a debugger has attached, and waits for it at the end; neither may be visible.
#[tokio::test]
async fn a_program_runs_as_without_a_debugger() {
    let script = Script::new(
        r#"
process.on("exit", (code) => console.log("exit", code));
console.log(process.argv.length, process.execArgv, require.main === module, typeof WebSocket);
console.log(Object.keys(globalThis).filter((name) => /debug|stillframe|inspector/i.test(name)));
console.log(new Error("where").stack.split("\n").length > 1);
"#,
    );
    let (session, ended) = script.start().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)), "{}", ended.text);
    let written = session.written("stdout").await;
    let lines: Vec<&str> = written.lines().collect();
    assert!(lines[0].starts_with("2 [] true "), "{written}");
    assert_eq!(lines[1..], ["[]", "true", "exit 0"]);
    assert_eq!(session.written("stderr").await, "", "nothing about a debugger");
    session.finish().await;
}

/// `mocha --check-leaks` fails a test that adds a name to the global object.
#[tokio::test]
async fn a_condition_adds_no_global_name_that_the_program_lists() {
    let script = Script::new(
        r"
const before = Object.keys(globalThis);
const twice = (number) => {
  return number * 2; // @twice
};
twice(1); // @call
console.log(Object.keys(globalThis).filter((name) => !before.includes(name)));
",
    );
    let (session, _) = script.stopped_at("call").await;
    session.break_with(&script, "twice", json!({ "condition": "number > 1" })).await;
    session.run_to_the_end().await;
    assert_eq!(session.written("stdout").await, "[]\n");
    session.finish().await;
}
