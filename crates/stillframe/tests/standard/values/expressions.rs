//! Expressions: where they are evaluated, what they answer, and what becomes of those that go wrong.

use serde_json::{Value, json};
use test_support::{DynamicLanguage, Fixture, Language, PerLanguage, dynamic, each};

use super::stopped;
use crate::debugging::Debugging;

each![
    an_expression_is_evaluated_in_the_selected_frame,
    statements_run_and_their_assignments_persist,
    an_expression_that_throws_is_an_error_in_the_languages_words_and_changes_nothing,
    an_endless_expression_is_interrupted_at_its_deadline_and_the_program_survives,
    a_long_list_is_truncated_with_its_length,
    unusual_values_are_shown_as_the_language_prints_them,
    an_empty_expression_is_refused,
];

dynamic![
    // C expressions cannot contain functions.
    comprehensions_and_lambdas_see_local_names,
    // Of a text of C, LLDB shows no more than the first 1024 characters.
    a_string_of_ten_megabytes_is_truncated_and_the_rest_is_readable,
];

async fn an_expression_is_evaluated_in_the_selected_frame(language: Language) {
    let (session, _) = Debugging::stopped_at(&Fixture::of(language, "values"), "inner").await;
    assert_eq!(language.plain(&session.evaluate("local").await), language.text("inner"));
    let stack = session.ok("get_stack_trace", json!({})).await;
    let arguments = json!({ "expression": "local", "frameId": stack.at("/stackFrames/1/id") });
    let value = session.ok("evaluate_expression", arguments).await;
    assert_eq!(language.plain(value.text_of("result")), language.text("main"));
    session.finish().await;
}

async fn statements_run_and_their_assignments_persist(language: Language) {
    let session = stopped(language).await;
    let statements = PerLanguage {
        name: "expressions: statements",
        python: ["local = 'changed'", "table['a'] = 7", "numbers[5] += 100", "global RATE; RATE = 9"],
        node: ["local = 'changed'", "table['a'] = 7", "numbers[5] += 100", "RATE = 9"],
        c: ["local = \"changed\"", "table.a = 7", "numbers[5] += 100", "RATE = 9"],
    };
    for statement in statements.of(language) {
        session.evaluate(statement).await;
    }
    let values =
        ["local", if language.is_compiled() { "table.a" } else { "table['a']" }, "numbers[5]", "RATE"];
    for (name, value) in values.into_iter().zip([&language.text("changed"), "7", "105", "9"]) {
        assert_eq!(language.plain(&session.evaluate(name).await), value, "{name}");
    }
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    let written = PerLanguage {
        name: "expressions: written",
        python: "('inner', 1)\nchanged 9 105 7 1 1 1\n",
        node: "[ 'inner', 1 ]\nchanged 9 105 7 1 1 1\n",
        c: "inner 1\nchanged 9 105 7 1 1\n",
    };
    assert_eq!(session.written("stdout").await, written.of(language));
    session.finish().await;
}

async fn comprehensions_and_lambdas_see_local_names(language: DynamicLanguage) {
    let session = stopped(language).await;
    let expression = language.pick(
        "[x + point.x for x in numbers[:3] if (lambda: x < len(local))()]",
        "numbers.slice(0, 3).filter((x) => x < local.length).map((x) => x + point.x)",
    );
    assert_eq!(session.evaluate(expression).await, language.shown_list(&["1", "2", "3"]));
    session.finish().await;
}

