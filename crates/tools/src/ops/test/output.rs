//! Runners whose results are read from what they print: they run without a reporter inside.

use std::path::PathBuf;

use engine::adapter::{PrintedFormat, Reporting};
use engine::model::ids::Reference;
use engine::model::launch::{Launch, Program};
use engine::model::stack::StackFrame;
use engine::model::stop::End;
use engine::output::Category;
use engine::session::Session;
use engine::session::state::Execution;
use engine::test_reports::{TestOutcome, TestReport, TestReports, TestResult};
use journal::visible::uncoloured;

use super::throws::{Throw, running};
use super::{Runner, TestRunResult, go, googletest, libtest};
use crate::ops::command::Command;

/// How much of the output is read.
const OUTPUT: usize = 8 << 20;

/// Why a test has failed whose program ends well.
const PASSES_NOW: &str = "it failed without a debugger, and its exit code is 0 now: the runner expects another exit \
                          code or output, or the test does not fail each time";

/// Turns what the runner of a session prints into reports.
#[derive(Clone, Debug)]
pub(super) struct PrintedReports {
    format: PrintedFormat,
    /// The folder that messages name files of.
    folder: PathBuf,
    reports: TestReports,
    /// What the build has reported of tests in other programs.
    before: Vec<TestReport>,
    /// The name of the test that the program is, where its build says so.
    alone: Option<String>,
    /// Its outcome, if its runner has judged it.
    judged: Option<TestOutcome>,
}

impl PrintedReports {
    /// None for a program whose output has no reports. Has the runner print each test as it goes.
    pub(super) fn of(
        command: &Command,
        runner: Option<Runner>,
        launch: &mut Launch,
        reports: &TestReports,
    ) -> Option<Self> {
        let Reporting::Printed(format) = command.adapter.facts().reporting else { return None };
        let folder = match format {
            PrintedFormat::Go if runner != Some(Runner::Go) => return None,
            PrintedFormat::Go => {
                go::make_verbose(launch);
                go::folder(launch)
            }
            PrintedFormat::Libtest | PrintedFormat::GoogleTest => folder(launch),
        };
        let before = Vec::new();
        Some(Self { format, folder, reports: reports.clone(), before, alone: None, judged: None })
    }

    /// The program is built, and about to run.
    pub(super) fn begin(&mut self) {
        for report in self.reports.read() {
            match report {
                TestReport::Begins { test, judged } => (self.alone, self.judged) = (Some(test), judged),
                report => self.before.push(report),
            }
        }
    }

    /// Writes what the output says of the tests into the reports.
    pub(super) fn update(&self, session: &Session) {
        let output = session.output().tail(0, OUTPUT);
        // A program that writes to a terminal may colour its lines.
        let text = output.text_of(Category::Stdout);
        let text = text.lines().map(uncoloured).collect::<Vec<_>>().join("\n");
        let end = match session.execution() {
            Execution::Ended(end) => Some(end),
            _ => None,
        };
        let mut reports = match self.format {
            PrintedFormat::Go => go::parse(&text, &self.folder, end.is_some()),
            PrintedFormat::Libtest => libtest::parse(&text, &output.text_of(Category::Stderr), &self.folder),
            PrintedFormat::GoogleTest => googletest::parse(&text, &self.folder),
        };
        if self.format == PrintedFormat::Go && output.text().contains("testing: warning: no tests to run") {
            reports.push(TestReport::collected(0));
        }
        // The test that fails may not have run yet.
        let is_known = |judged: &TestOutcome| *judged != TestOutcome::Failed || end.is_some();
        let judged = self.judged.filter(is_known);
        let is_alone = reports.is_empty() || judged.is_some_and(|judged| !agrees(&reports, judged));
        if let (true, Some(alone)) = (is_alone, &self.alone) {
            reports = vec![TestReport::begins(alone)];
            let result = end.as_ref().map(|end| of_program(alone, end, self.judged));
            reports.extend(result.map(TestReport::Result));
        } else if end.is_some() && self.format != PrintedFormat::Go {
            // A test that the end of the program has cut short has failed.
            let result = running(&reports).map(|id| TestResult { id, ..TestResult::default() });
            reports.extend(result.map(TestReport::Result));
        }
        let has_failed = has(&reports, TestOutcome::Failed);
        let is_behind = |report: &&TestReport| report.result().is_some_and(|result| result.behind);
        reports.extend(self.before.iter().filter(|report| !(has_failed && is_behind(report))).cloned());
        self.reports.write(&reports);
    }

