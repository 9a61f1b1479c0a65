//! Programs that are killed from outside while they are paused.

use serde_json::json;
use test_support::{DynamicLanguage as Language, dynamic};

use crate::client::{ADDS, ToolClient};

dynamic![a_program_killed_while_paused_is_reported_as_ended];

async fn a_program_killed_while_paused_is_reported_as_ended(language: Language) {
    let client = ToolClient::new().await;
    let program = client.write(language, ADDS);
    let started = client.start(&program).await;
    client.break_at(&program, "return").await;
    client.step("continue").await;
    client.ok("switch_stack_frame", json!({ "frameIndex": 1 })).await;
    client.kill(&started);
    // What was asked before its connection has closed is lost with it.
    while client.inspect_killed().await["context"]["cause"] == "connection_lost" {}
    for (tool, arguments) in [
        ("inspect", json!({ "expression": "total" })),
        ("inspect", json!({ "expression": "total", "frameIndex": 0 })),
        ("get_local_variables", json!({})),
        ("get_global_variables", json!({})),
        ("get_stack", json!({})),
        ("switch_stack_frame", json!({ "frameIndex": 1 })),
    ] {
        let failed = client.fails("NOT_PAUSED", tool, arguments).await;
        assert_eq!(failed.at("/context/state"), "ended", "{tool}: {}", failed.text);
        assert!(failed.text_of("message").contains("the program has ended"), "{tool}: {}", failed.text);
    }
    let ended = client.step("continue").await;
    assert_eq!(ended["message"], "The program was killed by SIGKILL");
    client.finish().await;
}
