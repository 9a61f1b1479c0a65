//! Expressions: where they are evaluated, what they answer, and what becomes of those that go wrong.

use serde_json::{Value, json};
use test_support::Fixture;

use super::stopped;
use crate::debugging::Debugging;

#[tokio::test]
async fn an_expression_is_evaluated_in_the_chosen_frame() {
    let (session, _) = Debugging::stopped_at(&Fixture::python("values"), "inner").await;
    assert_eq!(session.evaluate("local").await, "'inner'");
    let stack = session.ok("get_stack_trace", json!({})).await;
    let asked = json!({ "expression": "local", "frameId": stack.at("/stackFrames/1/id") });
    assert_eq!(session.ok("evaluate_expression", asked).await["result"], "'main'");
    session.finish().await;
}

#[tokio::test]
async fn statements_are_run_and_what_they_assign_stays() {
    let session = stopped().await;
    session.evaluate("local = 'changed'").await;
    session.evaluate("table['a'] = 7").await;
    session.evaluate("numbers[5] += 100").await;
    session.evaluate("global RATE; RATE = 9").await;
    assert_eq!(session.evaluate("[local, table['a'], numbers[5], RATE]").await, "['changed', 7, 105, 9]");
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    assert_eq!(session.written("stdout").await, "('inner', 1)\nchanged 9 105 7 1 1 1\n");
    session.finish().await;
}

#[tokio::test]
async fn comprehensions_and_lambdas_see_local_names() {
    let session = stopped().await;
    let expression = "[x + point.x for x in numbers[:3] if (lambda: x < len(local))()]";
    assert_eq!(session.evaluate(expression).await, "[1, 2, 3]");
    session.finish().await;
}

#[tokio::test]
async fn an_expression_that_throws_is_an_error_in_pythons_words_and_changes_nothing() {
    let session = stopped().await;
    let table = [
        ("1 / 0", "ZeroDivisionError: division by zero", "ZeroDivisionError"),
        ("table['x']", "KeyError: 'x'", "KeyError"),
        ("numbers.missing", "AttributeError: 'list' object has no attribute 'missing'", "AttributeError"),
        ("exit(3)", "SystemExit: 3", "SystemExit"),
        ("(", "SyntaxError: '(' was never closed", "SyntaxError"),
    ];
    for (expression, message, kind) in table {
        let asked = json!({ "expression": expression });
        let failed = session.fails("evaluation_failed", "evaluate_expression", asked).await;
        assert_eq!(failed["message"], message, "{expression}");
        assert_eq!(failed.at("/context/type"), kind, "{expression}");
        assert!(failed.text_of("error").contains(message), "{}", failed.text);
    }
    assert_eq!(session.evaluate("local").await, "'main'");
    session.finish().await;
}

#[tokio::test]
async fn an_endless_expression_is_cut_at_its_deadline_and_the_program_lives_on() {
    let session = stopped().await;
    for expression in ["[None for _ in iter(int, 1)]", "__import__('time').sleep(1000)"] {
        let asked = json!({ "expression": expression, "timeout": 500 });
        let failed = session.fails("deadline_exceeded", "evaluate_expression", asked).await;
        assert_eq!(failed["error"], "the expression did not end within 500 ms");
        assert_eq!(session.evaluate("local").await, "'main'", "after {expression}");
    }
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    session.finish().await;
}

#[tokio::test]
async fn a_string_of_ten_megabytes_is_cut_with_its_length_and_the_rest_can_be_had() {
    let session = stopped().await;
    session.evaluate("long = 'start' + 'x' * 10_000_000 + 'end'").await;
    let cut = session.ok("evaluate_expression", json!({ "expression": "long" })).await;
    assert_eq!((&cut["truncated"], &cut["length"]), (&json!(true), &json!(10_000_008)));
    assert_eq!(cut.text_of("result"), format!("'start{}'...", "x".repeat(995)));
    let more = session.ok("evaluate_expression", json!({ "expression": "long", "maxLength": 3000 })).await;
    assert_eq!(more.text_of("result"), format!("'start{}'...", "x".repeat(2995)));
    let rest = session.ok("evaluate_expression", json!({ "expression": "long[-5:]" })).await;
    assert_eq!((&rest["result"], &rest["truncated"]), (&json!("'xxend'"), &Value::Null));
    session.finish().await;
}

#[tokio::test]
async fn a_long_list_is_cut_and_tells_how_many_items_it_has() {
    let session = stopped().await;
    let cut = session.ok("evaluate_expression", json!({ "expression": "numbers", "maxLength": 20 })).await;
    assert_eq!((&cut["truncated"], &cut["children"]), (&json!(true), &json!(100_000)));
    assert!(cut.text_of("result").starts_with("[0, 1, 2, "), "{}", cut.text);
    assert!(cut.text_of("result").ends_with("...]"), "{}", cut.text);
    assert!(cut.text_of("result").len() < 60, "{}", cut.text);
    session.finish().await;
}

#[tokio::test]
async fn unusual_values_are_shown_as_python_shows_them() {
    let session = stopped().await;
    let table = [
        ("cycle", "[1, [...]]", "list"),
        ("surrogate", "'a\\ud800b'", "str"),
        ("{surrogate: 1}", "{'a\\ud800b': 1}", "dict"),
        ("b'\\x00\\xff'", "b'\\x00\\xff'", "bytes"),
        ("10 ** 20", "100000000000000000000", "int"),
        ("float('nan')", "nan", "float"),
        ("-float('inf')", "-inf", "float"),
        ("None", "None", "NoneType"),
        ("...", "Ellipsis", "ellipsis"),
        ("''", "''", "str"),
        ("'日本\\n語'", "'日本\\n語'", "str"),
        ("(1,)", "(1,)", "tuple"),
        ("set()", "set()", "set"),
        ("Point", "<class '__main__.Point'>", "type"),
        ("point", "Point(x=1, y=2)", "Point"),
    ];
    for (expression, result, kind) in table {
        let value = session.ok("evaluate_expression", json!({ "expression": expression })).await;
        assert_eq!((&value["result"], &value["type"]), (&json!(result), &json!(kind)), "{expression}");
    }
    session.finish().await;
}

#[tokio::test]
async fn an_integer_of_thousands_of_digits_is_described_and_can_still_be_worked_with() {
    let session = stopped().await;
    assert_eq!(session.evaluate("10 ** 5000").await, "<int of 16610 bits>");
    assert_eq!(session.evaluate("10 ** 5000 % 7").await, "2");
    session.finish().await;
}

#[tokio::test]
async fn an_empty_expression_is_refused() {
    let session = stopped().await;
    let failed =
        session.fails("invalid_arguments", "evaluate_expression", json!({ "expression": "  " })).await;
    assert_eq!(failed["error"], "`expression` is empty");
    session.finish().await;
}
