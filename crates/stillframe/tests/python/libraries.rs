//! Breakpoints in code that is not the user's.

use serde_json::json;
use test_support::{Fixture, Server};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};

/// Where the program's interpreter keeps a module of the standard library.
async fn file_of(server: &Server, session: &str, module: &str) -> String {
    let expression = format!("__import__('{module}').__file__");
    let value =
        server.ok("evaluate_expression", json!({ "sessionId": session, "expression": expression })).await;
    value.text_of("result").trim_matches('\'').to_owned()
}

/// debugpy 1.8.22 sets such a breakpoint and never stops there while only the user's code is debugged.
#[tokio::test]
async fn a_breakpoint_in_a_library_stops_despite_just_my_code() {
    let server = STILLFRAME.serve().await;
    let program = Fixture::python("library");
    let arguments = json!({ "program": program.path(), "until": [{ "line": program.line("shorten") }] });
    let stopped = server.ok("run_until", arguments).await;
    let session = stopped.text_of("sessionId");

    let library = file_of(&server, session, "textwrap").await;
    let target_location = json!({ "sessionId": session, "file": library, "function": "shorten" });
    let breakpoint = server.ok("set_breakpoint", target_location).await;
    assert_eq!(breakpoint["verified"], true, "{}", breakpoint.text);

    let stopped = server.ok("continue_execution", json!({ "sessionId": session })).await;
    assert_eq!(stopped.at("/location/function"), "shorten", "{}", stopped.text);
    assert_eq!(stopped.at("/location/file"), &json!(library));
    assert_eq!(stopped.variable("text"), "'to be or not to be'");
    let frames = stopped["stackFrames"].as_array().unwrap();
    let names: Vec<&str> = frames.iter().filter_map(|frame| frame["name"].as_str()).collect();
    assert_eq!(names, ["shorten", "main", "<module>"]);

    // The same file is stepped into from now on, and other libraries are not.
    let out = server.ok("step_out", json!({ "sessionId": session })).await;
    assert_eq!(out.at("/location/line"), program.line("shorten"), "{}", out.text);
    let next = server.ok("step_over", json!({ "sessionId": session })).await;
    assert_eq!(next.at("/location/line"), program.line("indent"), "{}", next.text);
    let into = server.ok("step_into", json!({ "sessionId": session })).await;
    assert_eq!(into.at("/location/function"), "indent", "{}", into.text);
    server.finish().await;
}

/// pydevd names a setting of VS Code in the output then.
#[tokio::test]
async fn a_step_past_library_code_writes_nothing() {
    let program = Fixture::python("library");
    let (session, _) = Debugging::stopped_at(&program, "shorten").await;
    let next = session.step("step_into").await;
    assert_eq!(next.place(), (program.path(), program.line("indent")), "{}", next.text);
    assert_eq!(session.written("console").await, "");
    session.finish().await;
}

/// pydevd leaves `-m` there; programs name themselves by it in their messages.
#[tokio::test]
async fn a_modules_argv_0_is_its_own_file() {
    let server = STILLFRAME.serve().await;
    let folder = tempfile::tempdir().unwrap();
    let module = Fixture::write(folder.path(), "told.py", "import sys\n\nprint(sys.argv)  # @argv\n");
    let arguments = json!({ "module": "told", "args": ["one"], "cwd": folder.path(), "language": "python" });
    let ended = server.ok("run_until", arguments).await;
    let here = std::fs::canonicalize(module.path()).unwrap();
    assert_eq!(ended.text_of("output"), format!("['{}', 'one']\n", here.display()));
    server.finish().await;
}
