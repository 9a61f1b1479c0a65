//! Test results from test runners, reported by our code inside them.
//!
//! A program that is given [`TestReports::VARIABLE`] in its environment appends lines of JSON to that file, each
//! a [`TestReport`]. They do not go by the program's output, which is the user's. The programs' side is in the folders
//! of `debuggee/`: `python/stillframe_pytest.py` and `stillframe_unittest.py`, `node/tests.cjs`, `java/stillframe` and
//! `ruby/tests.rb`. For other runners it is we who write: what tests that ran before the debugger came to (`append`),
//! and what the runner prints ([`TestReports::write`]).

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::temporary;

/// How many bytes of reports are read.
const BYTES: u64 = 64 << 20;

/// A file that a test runner writes reports into. Clones are the same file; it is gone when the last one is.
#[derive(Clone, Debug)]
pub struct TestReports(Arc<File>);

#[derive(Debug)]
struct File(PathBuf);

/// One line of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum TestReport {
    /// The runner has found its tests.
    Collected {
        /// How many it is going to run. Runners that find them as they go say so several times; these are added.
        count: u64,
        /// How many others there are that the user's choice leaves out.
        #[serde(default)]
        deselected: u64,
        /// Names of tests that there are, for a user who has named one that is not; not necessarily all.
        #[serde(default)]
        names: Vec<String>,
    },
    /// The user's selection matches no test.
    Missing {
        /// As the user has named it.
        name: String,
    },
    /// A test begins.
    Begins {
        /// Its id.
        test: String,
        /// Its outcome, if its runner has found that by more than the exit code of its program.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        judged: Option<TestOutcome>,
    },
    /// A test has ended, or a part of it has failed.
    Result(TestResult),
    /// A file could not be loaded, so that its tests are not known.
    Problem(LoadProblem),
    /// Something else that needs saying.
    Note {
        /// One sentence.
        text: String,
    },
}

/// How a test went. A test may have several: it passes, and its teardown does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct TestResult {
    /// Its id, with which the runner runs it alone.
    pub id: String,
    /// If this is a subtest: the id of its test.
    pub part_of: Option<String>,
    /// Its file or that of the line, absolute.
    pub file: Option<PathBuf>,
    /// Where it fails, or else begins, 1-based.
    pub line: Option<u32>,
    /// How it went.
    pub outcome: TestOutcome,
    /// Which part of it went so.
    pub phase: TestPhase,
    /// The error's message, without its type.
    pub message: Option<String>,
    /// The name of the error's type.
    pub exception: Option<String>,
    /// All that the runner shows of it: a traceback, an explanation, a difference.
    pub details: Option<String>,
    /// The mark on the thrown value, as in [`Thrown::mark`](crate::model::thrown::Thrown::mark).
    pub mark: Option<String>,
    /// What the runner has kept of the test's output, instead of letting it through.
    pub captured: Vec<Captured>,
    /// The runner does not come to the test if one of the program fails.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub behind: bool,
}

impl TestReport {
    /// That a test begins.
    pub fn begins(test: &str) -> Self {
        Self::Begins { test: test.to_owned(), judged: None }
    }

    /// That the runner is going to run this many tests.
    pub fn collected(count: u64) -> Self {
        Self::Collected { count, deselected: 0, names: Vec::new() }
    }

    /// The result that it is.
    pub fn result(&self) -> Option<&TestResult> {
        if let Self::Result(result) = self { Some(result) } else { None }
    }
}

impl TestResult {
    /// The result of a test that ran before the debugger started.
    pub(crate) fn before_debugger(id: &str, outcome: TestOutcome) -> Self {
        let message = "it failed without a debugger, and was not debugged";
        let message = outcome.is_failure().then(|| message.to_owned());
        Self { id: id.to_owned(), outcome, message, ..Self::default() }
    }
}

/// How a test, or a part of it, went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TestOutcome {
    /// Well.
    Passed,
    /// Something that it asserts does not hold, or its code threw.
    #[default]
    Failed,
    /// What goes before or after it threw.
    Error,
    /// It was not run.
    Skipped,
    /// It failed as it was expected to.
    Xfailed,
    /// It was expected to fail, and passed. Where the runner takes that for a failure, it says `failed`.
    Xpassed,
}

