//! References that belong to an earlier stop, to something else, or to nothing.

use serde_json::json;
use test_support::{Language, each};

use super::stopped;

each![
    stale_frames_and_references_are_reported_as_such,
    unknown_references_and_those_of_other_kinds_are_reported_as_such,
    references_of_a_program_that_has_ended_are_errors,
];

async fn stale_frames_and_references_are_reported_as_such(language: Language) {
    let session = stopped(language).await;
    let stack = session.ok("get_stack_trace", json!({})).await;
    let frame = stack.at("/stackFrames/0/id");
    let scopes = session.ok("get_scopes", json!({ "frameId": frame })).await;
    let scope = scopes.at("/scopes/0/variablesReference");
    let list = session.reference("numbers").await;
    session.step("step_over").await;

    let calls = [
        ("get_scopes", json!({ "frameId": frame }), "frameId", frame),
        ("get_local_variables", json!({ "frameId": frame }), "frameId", frame),
        ("evaluate_expression", json!({ "expression": "1", "frameId": frame }), "frameId", frame),
        ("get_variables", json!({ "scope": scope }), "variablesReference", scope),
        ("get_variables", json!({ "scope": list }), "variablesReference", &json!(list)),
        (
            "set_variable",
            json!({ "scope": scope, "name": "local", "value": "1" }),
            "variablesReference",
            scope,
        ),
    ];
    for (tool, arguments, what, number) in calls {
        let failed = session.fails("stale_reference", tool, arguments).await;
        let error = format!("{what} {number} belongs to an earlier stop: the program has run since then");
        assert_eq!(failed["error"], error, "{tool}");
        assert!(failed.text_of("message").contains("get_stack_trace"), "{}", failed.text);
        assert_eq!(failed.at("/context/reference"), number);
    }
    session.finish().await;
}

async fn unknown_references_and_those_of_other_kinds_are_reported_as_such(language: Language) {
    let session = stopped(language).await;
    let stack = session.ok("get_stack_trace", json!({})).await;
    let frame = stack.at("/stackFrames/0/id");
    let scopes = session.ok("get_scopes", json!({ "frameId": frame })).await;
    let scope = scopes.at("/scopes/0/variablesReference");
    let calls = [
        ("get_scopes", json!({ "frameId": 999_999 })),
        ("get_variables", json!({ "scope": 999_999 })),
        ("get_variables", json!({ "scope": 0 })),
        ("get_variables", json!({ "scope": frame })),
        ("get_scopes", json!({ "frameId": scope })),
        ("evaluate_expression", json!({ "expression": "1", "frameId": scope })),
    ];
    for (tool, arguments) in calls {
        let failed = session.fails("reference_not_found", tool, arguments.clone()).await;
        assert!(failed.text_of("message").contains("get_stack_trace"), "{tool} {arguments}: {}", failed.text);
    }
    session.finish().await;
}

async fn references_of_a_program_that_has_ended_are_errors(language: Language) {
    let session = stopped(language).await;
    let scope = session.reference("numbers").await;
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    let failed = session.call("get_variables", json!({ "scope": scope })).await;
    assert!(failed.is_error, "{}", failed.text);
    assert!(["not_paused", "stale_reference"].contains(&failed.text_of("code")), "{}", failed.text);
    session.finish().await;
}
