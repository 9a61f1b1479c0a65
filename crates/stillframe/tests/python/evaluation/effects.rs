//! Expressions that print, raise, assign, start threads, or run into breakpoints.

use serde_json::{Value, json};
use test_support::built_python;

use super::stopped;
use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};
use crate::script::Script;

/// debugpy 1.8.22 never answers an evaluation that raises `SystemExit`.
#[tokio::test]
async fn a_raising_expression_is_an_error_with_pythons_message() {
    let (_script, session) = stopped().await;
    let table = [
        ("1 / 0", "ZeroDivisionError", "ZeroDivisionError: division by zero"),
        ("sys.exit(3)", "SystemExit", "SystemExit: 3"),
        ("(_ for _ in ()).throw(KeyboardInterrupt())", "KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise GeneratorExit", "GeneratorExit", "GeneratorExit"),
        ("value +", "SyntaxError", "SyntaxError: invalid syntax"),
        ("input()", "EOFError", "EOFError: EOF when reading a line"),
    ];
    for (expression, kind, message) in table {
        let failed = session
            .fails("evaluation_failed", "evaluate_expression", json!({ "expression": expression }))
            .await;
        assert_eq!(
            (&failed["message"], failed.at("/context/type")),
            (&json!(message), &json!(kind)),
            "{expression}"
        );
        assert!(!failed.text_of("error").contains("stillframe"), "our own frames: {}", failed.text);
        assert!(!failed.text_of("error").contains("pydevd"), "pydevd's frames: {}", failed.text);
    }
    // pydevd's own way is slower.
    assert_eq!(
        session.evaluate("'pydevd_vars' in str(__import__('traceback').extract_stack())").await,
        "False"
    );
    assert_eq!(session.evaluate("value").await, "41");
    assert_eq!(session.run_to_the_end().await["output"], "end\n");
    session.finish().await;
}

#[tokio::test]
async fn an_expression_that_ends_the_process_is_reported_as_the_end() {
    let (_script, session) = stopped().await;
    let failed =
        session.fails("connection_lost", "evaluate_expression", json!({ "expression": "os._exit(7)" })).await;
    assert_eq!(failed["error"], "the connection to the program is closed");
    // Either call may be the one that learns of the end.
    let after = session.call("continue_execution", json!({})).await;
    let end = if after.is_error { after.at("/context/state") } else { &after["state"] };
    assert_eq!(end, "ended", "{}", after.text);
    assert!(after.is_error || after["exitCode"] == 7, "{}", after.text);
    session.finish().await;
}

#[tokio::test]
async fn output_of_an_expression_is_program_output() {
    let (_script, session) = stopped().await;
    assert_eq!(session.evaluate("print('from', value) or 'done'").await, "'done'");
    let ended = session.run_to_the_end().await;
    assert_eq!(ended["output"], "from 41\nend\n");
    session.finish().await;
}

#[tokio::test]
async fn an_expression_can_be_a_statement_and_assign() {
    let (_script, session) = stopped().await;
    assert_eq!(session.evaluate("value = 99").await, "None");
    assert_eq!(session.evaluate("value").await, "99");
    assert_eq!(session.step("step_into").await.variable("number"), "99");
    session.finish().await;
}

#[tokio::test]
async fn comprehensions_and_lambdas_see_local_names() {
    let (_script, session) = stopped().await;
    assert_eq!(session.evaluate("[value + n for n in range(2)]").await, "[41, 42]");
    assert_eq!(session.evaluate("(lambda: value)()").await, "41");
    session.finish().await;
}

#[tokio::test]
async fn a_breakpoint_in_code_called_by_an_expression_does_not_stop() {
    let (script, session) = stopped().await;
    let set = session.break_at(&script, "helper").await;
    assert_eq!(session.evaluate("helper(5)").await, "6");
    let listed = session.breakpoints().await;
    let hits = |id: &Value| {
        listed.iter().find(|known| known["breakpointId"] == *id).map(|known| known["hits"].clone())
    };
    assert_eq!(hits(&set["breakpointId"]), Some(json!(0)));
    let stopped = session.go_on().await;
    assert_eq!((stopped.place(), stopped.variable("number")), ((script.path(), script.line("helper")), "41"));
    session.finish().await;
}

