//! What counts as a pass of a line, and as a function that is there.

use serde_json::{Value, json};
use test_support::{Fixture, Server};

use crate::STILLFRAME;

/// Runs to the end, and returns how often the breakpoint with this message logged.
async fn passes(server: &Server, program: &Fixture, line: &str) -> usize {
    let created = server.ok("create_debug_session", json!({ "language": "python" })).await;
    let session = created.text_of("sessionId");
    let location = json!({
        "sessionId": session, "file": program.path(), "line": program.line(line), "logMessage": "passed",
    });
    server.ok("set_breakpoint", location).await;
    let ended =
        server.ok("start_debugging", json!({ "sessionId": session, "scriptPath": program.path() })).await;
    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    ended.text_of("output").matches("passed").count()
}

/// Python reports the first line of a call with arguments on separate lines twice: before the
/// arguments and after them. pydevd stops at both.
#[tokio::test]
async fn a_multiline_statement_is_hit_once() {
    let server = STILLFRAME.serve().await;
    let program = Fixture::python("passes");
    assert_eq!(passes(&server, &program, "call").await, 3);
    assert_eq!(passes(&server, &program, "body").await, 4);
    server.finish().await;
}

/// What is inside the literal comes first, and its own first line only then.
#[tokio::test]
async fn the_first_line_of_a_literal_is_hit_once() {
    let server = STILLFRAME.serve().await;
    let program = Fixture::python("passes");
    assert_eq!(passes(&server, &program, "literal").await, 1);
    server.finish().await;
}

#[tokio::test]
async fn a_loop_header_is_hit_in_each_iteration() {
    let server = STILLFRAME.serve().await;
    let program = Fixture::python("passes");
    // Three times in, and three times round: 1 → 4 → 7, 3 → 6, 5 → 8.
    assert_eq!(passes(&server, &program, "loop").await, 7);
    server.finish().await;
}

/// Stops a program at its first line, with a breakpoint on a function name.
async fn with_function(server: &Server, name: &str) -> (String, Value) {
    let program = Fixture::python("passes");
    let arguments = json!({ "program": program.path(), "until": [{ "line": program.line("call") }] });
    let stopped = server.ok("run_until", arguments).await;
    let session = stopped.text_of("sessionId").to_owned();
    let set = server.ok("set_breakpoint", json!({ "sessionId": session, "function": name })).await;
    (session, set.data)
}

/// pydevd calls every name verified.
#[tokio::test]
async fn a_function_that_is_not_loaded_is_unverified_and_loaded_ones_are_named() {
    let server = STILLFRAME.serve().await;
    let (session, set) = with_function(&server, "ad").await;
    assert_eq!(set["verified"], false);
    assert_eq!(
        set["reason"],
        "the program has not loaded a function `ad` yet; it stops when one is entered; similar functions: \
         `add`, `main`"
    );
    let ended = server.ok("continue_execution", json!({ "sessionId": session })).await;
    assert_eq!(ended["state"], "ended");
    server.finish().await;
}

#[tokio::test]
async fn a_function_that_is_loaded_is_verified_and_stops() {
    let server = STILLFRAME.serve().await;
    let (session, set) = with_function(&server, "add").await;
    assert_eq!(set["verified"], true, "{set}");
    let stopped = server.ok("continue_execution", json!({ "sessionId": session })).await;
    assert_eq!((stopped.at("/location/function"), stopped.variable("numbers")), (&json!("add"), "(0, 1)"));
    assert_eq!(stopped["breakpointIds"], json!([set["breakpointId"]]));
    server.finish().await;
}

#[tokio::test]
async fn a_function_that_is_loaded_later_is_verified_when_its_file_is_loaded() {
    let server = STILLFRAME.serve().await;
    let program = Fixture::python("passes");
    let created = server.ok("create_debug_session", json!({ "language": "python" })).await;
    let session = created.text_of("sessionId");
    let set = server.ok("set_breakpoint", json!({ "sessionId": session, "function": "add" })).await;
    assert_eq!(set["verified"], false, "{}", set.text);
    let started = json!({
        "sessionId": session, "scriptPath": program.path(), "dapLaunchArgs": { "stopOnEntry": true },
    });
    server.ok("start_debugging", started).await;
    let listed = server.ok("list_breakpoints", json!({ "sessionId": session })).await;
    assert_eq!(
        (listed.at("/breakpoints/0/verified"), listed.at("/breakpoints/0/hits")),
        (&json!(true), &json!(0)),
        "{}",
        listed.text
    );
    server.ok("continue_execution", json!({ "sessionId": session })).await;
    let listed = server.ok("list_breakpoints", json!({ "sessionId": session })).await;
    assert_eq!(
        (listed.at("/breakpoints/0/verified"), listed.at("/breakpoints/0/hits")),
        (&json!(true), &json!(1))
    );
    server.finish().await;
}

#[tokio::test]
async fn an_unreached_breakpoint_is_reported() {
    let server = STILLFRAME.serve().await;
    let program = Fixture::python("passes");
    let until =
        json!([{ "line": program.line("body"), "condition": "total > 100" }, { "function": "subtract" }]);
    let ended = server.ok("run_until", json!({ "program": program.path(), "until": until })).await;
    let notes = ended["notes"].as_array().unwrap();
    let line = format!(
        "line {} of {} was not reached with `total > 100` true",
        program.line("body"),
        program.path()
    );
    assert!(notes.contains(&json!(line)), "{}", ended.text);
    let is_about = |note: &Value| note.to_string().contains("no function `subtract` was entered");
    assert!(notes.iter().any(is_about), "{}", ended.text);
    server.finish().await;
}
