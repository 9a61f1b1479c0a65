//! What is written of sessions.

use serde_json::{Value, json};
use test_support::{DynamicLanguage as Language, Fixture, dynamic};

use crate::STILLFRAME;
use crate::lines::{JournalFolder, field, of_kind};

dynamic![
    a_session_is_journaled_from_opening_to_closing,
    an_unreported_stop_has_a_location_too,
    a_line_stays_whole_when_another_stream_writes,
    a_value_is_stored_with_its_children,
    a_flood_of_output_is_journaled_in_parts,
];

async fn a_session_is_journaled_from_opening_to_closing(language: Language) {
    let journal = JournalFolder::new();
    let server = journal.serve("standard").await;
    let bank = Fixture::of(language, "bank");
    let session =
        server.ok("create_debug_session", json!({ "language": language.name(), "name": "a bank" })).await;
    let session = session["sessionId"].clone();
    let line = bank.line("deposit");
    let breakpoint = json!({ "sessionId": session, "file": bank.path(), "line": line });
    server.ok("set_breakpoint", breakpoint).await;
    server.ok("start_debugging", json!({ "sessionId": session, "scriptPath": bank.path() })).await;
    let missing = json!({ "sessionId": session, "expression": "no_such_name" });
    assert!(server.call("evaluate_expression", missing).await.is_error);
    server.ok("step_over", json!({ "sessionId": session })).await;
    server.ok("close_debug_session", json!({ "sessionId": session })).await;
    server.finish().await;

    let lines = journal.lines();
    let calls = of_kind(&lines, "tool:call");
    let tools = field(&calls, "tool");
    assert_eq!(
        tools,
        [
            "create_debug_session",
            "set_breakpoint",
            "start_debugging",
            "evaluate_expression",
            "step_over",
            "close_debug_session"
        ]
    );
    // Each call has one answer, under its own id.
    for call in &calls {
        let answers: Vec<&Value> =
            lines.iter().filter(|line| line["callId"] == call["callId"] && line != call).collect();
        let [answer] = answers.as_slice() else { panic!("{answers:?} for {call}") };
        let expected = if call["tool"] == "evaluate_expression" { "tool:error" } else { "tool:response" };
        assert_eq!(answer["message"], expected);
        assert_eq!(answer["tool"], call["tool"]);
        assert_eq!(answer["sessionId"], session, "{answer}");
    }
    // Also the call that opened the session, which comes before it.
    assert!(calls.iter().all(|call| call["sessionId"] == session), "{calls:#?}");
    assert_eq!(
        (&lines[0]["message"], &lines[1]["message"]),
        (&json!("tool:call"), &json!("session:created"))
    );
    let failures = of_kind(&lines, "tool:error");
    assert!(failures[0]["error"].as_str().unwrap().contains("no_such_name"), "{}", failures[0]);
    assert_eq!(calls[1]["request"]["line"], line);

    let created = of_kind(&lines, "session:created");
    assert_eq!(created.len(), 1);
    assert_eq!(
        (&created[0]["language"], &created[0]["sessionName"]),
        (&json!(language.name()), &json!("a bank"))
    );
    let closed = of_kind(&lines, "session:closed");
    assert_eq!(closed.len(), 1);
    assert!(closed[0]["duration"].as_u64().unwrap() > 0);

    let states = of_kind(&lines, "debug:state");
    assert_eq!(
        field(&states, "event"),
        ["running", "paused", "running", "paused", "running", "stopped"][..states.len()]
    );
    assert_eq!(field(&states, "program")[..2], [language.file("main").as_str(), ""]);
    let paused: Vec<&&Value> = states.iter().filter(|state| state["event"] == "paused").collect();
    assert_eq!(paused.len(), 2, "{states:#?}");
    assert_eq!((&paused[0]["reason"], &paused[1]["reason"]), (&json!("breakpoint"), &json!("step")));
    let location = &paused[0]["location"];
    assert_eq!(location["line"], line);
    assert!(bank.path().ends_with(location["file"].as_str().unwrap().trim_start_matches('~')), "{location}");
    // The journal has the source, so that nothing else need be read.
    let source = &paused[0]["source"];
    let first = source["firstLine"].as_u64().unwrap();
    let at = usize::try_from(u64::from(line) - first).unwrap();
    assert!(source["lines"][at].as_str().unwrap().contains("@deposit"), "{source}");

    let breakpoints = of_kind(&lines, "debug:breakpoint");
    assert_eq!(field(&breakpoints, "event")[..3], ["set", "verified", "hit"]);
    assert!(breakpoints.iter().all(|one| one["breakpointId"] == "bp-1"));

    // The variables are those of the frame where it stopped.
    let variables = of_kind(&lines, "debug:variables");
    let read = variables.iter().find(|read| read["frameId"] == location["frameId"]).expect("they were read");
    assert!(read["variables"].as_array().unwrap().iter().any(|one| one["name"] == "amount"), "{read}");
    // They were requested by frame ID, so they have no reference.
    assert_eq!(read["variablesReference"], Value::Null);
}

