//! A server, for cases that do not wait.

use std::cell::Cell;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Answer, DynamicLanguage as Language, Fixture, Server};
use tokio::runtime::Runtime;

use crate::STILLFRAME;
use crate::harness::Scene;

/// A server with the toolset, and a folder for programs.
pub(crate) struct World {
    runtime: Runtime,
    server: Server,
    folder: TempDir,
    programs: Cell<u32>,
}

impl Scene for World {
    fn begin(_: Language) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let folder = tempfile::tempdir().expect("a folder");
        let server = runtime.block_on(async {
            let mut options = STILLFRAME.options().await;
            options.args.extend(["--toolset".to_owned(), "inspector".to_owned()]);
            options.start().await
        });
        Self { runtime, server, folder, programs: Cell::new(0) }
    }

    fn end(self) {
        self.runtime.block_on(self.server.finish());
    }
}

impl World {
    /// Where programs are written to.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The server itself.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Writes a program, and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder can be made");
        std::fs::write(&path, text).expect("the folder can be written to");
        path.to_str().expect("a plain name").to_owned()
    }

    /// Writes a program under a name that no other has, and that is a name of a module.
    pub(crate) fn program(&self, language: Language, text: &str) -> Fixture {
        let number = self.programs.replace(self.programs.get() + 1);
        Fixture::write(self.folder(), &language.file(&format!("test_{number}")), text)
    }

    /// Waits for something to be done.
    pub(crate) fn wait<T>(&self, done: impl Future<Output = T>) -> T {
        self.runtime.block_on(done)
    }

    /// Calls a tool. What it answers has the shape of this vocabulary.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Answer {
        let answer = self.wait(self.server.call(tool, arguments));
        assert_envelope(tool, &answer);
        answer
    }

    /// Calls a tool that is to succeed.
    pub(crate) fn ok(&self, tool: &str, arguments: Value) -> Answer {
        let reported = format!("{tool} {arguments}");
        let answer = self.call(tool, arguments);
        assert!(!answer.is_error, "{reported}: {}", answer.text);
        answer
    }

    /// Calls a tool that is to fail with a code.
    pub(crate) fn fails(&self, code: &str, tool: &str, arguments: Value) -> Answer {
        let reported = format!("{tool} {arguments}");
        let answer = self.call(tool, arguments);
        assert!(answer.is_error, "{reported} succeeded: {}", answer.text);
        assert_eq!(answer["code"], code, "{reported}: {}", answer.text);
        answer
    }

    /// Starts a program of a language, paused before its first line. Returns the session.
    pub(crate) fn start(&self, language: Language, program: &str) -> String {
        let command = language.pick("python", "node");
        let arguments = json!({ "command": command, "args": [program], "cwd": self.folder() });
        let answer = self.ok("debugger_start", arguments);
        assert_eq!(answer["state"], "paused", "{}", answer.text);
        answer.text_of("sessionId").to_owned()
    }
}

/// What every answer is: a success with its results, or an error with code, message and context.
pub(crate) fn assert_envelope(tool: &str, answer: &Answer) {
    let Some(fields) = answer.data.as_object() else { panic!("{tool}: not an object: {}", answer.text) };
    if answer.is_error {
        assert_eq!(answer["status"], "error", "{tool}: {}", answer.text);
        let code = answer.text_of("code");
        let is_code = |letter: char| letter.is_ascii_uppercase() || letter == '_';
        assert!(!code.is_empty() && code.chars().all(is_code), "{tool}: {}", answer.text);
        assert!(!answer.text_of("message").is_empty(), "{tool}: {}", answer.text);
        assert!(answer["context"].is_object(), "{tool}: {}", answer.text);
        let known = 4 + usize::from(fields.contains_key("warnings"));
        assert_eq!(fields.len(), known, "{tool}: {}", answer.text);
    } else {
        assert_eq!(answer["status"], "success", "{tool}: {}", answer.text);
        assert!(fields.len() > 1, "{tool}: no results in {}", answer.text);
    }
}
