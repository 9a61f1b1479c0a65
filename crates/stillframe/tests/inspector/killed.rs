//! Programs that are killed from outside while they are paused.

use serde_json::json;
use test_support::{DynamicLanguage as Language, dynamic};

use crate::client::{ADDS, Talk};

dynamic![a_program_killed_while_paused_is_reported_as_ended];

async fn a_program_killed_while_paused_is_reported_as_ended(language: Language) {
    let talk = Talk::new().await;
    let program = talk.write(language, ADDS);
    let started = talk.start(&program).await;
    talk.break_at(&program, "return").await;
    talk.step("continue").await;
    talk.ok("switch_stack_frame", json!({ "frameIndex": 1 })).await;
    talk.kill(&started);
    // What was asked before its connection has closed is lost with it.
    while talk.inspect_killed().await["context"]["cause"] == "connection_lost" {}
    for (tool, arguments) in [
        ("inspect", json!({ "expression": "total" })),
        ("inspect", json!({ "expression": "total", "frameIndex": 0 })),
        ("get_local_variables", json!({})),
        ("get_global_variables", json!({})),
        ("get_stack", json!({})),
        ("switch_stack_frame", json!({ "frameIndex": 1 })),
    ] {
        let failed = talk.fails("NOT_PAUSED", tool, arguments).await;
        assert_eq!(failed.at("/context/state"), "ended", "{tool}: {}", failed.text);
        assert!(failed.text_of("message").contains("the program has ended"), "{tool}: {}", failed.text);
    }
    let ended = talk.step("continue").await;
    assert_eq!(ended["message"], "The program was killed by SIGKILL");
    talk.finish().await;
}
