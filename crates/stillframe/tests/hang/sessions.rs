//! Programs that are there already, and ones that are kept.

use serde_json::json;
use test_support::rows_to_try;

use crate::{STILLFRAME, command, program};

#[tokio::test]
async fn a_hanging_program_can_be_kept_and_inspected() {
    let server = STILLFRAME.serve().await;
    for name in rows_to_try(["many_lines.js", "many_lines.py"], 2) {
        let mut arguments = command(&program(name));
        arguments["leavePaused"] = json!(true);
        let answer = server.ok("diagnose_hang", arguments).await;
        assert_eq!(
            (answer.at("/closed"), answer.at("/state")),
            (&json!(false), &json!("paused")),
            "{answer:?}"
        );
        let session = answer.at("/sessionId").clone();
        let request = json!({ "sessionId": session, "expression": "limit" });
        assert_eq!(server.ok("evaluate_expression", request).await.at("/result"), "100");
        server.ok("close_debug_session", json!({ "sessionId": session })).await;
    }
    server.finish().await;
}

#[tokio::test]
#[ignore = "cargo xtask test --full"]
async fn a_running_session_is_diagnosed_and_continues() {
    let server = STILLFRAME.serve().await;
    for (name, language) in [("nested.js", "javascript"), ("nested.py", "python")] {
        let session = server.ok("create_debug_session", json!({ "language": language })).await;
        let session = session.at("/sessionId").clone();
        let program = program(name);
        let start = json!({ "sessionId": session, "scriptPath": program.path(), "timeout": 0 });
        assert_eq!(server.ok("start_debugging", start).await.at("/state"), "running");
        let arguments = json!({ "sessionId": session, "timeout": 1_500 });
        let answer = server.ok("diagnose_hang", arguments).await;
        assert_eq!(answer.at("/verdict"), "busy_loop", "{answer:?}");
        assert_eq!(answer.at("/loop/startLine"), program.line("held"), "{answer:?}");
        assert_eq!(answer.at("/closed"), false);
        let paused = server.ok("pause_execution", json!({ "sessionId": session })).await;
        assert_eq!(paused.at("/state"), "paused", "it ran on: {paused:?}");
        server.ok("close_debug_session", json!({ "sessionId": session })).await;
    }
    server.finish().await;
}

#[tokio::test]
async fn a_user_breakpoint_precedes_a_verdict() {
    let server = STILLFRAME.serve().await;
    let session = server.ok("create_debug_session", json!({ "language": "javascript" })).await;
    let session = session.at("/sessionId").clone();
    let program = program("many_lines.js");
    let start = json!({ "sessionId": session, "scriptPath": program.path(), "timeout": 0 });
    server.ok("start_debugging", start).await;
    let location = json!({ "sessionId": session, "file": program.path(), "line": program.line("held") + 1 });
    server.ok("set_breakpoint", location).await;
    let answer = server.ok("diagnose_hang", json!({ "sessionId": session })).await;
    assert_eq!((answer.at("/verdict"), answer.at("/reason")), (&json!("stopped"), &json!("breakpoint")));
    server.finish().await;
}
