//! Conditions and counts.

use serde_json::{Value, json};
use test_support::{DynamicLanguage, Language, PerLanguage, dynamic, each};

use super::values_at_stops;
use crate::debugging::{Debugging, Report};

each![
    a_condition_stops_only_if_it_is_true,
    a_condition_sees_globals_attributes_and_builtins,
    every_operator_of_a_hit_condition_counts_hits,
    hits_are_still_counted_when_another_breakpoint_is_set,
    a_number_is_a_hit_condition,
    hits_count_only_if_the_condition_is_true,
    an_invalid_hit_condition_is_refused,
    a_condition_that_throws_is_reported_and_does_not_stop,
    a_condition_that_sometimes_throws_stops_if_it_is_true,
    two_breakpoints_on_one_line_each_apply_their_rule,
];

dynamic![
    // LLDB reads a condition of C at the first hit, where it is reported as one that fails.
    an_invalid_condition_is_refused_at_once,
];

async fn a_condition_stops_only_if_it_is_true(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.break_with(&program, "deposit", json!({ "condition": "amount > 4" })).await;
    assert_eq!(set["condition"], "amount > 4");
    let stopped = session.start(&program).await;
    let (amounts, _) = values_at_stops(&session, stopped, "amount").await;
    assert_eq!(amounts, ["5", "6"]);
    assert_eq!(session.breakpoints().await[0]["hits"], 2);
    session.finish().await;
}

async fn a_condition_sees_globals_attributes_and_builtins(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let condition = PerLanguage {
        name: "rules: globals",
        python: "self.owner == 'Ann' and amount == RATE + 1 and any(x == amount for x in range(9))",
        node: "this.owner === 'Ann' && amount === RATE + 1 && [1, 2, 3].some((x) => x === amount)",
        c: "(int)strcmp(self->owner, \"Ann\") == 0 && amount == RATE + 1 && account_doubled(self) == 6",
    }
    .of(language);
    session.break_with(&program, "deposit", json!({ "condition": condition })).await;
    let stopped = session.start(&program).await;
    let (amounts, _) = values_at_stops(&session, stopped, "amount").await;
    assert_eq!(amounts, ["3"]);
    session.finish().await;
}

async fn every_operator_of_a_hit_condition_counts_hits(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let table: [(&str, &str, &[&str]); 7] = [
        ("3", "== 3", &["3"]),
        ("== 3", "== 3", &["3"]),
        ("> 4", "> 4", &["5", "6"]),
        (">=5", ">= 5", &["5", "6"]),
        ("< 3", "< 3", &["1", "2"]),
        ("<= 2", "<= 2", &["1", "2"]),
        ("% 3", "% 3", &["3", "6"]),
    ];
    for (text, shown, expected) in table {
        let set = session.break_with(&program, "deposit", json!({ "hitCondition": text })).await;
        assert_eq!(set["hitCondition"], shown);
        // The counts begin anew with each start.
        let stopped = session.start(&program).await;
        let (amounts, _) = values_at_stops(&session, stopped, "amount").await;
        assert_eq!(amounts, expected, "{text}");
        session.ok("clear_breakpoints", json!({})).await;
    }
    session.finish().await;
}

async fn hits_are_still_counted_when_another_breakpoint_is_set(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    session.break_with(&program, "deposit", json!({ "hitCondition": "> 2" })).await;
    assert_eq!(session.start(&program).await.variable("amount"), "3");
    session.break_at(&program, "even").await;
    session.break_with(&program, "deposit", json!({ "condition": "amount == 6" })).await;
    assert_eq!(session.go_on().await.variable("amount"), "4");
    session.finish().await;
}

async fn a_number_is_a_hit_condition(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.break_with(&program, "deposit", json!({ "hitCondition": 3 })).await;
    assert_eq!(set["hitCondition"], "== 3");
    session.finish().await;
}

async fn hits_count_only_if_the_condition_is_true(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let rule = json!({ "condition": "amount % 2 == 0", "hitCondition": "2" });
    session.break_with(&program, "deposit", rule).await;
    let stopped = session.start(&program).await;
    let (amounts, _) = values_at_stops(&session, stopped, "amount").await;
    assert_eq!(amounts, ["4"], "the second of the even ones");
    session.finish().await;
}