    /// The test that a stack is of, where its functions show that. What it prints may not have been read yet.
    pub(super) fn test_of(&self, stack: &[StackFrame<Reference>]) -> Option<String> {
        match self.format {
            PrintedFormat::Go => go::test_of(stack, &self.reports.read()),
            PrintedFormat::Libtest => libtest::test_of(stack),
            PrintedFormat::GoogleTest => None,
        }
    }

    /// Whether that shows it.
    pub(super) fn finds_tests_in_stacks(&self) -> bool {
        self.format != PrintedFormat::GoogleTest
    }

    fn has_results(&self) -> bool {
        self.alone.is_none() && !self.reports.read().is_empty()
    }

    /// Adds what the failed tests compared, by their messages, and the runner that the output names.
    pub(super) fn complete(&self, session: &Session, tested: &mut TestRunResult) {
        if self.format == PrintedFormat::Libtest {
            let stderr = session.output().tail(0, OUTPUT).text_of(Category::Stderr);
            let mut failures: Vec<_> = tested.failure.iter_mut().chain(&mut tested.others).collect();
            libtest::add_missing_errors(&mut failures, &stderr);
        }
        let sides = match self.format {
            PrintedFormat::Go => go::sides,
            PrintedFormat::Libtest => libtest::assertion,
            PrintedFormat::GoogleTest => googletest::assertion,
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
            if self.format == PrintedFormat::Libtest {
                if let Some(result) = &failure.result {
                    libtest::show_test(throw, result);
                }
                libtest::name_sides(throw);
            }
        }
        if self.format == PrintedFormat::GoogleTest && tested.runner.is_none() && self.has_results() {
            tested.runner = Some(Runner::GoogleTest);
        }
    }
}

/// Whether the tests that a program has printed come to the outcome that its runner gives the program.
fn agrees(reports: &[TestReport], outcome: TestOutcome) -> bool {
    has(reports, outcome) && (outcome == TestOutcome::Failed || !has(reports, TestOutcome::Failed))
}

/// Whether a test has an outcome.
fn has(reports: &[TestReport], outcome: TestOutcome) -> bool {
    reports.iter().filter_map(TestReport::result).any(|result| result.outcome == outcome)
}

/// A program that is one test has passed if its exit code is 0, unless its runner has judged it by more.
fn of_program(test: &str, end: &End, judged: Option<TestOutcome>) -> TestResult {
    let code = end.exit_code();
    let by_code = if code == Some(0) { TestOutcome::Passed } else { TestOutcome::Failed };
    let message = match (judged, code) {
        (Some(TestOutcome::Failed), Some(0)) => Some(PASSES_NOW.to_owned()),
        (Some(TestOutcome::Failed), Some(code)) => {
            Some(format!("the runner expects another exit code or output; its exit code is {code}"))
        }
        (None, Some(code)) if code != 0 => Some(format!("its exit code is {code}")),
        _ => None,
    };
    TestResult { id: test.to_owned(), outcome: judged.unwrap_or(by_code), message, ..TestResult::default() }
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
                matches!(kind.as_str(), "test failure" | "panic" | "fatal error") || kind.starts_with("SIG")
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
    // An exception that ends a test is the last one in it, and begins where it was thrown first.
    let by_exception = message.is_some_and(googletest::is_of_exception);
    let named = || {
        let last = throws.iter().rposition(is_named)?;
        let is_again = throws.get(last).is_some_and(|throw| googletest::is_thrown_again(&throw.stack));
        let first = throws.iter().take(last).rposition(is_named).filter(|_| is_again);
        first.or(Some(last))
    };
    let last = || message.is_none().then(|| throws.iter().rposition(|throw| is_in_test(&throw)))?;
    if by_exception { named() } else { throws.iter().position(is_failure).or_else(named).or_else(last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_of_another_program_may_have_any_name() {
        let reports = TestReports::new().unwrap();
        let named =
            ["begins", "\"begins\""].map(|id| TestResult { id: id.to_owned(), ..TestResult::default() });
        let before = named.map(TestReport::Result);
        reports.write(&[&before[..], &[TestReport::begins("last")]].concat());
        let folder = PathBuf::new();
        let mut printed = PrintedReports {
            format: PrintedFormat::Libtest,
            folder,
            reports,
            before: Vec::new(),
            alone: None,
            judged: None,
        };
        printed.begin();
        assert_eq!(printed.before, before);
        assert_eq!(printed.alone.as_deref(), Some("last"));
    }
}
