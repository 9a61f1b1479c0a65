//! Combines the runner's reports and the throws.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::model::stop::End;
use engine::session::Session;
use engine::sources;
use engine::test_reports::{
    Captured, LoadProblem, TestOutcome, TestPhase, TestReport, TestReports, TestResult,
};

use super::matching::{take, take_each};
use super::throws::{CollectedThrows, Throw, running};
use super::{Counts, Failure, Runner, Test, TestHang, TestRunResult, Verdict, go, node, swallowed};
use crate::ToolError;
use crate::ops::hang::Diagnosis;

/// How many names of similar tests are listed.
const NAMES: usize = 10;

/// How a test run ended.
pub(super) enum TestRunEnd {
    /// The program has ended.
    Ended(Arc<End>),
    /// It is suspended at a throw, and stays there.
    Thrown,
    /// It did not end in time, and its tests were still coming to an end.
    TimedOut,
    /// It did not end in time. Where it is now, if known.
    Hung(Option<Box<Diagnosis>>),
}

/// Puts the result of a run together.
pub(super) fn conclude(
    session: &Session,
    request: &Test,
    runner: Option<Runner>,
    reports: &TestReports,
    throws: CollectedThrows,
    run_end: TestRunEnd,
) -> Result<TestRunResult, ToolError> {
    let reports = reports.read();
    let output = session.output().tail(0, request.wait.limits.output);
    let is_silent = reports.iter().all(|report| matches!(report, TestReport::Note { .. }));
    if let (true, TestRunEnd::Ended(end)) = (is_silent, &run_end)
        && end.exit_code() != Some(0)
        && let Some(error) = Runner::missing(runner, &request.command, &output.text())
    {
        return Err(error);
    }
    let mut notes = notes(&throws);
    let mut throws = throws.kept;
    let sorted = SortedReports::of(reports);
    notes.extend(sorted.notes.iter().cloned());
    let current = running(&sorted.all);
    let mut failures = sorted.failures(&mut throws);
    if runner == Some(Runner::Go) {
        failures.iter_mut().for_each(go::name_panic);
    }
    if matches!(runner, Some(Runner::Go | Runner::Maven | Runner::Gradle)) {
        // Reports are in the order of the names of classes, or in that in which tests end.
        let epoch = |throw: &Throw| throw.snapshot.stop.epoch;
        failures.sort_by_key(|failure| failure.throw.as_deref().map_or(u64::MAX, epoch));
    }
    let late = match run_end {
        TestRunEnd::TimedOut => Some(Verdict::TimedOut),
        TestRunEnd::Hung(_) => Some(Verdict::Hung),
        TestRunEnd::Ended(_) | TestRunEnd::Thrown => None,
    };
    let (end, hang, is_kept) = match run_end {
        TestRunEnd::Ended(end) => (Some(end), None, false),
        TestRunEnd::Thrown => (None, None, true),
        TestRunEnd::TimedOut => (None, None, request.keeps),
        TestRunEnd::Hung(diagnosis) => {
            let hang = diagnosis.map(|diagnosis| TestHang { test: current.clone(), diagnosis });
            (None, hang, request.keeps)
        }
    };
    let code = end.as_ref().map(|end| end.exit_code());
    // A program that says nothing of tests fails by what nothing has caught; a runner that says nothing has not
    // come so far.
    let is_cut_short = is_silent && code.is_some_and(|code| code != Some(0));
    if failures.is_empty()
        && (is_kept && late.is_none() || is_cut_short && runner.is_none())
        && let Some(throw) = throws.pop()
    {
        let id = throw.test.clone().or(current);
        let result = id.map(|id| TestResult { id, ..TestResult::default() });
        failures.push(Failure { result, throw: Some(Box::new(throw)) });
    }
    notes.extend(swallowed::notes_of_first_failure(&failures, &throws));
    let mut failures = failures.into_iter();
    let failure = failures.next();
    let counts = sorted.counts();
    let problem_throw = match sorted.problems.first() {
        Some(problem) => take(&mut throws, &problem.into()),
        None if is_cut_short && runner.is_some() => throws.pop().map(Box::new),
        None => None,
    };
    let said = output.text();
    let says_none =
        node::found_no_tests(&said) || runner == Some(Runner::Unittest) && said.contains("Ran 0 tests in ");
    let ran = counts.run > 0 || (is_silent && !says_none);
    let verdict = late.unwrap_or(match code {
        _ if failure.is_some() => Verdict::Failed,
        _ if !sorted.problems.is_empty() || problem_throw.is_some() => Verdict::Error,
        _ if !sorted.missing.is_empty() || !ran => Verdict::NoTests,
        Some(Some(0)) => Verdict::Passed,
        // It knows tests that pass with another exit code.
        Some(_) if runner == Some(Runner::Ctest) && counts.run > 0 => Verdict::Passed,
        _ => Verdict::Error,
    });
    let similar = if verdict == Verdict::NoTests { sorted.similar() } else { Vec::new() };
    Ok(TestRunResult {
        verdict,
        runner,
        end,
        is_kept,
        counts,
        failure,
        others: failures.collect(),
        problem_throw,
        captured: sorted.captured(),
        problems: sorted.problems,
        missing: sorted.missing,
        similar,
        hang,
        output,
        notes,
    })
}

