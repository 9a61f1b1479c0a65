//! Expressions whose changes are in every stop report.

use serde_json::{Value, json};
use test_support::{Fixture, Language, PerLanguage, Texts, each};

use crate::debugging::{Debugging, Report, written_in};

each![
    a_watched_expression_is_reported_only_when_it_changes,
    an_undefined_name_is_watched_until_it_exists_and_across_a_restart,
    an_endless_watched_expression_delays_no_report,
    the_number_of_watches_is_limited,
];

const COUNTS: Texts = Texts {
    name: "watches_counts",
    python: "\
total = 0  # @zero
for number in range(3):
    total += number  # @add
parts = [total]  # @parts
print('done')  # @last
",
    node: "\
let total = 0; // @zero
for (let number = 0; number < 3; number += 1) {
  total += number; // @add
}
globalThis.parts = [total]; // @parts
console.log('done'); // @last
",
    c: "\
#include <stdio.h>
int main(void) {
    int total = 0; // @zero
    for (int number = 0; number < 3; number++)
        total += number; // @add
    {
        int parts = total; // @parts
        printf(\"done\\n\" + 0 * parts); // @last
    }
}
",
};

fn watch(expression: &str, watch: bool) -> Value {
    json!({ "expression": expression, "watch": watch })
}

async fn a_watched_expression_is_reported_only_when_it_changes(language: Language) {
    let (_folder, program) = written_in(language, "counts", COUNTS);
    let (session, _) = Debugging::stopped_at(&program, "add").await;
    assert_eq!(session.ok("evaluate_expression", watch("total", true)).await["result"], "0");
    assert_eq!(session.go_on().await["watches"], Value::Null, "0 is added");
    assert_eq!(session.go_on().await["watches"], json!([{ "expression": "total", "old": "0", "new": "1" }]));
    session.ok("evaluate_expression", watch("total", false)).await;
    session.break_at(&program, "last").await;
    assert_eq!(session.go_on().await["watches"], Value::Null, "it is watched no more");
    session.finish().await;
}

async fn an_undefined_name_is_watched_until_it_exists_and_across_a_restart(language: Language) {
    let (_folder, program) = written_in(language, "counts", COUNTS);
    let (session, _) = Debugging::stopped_at(&program, "zero").await;
    session.break_at(&program, "last").await;
    let failed = session.fails("evaluation_failed", "evaluate_expression", watch("parts", true)).await;
    assert!(failed.text_of("message").ends_with("; it is watched anyway"), "{}", failed.text);
    // The one that is in a block of its own, in C and Java.
    let value = if matches!(language, Language::C | Language::Java) {
        "3".to_owned()
    } else {
        language.shown_list(&["3"])
    };
    let stopped = session.go_on().await;
    assert_eq!(stopped["watches"], json!([{ "expression": "parts", "old": "(not in scope)", "new": value }]));
    let again = session.step("restart_debugging").await;
    assert_eq!(again["watches"], Value::Null, "a name that does not exist is no change");
    let again = session.go_on().await;
    assert_eq!(again["watches"], Value::Null, "it is what it was");
    session.finish().await;
}

async fn an_endless_watched_expression_delays_no_report(language: Language) {
    let (_folder, program) = written_in(language, "counts", COUNTS);
    let (session, _) = Debugging::stopped_at(&program, "add").await;
    let slow = format!("number {} {}", language.words().and, language.words().sleep);
    let old = PerLanguage { name: "watches: old", python: "0", node: "0", c: "false" }.of(language);
    assert_eq!(session.ok("evaluate_expression", watch(&slow, true)).await["result"], old);
    let stopped = session.go_on().await;
    assert_eq!((stopped.outcome(), stopped.variable("number")), ("breakpoint", "1"));
    assert_eq!(stopped["watches"], json!([{ "expression": slow, "old": old, "new": "(takes too long)" }]));
    session.finish().await;
}

async fn the_number_of_watches_is_limited(language: Language) {
    let (session, _) = Debugging::stopped_at(&Fixture::of(language, "swap_vars"), "call").await;
    for number in 0..20 {
        session.ok("evaluate_expression", watch(&format!("x + {number}"), true)).await;
    }
    let failed = session.fails("limit_reached", "evaluate_expression", watch("y", true)).await;
    let error = "20 expressions are already watched: the limit `watches` is 20";
    assert_eq!(failed["error"], error);
    session.ok("evaluate_expression", watch("x + 7", false)).await;
    session.ok("evaluate_expression", watch("y", true)).await;
    session.finish().await;
}
