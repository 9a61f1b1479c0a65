//! Prompts, and completions of what is filled into them.

use serde_json::{Value, json};
use test_support::{Fixture, Server};

use crate::STILLFRAME;
use crate::scenes::{error_code, output_of, session};

/// The text of a prompt.
async fn text(server: &Server, name: &str, arguments: Value) -> String {
    let params = json!({ "name": name, "arguments": arguments });
    let got = server.request("prompts/get", params).await.unwrap();
    assert_eq!(got["messages"].as_array().map(Vec::len), Some(1));
    assert_eq!(got["messages"][0]["role"], "user");
    got["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn prompts_include_what_is_filled_in() {
    let server = STILLFRAME.serve().await;
    let listed = server.request("prompts/list", json!({})).await.unwrap();
    let names: Vec<&str> =
        listed["prompts"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert_eq!(
        names,
        ["debug", "debug_failing_test", "find_wrong_value", "why_does_it_hang", "explain_crash"]
    );
    for prompt in listed["prompts"].as_array().unwrap() {
        let (name, arguments) = (prompt["name"].as_str().unwrap(), prompt["arguments"].as_array().unwrap());
        assert!(prompt["title"].is_string() && prompt["description"].is_string(), "{prompt}");
        let given = |all: bool| -> Value {
            let given = arguments.iter().filter(|argument| all || argument["required"] == true);
            let given = given.map(|argument| argument["name"].as_str().unwrap());
            Value::Object(given.map(|name| (name.to_owned(), json!(format!("the {name} {{}}")))).collect())
        };
        let (least, most) = (text(&server, name, given(false)).await, text(&server, name, given(true)).await);
        for argument in arguments {
            let value = format!("the {} {{}}", argument["name"].as_str().unwrap());
            assert!(most.contains(&value), "{name}: {value} in {most}");
            assert_eq!(least.contains(&value), argument["required"] == true, "{name}: {value} in {least}");
        }
        assert!(!least.contains("{command}") && !least.contains("  "), "{least}");
        if let Some(required) = arguments.iter().find(|argument| argument["required"] == true) {
            let name = required["name"].as_str().unwrap();
            let mut less = given(true);
            less.as_object_mut().unwrap().remove(name);
            let params = json!({ "name": prompt["name"], "arguments": less });
            assert_eq!(error_code(&server, "prompts/get", params).await, -32602, "without {name}");
        }
    }
    server.finish().await;
}

/// What is offered for an argument.
async fn offered(server: &Server, reference: Value, argument: &str, typed: &str, context: Value) -> Value {
    let params = json!({
        "ref": reference, "argument": { "name": argument, "value": typed }, "context": { "arguments": context },
    });
    server.request("completion/complete", params).await.unwrap()["completion"].clone()
}

#[tokio::test]
async fn arguments_are_completed() {
    let folder = tempfile::tempdir().unwrap();
    let cart = "class Cart:\n    def total(self):\n        pass\n\n\ndef test_total():\n    pass\n";
    std::fs::write(folder.path().join("cart.py"), cart).unwrap();
    std::fs::write(folder.path().join("cart.test.js"), "test('adds up', () => {});\n").unwrap();
    for number in 0..120 {
        std::fs::write(folder.path().join(format!("other{number:03}.py")), "").unwrap();
    }
    let mut options = STILLFRAME.options().await;
    options.cwd = Some(folder.path().to_owned());
    let server = options.start().await;
    let session = session(&server).await;
    let prompt = |name: &str| json!({ "type": "ref/prompt", "name": name });
    let (test, value) = (prompt("debug_failing_test"), prompt("find_wrong_value"));
    let template = json!({ "type": "ref/resource", "uri": output_of("{sessionId}") });
    let table = [
        (&test, "file", "cart", json!({}), json!(["cart.py", "cart.test.js"])),
        (
            &test,
            "file",
            "other00",
            json!({}),
            json!((0..10).map(|n| format!("other{n:03}.py")).collect::<Vec<_>>()),
        ),
        (&test, "test", "", json!({ "file": "cart.py" }), json!(["test_total"])),
        (&test, "test", "a", json!({ "file": "cart.test.js" }), json!(["adds up"])),
        (&test, "test", "", json!({}), json!([])),
        (&test, "test", "", json!({ "file": "missing.py" }), json!([])),
        (&test, "command", "py", json!({}), json!([])),
        (&value, "function", "t", json!({ "file": "cart.py" }), json!(["total", "test_total"])),
        (&prompt("why_does_it_hang"), "session", "", json!({}), json!([session])),
        (&prompt("why_does_it_hang"), "session", "zebra", json!({}), json!([])),
        (&template, "sessionId", "", json!({}), json!([session])),
    ];
    for (reference, argument, typed, context, expected) in table {
        let found = offered(&server, reference.clone(), argument, typed, context).await;
        assert_eq!(found["values"], expected, "{reference} {argument} {typed}: {found}");
        assert_eq!(found["hasMore"], false);
    }
    let all = offered(&server, test, "file", "", json!({})).await;
    assert_eq!((all["values"].as_array().map(Vec::len), &all["total"]), (Some(100), &json!(122)), "{all}");
    assert_eq!(all["hasMore"], true);
    let wrong = [
        json!({ "ref": prompt("no_such_prompt"), "argument": { "name": "file", "value": "" } }),
        json!({ "ref": value, "argument": { "name": "zebra", "value": "" } }),
        json!({ "ref": { "type": "ref/resource", "uri": "debug://zebra" }, "argument": { "name": "x", "value": "" } }),
    ];
    for params in wrong {
        assert_eq!(error_code(&server, "completion/complete", params.clone()).await, -32602, "{params}");
    }
    server.finish().await;
}

#[tokio::test]
async fn files_outside_of_the_roots_are_not_completed() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    Fixture::write(folder.path(), "cart.py", "def total():\n    pass\n");
    let mut options = STILLFRAME.options().await;
    options.cwd = Some(folder.path().to_owned());
    options.args.extend(["--allow-root".to_owned(), elsewhere.path().display().to_string()]);
    let server = options.start().await;
    let prompt = json!({ "type": "ref/prompt", "name": "find_wrong_value" });
    for (argument, context) in [("file", json!({})), ("function", json!({ "file": "cart.py" }))] {
        let found = offered(&server, prompt.clone(), argument, "", context).await;
        assert_eq!(found["values"], json!([]), "{argument}");
    }
    server.finish().await;
}
