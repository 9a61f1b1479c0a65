//! Breakpoints on functions.

use serde_json::{Value, json};
use test_support::{DynamicLanguage, Fixture, Language, dynamic, each};

use super::{bank, listed};
use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};

each![a_function_is_bound_hit_and_removed_by_name, a_function_breakpoint_is_hit_again_after_a_restart,];

dynamic![
    // A program of C is known to LLDB alone, which looks for the name in all of it.
    a_function_breakpoint_set_while_paused_keeps_its_name,
    // LLDB has no line of the function's name, only where it stops.
    a_function_is_bound_to_the_line_of_its_name,
];

/// The breakpoint on a function as it is listed.
async fn function(session: &Debugging, name: &str) -> Value {
    let listed = session.ok("list_breakpoints", json!({})).await;
    let functions = listed["functionBreakpoints"].as_array().unwrap();
    functions.iter().find(|one| one["functionName"] == name).cloned().unwrap_or_default()
}

async fn stops_at_kind(session: &Debugging, stopped: &impl Report, program: &Fixture) {
    assert_eq!(stopped.place(), (program.path(), program.line("kind")));
    assert_eq!(listed(session).await["lastStop"]["reason"], "function breakpoint");
    assert_eq!(function(session, "kind").await["verified"], true);
}

async fn a_function_is_bound_hit_and_removed_by_name(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.ok("set_breakpoint", json!({ "function": "kind" })).await;
    assert_eq!((&set["functionName"], &set["boundLine"]), (&json!("kind"), &Value::Null));
    assert_eq!(function(&session, "kind").await["verified"], false);
    let started = session.start(&program).await;
    stops_at_kind(&session, &started, &program).await;
    let bound = function(&session, "kind").await;
    assert_eq!(bound["boundFile"], program.path(), "{bound}");
    assert!(bound["boundLine"].is_number() && bound["adapterId"].is_number(), "{bound}");
    let removed = session.ok("remove_breakpoint", json!({ "function": "kind" })).await;
    assert_eq!(removed.at("/removed/0/id"), &set["breakpointId"]);
    session.finish_at_end().await;
}

async fn a_function_breakpoint_is_hit_again_after_a_restart(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    session.ok("set_breakpoint", json!({ "function": "kind" })).await;
    session.start(&program).await;
    let again = session.step("restart_debugging").await;
    assert_eq!(again.at("/data/breakpointsReapplied"), 1);
    stops_at_kind(&session, &again, &program).await;
    session.finish().await;
}

async fn a_function_breakpoint_set_while_paused_keeps_its_name(language: DynamicLanguage) {
    let program = bank(*language);
    let (session, _) = Debugging::stopped_at(&program, "main_first").await;
    let set = session.ok("set_breakpoint", json!({ "function": "kind" })).await;
    assert_eq!(
        (&set["functionName"], &set["boundLine"]),
        (&json!("kind"), &json!(program.line("kind_header")))
    );
    assert_eq!(set["boundFile"], program.path());
    let stopped = session.go_on().await;
    stops_at_kind(&session, &stopped, &program).await;
    session.ok("remove_breakpoint", json!({ "function": "kind" })).await;
    assert_eq!(function(&session, "kind").await, Value::Null);
    session.finish().await;
}

async fn a_function_is_bound_to_the_line_of_its_name(language: DynamicLanguage) {
    let program = bank(*language);
    let session = Debugging::of(*language).await;
    session.ok("set_breakpoint", json!({ "function": "kind" })).await;
    let started = session.start(&program).await;
    stops_at_kind(&session, &started, &program).await;
    let bound = function(&session, "kind").await;
    assert_eq!(bound["boundLine"], program.line("kind_header"), "{bound}");
    let listed = session.ok("list_breakpoints", json!({})).await;
    assert_eq!(listed.at("/breakpoints/0/line"), program.line("kind"), "where it stops: {}", listed.text);
    session.finish().await;
}

/// Knows a module that it loads late by a name of its own.
const HELPED: &str = "\
let helper = null;
function compute(x) {
  return x * 2; // @compute
}
(async () => {
  compute(3);
  helper = await import('./work.mjs');
  compute(7);
  console.log(helper.doWork());
})();
";
const HELPER: &str = "\
export function doWork() { // @header
  return 42; // @entry
}
";

#[tokio::test]
async fn a_function_is_found_by_path_once_the_program_has_loaded_it() {
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let program = Fixture::write(folder.path(), "main.js", HELPED);
    let helper = Fixture::write(folder.path(), "work.mjs", HELPER);
    let session = Debugging::of(Language::Node).await;
    session.ok("set_breakpoint", json!({ "function": "compute" })).await;
    let set = session.ok("set_breakpoint", json!({ "function": "helper.doWork" })).await;
    assert_eq!(set["functionName"], "helper.doWork");
    session.start(&program).await;
    let pending = function(&session, "helper.doWork").await;
    assert_eq!(pending["verified"], false, "{pending}");
    assert!(
        pending["message"].as_str().unwrap().contains("pauses where `helper.doWork` is a function"),
        "{pending}"
    );
    session.go_on().await;
    let bound = function(&session, "helper.doWork").await;
    assert_eq!(bound["verified"], true, "{bound}");
    assert_eq!(
        (&bound["boundFile"], &bound["boundLine"]),
        (&json!(helper.path()), &json!(helper.line("header")))
    );
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (helper.path(), helper.line("entry")));
    assert_eq!(listed(&session).await["lastStop"]["reason"], "function breakpoint");
    session.ok("remove_breakpoint", json!({ "function": "helper.doWork" })).await;
    session.finish_at_end().await;
}
