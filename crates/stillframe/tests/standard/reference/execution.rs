//! `start_debugging`, the steps, `continue_execution` and `pause_execution`.

use serde_json::json;
use test_support::{Language, Texts, each};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report, written_in};

each![
    start_debugging_repeats_its_message_and_reason_as_data,
    stop_on_entry_stops_at_the_first_line_with_the_reason_entry,
    the_program_gets_its_arguments,
    the_steps_report_paused_and_what_they_did,
    continue_execution_without_waiting_reports_running,
    pause_execution_stops_a_running_program,
];

async fn start_debugging_repeats_its_message_and_reason_as_data(language: Language) {
    let (program, session) = Debugging::with(language, "swap_vars").await;
    session.break_at(&program, "first_assignment").await;
    let started = session.start(&program).await;
    let message = format!("Debugging started for {}. Current state: paused", program.path());
    assert_eq!((&started["state"], &started["message"]), (&json!("paused"), &json!(message)));
    assert_eq!(started["data"], json!({ "message": message, "reason": "breakpoint" }));
    session.finish().await;
}

async fn stop_on_entry_stops_at_the_first_line_with_the_reason_entry(language: Language) {
    let (program, session) = Debugging::with(language, "empty_scope").await;
    let arguments = json!({
        "scriptPath": program.path(),
        "dapLaunchArgs": { "stopOnEntry": true, "justMyCode": true },
    });
    let started = session.ok("start_debugging", arguments).await;
    assert_eq!(started.at("/data/reason"), "entry");
    assert_eq!(started.place(), (program.path(), language.entry(&program, "first")));
    session.finish().await;
}

async fn the_program_gets_its_arguments(language: Language) {
    let (program, session) = Debugging::with(language, "empty_scope").await;
    let arguments = json!({ "scriptPath": program.path(), "args": ["one two", "--flag", ""] });
    let ended = session.ok("start_debugging", arguments).await;
    assert_eq!(ended["state"], "ended");
    // The program of C writes as Python does.
    let writer = if language.is_compiled() { Language::Python } else { language };
    let list = writer.shown_list(&["'one two'", "'--flag'", "''"]);
    assert_eq!(ended["output"], format!("{list}\n"));
    session.finish().await;
}

async fn the_steps_report_paused_and_what_they_did(language: Language) {
    let (program, session) = Debugging::paused(language, "swap_vars", "call").await;
    let table = [
        ("step_into", "Stepped into", "first_assignment"),
        ("step_over", "Stepped over", "second_assignment"),
        ("step_out", "Stepped out", language.words().back_from_swap),
    ];
    for (tool, message, place) in table {
        let stepped = session.step(tool).await;
        assert_eq!(stepped["state"], "paused", "{tool}");
        assert!(stepped.text_of("message").starts_with(message), "{}", stepped.text);
        assert_eq!(stepped["reason"], "step", "{tool}");
        assert_eq!(stepped.place(), (program.path(), program.line(place)), "{tool}");
    }
    session.finish().await;
}

async fn continue_execution_without_waiting_reports_running(language: Language) {
    let texts = Texts {
        name: "reference_sleeps",
        python: "import time\nx = 1  # @one\ntime.sleep(30)\n",
        node: "const x = 1; // @one\nsetTimeout(() => {}, 30_000);\n",
        c: "#include <unistd.h>\nint main(void) {\n    int x = 1; // @one\n    return sleep(30) + x;\n}\n",
    };
    let (_folder, program) = written_in(language, "slow", texts);
    let (session, _) = Debugging::stopped_at(&program, "one").await;
    let running = session.ok("continue_execution", json!({ "wait": false })).await;
    assert_eq!(running["state"], "running");
    assert!(running.text_of("message").starts_with("Continued execution"), "{}", running.text);
    session.finish().await;
}

#[tokio::test]
async fn continuing_an_unknown_session_names_it() {
    let server = STILLFRAME.serve().await;
    let missing = json!({ "sessionId": "no-such-session" });
    for tool in ["continue_execution", "step_over", "pause_execution", "get_stack_trace"] {
        let failed = server.fails("session_not_found", tool, missing.clone()).await;
        assert_eq!(failed["error"], "Managed session not found: no-such-session", "{tool}");
    }
    server.finish().await;
}

async fn pause_execution_stops_a_running_program(language: Language) {
    let texts = Texts {
        name: "reference_loops",
        python: "n = 0\nwhile True:\n    n += 1\n",
        node: "let n = 0;\nfor (;;) {\n  n += 1;\n}\n",
        c: "int main(void) {\n    for (volatile unsigned n = 0;;) n++;\n}\n",
    };
    let (_folder, program) = written_in(language, "busy", texts);
    let session = Debugging::of(language).await;
    let started =
        session.ok("start_debugging", json!({ "scriptPath": program.path(), "timeout": 300 })).await;
    assert_eq!(started["state"], "running");
    let paused = session.step("pause_execution").await;
    assert_eq!((&paused["state"], &paused["reason"]), (&json!("paused"), &json!("pause")));
    session.finish().await;
}
