//! A recording that is debugged: breakpoints, steps and values as in a live session, and back.

use dap::{Event, Message};
use serde_json::{Value, json};
use test_support::{Fixture, Language};
use tokio::process::ChildStdin;
use tokio::process::ChildStdout;

use crate::STILLFRAME;
use crate::recorder::{Client, has, pythons, written};

/// A client that has recorded a program, and begun to debug the recording with these breakpoints.
async fn replays(program: &Fixture, runtime: &str, lines: &[&str]) -> Client {
    let client = Client::of_toolsets("standard,recording", tempfile::tempdir().unwrap(), &[], runtime).await;
    client.record(program, &[]).await;
    let server = &client.server;
    server.ok("create_debug_session", json!({ "language": "recording" })).await;
    for line in lines {
        let arguments = json!({ "file": program.path(), "line": program.line(line) });
        server.ok("set_breakpoint", arguments).await;
    }
    client
}

/// The report of a move that ended at a line.
async fn at(client: &Client, program: &Fixture, tool: &str, line: &str) -> Value {
    let report = client.server.ok(tool, json!({})).await.data;
    assert_eq!(report["location"]["line"], program.line(line), "{tool}: {report}");
    report
}

fn local<'a>(report: &'a Value, name: &str) -> &'a str {
    let locals = report["locals"].as_array().unwrap();
    let found = locals.iter().find(|local| local["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}: {report}"))["value"].as_str().unwrap()
}

async fn goes_through_a_run_in_both_directions(program: &Fixture, runtime: &str, error: &str) {
    let client = replays(program, runtime, &["lost", "negative"]).await;
    let server = &client.server;

    let started = server.ok("start_debugging", json!({ "scriptPath": "last" })).await.data;
    assert_eq!(
        (&started["reason"], &started["location"]["line"]),
        (&json!("breakpoint"), &program.line("lost").into())
    );
    has(local(&started, "items"), &["pen", "book", "lamp"]);

    // What the line did is not yet done, then done, then not yet done again.
    let after = server.ok("step_over", json!({})).await.data;
    assert!(!local(&after, "items").contains("lamp"), "{after}");
    let before = at(&client, program, "step_back", "lost").await;
    has(local(&before, "items"), &["pen", "book", "lamp"]);

    let negative = at(&client, program, "continue_execution", "negative").await;
    assert_eq!((local(&negative, "total"), local(&negative, "amount")), ("21", "30"));
    let evaluated =
        server.ok("evaluate_expression", json!({ "expression": "total - amount < 0" })).await.data;
    assert!(["True", "true"].contains(&evaluated["result"].as_str().unwrap()), "{evaluated}");
    let call =
        server.fails("evaluation_failed", "evaluate_expression", json!({ "expression": "print(1)" })).await;
    has(&call.text, &["`print` cannot be called with arguments here"]);

    let thrown = at(&client, program, "continue_execution", "thrown").await;
    assert_eq!((&thrown["reason"], &thrown["exception"]["type"]), (&json!("exception"), &json!(error)));
    assert_eq!(thrown["exception"]["uncaught"], true);
    let output = server.ok("get_output", json!({})).await.data.to_string();
    has(&output, &["cheap: pen, book", "shown: 2"]);

    let end = server.ok("continue_execution", json!({})).await.data;
    assert_eq!((&end["state"], &end["reason"]), (&json!("paused"), &json!("end")), "{end}");
    at(&client, program, "reverse_continue", "thrown").await;
    at(&client, program, "reverse_continue", "negative").await;
    at(&client, program, "reverse_continue", "lost").await;
    let start = server.ok("reverse_continue", json!({})).await.data;
    assert_eq!((&start["reason"], &start["stackFrames"].as_array().unwrap().len()), (&json!("start"), &1));

    // To the end, and beyond it.
    for _ in 0..4 {
        server.ok("continue_execution", json!({})).await;
    }
    let over = server.ok("continue_execution", json!({})).await.data;
    assert_eq!((&over["state"], &over["exitCode"]), (&json!("ended"), &json!(1)), "{over}");
    client.server.finish().await;
}

#[tokio::test]
async fn a_python_run_is_debugged_in_both_directions() {
    let program = Fixture::python("recording_shop");
    for python in pythons() {
        goes_through_a_run_in_both_directions(&program, &python, "ValueError").await;
    }
}

#[tokio::test]
async fn a_node_run_is_debugged_in_both_directions() {
    let program = Fixture::node("recording_shop");
    goes_through_a_run_in_both_directions(&program, "node", "RangeError").await;
}

