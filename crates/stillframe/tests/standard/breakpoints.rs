//! Breakpoints: where they go, when they stop, and that they never lie about either.

mod columns;
mod data;
mod edits;
mod exceptions;
mod functions;
mod lifecycle;
mod locations;
mod messages;
mod rules;
mod statements;
mod unreached;

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Language};

use crate::debugging::{Debugging, Report};

fn bank(language: impl Into<Language>) -> Fixture {
    Fixture::of(language, "bank")
}

/// The values of an expression at every stop until the end, and the last report.
async fn values_at_stops(session: &Debugging, first: Answer, expression: &str) -> (Vec<String>, Answer) {
    let (mut report, mut values) = (first, Vec::new());
    while report.outcome() == "breakpoint" {
        values.push(session.evaluate(expression).await);
        report = session.go_on().await;
    }
    assert_eq!(report.outcome(), "ended", "{}", report.text);
    (values, report)
}

fn lines(list: &Value) -> Vec<u64> {
    let lines = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    lines.iter().map(|line| line["line"].as_u64().expect("a line")).collect()
}

/// Fields of a breakpoint that a test compares at once.
fn state(breakpoint: &Value) -> Value {
    let fields = ["line", "requestedLine", "verified", "enabled", "hits"];
    json!(fields.map(|field| breakpoint[field].clone()))
}
