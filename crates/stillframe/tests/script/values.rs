//! What values look like.

use serde_json::{Value, json};

use crate::{MAIN, Scripting};

async fn result(scripting: &Scripting, expression: &str) -> Value {
    let result = scripting.ask("node main.js", expression, json!({ "maxHits": 1 })).await;
    result["structuredContent"]["results"][0].clone()
}

#[tokio::test]
async fn values_are_json_where_it_can_say_them() {
    let scripting = Scripting::with_files(&[("main.js", MAIN)]).await;
    let table = [
        ("square", "number", json!(1)),
        ("square / 2", "number", json!(0.5)),
        ("'a' + number", "string", json!("a1")),
        ("number === 1", "boolean", json!(true)),
        ("null", "object", json!(null)),
        ("[number, [square]]", "object", json!([1, [1]])),
        ("({ a: { b: [null, 'c'] } })", "object", json!({ "a": { "b": [null, "c"] } })),
        ("new (class Point { x = 1 })()", "object", json!({ "x": 1 })),
        (
            "'it\\'s \"~\\\\\" \\u2028 \u{e9} \u{1f600}'",
            "string",
            json!("it's \"~\\\" \u{2028} \u{e9} \u{1f600}"),
        ),
        // And else the text that it has everywhere.
        ("undefined", "undefined", json!(null)),
        ("NaN", "number", json!("NaN")),
        ("-1 / 0", "number", json!("-Infinity")),
        ("12n", "bigint", json!("12n")),
        ("new Map([[1, 2]])", "object", json!("Map(1) { 1 => 2 }")),
        ("Symbol('s')", "symbol", json!("Symbol(s)")),
        ("(() => { const o = {}; o.o = o; return o })()", "object", json!("<ref *1> { o: [Circular *1] }")),
        // One that throws has an entry too.
        ("square.nope.x", "error", json!("TypeError: Cannot read properties of undefined (reading 'x')")),
        ("nope", "error", json!("ReferenceError: nope is not defined")),
    ];
    for (expression, type_name, value) in table {
        assert_eq!(
            result(&scripting, expression).await,
            json!({ "type": type_name, "value": value }),
            "{expression}"
        );
    }
    scripting.finish().await;
}

#[tokio::test]
async fn a_value_is_that_of_the_moment() {
    let text = "const all = [];\nfor (const i of [1, 2]) {\n  all.push(i);\n  all.length; // @here\n}\nall.length = 0;\n";
    let scripting = Scripting::with_files(&[("main.js", text)]).await;
    assert_eq!(scripting.values("node main.js", "all", json!({})).await, [json!([1]), json!([1, 2])]);
    scripting.finish().await;
}

#[tokio::test]
async fn a_long_text_comes_whole_and_a_huge_one_is_marked() {
    let scripting = Scripting::with_files(&[("main.js", MAIN)]).await;
    assert_eq!(result(&scripting, "'x'.repeat(50000)").await["value"].as_str().unwrap().len(), 50_000);
    let huge = result(&scripting, "'x'.repeat(5000000)").await;
    assert_eq!((&huge["type"], &huge["truncated"]), (&json!("string"), &json!(true)));
    assert!(huge["value"].as_str().unwrap().len() < 110_000);
    scripting.finish().await;
}
