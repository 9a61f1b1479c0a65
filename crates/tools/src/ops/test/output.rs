//! Runners whose results are read from what they print: they run without a reporter inside.

use std::path::PathBuf;

use engine::model::ids::Reference;
use engine::model::launch::{Launch, Program};
use engine::model::stack::StackFrame;
use engine::model::stop::End;
use engine::output::Category;
use engine::session::Session;
use engine::session::state::Execution;
use engine::test_reports::{TestReports, is_behind};
use journal::visible::uncoloured;
use serde_json::{Value, json};

use super::throws::Throw;
use super::{Runner, TestRunResult, go, googletest, libtest};
use crate::ops::command::Command;

/// How much of the output is read.
const OUTPUT: usize = 8 << 20;

/// How a runner prints its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Go,
    Libtest,
    GoogleTest,
}

/// Turns what the runner of a session prints into reports.
#[derive(Clone, Debug)]
pub(super) struct PrintedReports {
    format: Format,
    /// The folder that messages name files of.
    folder: PathBuf,
    reports: TestReports,
    /// What the build has reported of tests in other programs.
    before: String,
    /// The name of the test that the program is, where its build says so.
    alone: Option<String>,
    /// Its outcome, if its runner has judged it.
    judged: Option<String>,
}

impl PrintedReports {
    /// None for a runner that reports by itself. Has the runner print each test as it goes.
    pub(super) fn of(
        command: &Command,
        runner: Option<Runner>,
        launch: &mut Launch,
        reports: &TestReports,
    ) -> Option<Self> {
        let (format, folder) = match (runner, command.adapter.name()) {
            (Some(Runner::Go), _) => {
                go::make_verbose(launch);
                (Format::Go, go::folder(launch))
            }
            (_, "rust") => (Format::Libtest, folder(launch)),
            (_, "c") => (Format::GoogleTest, folder(launch)),
            _ => return None,
        };
        let before = String::new();
        Some(Self { format, folder, reports: reports.clone(), before, alone: None, judged: None })
    }

    /// The program is built, and about to run.
    pub(super) fn begin(&mut self) {
        let text = std::fs::read_to_string(self.reports.path()).unwrap_or_default();
        let (begins, before) = text.lines().partition(|line| line.contains("\"begins\""));
        let (begins, before): (Vec<&str>, Vec<&str>) = (begins, before);
        self.before = before.join("\n");
        let begins = begins.last().and_then(|line| serde_json::from_str::<Value>(line).ok());
        let text = |name: &str| Some(begins.as_ref()?.get(name)?.as_str()?.to_owned());
        (self.alone, self.judged) = (text("test"), text("judged"));
    }

    /// Writes what the output says of the tests into the reports.
    pub(super) fn update(&self, session: &Session) {
        let output = session.output().tail(0, OUTPUT);
        // A program that writes to a terminal may colour its lines.
        let text = output.text_of(Category::Stdout);
        let text = text.lines().map(uncoloured).collect::<Vec<_>>().join("\n");
        let mut reports = match self.format {
            Format::Go => go::parse(&text, &self.folder),
            Format::Libtest => libtest::parse(&text, &output.text_of(Category::Stderr), &self.folder),
            Format::GoogleTest => googletest::parse(&text, &self.folder),
        };
        if self.format == Format::Go && output.text().contains("testing: warning: no tests to run") {
            reports.push(json!({ "kind": "collected", "count": 0 }));
        }
        let end = match session.execution() {
            Execution::Ended(end) => Some(end),
            _ => None,
        };
        // The test that fails may not have run yet.
        let is_known = |judged: &&str| *judged != "failed" || end.is_some();
        let judged = self.judged.as_deref().filter(is_known);
        let is_alone = reports.is_empty() || judged.is_some_and(|judged| !agrees(&reports, judged));
        if let (true, Some(alone)) = (is_alone, &self.alone) {
            reports = vec![json!({ "kind": "begins", "test": alone })];
            reports.extend(end.as_ref().map(|end| of_program(alone, end, self.judged.as_deref())));
        } else if end.is_some() && self.format != Format::Go {
            reports.extend(cut_short(&reports));
        }
        let has_failed = reports.iter().any(|report| report["outcome"] == "failed");
        let before = self.before.lines().filter(|line| !(has_failed && is_behind(line))).map(str::to_owned);
        let lines: Vec<String> = reports.iter().map(Value::to_string).chain(before).collect();
        // A folder for temporary files that is full says nothing of the tests: the output does.
        let _ = std::fs::write(self.reports.path(), lines.join("\n") + "\n");
    }

    /// The test that a stack is of, where its functions show that. What it prints may not have been read yet.
    pub(super) fn test_of(&self, stack: &[StackFrame<Reference>]) -> Option<String> {
        (self.format == Format::Libtest).then(|| libtest::test_of(stack))?
    }

    fn has_results(&self) -> bool {
        self.alone.is_none() && !self.reports.read().is_empty()
    }

