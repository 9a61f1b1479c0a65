//! What becomes of the session afterwards.

use serde_json::json;
use tempfile::TempDir;
use test_support::{Fixture, Language, Texts, each};

use super::{open_sessions, run};
use crate::STILLFRAME;
use crate::debugging::{Debugging, ENDLESS, Report, folder, written_in};

each![
    a_session_opened_by_run_until_stays_open_at_a_stop,
    a_session_opened_by_run_until_closes_when_the_program_ends,
    close_true_ends_the_program_after_reading_values,
    close_false_keeps_the_session_of_an_ended_program,
    an_existing_session_stays_open_unless_close_says_otherwise,
    an_error_leaves_no_session,
    without_program_and_session_the_error_names_both,
    a_timeout_keeps_the_session_and_reports_what_the_program_does,
    locations_not_reached_in_time_stay_until_the_next_stop,
    a_stop_between_two_calls_is_reported_before_the_program_resumes,
    another_run_until_replaces_one_that_timed_out,
];

async fn a_session_opened_by_run_until_stays_open_at_a_stop(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let ran = run(&server, language, json!({ "until": [{ "line": program.line("deposit") }] })).await;
    assert_eq!(ran["closed"], false);
    assert_eq!(open_sessions(&server).await, 1);
    let session = Debugging { id: ran.text_of("sessionId").to_owned(), server };
    assert_eq!(session.evaluate("amount").await, "1");
    // The place was only for that one call.
    session.finish_at_end().await;
}

async fn a_session_opened_by_run_until_closes_when_the_program_ends(language: Language) {
    let server = STILLFRAME.serve().await;
    let ran = run(&server, language, json!({})).await;
    assert_eq!((ran.outcome(), &ran["closed"]), ("ended", &json!(true)));
    assert_eq!(open_sessions(&server).await, 0);
    server.finish().await;
}

async fn close_true_ends_the_program_after_reading_values(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let location = json!({ "line": program.line("deposit") });
    let ran =
        run(&server, language, json!({ "until": [location], "expressions": ["amount"], "close": true }))
            .await;
    assert_eq!((&ran["closed"], ran.at("/values/0/value")), (&json!(true), &json!("1")));
    assert_eq!((&ran["state"], &ran["stateBeforeClose"]), (&json!("ended"), &json!("paused")));
    assert!(ran.text_of("message").starts_with("Paused at "), "{}", ran.text);
    assert!(!ran.text.contains("variablesReference"), "{}", ran.text);
    assert_eq!(open_sessions(&server).await, 0);
    server.finish().await;
}

async fn close_false_keeps_the_session_of_an_ended_program(language: Language) {
    let server = STILLFRAME.serve().await;
    let ran = run(&server, language, json!({ "close": false })).await;
    assert_eq!((ran.outcome(), &ran["closed"]), ("ended", &json!(false)));
    let output = server.ok("get_output", json!({ "sessionId": ran["sessionId"] })).await;
    assert_eq!(output.at("/output/0/text"), "odd even\n6\n");
    server.finish().await;
}

async fn an_existing_session_stays_open_unless_close_says_otherwise(language: Language) {
    let (program, session) = Debugging::paused(language, "bank", "main_first").await;
    let ran = session.ok("run_until", json!({})).await;
    assert_eq!((ran.outcome(), &ran["closed"]), ("ended", &json!(false)));
    let ran = session.ok("run_until", json!({ "program": program.path(), "close": true })).await;
    assert_eq!((ran["closed"].clone(), open_sessions(&session.server).await), (json!(true), json!(0)));
    session.finish().await;
}

async fn an_error_leaves_no_session(language: Language) {
    let program = Fixture::of(language, "bank");
    let server = STILLFRAME.serve().await;
    let mut table = vec![
        ("file_not_found", json!({ "program": language.file("/no/such/program") })),
        ("line_unusable", json!({ "program": program.path(), "until": [{ "line": 9999 }] })),
        (
            "statement_not_found",
            json!({ "program": program.path(), "until": [{ "statement": "no such text" }] }),
        ),
        (
            "bad_expression",
            json!({ "program": program.path(), "until": [{ "line": program.line("deposit"), "condition": "(" }] }),
        ),
        ("environment", json!({ "program": program.path(), "executablePath": "/no/such/interpreter" })),
        ("language_unsupported", json!({ "program": program.path(), "language": "cobol" })),
    ];
    // C is compiled before its expressions are, so what makes no sense is known once it is reached.
    table.retain(|(code, _)| !language.is_compiled() || *code != "bad_expression");
    for (code, arguments) in table {
        server.fails(code, "run_until", arguments.clone()).await;
        assert_eq!(open_sessions(&server).await, 0, "{arguments}");
    }
    server.finish().await;
}