/// All threads are suspended, and pydevd 1.8.22 suspends a new one as well: what waits for it is cut.
#[tokio::test]
async fn a_thread_started_by_an_expression_runs_when_the_program_resumes() {
    let script = Script::new(
        r#"
import threading, time

done = []

def main():
    time.sleep(0)  # @here
    while not done:
        time.sleep(0.01)
    print("done", done)

main()
"#,
    );
    let (session, _) = script.stopped_at("here").await;
    let start = "threading.Thread(target=done.append, args=(1,)).start()";
    let arguments = json!({ "expression": start, "timeout": 1000 });
    let answer = session.call("evaluate_expression", arguments).await;
    assert!(!answer.is_error || answer["code"] == "deadline_exceeded", "{}", answer.text);
    assert_eq!(session.run_to_the_end().await["output"], "done [1]\n");
    session.finish().await;
}

#[tokio::test]
async fn two_simultaneous_expressions_are_evaluated_in_turn() {
    let (_script, session) = stopped().await;
    let slow = session.evaluate("time.sleep(0.3) or 'slow'");
    let fast = session.evaluate("'fast'");
    assert_eq!(tokio::join!(slow, fast), ("'slow'".to_owned(), "'fast'".to_owned()));
    session.finish().await;
}

/// debugpy 1.8.22 still evaluates in a frame that is gone, with its old variables.
#[tokio::test]
async fn a_frame_of_an_earlier_stop_is_refused() {
    let (_script, session) = stopped().await;
    let stack = session.ok("get_stack_trace", json!({})).await;
    let frame = stack.at("/stackFrames/0/id").clone();
    session.step("step_over").await;
    let arguments = json!({ "expression": "value", "frameId": frame });
    let failed = session.fails("stale_reference", "evaluate_expression", arguments).await;
    assert_eq!(
        failed["error"],
        format!("frameId {frame} belongs to an earlier stop: the program has run since then")
    );
    session.finish().await;
}

#[tokio::test]
async fn evaluating_in_a_running_program_is_refused_with_advice() {
    let script = Script::new("import time\nprint('up', flush=True)\ntime.sleep(60)\n");
    let session = Debugging::new().await;
    session.ok("start_debugging", json!({ "scriptPath": script.path(), "timeout": 500 })).await;
    let failed = session.fails("not_paused", "evaluate_expression", json!({ "expression": "1" })).await;
    assert!(failed.text_of("message").contains("pause_execution"), "{}", failed.text);
    session.finish().await;
}

/// Up to Python 3.10, code does not know the name of its class.
#[tokio::test]
async fn private_attributes_are_read_without_side_effects_in_older_versions() {
    let script = Script::new(
        "
class Loud(type):
    def __getattribute__(kind, name):
        if name == '__mro__':
            print('asked')
        return super().__getattribute__(name)

class Purse(metaclass=Loud):
    def __init__(self):
        self.__coins = 3

    def count(self):
        return self.__coins  # @counts

Purse().count()
print('end')
",
    );
    let python = built_python("3.10.").unwrap_or_else(|| "python3".to_owned());
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "language": "python", "executablePath": python });
    let created = server.ok("create_debug_session", arguments).await;
    let session = Debugging { id: created.text_of("sessionId").to_owned(), server };
    session.break_at(&script, "counts").await;
    session.start(&script).await;
    let question = json!({ "expression": "self.__coins", "sideEffects": false });
    let value = session.ok("evaluate_expression", question).await;
    assert_eq!(value["result"], "3", "{}", value.text);
    assert_eq!(session.run_to_the_end().await["output"], "end\n");
    session.finish().await;
}
