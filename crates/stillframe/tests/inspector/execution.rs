//! Steps, pauses and stop reports.

use serde_json::{Value, json};
use test_support::{Dynamic, DynamicLanguage as Language, dynamic};

use crate::client::{ADDS, ToolClient, named};

dynamic![
    steps_go_over_into_and_out_of_calls,
    a_stop_reports_what_the_next_decision_needs,
    a_running_program_is_paused_and_awaited,
    an_uncaught_exception_stops_by_default,
    sessions_are_independent,
];

async fn steps_go_over_into_and_out_of_calls(language: Language) {
    let (client, program) = ToolClient::stopped_at(language, ADDS, "call").await;
    let inside = client.step("step_into").await;
    assert_eq!(
        (&inside["reason"], inside.at("/location/line")),
        (&json!("step"), &json!(program.line("double")))
    );
    let over = client.step("step_over").await;
    assert_eq!(over.at("/location/line"), program.line("return"));
    let out = client.step("step_out").await;
    assert_eq!((&out["state"], out.at("/location/function")), (&json!("paused"), &json!("<module>")));
    client.finish().await;
}

async fn a_stop_reports_what_the_next_decision_needs(language: Language) {
    let (client, program) = ToolClient::started(language, ADDS).await;
    client.break_at(&program, "return").await;
    let stopped = client.step("continue").await;
    let location = &stopped["location"];
    assert_eq!((&location["file"], &location["function"]), (&json!(program.path()), &json!("add")));
    assert!(stopped.text_of("source").contains("> "), "{}", stopped.text);
    assert_eq!(named(&stopped["locals"], "double")["value"], 0);
    let functions: Vec<&Value> =
        stopped["stack"].as_array().unwrap().iter().map(|frame| &frame["function"]).collect();
    assert_eq!(functions, [&json!("add"), &json!("<module>")]);
    client.finish().await;
}

const SPINS: Dynamic = Dynamic {
    python: "\
turns = 0
print('begun', flush=True)
while turns < 10 ** 12:
    turns += 1
",
    node: "\
let turns = 0;
console.log('begun');
while (turns < 10 ** 12) {
  turns += 1;
}
",
};

async fn a_running_program_is_paused_and_awaited(language: Language) {
    let (client, program) = ToolClient::started(language, SPINS).await;
    let running = client.ok("continue", json!({ "timeout": 50 })).await;
    assert_eq!(running["state"], "running");
    client.fails("NOT_PAUSED", "inspect", json!({ "expression": "turns" })).await;
    client.fails("NOT_PAUSED", "get_stack", json!({})).await;
    let paused = client.ok("pause", json!({ "timeout": 20_000 })).await;
    assert_eq!((&paused["state"], &paused["reason"]), (&json!("paused"), &json!("pause")));
    assert_eq!(paused.at("/location/file"), program.path());
    assert!(client.value("turns").await.as_u64().is_some());
    let stopped = client.step("stop_session").await;
    let again = client.ok("stop_session", json!({ "sessionId": stopped["sessionId"] })).await;
    assert_eq!(again["message"], "The session was already closed");
    assert_eq!(stopped["message"], "The program was ended by the session");
    client.finish().await;
}

const FAILS: Dynamic = Dynamic {
    python: "\
def divide(number):
    rest = {}
    return rest['missing'] + number  # @raise
divide(3)
",
    node: "\
function divide(number) {
  const rest = {};
  return rest.missing.length + number; // @raise
}
divide(3);
",
};

async fn an_uncaught_exception_stops_by_default(language: Language) {
    let (client, program) = ToolClient::started(language, FAILS).await;
    let stopped = client.step("continue").await;
    assert_eq!((&stopped["state"], &stopped["reason"]), (&json!("paused"), &json!("exception")));
    assert_eq!(stopped.at("/location/line"), program.line("raise"));
    assert_eq!(stopped.at("/exception/type"), language.pick("KeyError", "TypeError"));
    assert_eq!(named(&stopped["locals"], "number")["value"], 3);
    let ended = client.step("continue").await;
    assert_eq!((&ended["state"], &ended["exitCode"]), (&json!("terminated"), &json!(1)));
    client.finish().await;
}

async fn sessions_are_independent(language: Language) {
    let client = ToolClient::new().await;
    let program = client.write(language, ADDS);
    let one = client.start(&program).await["sessionId"].clone();
    let two = client.start(&program).await["sessionId"].clone();
    let ambiguous = client.fails("SESSION_AMBIGUOUS", "continue", json!({})).await;
    assert_eq!(ambiguous.at("/context/openSessions"), &json!([one, two]));
    let location = json!({ "sessionId": one, "file": program.path(), "line": program.line("return") });
    client.ok("set_breakpoint", location).await;
    let listed = client.ok("list_breakpoints", json!({ "sessionId": two })).await;
    assert_eq!(listed["breakpoints"], json!([]));
    assert_eq!(client.ok("continue", json!({ "sessionId": two })).await["state"], "terminated");
    assert_eq!(client.ok("continue", json!({ "sessionId": one })).await["state"], "paused");
    client.finish().await;
}
