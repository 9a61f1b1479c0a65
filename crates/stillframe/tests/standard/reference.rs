//! The sixteen tools of the tool reference, with its own example.

use serde_json::json;
use test_support::Fixture;

use crate::STILLFRAME;

#[tokio::test]
async fn a_session_through_swap_vars() {
    let server = STILLFRAME.serve().await;
    let program = Fixture::python("swap_vars");
    let created = server.ok("create_debug_session", json!({ "language": "python", "name": "Swap" })).await;
    let session = created.text_of("sessionId");

    let place =
        json!({ "sessionId": session, "file": program.path(), "line": program.line("first_assignment") });
    let breakpoint = server.ok("set_breakpoint", place).await;
    assert_eq!(breakpoint["verified"], false, "nothing runs yet");

    let started = json!({ "sessionId": session, "scriptPath": program.path() });
    let stopped = server.ok("start_debugging", started).await;
    assert_eq!(stopped["state"], "paused");
    assert_eq!(stopped.at("/location/line"), program.line("first_assignment"));
    assert_eq!((stopped.variable("a"), stopped.variable("b")), ("10", "20"));

    let stepped = server.ok("step_over", json!({ "sessionId": session })).await;
    assert_eq!((stopped.variable("a"), stepped.variable("a")), ("10", "20"), "a is lost before b has it");

    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    server.finish().await;
}
