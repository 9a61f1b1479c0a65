//! Questions about names that several calls have, and about what is recorded only as part of something else.

use serde_json::json;
use test_support::Fixture;

use crate::recorder::{Client, at, has, pythons};

#[tokio::test]
async fn variables_of_two_calls_of_a_function_are_compared() {
    let program = Fixture::python("recording_moments");
    for python in pythons() {
        let client = Client::new(&python).await;
        client.record(&program, &[]).await;
        let line = at(&program, "halved");
        let moments = json!({ "from": format!("{line}#1"), "to": format!("{line}#2") });
        let changes = client.ask("compare_moments", moments).await;
        has(&changes, &["step (another call):\n  n: 4 → 6\n  half: 2 → 3\n"]);
        assert!(!changes.contains("half added"), "{changes}");
        client.server.finish().await;
    }
}

#[tokio::test]
async fn control_characters_are_shown_as_python_writes_them() {
    let program = Fixture::python("recording_moments");
    for python in pythons() {
        let client = Client::new(&python).await;
        client.record(&program, &[]).await;
        let state = client.ask("state_at", json!({ "at": at(&program, "returned") })).await;
        has(&state, &[r"mark = '\x01'"]);
        client.server.finish().await;
    }
}
