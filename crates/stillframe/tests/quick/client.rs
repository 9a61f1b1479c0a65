//! A server of this toolset, in a folder of its own, as a test talks to it.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Answer, Dynamic, DynamicLanguage as Language, Fixture, Server, ServerOptions};

use crate::STILLFRAME;

/// A server whose working directory is a folder of the test.
pub(crate) struct ToolClient {
    pub(crate) server: Server,
}

impl ToolClient {
    /// Starts a server in a folder.
    pub(crate) async fn within(folder: &Path) -> Self {
        Self::with(folder, "quick").await
    }

    /// The same with other toolsets.
    pub(crate) async fn with(folder: &Path, toolsets: &str) -> Self {
        let options = STILLFRAME.options().await;
        let args = vec!["serve".to_owned(), "--toolset".to_owned(), toolsets.to_owned()];
        let server = ServerOptions { args, cwd: Some(folder.to_owned()), ..options }.start().await;
        Self { server }
    }

    /// The answer of a call that goes well.
    pub(crate) async fn succeeds(&self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments.clone()).await;
        assert!(!answer.is_error, "{tool} {arguments}: {}", answer.text);
        answer.text
    }

    /// The answer of a call that does not.
    pub(crate) async fn fails(&self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments.clone()).await;
        assert!(answer.is_error, "{tool} {arguments} went well: {}", answer.text);
        answer.text
    }

    async fn call(&self, tool: &str, arguments: Value) -> Answer {
        let answer = self.server.call(tool, arguments).await;
        assert_eq!(answer.data, Value::Null, "{tool}: there is plain text, and no data");
        answer
    }

    /// Calls a tool that takes nothing.
    pub(crate) async fn step(&self, tool: &str) -> String {
        self.succeeds(tool, json!({})).await
    }

    /// Sets a breakpoint on a named line.
    pub(crate) async fn break_at(&self, program: &Fixture, name: &str) -> String {
        let location = json!({ "file": program.path(), "line": program.line(name) });
        self.succeeds("debug_breakpoint", location).await
    }

    /// Starts a program, which pauses at its entry.
    pub(crate) async fn launch(&self, program: &Fixture) -> String {
        self.succeeds("debug_launch", json!({ "program": program.path() })).await
    }

    /// Starts a program and lets it run to a named line.
    pub(crate) async fn stopped_at(&self, program: &Fixture, name: &str) -> String {
        self.launch(program).await;
        self.break_at(program, name).await;
        self.step("debug_continue").await
    }
}

/// What this vocabulary calls a language.
pub(crate) fn name_of(language: Language) -> &'static str {
    language.pick("python", "node")
}

/// `main.py:22` for a named line.
pub(crate) fn at(program: &Fixture, name: &str) -> String {
    let file = Path::new(program.path()).file_name().unwrap().to_str().unwrap();
    format!("{file}:{}", program.line(name))
}

/// What a stop at a named line looks like.
pub(crate) fn stop(reason: &str, program: &Fixture, name: &str) -> String {
    format!("Stopped ({reason}) at {}\n{}", at(program, name), window(program, name))
}

/// The three lines before and after a named line, as they are shown.
pub(crate) fn window(program: &Fixture, name: &str) -> String {
    let text = std::fs::read_to_string(program.path()).unwrap();
    let here = program.line(name);
    let near: Vec<(u32, &str)> =
        (1u32..).zip(text.lines()).filter(|(line, _)| line.abs_diff(here) <= 3).collect();
    let width = near.last().unwrap().0.to_string().len();
    let line = |(line, code): &(u32, &str)| {
        let mark = if *line == here { ">>>" } else { "   " };
        format!("{mark} {line:width$} | {code}").trim_end().to_owned()
    };
    near.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A folder for the programs of one test, and the working directory of its servers.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir_in(STILLFRAME.scratch).expect("a folder can be made")
}

/// A program in a folder, and a server with that working directory.
pub(crate) async fn scene(language: Language, texts: Dynamic) -> (TempDir, Fixture, ToolClient) {
    let folder = folder();
    let program = app(language, &folder, texts);
    let client = ToolClient::within(folder.path()).await;
    (folder, program, client)
}

/// A program in the folder, called `app`.
pub(crate) fn app(language: Language, folder: &TempDir, texts: Dynamic) -> Fixture {
    Fixture::write_in(language, folder.path(), "app", texts)
}

/// Adds up in a function that is called from another one.
pub(crate) const ADDS: Dynamic = Dynamic {
    python: "\
def add(items):
    total = 0  # @first
    # @comment
    for item in items:  # @loop
        total += item  # @add
    return total  # @return


def main():
    name = 'hello world'
    print('begin')
    result = add([1, 2])  # @call
    print(result)  # @print


main()
",
    node: "\
function add(items) {
  let total = 0; // @first
  // @comment
  for (const item of items) { // @loop
    total += item; // @add
  }
  return total; // @return
}

function main() {
  const name = 'hello world';
  console.log('begin');
  const result = add([1, 2]); // @call
  console.log(result); // @print
}

main();
",
};

/// Prints `ready`, and then loops forever in a function.
pub(crate) const ENDLESS: Dynamic = Dynamic {
    python: "\
import time


def turn():
    turns = 0
    while True:
        time.sleep(0.01)
        turns += 1  # @turn


print('ready', flush=True)
turn()
print('never')  # @never
",
    node: "\
function turn() {
  let turns = 0;
  for (;;) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    turns += 1; // @turn
  }
}

console.log('ready');
turn();
console.log('never'); // @never
",
};
