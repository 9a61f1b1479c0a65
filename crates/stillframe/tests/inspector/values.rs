//! Expressions and variables.

use serde_json::{Value, json};
use test_support::{Dynamic, DynamicLanguage as Language, dynamic};

use crate::client::{ADDS, ToolClient, named};

dynamic![
    values_are_json_if_json_can_represent_them,
    a_failing_expression_does_not_change_the_program,
    local_variables_include_blocks_and_closures,
    global_variables_are_the_modules,
];

const VALUES: Dynamic = Dynamic {
    python: "\
values = [7, 1.5, 'it\\'s', True, None, 2 ** 80, [1, 'a'], {'k': 1}]
print(values)  # @here
",
    node: "\
const values = [7, 1.5, 'it\\'s', true, null, 2n ** 80n, [1, 'a'], { k: 1 }];
console.log(values); // @here
",
};

async fn values_are_json_if_json_can_represent_them(language: Language) {
    let (client, _) = ToolClient::stopped_at(language, VALUES, "here").await;
    let plain = [json!(7), json!(1.5), json!("it's"), json!(true), Value::Null];
    for (place, expected) in plain.into_iter().enumerate() {
        let inspected = client.ok("inspect", json!({ "expression": format!("values[{place}]") })).await;
        assert_eq!(inspected["value"], expected);
        assert!(inspected["type"].is_string() && inspected["objectId"].is_null(), "{}", inspected.text);
    }
    let large = client.value("values[5]").await;
    assert_eq!(large, language.pick("1208925819614629174706176", "1208925819614629174706176n"));
    let list = client.ok("inspect", json!({ "expression": "values[6]" })).await;
    assert_eq!(list["value"], language.pick("[1, 'a']", "[ 1, 'a' ]"));
    assert_eq!(list["type"], language.pick("list", "object"));
    let name = language.pick("type", "className");
    assert_eq!((&list[name], &list["propertyCount"]), (&json!(language.words().list), &json!(2)));
    assert!(list["objectId"].is_string(), "{}", list.text);
    let long = language.pick("'ab' * 1000", "'ab'.repeat(1000)");
    let cut = client.ok("inspect", json!({ "expression": long, "maxLength": 10 })).await;
    assert_eq!((&cut["truncated"], &cut["length"]), (&json!(true), &json!(2000)), "{}", cut.text);
    assert!(cut.text_of("value").starts_with("abab"), "{}", cut.text);
    client.finish().await;
}

async fn a_failing_expression_does_not_change_the_program(language: Language) {
    let (client, _) = ToolClient::stopped_at(language, ADDS, "return").await;
    let failed = client.fails("INSPECT_FAILED", "inspect", json!({ "expression": "missing + 1" })).await;
    assert_eq!(failed.at("/context/type"), language.pick("NameError", "ReferenceError"));
    client.fails("INSPECT_FAILED", "inspect", json!({ "expression": "1 +" })).await;
    client.fails("INVALID_ARGUMENTS", "inspect", json!({ "expression": " " })).await;
    let spin = json!({ "expression": language.words().spin, "timeout": 100 });
    let late = client.fails("INSPECT_FAILED", "inspect", spin).await;
    assert_eq!(late.at("/context/cause"), "deadline_exceeded");
    assert_eq!(client.value("number").await, 0);
    assert_eq!(client.step("step_over").await["state"], "paused");
    client.finish().await;
}

const NESTED: Dynamic = Dynamic {
    python: "\
def outer(base):
    def inner(number):
        for turn in [1]:
            sum_of = base + number + turn
            print(sum_of)  # @here
    inner(2)
outer(40)
",
    node: "\
function outer(base) {
  function inner(number) {
    for (const turn of [1]) {
      const sum_of = base + number + turn;
      console.log(sum_of); // @here
    }
  }
  inner(2);
}
outer(40);
",
};

async fn local_variables_include_blocks_and_closures(language: Language) {
    let (client, _) = ToolClient::stopped_at(language, NESTED, "here").await;
    let locals = client.step("get_local_variables").await;
    for (name, value) in [("number", 2), ("turn", 1), ("sum_of", 43), ("base", 40)] {
        let variable = named(&locals["variables"], name);
        assert_eq!((&variable["value"], &variable["type"]), (&json!(value), &json!(language.words().number)));
    }
    assert_eq!(locals.at("/frame/function"), "inner");
    client.finish().await;
}

async fn global_variables_are_the_modules(language: Language) {
    let (client, _) = ToolClient::stopped_at(language, ADDS, "return").await;
    let globals = client.step("get_global_variables").await;
    let start = named(&globals["variables"], "start");
    assert_eq!((&start["value"], &start["scope"]), (&json!(1), &json!(language.pick("Globals", "Module"))));
    assert!(!globals.text.contains("__stillframe"), "what is ours is not told: {}", globals.text);
    let total = globals["total"].as_u64().unwrap();
    let first = client.ok("get_global_variables", json!({ "count": 1 })).await;
    assert_eq!((&first["total"], &first["nextStart"]), (&json!(total), &json!(1)));
    let rest = client.ok("get_global_variables", json!({ "start": 1 })).await;
    assert_eq!(rest["variables"].as_array().unwrap().len() as u64, total - 1);
    assert_eq!(rest["nextStart"], Value::Null);
    client.finish().await;
}
