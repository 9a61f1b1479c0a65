//! Programs that end before the breakpoint, in every way there is.

use serde_json::{Value, json};
use test_support::{Answer, Fixture};

use crate::debugging::{Debugging, Report};

/// Runs the program with a breakpoint on a line that it never reaches.
async fn ends(how: &str) -> (Debugging, Answer) {
    let program = Fixture::python("endings");
    let session = Debugging::new().await;
    session.break_at(&program, "never").await;
    let arguments = json!({ "scriptPath": program.path(), "args": [how] });
    let ended = session.ok("start_debugging", arguments).await;
    (session, ended)
}

/// The state, the code, the signal and the output of an ended program; and that it can be started again.
async fn ended_with(how: &str, code: Value, signal: Value, output: &str) {
    let (session, ended) = ends(how).await;
    assert_eq!(ended.outcome(), "ended", "{}", ended.text);
    assert_eq!((&ended["exitCode"], &ended["signal"]), (&code, &signal), "{}", ended.text);
    // Standard output and standard error are two pipes, and which is read first is nobody's to say.
    let (said, output) = (ended.text_of("output"), output.to_owned());
    let before = format!("about to {how}\n");
    assert!([format!("{before}{output}"), format!("{output}{before}")].contains(&said.to_owned()), "{said}");
    let listed = session.breakpoints().await;
    assert_eq!((&listed[0]["hits"], &listed[0]["verified"]), (&json!(0), &json!(false)), "{}", listed[0]);
    assert_eq!(session.step("restart_debugging").await.outcome(), "ended");
    session.finish().await;
}

#[tokio::test]
async fn a_program_that_returns_has_ended_with_code_0() {
    ended_with("return", json!(0), Value::Null, "").await;
}

#[tokio::test]
async fn a_program_that_calls_exit_has_ended_with_its_code() {
    ended_with("exit", json!(4), Value::Null, "").await;
}

#[tokio::test]
async fn a_program_that_exits_with_a_message_has_ended_with_code_1() {
    ended_with("message", json!(1), Value::Null, "[stderr] that is all\n").await;
}

#[tokio::test]
async fn a_program_that_leaves_through_the_back_door_has_ended_with_its_code() {
    ended_with("os_exit", json!(3), Value::Null, "").await;
}

#[tokio::test]
async fn a_program_that_crashes_has_ended_with_the_signal() {
    ended_with("crash", Value::Null, json!("SIGSEGV"), "").await;
}

#[tokio::test]
async fn the_end_is_told_in_a_sentence() {
    for (how, sentence) in
        [("os_exit", "The program exited with code 3"), ("crash", "The program was killed by SIGSEGV")]
    {
        let (session, ended) = ends(how).await;
        let path = Fixture::python("endings").path().to_owned();
        assert_eq!(
            ended["message"],
            format!("Debugging started for {path}. Current state: ended. {sentence}")
        );
        session.finish().await;
    }
}

#[tokio::test]
async fn an_exception_that_nobody_catches_stops_where_it_is_raised() {
    let program = Fixture::python("endings");
    let (session, stopped) = ends("raise").await;
    assert_eq!((stopped.outcome(), stopped.place()), ("exception", (program.path(), program.line("raise"))));
    let exception = &stopped["exception"];
    assert_eq!(exception["type"], "ValueError");
    assert_eq!(
        (&exception["message"], &exception["uncaught"]),
        (&json!("nobody catches this"), &json!(true))
    );
    assert!(exception["stack"].as_str().unwrap().contains("raise ValueError"), "{}", stopped.text);
    assert_eq!(session.evaluate("how").await, "'raise'");
    let ended = session.go_on().await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)));
    assert!(ended.text_of("output").contains("ValueError: nobody catches this"), "{}", ended.text);
    session.finish().await;
}

#[tokio::test]
async fn with_exceptions_off_an_uncaught_one_is_an_end() {
    let program = Fixture::python("endings");
    let session = Debugging::new().await;
    let set = session.ok("set_exception_breakpoints", json!({ "mode": "none" })).await;
    assert_eq!(set["message"], "Stopping at none exceptions (before: uncaught)");
    let arguments = json!({ "scriptPath": program.path(), "args": ["raise"] });
    let ended = session.ok("start_debugging", arguments).await;
    assert_eq!((ended.outcome(), &ended["exitCode"]), ("ended", &json!(1)));
    session.finish().await;
}