async fn an_invalid_hit_condition_is_refused(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    for text in ["often", "=> 3", "% 0", "-1"] {
        let arguments =
            json!({ "file": program.path(), "line": program.line("deposit"), "hitCondition": text });
        let failed = session.fails("invalid_arguments", "set_breakpoint", arguments).await;
        let takes = "must be a number, alone or after ==, >, >=, <, <= or %";
        assert_eq!(failed["error"], format!("`hitCondition` {takes}, not `{text}`"));
    }
    assert_eq!(session.breakpoints().await, Vec::<Value>::new());
    session.finish().await;
}

async fn a_condition_that_throws_is_reported_and_does_not_stop(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.break_with(&program, "deposit", json!({ "condition": "amuont > 1" })).await;
    let ended = session.start(&program).await;
    assert_eq!(ended.outcome(), "ended");
    let id = set.text_of("breakpointId");
    let error = language.undefined("amuont");
    let note = format!("the condition of {id} failed 6 times and did not stop the program: {error}");
    assert_eq!(ended["notes"], json!([note]));
    let listed = session.breakpoints().await;
    assert_eq!(listed[0]["failure"], format!("6 times; last error: {error}"));
    assert_eq!(listed[0]["hits"], 0);
    session.finish().await;
}

async fn a_condition_that_sometimes_throws_stops_if_it_is_true(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let condition = PerLanguage {
        name: "rules: throws sometimes",
        python: "1 / (amount - 1) == 0.2",
        node: "1n / BigInt(amount - 1) === 0n && amount > 5",
        // LLDB divides by zero without an error.
        c: "(amount == 1 ? *(int *)8 : amount) > 5",
    }
    .of(language);
    let error = PerLanguage {
        name: "rules: error",
        python: "ZeroDivisionError: division by zero",
        node: "RangeError: Division by zero",
        c: "supposed to interpret, but failed: Interpreter couldn't read from memory",
    }
    .of(language);
    session.break_with(&program, "deposit", json!({ "condition": condition })).await;
    let stopped = session.start(&program).await;
    assert_eq!((stopped.outcome(), stopped.variable("amount")), ("breakpoint", "6"));
    let note = stopped.at("/notes/0").as_str().unwrap_or_default().to_owned();
    let answer = format!("failed once and did not stop the program: {error}");
    assert!(note.ends_with(&answer), "{note}");
    session.finish().await;
}

async fn an_invalid_condition_is_refused_at_once(language: DynamicLanguage) {
    let (program, session) = Debugging::with(language, "bank").await;
    let arguments =
        json!({ "file": program.path(), "line": program.line("deposit"), "condition": "amount >" });
    let failed = session.fails("bad_expression", "set_breakpoint", arguments).await;
    let start = "`amount >` is not a valid expression: SyntaxError: ";
    assert!(failed.text_of("error").starts_with(start), "{}", failed.text);
    assert_eq!(session.breakpoints().await, Vec::<Value>::new());

    // A statement that is none of the language's expressions.
    let condition = language.pick("number = 3", "let number = 3");
    let arguments = json!({ "function": "kind", "condition": condition });
    let failed = session.fails("bad_expression", "set_breakpoint", arguments).await;
    let start = format!("`{condition}` is not a valid expression: SyntaxError");
    assert!(failed.text_of("error").starts_with(&start), "{}", failed.text);
    session.finish().await;
}

async fn two_breakpoints_on_one_line_each_apply_their_rule(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let first = session.break_with(&program, "deposit", json!({ "condition": "amount == 2" })).await;
    let condition = PerLanguage {
        name: "rules: two rules",
        python: "amount in (2, 5)",
        node: "[2, 5].includes(amount)",
        c: "amount == 2 || amount == 5",
    }
    .of(language);
    let second = session.break_with(&program, "deposit", json!({ "condition": condition })).await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped["breakpointIds"], json!([first["breakpointId"], second["breakpointId"]]));
    let stopped = session.go_on().await;
    assert_eq!(
        (stopped.variable("amount"), &stopped["breakpointIds"]),
        ("5", &json!([second["breakpointId"]]))
    );
    session.finish_at_end().await;
}
