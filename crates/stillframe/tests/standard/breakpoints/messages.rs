//! Breakpoints that print and do not stop.

use serde_json::{Value, json};

use super::bank;
use crate::debugging::{Debugging, Report};

/// Runs the bank with a log message at the deposits, and gives what was logged.
async fn logged(message: &str, more: Value) -> (Debugging, String) {
    let program = bank();
    let session = Debugging::new().await;
    let mut rule = more;
    rule["logMessage"] = json!(message);
    let set = session.break_with(&program, "deposit", rule).await;
    assert_eq!(set["logMessage"], message);
    let ended = session.start(&program).await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)), "{}", ended.text);
    let log = session.written("log").await;
    (session, log)
}

#[tokio::test]
async fn expressions_in_a_log_message_are_filled_in() {
    let (session, log) = logged("{self.owner} has {self.balance + amount}", json!({})).await;
    assert_eq!(log, "Ann has 1\nAnn has 3\nAnn has 6\nAnn has 10\nAnn has 15\nAnn has 21\n");
    assert_eq!(session.breakpoints().await[0]["hits"], 6);
    session.finish().await;
}

#[tokio::test]
async fn a_log_message_without_expressions_is_printed_as_it_is() {
    let (session, log) = logged("here", json!({ "hitCondition": "1" })).await;
    assert_eq!(log, "here\n");
    session.finish().await;
}

#[tokio::test]
async fn doubled_braces_are_braces_and_formats_are_kept() {
    let (session, log) =
        logged("{{amount}} is {amount:>3} {'a' + \"b\"!r}", json!({ "hitCondition": "2" })).await;
    assert_eq!(log, "{amount} is   2 'ab'\n");
    session.finish().await;
}

#[tokio::test]
async fn a_log_message_has_conditions_too() {
    let (session, log) = logged("{amount}", json!({ "condition": "amount > 4" })).await;
    assert_eq!(log, "5\n6\n");
    session.finish().await;
}

#[tokio::test]
async fn a_log_message_that_throws_is_reported_and_does_not_stop() {
    let (session, log) = logged("{self.missing}", json!({})).await;
    assert_eq!(log, "");
    let failure = "6 times, at last: AttributeError: 'Account' object has no attribute 'missing'";
    assert_eq!(session.breakpoints().await[0]["failure"], failure);
    session.finish().await;
}

#[tokio::test]
async fn a_log_message_that_is_no_text_with_expressions_is_refused_at_once() {
    let program = bank();
    let session = Debugging::new().await;
    for message in ["{amount +}", "{amount", "amount}", "{}"] {
        let asked = json!({ "file": program.path(), "line": program.line("deposit"), "logMessage": message });
        let failed = session.fails("bad_expression", "set_breakpoint", asked).await;
        let start = format!("`{message}` is no expression: SyntaxError: ");
        assert!(failed.text_of("error").starts_with(&start), "{}", failed.text);
    }
    assert_eq!(session.breakpoints().await, Vec::<Value>::new());
    session.finish().await;
}

#[tokio::test]
async fn what_is_logged_comes_with_the_report_and_is_labelled() {
    let program = bank();
    let session = Debugging::new().await;
    session.break_with(&program, "odd", json!({ "logMessage": "odd {number}" })).await;
    session.break_at(&program, "even").await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped["output"], "[log] odd 3\n");
    session.finish().await;
}
