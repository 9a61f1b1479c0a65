//! Data breakpoints: a value is watched, and the program stops where it is written.

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Language, each};

use crate::debugging::{Debugging, Report};

each![
    writes_by_any_name_stop_and_name_their_line,
    a_watch_is_removed,
    a_disabled_watch_does_not_stop,
    a_watch_stops_again_after_it_was_disabled,
    watches_of_one_value_act_separately,
    each_failure_of_a_watch_is_counted,
    a_condition_and_hits_apply_to_a_watch,
    steps_are_not_disturbed_by_a_watch,
    a_watch_that_is_not_possible_says_why,
    a_watch_ends_with_its_process,
    a_watched_variable_ends_with_its_frame,
];

fn watched(language: Language) -> Fixture {
    Fixture::of(language, "watched")
}

/// The change that stopped the program: expression, old and new value, and the name of the line that wrote.
#[track_caller]
fn change(program: &Fixture, stopped: &Answer, old: &str, new: &str, written: &str) {
    assert_eq!(stopped.outcome(), "data breakpoint", "{}", stopped.text);
    let changes = stopped["dataChanges"].as_array().expect("changes");
    let [only] = changes.as_slice() else { panic!("{}", stopped.text) };
    assert_eq!((&only["old"], &only["new"]), (&json!(old), &json!(new)), "{}", stopped.text);
    let by = (only["by"]["file"].as_str(), only["by"]["line"].as_u64());
    assert_eq!(by, (Some(program.path()), Some(program.line(written).into())), "{}", stopped.text);
    assert_eq!(stopped["breakpointIds"], json!([only["breakpointId"]]), "{}", stopped.text);
    assert!(stopped.text_of("message").contains(&format!("{old} → {new}")), "{}", stopped.text);
}

async fn watching(program: &Fixture, more: Value) -> (Debugging, Answer) {
    let (session, _) = Debugging::stopped_at(program, "ready").await;
    let mut arguments = more;
    arguments["watch"] = json!("cart.total");
    let set = session.ok("set_breakpoint", arguments).await;
    assert_eq!((&set["watch"], &set["access"]), (&json!("cart.total"), &json!("write")), "{}", set.text);
    (session, set)
}

async fn writes_by_any_name_stop_and_name_their_line(language: Language) {
    let program = watched(language);
    let (session, set) = watching(&program, json!({})).await;
    assert_eq!(set["verified"], true, "{}", set.text);
    change(&program, &session.go_on().await, "0", "5", "written");
    assert_eq!(session.evaluate("cart.total").await, "5");
    change(&program, &session.go_on().await, "5", "7", "written_by_alias");
    let in_function = session.go_on().await;
    change(&program, &in_function, "7", "10", "written_in_function");
    assert!(in_function.at("/location/function").as_str().is_some_and(|name| name.contains("add")));
    change(&program, &session.go_on().await, "10", "20", "written_last");
    let listed = session.breakpoints().await;
    assert_eq!((&listed[1]["watch"], &listed[1]["hits"]), (&json!("cart.total"), &json!(4)));
    session.run_to_the_end().await;
    // Debuggers report a hit in words of their own, too.
    assert_eq!(session.written("stdout").await.lines().count(), 1);
    session.finish().await;
}

async fn a_watch_is_removed(language: Language) {
    let program = watched(language);
    let (session, set) = watching(&program, json!({})).await;
    change(&program, &session.go_on().await, "0", "5", "written");
    session.ok("remove_breakpoint", json!({ "breakpointId": set["breakpointId"] })).await;
    assert_eq!(session.breakpoints().await.len(), 1);
    session.run_to_the_end().await;
    assert!(session.written("stdout").await.contains("20"), "the values are as before");
    session.finish().await;
}

async fn a_disabled_watch_does_not_stop(language: Language) {
    let program = watched(language);
    let (session, set) = watching(&program, json!({ "enabled": false })).await;
    assert_eq!((&set["enabled"], &set["reason"]), (&json!(false), &json!("it is disabled")));
    session.break_at(&program, "print").await;
    assert_eq!(session.go_on().await.place(), (program.path(), program.line("print")));
    session.finish_at_end().await;
}

async fn a_watch_stops_again_after_it_was_disabled(language: Language) {
    let program = watched(language);
    let (session, set) = watching(&program, json!({})).await;
    let switch = async |enabled: bool| {
        let arguments = json!({ "breakpointId": set["breakpointId"], "enabled": enabled });
        session.ok("set_breakpoint", arguments).await
    };
    change(&program, &session.go_on().await, "0", "5", "written");
    switch(false).await;
    session.break_at(&program, "after_alias").await;
    assert_eq!(session.go_on().await.place(), (program.path(), program.line("after_alias")));
    let enabled = switch(true).await;
    assert_eq!(enabled["verified"], true, "{}", enabled.text);
    change(&program, &session.go_on().await, "7", "10", "written_in_function");
    change(&program, &session.go_on().await, "10", "20", "written_last");
    session.finish_at_end().await;
}

