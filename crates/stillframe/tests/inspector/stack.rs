//! The stack, and the selected frame.

use std::path::Path;

use serde_json::{Value, json};
use test_support::{DynamicLanguage as Language, dynamic};

use crate::client::{ADDS, Talk, named};

dynamic![every_frame_of_a_file_has_an_absolute_path, the_selected_frame_is_the_one_that_is_read,];

async fn every_frame_of_a_file_has_an_absolute_path(language: Language) {
    let (talk, program) = Talk::stopped_at(language, ADDS, "return").await;
    let stack = talk.step("get_stack").await;
    let place = |frame: &Value| (frame["index"].clone(), frame["function"].clone(), frame["line"].clone());
    let frames: Vec<_> = stack["stack"].as_array().unwrap().iter().map(place).collect();
    let expected = [(0, "add", "return"), (1, "<module>", "call")];
    assert_eq!(frames, expected.map(|(at, name, line)| (json!(at), json!(name), json!(program.line(line)))));
    let all = talk.ok("get_stack", json!({ "includeInternals": true })).await;
    for frame in all["stack"].as_array().unwrap() {
        let file = frame["file"].as_str().unwrap();
        assert!(Path::new(file).is_absolute() || frame["internal"] == true, "{frame}");
    }
    talk.finish().await;
}

async fn the_selected_frame_is_the_one_that_is_read(language: Language) {
    let (talk, program) = Talk::stopped_at(language, ADDS, "return").await;
    let switched = talk.ok("switch_stack_frame", json!({ "frameIndex": 1 })).await;
    assert_eq!((&switched["frameIndex"], switched.at("/frame/function")), (&json!(1), &json!("<module>")));
    assert_eq!(talk.value("turn").await, 0);
    let locals = talk.step("get_local_variables").await;
    assert_eq!(locals.at("/frame/index"), 1);
    assert_eq!(named(&locals["variables"], "turn")["value"], 0);
    talk.fails("INSPECT_FAILED", "inspect", json!({ "expression": "number" })).await;
    let top = talk.ok("inspect", json!({ "expression": "number", "frameIndex": 0 })).await;
    assert_eq!(top["value"], 0, "a frame that is named goes before");
    talk.step("continue").await;
    assert_eq!(talk.value("number").await, 1, "the program has run, and the innermost frame is read again");
    assert_eq!(talk.step("get_local_variables").await.at("/frame/line"), program.line("return"));
    let past = talk.fails("SWITCH_FRAME_FAILED", "switch_stack_frame", json!({ "frameIndex": 7 })).await;
    assert!(past.text_of("message").contains("valid frames are 0 to 1"), "{}", past.text);
    talk.finish().await;
}