    /// Adds what the failed tests compared, by their messages, and the runner that the output names.
    pub(super) fn complete(&self, session: &Session, tested: &mut TestRunResult) {
        if self.format == Format::Libtest {
            let stderr = session.output().tail(0, OUTPUT).text_of(Category::Stderr);
            let mut failures: Vec<_> = tested.failure.iter_mut().chain(&mut tested.others).collect();
            libtest::add_missing_errors(&mut failures, &stderr);
        }
        let sides = match self.format {
            Format::Go => go::sides,
            Format::Libtest => libtest::assertion,
            Format::GoogleTest => googletest::assertion,
        };
        for failure in tested.failure.iter_mut().chain(&mut tested.others) {
            let said = failure.result.as_ref().and_then(|result| result.message.clone());
            let Some(throw) = &mut failure.throw else { continue };
            let thrown = throw.snapshot.exception.as_ref().map(|exception| exception.message.as_str());
            if let (Some(result), Some(origin)) = (&mut failure.result, thrown.and_then(libtest::origin)) {
                result.message = said.as_ref().map(|said| format!("{said}{origin}"));
            }
            let message = said.or_else(|| Some(throw.snapshot.exception.as_ref()?.message.clone()));
            let found = message.as_deref().and_then(sides);
            throw.thrown.assertion = throw.thrown.assertion.take().or(found);
            if self.format == Format::Libtest {
                if let Some(result) = &failure.result {
                    libtest::show_test(throw, result);
                }
                libtest::name_sides(throw);
            }
        }
        if self.format == Format::GoogleTest && tested.runner.is_none() && self.has_results() {
            tested.runner = Some(Runner::GoogleTest);
        }
    }
}

/// Whether the tests that a program has printed come to the outcome that its runner gives the program.
fn agrees(reports: &[Value], outcome: &str) -> bool {
    let has = |outcome: &str| {
        reports.iter().any(|report| report["kind"] == "result" && report["outcome"] == outcome)
    };
    has(outcome) && (outcome == "failed" || !has("failed"))
}

/// A test that has begun and come to no result in a program that has ended.
fn cut_short(reports: &[Value]) -> Option<Value> {
    let last = reports.iter().rev().find(|report| report["kind"] == "begins")?["test"].as_str()?;
    let is_over = reports.iter().any(|report| report["kind"] == "result" && report["id"] == last);
    (!is_over).then(|| json!({ "kind": "result", "id": last, "outcome": "failed" }))
}

/// A program that is one test has passed if its exit code is 0, unless its runner has judged it by more.
fn of_program(test: &str, end: &End, judged: Option<&str>) -> Value {
    match end.exit_code() {
        Some(0) if judged == Some("failed") => {
            let message = "it failed without a debugger, and its exit code is 0 now: the runner expects another exit code or output, or the test does not fail each time";
            json!({ "kind": "result", "id": test, "outcome": "failed", "message": message })
        }
        Some(code) if judged == Some("failed") => {
            let message = format!("the runner expects another exit code or output; its exit code is {code}");
            json!({ "kind": "result", "id": test, "outcome": "failed", "message": message })
        }
        _ if judged.is_some() => json!({ "kind": "result", "id": test, "outcome": judged }),
        Some(0) => json!({ "kind": "result", "id": test, "outcome": "passed" }),
        Some(code) => {
            let message = format!("its exit code is {code}");
            json!({ "kind": "result", "id": test, "outcome": "failed", "message": message })
        }
        None => json!({ "kind": "result", "id": test, "outcome": "failed" }),
    }
}

/// Where messages name files of.
fn folder(launch: &Launch) -> PathBuf {
    match &launch.program {
        Program::Package(folder) => folder.clone(),
        Program::Script(_) | Program::Module(_) | Program::Command => launch.working_folder(),
    }
}

/// The throw of a failing test that a runner reports without a mark: of those in the test, the failed assertion,
/// panic or signal, or else the exception that the message names.
pub(super) fn throw_of(throws: &[Throw], test: &str, message: Option<&str>) -> Option<usize> {
    let is_in_test = |throw: &&Throw| throw.test.as_deref() == Some(test);
    let kind = |throw: &Throw| throw.snapshot.exception.as_ref().map(|exception| exception.type_name.clone());
    let is_failure = |throw: &Throw| {
        is_in_test(&throw)
            && kind(throw).is_some_and(|kind| {
                matches!(kind.as_str(), "test failure" | "panic") || kind.starts_with("SIG")
            })
    };
    let is_named = |throw: &Throw| {
        let said = throw.snapshot.exception.as_ref().map(|exception| exception.message.as_str());
        is_in_test(&throw)
            && said
                .is_some_and(|said| !said.is_empty() && message.is_some_and(|message| message.contains(said)))
    };
    if message.is_some_and(libtest::is_of_error) {
        return throws
            .iter()
            .rposition(|throw| is_in_test(&throw) && kind(throw).as_deref() == Some("error"));
    }
    // An exception that ends a test is the last one in it.
    let by_exception = message.is_some_and(googletest::is_of_exception);
    let named = || throws.iter().rposition(is_named);
    let last = || message.is_none().then(|| throws.iter().rposition(|throw| is_in_test(&throw)))?;
    if by_exception { named() } else { throws.iter().position(is_failure).or_else(named).or_else(last) }
}
