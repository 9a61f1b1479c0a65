//! The specification's own requests and answers.

use serde_json::json;

use crate::{EXITED, MAIN, Scripting};

#[tokio::test]
async fn the_tool_is_listed_with_its_four_parameters() {
    let scripting = Scripting::new().await;
    let list = scripting.server.request("tools/list", json!({})).await.unwrap();
    let tools = list["tools"].as_array().unwrap();
    assert_eq!((tools.len(), &tools[0]["name"]), (1, &json!("debug-script")));
    let schema = &tools[0]["inputSchema"];
    assert_eq!(schema["required"], json!(["command", "breakpoint", "expression", "timeout"]));
    assert_eq!(schema["properties"]["breakpoint"]["required"], json!(["file", "line"]));
    scripting.finish().await;
}

#[tokio::test]
async fn a_success_matches_the_specification() {
    let text = "\
let myLocalVariable;
for (const value of [{ name: 'John', age: 30 }, 'done']) {
  myLocalVariable = value;
  console.log(myLocalVariable); // @here
}
";
    let scripting = Scripting::with_files(&[("dist/test.js", text)]).await;
    let line = scripting.line("dist/test.js", "here");
    let result = scripting
        .call(json!({
            "command": "node --inspect-brk=9229 ./dist/test.js",
            "breakpoint": { "file": "dist/test.js", "line": line },
            "expression": "myLocalVariable",
            "timeout": 30000
        }))
        .await;
    let expected = "{\"content\":[],\"structuredContent\":{\"results\":[{\"type\":\"object\",\"value\":\
        {\"name\":\"John\",\"age\":30}},{\"type\":\"string\",\"value\":\"done\"}]}}";
    assert_eq!(result.to_string(), expected);
    scripting.finish().await;
}

#[tokio::test]
async fn a_timeout_matches_the_specification() {
    let scripting = Scripting::with_files(&[(
        "wait.js",
        "setInterval(() => {\n  Date.now() < 0 &&\n    fail(); // @here\n}, 5);\n",
    )])
    .await;
    let result = scripting
        .ask("node wait.js", "1", json!({ "timeout": 700, "breakpoint": { "file": "wait.js", "line": 0 } }))
        .await;
    let text = "Timeout waiting for breakpoint after 700ms";
    assert_eq!(result["content"], json!([{ "type": "text", "text": text }]));
    assert_eq!((&result["structuredContent"]["error"], &result["isError"]), (&json!(text), &json!(true)));
    scripting.finish().await;
}

/// V8 makes no code of a function that nothing refers to, and has another place for the line.
#[tokio::test]
async fn a_line_that_never_runs_is_not_reached() {
    let unused = "console.log(1);\nfunction unused(a) {\n  const b = a; // @here\n  return b;\n}\n";
    let scripting = Scripting::with_files(&[("main.js", unused)]).await;
    let result = scripting.ask("node main.js", "b", json!({})).await;
    assert_eq!(result["content"], json!([{ "type": "text", "text": EXITED }]));
    assert_eq!(result["structuredContent"]["results"], json!(null), "{result}");
    scripting.finish().await;
}

#[tokio::test]
async fn an_exit_matches_the_specification() {
    let scripting = Scripting::with_files(&[
        ("main.js", MAIN),
        ("other.js", "console.log('elsewhere');\nprocess.exit(3);\n"),
    ])
    .await;
    let result = scripting.ask("node --inspect-brk other.js", "1", json!({})).await;
    assert_eq!(result["content"], json!([{ "type": "text", "text": EXITED }]));
    let data = &result["structuredContent"];
    assert_eq!(
        (&data["error"], &result["isError"], &data["results"]),
        (&json!(EXITED), &json!(true), &json!(null))
    );
    // And why: the file was not part of the run.
    assert_eq!((&data["exitCode"], &data["output"]), (&json!(3), &json!("elsewhere\n")));
    assert!(data["notes"][0].as_str().unwrap().contains("was not reached"), "{data}");
    scripting.finish().await;
}

#[tokio::test]
async fn a_timeout_keeps_the_recorded_values() {
    let text = "let i = 0;\nsetInterval(() => {\n  if (i < 2) {\n    i += 1; // @here\n  }\n}, 5);\n";
    let scripting = Scripting::with_files(&[("main.js", text)]).await;
    let result = scripting.ask("node main.js", "i", json!({ "timeout": 1000 })).await;
    let data = &result["structuredContent"];
    assert_eq!(data["results"], json!([{ "type": "number", "value": 0 }, { "type": "number", "value": 1 }]));
    let text = "Timeout waiting for breakpoint after 1000ms";
    assert_eq!(
        (&data["error"], &result["content"][0]["text"], &result["isError"]),
        (&json!(text), &json!(text), &json!(true))
    );
    scripting.finish().await;
}

#[tokio::test]
async fn the_program_runs_to_its_own_end() {
    let text =
        "console.log(1); // @here\nsetTimeout(() => require('node:fs').writeFileSync('done', ''), 300);\n";
    let scripting = Scripting::with_files(&[("main.js", text)]).await;
    assert_eq!(scripting.values("node --inspect-brk=9229 main.js", "2 + 2", json!({})).await, [4]);
    assert!(scripting.folder().join("done").exists());
    scripting.finish().await;
}
