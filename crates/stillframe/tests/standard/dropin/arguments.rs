//! What they send, and the lists that they read.

use serde_json::{Value, json};
use test_support::{DynamicLanguage, Language, dynamic, each};

use super::{bank, listed};
use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};

/// Above the largest number that Linux gives to a process (2²²).
const NOBODY: &str = "4194399";

each![
    unsupported_arguments_name_the_alternative,
    exception_filters_can_be_set_at_the_start,
    local_variables_can_be_requested_by_name,
    breakpoints_are_listed_and_removed_by_both_names,
    a_restart_reports_what_it_kept,
    output_entries_each_have_a_cursor,
    a_breakpoint_by_text_has_an_anchor,
    a_misspelt_limiting_argument_is_refused_and_others_ignored,
];

dynamic![
    // Where C has code is known once the program is loaded.
    a_moved_breakpoint_has_a_warning,
];

async fn unsupported_arguments_name_the_alternative(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let set = session.break_with(&program, "deposit", json!({ "suspendPolicy": "all" })).await;
    assert_eq!(
        set["warnings"],
        json!(["ignored `suspendPolicy`: a stop suspends all threads of the process"])
    );

    let attach =
        json!({ "processId": NOBODY, "verifyTimeout": 1000, "sourcePaths": ["/src"], "timeout": 2000 });
    let failed = session.call("attach_to_process", attach).await;
    assert!(failed.is_error && failed["code"] != "invalid_arguments", "{}", failed.text);
    let warning = "ignored `sourcePaths`: use `pathMappings` to map local folders to remote ones";
    assert_eq!(failed["warnings"], json!([warning]));

    let start = json!({ "scriptPath": program.path(), "adapterLaunchConfig": { "console": "none" } });
    let started = session.ok("start_debugging", start).await;
    assert_eq!(started.place(), (program.path(), program.line("deposit")));
    assert!(started.at("/warnings/0").as_str().unwrap().starts_with("ignored `adapterLaunchConfig`: "));
    session.finish().await;
}

async fn a_misspelt_limiting_argument_is_refused_and_others_ignored(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    for name in ["dryRunSpwan", "dry_run_spawn", "dryRun"] {
        let start = json!({ "scriptPath": program.path(), name: true });
        let failed = session.fails("invalid_arguments", "start_debugging", start).await;
        assert!(failed.text.contains("did you mean `dryRunSpawn`?"), "{}", failed.text);
    }
    let not_a_switch = json!({ "scriptPath": program.path(), "dryRunSpawn": "perhaps" });
    session.fails("invalid_arguments", "start_debugging", not_a_switch).await;
    assert_eq!(listed(&session).await["state"], "created", "nothing was started");

    session.break_at(&program, "deposit").await;
    let nested = json!({ "stopOnEntry": false, "stopOnEntri": true });
    let started =
        session.ok("start_debugging", json!({ "scriptPath": program.path(), "dapLaunchArgs": nested }));
    let started = started.await;
    assert_eq!(started.place(), (program.path(), program.line("deposit")));
    let warning = "ignored unknown argument `dapLaunchArgs.stopOnEntri`; did you mean `stopOnEntry`?";
    assert_eq!(started["warnings"], json!([warning]));

    let misspelt = json!({ "expression": "1", "sideEfects": false });
    let failed = session.fails("invalid_arguments", "evaluate_expression", misspelt).await;
    assert!(failed.text.contains("did you mean `sideEffects`?"), "{}", failed.text);
    session.fails("invalid_arguments", "evaluate_expression", json!({ "expresion": "1" })).await;
    let evaluated = session.ok("evaluate_expression", json!({ "expression": "1", "colour": "red" })).await;
    assert_eq!(evaluated["warnings"], json!(["ignored unknown argument `colour`"]));
    session.finish().await;
}

async fn exception_filters_can_be_set_at_the_start(language: Language) {
    let program = bank(language);
    let inside = json!({ "dapLaunchArgs": { "breakOnExceptions": "none", "stopOnEntry": true } });
    for (mut start, mode) in [(json!({ "breakOnExceptions": "all" }), "all"), (inside, "none")] {
        let session = Debugging::of(language).await;
        session.break_at(&program, "deposit").await;
        start["scriptPath"] = json!(program.path());
        let started = session.ok("start_debugging", start).await;
        assert_eq!(started["warnings"], Value::Null, "{}", started.text);
        let listed = session.ok("list_breakpoints", json!({})).await;
        assert_eq!(listed.at("/exceptions/mode"), mode);
        session.finish().await;
    }
    let session = Debugging::of(language).await;
    let wrong = json!({ "scriptPath": program.path(), "breakOnExceptions": "some" });
    session.fails("invalid_arguments", "start_debugging", wrong).await;
    session.finish().await;
}

