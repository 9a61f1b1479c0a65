//! How much a report holds.

use serde_json::json;
use test_support::{Language, both};

use super::stopped;
use crate::debugging::Report;

both![limits_are_read_leniently_and_wrong_ones_are_named, a_value_has_an_end_whatever_was_asked_for,];

async fn limits_are_read_leniently_and_wrong_ones_are_named(language: Language) {
    let session = stopped(language).await;
    let stepped = session.ok("step_over", json!({ "limits": { "variables": "3", "source": 0 } })).await;
    assert_eq!(stepped["locals"].as_array().unwrap().len(), 3);
    assert_eq!(stepped.text_of("source").lines().count(), 1);
    let failed = session.fails("invalid_arguments", "step_over", json!({ "limits": { "frame": 3 } })).await;
    assert_eq!(failed["message"], "`limits.frame` is no argument of this tool; did you mean `frames`?");
    let failed = session.fails("invalid_arguments", "step_over", json!({ "limits": { "value": [] } })).await;
    assert_eq!(failed["message"], "`limits.value` takes a whole number, and got `[]`");
    session.finish().await;
}

async fn a_value_has_an_end_whatever_was_asked_for(language: Language) {
    let session = stopped(language).await;
    session.evaluate(language.pick("numbers = 'x' * 300_000", "numbers = 'x'.repeat(300_000)")).await;
    let stepped =
        session.ok("step_over", json!({ "limits": { "value": 1_000_000, "variables": 100 } })).await;
    assert_eq!(stepped.outcome(), "step");
    assert_eq!(stepped.variable("numbers"), format!("'{}'...", "x".repeat(100_000)));
    session.finish().await;
}
