//! Programs that are written where they are tested.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Answer, Fixture, Server};

use crate::STILLFRAME;
use crate::debugging::Report;

/// Files in a folder that goes with them.
pub(crate) struct Sources {
    folder: TempDir,
}

impl Sources {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir_in(STILLFRAME.scratch).expect("a folder can be made");
        let sources = Self { folder };
        for (name, text) in files {
            let path = sources.path(name);
            std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("it can be made");
            std::fs::write(path, text).expect("it can be written");
        }
        sources
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file with its named lines.
    pub(crate) fn file(&self, name: &str) -> Fixture {
        Fixture::read(self.path(name))
    }

    /// Runs a compiler here, and returns the path of what it has made.
    pub(crate) fn compiled(&self, command: &str, binary: &str) -> PathBuf {
        let mut words = command.split_whitespace();
        let program = words.next().expect("a command has a name");
        let done = Command::new(program).args(words).current_dir(self.folder()).output();
        let done = done.expect("it can be run");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        self.path(binary)
    }
}

/// Runs a program until one of the named lines, and evaluates there.
pub(crate) async fn run_until(
    server: &Server,
    program: &Fixture,
    line: &str,
    expressions: &[&str],
) -> Answer {
    let arguments = json!({
        "program": program.path(),
        "until": [{ "file": program.path(), "line": program.line(line) }],
        "expressions": expressions,
        "timeout": 60_000,
    });
    let ran = server.ok("run_until", arguments).await;
    assert_eq!(ran.place(), (program.path(), program.line(line)), "{}", ran.text);
    ran
}

/// The local variables of a report, as `name: type = value`.
pub(crate) fn locals(report: &Answer) -> Vec<String> {
    let locals = report["locals"].as_array().expect("a list");
    let text = |variable: &Value, field: &str| variable[field].as_str().unwrap_or_default().to_owned();
    locals
        .iter()
        .map(|one| format!("{}: {} = {}", text(one, "name"), text(one, "type"), text(one, "value")))
        .collect()
}

/// Asserts that each of these lines is among the local variables.
pub(crate) fn assert_locals(report: &Answer, expected: &[&str]) {
    let shown = locals(report);
    for line in expected {
        assert!(shown.iter().any(|one| one == line), "`{line}` is not among:\n{}", shown.join("\n"));
    }
}

/// Type and message of the exception that a report is about.
pub(crate) fn exception(report: &Answer) -> (&str, &str) {
    let text = |field: &str| report.at(&format!("/exception/{field}")).as_str().unwrap_or_default();
    (text("type"), text("message"))
}

/// Asserts the values of expressions. For one without a value, what is expected begins the error.
pub(crate) fn assert_evaluated(report: &Answer, expected: &[(&str, &str)]) {
    let values = report["values"].as_array();
    assert_eq!(values.map(Vec::len), Some(expected.len()), "{}", report.text);
    for (value, (expression, expected)) in values.into_iter().flatten().zip(expected) {
        let text = |field: &str| value[field].as_str();
        let is_met = match text("error") {
            Some(error) => error.starts_with(expected),
            None => text("value") == Some(expected),
        };
        assert!(is_met, "`{expression}` is not `{expected}`: {value}");
    }
}