/// Expressions that throw, with the error and its type.
const THROWN_IN_PYTHON: &[(&str, &str, &str)] = &[
    ("1 / 0", "ZeroDivisionError: division by zero", "ZeroDivisionError"),
    ("table['x']", "KeyError: 'x'", "KeyError"),
    ("numbers.missing", "AttributeError: 'list' object has no attribute 'missing'", "AttributeError"),
    ("exit(3)", "SystemExit: 3", "SystemExit"),
    ("(", "SyntaxError: '(' was never closed", "SyntaxError"),
];
const THROWN_IN_NODE: &[(&str, &str, &str)] = &[
    ("1n / 0n", "RangeError: Division by zero", "RangeError"),
    ("table.x.y", "TypeError: Cannot read properties of undefined (reading 'y')", "TypeError"),
    ("numbers()", "TypeError: numbers is not a function", "TypeError"),
    ("missing", "ReferenceError: missing is not defined", "ReferenceError"),
    ("(", "SyntaxError: Unexpected end of input", "SyntaxError"),
];
/// An error of a compiler has no type.
const THROWN_IN_C: &[(&str, &str, &str)] = &[
    ("missing", "use of undeclared identifier 'missing'", ""),
    ("point.z", "no member named 'z' in 'point'", ""),
    ("strdup(local)", "'strdup' has unknown return type; cast the call to its declared return type", ""),
    ("(", "expected expression", ""),
    (
        "(void)abort()",
        "Execution was interrupted, reason: signal SIGABRT.\nThe process has been returned to the state before \
         expression evaluation.",
        "",
    ),
];

const THROWN: PerLanguage<&[(&str, &str, &str)]> = PerLanguage {
    name: "expressions: thrown",
    python: THROWN_IN_PYTHON,
    node: THROWN_IN_NODE,
    c: THROWN_IN_C,
};

async fn an_expression_that_throws_is_an_error_in_the_languages_words_and_changes_nothing(
    language: Language,
) {
    let session = stopped(language).await;
    for (expression, message, kind) in THROWN.of(language) {
        let arguments = json!({ "expression": expression });
        let failed = session.fails("evaluation_failed", "evaluate_expression", arguments).await;
        assert_eq!(failed["message"], *message, "{expression}");
        assert_eq!(failed.at("/context/type"), kind, "{expression}");
        assert!(failed.text_of("error").contains(message), "{}", failed.text);
    }
    assert_eq!(language.plain(&session.evaluate("local").await), language.text("main"));
    session.finish().await;
}

async fn an_endless_expression_is_interrupted_at_its_deadline_and_the_program_survives(language: Language) {
    let session = stopped(language).await;
    for expression in [language.words().spin, language.words().sleep] {
        let arguments = json!({ "expression": expression, "timeout": 500 });
        let failed = session.fails("deadline_exceeded", "evaluate_expression", arguments).await;
        assert_eq!(failed["error"], "the expression did not end within 500 ms");
        let local = session.evaluate("local").await;
        assert_eq!(language.plain(&local), language.text("main"), "after {expression}");
    }
    session.ok("clear_breakpoints", json!({})).await;
    session.finish_at_end().await;
}

async fn a_string_of_ten_megabytes_is_truncated_and_the_rest_is_readable(language: DynamicLanguage) {
    let session = stopped(language).await;
    session
        .evaluate(language.pick(
            "long = 'start' + 'x' * 10_000_000 + 'end'",
            "globalThis.long = 'start' + 'x'.repeat(10_000_000) + 'end'",
        ))
        .await;
    let cut = session.ok("evaluate_expression", json!({ "expression": "long" })).await;
    assert_eq!((&cut["truncated"], &cut["length"]), (&json!(true), &json!(10_000_008)));
    assert_eq!(cut.text_of("result"), format!("'start{}'...", "x".repeat(995)));
    let more = session.ok("evaluate_expression", json!({ "expression": "long", "maxLength": 3000 })).await;
    assert_eq!(more.text_of("result"), format!("'start{}'...", "x".repeat(2995)));
    let rest = json!({ "expression": language.pick("long[-5:]", "long.slice(-5)") });
    let rest = session.ok("evaluate_expression", rest).await;
    assert_eq!((&rest["result"], &rest["truncated"]), (&json!("'xxend'"), &Value::Null));
    session.finish().await;
}

