//! States, stops and steps.

use serde_json::{Value, json};
use test_support::{Dynamic, DynamicLanguage, Language, dynamic, each};

use super::{listed, polled};
use crate::debugging::{Debugging, Report, written_in};

each![a_polling_client_sees_the_stop_and_the_end, a_step_shows_its_line_and_the_surrounding_ones,];

dynamic![
    // C throws nothing.
    an_exception_is_described_in_the_session_list,
];

async fn a_polling_client_sees_the_stop_and_the_end(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    session.break_at(&program, "kind").await;
    assert_eq!(listed(&session).await["state"], "created");
    session.ok("start_debugging", json!({ "scriptPath": program.path(), "timeout": 0 })).await;
    let paused = polled(&session, "paused").await;
    assert_eq!(paused.pointer("/lastStop/reason"), Some(&json!("breakpoint")), "{paused}");
    assert_eq!(paused["execution"], "paused");

    let stack = session.ok("get_stack_trace", json!({ "includeInternals": true })).await;
    assert_eq!((&stack["stopReason"], &stack["includeInternals"]), (&json!("breakpoint"), &json!(true)));
    assert_eq!(stack["lastStop"], paused["lastStop"]);

    session.ok("clear_breakpoints", json!({})).await;
    session.ok("continue_execution", json!({ "wait": false })).await;
    let stopped = polled(&session, "stopped").await;
    assert_eq!((&stopped["exitCode"], &stopped["execution"]), (&json!(0), &json!("ended")));
    assert_eq!(stopped["lastStop"], Value::Null);
    session.finish().await;
}

async fn an_exception_is_described_in_the_session_list(language: DynamicLanguage) {
    let texts = Dynamic {
        python: "def divide(by):\n    return 1 // by\n\ndivide(0)\n",
        node: "function divide(by) {\n  throw new RangeError(`by ${by}`);\n}\ndivide(0);\n",
    };
    let (_folder, program) = written_in(language, "crashes", texts);
    let python = ("ZeroDivisionError", "integer division or modulo by zero");
    let (kind, message) = language.pick(python, ("RangeError", "by 0"));
    let session = Debugging::of(language).await;
    session.start(&program).await;
    let entry = polled(&session, "paused").await;
    let expected = json!({
        "reason": "exception",
        "threadId": 1,
        "description": kind,
        "text": message,
        "exceptionInfo": {
            "exceptionId": kind,
            "breakMode": "unhandled",
            "details": { "typeName": kind, "message": message },
        },
    });
    assert_eq!(entry["lastStop"], expected);
    let stack = session.ok("get_stack_trace", json!({})).await;
    assert_eq!(stack["stopReason"], "exception");
    session.finish().await;
}

async fn a_step_shows_its_line_and_the_surrounding_ones(language: Language) {
    let (program, session) = Debugging::paused(language, "bank", "deposit").await;
    let stepped = session.step("step_over").await;
    let (_, line) = stepped.place();
    let source = std::fs::read_to_string(program.path()).unwrap();
    let content = |line: u32| source.lines().nth(line as usize - 1).unwrap();
    assert_eq!(stepped.at("/context/lineContent"), content(line));
    let around: Vec<Value> =
        (line - 1..=line + 1).map(|line| json!({ "line": line, "content": content(line) })).collect();
    assert_eq!(stepped.at("/context/surrounding"), &json!(around));
    assert!(stepped.at("/location/column").as_u64() >= Some(1), "{}", stepped.text);
    session.finish().await;
}