#[tokio::test]
async fn a_functions_breakpoint_is_reached_in_both_directions() {
    let text = "def add(total, price):\n    total += price  # @first\n    return total\n\n\n\
                amount = 0\nfor price in (1, 2, 3):\n    amount = add(amount, price)  # @called\n";
    let (_folder, program) = written("main.py", text);
    let client = replays(&program, "python3", &[]).await;
    let server = &client.server;
    server.ok("set_breakpoint", json!({ "function": "add" })).await;
    server.ok("start_debugging", json!({ "scriptPath": "last" })).await;
    for (tool, line, price) in [
        ("continue_execution", "first", "2"),
        ("continue_execution", "first", "3"),
        ("reverse_continue", "first", "2"),
        ("step_back", "called", "2"),
        ("continue_execution", "first", "2"),
        ("reverse_continue", "first", "1"),
    ] {
        let report = at(&client, &program, tool, line).await;
        assert_eq!(local(&report, "price"), price, "{tool}");
    }
    let start = server.ok("reverse_continue", json!({})).await.data;
    assert_eq!(start["reason"], "start", "{start}");
    client.server.finish().await;
}

#[tokio::test]
async fn a_condition_without_a_recorded_value_is_reported() {
    for (program, runtime) in
        [(Fixture::python("recording_shop"), "python3"), (Fixture::node("recording_shop"), "node")]
    {
        let client = replays(&program, runtime, &["negative"]).await;
        let server = &client.server;
        let line = program.line("appended");
        let unknown = json!({ "file": program.path(), "line": line, "condition": "item.stock.left > 2" });
        server.ok("set_breakpoint", unknown).await;
        let stopped = server.ok("start_debugging", json!({ "scriptPath": "last" })).await;
        assert_eq!(stopped.data["location"]["line"], program.line("negative"), "{}", stopped.text);
        has(
            &stopped.text,
            &[
                "the condition of bp-2 failed 3 times and did not stop the program: `item.stock",
                "has no recorded value at event ",
                &format!(":{line} in "),
            ],
        );
        client.server.finish().await;
    }
}

#[tokio::test]
async fn a_recording_begins_at_a_moment_and_stops_where_a_condition_holds() {
    let program = Fixture::python("recording_shop");
    let client = replays(&program, "python3", &[]).await;
    let server = &client.server;
    let appended = json!({ "file": program.path(), "line": program.line("appended"), "condition": "item.name == 'lamp'" });
    server.ok("set_breakpoint", appended).await;
    let never = json!({ "file": program.path(), "line": program.line("unreached") });
    let never = server.ok("set_breakpoint", never).await;
    let started =
        server.ok("start_debugging", json!({ "scriptPath": "rec-1", "args": ["exception"] })).await.data;
    assert_eq!(started["location"]["line"], program.line("thrown"), "{started}");
    let listed = server.ok("list_breakpoints", json!({})).await.data;
    let breakpoints = listed["breakpoints"].as_array().unwrap();
    assert_eq!(breakpoints[0]["verified"], true, "{listed}");
    assert_eq!(
        (&breakpoints[1]["id"], &breakpoints[1]["verified"]),
        (&never.data["breakpointId"], &json!(false))
    );

    let lamp = at(&client, &program, "reverse_continue", "appended").await;
    has(local(&lamp, "item"), &["name='lamp'"]);
    has(local(&lamp, "self"), &["pen", "book"]);
    let frame = &lamp["stackFrames"][1];
    assert_eq!(frame["name"], "fill", "{lamp}");
    let count = json!({ "expression": "count", "frameId": frame["id"] });
    assert_eq!(server.ok("evaluate_expression", count).await.data["result"], "1");
    let assigned = json!({ "variablesReference": 1, "name": "item", "value": "3" });
    let refused = server.call("set_variable", assigned).await;
    assert!(refused.is_error, "{}", refused.text);

    server.ok("step_out", json!({})).await;
    server.ok("close_debug_session", json!({})).await;
    client.server.finish().await;
}

const OVERDRAWN: &str = "\
class Account {
  #balance = 10;

  get overdrawn() {
    return this.#balance < 0;
  }

  pay(amount) {
    this.#balance -= amount;
  }
}

const account = new Account();
for (const bill of [3, 4, 5, 6]) {
  account.pay(bill); // @paid
}
";

#[tokio::test]
async fn a_getter_that_was_never_called_is_computed() {
    let (_folder, program) = written("main.js", OVERDRAWN);
    let client = replays(&program, "node", &[]).await;
    let breakpoint =
        json!({ "file": program.path(), "line": program.line("paid"), "condition": "account.overdrawn" });
    client.server.ok("set_breakpoint", breakpoint).await;
    let stopped = client.server.ok("start_debugging", json!({ "scriptPath": "last" })).await.data;
    assert_eq!((&stopped["location"]["line"], local(&stopped, "bill")), (&program.line("paid").into(), "6"));
    for (expression, expected) in [("account.overdrawn", "true"), ("not account.overdrawn", "false")] {
        let answer = client.server.ok("evaluate_expression", json!({ "expression": expression })).await.data;
        assert_eq!(answer["result"], expected, "{answer}");
    }
    client.server.finish().await;
}

#[tokio::test]
async fn a_watch_is_refused_with_the_question_that_answers_it() {
    let program = Fixture::python("recording_shop");
    let client = replays(&program, "python3", &["appended"]).await;
    client.server.ok("start_debugging", json!({ "scriptPath": "last" })).await;
    let refused = client.server.call("set_breakpoint", json!({ "watch": "self.items" })).await;
    assert!(refused.is_error, "{}", refused.text);
    has(&refused.text, &["call find_writes"]);
    client.server.finish().await;
}

