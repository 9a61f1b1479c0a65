//! What is said of calls that cannot be.

use serde_json::json;
use test_support::{Fixture, Language, each};

use super::{at, open_sessions, trace};
use crate::STILLFRAME;
use crate::debugging::Debugging;

each![
    impossible_traces_are_refused_before_anything_runs,
    an_unreached_line_is_reported_with_how_the_program_ended,
    a_session_without_a_program_is_refused,
];

async fn impossible_traces_are_refused_before_anything_runs(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let point = at(&program, "deposit", &["amount"]);
    let with = |field: &str, value: serde_json::Value| {
        let mut arguments = json!({ "program": program.path(), "points": [point] });
        arguments[field] = value;
        arguments
    };
    let condition = json!({ "line": program.line("deposit"), "expressions": ["1"], "condition": "amount >" });
    let mut table = vec![
        ("invalid_arguments", "`timeout` must be at least 1, not 0", with("timeout", json!(0))),
        ("invalid_arguments", "`timeout` must not be negative", with("timeout", json!(-5))),
        (
            "limit_reached",
            "`timeout` is 600001: the limit `longest_wait` is 600000",
            with("timeout", json!(600_001)),
        ),
        ("invalid_arguments", "`maxHits` must be at least 1, not 0", with("maxHits", json!(0))),
        ("limit_reached", "`maxHits` is 100001: the limit `rows` is 100000", with("maxHits", json!(100_001))),
        ("invalid_arguments", "`sampleEvery` must be at least 1, not 0", with("sampleEvery", json!(0))),
        (
            "invalid_arguments",
            "`whenFull` must be `\"end\"` or `\"run\"`, not `\"stop\"`",
            with("whenFull", json!("stop")),
        ),
        (
            "invalid_arguments",
            "`points` is empty; give a location and an expression",
            with("points", json!([])),
        ),
        (
            "invalid_arguments",
            "`points[1].expressions` is empty; give an expression to record",
            with("points", json!([point, { "line": 1, "expressions": [] }])),
        ),
        (
            "bad_expression",
            "`amount +` is not a valid expression: SyntaxError",
            with("points", json!([at(&program, "deposit", &["amount", "amount +"])])),
        ),
        (
            "bad_expression",
            "`amount >` is not a valid expression: SyntaxError",
            with("points", json!([condition])),
        ),
        (
            "line_unusable",
            "is past the end of the file",
            with("points", json!([{ "line": 9999, "expressions": ["1"] }])),
        ),
        (
            "file_not_found",
            "no file `",
            with("points", json!([{ "file": language.file("/no/such"), "line": 1, "expressions": ["1"] }])),
        ),
        (
            "file_not_found",
            "no file `",
            json!({ "program": language.file("/no/such"), "points": [{ "file": program.path(), "line": program.line("deposit"), "expressions": ["1"] }] }),
        ),
    ];
    // LLDB reads an expression of C where it is evaluated, and not before.
    table.retain(|(code, ..)| !language.is_compiled() || *code != "bad_expression");
    for (code, message, arguments) in table {
        let failed = server.fails(code, "trace_values", arguments.clone()).await;
        assert!(failed.text_of("message").contains(message), "{arguments}: {}", failed.text);
        assert_eq!(open_sessions(&server).await, 0, "{arguments}");
    }
    server.finish().await;
}

async fn an_unreached_line_is_reported_with_how_the_program_ended(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let traced = trace(&server, language, json!({ "points": [at(&program, "doubled", &["1"])] })).await;
    let note = format!("line {} of {} was not reached", program.line("doubled"), program.path());
    assert_eq!(traced["points"][0]["notes"], json!([note]));
    assert_eq!((&traced["exitCode"], &traced["output"]), (&json!(0), &json!("odd even\n6\n")));
    assert_eq!(traced["message"], "Recorded 0 rows of 0 hits. The program exited with code 0");
    // Only its own breakpoints are reported, once.
    assert_eq!(traced["notes"], json!(null));
    server.finish().await;
}

async fn a_session_without_a_program_is_refused(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let mut point = at(&program, "deposit", &["amount"]);
    point["file"] = json!(program.path());
    session.fails("not_started", "trace_values", json!({ "points": [point] })).await;
    session.finish().await;
}
