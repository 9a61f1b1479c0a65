//! Small programs that are written where they are tested.

use std::ops::Deref;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;
use test_support::{Answer, Fixture, Language};

use crate::debugging::{Debugging, Report, written};

/// A program in a folder of its own, which goes with it.
pub(crate) struct Script {
    folder: TempDir,
    pub(crate) main: Fixture,
}

impl Script {
    /// A module of the older kind, `main.js`.
    pub(crate) fn new(text: &str) -> Self {
        Self::named("main.js", text)
    }

    /// An ES module, `main.mjs`.
    pub(crate) fn module(text: &str) -> Self {
        Self::named("main.mjs", text)
    }

    fn named(name: &str, text: &str) -> Self {
        let (folder, main) = written(name, text);
        Self { folder, main }
    }

    /// One more file in the folder.
    pub(crate) fn file(&self, name: &str, text: &str) -> Fixture {
        let path = self.folder().join(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder can be made");
        Fixture::write(self.folder(), name, text)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts it in a session of its own.
    pub(crate) async fn start(&self) -> (Debugging, Answer) {
        let session = Debugging::of(Language::Node).await;
        let report = session.start(&self.main).await;
        (session, report)
    }

    /// Starts it in a session of its own, and stops at a named line.
    pub(crate) async fn stopped_at(&self, name: &str) -> (Debugging, Answer) {
        Debugging::stopped_at(&self.main, name).await
    }

    /// Starts it in a session of its own, and waits until it has written a line. Returns that line.
    pub(crate) async fn running(&self) -> (Debugging, String) {
        let session = Debugging::of(Language::Node).await;
        session.ok("start_debugging", json!({ "scriptPath": self.path(), "timeout": 0 })).await;
        loop {
            let written = session.written("stdout").await;
            if let Some(line) = written.lines().next() {
                return (session, line.to_owned());
            }
            let report = session.ok("continue_execution", json!({ "timeout": 50 })).await;
            assert_eq!(report.outcome(), "running", "{}", report.text);
        }
    }
}

impl Deref for Script {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.main
    }
}

/// The names of a report's or a stack's frames.
pub(crate) fn frames(report: &Answer) -> Vec<&str> {
    let frames = report["stackFrames"].as_array().expect("a stack");
    frames.iter().map(|frame| frame["name"].as_str().expect("a name")).collect()
}

/// The names of variables.
pub(crate) fn names(answer: &Answer) -> Vec<&str> {
    let variables = answer["variables"].as_array().expect("a list of variables");
    variables.iter().map(|variable| variable["name"].as_str().expect("a name")).collect()
}

/// Name and value of each variable.
pub(crate) fn pairs(answer: &Answer) -> Vec<(&str, &str)> {
    names(answer).into_iter().map(|name| (name, answer.variable(name))).collect()
}

impl Debugging {
    /// The children of an expression's value, without what only the engine sees of it.
    pub(crate) async fn children(&self, expression: &str) -> Vec<(String, String)> {
        let page = self.expanded(expression).await;
        let all = pairs(&page).into_iter().filter(|(name, _)| !name.starts_with("[["));
        all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// The first page of the children of an expression's value, hidden ones included.
    pub(crate) async fn expanded(&self, expression: &str) -> Answer {
        let value = self.ok("evaluate_expression", json!({ "expression": expression })).await;
        assert!(
            value["variablesReference"].as_u64() > Some(0),
            "{expression} has no children: {}",
            value.text
        );
        let arguments = json!({ "scope": value["variablesReference"], "includeSpecial": true });
        self.ok("get_variables", arguments).await
    }
}

/// Pairs of owned texts, to compare with.
pub(crate) fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
