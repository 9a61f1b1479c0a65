//! Why a program does not end, in this vocabulary.

use serde_json::{Value, json};
use test_support::{Dynamic, DynamicLanguage as Language, dynamic};

use crate::client::{ADDS, ToolClient};

dynamic![a_loop_is_reported_with_its_location, a_program_that_ends_is_reported_as_completed];

const LOOPS: Dynamic = Dynamic {
    python: "\
count = 0
while True:  # @loop
    count += 1
",
    node: "\
let count = 0;
while (true) { // @loop
  count += 1;
}
",
};

async fn a_loop_is_reported_with_its_location(language: Language) {
    let client = ToolClient::new().await;
    let program = client.write(language, LOOPS);
    let command = language.pick("python3", "node");
    let arguments =
        json!({ "command": command, "args": [program.path()], "timeout": 20_000, "keepSession": true });
    let found = client.ok("detect_hang", arguments).await;
    assert_eq!((&found["hung"], &found["verdict"]), (&json!(true), &json!("busy_loop")), "{}", found.text);
    assert!(found.text_of("location").starts_with(&format!("{}:", program.path())), "{}", found.text);
    assert_eq!(found.at("/stack/0/file"), program.path());
    assert!(!found["evidence"].as_array().unwrap().is_empty(), "{}", found.text);
    assert!(client.value("count").await.as_u64().is_some(), "the session is kept, paused");
    client.ok("stop_session", json!({ "sessionId": found["sessionId"] })).await;
    client.finish().await;
}

async fn a_program_that_ends_is_reported_as_completed(language: Language) {
    let client = ToolClient::new().await;
    let program = client.write(language, ADDS);
    let command = format!("{} {}", language.pick("python3", "node"), program.path());
    let found = client.ok("detect_hang", json!({ "command": command })).await;
    assert_eq!(
        (&found["hung"], &found["completed"], &found["exitCode"]),
        (&json!(false), &json!(true), &json!(0))
    );
    assert_eq!((&found["output"], &found["sessionId"]), (&json!("done 25\n"), &Value::Null));
    client.finish().await;
}
