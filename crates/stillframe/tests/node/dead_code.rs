//! Functions that nothing refers to: V8 leaves their code out, and would stop elsewhere.

use serde_json::{Value, json};
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report};
use crate::project::Project;
use crate::script::Script;

const REASON: &str = "V8 has not compiled this line; it skips functions that nothing references";

/// The function is last, so that only the end of the module follows.
const LAST: &str = "\
console.log(1);
function unused(a) {
  const b = a; // @here
  return b;
} // @end
";

/// Statements of the module follow.
const FIRST: &str = "\
function unused(a) {
  const b = a; // @here
  return b; // @end
}
console.log(1);
console.log(2);
";

/// Runs a program with a breakpoint, which it must not stop at.
async fn never_stops(start: Value, source: &Fixture, name: &str) {
    let session = Debugging::of(Language::Node).await;
    session.break_at(source, name).await;
    session.break_with(source, "here", json!({ "logMessage": "was here" })).await;
    let ended = session.ok("start_debugging", start).await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)), "{}", ended.text);
    assert!(!ended.text.contains("was here"), "{}", ended.text);
    assert!(ended["notes"].to_string().contains(REASON), "{}", ended.text);
    let listed = session.breakpoints().await;
    assert!(listed.iter().all(|breakpoint| breakpoint["verified"] == json!(false)), "{listed:?}");
    session.finish().await;
}

#[tokio::test]
async fn a_breakpoint_in_a_function_removed_by_v8_never_stops() {
    for text in [LAST, FIRST] {
        let script = Script::new(text);
        for name in ["here", "end"] {
            never_stops(json!({ "scriptPath": script.path() }), &script.main, name).await;
        }
    }
}

#[tokio::test]
async fn a_breakpoint_in_a_compiled_function_removed_by_v8_never_stops() {
    let project = Project::with(&[]).await;
    let source = project.file("main.ts", &FIRST.replace("(a)", "(a: number)"));
    project.run("esbuild", &["main.ts", "--sourcemap", "--format=cjs", "--outfile=dist/main.js"]).await;
    never_stops(json!({ "scriptPath": project.path("dist/main.js") }), &source, "here").await;
}

#[tokio::test]
async fn nothing_is_recorded_in_a_function_removed_by_v8() {
    let script = Script::new(LAST);
    let session = Debugging::of(Language::Node).await;
    let point = json!({ "line": script.line("here"), "expressions": ["typeof b"] });
    let traced =
        session.server.ok("trace_values", json!({ "program": script.path(), "points": [point] })).await;
    assert_eq!(traced["rows"], json!([]), "{}", traced.text);
    assert!(traced["points"][0]["notes"].to_string().contains(REASON), "{}", traced.text);
    session.finish().await;
}

#[tokio::test]
async fn a_function_removed_by_v8_is_found_by_name_and_never_stops() {
    let script = Script::new(FIRST);
    let session = Debugging::of(Language::Node).await;
    session.ok("set_breakpoint", json!({ "function": "unused" })).await;
    let ended = session.start(&script).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    session.finish().await;
}

/// All of one line is the line's: what is called there is a right place.
#[tokio::test]
async fn a_line_with_a_removed_function_stops_at_its_other_code() {
    let script = Script::new("function unused(a) { return a; } console.log(1); // @here\nconsole.log(2);\n");
    let (session, stopped) = script.stopped_at("here").await;
    assert_eq!(stopped.place(), (script.path(), script.line("here")), "{}", stopped.text);
    session.finish().await;
}

#[tokio::test]
async fn a_blank_line_before_a_function_moves_into_it() {
    let text = "\
console.log(1);
// @blank
function used(a) {
  const b = a; // @first
  return b;
}

console.log(used(2));
";
    let script = Script::new(text);
    let session = Debugging::of(Language::Node).await;
    let set = session.break_at(&script, "blank").await;
    assert_eq!(set["line"], script.line("first"), "{}", set.text);
    let stopped = session.start(&script).await;
    assert_eq!(stopped.place(), (script.path(), script.line("first")), "{}", stopped.text);
    session.finish().await;
}
