//! How much a report holds.

use serde_json::json;

use super::stopped;
use crate::debugging::Report;

#[tokio::test]
async fn limits_are_read_leniently_and_wrong_ones_are_named() {
    let session = stopped().await;
    let stepped = session.ok("step_over", json!({ "limits": { "variables": "3", "source": 0 } })).await;
    assert_eq!(stepped["locals"].as_array().unwrap().len(), 3);
    assert_eq!(stepped.text_of("source").lines().count(), 1);
    let failed = session.fails("invalid_arguments", "step_over", json!({ "limits": { "frame": 3 } })).await;
    assert_eq!(failed["message"], "`limits.frame` is no argument of this tool; did you mean `frames`?");
    let failed = session.fails("invalid_arguments", "step_over", json!({ "limits": { "value": [] } })).await;
    assert_eq!(failed["message"], "`limits.value` takes a whole number, and got `[]`");
    session.finish().await;
}

#[tokio::test]
async fn a_value_has_an_end_whatever_was_asked_for() {
    let session = stopped().await;
    session.evaluate("numbers = 'x' * 300_000").await;
    let stepped =
        session.ok("step_over", json!({ "limits": { "value": 1_000_000, "variables": 100 } })).await;
    assert_eq!(stepped.outcome(), "step");
    assert_eq!(stepped.variable("numbers"), format!("'{}'...", "x".repeat(100_000)));
    session.finish().await;
}