async fn local_variables_can_be_requested_by_name(language: Language) {
    let (session, _) = Debugging::stopped_at(&bank(language), "deposit").await;
    let arguments = json!({ "names": ["amount", "nobody"] });
    let read = session.ok("get_local_variables", arguments).await;
    assert_eq!((&read["count"], read.at("/variables/0/name")), (&json!(1), &json!("amount")));
    assert_eq!(read["notFound"], json!(["nobody"]));
    let all = session.ok("get_local_variables", json!({})).await;
    assert_eq!((&all["notFound"], &all["truncation"]), (&Value::Null, &Value::Null));
    let stack = session.ok("get_stack_trace", json!({})).await;
    let scopes = session.ok("get_scopes", json!({ "frameId": stack.at("/stackFrames/0/id") })).await;
    let (first, frame) = (scopes.at("/scopes/0"), stack.at("/stackFrames/0"));
    // Where a debugger knows what code a scope belongs to, it is that around the line of the frame.
    if let Some(line) = first["line"].as_u64() {
        assert_eq!(first["source"]["path"], frame["file"]);
        assert!(first["endLine"].as_u64().is_some_and(|end| end > line), "{first}");
        let at = frame["line"].as_u64().unwrap();
        assert!((line..=first["endLine"].as_u64().unwrap()).contains(&at), "{first} {at}");
        let columns = [&first["column"], &first["endColumn"]].map(Value::is_u64);
        assert_eq!(columns, [language == Language::Node; 2], "{first}");
    }
    if matches!(language, Language::Node | Language::Python) {
        assert!(first["line"].is_u64(), "{first}");
    }
    let scope = &scopes["scopes"].as_array().unwrap().last().unwrap()["variablesReference"];
    let page = session.ok("get_variables", json!({ "scope": scope, "count": 1 })).await;
    let omitted = page["total"].as_u64().unwrap() - 1;
    assert_eq!(page.at("/truncation/omittedCount"), &json!(omitted), "{}", page.text);
    session.finish().await;
}

async fn breakpoints_are_listed_and_removed_by_both_names(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let line = program.line("deposit");
    let id = session.break_at(&program, "deposit").await.text_of("breakpointId").to_owned();
    session.ok("set_breakpoint", json!({ "function": "kind" })).await;
    let listed = session.ok("list_breakpoints", json!({})).await;
    assert_eq!((&listed["count"], &listed["functionCount"]), (&json!(2), &json!(1)));
    let function = listed.at("/functionBreakpoints/0");
    assert_eq!((&function["functionName"], &function["verified"]), (&json!("kind"), &json!(false)));
    assert_eq!(function["id"], listed.at("/breakpoints/1")["breakpointId"]);
    let of_file = session.ok("list_breakpoints", json!({ "file": program.path() })).await;
    assert_eq!(of_file["functionBreakpoints"], Value::Null);
    session.ok("remove_breakpoint", json!({ "function": "kind" })).await;

    session.start(&program).await;
    let listed = session.ok("list_breakpoints", json!({})).await;
    let first = listed.at("/breakpoints/0");
    assert_eq!((&first["id"], &first["breakpointId"]), (&json!(id), &json!(id)));
    assert_eq!((&first["requestedLine"], &first["boundLine"]), (&json!(line), &json!(line)));

    let removed = session.ok("remove_breakpoint", json!({ "breakpointId": id })).await;
    let removed = removed.at("/removed/0");
    assert_eq!((&removed["id"], &removed["line"]), (&json!(id), &json!(line)));
    session.break_at(&program, "kind").await;
    let cleared = session.ok("clear_breakpoints", json!({})).await;
    assert_eq!((&cleared["cleared"], &cleared["files"]), (&json!(1), &json!([program.path()])));
    let disabled = session.break_with(&program, "odd", json!({ "enabled": false })).await;
    assert_eq!(disabled["enabled"], false);
    let listed = session.ok("list_breakpoints", json!({})).await;
    let off = listed["breakpoints"].as_array().unwrap().last().unwrap();
    assert_eq!((&off["message"], &off["boundLine"]), (&json!("it is disabled"), &Value::Null));
    session.finish().await;
}

