//! Values as Go writes them, and calls that are asked for.

use serde_json::json;
use test_support::{Fixture, Language};

use crate::debugging::Debugging;

#[tokio::test]
async fn errors_interfaces_and_pointers_are_formatted_as_in_go() {
    let (session, _) = Debugging::stopped_at(&Fixture::of(Language::Go, "values"), "main").await;
    for (expression, shown) in [
        (
            "wrapped",
            "&fmt.wrapError{msg: \"cannot save: disk full\", err: &errors.errorString{s: \"disk full\"}}",
        ),
        ("*pointers[0]", "main.Point{x: 1, y: 2}"),
        ("table[\"b\"]", "[]int{10, 20}"),
        ("len(many)", "1000"),
    ] {
        assert_eq!(session.evaluate(expression).await, shown, "{expression}");
    }
    session.finish().await;
}

#[tokio::test]
async fn functions_are_called_only_on_request() {
    let (session, _) = Debugging::stopped_at(&Fixture::of(Language::Go, "values"), "main").await;
    assert_eq!(session.evaluate("call add(1, 2)").await, "3");
    assert_eq!(session.evaluate("call wrapped.Error()").await, "\"cannot save: disk full\"");
    let plain =
        session.fails("evaluation_failed", "evaluate_expression", json!({ "expression": "add(1, 2)" })).await;
    assert!(plain.text_of("error").contains("need an explicit `call`"), "{}", plain.text);
    let pure = json!({ "expression": "call add(1, 2)", "sideEffects": false });
    let refused = session.call("evaluate_expression", pure).await;
    assert!(refused.is_error, "{}", refused.text);
    session.finish().await;
}

#[tokio::test]
async fn a_long_slice_and_a_map_are_paged() {
    let (session, _) = Debugging::stopped_at(&Fixture::of(Language::Go, "values"), "main").await;
    let numbers = session.ok("evaluate_expression", json!({ "expression": "numbers" })).await;
    assert_eq!(numbers["children"], 100_000, "{}", numbers.text);
    let page = json!({ "scope": numbers["variablesReference"], "start": 99_990, "count": 3 });
    let page = session.ok("get_variables", page).await;
    assert_eq!((&page["total"], page.variable("[99990]")), (&json!(100_000), "99990"), "{}", page.text);
    let many = session.ok("evaluate_expression", json!({ "expression": "many" })).await;
    let page = json!({ "scope": many["variablesReference"], "start": 900, "count": 200 });
    let page = session.ok("get_variables", page).await;
    assert!(page["variables"].as_array().unwrap().len() >= 100, "{}", page.text);
    session.finish().await;
}