async fn an_unreported_stop_has_a_location_too(language: Language) {
    let journal = JournalFolder::new();
    let server = journal.serve("standard").await;
    let bank = Fixture::of(language, "bank");
    let session = server.ok("create_debug_session", json!({ "language": language.name() })).await;
    let session = session["sessionId"].clone();
    let breakpoint = json!({ "sessionId": session, "file": bank.path(), "line": bank.line("deposit") });
    server.ok("set_breakpoint", breakpoint).await;
    server.ok("start_debugging", json!({ "sessionId": session, "scriptPath": bank.path() })).await;
    server.ok("continue_execution", json!({ "sessionId": session, "wait": false })).await;
    let pauses = || {
        let lines = journal.lines();
        let states = of_kind(&lines, "debug:state");
        states.into_iter().filter(|state| state["event"] == "paused").cloned().collect::<Vec<_>>()
    };
    test_support::eventually(|| pauses().len() == 2).await;
    assert_eq!(pauses()[1]["location"]["line"], bank.line("deposit"));
    server.finish().await;
}

async fn a_line_stays_whole_when_another_stream_writes(language: Language) {
    let journal = JournalFolder::new();
    let server = journal.serve("standard").await;
    let text = language.pick(
        "import sys\nprint('start', end='', flush=True)\nprint('oops', file=sys.stderr, flush=True)\nprint(1, [])\n",
        "process.stdout.write('start');\nprocess.stderr.write('oops\\n');\nprocess.stdout.write('1 []\\n');\n",
    );
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let program = Fixture::write(folder.path(), &language.file("main"), text);
    server.ok("run_until", json!({ "program": program.path() })).await;
    server.finish().await;
    let lines = journal.lines();
    let outputs = of_kind(&lines, "debug:output");
    let mut written = field(&outputs, "output");
    // Which of two streams is read first is chance.
    written.sort_unstable();
    assert_eq!(written, ["oops\n", "start1 []\n"]);
}

async fn a_value_is_stored_with_its_children(language: Language) {
    let journal = JournalFolder::new();
    let server = journal.serve("standard").await;
    let text = language.pick(
        "cart = {'items': [1, 2]}\nprint(cart)  # @end\n",
        "const cart = { items: [1, 2] };\nconsole.log(cart); // @end\n",
    );
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let program = Fixture::write(folder.path(), &language.file("main"), text);
    let until = json!({ "program": program.path(), "until": [{ "line": program.line("end") }] });
    let stopped = server.ok("run_until", until).await;
    let cart = |variables: &Value| {
        let found = variables.as_array().unwrap().iter().find(|one| one["name"] == "cart");
        found.unwrap_or_else(|| panic!("no cart in {variables}"))["variablesReference"].clone()
    };
    let reference = cart(&stopped["locals"]);
    let arguments = json!({ "sessionId": stopped["sessionId"], "variablesReference": reference });
    server.ok("get_variables", arguments).await;
    server.finish().await;
    let lines = journal.lines();
    let variables = of_kind(&lines, "debug:variables");
    assert_eq!(cart(&variables[0]["variables"]), reference);
    let parts = variables.iter().find(|read| read["variablesReference"] == reference).expect("the parts");
    assert_eq!(parts["scope"], Value::Null);
    assert!(parts["variables"].to_string().contains("items"), "{parts}");
}