async fn a_restart_reports_what_it_kept(language: Language) {
    let (session, started) = Debugging::stopped_at(&bank(language), "deposit").await;
    assert_eq!(started.at("/data/breakpointsReapplied"), &Value::Null);
    let again = session.step("restart_debugging").await;
    assert_eq!(again.at("/data/breakpointsReapplied"), 1);
    assert_eq!(again.at("/data/outputReset"), true);
    session.ok("clear_breakpoints", json!({})).await;
    session.run_to_the_end().await;
    let first = session.ok("get_output", json!({ "since": 0 })).await;
    session.step("restart_debugging").await;
    let second = session.ok("get_output", json!({ "since": 0 })).await;
    assert_eq!(second["output"], first["output"]);
    let new = session.ok("get_output", json!({ "since": first["nextSince"] })).await;
    assert_eq!((&new["output"], &new["dropped"]), (&second["output"], &json!(0)));
    session.finish().await;
}

async fn output_entries_each_have_a_cursor(language: Language) {
    let session = Debugging::of(language).await;
    session.start(&bank(language)).await;
    let read = session.ok("get_output", json!({})).await;
    assert_eq!(read["sessionId"], session.id);
    let entries = read["entries"].as_array().unwrap();
    let text: String = entries.iter().map(|entry| entry["output"].as_str().unwrap()).collect();
    assert_eq!(text, session.written("stdout").await);
    assert_eq!(entries[0]["category"], "stdout");
    assert!(entries[0]["timestamp"].as_u64() > Some(1_700_000_000_000), "{}", read.text);
    assert_eq!(entries.last().unwrap()["seq"], read["nextSince"]);
    let drained = session.ok("get_output", json!({ "since": read["nextSince"] })).await;
    assert_eq!(drained["entries"], json!([]));
    session.finish().await;
}

async fn a_breakpoint_by_text_has_an_anchor(language: Language) {
    let (program, session) = Debugging::with(language, "bank").await;
    let arguments = json!({ "file": program.path(), "statement": "@deposit_return" });
    let set = session.ok("set_breakpoint", arguments).await;
    assert_eq!(set["anchor"], json!({ "statement": "@deposit_return" }));
    assert_eq!(set["content"], *set.at("/context/lineContent"));
    assert_eq!(session.breakpoints().await[0]["anchor"], set["anchor"]);
    session.finish().await;
}

async fn a_moved_breakpoint_has_a_warning(language: DynamicLanguage) {
    let session = Debugging::of(language).await;
    let moved = session.break_with(&bank(*language), "comment", json!({})).await;
    assert_eq!(moved["warning"], moved["message"]);
    session.finish().await;
}

#[tokio::test]
async fn languages_are_accepted_by_both_names() {
    let server = STILLFRAME.serve().await;
    let listed = server.ok("list_supported_languages", json!({})).await;
    let ids = |list: &Value, name: &str| -> Vec<Value> {
        list.as_array().unwrap().iter().map(|one| one[name].clone()).collect()
    };
    let names = ids(&listed["languages"], "language");
    assert_eq!(ids(&listed["languages"], "id"), names);
    assert_eq!(ids(&listed["available"], "language"), names);
    assert!(listed["installed"].as_array().unwrap().contains(&json!("python")), "{}", listed.text);
    let (python, modes) = (listed.at("/languages/0"), listed.at("/available/0/modes"));
    assert_eq!(
        (&python["displayName"], &python["defaultExecutable"]),
        (&python["about"], &python["interpreter"])
    );
    assert_eq!((&modes["launch"], &modes["attach"]), (&python["launch"], &python["attach"]));
    let all = listed["languages"].as_array().unwrap();
    let attachable = |name: &str| {
        let language = all.iter().find(|language| language["language"] == name).unwrap();
        (language["launch"]["supported"].clone(), language["attach"]["supported"].clone())
    };
    assert_eq!(attachable("python"), (json!(true), json!(true)));
    assert_eq!(attachable("php"), (json!(true), json!(false)));
    server.finish().await;
}
