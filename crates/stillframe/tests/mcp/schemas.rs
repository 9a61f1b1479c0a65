//! Every answer of every tool has the shape that the tool declares.

use std::collections::{BTreeMap, BTreeSet};

use jsonschema::Validator;
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Answer, Fixture, Server, ServerOptions, repository};

use crate::STILLFRAME;
use crate::scenes::{Listening, printed};

/// A server whose answers are checked.
struct Checked {
    server: Server,
    schemas: BTreeMap<String, Validator>,
    /// Tools that have answered with a success.
    seen: BTreeSet<String>,
    /// Where its recordings are.
    _state: TempDir,
}

impl Checked {
    async fn new() -> Self {
        let state = tempfile::tempdir().expect("a folder");
        let options = STILLFRAME.options().await;
        let args = ["serve", "--toolset", "standard,recording"].map(str::to_owned).into();
        let env = vec![("XDG_STATE_HOME".to_owned(), state.path().display().to_string())];
        let server = ServerOptions { args, env, ..options }.start().await;
        let list = server.request("tools/list", json!({})).await.expect("the tools are listed");
        let tools = list["tools"].as_array().expect("a list of tools").iter();
        // The others answer with a text.
        let tools = tools.filter(|tool| tool["outputSchema"].is_object());
        let schema = |tool: &Value| {
            let name = tool["name"].as_str().expect("tools have names");
            let schema = jsonschema::validator_for(&tool["outputSchema"]).expect("a schema");
            (name.to_owned(), schema)
        };
        let schemas = tools.map(schema).collect();
        Self { server, schemas, seen: BTreeSet::new(), _state: state }
    }