async fn without_program_and_session_the_error_names_both(language: Language) {
    let session = Debugging::of(language).await;
    let failed = session.fails("not_started", "run_until", json!({})).await;
    assert!(failed.text_of("message").contains("start_debugging"), "{}", failed.text);
    session.ok("close_debug_session", json!({})).await;
    let failed = session.server.fails("session_not_found", "run_until", json!({})).await;
    assert_eq!(failed["error"], "no debug session is open");
    assert!(failed.text_of("message").contains("`program`, `module` or `command`"), "{}", failed.text);
    session.finish().await;
}

async fn a_timeout_keeps_the_session_and_reports_what_the_program_does(language: Language) {
    let (_folder, program) = written_in(language, "endless", ENDLESS);
    let server = STILLFRAME.serve().await;
    let ran = server.ok("run_until", json!({ "program": program.path(), "timeout": 300 })).await;
    assert_eq!((ran.outcome(), &ran["closed"]), ("running", &json!(false)));
    let session = Debugging { id: ran.text_of("sessionId").to_owned(), server };
    let paused = session.ok("pause_execution", json!({ "timeout": 10_000 })).await;
    assert_eq!(paused.outcome(), "pause");
    session.finish().await;
}

/// Waits for a file between its two places.
const WAITS: Texts = Texts {
    name: "closing_waits",
    python: "\
import os, sys, time
while not os.path.exists(sys.argv[0] + '.go'): time.sleep(0.01)
x = 1  # @place
print('on')
",
    node: "\
const fs = require('node:fs');
while (!fs.existsSync(__filename + '.go'));
const x = 1; // @place
console.log('on');
",
    c: "\
#include <stdio.h>
#include <unistd.h>
int main(void) {
    while (access(__FILE__ \".go\", F_OK)) usleep(10000);
    int x = 1; // @place
    return puts(\"on\") < x;
}
",
};

/// `run_until` a place that is not reached in time, with no exceptions to stop at.
async fn out_of_time(language: Language, folder: &TempDir) -> (Debugging, Fixture) {
    let program = Fixture::write_in(language, folder.path(), "waits", WAITS);
    let server = STILLFRAME.serve().await;
    let location = json!({ "line": program.line("place") });
    let arguments =
        json!({ "program": program.path(), "until": [location], "exceptions": "none", "timeout": 0 });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!(ran.outcome(), "running", "{}", ran.text);
    assert!(ran.text.contains("its breakpoints stay until the next stop"), "{}", ran.text);
    (Debugging { id: ran.text_of("sessionId").to_owned(), server }, program)
}

async fn stops_there_and_forgets(session: &Debugging, program: &Fixture) {
    let stopped = session.go_on().await;
    assert_eq!(stopped.place(), (program.path(), program.line("place")), "{}", stopped.text);
    assert_eq!(session.breakpoints().await, Vec::<serde_json::Value>::new());
    let mode = session.ok("set_exception_breakpoints", json!({ "mode": "all" })).await;
    assert_eq!(mode["message"], "Stopping at all exceptions (before: uncaught)");
    session.run_to_the_end().await;
}

async fn locations_not_reached_in_time_stay_until_the_next_stop(language: Language) {
    let folder = folder();
    let (session, program) = out_of_time(language, &folder).await;
    assert_eq!(session.breakpoints().await.len(), 1);
    std::fs::write(format!("{}.go", program.path()), "").unwrap();
    stops_there_and_forgets(&session, &program).await;
    session.finish().await;
}

async fn a_stop_between_two_calls_is_reported_before_the_program_resumes(language: Language) {
    let folder = folder();
    let (session, program) = out_of_time(language, &folder).await;
    std::fs::write(format!("{}.go", program.path()), "").unwrap();
    let state =
        async || session.server.ok("list_debug_sessions", json!({})).await.at("/sessions/0/state").clone();
    while state().await != "paused" {}
    stops_there_and_forgets(&session, &program).await;
    session.finish().await;
}

async fn another_run_until_replaces_one_that_timed_out(language: Language) {
    let folder = folder();
    let (session, program) = out_of_time(language, &folder).await;
    let ran = session.ok("run_until", json!({ "timeout": 0 })).await;
    assert_eq!(ran.outcome(), "running");
    assert_eq!(session.breakpoints().await, Vec::<serde_json::Value>::new());
    std::fs::write(format!("{}.go", program.path()), "").unwrap();
    session.finish_at_end().await;
}
