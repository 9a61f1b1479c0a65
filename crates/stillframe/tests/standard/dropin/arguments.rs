//! What they send, and the lists that they read.

use serde_json::{Value, json};
use test_support::{Language, each};

use super::bank;
use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};

/// Above the largest number that Linux gives to a process (2²²).
const NOBODY: &str = "4194399";

each![
    arguments_that_mean_nothing_here_say_what_there_is_instead,
    the_exceptions_to_stop_at_may_be_said_at_the_start,
    local_variables_are_read_by_their_names,
    breakpoints_are_listed_and_removed_by_both_names,
    a_restart_says_what_it_kept,
    output_names_its_session,
];

async fn arguments_that_mean_nothing_here_say_what_there_is_instead(language: Language) {
    let program = bank(language);
    let session = Debugging::of(language).await;
    let set = session.break_with(&program, "deposit", json!({ "suspendPolicy": "all" })).await;
    assert_eq!(
        set["warnings"],
        json!(["ignored `suspendPolicy`: a stop suspends all threads of the process"])
    );

    let attach =
        json!({ "processId": NOBODY, "verifyTimeout": 1000, "sourcePaths": ["/src"], "timeout": 2000 });
    let failed = session.call("attach_to_process", attach).await;
    assert!(failed.is_error && failed["code"] != "invalid_arguments", "{}", failed.text);
    let warning = "ignored `sourcePaths`: `pathMappings` says where local folders are on the other side";
    assert_eq!(failed["warnings"], json!([warning]));

    let start = json!({ "scriptPath": program.path(), "adapterLaunchConfig": { "console": "none" } });
    let started = session.ok("start_debugging", start).await;
    assert_eq!(started.place(), (program.path(), program.line("deposit")));
    assert!(started.at("/warnings/0").as_str().unwrap().starts_with("ignored `adapterLaunchConfig`: "));
    let detached = session.ok("detach_from_process", json!({ "terminateProcess": true })).await;
    assert!(detached.at("/warnings/0").as_str().unwrap().starts_with("ignored `terminateProcess`: "));
    session.finish().await;
}

async fn the_exceptions_to_stop_at_may_be_said_at_the_start(language: Language) {
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

async fn local_variables_are_read_by_their_names(language: Language) {
    let (session, _) = Debugging::stopped_at(&bank(language), "deposit").await;
    let asked = json!({ "names": ["amount", "nobody"] });
    let read = session.ok("get_local_variables", asked).await;
    assert_eq!((&read["count"], read.at("/variables/0/name")), (&json!(1), &json!("amount")));
    assert_eq!(read["notFound"], json!(["nobody"]));
    let all = session.ok("get_local_variables", json!({})).await;
    assert_eq!(all["notFound"], Value::Null);
    session.finish().await;
}

async fn breakpoints_are_listed_and_removed_by_both_names(language: Language) {
    let program = bank(language);
    let session = Debugging::of(language).await;
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
    let disabled = session.break_with(&program, "odd", json!({ "enabled": false })).await;
    assert_eq!(disabled["enabled"], false);
    let listed = session.ok("list_breakpoints", json!({})).await;
    let off = listed["breakpoints"].as_array().unwrap().last().unwrap();
    assert_eq!((&off["message"], &off["boundLine"]), (&json!("it is disabled"), &Value::Null));
    session.finish().await;
}

async fn a_restart_says_what_it_kept(language: Language) {
    let (session, started) = Debugging::stopped_at(&bank(language), "deposit").await;
    assert_eq!(started.at("/data/breakpointsReapplied"), &Value::Null);
    let again = session.step("restart_debugging").await;
    assert_eq!(again.at("/data/breakpointsReapplied"), 1);
    assert_eq!(again.at("/data/outputReset"), false);
    session.finish().await;
}

async fn output_names_its_session(language: Language) {
    let session = Debugging::of(language).await;
    assert_eq!(session.ok("get_output", json!({})).await["sessionId"], session.id);
    session.finish().await;
}

#[tokio::test]
async fn languages_are_told_by_both_names() {
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
    server.finish().await;
}
