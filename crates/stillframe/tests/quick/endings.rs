//! Programs that end, run on, or crash.

use serde_json::json;
use test_support::{DynamicLanguage as Language, Fixture, dynamic};

use crate::client::{ADDS, ENDLESS, ToolClient, folder, name_of, scene, stop};

dynamic![
    a_running_program_is_reported_with_next_steps,
    a_running_program_is_paused_where_it_is,
    an_uncaught_exception_stops_where_it_is_raised,
    a_crash_ends_with_its_signal,
    an_exit_ends_with_its_code_and_message,
    after_the_end_the_suggestion_is_another_launch,
    a_program_that_ended_between_calls_is_reported_by_stop,
];

const RUNNING: &str = "Still running. Call debug_continue to wait for the next stop, or with `pause` to stop \
                       it now; debug_stop ends it.";

async fn a_running_program_is_reported_with_next_steps(language: Language) {
    let (_folder, program, client) = scene(language, ENDLESS).await;
    client.launch(&program).await;
    let mut answer = client.succeeds("debug_continue", json!({ "timeout": 0 })).await;
    while answer == RUNNING {
        answer = client.succeeds("debug_continue", json!({ "timeout": 1 })).await;
    }
    assert_eq!(answer, format!("{RUNNING}\nOutput:\nready"));
    let failed = client.fails("debug_evaluate", json!({ "expression": "1" })).await;
    let next = "call debug_continue to wait for a stop, or with `pause` to stop it now; call \
                debug_breakpoint to stop at a line";
    assert_eq!(failed, format!("Error: Session is not paused; the program is running; {next}"));
    assert_eq!(client.step("debug_stop").await, "Debug session ended.");
    client.server.finish().await;
}

async fn a_running_program_is_paused_where_it_is(language: Language) {
    let (_folder, program, client) = scene(language, ENDLESS).await;
    client.launch(&program).await;
    client.succeeds("debug_continue", json!({ "timeout": 0 })).await;
    // What it says is waited for, because until then it is not in the loop.
    let mut paused = client.succeeds("debug_continue", json!({ "pause": true, "timeout": 10_000 })).await;
    while !client.step("debug_stack").await.starts_with("#0 turn (") {
        client.succeeds("debug_continue", json!({ "timeout": 1 })).await;
        paused = client.succeeds("debug_continue", json!({ "pause": true, "timeout": 10_000 })).await;
    }
    assert!(paused.starts_with(&format!("Stopped (pause) at {}:", language.file("app"))), "{paused}");
    client.server.finish().await;
}

async fn an_uncaught_exception_stops_where_it_is_raised(language: Language) {
    let program = Fixture::of(language, "endings");
    let folder = folder();
    let client = ToolClient::within(folder.path()).await;
    client.succeeds("debug_launch", json!({ "program": program.path(), "args": ["raise"] })).await;
    let stopped = client.step("debug_continue").await;
    let shown = stop("exception", &program, "raise");
    let (place, source) = shown.split_once('\n').unwrap();
    let raised = language.words().raised;
    let expected = format!("{place}\n{raised}: nobody catches this\n{source}\nOutput:\nabout to raise");
    assert_eq!(stopped, expected);
    let ended = client.step("debug_continue").await;
    assert!(ended.starts_with("Program exited with code 1.\nOutput:\n[stderr] "), "{ended}");
    assert!(ended.contains(&format!("{raised}: nobody catches this")), "{ended}");
    client.server.finish().await;
}

async fn a_crash_ends_with_its_signal(language: Language) {
    let program = Fixture::of(language, "endings");
    let folder = folder();
    let client = ToolClient::within(folder.path()).await;
    client.succeeds("debug_launch", json!({ "program": program.path(), "args": ["crash"] })).await;
    let ended = client.step("debug_continue").await;
    assert_eq!(ended, "Program was killed by SIGSEGV.\nOutput:\nabout to crash");
    client.server.finish().await;
}

async fn an_exit_ends_with_its_code_and_message(language: Language) {
    let program = Fixture::of(language, "endings");
    let folder = folder();
    let client = ToolClient::within(folder.path()).await;
    client.succeeds("debug_launch", json!({ "program": program.path(), "args": ["message"] })).await;
    let ended = client.step("debug_continue").await;
    // Standard output and standard error are two pipes, read in any order.
    assert!(ended.starts_with("Program exited with code 1.\nOutput:\n"), "{ended}");
    assert!(ended.contains("[stderr] that is all"), "{ended}");
    client.server.finish().await;
}

async fn after_the_end_the_suggestion_is_another_launch(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    client.launch(&program).await;
    client.step("debug_continue").await;
    let calls = [
        ("debug_continue", json!({})),
        ("debug_step", json!({})),
        ("debug_evaluate", json!({ "expression": "1" })),
    ];
    for (tool, arguments) in calls {
        let failed = client.fails(tool, arguments).await;
        let next = "the program has ended; call debug_launch to start it again";
        assert_eq!(failed, format!("Error: Session is not paused; {next}"), "{tool}");
    }
    let launched = client.step("debug_launch").await;
    let (file, name) = (language.file("app"), name_of(language));
    assert_eq!(launched, format!("Debugger started for {file} ({name}). Ready for breakpoints."));
    client.server.finish().await;
}

async fn a_program_that_ended_between_calls_is_reported_by_stop(language: Language) {
    let (_folder, program, client) = scene(language, ADDS).await;
    client.stopped_at(&program, "return").await;
    let running = client.succeeds("debug_continue", json!({ "timeout": 0 })).await;
    assert!(running.starts_with(RUNNING), "{running}");
    // A call that fails because of the end does not report it.
    while !client.fails("debug_evaluate", json!({ "expression": "1" })).await.contains("has ended") {}
    let ended = client.step("debug_stop").await;
    assert!(ended.starts_with("Debug session ended.\nProgram exited with code 0."), "{ended}");
    client.server.finish().await;
}
