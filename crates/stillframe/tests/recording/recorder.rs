//! A server with the toolset `recording`, and the versions of Python to record.

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Fixture, Server, ServerOptions, built_python};

use crate::STILLFRAME;

/// A server whose recordings are in a folder of the test.
pub(crate) struct Client {
    pub(crate) server: Server,
    pub(crate) state: TempDir,
    python: String,
}

/// The versions to record: the newest has `sys.monitoring`, and the oldest has not.
pub(crate) fn pythons() -> Vec<String> {
    test_support::pythons(&["3.8.", "3.12."])
}

/// A Python without `sys.monitoring`, if pyenv has built the oldest.
pub(crate) fn tracing_python() -> String {
    built_python("3.8.").unwrap_or_else(|| "python3".to_owned())
}

/// A program in a folder of its own.
pub(crate) fn written(name: &str, text: &str) -> (TempDir, Fixture) {
    let folder = tempfile::tempdir().unwrap();
    let program = Fixture::write(folder.path(), name, text);
    (folder, program)
}

impl Client {
    pub(crate) async fn new(python: &str) -> Self {
        Self::with(&[], python).await
    }

    /// A server with a recording of a program, and what is said about that.
    pub(crate) async fn recorded(python: &str, program: &Fixture) -> (Self, String) {
        let client = Self::new(python).await;
        let said = client.record(program, &[]).await;
        (client, said)
    }

    /// A server with more arguments.
    pub(crate) async fn with(more: &[&str], python: &str) -> Self {
        Self::in_state(tempfile::tempdir().unwrap(), more, python).await
    }

    /// A server whose state folder is there.
    pub(crate) async fn in_state(state: TempDir, more: &[&str], python: &str) -> Self {
        Self::of_toolsets("recording", state, more, python).await
    }

    /// A server with other tools beside those for recordings.
    pub(crate) async fn of_toolsets(toolsets: &str, state: TempDir, more: &[&str], python: &str) -> Self {
        Self::start(toolsets, state, more, &[], python).await
    }

    /// A server with more variables in its environment.
    pub(crate) async fn with_env(env: &[(&str, &str)], python: &str) -> Self {
        Self::start("recording", tempfile::tempdir().unwrap(), &[], env, python).await
    }

    async fn start(
        toolsets: &str,
        state: TempDir,
        more: &[&str],
        variables: &[(&str, &str)],
        python: &str,
    ) -> Self {
        let options = STILLFRAME.options().await;
        let args = ["serve", "--toolset", toolsets].iter().chain(more).map(|&word| word.to_owned()).collect();
        let mut env = vec![("XDG_STATE_HOME".to_owned(), state.path().display().to_string())];
        env.extend(variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())));
        let server = ServerOptions { args, env, ..options }.start().await;
        Self { server, state, python: python.to_owned() }
    }

    /// Records a program, and returns what is said about it.
    pub(crate) async fn record(&self, program: &Fixture, args: &[&str]) -> String {
        let words: Vec<&str> = std::iter::once(program.path()).chain(args.iter().copied()).collect();
        self.ask("record_run", json!({ "command": self.python, "args": words })).await
    }

    /// Records the last events of a program.
    pub(crate) async fn record_last(&self, program: &Fixture, args: &[&str], last: usize) -> String {
        let words: Vec<&str> = std::iter::once(program.path()).chain(args.iter().copied()).collect();
        self.ask("record_run", json!({ "command": self.python, "args": words, "last": last })).await
    }

    /// The answer of a call that goes well. No answer is longer than 2 KB.
    pub(crate) async fn ask(&self, tool: &str, arguments: Value) -> String {
        let answer = self.server.call(tool, arguments.clone()).await;
        assert!(!answer.is_error, "{tool} {arguments}: {}", answer.text);
        assert!(answer.text.len() <= 2048, "{tool} {arguments}: {} bytes", answer.text.len());
        answer.text
    }

    /// Records two runs of `recording_runs`, and asks where they part.
    pub(crate) async fn compares_runs(self, program: &Fixture) {
        self.record(program, &["1200", "7.50"]).await;
        self.record(program, &["1,200", "7.50"]).await;
        let parted = self.ask("compare_runs", json!({ "first": "rec-1", "second": "rec-2" })).await;
        has(
            &parted,
            &[
                "first different value:",
                "'1200'",
                "'1,200'",
                "first different step:",
                "after the same: ",
                &at(program, "digit"),
            ],
        );
        let same = self.ask("compare_runs", json!({ "first": "rec-1", "second": "rec-1" })).await;
        has(&same, &["no recorded value differs", "both runs take the same steps"]);
        self.server.finish().await;
    }

    /// The answer of a call that does not.
    pub(crate) async fn fails(&self, tool: &str, arguments: Value) -> String {
        let answer = self.server.call(tool, arguments.clone()).await;
        assert!(answer.is_error, "{tool} {arguments} went well: {}", answer.text);
        answer.text
    }
}

/// Fails unless a text has all of these parts, in this order.
pub(crate) fn has(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest.find(part);
        assert!(at.is_some(), "`{part}` is missing, or is not in its place:\n{text}");
        rest = rest.get(at.unwrap() + part.len()..).unwrap_or_default();
    }
}

/// Fails unless a text has all of these parts, in this order; `@name` stands for a line.
pub(crate) fn has_marked(text: &str, program: &Fixture, parts: &[&str]) {
    let part = |part: &&str| part.strip_prefix('@').map_or((*part).to_owned(), |name| at(program, name));
    let parts: Vec<String> = parts.iter().map(part).collect();
    has(text, &parts.iter().map(String::as_str).collect::<Vec<_>>());
}

/// `main.py:12`.
pub(crate) fn at(program: &Fixture, name: &str) -> String {
    let file = program.path().rsplit('/').next().unwrap();
    format!("{file}:{}", program.line(name))
}