fn notes(throws: &CollectedThrows) -> Vec<String> {
    let mut notes = Vec::new();
    if throws.dropped > 0 {
        notes.push(format!("{} throws unrelated to a failing test were dropped", throws.dropped));
    }
    if throws.passed_over > 0 {
        notes.push(format!("{} stops for other reasons were resumed", throws.passed_over));
    }
    notes
}

/// The reports, sorted by what they are.
struct SortedReports {
    all: Vec<TestReport>,
    results: Vec<TestResult>,
    problems: Vec<LoadProblem>,
    missing: Vec<String>,
    names: Vec<String>,
    notes: Vec<String>,
}

impl SortedReports {
    fn of(all: Vec<TestReport>) -> Self {
        let mut sorted = Self {
            all,
            results: Vec::new(),
            problems: Vec::new(),
            missing: Vec::new(),
            names: Vec::new(),
            notes: Vec::new(),
        };
        for report in &sorted.all {
            match report {
                TestReport::Result(result) => sorted.results.push(result.clone()),
                TestReport::Problem(problem) => sorted.problems.push(problem.clone()),
                TestReport::Missing { name } => sorted.missing.push(name.clone()),
                TestReport::Collected { names, .. } => sorted.names.extend(names.iter().cloned()),
                TestReport::Note { text } => sorted.notes.push(text.clone()),
                TestReport::Begins { .. } => {}
            }
        }
        sorted
    }

    /// The tests that failed, each with what it threw.
    fn failures(&self, throws: &mut Vec<Throw>) -> Vec<Failure> {
        let with_parts = self.with_failed_parts();
        // A runner may also report the test of a failed subtest, without an error.
        let is_error = |result: &&TestResult| result.exception.is_some() || !with_parts.contains(id(result));
        let failed = self.results.iter().filter(|result| result.outcome.is_failure()).filter(is_error);
        // Tests come before errors that no test has caught.
        let (unhandled, failed): (Vec<_>, Vec<_>) = failed.partition(|result| is_unhandled(result));
        let failed = [failed, unhandled].concat();
        let throws = take_each(throws, &failed);
        let failure = |(result, throw): (&TestResult, _)| Failure { result: Some(result.clone()), throw };
        failed.into_iter().zip(throws).map(failure).collect()
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        let ran: BTreeSet<&str> = self.results.iter().filter(|result| is_call(result)).map(id).collect();
        let mut seen = BTreeSet::new();
        let mut with_parts = self.with_failed_parts();
        let of_tests = |result: &&TestResult| result.part_of.is_none() && !is_unhandled(result);
        for result in self.results.iter().filter(of_tests) {
            // Tests may have the same name. A fixture that fails is none, unless its test was not run because of it.
            let is_new = is_call(result) || !ran.contains(id(result)) && seen.insert(id(result));
            counts.run += u64::from(is_new);
            let is_failed_in_part = is_call(result) && with_parts.remove(id(result));
            let counter = match result.outcome {
                _ if is_failed_in_part => &mut counts.failed,
                TestOutcome::Passed | TestOutcome::Xpassed => &mut counts.passed,
                TestOutcome::Failed | TestOutcome::Error => &mut counts.failed,
                TestOutcome::Skipped => &mut counts.skipped,
                TestOutcome::Xfailed => &mut counts.expected_failures,
            };
            *counter += 1;
        }
        let without_result = with_parts.len() as u64;
        let unhandled = self.results.iter().filter(|result| is_unhandled(result)).count() as u64;
        Counts {
            run: counts.run + without_result,
            failed: counts.failed + without_result,
            unhandled,
            ..counts
        }
    }

    /// The tests with failed subtests.
    fn with_failed_parts(&self) -> BTreeSet<&str> {
        self.results.iter().filter_map(|result| result.part_of.as_deref()).collect()
    }

    /// Names of existing tests, the most similar to the requested ones first.
    fn similar(&self) -> Vec<String> {
        let mut names = self.names.clone();
        names.dedup();
        if let Some(missing) = self.missing.first() {
            names.sort_by_cached_key(|name| sources::distance(last_part(missing), last_part(name)));
        }
        names.truncate(NAMES);
        names
    }
    /// Captured output of tests that did not fail.
    fn captured(&self) -> Vec<Captured> {
        let passed = self.results.iter().filter(|result| !result.outcome.is_failure());
        passed.flat_map(|result| result.captured.iter().cloned()).collect()
    }
}

/// The name of a test without those of its file and class.
fn last_part(name: &str) -> &str {
    name.rsplit([':', '.']).next().unwrap_or(name)
}

fn id(result: &TestResult) -> &str {
    &result.id
}

/// It is an error that no test has caught.
fn is_unhandled(result: &TestResult) -> bool {
    result.phase == TestPhase::Unhandled
}

/// It is the test's own result, not that of what comes before or after it.
fn is_call(result: &TestResult) -> bool {
    result.phase == TestPhase::Call
}
