//! Values that are too large to show whole.

use serde_json::{Value, json};

use crate::debugging::{Debugging, Report};
use crate::script::Script;

/// Ten megabytes of text and a million of everything, among the locals of the function that stops.
const LARGE: &str = r#"
function main() {
  const text = "start" + "x".repeat(10_000_000) + "end";
  const list = Array.from({ length: 1_000_000 }, (_, index) => index);
  const bytes = new Uint8Array(1_000_000).fill(7);
  const table = new Map(list.map((number) => [number, -number]));
  const crowd = new Set(list);
  const object = Object.fromEntries(list.map((number) => ["k" + number, number]));
  return [text, list, bytes, table, crowd, object]; // @here
}

main();
"#;

#[tokio::test]
async fn large_values_are_truncated_and_paged() {
    let script = Script::new(LARGE);
    let (session, report) = script.stopped_at("here").await;
    assert!(report.text.len() < 100_000, "a report has an end: {} bytes", report.text.len());
    a_text_is_truncated_with_its_length(&session).await;
    a_result_is_truncated(&session).await;
    a_million_items_are_paged(&session).await;
    let stepped = session.ok("step_out", json!({ "limits": { "value": 50 } })).await;
    assert!(["step", "ended"].contains(&stepped.outcome()), "{}", stepped.text);
    assert!(stepped.text.len() < 100_000, "{} bytes", stepped.text.len());
    session.finish().await;
}

async fn a_text_is_truncated_with_its_length(session: &Debugging) {
    let locals = session.ok("get_local_variables", json!({ "maxLength": 20 })).await;
    assert_eq!(locals.variable("text"), format!("'start{}'...", "x".repeat(15)));
    let text = locals["variables"].as_array().unwrap().iter().find(|variable| variable["name"] == "text");
    assert_eq!(text.unwrap()["length"], 10_000_008);
    assert_eq!(session.evaluate("text.slice(-5)").await, "'xxend'");
}

async fn a_result_is_truncated(session: &Debugging) {
    let cut = session.ok("evaluate_expression", json!({ "expression": "text + text" })).await;
    assert_eq!((&cut["truncated"], &cut["length"]), (&json!(true), &json!(20_000_016)));
    assert!(cut.text.len() < 10_000, "{} bytes", cut.text.len());
    let json = session.ok("evaluate_expression", json!({ "expression": "JSON.stringify(list)" })).await;
    assert_eq!((&json["truncated"], &json["variablesReference"]), (&json!(true), &json!(0)));
    let short = session.ok("evaluate_expression", json!({ "expression": "text.length" })).await;
    assert_eq!((&short["result"], &short["truncated"]), (&json!("10000008"), &Value::Null));
}

async fn a_million_items_are_paged(session: &Debugging) {
    for (expression, name, value) in [
        ("list", "999999", "999999"),
        ("bytes", "999999", "7"),
        ("crowd", "999999", "999999"),
        ("table", "999999", "999999 => -999999"),
        ("object", "k999999", "999999"),
    ] {
        let whole = session.ok("evaluate_expression", json!({ "expression": expression })).await;
        assert_eq!(
            (&whole["truncated"], &whole["children"]),
            (&json!(true), &json!(1_000_000)),
            "{expression}"
        );
        let arguments = json!({ "scope": whole["variablesReference"], "start": 999_998, "count": 2 });
        let page = session.ok("get_variables", arguments).await;
        assert_eq!(page["count"], 2, "{expression}: {}", page.text);
        assert_eq!(page.variable(name), value, "{expression}");
    }
}
