//! `set_variable`.

use serde_json::json;
use test_support::{Language, PerLanguage, each};

use super::stopped;
use crate::debugging::Debugging;

each![
    a_local_variable_is_set_and_the_program_uses_it,
    globals_items_entries_and_attributes_are_set_in_place,
    an_undefined_name_is_refused,
    an_expression_that_is_not_assignable_is_refused,
    a_value_that_throws_leaves_the_variable_unchanged,
];

async fn a_local_variable_is_set_and_the_program_uses_it(language: Language) {
    let session = stopped(language).await;
    let value = PerLanguage {
        name: "assignments: value",
        python: "'set' + 'up'",
        node: "'set' + 'up'",
        c: "\"set\" \"up\"",
    }
    .of(language);
    let set = session.ok("set_variable", json!({ "name": "local", "value": value })).await;
    assert_eq!(
        (&set["name"], language.plain(set.text_of("value")), &set["type"]),
        (&json!("local"), language.text("setup").as_str(), &json!(language.words().string))
    );
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    let written = PerLanguage {
        name: "assignments: local",
        python: "('inner', 1)\nsetup 3 5 1 1 1 1\n",
        node: "[ 'inner', 1 ]\nsetup 3 5 1 1 1 1\n",
        c: "inner 1\nsetup 3 5 1 1 1\n",
    };
    assert_eq!(session.written("stdout").await, written.of(language));
    session.finish().await;
}

/// The innermost scope that has a variable of that name.
async fn scope_with(session: &Debugging, name: &str) -> u64 {
    let stack = session.ok("get_stack_trace", json!({})).await;
    let scopes = session.ok("get_scopes", json!({ "frameId": stack.at("/stackFrames/0/id") })).await;
    for scope in scopes["scopes"].as_array().unwrap() {
        let reference = &scope["variablesReference"];
        let arguments = json!({ "scope": reference, "names": [name] });
        if session.ok("get_variables", arguments).await["count"] == 1 {
            return reference.as_u64().unwrap();
        }
    }
    panic!("no scope has `{name}`: {}", scopes.text);
}

async fn globals_items_entries_and_attributes_are_set_in_place(language: Language) {
    let session = stopped(language).await;
    let module = scope_with(&session, "RATE").await;
    let (fifth, key) = (
        language.index(5),
        PerLanguage { name: "assignments: key", python: "'a'", node: "a", c: "a" }.of(language),
    );
    let left =
        PerLanguage { name: "assignments: left", python: "left", node: "left", c: "left" }.of(language);
    let five =
        PerLanguage { name: "assignments: five", python: "'five'", node: "'five'", c: "55" }.of(language);
    let table = [
        (module, "RATE", "RATE + 1"),
        (session.reference("numbers").await, fifth.as_str(), five),
        (session.reference("table").await, key, "11"),
        (session.reference("point").await, "x", "numbers[0] - 1"),
        (session.reference("slotted").await, left, language.words().none),
    ];
    for (scope, name, value) in table {
        session.ok("set_variable", json!({ "scope": scope, "name": name, "value": value })).await;
    }
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    let written = PerLanguage {
        name: "assignments: written",
        python: "('inner', 1)\nmain 4 five 11 -1 None 1\n",
        node: "[ 'inner', 1 ]\nmain 4 five 11 -1 null 1\n",
        c: "inner 1\nmain 4 55 11 -1 0\n",
    };
    assert_eq!(session.written("stdout").await, written.of(language));
    session.finish().await;
}

async fn an_undefined_name_is_refused(language: Language) {
    let session = stopped(language).await;
    let failed = session.fails("refused", "set_variable", json!({ "name": "locla", "value": "1" })).await;
    let expected = if language.is_compiled() {
        "no assignable variable `locla` here"
    } else {
        "no variable `locla` here"
    };
    assert!(failed.text_of("error").starts_with(expected), "{}", failed.text);
    let failed = session.fails("refused", "set_variable", json!({ "name": "locla[0]", "value": "1" })).await;
    let hint = "; if that is a part of `locla`, assign to it with evaluate_expression";
    assert!(failed.text_of("message").contains(hint), "{}", failed.text);
    let (numbers, point) = (session.reference("numbers").await, session.reference("point").await);
    let end = language.index(100_000);
    let arguments = json!({ "scope": numbers, "name": end, "value": "1" });
    let failed = session.fails("refused", "set_variable", arguments).await;
    let no = |name: &str, holder: &str| {
        if language.is_compiled() {
            format!("no assignable variable `{name}` here")
        } else {
            format!("no `{name}` in this {holder}")
        }
    };
    assert_eq!(failed["error"], no(&end, language.words().list));
    let arguments = json!({ "scope": point, "name": "z", "value": "1" });
    let failed = session.fails("refused", "set_variable", arguments).await;
    assert_eq!(failed["error"], no("z", "Point"));
    let is_there = PerLanguage {
        name: "assignments: is there",
        python: "hasattr(point, 'z') or 'locla' in locals()",
        node: "'z' in point || numbers.length > 100_000 || typeof locla !== 'undefined'",
        c: "sizeof(point) > 2 * sizeof(int)",
    };
    assert_eq!(session.evaluate(is_there.of(language)).await, language.words().no);
    session.finish().await;
}

async fn an_expression_that_is_not_assignable_is_refused(language: Language) {
    let session = stopped(language).await;
    // Its container and its name there, and the error.
    let table: &[(Option<&str>, &str, &str, &str)] = PerLanguage {
        name: "assignments: refused",
        python: &[
            (Some("names"), "0", "refused", "a set cannot be assigned to"),
            (Some("lazy"), "expensive", "evaluation_failed", "AttributeError: "),
        ][..],
        node: &[
            (Some("names"), "0", "refused", "an item of a Set cannot be assigned"),
            (Some("lazy"), "expensive", "refused", "`expensive` of this Lazy is read-only"),
        ],
        c: &[
            (
                None,
                "numbers",
                "evaluation_failed",
                "array type 'int[100000]' is not assignable; assign to its items",
            ),
            (
                Some("nested"),
                "outer",
                "evaluation_failed",
                "array type 'point[2]' is not assignable; assign to its items",
            ),
        ],
    }
    .of(language);
    for (holder, name, code, message) in table {
        let mut arguments = json!({ "name": name, "value": "1" });
        if let Some(holder) = holder {
            arguments["scope"] = json!(session.reference(holder).await);
        }
        let failed = session.fails(code, "set_variable", arguments).await;
        assert!(failed.text_of("message").starts_with(message), "{}", failed.text);
    }
    session.finish().await;
}

async fn a_value_that_throws_leaves_the_variable_unchanged(language: Language) {
    let session = stopped(language).await;
    let value = PerLanguage {
        name: "assignments: throws",
        python: "1 / 0",
        node: "1n / 0n",
        c: "(const char *)missing",
    }
    .of(language);
    let arguments = json!({ "name": "local", "value": value });
    let failed = session.fails("evaluation_failed", "set_variable", arguments).await;
    let error = PerLanguage {
        name: "assignments: error",
        python: "ZeroDivisionError: division by zero",
        node: "RangeError: Division by zero",
        c: "use of undeclared identifier 'missing'",
    };
    assert_eq!(failed["message"], error.of(language));
    assert_eq!(language.plain(&session.evaluate("local").await), language.text("main"));
    session.finish().await;
}
