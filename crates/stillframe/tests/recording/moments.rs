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

#[tokio::test]
async fn the_newest_write_has_room_in_a_small_budget() {
    let program = Fixture::python("recording_shop");
    let client = Client::new("python3").await;
    client.record(&program, &[]).await;
    let writes = client.ask("find_writes", json!({ "target": "cart.items", "budget": 100 })).await;
    has(
        &writes,
        &["`cart.items` is ", "written, newest first:\nevent ", ": `items.remove(item)  # @lost`", "\ncut: "],
    );
    assert!(writes.len() <= 300, "{writes}");
    client.server.finish().await;
}
