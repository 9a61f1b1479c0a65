//! Expressions that are watched over stops.

use serde_json::{Value, json};
use test_support::{DynamicLanguage as Language, dynamic};

use crate::client::{ADDS, ToolClient};

dynamic![
    a_change_is_reported_with_old_and_new_value,
    an_undefined_name_is_neither_error_nor_change,
    a_watch_is_removed_by_its_id,
];

async fn watch(client: &ToolClient, expression: &str) -> Value {
    client.ok("add_watch", json!({ "expression": expression })).await["watchId"].clone()
}

async fn a_change_is_reported_with_old_and_new_value(language: Language) {
    let (client, _) = ToolClient::stopped_at(language, ADDS, "return").await;
    let added = client.ok("add_watch", json!({ "expression": "number * 10" })).await;
    assert_eq!(
        (&added["value"], &added["inScope"], &added["changed"]),
        (&json!(0), &json!(true), &json!(false))
    );
    let id = &added["watchId"];
    for number in 1..3 {
        let stopped = client.step("continue").await;
        let (old, new) = (json!((number - 1) * 10), json!(number * 10));
        let change =
            json!([{ "watchId": id, "expression": "number * 10", "oldValue": old, "newValue": new }]);
        assert_eq!(stopped["watches"], change);
        let watches = client.step("get_watches").await;
        let watch = watches.at("/watches/0");
        assert_eq!((&watch["value"], &watch["type"]), (&new, &json!(language.words().number)));
        assert_eq!((&watch["changed"], &watch["oldValue"], &watch["newValue"]), (&json!(true), &old, &new));
    }
    client.finish().await;
}

async fn an_undefined_name_is_neither_error_nor_change(language: Language) {
    let (client, program) = ToolClient::stopped_at(language, ADDS, "call").await;
    watch(&client, "number").await;
    let outside = client.step("get_watches").await;
    let shown = |answer: &test_support::Answer| {
        let watch = answer.at("/watches/0");
        ["inScope", "value", "changed", "error"].map(|field| watch[field].clone())
    };
    assert_eq!(shown(&outside), [json!(false), Value::Null, json!(false), Value::Null]);
    client.break_at(&program, "return").await;
    let inside = client.step("continue").await;
    // A string may say so too.
    assert_eq!(
        (inside.at("/watches/0/oldValue"), inside.at("/watches/0/oldInScope")),
        (&Value::Null, &json!(false))
    );
    assert_eq!(inside.at("/watches/0/newValue"), 0);
    let outside = client.step("continue").await;
    assert_eq!(
        (outside.at("/location/line"), &outside["watches"]),
        (&json!(program.line("call")), &Value::Null)
    );
    let inside = client.step("continue").await;
    assert_eq!((inside.at("/watches/0/oldValue"), inside.at("/watches/0/newValue")), (&json!(0), &json!(1)));
    client.finish().await;
}

async fn a_watch_is_removed_by_its_id(language: Language) {
    let (client, program) = ToolClient::started(language, ADDS).await;
    let (one, two) = (watch(&client, "total").await, watch(&client, "turn").await);
    let removed = client.ok("remove_watch", json!({ "watchId": one })).await;
    assert_eq!((&removed["expression"], &removed["removed"]), (&json!("total"), &json!(true)));
    let missing = client.fails("WATCH_NOT_FOUND", "remove_watch", json!({ "watchId": one })).await;
    assert_eq!(missing.at("/context/watches"), &json!([two]));
    let bad = client.fails("ADD_WATCH_FAILED", "add_watch", json!({ "expression": "1 +" })).await;
    assert_eq!(bad.at("/context/cause"), "bad_expression");
    client.break_at(&program, "last").await;
    client.step("continue").await;
    let watches = client.step("get_watches").await;
    assert_eq!(watches["watches"].as_array().unwrap().len(), 1);
    client.finish().await;
}