#[tokio::test]
async fn what_cannot_go_back_says_what_can() {
    let program = Fixture::python("recording_shop");
    let client = Client::of_toolsets("standard", tempfile::tempdir().unwrap(), &[], "python3").await;
    let stop = json!({ "program": program.path(), "until": [{ "line": program.line("lost") }] });
    client.server.ok("run_until", stop).await;
    let refused = client.server.fails("unsupported", "step_back", json!({})).await;
    has(&refused.text, &["cannot run backwards; record the run"]);
    // It is where it was.
    client.server.ok("step_over", json!({})).await;
    client.server.finish().await;
}

/// An editor's connection to `stillframe dap`.
struct Editor {
    client: dap::Client,
    incoming: dap::Incoming,
    _adapter: tokio::process::Child,
}

impl Editor {
    fn new(state: &std::path::Path) -> Self {
        let mut command = STILLFRAME.command();
        command.arg("dap").env("XDG_STATE_HOME", state);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut adapter = command.spawn().unwrap();
        let streams: (ChildStdout, ChildStdin) =
            (adapter.stdout.take().unwrap(), adapter.stdin.take().unwrap());
        let (client, incoming, driver) = dap::connect(streams.0, streams.1);
        tokio::spawn(driver);
        Self { client, incoming, _adapter: adapter }
    }

    async fn ask<R: dap::Request>(&self, arguments: R::Arguments) -> Result<R::Response, String> {
        let answer = self.client.request::<R>(arguments, std::time::Duration::from_secs(20)).await;
        answer.map_err(|error| error.to_string())
    }

    async fn until_stopped(&mut self) -> dap::StoppedEvent {
        loop {
            if let Message::Event(Event::Stopped(stopped)) = self.incoming.recv().await.unwrap() {
                return stopped;
            }
        }
    }

    async fn line(&self) -> (String, i64) {
        let asked = dap::StackTraceArguments { thread_id: 1, ..Default::default() };
        let stack = self.ask::<dap::StackTrace>(asked).await.unwrap();
        let top = &stack.stack_frames[0];
        (top.name.clone(), top.line)
    }
}

#[tokio::test]
async fn an_editor_debugs_a_recording() {
    let program = Fixture::of(Language::Python, "recording_shop");
    let (client, _) = Client::recorded("python3", &program).await;
    let mut editor = Editor::new(client.state.path());
    let mut hello = dap::InitializeArguments::default();
    let refused = editor.ask::<dap::Initialize>(hello.clone()).await.unwrap_err();
    has(&refused, &["count lines and columns from 1"]);
    (hello.lines_start_at1, hello.columns_start_at1) = (true, true);
    let capabilities = editor.ask::<dap::Initialize>(hello).await.unwrap();
    assert!(capabilities.supports_step_back && capabilities.supports_configuration_done_request);
    let launch = |value: Value| value.as_object().unwrap().clone();
    let early = editor.ask::<dap::Threads>(dap::Empty {}).await.unwrap_err();
    has(&early, &["`threads` comes before `launch`"]);
    let unknown = editor.ask::<dap::Launch>(launch(json!({ "recording": "rec-9" }))).await.unwrap_err();
    has(&unknown, &["no recording `rec-9`; there are: rec-1"]);
    editor.ask::<dap::Launch>(launch(json!({ "recording": "rec-1", "stopOnEntry": true }))).await.unwrap();
    let on = dap::FunctionBreakpoint { name: "Cart.total".to_owned(), ..Default::default() };
    let wanted = dap::SetFunctionBreakpointsArguments { breakpoints: vec![on] };
    let set = editor.ask::<dap::SetFunctionBreakpoints>(wanted).await.unwrap();
    assert!(set.breakpoints[0].verified);
    editor.ask::<dap::ConfigurationDone>(dap::Empty {}).await.unwrap();
    assert_eq!(editor.until_stopped().await.reason, "entry");
    assert_eq!(editor.line().await, ("<module>".to_owned(), 1));

    let thread = dap::ThreadArguments { thread_id: 1 };
    editor.ask::<dap::Continue>(thread).await.unwrap();
    assert_eq!(editor.until_stopped().await.reason, "function breakpoint");
    let (function, first) = editor.line().await;
    assert_eq!(function, "Cart.total");
    editor.ask::<dap::Next>(thread).await.unwrap();
    editor.until_stopped().await;
    assert_eq!(editor.line().await.1, first + 1);
    editor.ask::<dap::StepBack>(thread).await.unwrap();
    editor.until_stopped().await;
    assert_eq!(editor.line().await.1, first);
    editor.ask::<dap::StepOut>(thread).await.unwrap();
    editor.until_stopped().await;
    assert_eq!(editor.line().await.0, "checkout");
    editor.ask::<dap::Disconnect>(dap::DisconnectArguments::default()).await.unwrap();
    client.server.finish().await;
}
