//! `trigger`: a request to a server that is debugged, in the same call.

use serde_json::{Value, json};
use test_support::{Answer, DynamicLanguage as Language, Fixture, Server, dynamic};

use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};

dynamic![
    a_request_stops_in_its_handler_and_is_answered_after_resume,
    a_request_that_does_not_stop_the_program_is_answered,
    values_are_recorded_while_the_request_is_served,
    a_listening_program_gets_the_request_at_once,
    a_command_runs_once_the_program_listens,
    a_hanging_command_is_killed_with_the_session,
    a_program_that_never_listens_gets_no_request,
];

fn program(language: Language) -> Fixture {
    Fixture::of(language, "server")
}

fn get(url: &str) -> Value {
    json!({ "http": { "url": url } })
}

async fn run(server: &Server, program: &Fixture, mut arguments: Value) -> Answer {
    arguments["program"] = json!(program.path());
    server.ok("run_until", arguments).await
}

async fn a_request_stops_in_its_handler_and_is_answered_after_resume(language: Language) {
    let program = program(language);
    let server = STILLFRAME.serve().await;
    let location = json!({ "line": program.line("answer") });
    let arguments = json!({ "until": [location], "expressions": ["name"], "trigger": get("/users/2") });
    let ran = run(&server, &program, arguments).await;
    assert_eq!(ran.outcome(), "breakpoint", "{}", ran.text);
    assert!(ran.at("/values/0/value").as_str().unwrap().contains("Grace"), "{}", ran.text);
    assert_eq!(ran["trigger"], json!({ "state": "pending" }), "{}", ran.text);
    // In the same session, with the request of before still open.
    let again = json!({ "sessionId": ran["sessionId"], "program": null, "trigger": get("/users/1") });
    let again = server.ok("run_until", again).await;
    assert_eq!(
        (again.outcome(), again.at("/trigger/body")),
        ("running", &json!("hello Ada")),
        "{}",
        again.text
    );
    server.finish().await;
}

async fn a_request_that_does_not_stop_the_program_is_answered(language: Language) {
    let server = STILLFRAME.serve().await;
    let http =
        json!({ "method": "post", "url": "/users", "headers": { "X-Token": "abc" }, "body": "{\"name\":1}" });
    let ran = run(&server, &program(language), json!({ "trigger": { "http": http }, "close": true })).await;
    let trigger = &ran["trigger"];
    assert_eq!((&trigger["state"], &trigger["status"]), (&json!("done"), &json!(201)), "{}", ran.text);
    assert_eq!(trigger["body"], "application/json abc {\"name\":1}", "{}", ran.text);
    assert!(trigger["url"].as_str().unwrap().ends_with("/users"), "{}", ran.text);
    assert_eq!((&ran["closed"], &ran["stateBeforeClose"]), (&json!(true), &json!("running")));
    server.finish().await;
}

async fn values_are_recorded_while_the_request_is_served(language: Language) {
    let program = program(language);
    let server = STILLFRAME.serve().await;
    let point = json!({ "line": program.line("answer"), "expressions": ["name"] });
    let arguments = json!({ "program": program.path(), "points": [point], "trigger": get("/users/1") });
    let traced = server.ok("trace_values", arguments).await;
    assert_eq!(traced["endedBy"], "trigger", "{}", traced.text);
    assert!(traced.at("/rows/0/values/0/value").as_str().unwrap().contains("Ada"), "{}", traced.text);
    assert_eq!(traced.at("/trigger/body"), "hello Ada", "{}", traced.text);
    assert_eq!((&traced["state"], &traced["closed"]), (&json!("ended"), &json!(true)), "{}", traced.text);
    server.finish().await;
}

async fn a_listening_program_gets_the_request_at_once(language: Language) {
    let program = program(language);
    let session = Debugging::of(language).await;
    session.ok("start_debugging", json!({ "scriptPath": program.path(), "timeout": 0 })).await;
    let location = json!({ "file": program.path(), "line": program.line("answer") });
    let ran = session.ok("run_until", json!({ "until": [location], "trigger": get("/users/1") })).await;
    assert_eq!(ran.outcome(), "breakpoint", "{}", ran.text);
    session.finish().await;
}

/// A command that takes long, or not.
fn client(language: Language, folder: &tempfile::TempDir, python: &str, node: &str) -> String {
    let path = folder.path().join(language.pick("client.py", "client.js"));
    std::fs::write(&path, language.pick(python, node)).unwrap();
    format!("{} {} there", language.pick("python3", "node"), path.display())
}

async fn a_command_runs_once_the_program_listens(language: Language) {
    let folder = tempfile::tempdir().unwrap();
    let python = "import sys\nprint('hello', sys.argv[1])\nsys.exit(3)\n";
    let node = "console.log('hello', process.argv[2]);\nprocess.exit(3);\n";
    let trigger = json!({ "command": client(language, &folder, python, node) });
    let server = STILLFRAME.serve().await;
    let ran = run(&server, &program(language), json!({ "trigger": trigger })).await;
    let expected = json!({ "state": "done", "exitCode": 3, "output": "hello there\n" });
    assert_eq!((ran.outcome(), &ran["trigger"]), ("running", &expected), "{}", ran.text);
    server.finish().await;
}

async fn a_hanging_command_is_killed_with_the_session(language: Language) {
    let folder = tempfile::tempdir().unwrap();
    let endless = ("import time\nwhile True: time.sleep(1)\n", "setInterval(() => {}, 1000);\n");
    let command = client(language, &folder, endless.0, endless.1);
    let server = STILLFRAME.serve().await;
    // The time is over while it runs, and nothing waits for it.
    let arguments = json!({ "trigger": { "command": command }, "timeout": 3000 });
    let ran = run(&server, &program(language), arguments).await;
    assert_eq!(ran.outcome(), "running", "{}", ran.text);
    // On a busy machine the program may not listen yet.
    assert!(["waiting", "pending"].contains(&ran.at("/trigger/state").as_str().unwrap()), "{}", ran.text);
    test_support::eventually(|| {
        server.mark().processes().iter().any(|(_, command)| command.contains("client."))
    })
    .await;
    server.ok("close_debug_session", json!({ "sessionId": ran["sessionId"] })).await;
    server.mark().wait_for_ends("client.", std::time::Duration::from_secs(5));
    server.finish().await;
}

async fn a_program_that_never_listens_gets_no_request(language: Language) {
    let server = STILLFRAME.serve().await;
    let ran = run(&server, &Fixture::of(language, "bank"), json!({ "trigger": get("/") })).await;
    let expected = json!({ "state": "failed", "error": "the program ended first" });
    assert_eq!((ran.outcome(), &ran["trigger"]), ("ended", &expected), "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
async fn an_invalid_trigger_is_refused_before_the_start() {
    let server = STILLFRAME.serve().await;
    for (trigger, problem) in [
        (json!({}), "`trigger` needs `http` or `command`"),
        (get("http://example.com/"), "`trigger.http.url` is not on this machine"),
        (get("users"), "`trigger.http.url` is neither a path nor plain"),
        (
            json!({ "http": { "url": "/", "headers": { "a b": "c" } } }),
            "has `a b`, which is not a header name",
        ),
        (json!({ "command": "curl x | sh" }), "`command` needs a shell"),
    ] {
        let arguments = json!({ "program": program(Language::Python).path(), "trigger": trigger });
        let failed = server.fails("invalid_arguments", "run_until", arguments).await;
        assert!(failed.text.contains(problem), "{}", failed.text);
    }
    assert_eq!(server.ok("list_debug_sessions", json!({})).await["count"], 0);
    server.finish().await;
}
