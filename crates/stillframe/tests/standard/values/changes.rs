//! What has changed since the last stop, and answers within a budget.

use serde_json::{Value, json};
use test_support::{DynamicLanguage, Fixture, Language, dynamic, each};

use crate::debugging::{Debugging, Report};

each![a_changed_variable_is_reported_at_the_next_stop, a_budget_cuts_what_matters_least_and_names_it];
// The fixture exists for the languages whose debuggers watch values.
dynamic![changes_inside_of_values_have_their_path];

fn find<'a>(changed: &'a Value, name: &str) -> Option<&'a Value> {
    changed.as_array()?.iter().find(|change| change["name"] == name)
}

async fn a_changed_variable_is_reported_at_the_next_stop(language: Language) {
    let program = Fixture::of(language, "bank");
    let (session, first) = Debugging::stopped_at(&program, "deposit").await;
    assert_eq!(first["changed"], Value::Null, "nothing was seen before: {}", first.text);
    let second = session.go_on().await;
    let amount = find(&second["changed"], "amount").unwrap_or_else(|| panic!("{}", second.text));
    let expected = (json!(first.variable("amount")), json!(second.variable("amount")));
    assert_eq!((&amount["old"], &amount["new"]), (&expected.0, &expected.1), "{}", second.text);
    let is_shorter = second["changed"].to_string().len() < second["locals"].to_string().len();
    assert!(is_shorter, "{}", second.text);
    session.finish().await;
}

async fn changes_inside_of_values_have_their_path(language: DynamicLanguage) {
    let (program, session) = Debugging::paused(language, "watched", "ready").await;
    session.break_at(&program, "after_write").await;
    let stopped = session.go_on().await;
    let total = find(&stopped["changed"], "cart.total").unwrap_or_else(|| panic!("{}", stopped.text));
    assert_eq!(*total, json!({ "name": "cart.total", "old": "0", "new": "5" }), "{}", stopped.text);
    assert_eq!(find(&stopped["changed"], "cart"), None, "its part says more");
    let step = session.step("step_over").await;
    assert_eq!(find(&step["changed"], "cart.total"), None, "{}", step.text);
    assert!(find(&step["changed"], "ready").is_some(), "{}", step.text);
    session.finish().await;
}

async fn a_budget_cuts_what_matters_least_and_names_it(language: Language) {
    let program = Fixture::of(language, "bank");
    let (session, first) = Debugging::stopped_at(&program, "deposit").await;
    assert_eq!(first["cut"], Value::Null);
    let tokens = first.text.len() / 3 / 2;
    let less = session.ok("continue_execution", json!({ "budget": tokens })).await;
    assert!(less.text.len() <= tokens * 3, "{} bytes: {}", less.text.len(), less.text);
    assert_eq!((less.outcome(), less.place()), (first.outcome(), first.place()));
    let cut = less.text_of("cut");
    assert!(cut.contains("stackFrames (1 of ") || cut.contains("source"), "{cut}");
    let whole = session.ok("get_stack_trace", json!({ "budget": "5000" })).await;
    assert_eq!(whole["cut"], Value::Null);
    session.fails("invalid_arguments", "get_stack_trace", json!({ "budget": 0 })).await;
    session.finish().await;
}
