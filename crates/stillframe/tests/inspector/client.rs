//! A server of this toolset, in a folder of its own, as a test talks to it.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Answer, Dynamic, DynamicLanguage as Language, Fixture, Server, ServerOptions};

use crate::STILLFRAME;

/// A server whose working directory is a folder of the test.
pub(crate) struct ToolClient {
    folder: TempDir,
    server: Server,
}

impl ToolClient {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir_in(STILLFRAME.scratch).expect("a folder can be made");
        let options = STILLFRAME.options().await;
        let args = ["serve", "--toolset", "inspector"].map(str::to_owned).to_vec();
        let cwd = Some(folder.path().to_owned());
        let server = ServerOptions { args, cwd, ..options }.start().await;
        Self { folder, server }
    }

    /// A server, and a program in its folder that is paused at its beginning.
    pub(crate) async fn started(language: Language, texts: Dynamic) -> (Self, Fixture) {
        let client = Self::new().await;
        let program = client.write(language, texts);
        client.start(&program).await;
        (client, program)
    }

    /// The same at a named line.
    pub(crate) async fn stopped_at(language: Language, texts: Dynamic, name: &str) -> (Self, Fixture) {
        let (client, program) = Self::started(language, texts).await;
        client.break_at(&program, name).await;
        let stopped = client.step("continue").await;
        assert_eq!(stopped.at("/location/line"), program.line(name), "{}", stopped.text);
        (client, program)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A program in the folder, called `app`.
    pub(crate) fn write(&self, language: Language, texts: Dynamic) -> Fixture {
        Fixture::write_in(language, self.folder(), "app", texts)
    }

    /// A call that goes well, by the name of its tool without `debugger_`.
    pub(crate) async fn ok(&self, tool: &str, arguments: Value) -> Answer {
        let answer = self.server.call(&format!("debugger_{tool}"), arguments.clone()).await;
        assert!(!answer.is_error, "{tool} {arguments}: {}", answer.text);
        assert_eq!(answer["status"], "success", "{tool}: {}", answer.text);
        assert_eq!(answer["code"], Value::Null, "{tool}: {}", answer.text);
        answer
    }

    /// A call that fails with a code.
    pub(crate) async fn fails(&self, code: &str, tool: &str, arguments: Value) -> Answer {
        let answer = self.server.call(&format!("debugger_{tool}"), arguments.clone()).await;
        assert!(answer.is_error, "{tool} {arguments} went well: {}", answer.text);
        assert_eq!((&answer["status"], &answer["code"]), (&json!("error"), &json!(code)), "{}", answer.text);
        assert!(!answer.text_of("message").is_empty(), "{tool}: {}", answer.text);
        assert!(answer["context"].is_object(), "{tool}: {}", answer.text);
        answer
    }

    /// A call of a tool that needs nothing but the session.
    pub(crate) async fn step(&self, tool: &str) -> Answer {
        self.ok(tool, json!({})).await
    }

    /// Starts a program, which is paused then.
    pub(crate) async fn start(&self, program: &Fixture) -> Answer {
        let command = program.language().dynamic().pick("python3", "node");
        let started = self.ok("start", json!({ "command": command, "args": [program.path()] })).await;
        assert_eq!(started["state"], "paused", "{}", started.text);
        started
    }

    pub(crate) async fn break_at(&self, program: &Fixture, name: &str) -> Answer {
        self.ok("set_breakpoint", at(program, name)).await
    }

    pub(crate) async fn value(&self, expression: &str) -> Value {
        self.ok("inspect", json!({ "expression": expression })).await["value"].clone()
    }

    /// Kills a program, from outside.
    pub(crate) fn kill(&self, started: &Answer) {
        let pid = started["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
        self.server.kill_started(pid.expect("a process number"));
    }

    /// What inspecting a program says that was killed: it has ended, or is about to.
    pub(crate) async fn inspect_killed(&self) -> Answer {
        let answer = self.server.call("debugger_inspect", json!({ "expression": "1" })).await;
        assert!(answer.is_error, "{}", answer.text);
        answer
    }

    pub(crate) async fn finish(self) {
        self.server.finish().await;
    }
}

/// A named line, as tools take it.
pub(crate) fn at(program: &Fixture, name: &str) -> Value {
    json!({ "file": program.path(), "line": program.line(name) })
}

/// Every item of a list that has this name.
pub(crate) fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let items = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    items.iter().find(|item| item["name"] == name).unwrap_or_else(|| panic!("no {name} in {list}"))
}

/// Adds up in a function, called five times.
pub(crate) const ADDS: Dynamic = Dynamic {
    python: "\
start = 1  # @entry
def add(number):
    double = number * 2  # @double
    return double + start  # @return
total = 0
for turn in range(5):
    total += add(turn)  # @call
print('done', total)  # @last
",
    node: "\
let start = 1; // @entry
function add(number) {
  const double = number * 2; // @double
  return double + start; // @return
}
let total = 0;
for (let turn = 0; turn < 5; turn += 1) {
  total += add(turn); // @call
}
console.log('done', total); // @last
",
};
