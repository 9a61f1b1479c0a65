//! What values look like.

use serde_json::{Value, json};
use test_support::rows_to_try;

use crate::{MAIN, Scripting};

async fn result(scripting: &Scripting, expression: &str) -> Value {
    let result = scripting.ask("node main.js", expression, json!({ "maxHits": 1 })).await;
    result["structuredContent"]["results"][0].clone()
}

#[tokio::test]
async fn values_are_json_if_json_can_represent_them() {
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
    for (expression, type_name, value) in rows_to_try(table, 2) {
        assert_eq!(
            result(&scripting, expression).await,
            json!({ "type": type_name, "value": value }),
            "{expression}"
        );
    }
    scripting.finish().await;
}

#[tokio::test]
async fn a_value_is_captured_at_the_hit() {
    let text = "const all = [];\nfor (const i of [1, 2]) {\n  all.push(i);\n  all.length; // @here\n}\nall.length = 0;\n";
    let scripting = Scripting::with_files(&[("main.js", text)]).await;
    assert_eq!(scripting.values("node main.js", "all", json!({})).await, [json!([1]), json!([1, 2])]);
    scripting.finish().await;
}

#[tokio::test]
async fn a_long_string_is_whole_and_a_huge_one_marked() {
    let scripting = Scripting::with_files(&[("main.js", MAIN)]).await;
    assert_eq!(result(&scripting, "'x'.repeat(50000)").await["value"].as_str().unwrap().len(), 50_000);
    let huge = result(&scripting, "'x'.repeat(5000000)").await;
    assert_eq!((&huge["type"], &huge["truncated"]), (&json!("string"), &json!(true)));
    assert!(huge["value"].as_str().unwrap().len() < 110_000);
    scripting.finish().await;
}

#[tokio::test]
async fn stopping_at_each_hit_gives_the_same_values() {
    let text = "class Thing:\n    def __repr__(self):\n        return 'a thing'\n\n\nfor i in range(2):\n    print(i)  # @here\n";
    let files = [("main.js", MAIN), ("app.py", text)];
    let writing = Scripting::with_files(&files).await;
    let stopping = Scripting::with_environment(&files, &[("STILLFRAME_TRACE", "stop")]).await;
    let javascript = [
        "({ number, text: 'it\\'s ~ \\\\ \u{e9}', list: [null, true, 1.5], none: undefined })",
        "[new Date(0), -0, new Set([1]), { m: new Map() }]",
        "[NaN, number]",
        "undefined",
        "() => 1",
        "'x'.repeat(200000)",
        "nope",
    ];
    let python = [
        "{'i': i, 'text': 'it\\'s ~ \\\\ \u{e9} \\x7f', 'list': [None, True, 1.5, (1, 2)]}",
        "Thing()",
        "{1: 2}",
        "float('nan')",
        "[10 ** 25]",
        "'x' * 200000",
        "nope",
    ];
    let app = json!({ "breakpoint": { "file": "app.py", "line": 0 } });
    let arguments = javascript.iter().map(|expression| ("node main.js", expression, json!({})));
    let all = arguments.chain(python.iter().map(|it| ("python3 app.py", it, app.clone())));
    for (command, expression, more) in rows_to_try(all, 3) {
        let written = writing.ask(command, expression, more.clone()).await;
        assert!(written["structuredContent"]["results"][1].is_object(), "{written}");
        assert_eq!(stopping.ask(command, expression, more).await, written, "{expression}");
    }
    writing.finish().await;
    stopping.finish().await;
}
