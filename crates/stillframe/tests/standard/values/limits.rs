//! How much a report holds.

use serde_json::json;
use test_support::{Language, PerLanguage, each};

use super::stopped;
use crate::debugging::Report;

each![limits_are_parsed_leniently_and_wrong_ones_named, values_have_a_maximum_length,];

async fn limits_are_parsed_leniently_and_wrong_ones_named(language: Language) {
    let session = stopped(language).await;
    let stepped = session.ok("step_over", json!({ "limits": { "variables": "3", "source": 0 } })).await;
    assert_eq!(stepped["locals"].as_array().unwrap().len(), 3);
    assert_eq!(stepped.text_of("source").lines().count(), 1);
    let stepped = session.ok("step_over", json!({ "limits": { "frame": 3 } })).await;
    assert_eq!(
        stepped["warnings"],
        json!(["ignored unknown argument `limits.frame`; did you mean `frames`?"])
    );
    let failed = session.fails("invalid_arguments", "step_over", json!({ "limits": { "value": [] } })).await;
    assert_eq!(failed["message"], "`limits.value` must be a whole number, not `[]`");
    session.finish().await;
}

async fn values_have_a_maximum_length(language: Language) {
    let session = stopped(language).await;
    // LLDB shows no texts that long, so the value stays short in C.
    let long = PerLanguage {
        name: "values: long",
        python: "numbers = 'x' * 300_000",
        node: "numbers = 'x'.repeat(300_000)",
        c: "numbers",
    };
    session.evaluate(long.of(language)).await;
    for (size, most) in [
        ("frames", 1_000),
        ("variables", 1_000),
        ("value", 100_000),
        ("source", 1_000),
        ("output", 1_048_576),
    ] {
        let arguments = json!({ "limits": { size: most + 1 } });
        let refused = session.fails("limit_reached", "step_over", arguments).await;
        let answer = format!("`limits.{size}` is {}: the limit `", most + 1);
        let message = refused.text_of("message");
        assert!(message.starts_with(&answer), "{message}");
        assert!(message.contains(&format!("is {most}, the maximum; ask for ")), "{message}");
        assert!(!message.contains("raises"), "{message}");
    }
    let most = json!({ "frames": 1_000, "variables": 1_000, "value": 100_000, "source": 1_000, "output": 1_048_576 });
    let stepped = session.ok("step_over", json!({ "limits": most })).await;
    assert_eq!(stepped.outcome(), "step");
    if !language.is_compiled() {
        assert_eq!(stepped.variable("numbers"), format!("{}...", language.text(&"x".repeat(100_000))));
    }
    let arguments = json!({ "expression": "numbers", "maxLength": 100_001 });
    let refused = session.fails("limit_reached", "evaluate_expression", arguments).await;
    assert_eq!(
        refused["message"],
        "`maxLength` is 100001: the limit `longest_value` is 100000, the default; ask for 100000 characters \
         or less, or the person who runs the server can raise `limits.longest_value` in the user's \
         stillframe.toml, up to 1000000"
    );
    session.finish().await;
}