impl TestOutcome {
    /// Whether the test is one of those that failed.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Error)
    }
}

/// A part of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TestPhase {
    /// What goes before: fixtures, hooks.
    Setup,
    /// The test itself.
    #[default]
    Call,
    /// What goes after.
    Teardown,
    /// No part of it: an error during or after it that no test has caught. The id is that of the latest test, if known.
    Unhandled,
}

/// Output that a runner has kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Captured {
    /// What it is: `stdout`, `stderr`, `log`; `stdout of the setup`.
    pub name: String,
    /// The output.
    pub text: String,
}

/// A file of tests that could not be loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct LoadProblem {
    /// What could not be loaded, as the runner names it.
    pub name: String,
    /// The error's message, without its type.
    pub message: String,
    /// The name of the error's type.
    pub exception: Option<String>,
    /// All that the runner shows of it.
    pub details: Option<String>,
    /// The mark on the thrown value.
    pub mark: Option<String>,
    /// Where it went wrong.
    pub file: Option<PathBuf>,
    /// 1-based.
    pub line: Option<u32>,
}

impl TestReports {
    /// The environment variable with the path of the file.
    pub const VARIABLE: &'static str = "STILLFRAME_TESTS";

    /// An empty file that only this user can read.
    pub fn new() -> Result<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        let path = temporary::new_path();
        let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        made.map(|_| Self(Arc::new(File(path.clone())))).map_err(|error| Error::Environment {
            problem: format!("cannot create a file at `{}`: {error}", path.display()),
            remedy: "check that the temporary folder is writable".to_owned(),
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0.0
    }

    /// The reports so far. A malformed line is not from our code, and is skipped.
    pub fn read(&self) -> Vec<TestReport> {
        let mut bytes = Vec::new();
        // A removed file has no reports.
        if let Ok(file) = std::fs::File::open(self.path()) {
            let _ = file.take(BYTES).read_to_end(&mut bytes);
        }
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// Replaces what the file has.
    pub fn write(&self, reports: &[TestReport]) {
        // A folder for temporary files that is full says nothing of the tests: the output does.
        let _ = std::fs::write(self.path(), lines(reports));
    }
}

/// Adds reports to the file at a path.
pub(crate) fn append(path: &str, reports: &[TestReport]) {
    use std::io::Write;
    // Without a file, the results are those that the program prints.
    if let Ok(mut file) = std::fs::OpenOptions::new().append(true).open(path) {
        let _ = file.write_all(lines(reports).as_bytes());
    }
}

fn lines(reports: &[TestReport]) -> String {
    let lines = reports.iter().filter_map(|report| serde_json::to_string(report).ok());
    lines.map(|line| line + "\n").collect()
}

impl Drop for File {
    fn drop(&mut self) {
        // A cleaner of the temporary folder may have removed it first.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_reports_are_skipped_and_the_file_is_removed() {
        let reports = TestReports::new().unwrap();
        let path = reports.path().to_owned();
        let text = concat!(
            r#"{"kind":"collected","count":2}"#,
            "\n\nnoise\n",
            r#"{"kind":"result","id":"a","outcome":"error","phase":"setup","message":"m"}"#,
            "\n{\"kind\":\"beg"
        );
        std::fs::write(&path, text).unwrap();
        let result = TestResult {
            id: "a".to_owned(),
            outcome: TestOutcome::Error,
            phase: TestPhase::Setup,
            message: Some("m".to_owned()),
            ..TestResult::default()
        };
        let expected = [TestReport::collected(2), TestReport::Result(result)];
        assert_eq!(reports.read(), expected);
        drop(reports);
        assert!(!path.exists());
    }

    #[test]
    fn reports_are_read_as_they_were_written() {
        let reports = TestReports::new().unwrap();
        let written = [
            TestReport::Begins { test: "a".to_owned(), judged: Some(TestOutcome::Xfailed) },
            TestReport::Result(TestResult { behind: true, line: Some(3), ..TestResult::default() }),
        ];
        reports.write(&written);
        let added = [TestReport::Note { text: "two\nlines".to_owned() }];
        append(&reports.path().to_string_lossy(), &added);
        assert_eq!(reports.read(), [&written[..], &added].concat());
    }
}
