//! Breakpoints that print and do not stop.

use serde_json::{Value, json};
use test_support::{DynamicLanguage, Language, PerLanguage, dynamic, each};

use crate::debugging::{Debugging, Report};

each![
    expressions_in_a_log_message_are_evaluated,
    a_log_message_without_expressions_is_printed_verbatim,
    doubled_braces_are_literal_braces,
    log_messages_have_conditions,
    a_log_message_that_throws_is_reported_and_does_not_stop,
    logged_messages_are_in_the_report_with_a_label,
];

dynamic![
    // LLDB reads an expression of C where it is evaluated, and not before.
    an_invalid_log_message_is_refused_at_once,
];

/// Runs the bank with a log message at the deposits, and returns what was logged.
async fn logged(language: Language, message: &str, more: Value) -> (Debugging, String) {
    let (program, session) = Debugging::with(language, "bank").await;
    let mut rule = more;
    rule["logMessage"] = json!(message);
    let set = session.break_with(&program, "deposit", rule).await;
    assert_eq!(set["logMessage"], message);
    let ended = session.start(&program).await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(0)), "{}", ended.text);
    let log = session.written("log").await;
    (session, log)
}

async fn expressions_in_a_log_message_are_evaluated(language: Language) {
    let message = format!("{{{}}} has {{{} + amount}}", language.own("owner"), language.own("balance"));
    let (session, log) = logged(language, &message, json!({})).await;
    let log: Vec<&str> = log.lines().map(|line| language.plain(line)).collect();
    let owner = if language.is_compiled() { "\"Ann\"" } else { "Ann" };
    let expected = [1, 3, 6, 10, 15, 21].map(|balance| format!("{owner} has {balance}"));
    assert_eq!(log, expected);
    assert_eq!(session.breakpoints().await[0]["hits"], 6);
    session.finish().await;
}

async fn a_log_message_without_expressions_is_printed_verbatim(language: Language) {
    let (session, log) = logged(language, "here", json!({ "hitCondition": "1" })).await;
    assert_eq!(log, "here\n");
    session.finish().await;
}

async fn doubled_braces_are_literal_braces(language: Language) {
    // A text that two make; characters are numbers in C.
    let (sum, shown) = PerLanguage {
        name: "messages: sum",
        python: ("'a' + \"b\"", "ab"),
        node: ("'a' + \"b\"", "ab"),
        c: ("'a' + 1", "98"),
    }
    .of(language);
    let message = format!("{{{{amount}}}} is {{amount}} {{{sum}}}");
    let (session, log) = logged(language, &message, json!({ "hitCondition": "2" })).await;
    assert_eq!(log, format!("{{amount}} is 2 {shown}\n"));
    session.finish().await;
}

#[tokio::test]
async fn python_format_specifications_apply() {
    let message = "{amount:>3} {'a' + \"b\"!r}";
    let (session, log) = logged(Language::Python, message, json!({ "hitCondition": "2" })).await;
    assert_eq!(log, "  2 'ab'\n");
    session.finish().await;
}

async fn log_messages_have_conditions(language: Language) {
    let (session, log) = logged(language, "{amount}", json!({ "condition": "amount > 4" })).await;
    assert_eq!(log, "5\n6\n");
    session.finish().await;
}

async fn a_log_message_that_throws_is_reported_and_does_not_stop(language: Language) {
    let (message, error) = PerLanguage {
        name: "messages: throws",
        python: ("{self.missing}", "AttributeError: 'Account' object has no attribute 'missing'"),
        node: ("{this.missing.part}", "TypeError: Cannot read properties of undefined (reading 'part')"),
        c: ("{self->missing}", "no member named 'missing' in 'account'"),
    }
    .of(language);
    let (session, log) = logged(language, message, json!({})).await;
    assert_eq!(log, "");
    let failure = format!("6 times; last error: {error}");
    assert_eq!(session.breakpoints().await[0]["failure"], failure);
    session.finish().await;
}

async fn an_invalid_log_message_is_refused_at_once(language: DynamicLanguage) {
    let (program, session) = Debugging::with(language, "bank").await;
    for message in ["{amount +}", "{amount", "amount}", "{}"] {
        let arguments =
            json!({ "file": program.path(), "line": program.line("deposit"), "logMessage": message });
        let failed = session.fails("bad_expression", "set_breakpoint", arguments).await;
        let start = format!("`{message}` is not a valid expression: SyntaxError: ");
        assert!(failed.text_of("error").starts_with(&start), "{}", failed.text);
    }
    assert_eq!(session.breakpoints().await, Vec::<Value>::new());
    session.finish().await;
}

async fn logged_messages_are_in_the_report_with_a_label(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    session.break_with(&program, "odd", json!({ "logMessage": "odd {number}" })).await;
    session.break_at(&program, "even").await;
    let stopped = session.start(&program).await;
    assert_eq!(stopped["output"], "[log] odd 3\n");
    session.finish().await;
}