async fn a_long_list_is_truncated_with_its_length(language: Language) {
    let session = stopped(language).await;
    let cut = session.ok("evaluate_expression", json!({ "expression": "numbers", "maxLength": 20 })).await;
    assert_eq!(cut["truncated"], true);
    let (start, end) = PerLanguage {
        name: "expressions: long list",
        python: ("[0, 1, 2, ", "...]"),
        node: ("[ 0, 1, 2, ", " ]"),
        c: ("{0, 1, 2, ", "..."),
    }
    .of(language);
    assert_eq!(&cut["children"], &json!(100_000), "{}", cut.text);
    assert!(cut.text_of("result").starts_with(start), "{}", cut.text);
    assert!(cut.text_of("result").ends_with(end), "{}", cut.text);
    assert!(cut.text_of("result").len() < 60, "{}", cut.text);
    session.finish().await;
}

/// Expressions, with what they are shown as and their types.
const SHOWN_BY_PYTHON: &[(&str, &str, &str)] = &[
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
const SHOWN_BY_NODE: &[(&str, &str, &str)] = &[
    ("cycle", "<ref *1> [ 1, [Circular *1] ]", "Array"),
    ("surrogate", "'a\\ud800b'", "string"),
    ("({ [surrogate]: 1 })", "{ 'a\\ud800b': 1 }", "Object"),
    ("new Uint8Array([0, 255])", "Uint8Array(2) [ 0, 255 ]", "Uint8Array"),
    ("10n ** 20n", "100000000000000000000n", "bigint"),
    ("NaN", "NaN", "number"),
    ("-Infinity", "-Infinity", "number"),
    ("-0", "-0", "number"),
    ("null", "null", "null"),
    ("undefined", "undefined", "undefined"),
    ("''", "''", "string"),
    ("'日本\\n語'", "'日本\\n語'", "string"),
    ("[1]", "[ 1 ]", "Array"),
    ("new Set()", "Set(0) {}", "Set"),
    ("Point", "[class Point]", "class"),
    ("point", "Point { x: 1, y: 2 }", "Point"),
];
const SHOWN_BY_LLDB: &[(&str, &str, &str)] = &[
    ("colour", "GREEN", "colour"),
    ("yes", "true", "bool"),
    ("byte", "'\\xc8'", "unsigned char"),
    ("local[0]", "'m'", "const char"),
    ("tenth", "0.10000000000000001", "double"),
    ("1.5f", "1.5", "float"),
    ("4000000000u", "4000000000", "unsigned int"),
    ("unicode", "\"日本\\n語\"", "const char *"),
    ("cycle.next == &cycle", "true", "bool"),
    ("(void *)0", "0x0000000000000000", "void *"),
    ("nested.deep.inner", "{5, 6}", "int[2]"),
    ("point", "{x = 1, y = 2}", "point"),
];
const SHOWN: PerLanguage<&[(&str, &str, &str)]> = PerLanguage {
    name: "expressions: shown",
    python: SHOWN_BY_PYTHON,
    node: SHOWN_BY_NODE,
    c: SHOWN_BY_LLDB,
};

async fn unusual_values_are_shown_as_the_language_prints_them(language: Language) {
    let session = stopped(language).await;
    for (expression, result, kind) in SHOWN.of(language) {
        let value = session.ok("evaluate_expression", json!({ "expression": expression })).await;
        let shown = language.plain(value.text_of("result"));
        assert_eq!((shown, &value["type"]), (*result, &json!(kind)), "{expression}");
    }
    session.finish().await;
}

#[tokio::test]
async fn an_integer_of_thousands_of_digits_is_described_and_usable() {
    let session = stopped(Language::Python).await;
    assert_eq!(session.evaluate("10 ** 5000").await, "<int of 16610 bits>");
    assert_eq!(session.evaluate("10 ** 5000 % 7").await, "2");
    session.finish().await;
}

async fn an_empty_expression_is_refused(language: Language) {
    let session = stopped(language).await;
    let failed =
        session.fails("invalid_arguments", "evaluate_expression", json!({ "expression": "  " })).await;
    assert_eq!(failed["error"], "`expression` is empty");
    session.finish().await;
}
