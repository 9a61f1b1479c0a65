//! The toolset `script` as its users have it: one tool, a server process, real commands.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a helper that fails is a test that fails; what a JSON value does not have is null"
)]

mod bad_input;
mod commands;
mod extras;
mod many;
mod seed;
mod values;

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Built, Fixture, Server};

/// The program under test.
const STILLFRAME: Built =
    Built { program: env!("CARGO_BIN_EXE_stillframe"), scratch: env!("CARGO_TARGET_TMPDIR") };

const EXITED: &str = "Process exited before breakpoint was hit";

/// A server in a folder of its own, which goes with it.
struct Scripting {
    folder: TempDir,
    server: Server,
}

impl Scripting {
    async fn new() -> Self {
        Self::with_files(&[]).await
    }

    /// A server in a folder with these files.
    async fn with_files(files: &[(&str, &str)]) -> Self {
        Self::with_environment(files, &[]).await
    }

    /// The same with more environment.
    async fn with_environment(files: &[(&str, &str)], env: &[(&str, &str)]) -> Self {
        Self::started(files, env, &["--toolset", "script"]).await
    }

    /// The same with these options.
    async fn started(files: &[(&str, &str)], env: &[(&str, &str)], arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir_in(STILLFRAME.scratch).expect("a folder can be made");
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a file is in a folder"))
                .expect("a folder can be made");
            std::fs::write(path, text).expect("a file can be written");
        }
        let mut options = STILLFRAME.options().await;
        options.args = ["serve"].iter().chain(arguments).map(|argument| (*argument).to_owned()).collect();
        options.env.extend(env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        options.cwd = Some(folder.path().to_owned());
        Self { folder, server: options.start().await }
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn line(&self, file: &str, name: &str) -> u32 {
        Fixture::read(self.folder().join(file)).line(name)
    }

    /// The result of a call as it is on the wire.
    async fn call(&self, arguments: Value) -> Value {
        let result = self
            .server
            .request("tools/call", json!({ "name": "debug-script", "arguments": arguments }))
            .await;
        result.unwrap_or_else(|error| panic!("{arguments}: {error}"))
    }

    /// A call that stops in `main.js` at `@here`, or where `file` says.
    async fn ask(&self, command: &str, expression: &str, more: Value) -> Value {
        let mut arguments = json!({ "command": command, "expression": expression, "timeout": 20_000 });
        arguments["breakpoint"] = json!({ "file": "main.js", "line": 0 });
        for (name, value) in more.as_object().expect("an object") {
            arguments[name] = value.clone();
        }
        let file = arguments["breakpoint"]["file"].as_str().expect("a file").to_owned();
        if arguments["breakpoint"]["line"] == 0 {
            arguments["breakpoint"]["line"] = json!(self.line(&file, "here"));
        }
        self.call(arguments).await
    }

    /// The values that a call leads to, which is to be a success.
    async fn values(&self, command: &str, expression: &str, more: Value) -> Vec<Value> {
        let result = self.ask(command, expression, more).await;
        assert_eq!(
            (&result["content"], &result["isError"]),
            (&json!([]), &Value::Null),
            "{command}: {result}"
        );
        let results = result["structuredContent"]["results"].as_array();
        let results = results.unwrap_or_else(|| panic!("{command}: no results: {result}"));
        results.iter().map(|result| result["value"].clone()).collect()
    }

    async fn finish(self) {
        self.server.finish().await;
    }
}

/// Squares three numbers.
const MAIN: &str = "\
for (const number of [1, 2, 3]) {
  const square = number * number;
  console.log(square); // @here
}
";
