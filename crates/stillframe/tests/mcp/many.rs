//! Many sessions on one server.

use futures_util::future::join_all;
use serde_json::json;
use test_support::{DynamicLanguage as Language, Fixture, Server};

use crate::STILLFRAME;

/// What each of the ten does after its breakpoint.
const TASKS: [&str; 10] = ["step", "step", "step", "flood", "step", "step", "hang", "step", "step", "step"];

/// Both languages, by turns, so that those that are busy are of both.
fn program(number: usize) -> Fixture {
    let language = if number.is_multiple_of(2) { Language::Python } else { Language::Node };
    Fixture::of(language, "floods")
}

/// Starts the program of that number, up to its breakpoint.
async fn start(server: &Server, number: usize) -> String {
    let program = program(number);
    let created = server.ok("create_debug_session", json!({ "language": program.language().name() })).await;
    let session = created.text_of("sessionId").to_owned();
    let target_location =
        json!({ "sessionId": session, "file": program.path(), "line": program.line("here") });
    server.ok("set_breakpoint", target_location).await;
    let started = json!({
        "sessionId": session,
        "scriptPath": program.path(),
        "args": [number.to_string(), TASKS[number]],
        "timeout": 60_000,
    });
    let stopped = server.ok("start_debugging", started).await;
    assert_eq!(stopped.at("/location/line"), program.line("here"), "{}", stopped.text);
    assert_eq!(stopped.variable("number"), number.to_string());
    assert_eq!(stopped.variable("square"), (number * number).to_string());
    session
}

/// Two steps with their values, and to the end.
async fn step(server: &Server, session: &str, number: usize) {
    let program = program(number);
    let stepped = server.ok("step_over", json!({ "sessionId": session })).await;
    assert_eq!(stepped.at("/location/line"), program.line("next"), "{}", stepped.text);
    let square = f64::from(u32::try_from(number * number).unwrap());
    // Python writes `8.0` where JavaScript writes `8`.
    let written = |value: f64| match program.language().dynamic() {
        Language::Python => format!("{value:?}"),
        Language::Node => value.to_string(),
    };
    assert_eq!(stepped.variable("half"), written(square / 2.0));
    let expression = json!({ "sessionId": session, "expression": "half + number" });
    let value = server.ok("evaluate_expression", expression).await;
    assert_eq!(value["result"], written(square / 2.0 + f64::from(u32::try_from(number).unwrap())));
    let stepped = server.ok("step_over", json!({ "sessionId": session })).await;
    assert_eq!(stepped.variable("third"), (number * number / 3).to_string());
    let ended = server.ok("continue_execution", json!({ "sessionId": session })).await;
    assert_eq!((&ended["state"], &ended["output"]), (&json!("ended"), &json!("done\n")));
}

#[tokio::test]
async fn ten_sessions_in_two_languages_are_independent() {
    let server = STILLFRAME.serve().await;
    let sessions = join_all((0..TASKS.len()).map(|number| start(&server, number))).await;

    let busy = || (0..TASKS.len()).filter(|number| TASKS[*number] != "step");
    for number in busy() {
        let on = json!({ "sessionId": sessions[number], "wait": false });
        assert_eq!(server.ok("continue_execution", on).await["state"], "running");
    }
    let others = (0..TASKS.len()).filter(|number| TASKS[*number] == "step");
    join_all(others.map(|number| step(&server, &sessions[number], number))).await;

    let list = server.ok("list_debug_sessions", json!({})).await;
    let states = list["sessions"].as_array().unwrap().iter();
    let running = states.filter(|session| session["state"] == "running").count();
    assert_eq!((&list["count"], running), (&json!(10), busy().count()));
    join_all(
        sessions.iter().map(|session| server.ok("close_debug_session", json!({ "sessionId": session }))),
    )
    .await;
    assert_eq!(server.ok("list_debug_sessions", json!({})).await["count"], 0);
    server.finish().await;
}
