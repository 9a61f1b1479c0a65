//! The stack, and the selected frame.

use std::path::Path;

use serde_json::{Value, json};
use test_support::{DynamicLanguage as Language, dynamic};

use crate::client::{ADDS, ToolClient, named};

dynamic![every_frame_of_a_file_has_an_absolute_path, the_selected_frame_is_the_one_that_is_read,];

async fn every_frame_of_a_file_has_an_absolute_path(language: Language) {
    let (client, program) = ToolClient::stopped_at(language, ADDS, "return").await;
    let stack = client.step("get_stack").await;
    let location = |frame: &Value| (frame["index"].clone(), frame["function"].clone(), frame["line"].clone());
    let frames: Vec<_> = stack["stack"].as_array().unwrap().iter().map(location).collect();
    let expected = [(0, "add", "return"), (1, "<module>", "call")];
    assert_eq!(frames, expected.map(|(at, name, line)| (json!(at), json!(name), json!(program.line(line)))));
    let all = client.ok("get_stack", json!({ "includeInternals": true })).await;
    for frame in all["stack"].as_array().unwrap() {
        let file = frame["file"].as_str().unwrap();
        assert!(Path::new(file).is_absolute() || frame["internal"] == true, "{frame}");
    }
    client.finish().await;
}

async fn the_selected_frame_is_the_one_that_is_read(language: Language) {
    let (client, program) = ToolClient::stopped_at(language, ADDS, "return").await;
    let switched = client.ok("switch_stack_frame", json!({ "frameIndex": 1 })).await;
    assert_eq!((&switched["frameIndex"], switched.at("/frame/function")), (&json!(1), &json!("<module>")));
    assert_eq!(client.value("turn").await, 0);
    let locals = client.step("get_local_variables").await;
    assert_eq!(locals.at("/frame/index"), 1);
    assert_eq!(named(&locals["variables"], "turn")["value"], 0);
    client.fails("INSPECT_FAILED", "inspect", json!({ "expression": "number" })).await;
    let top = client.ok("inspect", json!({ "expression": "number", "frameIndex": 0 })).await;
    assert_eq!(top["value"], 0, "a frame that is named goes before");
    client.step("continue").await;
    assert_eq!(client.value("number").await, 1, "the program has run, and the innermost frame is read again");
    assert_eq!(client.step("get_local_variables").await.at("/frame/line"), program.line("return"));
    let past = client.fails("SWITCH_FRAME_FAILED", "switch_stack_frame", json!({ "frameIndex": 7 })).await;
    assert!(past.text_of("message").contains("valid frames are 0 to 1"), "{}", past.text);
    client.finish().await;
}