async fn a_flood_of_output_is_journaled_in_parts(language: Language) {
    let journal = JournalFolder::new();
    let server = journal.serve("standard").await;
    let text = language.pick(
        "for i in range(60000):\n    print('a line that is written again and again', i)\nprint('the end')\n",
        "for (let i = 0; i < 60000; i += 1) {\n  console.log('a line that is written again and again', i);\n}\nconsole.log('the end');\n",
    );
    let folder = tempfile::tempdir_in(STILLFRAME.scratch).unwrap();
    let program = Fixture::write(folder.path(), &language.file("main"), text);
    let ran = server.ok("run_until", json!({ "program": program.path(), "timeout": 60000 })).await;
    assert_eq!(ran["exitCode"], 0, "{}", ran.text);
    server.finish().await;
    let lines = journal.lines();
    let outputs = of_kind(&lines, "debug:output");
    let reported: usize = field(&outputs, "output").iter().map(|text| text.len()).sum();
    let omitted: u64 = outputs.iter().filter_map(|entry| entry["omitted"].as_u64()).sum();
    assert!(reported < 1_000_000, "{reported}");
    let written =
        (0..60000).map(|i| format!("a line that is written again and again {i}\n").len()).sum::<usize>();
    assert_eq!(reported + usize::try_from(omitted).unwrap(), written + "the end\n".len());
}

#[tokio::test]
async fn every_toolset_journals_its_session() {
    let journal = JournalFolder::new();
    let server = journal.serve("all").await;
    let bank = Fixture::python("bank");
    let line = bank.line("deposit");
    let quick = json!({ "program": bank.path() });
    server.call("debug_breakpoint", json!({ "file": bank.path(), "line": line })).await;
    server.call("debug_launch", quick).await;
    let started = server.call("debugger_start", json!({ "command": "python3", "args": [bank.path()] })).await;
    server.call("debugger_stop_session", json!({ "sessionId": started["sessionId"] })).await;
    server.finish().await;
    let lines = journal.lines();
    for tool in ["debug_launch", "debugger_start", "debugger_stop_session"] {
        let responses = of_kind(&lines, "tool:response");
        let response =
            responses.iter().find(|line| line["tool"] == tool).unwrap_or_else(|| panic!("no {tool}"));
        assert!(response["sessionId"].is_string(), "{response}");
    }
}

#[tokio::test]
async fn the_command_line_is_journaled_as_a_tool() {
    let journal = JournalFolder::new();
    let bank = Fixture::node("bank");
    let done = STILLFRAME
        .command()
        .arg("--log-file")
        .arg(journal.path())
        .args(["probe", &format!("{}:{}", bank.path(), bank.line("deposit")), "-e", "amount + 1"])
        .output()
        .await
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let lines = journal.lines();
    let calls = of_kind(&lines, "tool:call");
    assert_eq!(field(&calls, "tool"), ["stillframe probe"]);
    assert!(calls[0]["request"]["command"].as_str().unwrap().ends_with("-e 'amount + 1'"), "{}", calls[0]);
    let responses = of_kind(&lines, "tool:response");
    assert_eq!(responses[0]["callId"], calls[0]["callId"]);
    assert_eq!(of_kind(&lines, "session:closed").len(), 1);
}

#[tokio::test]
async fn an_exposed_session_is_journaled_without_its_token() {
    let journal = JournalFolder::new();
    let server = journal.serve("standard").await;
    let bank = Fixture::python("bank");
    let until = json!({ "program": bank.path(), "until": [{ "line": bank.line("deposit") }] });
    server.ok("run_until", until).await;
    let exposed = server.ok("expose_session", json!({ "control": true })).await;
    server.ok("unexpose_session", json!({})).await;
    server.finish().await;
    let lines = journal.lines();
    let reported: Vec<Value> = of_kind(&lines, "session:exposure")
        .into_iter()
        .map(|line| json!([line["event"], line["host"], line["port"], line["control"]]))
        .collect();
    let (host, port) = (&exposed["host"], &exposed["port"]);
    assert_eq!(reported, [json!(["opened", host, port, true]), json!(["closed", host, port, true])]);
    let token = exposed.text_of("token");
    assert!(lines.iter().all(|line| !line.to_string().contains(token)), "{lines:#?}");
}
