//! Breakpoints on functions.

use serde_json::{Value, json};
use test_support::{DynamicLanguage, Fixture, Language, dynamic, each};

use super::{bank, listed};
use crate::debugging::{Debugging, Report};

each![a_function_is_bound_stopped_at_and_removed_by_its_name, a_function_is_stopped_at_again_after_a_restart,];

dynamic![
    // A program of C is known to LLDB alone, which looks for the name in all of it.
    a_function_that_is_set_while_the_program_is_paused_keeps_its_name,
];

/// The breakpoint on a function as it is listed.
async fn function(session: &Debugging, name: &str) -> Value {
    let listed = session.ok("list_breakpoints", json!({})).await;
    let functions = listed["functionBreakpoints"].as_array().unwrap();
    functions.iter().find(|one| one["functionName"] == name).cloned().unwrap_or_default()
}

async fn stops_at_kind(session: &Debugging, stopped: &impl Report, program: &Fixture) {
    assert_eq!(stopped.place(), (program.path(), program.language().entry(program, "kind")));
    assert_eq!(listed(session).await["lastStop"]["reason"], "function breakpoint");
    assert_eq!(function(session, "kind").await["verified"], true);
}

async fn a_function_is_bound_stopped_at_and_removed_by_its_name(language: Language) {
    let program = bank(language);
    let session = Debugging::of(language).await;
    let set = session.ok("set_breakpoint", json!({ "function": "kind" })).await;
    assert_eq!((&set["functionName"], &set["boundLine"]), (&json!("kind"), &Value::Null));
    assert_eq!(function(&session, "kind").await["verified"], false);
    let started = session.start(&program).await;
    stops_at_kind(&session, &started, &program).await;
    let removed = session.ok("remove_breakpoint", json!({ "function": "kind" })).await;
    assert_eq!(removed.at("/removed/0/id"), &set["breakpointId"]);
    session.run_to_the_end().await;
    session.finish().await;
}

async fn a_function_is_stopped_at_again_after_a_restart(language: Language) {
    let program = bank(language);
    let session = Debugging::of(language).await;
    session.ok("set_breakpoint", json!({ "function": "kind" })).await;
    session.start(&program).await;
    let again = session.step("restart_debugging").await;
    assert_eq!(again.at("/data/breakpointsReapplied"), 1);
    stops_at_kind(&session, &again, &program).await;
    session.finish().await;
}

async fn a_function_that_is_set_while_the_program_is_paused_keeps_its_name(language: DynamicLanguage) {
    let program = bank(*language);
    let (session, _) = Debugging::stopped_at(&program, "main_first").await;
    let set = session.ok("set_breakpoint", json!({ "function": "kind" })).await;
    assert_eq!((&set["functionName"], &set["boundLine"]), (&json!("kind"), &json!(program.line("kind"))));
    assert_eq!(set["boundFile"], program.path());
    let stopped = session.go_on().await;
    stops_at_kind(&session, &stopped, &program).await;
    session.ok("remove_breakpoint", json!({ "function": "kind" })).await;
    assert_eq!(function(&session, "kind").await, Value::Null);
    session.finish().await;
}
