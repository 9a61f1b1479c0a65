//! `set_variable`.

use serde_json::json;

use super::stopped;

#[tokio::test]
async fn a_local_variable_is_set_and_the_program_uses_it() {
    let session = stopped().await;
    let set = session.ok("set_variable", json!({ "name": "local", "value": "'set' + 'up'" })).await;
    assert_eq!(
        (&set["name"], &set["value"], &set["type"]),
        (&json!("local"), &json!("'setup'"), &json!("str"))
    );
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    assert_eq!(session.written("stdout").await, "('inner', 1)\nsetup 3 5 1 1 1 1\n");
    session.finish().await;
}

#[tokio::test]
async fn globals_items_entries_and_attributes_are_set_in_what_holds_them() {
    let session = stopped().await;
    let stack = session.ok("get_stack_trace", json!({})).await;
    let scopes = session.ok("get_scopes", json!({ "frameId": stack.at("/stackFrames/0/id") })).await;
    let globals = scopes.at("/scopes/1/variablesReference").as_u64().unwrap();
    let table = [
        (globals, "RATE", "RATE + 1"),
        (session.reference("numbers").await, "5", "'five'"),
        (session.reference("table").await, "'a'", "11"),
        (session.reference("point").await, "x", "numbers[0] - 1"),
        (session.reference("slotted").await, "left", "None"),
    ];
    for (scope, name, value) in table {
        session.ok("set_variable", json!({ "scope": scope, "name": name, "value": value })).await;
    }
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    assert_eq!(session.written("stdout").await, "('inner', 1)\nmain 4 five 11 -1 None 1\n");
    session.finish().await;
}

#[tokio::test]
async fn a_name_that_is_not_there_is_refused() {
    let session = stopped().await;
    let failed = session.fails("refused", "set_variable", json!({ "name": "locla", "value": "1" })).await;
    assert_eq!(failed["error"], "there is no variable `locla` here");
    let (numbers, point) = (session.reference("numbers").await, session.reference("point").await);
    let asked = json!({ "scope": numbers, "name": "100000", "value": "1" });
    let failed = session.fails("refused", "set_variable", asked).await;
    assert_eq!(failed["error"], "there is no `100000` in this list");
    let asked = json!({ "scope": point, "name": "z", "value": "1" });
    let failed = session.fails("refused", "set_variable", asked).await;
    assert_eq!(failed["error"], "there is no `z` in this Point");
    assert_eq!(session.evaluate("hasattr(point, 'z') or 'locla' in locals()").await, "False");
    session.finish().await;
}

#[tokio::test]
async fn what_cannot_be_assigned_to_is_refused() {
    let session = stopped().await;
    let set = session.reference("names").await;
    let failed =
        session.fails("refused", "set_variable", json!({ "scope": set, "name": "0", "value": "1" })).await;
    assert_eq!(failed["error"], "a set cannot be assigned to");
    let lazy = session.reference("lazy").await;
    let asked = json!({ "scope": lazy, "name": "expensive", "value": "1" });
    let failed = session.fails("evaluation_failed", "set_variable", asked).await;
    assert_eq!(failed.at("/context/type"), "AttributeError");
    session.finish().await;
}

#[tokio::test]
async fn a_value_that_throws_leaves_the_variable_as_it_was() {
    let session = stopped().await;
    let asked = json!({ "name": "local", "value": "1 / 0" });
    let failed = session.fails("evaluation_failed", "set_variable", asked).await;
    assert_eq!(failed["message"], "ZeroDivisionError: division by zero");
    assert_eq!(session.evaluate("local").await, "'main'");
    session.finish().await;
}
