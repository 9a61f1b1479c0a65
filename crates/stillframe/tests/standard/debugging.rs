//! A session as a test talks to it: the id is filled in.

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Answer, Fixture, Language, Program, Server, Texts};

use crate::STILLFRAME;

/// A server with one session.
pub(crate) struct Debugging {
    pub(crate) server: Server,
    pub(crate) id: String,
}

impl Debugging {
    /// Starts a server and opens a session for Python.
    pub(crate) async fn new() -> Self {
        Self::of(Language::Python).await
    }

    /// Starts a server and opens a session for a language.
    pub(crate) async fn of(language: impl Into<Language>) -> Self {
        Self::on(STILLFRAME.serve().await, language).await
    }

    /// A program of the fixtures, and a session for it.
    pub(crate) async fn with(language: impl Into<Language>, fixture: &str) -> (Fixture, Self) {
        let program = Fixture::of(language, fixture);
        let session = Self::of(program.language()).await;
        (program, session)
    }

    /// A program of the fixtures, and a session in which it is stopped at a named line.
    pub(crate) async fn paused(language: impl Into<Language>, fixture: &str, name: &str) -> (Fixture, Self) {
        let program = Fixture::of(language, fixture);
        let (session, _) = Self::stopped_at(&program, name).await;
        (program, session)
    }

    /// Opens a session on a server.
    pub(crate) async fn on(server: Server, language: impl Into<Language>) -> Self {
        let arguments = json!({ "language": language.into().name() });
        let created = server.ok("create_debug_session", arguments).await;
        let id = created.text_of("sessionId").to_owned();
        Self { server, id }
    }

    /// A program that is stopped at a named line.
    pub(crate) async fn stopped_at(program: &Fixture, name: &str) -> (Self, Answer) {
        let session = Self::of(program.language()).await;
        session.break_at(program, name).await;
        let mut stopped = session.start(program).await;
        if stopped.outcome() == "running" {
            // On a busy machine a program may take longer to get there than a call waits.
            stopped = session.go_on().await;
        }
        assert_eq!(stopped.place(), (program.path(), program.line(name)), "{}", stopped.text);
        (session, stopped)
    }

    /// Calls a tool that is to succeed.
    pub(crate) async fn ok(&self, tool: &str, arguments: Value) -> Answer {
        self.server.ok(tool, self.with_id(arguments)).await
    }

    /// Calls a tool that is to fail with a code.
    pub(crate) async fn fails(&self, code: &str, tool: &str, arguments: Value) -> Answer {
        self.server.fails(code, tool, self.with_id(arguments)).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.server.call(tool, self.with_id(arguments)).await
    }

    pub(crate) fn with_id(&self, mut arguments: Value) -> Value {
        arguments["sessionId"] = json!(self.id);
        arguments
    }

    /// Sets a breakpoint on a named line.
    pub(crate) async fn break_at(&self, program: &Fixture, name: &str) -> Answer {
        self.break_with(program, name, json!({})).await
    }

    /// Sets a breakpoint on a named line, with more arguments.
    pub(crate) async fn break_with(&self, program: &Fixture, name: &str, mut more: Value) -> Answer {
        more["file"] = json!(program.path());
        more["line"] = json!(program.line(name));
        self.ok("set_breakpoint", more).await
    }

    pub(crate) async fn breakpoints(&self) -> Vec<Value> {
        let listed = self.ok("list_breakpoints", json!({})).await;
        listed["breakpoints"].as_array().cloned().expect("a list")
    }

    /// Starts a program and waits for its first stop or its end.
    pub(crate) async fn start(&self, program: &Fixture) -> Answer {
        self.ok("start_debugging", json!({ "scriptPath": program.path() })).await
    }

    /// Lets it run to the next stop or the end.
    pub(crate) async fn go_on(&self) -> Answer {
        self.ok("continue_execution", json!({})).await
    }

    /// Calls a tool that takes nothing but the session.
    pub(crate) async fn step(&self, tool: &str) -> Answer {
        self.ok(tool, json!({})).await
    }