async fn watches_of_one_value_act_separately(language: Language) {
    let program = watched(language);
    let (session, first) = watching(&program, json!({ "hitCondition": "1" })).await;
    let again = json!({ "watch": "cart.total", "hitCondition": "2" });
    let second = session.ok("set_breakpoint", again).await;
    assert_eq!((&first["verified"], &second["verified"]), (&json!(true), &json!(true)), "{}", second.text);
    for (set, old, new, line) in [(&first, "0", "5", "written"), (&second, "5", "7", "written_by_alias")] {
        let stopped = session.go_on().await;
        change(&program, &stopped, old, new, line);
        assert_eq!(stopped["breakpointIds"], json!([set["breakpointId"]]), "{}", stopped.text);
    }
    session.ok("remove_breakpoint", json!({ "breakpointId": first["breakpointId"] })).await;
    let listed = session.breakpoints().await;
    assert_eq!((&listed[1]["id"], &listed[1]["verified"]), (&second["breakpointId"], &json!(true)));
    session.finish_at_end().await;
}

async fn each_failure_of_a_watch_is_counted(language: Language) {
    let program = watched(language);
    let (session, _) = watching(&program, json!({ "condition": "nosuch > 1" })).await;
    session.run_to_the_end().await;
    let listed = session.breakpoints().await;
    assert!(listed[1]["failure"].as_str().is_some_and(|text| text.starts_with("4 times")), "{listed:?}");
    session.finish().await;
}

async fn a_condition_and_hits_apply_to_a_watch(language: Language) {
    let program = watched(language);
    let (session, _) = watching(&program, json!({ "hitCondition": "2" })).await;
    change(&program, &session.go_on().await, "5", "7", "written_by_alias");
    session.ok("clear_breakpoints", json!({})).await;
    let condition = json!({ "watch": "cart.total", "condition": "cart.total > 7" });
    session.ok("set_breakpoint", condition).await;
    change(&program, &session.go_on().await, "7", "10", "written_in_function");
    session.ok("clear_breakpoints", json!({})).await;
    session.finish_at_end().await;
}

async fn steps_are_not_disturbed_by_a_watch(language: Language) {
    let program = watched(language);
    let (session, set) = watching(&program, json!({})).await;
    session.break_at(&program, "call").await;
    for written in ["written", "written_by_alias", "written_in_function"] {
        assert_eq!(session.go_on().await.outcome(), "data breakpoint", "{written}");
    }
    assert_eq!(session.go_on().await.place(), (program.path(), program.line("call")));
    let over = session.step("step_over").await;
    assert_eq!(over.place(), (program.path(), program.line("written_last")), "{}", over.text);
    assert_eq!(over.outcome(), "step");
    session.ok("remove_breakpoint", json!({ "breakpointId": set["breakpointId"] })).await;
    let print = session.step("step_over").await;
    assert_eq!(print.place(), (program.path(), program.line("print")), "{}", print.text);
    session.finish_at_end().await;
}

async fn a_watch_that_is_not_possible_says_why(language: Language) {
    let program = watched(language);
    let session = Debugging::of(language).await;
    session.fails("not_paused", "set_breakpoint", json!({ "watch": "cart.total" })).await;
    session.break_at(&program, "ready").await;
    session.start(&program).await;
    let both = json!({ "watch": "cart.total", "file": program.path(), "line": 1 });
    session.fails("invalid_arguments", "set_breakpoint", both).await;
    for expression in ["cart.total + 1", "nothing.total", "cart."] {
        let answer = session.call("set_breakpoint", json!({ "watch": expression })).await;
        assert!(answer.is_error, "{expression}: {}", answer.text);
    }
    assert_eq!(session.breakpoints().await.len(), 1);
    session.finish_at_end().await;
}

async fn a_watch_ends_with_its_process(language: Language) {
    let program = watched(language);
    let (session, set) = watching(&program, json!({})).await;
    session.step("restart_debugging").await;
    let listed = session.breakpoints().await;
    assert_eq!((&listed[1]["id"], &listed[1]["verified"]), (&set["breakpointId"], &json!(false)));
    assert!(listed[1]["reason"].as_str().is_some_and(|reason| reason.contains("set it again")), "{listed:?}");
    session.finish_at_end().await;
}

async fn a_watched_variable_ends_with_its_frame(language: Language) {
    let program = watched(language);
    let (session, _) = Debugging::stopped_at(&program, "local").await;
    session.ok("set_breakpoint", json!({ "watch": "local" })).await;
    change(&program, &session.go_on().await, "1", "5", "local_written");
    session.break_at(&program, "print").await;
    assert_eq!(session.go_on().await.place(), (program.path(), program.line("print")));
    let listed = session.breakpoints().await;
    assert_eq!((&listed[1]["watch"], &listed[1]["verified"]), (&json!("local"), &json!(false)));
    assert!(listed[1]["reason"].as_str().is_some_and(|reason| reason.contains("has returned")), "{listed:?}");
    session.finish_at_end().await;
}

/// A debugger without data breakpoints that work says so, and what to do instead.
#[tokio::test]
async fn a_language_without_data_breakpoints_refuses_them() {
    for language in [Language::Ruby, Language::Go] {
        let (_, session) = Debugging::paused(language, "bank", "deposit").await;
        let refused = session.fails("unsupported", "set_breakpoint", json!({ "watch": "amount" })).await;
        assert!(refused.text.contains("set breakpoints with a condition"), "{}", refused.text);
        session.finish().await;
    }
}