    fn check(&self, tool: &str, answer: &Answer) {
        let errors = self.schemas[tool].iter_errors(&answer.data);
        let errors: Vec<String> = errors.map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{tool}: {errors:#?} in {}", answer.text);
    }

    async fn ok(&mut self, tool: &str, arguments: Value) -> Answer {
        let answer = self.server.ok(tool, arguments).await;
        self.check(tool, &answer);
        self.seen.insert(tool.to_owned());
        answer
    }

    async fn fails(&self, code: &str, tool: &str, arguments: Value) {
        let answer = self.server.fails(code, tool, arguments).await;
        self.check(tool, &answer);
    }

    async fn session(&mut self) -> String {
        let created = self.ok("create_debug_session", json!({ "language": "python" })).await;
        created.text_of("sessionId").to_owned()
    }

    /// A launch that stops.
    async fn launch(&mut self, program: &Fixture) -> String {
        let session = self.session().await;
        let file = program.path();
        let line = json!({ "sessionId": session, "file": file, "line": program.line("call") });
        self.ok("set_breakpoint", line).await;
        let statement =
            json!({ "sessionId": session, "file": file, "statement": "return amount", "nearLine": 1 });
        self.ok("set_breakpoint", statement).await;
        let function = json!({ "sessionId": session, "function": "main", "condition": "1 / 0" });
        self.ok("set_breakpoint", function).await;
        self.ok("set_exception_breakpoints", json!({ "sessionId": session, "mode": "all" })).await;
        let dry = json!({ "sessionId": session, "scriptPath": file, "dryRunSpawn": true });
        assert_eq!(self.ok("start_debugging", dry).await.at("/data/dryRun"), true);
        let started = self.ok("start_debugging", json!({ "sessionId": session, "scriptPath": file })).await;
        assert_eq!(started["state"], "paused");
        session
    }

    /// All that only looks, and the two that do not.
    async fn look_around(&mut self, session: &str, program: &Fixture) {
        let only = json!({ "sessionId": session });
        self.ok("list_supported_languages", json!({})).await;
        self.ok("list_debug_sessions", json!({})).await;
        self.ok("list_breakpoints", only.clone()).await;
        self.ok("list_threads", only.clone()).await;
        let stack = self.ok("get_stack_trace", only.clone()).await;
        let frame = stack.at("/stackFrames/0/id").clone();
        let scopes = self.ok("get_scopes", json!({ "sessionId": session, "frameId": frame })).await;
        let scope = scopes.at("/scopes/0/variablesReference").clone();
        self.ok("get_variables", json!({ "sessionId": session, "scope": scope, "count": 1 })).await;
        self.ok("get_variables", json!({ "sessionId": session, "scope": scope, "names": ["nobody"] })).await;
        self.ok("get_local_variables", only.clone()).await;
        self.ok("get_local_variables", json!({ "sessionId": session, "includeSpecial": true })).await;
        let long = json!({ "sessionId": session, "expression": "'x' * 5000", "maxLength": 20 });
        self.ok("evaluate_expression", long).await;
        let assigned = json!({ "sessionId": session, "name": "prices", "value": "{'pear': 1, 'plum': 1}" });
        self.ok("set_variable", assigned).await;
        let source = json!({ "sessionId": session, "file": program.path(), "line": program.line("call") });
        self.ok("get_source_context", source).await;
        self.ok("get_output", only.clone()).await;
        self.ok("expose_session", json!({ "sessionId": session, "control": true })).await;
        self.ok("list_debug_sessions", json!({})).await;
        self.ok("unexpose_session", only).await;
    }

    /// To the end of a recording, and back.
    async fn run_back(&mut self, program: &Fixture) {
        let command = json!({ "command": "python3", "args": [program.path()] });
        assert!(!self.server.call("record_run", command).await.is_error);
        let recording = self.ok("create_debug_session", json!({ "language": "recording" })).await;
        let only = json!({ "sessionId": recording.text_of("sessionId") });
        let start = json!({ "sessionId": only["sessionId"], "scriptPath": "last" });
        assert_eq!(self.ok("start_debugging", start).await["reason"], "end");
        assert_eq!(self.ok("step_back", only.clone()).await["reason"], "step");
        assert_eq!(self.ok("reverse_continue", only.clone()).await["reason"], "start");
        self.ok("close_debug_session", only).await;
    }

    /// To the program's end, and once more.
    async fn run_on(&mut self, session: &str, program: &Fixture) {
        let only = json!({ "sessionId": session });
        self.ok("step_into", only.clone()).await;
        self.ok("step_out", only.clone()).await;
        self.ok("step_over", only.clone()).await;
        let line = json!({ "sessionId": session, "file": program.path(), "line": program.line("call") });
        self.ok("remove_breakpoint", line).await;
        self.ok("clear_breakpoints", only.clone()).await;
        assert_eq!(self.ok("continue_execution", only.clone()).await["state"], "ended");
        assert_eq!(self.ok("restart_debugging", only.clone()).await["state"], "ended");
        self.ok("get_output", only.clone()).await;
        self.ok("close_debug_session", only).await;
    }
}

#[tokio::test]
async fn every_success_matches_its_schema() {
    let mut checked = Checked::new().await;
    let shop = Fixture::python("shop");
    let session = checked.launch(&shop).await;
    checked.look_around(&session, &shop).await;
    checked.run_on(&session, &shop).await;
    checked.run_back(&shop).await;

    let session = checked.session().await;
    let naps = Fixture::python("naps");
    let start = json!({ "sessionId": session, "scriptPath": naps.path(), "timeout": 0 });
    assert_eq!(checked.ok("start_debugging", start).await["state"], "running");
    printed(&checked.server, &session, "nap 1").await;
    let wait = json!({ "sessionId": session, "timeout": 100 });
    assert_eq!(checked.ok("continue_execution", wait).await["state"], "running");
    assert_eq!(checked.ok("pause_execution", json!({ "sessionId": session })).await["state"], "paused");
    checked.ok("close_debug_session", json!({ "sessionId": session })).await;

    let program = Listening::start().await;
    let session = checked.session().await;
    checked.ok("attach_to_process", json!({ "sessionId": session, "port": program.port })).await;
    checked.ok("detach_from_process", json!({ "sessionId": session })).await;
    checked.ok("close_debug_session", json!({ "sessionId": session })).await;
    program.end().await;

    let until = json!({
        "program": shop.path(),
        "until": [{ "line": shop.line("pay") }],
        "expressions": ["amount", "nobody"],
        "close": true,
    });
    checked.ok("run_until", until).await;
    checked.ok("run_until", json!({ "program": shop.path() })).await;

    let pay = json!({ "line": shop.line("pay"), "expressions": ["amount", "nobody", "'x' * 500"] });
    let never = json!({ "line": shop.line("call"), "expressions": ["1"], "condition": "nobody" });
    checked.ok("trace_values", json!({ "program": shop.path(), "points": [pay, never] })).await;

    for name in ["two_locks.py", "many_lines.js"] {
        let program = repository().join("fixtures/hang").join(name);
        let command = if name == "many_lines.js" { "node" } else { "python3" };
        checked.ok("diagnose_hang", json!({ "command": command, "args": [program], "timeout": 1_500 })).await;
    }
    let tests = json!({
        "command": "python3",
        "args": ["-m", "unittest", "examples/test_basket.py"],
        "cwd": repository(),
    });
    assert_eq!(checked.ok("debug_test", tests).await["verdict"], "failed");

    let all: BTreeSet<String> = checked.schemas.keys().cloned().collect();
    assert_eq!(checked.seen, all);
    checked.server.finish().await;
}

#[tokio::test]
async fn every_failure_matches_its_schema() {
    // The TypeScript SDK 1.x checks the answers of failed calls against the same schema.
    let checked = Checked::new().await;
    // Of these each tool has one, but for those that take nothing.
    let wrong = json!({ "sessionId": [], "language": [], "command": {} });
    for tool in checked.schemas.keys().filter(|tool| !tool.starts_with("list_")) {
        checked.fails("invalid_arguments", tool, wrong.clone()).await;
    }
    for tool in ["list_breakpoints", "list_threads"] {
        checked.fails("invalid_arguments", tool, wrong.clone()).await;
    }
    let nobody = "nobody";
    let table = [
        ("session_not_found", "step_over", json!({ "sessionId": nobody })),
        ("session_not_found", "set_breakpoint", json!({ "sessionId": nobody, "line": 3, "file": "x.py" })),
        ("session_not_found", "get_local_variables", json!({ "sessionId": nobody })),
        ("session_not_found", "get_output", json!({ "sessionId": nobody })),
        ("language_unsupported", "create_debug_session", json!({ "language": "cobol" })),
        ("file_not_found", "run_until", json!({ "program": "/no/such/program.py" })),
    ];
    for (code, tool, arguments) in table {
        checked.fails(code, tool, arguments).await;
    }
    let shop = Fixture::python("shop");
    let session = checked.server.ok("create_debug_session", json!({ "language": "python" })).await;
    let session = session.text_of("sessionId");
    let nowhere = json!({ "sessionId": session, "file": shop.path(), "line": 5000 });
    checked.fails("line_unusable", "set_breakpoint", nowhere).await;
    checked.fails("not_paused", "get_local_variables", json!({ "sessionId": session })).await;
    checked.server.finish().await;
}