    /// Evaluates, and returns the result.
    pub(crate) async fn evaluate(&self, expression: &str) -> String {
        let value = self.ok("evaluate_expression", json!({ "expression": expression })).await;
        value.text_of("result").to_owned()
    }

    /// All that the program wrote, with the category of each piece.
    pub(crate) async fn output(&self) -> Vec<(String, String)> {
        let mut pieces = Vec::new();
        let mut since = json!(0);
        loop {
            let page = self.ok("get_output", json!({ "since": since, "limit": 1_000_000 })).await;
            let text = |piece: &Value, field: &str| piece[field].as_str().expect("a text").to_owned();
            let read = page["output"].as_array().expect("a list");
            pieces.extend(read.iter().map(|piece| (text(piece, "category"), text(piece, "text"))));
            if page["hasMore"] == false {
                return pieces;
            }
            since = page["nextSince"].clone();
        }
    }

    /// What the program wrote in one category.
    pub(crate) async fn written(&self, category: &str) -> String {
        let pieces = self.output().await;
        pieces.into_iter().filter(|(kind, _)| kind == category).map(|(_, text)| text).collect()
    }

    /// Lets the program run to its end, which is to be a good one.
    pub(crate) async fn run_to_the_end(&self) -> Answer {
        let ended = self.go_on().await;
        assert_eq!((&ended["state"], &ended["exitCode"]), (&json!("ended"), &json!(0)), "{}", ended.text);
        ended
    }

    /// Lets the program run to its end, which is to be a good one, and closes the server.
    pub(crate) async fn finish_at_end(self) {
        self.run_to_the_end().await;
        self.finish().await;
    }

    /// The end of the program is known already, or else the call waits for it.
    pub(crate) async fn assert_ended(&self) {
        let report = self.call("continue_execution", json!({})).await;
        let answer = if report.is_error { report.at("/context/state") } else { &report["state"] };
        assert_eq!(answer, "ended", "{}", report.text);
    }

    /// The server and everything that it started must go.
    pub(crate) async fn finish(self) {
        self.server.finish().await;
    }
}

/// What a report says, in short.
pub(crate) trait Report {
    /// File and line of a stop.
    fn place(&self) -> (&str, u32);
    /// The reason of a stop, or the state when it is none.
    fn outcome(&self) -> &str;
}

impl Report for Answer {
    fn place(&self) -> (&str, u32) {
        let line = self.at("/location/line").as_u64().and_then(|line| u32::try_from(line).ok());
        (self.at("/location/file").as_str().unwrap_or_default(), line.unwrap_or_default())
    }

    fn outcome(&self) -> &str {
        if self["state"] == "paused" { self.text_of("reason") } else { self.text_of("state") }
    }
}

/// A server that records values by stops.
pub(crate) async fn stopping_server() -> Server {
    let mut options = STILLFRAME.options().await;
    options.env.push(("STILLFRAME_TRACE".to_owned(), "stop".to_owned()));
    options.start().await
}

/// A folder for the programs of one test.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir_in(STILLFRAME.scratch).expect("a folder can be made")
}

/// A program in a folder of its own.
pub(crate) fn written(name: &str, text: &str) -> (TempDir, Fixture) {
    let folder = folder();
    let program = Fixture::write(folder.path(), name, text);
    (folder, program)
}

/// The same with the text for a language.
pub(crate) fn written_in<L: Into<Language> + Copy>(
    language: L,
    stem: &str,
    program: impl Program<L>,
) -> (TempDir, Fixture) {
    let folder = folder();
    let program = Fixture::write_in(language, folder.path(), stem, program);
    (folder, program)
}

/// Prints `ready`, and then wakes up often, forever.
pub(crate) const ENDLESS: Texts = Texts {
    name: "endless",
    python: "import time\nprint('ready')\nwhile True:\n    time.sleep(0.01)\n",
    node: "console.log('ready');\nsetInterval(() => {}, 10);\n",
    c: "\
#include <stdio.h>
#include <unistd.h>
int main(void) {
    puts(\"ready\"), fflush(stdout);
    for (;;) usleep(10000);
}
",
};
