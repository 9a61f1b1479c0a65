//! Where it stops, and what it tells there.

use serde_json::{Value, json};
use test_support::Fixture;

use super::run;
use crate::STILLFRAME;
use crate::debugging::{Debugging, Report};

#[tokio::test]
async fn it_runs_until_a_line_and_evaluates_there() {
    let program = Fixture::python("bank");
    let server = STILLFRAME.serve().await;
    let arguments = json!({
        "until": [{ "line": program.line("deposit") }],
        "expressions": ["amount", "self.owner", "missing", "[amount] * 3"],
    });
    let ran = run(&server, arguments).await;
    assert_eq!((ran.outcome(), ran.place()), ("breakpoint", (program.path(), program.line("deposit"))));
    assert_eq!((ran.variable("amount"), ran.at("/location/function")), ("1", &json!("deposit")));
    let values = ran["values"].as_array().unwrap();
    let shown: Vec<_> =
        values.iter().map(|value| json!([value["expression"], value["value"], value["type"]])).collect();
    assert_eq!(
        json!(shown),
        json!([
            ["amount", "1", "int"],
            ["self.owner", "'Ann'", "str"],
            ["missing", null, null],
            ["[amount] * 3", "[1, 1, 1]", "list"],
        ])
    );
    assert_eq!(ran.at("/values/2/error"), "NameError: name 'missing' is not defined");
    assert!(ran.at("/values/3/variablesReference").as_u64() > Some(0), "{}", ran.text);
    server.finish().await;
}

#[tokio::test]
async fn it_runs_until_the_text_of_a_line() {
    let program = Fixture::python("bank");
    let server = STILLFRAME.serve().await;
    let ran = run(&server, json!({ "until": [{ "statement": "name = \"even\"" }] })).await;
    assert_eq!(ran.place(), (program.path(), program.line("even")));
    server.finish().await;
}

#[tokio::test]
async fn it_runs_until_a_function_and_a_method() {
    let program = Fixture::python("bank");
    let server = STILLFRAME.serve().await;
    let ran = run(&server, json!({ "until": [{ "function": "kind" }] })).await;
    assert_eq!((ran.at("/location/function"), ran.variable("number")), (&json!("kind"), "3"));
    let arguments = json!({ "until": [{ "function": "Account.deposit", "file": program.path() }] });
    let ran = run(&server, arguments).await;
    assert_eq!(ran.place(), (program.path(), program.line("deposit")));
    server.finish().await;
}

#[tokio::test]
async fn it_runs_until_a_condition_holds() {
    let program = Fixture::python("bank");
    let server = STILLFRAME.serve().await;
    let place = json!({ "line": program.line("deposit"), "condition": "self.balance > 9" });
    let ran = run(&server, json!({ "until": [place], "expressions": ["self.balance"] })).await;
    assert_eq!((ran.variable("amount"), ran.at("/values/0/value")), ("5", &json!("10")));
    server.finish().await;
}

#[tokio::test]
async fn of_several_places_the_first_that_is_reached_counts() {
    let program = Fixture::python("bank");
    let server = STILLFRAME.serve().await;
    let places =
        json!([{ "line": program.line("even") }, { "line": program.line("odd") }, { "function": "bill" }]);
    let ran = run(&server, json!({ "until": places })).await;
    assert_eq!(ran.place(), (program.path(), program.line("odd")));
    server.finish().await;
}

#[tokio::test]
async fn without_a_place_it_runs_until_an_exception() {
    let program = Fixture::python("endings");
    let server = STILLFRAME.serve().await;
    let arguments = json!({ "program": program.path(), "args": ["raise"], "expressions": ["how"] });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!((ran.outcome(), ran.place()), ("exception", (program.path(), program.line("raise"))));
    assert_eq!(
        (ran.at("/exception/type"), ran.at("/values/0/value")),
        (&json!("ValueError"), &json!("'raise'"))
    );
    server.finish().await;
}

#[tokio::test]
async fn exceptions_that_are_caught_are_stops_when_all_are_asked_for() {
    let folder = crate::debugging::folder();
    let source = "try:\n    {}['a']  # @caught\nexcept KeyError:\n    pass\nprint('on')\n";
    let program = Fixture::write(folder.path(), "catches.py", source);
    let server = STILLFRAME.serve().await;
    let ran = server.ok("run_until", json!({ "program": program.path(), "exceptions": "all" })).await;
    assert_eq!((ran.outcome(), ran.place()), ("exception", (program.path(), program.line("caught"))));
    assert_eq!(ran.at("/exception/uncaught"), false);
    let ran = server.ok("run_until", json!({ "program": program.path() })).await;
    assert_eq!((ran.outcome(), ran.text_of("output")), ("ended", "on\n"));
    server.finish().await;
}

