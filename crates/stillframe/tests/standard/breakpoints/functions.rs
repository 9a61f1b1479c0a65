//! Breakpoints by function.

use serde_json::{Value, json};
use test_support::{Language, both};

use super::bank;
use crate::debugging::{Debugging, Report};

both![
    a_function_in_a_file_stops_at_its_first_statement,
    a_name_that_several_functions_have_must_be_given_in_full,
    an_unknown_function_is_refused_with_close_names_first,
    a_function_without_a_file_stops_wherever_it_is_entered,
    a_method_without_a_file_is_told_from_its_namesakes,
    a_function_breakpoint_has_conditions_too,
    once_the_program_is_known_a_function_is_looked_for_in_it,
];

async fn a_function_in_a_file_stops_at_its_first_statement(language: Language) {
    let program = bank(language);
    let session = Debugging::of(language).await;
    let asked = json!({ "file": program.path(), "function": "Account.deposit" });
    let set = session.ok("set_breakpoint", asked).await;
    assert_eq!(set["line"], program.line("deposit"), "the docstring is no statement");
    assert!(set.text_of("message").ends_with("at the first line of `Account.deposit`"), "{}", set.text);
    let stopped = session.start(&program).await;
    assert_eq!(stopped.place(), (program.path(), program.line("deposit")));
    assert_eq!(stopped.at("/location/function"), "deposit");
    session.finish().await;
}

async fn a_name_that_several_functions_have_must_be_given_in_full(language: Language) {
    let program = bank(language);
    let session = Debugging::of(language).await;
    let asked = json!({ "file": program.path(), "function": "deposit" });
    let failed = session.fails("file_unusable", "set_breakpoint", asked).await;
    let error = format!(
        "`{}` has several functions `deposit`: `Account.deposit` (line {}), `Purse.deposit` (line {}); name \
         one in full",
        program.path(),
        program.line("deposit_header"),
        program.line("purse_header")
    );
    assert_eq!(failed["error"], error);
    session.finish().await;
}

async fn an_unknown_function_is_refused_with_close_names_first(language: Language) {
    let program = bank(language);
    let session = Debugging::of(language).await;
    let asked = json!({ "file": program.path(), "function": "bil" });
    let failed = session.fails("file_unusable", "set_breakpoint", asked).await;
    let start = format!("`{}` has no function `bil`; it has `bill`, ", program.path());
    assert!(failed.text_of("error").starts_with(&start), "{}", failed.text);
    assert_eq!(session.breakpoints().await, Vec::<Value>::new());
    session.finish().await;
}

async fn a_function_without_a_file_stops_wherever_it_is_entered(language: Language) {
    let program = bank(language);
    let session = Debugging::of(language).await;
    let set = session.ok("set_breakpoint", json!({ "function": "kind" })).await;
    assert_eq!((&set["function"], &set["verified"]), (&json!("kind"), &json!(false)));
    let stopped = session.start(&program).await;
    assert_eq!((stopped.outcome(), stopped.at("/location/function")), ("breakpoint", &json!("kind")));
    assert_eq!(stopped.variable("number"), "3");
    assert_eq!(stopped["breakpointIds"], json!([set["breakpointId"]]));
    assert_eq!(session.breakpoints().await[0]["hits"], 1);
    assert_eq!(session.go_on().await.variable("number"), "4");
    session.run_to_the_end().await;
    session.finish().await;
}

async fn a_method_without_a_file_is_told_from_its_namesakes(language: Language) {
    let program = bank(language);
    let session = Debugging::of(language).await;
    session.ok("set_breakpoint", json!({ "function": "Purse.deposit" })).await;
    let stopped = session.start(&program).await;
    assert_eq!((stopped.outcome(), stopped.variable("coins")), ("breakpoint", "3"));
    session.run_to_the_end().await;
    session.finish().await;
}

async fn a_function_breakpoint_has_conditions_too(language: Language) {
    let program = bank(language);
    let session = Debugging::of(language).await;
    session.ok("set_breakpoint", json!({ "function": "kind", "condition": "number == 4" })).await;
    assert_eq!(session.start(&program).await.variable("number"), "4");
    session.run_to_the_end().await;
    session.finish().await;
}

async fn once_the_program_is_known_a_function_is_looked_for_in_it(language: Language) {
    let program = bank(language);
    let (session, _) = Debugging::stopped_at(&program, "main_first").await;
    let set = session.ok("set_breakpoint", json!({ "function": "kind" })).await;
    assert_eq!((&set["file"], &set["line"]), (&json!(program.path()), &json!(program.line("kind"))));
    assert_eq!(set["verified"], true);
    assert_eq!(session.go_on().await.variable("number"), "3");
    session.finish().await;
}
