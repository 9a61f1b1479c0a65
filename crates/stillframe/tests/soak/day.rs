//! What an agent does with a program until it knows what it wanted to know.

use std::cell::Cell;

use serde_json::{Value, json};
use test_support::{Answer, DynamicLanguage as Language, Fixture, Server};

/// One program, and the calls made for it.
pub(crate) struct Day<'a> {
    server: &'a Server,
    session: String,
    calls: Cell<usize>,
}

impl Day<'_> {
    /// Debugs one program, and returns how many calls that took.
    pub(crate) async fn work(server: &Server, language: Language) -> usize {
        let program = Fixture::of(language, "bank");
        let created = server.ok("create_debug_session", json!({ "language": language.name() })).await;
        let day = Day { server, session: created.text_of("sessionId").to_owned(), calls: Cell::new(1) };
        day.looks_around(&program).await;
        day.steps().await;
        day.records(&program).await;
        day.call("close_debug_session", json!({})).await;
        day.calls.get()
    }

    async fn call(&self, tool: &str, mut arguments: Value) -> Answer {
        self.calls.set(self.calls.get() + 1);
        arguments["sessionId"] = json!(self.session);
        self.server.ok(tool, arguments).await
    }

    async fn looks_around(&self, program: &Fixture) {
        let location = json!({ "file": program.path(), "line": program.line("deposit") });
        self.call("set_breakpoint", location).await;
        let stopped =
            self.call("start_debugging", json!({ "scriptPath": program.path(), "timeout": 60_000 })).await;
        assert_eq!(stopped["state"], "paused", "{}", stopped.text);
        let stack = self.call("get_stack_trace", json!({})).await;
        let frame = stack.at("/stackFrames/0/id").clone();
        let scopes = self.call("get_scopes", json!({ "frameId": frame })).await;
        let scope = scopes.at("/scopes/0/variablesReference").clone();
        self.call("get_variables", json!({ "scope": scope })).await;
        self.call("get_local_variables", json!({})).await;
        for expression in ["amount", "amount * 2", "[amount, amount, amount]"] {
            self.call("evaluate_expression", json!({ "expression": expression })).await;
        }
        let wrong = json!({ "sessionId": self.session, "expression": "no.such.thing" });
        self.calls.set(self.calls.get() + 1);
        self.server.fails("evaluation_failed", "evaluate_expression", wrong).await;
        let around = json!({ "file": program.path(), "line": program.line("deposit") });
        self.call("get_source_context", around).await;
        self.call("list_threads", json!({})).await;
        self.call("list_breakpoints", json!({})).await;
    }

    async fn steps(&self) {
        for tool in ["step_over", "step_over", "step_into", "step_out", "step_over"] {
            self.call(tool, json!({})).await;
        }
        self.call("continue_execution", json!({})).await;
        self.call("get_output", json!({})).await;
    }

    async fn records(&self, program: &Fixture) {
        self.call("clear_breakpoints", json!({})).await;
        let points =
            json!([{ "file": program.path(), "line": program.line("deposit"), "expressions": ["amount"] }]);
        self.call("trace_values", json!({ "points": points, "maxHits": 2, "whenFull": "run" })).await;
        self.call("restart_debugging", json!({ "timeout": 60_000 })).await;
        self.call("get_output", json!({})).await;
    }
}
