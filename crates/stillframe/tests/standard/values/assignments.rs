//! `set_variable`.

use serde_json::json;
use test_support::{Language, both};

use super::stopped;
use crate::debugging::Debugging;

both![
    a_local_variable_is_set_and_the_program_uses_it,
    globals_items_entries_and_attributes_are_set_in_what_holds_them,
    a_name_that_is_not_there_is_refused,
    what_cannot_be_assigned_to_is_refused,
    a_value_that_throws_leaves_the_variable_as_it_was,
];

async fn a_local_variable_is_set_and_the_program_uses_it(language: Language) {
    let session = stopped(language).await;
    let set = session.ok("set_variable", json!({ "name": "local", "value": "'set' + 'up'" })).await;
    assert_eq!(
        (&set["name"], &set["value"], &set["type"]),
        (&json!("local"), &json!("'setup'"), &json!(language.words().string))
    );
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    let inner = language.pick("('inner', 1)", "[ 'inner', 1 ]");
    assert_eq!(session.written("stdout").await, format!("{inner}\nsetup 3 5 1 1 1 1\n"));
    session.finish().await;
}

/// The innermost scope that has a variable of that name.
async fn scope_with(session: &Debugging, name: &str) -> u64 {
    let stack = session.ok("get_stack_trace", json!({})).await;
    let scopes = session.ok("get_scopes", json!({ "frameId": stack.at("/stackFrames/0/id") })).await;
    for scope in scopes["scopes"].as_array().unwrap() {
        let reference = &scope["variablesReference"];
        let asked = json!({ "scope": reference, "names": [name] });
        if session.ok("get_variables", asked).await["count"] == 1 {
            return reference.as_u64().unwrap();
        }
    }
    panic!("no scope has `{name}`: {}", scopes.text);
}

async fn globals_items_entries_and_attributes_are_set_in_what_holds_them(language: Language) {
    let session = stopped(language).await;
    let module = scope_with(&session, "RATE").await;
    let table = [
        (module, "RATE", "RATE + 1"),
        (session.reference("numbers").await, "5", "'five'"),
        (session.reference("table").await, language.pick("'a'", "a"), "11"),
        (session.reference("point").await, "x", "numbers[0] - 1"),
        (session.reference("slotted").await, "left", language.words().none),
    ];
    for (scope, name, value) in table {
        session.ok("set_variable", json!({ "scope": scope, "name": name, "value": value })).await;
    }
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    let written = language
        .pick("('inner', 1)\nmain 4 five 11 -1 None 1\n", "[ 'inner', 1 ]\nmain 4 five 11 -1 null 1\n");
    assert_eq!(session.written("stdout").await, written);
    session.finish().await;
}

async fn a_name_that_is_not_there_is_refused(language: Language) {
    let session = stopped(language).await;
    let failed = session.fails("refused", "set_variable", json!({ "name": "locla", "value": "1" })).await;
    assert_eq!(failed["error"], "there is no variable `locla` here");
    let (numbers, point) = (session.reference("numbers").await, session.reference("point").await);
    let asked = json!({ "scope": numbers, "name": "100000", "value": "1" });
    let failed = session.fails("refused", "set_variable", asked).await;
    assert_eq!(failed["error"], format!("there is no `100000` in this {}", language.words().list));
    let asked = json!({ "scope": point, "name": "z", "value": "1" });
    let failed = session.fails("refused", "set_variable", asked).await;
    assert_eq!(failed["error"], "there is no `z` in this Point");
    let is_there = language.pick(
        "hasattr(point, 'z') or 'locla' in locals()",
        "'z' in point || numbers.length > 100_000 || typeof locla !== 'undefined'",
    );
    assert_eq!(session.evaluate(is_there).await, language.words().no);
    session.finish().await;
}

async fn what_cannot_be_assigned_to_is_refused(language: Language) {
    let session = stopped(language).await;
    let set = session.reference("names").await;
    let failed =
        session.fails("refused", "set_variable", json!({ "scope": set, "name": "0", "value": "1" })).await;
    assert_eq!(
        failed["error"],
        language.pick("a set cannot be assigned to", "an item of a Set cannot be assigned to")
    );
    let lazy = session.reference("lazy").await;
    let asked = json!({ "scope": lazy, "name": "expensive", "value": "1" });
    let failed = session.fails(language.pick("evaluation_failed", "refused"), "set_variable", asked).await;
    let error = language.pick("AttributeError: ", "`expensive` of this Lazy is read-only");
    assert!(failed.text_of("message").starts_with(error), "{}", failed.text);
    session.finish().await;
}

async fn a_value_that_throws_leaves_the_variable_as_it_was(language: Language) {
    let session = stopped(language).await;
    let (value, error) = language
        .pick(("1 / 0", "ZeroDivisionError: division by zero"), ("1n / 0n", "RangeError: Division by zero"));
    let asked = json!({ "name": "local", "value": value });
    let failed = session.fails("evaluation_failed", "set_variable", asked).await;
    assert_eq!(failed["message"], error);
    assert_eq!(session.evaluate("local").await, "'main'");
    session.finish().await;
}
