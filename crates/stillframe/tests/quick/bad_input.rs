//! Arguments that make no sense, and programs that do not start.

use serde_json::json;
use test_support::{Dynamic, DynamicLanguage as Language, Fixture, dynamic};

use crate::client::{ADDS, ToolClient, folder, scene};

dynamic![
    a_program_that_does_not_compile_is_an_error,
    a_failing_expression_is_an_error_in_the_languages_words,
];

async fn a_program_that_does_not_compile_is_an_error(language: Language) {
    const BROKEN: Dynamic = Dynamic { python: "def f(:\n", node: "function f( {\n" };
    let (_folder, program, client) = scene(language, BROKEN).await;
    for (tool, arguments) in [
        ("debug_launch", json!({ "program": program.path() })),
        ("debug_probe", json!({ "program": program.path(), "line": 1 })),
    ] {
        let failed = client.fails(tool, arguments).await;
        assert!(failed.starts_with("Error: ") && failed.contains("SyntaxError"), "{tool}: {failed}");
    }
    assert_eq!(client.step("debug_stop").await, "Debug session ended.");
    client.server.finish().await;
}

async fn a_failing_expression_is_an_error_in_the_languages_words(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    client.stopped_at(&program, "add").await;
    let table = language.pick(
        [
            ("nope", "NameError: name 'nope' is not defined"),
            ("1 +", "SyntaxError: invalid syntax"),
            ("1 / 0", "ZeroDivisionError: division by zero"),
        ],
        [
            ("nope", "ReferenceError: nope is not defined"),
            ("1 +", "SyntaxError: Unexpected end of input"),
            ("null.x", "TypeError: Cannot read properties of null (reading 'x')"),
        ],
    );
    for (expression, error) in table {
        let failed = client.fails("debug_evaluate", json!({ "expression": expression })).await;
        assert_eq!(failed, format!("Error: {error}"));
    }
    let empty = client.fails("debug_evaluate", json!({ "expression": " " })).await;
    assert_eq!(empty, "Error: `expression` is empty");
    let slow = json!({ "expression": language.words().spin, "timeout": 100 });
    let late = client.fails("debug_evaluate", slow).await;
    assert!(late.contains("did not end within 100 ms"), "{late}");
    client.server.finish().await;
}

#[tokio::test]
async fn errors_name_the_argument() {
    let folder = folder();
    let program = Fixture::write(folder.path(), "app.py", "x = 1\n");
    let client = ToolClient::within(folder.path()).await;
    let table = [
        ("debug_launch", json!({}), "`program` is missing; give the path of a script"),
        ("debug_launch", json!({ "program": "a.py", "timeout": -1 }), "`timeout` must not be negative"),
        (
            "debug_launch",
            json!({ "path": "a.py" }),
            "`program` is missing; give the path of a script\nwarning: ignored unknown argument `path`",
        ),
        ("debug_breakpoint", json!({ "file": "a.py" }), "`line` is missing; expected a whole number"),
        ("debug_evaluate", json!({}), "`expression` is missing; expected a string"),
        ("debug_probe", json!({ "program": "a.py" }), "`line` is missing; expected a whole number"),
        (
            "debug_launch",
            json!({ "program": program.path(), "executable_path": "/no/python" }),
            "no Python interpreter `/no/python`; give the path of one as `executable_path`, or leave it out to use \
             the default",
        ),
    ];
    for (tool, arguments, problem) in table {
        assert_eq!(client.fails(tool, arguments).await, format!("Error: {problem}"), "{tool}");
    }
    client.server.finish().await;
}
