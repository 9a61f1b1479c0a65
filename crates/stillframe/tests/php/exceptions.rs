//! Which exceptions are uncaught, and errors of the compiler in expressions.

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::{Debugging, Report, folder};

const PROGRAM: &str = "\
<?php
function twice($number) { return 2 * $number; }
$number = 5;
try {
    throw new LogicException('first');
} catch (LogicException $error) { throw new RuntimeException('second'); // @second
}
";

/// An error of the compiler ends a PHP program, whoever evaluates.
const IMPOSSIBLE: [&str; 8] = [
    "break",
    "function twice($number) {}",
    "$this = 3",
    "twice(1) = 3",
    "[1, , 2]",
    "isset($number + 1)",
    "enum Suit { case A; case A; }",
    "new class extends Exception { abstract function f(); }",
];

#[tokio::test]
async fn an_exception_of_a_catch_on_the_line_of_the_brace_is_uncaught_and_no_expression_ends_the_program() {
    let folder = folder();
    let program = Fixture::write(folder.path(), "main.php", PROGRAM);
    let session = Debugging::of(Language::Php).await;
    session.ok("set_exception_breakpoints", json!({ "mode": "uncaught" })).await;
    let refused =
        json!({ "file": program.path(), "line": program.line("second"), "condition": "twice(1) = 3" });
    let refused = session.call("set_breakpoint", refused).await;
    assert!(refused.text.contains("return value"), "{}", refused.text);
    let stopped = session.ok("start_debugging", json!({ "scriptPath": program.path() })).await;
    assert_eq!(stopped.place(), (program.path(), program.line("second")), "{}", stopped.text);
    for expression in IMPOSSIBLE {
        let failed = session.call("evaluate_expression", json!({ "expression": expression })).await;
        assert_eq!(failed["success"], false, "{expression}: {}", failed.text);
        assert_eq!(session.evaluate("twice($number)").await, "10", "after {expression}: {}", failed.text);
    }
    session
        .ok("evaluate_expression", json!({ "expression": "function thrice($n) { return 3 * $n; }" }))
        .await;
    assert_eq!(session.evaluate("array_map(fn ($n) => thrice($n), [1, $number])").await, "[3, 15]");
    session.finish().await;
}
