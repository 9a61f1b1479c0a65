//! Programs that end before the breakpoint, in every way there is.

use serde_json::{Value, json};
use test_support::{Answer, Fixture, Language, PerLanguage, each};

use crate::debugging::{Debugging, Report};

each![
    a_program_that_returns_exits_0,
    a_program_that_calls_exit_has_its_exit_code,
    a_program_that_exits_with_a_message_exits_1,
    a_program_that_exits_without_cleanup_has_its_exit_code,
    a_program_that_crashes_ends_with_the_signal,
    the_end_is_described_in_a_sentence,
    an_uncaught_exception_stops_where_it_is_raised,
    with_exceptions_off_an_uncaught_one_ends_the_program,
];

/// Runs the program with a breakpoint on a line that it never reaches.
async fn ends(language: Language, how: &str) -> (Debugging, Answer) {
    let (program, session) = Debugging::with(language, "endings").await;
    session.break_at(&program, "never").await;
    if language.is_compiled() && how == "crash" {
        // A signal that kills is a stop in C, as an exception is elsewhere.
        session.ok("set_exception_breakpoints", json!({ "mode": "none" })).await;
    }
    let arguments = json!({ "scriptPath": program.path(), "args": [how] });
    let ended = session.ok("start_debugging", arguments).await;
    (session, ended)
}

/// The state, the code, the signal and the output of an ended program; and that it can be started again.
async fn ended_with(language: Language, how: &str, code: Value, signal: Value, output: &str) {
    let (session, ended) = ends(language, how).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    assert_eq!((&ended["exitCode"], &ended["signal"]), (&code, &signal), "{}", ended.text);
    // Standard output and standard error are two pipes, read in any order.
    let (said, output) = (ended.text_of("output"), output.to_owned());
    let before = format!("about to {how}\n");
    assert!([format!("{before}{output}"), format!("{output}{before}")].contains(&said.to_owned()), "{said}");
    let listed = session.breakpoints().await;
    assert_eq!((&listed[0]["hits"], &listed[0]["verified"]), (&json!(0), &json!(false)), "{}", listed[0]);
    assert_eq!(session.step("restart_debugging").await.outcome(), "ended");
    session.finish().await;
}

async fn a_program_that_returns_exits_0(language: Language) {
    ended_with(language, "return", json!(0), Value::Null, "").await;
}

async fn a_program_that_calls_exit_has_its_exit_code(language: Language) {
    ended_with(language, "exit", json!(4), Value::Null, "").await;
}

async fn a_program_that_exits_with_a_message_exits_1(language: Language) {
    ended_with(language, "message", json!(1), Value::Null, "[stderr] that is all\n").await;
}

async fn a_program_that_exits_without_cleanup_has_its_exit_code(language: Language) {
    ended_with(language, "os_exit", json!(3), Value::Null, "").await;
}

#[tokio::test]
async fn a_crash_stops_where_it_happens_and_then_ends_with_the_signal() {
    let program = Fixture::of(Language::C, "endings");
    let session = Debugging::of(Language::C).await;
    let arguments = json!({ "scriptPath": program.path(), "args": ["crash"] });
    let stopped = session.ok("start_debugging", arguments).await;
    assert_eq!((stopped.outcome(), stopped.place()), ("exception", (program.path(), program.line("crash"))));
    assert_eq!(
        (stopped.at("/exception/type"), stopped.at("/exception/message")),
        (&json!("SIGSEGV"), &json!("address not mapped to object (fault address: 0x0)"))
    );
    let ended = session.go_on().await;
    assert_eq!(
        (ended.outcome(), &ended["exitCode"], &ended["signal"]),
        ("ended", &Value::Null, &json!("SIGSEGV"))
    );
    session.finish().await;
}

async fn a_program_that_crashes_ends_with_the_signal(language: Language) {
    ended_with(language, "crash", Value::Null, json!("SIGSEGV"), "").await;
}

async fn the_end_is_described_in_a_sentence(language: Language) {
    for (how, sentence) in
        [("os_exit", "The program exited with code 3"), ("crash", "The program was killed by SIGSEGV")]
    {
        let (session, ended) = ends(language, how).await;
        let path = Fixture::of(language, "endings").path().to_owned();
        let message = ended.text_of("message");
        let begin = format!("Debugging started for {path}. Current state: ended. ");
        assert!(message.starts_with(&begin) && message.ends_with(sentence), "{message}");
        assert!(message.contains("was never reached") || message.contains("was never bound"), "{message}");
        session.finish().await;
    }
}

/// How an uncaught error ends a program: its exit code, or else its signal.
const UNCAUGHT: PerLanguage<(Option<i64>, Option<&str>)> = PerLanguage {
    name: "endings: uncaught",
    python: (Some(1), None),
    node: (Some(1), None),
    c: (None, Some("SIGABRT")),
};

fn how_it_ended(ended: &Answer) -> (Option<i64>, Option<&str>) {
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    (ended["exitCode"].as_i64(), ended["signal"].as_str())
}

async fn an_uncaught_exception_stops_where_it_is_raised(language: Language) {
    let program = Fixture::of(language, "endings");
    let (session, stopped) = ends(language, "raise").await;
    assert_eq!((stopped.outcome(), stopped.place()), ("exception", (program.path(), program.line("raise"))));
    let exception = &stopped["exception"];
    let raised = language.words().raised;
    assert_eq!(exception["type"], raised);
    assert_eq!(exception["uncaught"], true);
    // A signal has neither a text of its own nor a stack, and its program says nothing more.
    let answer = PerLanguage {
        name: "endings: said",
        python: Some(("raise ValueError", "nobody catches this")),
        node: Some(("RangeError: nobody catches this\n    at ", "nobody catches this")),
        c: None,
    };
    if let Some((stack, message)) = answer.of(language) {
        assert_eq!(exception["message"], message);
        assert!(exception["stack"].as_str().unwrap().contains(stack), "{}", stopped.text);
    }
    assert_eq!(language.plain(&session.evaluate("how").await), language.text("raise"));
    let ended = session.go_on().await;
    assert_eq!(how_it_ended(&ended), UNCAUGHT.of(language), "{}", ended.text);
    if let Some((_, message)) = answer.of(language) {
        // The second is Ruby's way to write it.
        let ways = [format!("{raised}: {message}"), format!("{message} ({raised})")];
        let output = ended.text_of("output");
        assert!(ways.iter().any(|way| output.contains(way)), "{}", ended.text);
    }
    session.finish().await;
}

async fn with_exceptions_off_an_uncaught_one_ends_the_program(language: Language) {
    let (program, session) = Debugging::with(language, "endings").await;
    let set = session.ok("set_exception_breakpoints", json!({ "mode": "none" })).await;
    assert_eq!(set["message"], "Stopping at none exceptions (before: uncaught)");
    let arguments = json!({ "scriptPath": program.path(), "args": ["raise"] });
    let ended = session.ok("start_debugging", arguments).await;
    assert_eq!(how_it_ended(&ended), UNCAUGHT.of(language), "{}", ended.text);
    session.finish().await;
}
