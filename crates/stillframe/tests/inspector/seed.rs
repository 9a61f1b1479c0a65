//! The examples of the design that this vocabulary comes from.

use std::path::Path;

use serde_json::json;
use test_support::{DynamicLanguage as Language, Fixture, dynamic};

use crate::client::{ADDS, ToolClient};

dynamic![a_session_begins_paused_and_reports_its_program, a_breakpoint_pauses_the_program];

async fn a_session_begins_paused_and_reports_its_program(language: Language) {
    let client = ToolClient::new().await;
    let program = client.write(language, ADDS);
    let started = client.start(&program).await;
    assert_eq!(started["state"], "paused");
    assert_eq!(started["reason"], "entry");
    assert_eq!(started.at("/location/line"), program.line("entry"));
    assert_eq!(started["language"], language.pick("python", "javascript"));
    let pid = started["pid"].as_u64().expect("a process number");
    assert!(Path::new(&format!("/proc/{pid}")).exists(), "{pid} runs");
    let url = started.text_of("inspectorUrl");
    assert_eq!(url.starts_with("ws://127.0.0.1:"), language == Language::Node, "{url}");
    let stopped = client.ok("stop_session", json!({ "sessionId": started["sessionId"] })).await;
    assert_eq!((&stopped["sessionId"], &stopped["stopped"]), (&started["sessionId"], &json!(true)));
    client.fails("SESSION_NOT_FOUND", "continue", json!({ "sessionId": started["sessionId"] })).await;
    client.finish().await;
}

/// With relative names, as the example has them.
async fn a_breakpoint_pauses_the_program(language: Language) {
    let client = ToolClient::new().await;
    let program = client.write(language, ADDS);
    let file = language.file("app");
    let command = language.pick("python3", "node");
    let session =
        client.ok("start", json!({ "command": command, "args": [file] })).await["sessionId"].clone();
    let target_location = json!({ "sessionId": session, "file": file, "line": program.line("return") });
    let set = client.ok("set_breakpoint", target_location).await;
    assert_eq!((&set["file"], &set["verified"]), (&json!(program.path()), &json!(true)));
    let stopped = client.ok("continue", json!({ "sessionId": session })).await;
    assert_eq!((&stopped["state"], &stopped["reason"]), (&json!("paused"), &json!("breakpoint")));
    assert_eq!(stopped.at("/location/line"), program.line("return"));
    assert_eq!(stopped["breakpointIds"], json!([set["breakpointId"]]));
    let inspected = client.ok("inspect", json!({ "sessionId": session, "expression": "double" })).await;
    assert_eq!((&inspected["expression"], &inspected["value"]), (&json!("double"), &json!(0)));
    assert_eq!(inspected["type"], language.words().number);
    client.finish().await;
}

/// The first line that runs is on the line of a method, which runs later.
#[tokio::test]
async fn the_entry_stop_is_outside_of_functions() {
    let client = ToolClient::new().await;
    let text = "class Car { constructor(n) { this.n = n; } }\nlet cars = 0; // @entry\ncars = new Car(1);\n";
    let program = Fixture::write(client.folder(), "cars.js", text);
    let started = client.start(&program).await;
    assert_eq!(started.at("/location/line"), program.line("entry"));
    let text = "const one = () => 1; let two = one(); // @entry\ntwo += 1;\n";
    let program = Fixture::write(client.folder(), "arrow.js", text);
    let started = client.start(&program).await;
    assert_eq!(started.at("/location/function"), "<module>");
    assert_eq!(started.at("/location/line"), program.line("entry"));
    let arguments = json!({ "sessionId": started["sessionId"], "expression": "typeof one" });
    assert_eq!(client.ok("inspect", arguments).await["value"], "undefined", "nothing has run yet");
    client.finish().await;
}
