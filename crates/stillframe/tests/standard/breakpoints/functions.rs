//! Breakpoints by function.

use serde_json::{Value, json};
use test_support::{DynamicLanguage, Language, dynamic, each};

use super::bank;
use crate::debugging::{Debugging, Report};

each![
    a_function_in_a_file_stops_at_its_first_statement,
    a_function_without_a_file_stops_wherever_it_is_defined,
    a_method_without_a_file_is_distinguished_from_others_of_its_name,
    function_breakpoints_have_conditions,
];

dynamic![
    // Which functions there are is known of C once the program is loaded: see
    // `a_function_missing_from_the_binary_is_reported_at_the_end`. Two of a file cannot have one name.
    an_unknown_function_is_refused_with_similar_names,
    an_ambiguous_function_must_be_qualified,
    // The file of a function is known of C to LLDB alone, which looks for the name in all of them.
    once_the_program_is_known_functions_are_found_in_it,
];

async fn a_function_in_a_file_stops_at_its_first_statement(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let arguments = json!({ "file": program.path(), "function": language.words().deposit.0 });
    let set = session.ok("set_breakpoint", arguments).await;
    // Of C, the debugger knows where it begins once the program is loaded.
    if language.reads_sources() {
        assert_eq!(set["line"], program.line("deposit"), "the docstring is no statement");
        let answer = format!("the breakpoint is on the first line of `{}`", language.words().deposit.0);
        assert!(set.text_of("message").ends_with(&answer), "{}", set.text);
    }
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), program.line("deposit")));
    assert_eq!(stopped.at("/location/function"), language.words().deposit.1);
    session.finish().await;
}

async fn an_ambiguous_function_must_be_qualified(language: DynamicLanguage) {
    let (program, session) = Debugging::with(language, "bank").await;
    let arguments = json!({ "file": program.path(), "function": "deposit" });
    let failed = session.fails("file_unusable", "set_breakpoint", arguments).await;
    let error = format!(
        "`{}` has several functions `deposit`: `Account.deposit` (line {}), `Purse.deposit` (line {}); give \
         a qualified name",
        program.path(),
        program.line("deposit_header"),
        program.line("purse_header")
    );
    assert_eq!(failed["error"], error);
    session.finish().await;
}

async fn an_unknown_function_is_refused_with_similar_names(language: DynamicLanguage) {
    let (program, session) = Debugging::with(language, "bank").await;
    let arguments = json!({ "file": program.path(), "function": "bil" });
    let failed = session.fails("file_unusable", "set_breakpoint", arguments).await;
    let start = format!("`{}` has no function `bil`; it has `bill`, ", program.path());
    assert!(failed.text_of("error").starts_with(&start), "{}", failed.text);
    assert_eq!(session.breakpoints().await, Vec::<Value>::new());
    session.finish().await;
}

#[tokio::test]
async fn a_function_missing_from_the_binary_is_reported_at_the_end() {
    let program = bank(Language::C);
    let session = Debugging::of(Language::C).await;
    let set = session.ok("set_breakpoint", json!({ "function": "bil" })).await;
    assert_eq!(set["verified"], false);
    let ended = session.start(&program).await;
    let note = ended.at("/notes/0").as_str().expect("a note");
    assert!(ended.outcome() == "ended" && note == NOT_FOUND, "{}", ended.text);
    session.finish().await;
}

/// lldb-dap answers a request for several functions in an order of its own.
#[tokio::test]
async fn each_of_several_functions_keeps_its_rules() {
    let program = bank(Language::C);
    let session = Debugging::of(Language::C).await;
    let mut expected = Vec::new();
    for (function, rules, line) in [
        ("account_deposit", json!({ "hitCondition": "5" }), "deposit"),
        ("purse_deposit", json!({ "condition": "coins == 3" }), "purse"),
        ("kind", json!({ "hitCondition": "2" }), "kind"),
        ("traced", json!({}), "wrapper"),
    ] {
        let mut arguments = rules;
        arguments["function"] = json!(function);
        let set = session.ok("set_breakpoint", arguments).await;
        expected.push((set["breakpointId"].clone(), program.line(line)));
    }
    session.ok("set_breakpoint", json!({ "function": "bill", "logMessage": "billed {count}" })).await;
    let mut stopped = session.start(&program).await;
    for (id, line) in expected {
        assert_eq!(
            (&stopped["breakpointIds"], stopped.place()),
            (&json!([id]), (program.path(), line)),
            "{}",
            stopped.text
        );
        stopped = session.go_on().await;
    }
    assert!(
        stopped.outcome() == "ended" && stopped.text_of("output").contains("billed 3"),
        "{}",
        stopped.text
    );
    session.finish().await;
}

const NOT_FOUND: &str = "bp-1: no function `bil` was entered, and the loaded files define none";

async fn a_function_without_a_file_stops_wherever_it_is_defined(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.ok("set_breakpoint", json!({ "function": "kind" })).await;
    assert_eq!((&set["function"], &set["verified"]), (&json!("kind"), &json!(false)));
    let stopped = session.start(&program).await;
    let first = (program.path(), program.line("kind"));
    assert_eq!((stopped.outcome(), stopped.place()), ("breakpoint", first));
    assert_eq!(stopped.variable("number"), "3");
    assert_eq!(stopped["breakpointIds"], json!([set["breakpointId"]]));
    assert_eq!(session.breakpoints().await[0]["hits"], 1);
    assert_eq!(session.go_on().await.variable("number"), "4");
    session.finish_at_end().await;
}

async fn a_method_without_a_file_is_distinguished_from_others_of_its_name(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    session.ok("set_breakpoint", json!({ "function": language.words().purse_deposit })).await;
    let stopped = session.start(&program).await;
    assert_eq!((stopped.outcome(), stopped.variable("coins")), ("breakpoint", "3"));
    session.finish_at_end().await;
}

async fn function_breakpoints_have_conditions(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    session.ok("set_breakpoint", json!({ "function": "kind", "condition": "number == 4" })).await;
    assert_eq!(session.start(&program).await.variable("number"), "4");
    session.finish_at_end().await;
}

async fn once_the_program_is_known_functions_are_found_in_it(language: DynamicLanguage) {
    let (program, session) = Debugging::paused(language, "bank", "main_first").await;
    let set = session.ok("set_breakpoint", json!({ "function": "kind" })).await;
    assert_eq!((&set["file"], &set["line"]), (&json!(program.path()), &json!(program.line("kind"))));
    assert_eq!(set["verified"], true);
    assert_eq!(session.go_on().await.variable("number"), "3");
    session.finish().await;
}