#[tokio::test]
async fn without_a_place_and_an_exception_it_runs_until_the_end() {
    let server = STILLFRAME.serve().await;
    let ran = run(&server, json!({})).await;
    assert_eq!(
        (ran.outcome(), &ran["exitCode"], ran.text_of("output")),
        ("ended", &json!(0), "odd even\n6\n")
    );
    server.finish().await;
}

#[tokio::test]
async fn a_place_that_is_never_reached_ends_with_the_program() {
    let program = Fixture::python("endings");
    let server = STILLFRAME.serve().await;
    let arguments = json!({
        "program": program.path(),
        "args": ["exit"],
        "until": [{ "line": program.line("never") }],
        "expressions": ["how"],
    });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!((ran.outcome(), &ran["exitCode"], &ran["values"]), ("ended", &json!(4), &Value::Null));
    server.finish().await;
}

#[tokio::test]
async fn a_line_without_code_is_told_with_the_one_that_was_taken() {
    let program = Fixture::python("bank");
    let server = STILLFRAME.serve().await;
    let (asked, taken) = (program.line("comment"), program.line("deposit"));
    let ran = run(&server, json!({ "until": [{ "line": asked }] })).await;
    assert_eq!(ran.place(), (program.path(), taken));
    assert_eq!(ran["notes"], json!([format!("line {asked} holds no code; stopping on line {taken}")]));
    server.finish().await;
}

#[tokio::test]
async fn it_goes_on_in_an_existing_session_and_leaves_its_breakpoints_alone() {
    let program = Fixture::python("bank");
    let (session, _) = Debugging::stopped_at(&program, "main_first").await;
    let arguments = json!({
        "until": [{ "file": program.path(), "line": program.line("even") }],
        "expressions": ["number"],
    });
    let ran = session.ok("run_until", arguments).await;
    assert_eq!((&ran["sessionId"], &ran["closed"]), (&json!(session.id), &json!(false)));
    assert_eq!(
        (ran.place(), ran.at("/values/0/value")),
        ((program.path(), program.line("even")), &json!("4"))
    );
    let kept = session.breakpoints().await;
    assert_eq!(kept.len(), 1, "its own place is forgotten");
    assert_eq!(kept[0]["line"], program.line("main_first"));
    session.run_to_the_end().await;
    session.finish().await;
}

#[tokio::test]
async fn the_program_gets_what_it_needs_to_run() {
    let program = Fixture::python("readers");
    let folder = crate::debugging::folder();
    let server = STILLFRAME.serve().await;
    let arguments = json!({
        "program": program.path(),
        "args": ["one", "two"],
        "env": { "COLOUR": "blue" },
        "cwd": folder.path(),
        "stdin": "line\n",
        "until": [{ "line": program.line("read") }],
        "expressions": ["text", "sys.argv[1:]", "os.environ['COLOUR']", "os.getcwd()"],
    });
    let ran = server.ok("run_until", arguments).await;
    let values: Vec<_> =
        ran["values"].as_array().unwrap().iter().map(|value| value["value"].clone()).collect();
    let cwd = folder.path().canonicalize().unwrap();
    assert_eq!(
        json!(values),
        json!(["'line\\n'", "['one', 'two']", "'blue'", format!("'{}'", cwd.display())])
    );
    server.finish().await;
}

#[tokio::test]
async fn all_expressions_together_have_one_deadline() {
    let program = Fixture::python("bank");
    let server = STILLFRAME.serve().await;
    let endless = "__import__('time').sleep(1000)";
    let arguments = json!({
        "until": [{ "line": program.line("deposit") }],
        "expressions": ["amount", endless, endless, endless, "amount"],
    });
    let ran = run(&server, arguments).await;
    assert_eq!(ran.at("/values/0/value"), "1");
    assert!(ran.at("/values/1/error").as_str().unwrap().contains("did not end within"), "{}", ran.text);
    let late =
        "the expressions before this one did not end within 10000 ms; evaluate_expression asks for it alone";
    assert_eq!((ran.at("/values/4/error"), ran.at("/values/4/value")), (&json!(late), &Value::Null));
    server.finish().await;
}
