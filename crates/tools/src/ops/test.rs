//! Running tests, and reporting what made one fail, with its values.
//!
//! The runner is started as its user would start it. The debugger stops at each throw that no code of the user's
//! catches ([`ExceptionMode::UserUnhandled`]), each is inspected ([`Throw`]), and the program resumes. Our code
//! inside the runner reports each result ([`TestReports`]). At the end the two are combined: the throw that a failing
//! test names is its failure.

mod conclusion;
mod go;
mod googletest;
mod java;
mod libtest;
mod matching;
mod node;
mod output;
mod php;
mod python;
mod ruby;
mod runner;
mod swallowed;
mod throws;

use std::sync::Arc;
use std::time::Duration;

use engine::adapter::{self, PrintedFormat, Reporting};
use engine::bounds::Bounds;
use engine::deadlines;
use engine::model::limits::Limits;
use engine::model::stop::{End, ExceptionMode, StopReason};
use engine::output::Excerpt;
use engine::session::state::Execution;
use engine::session::{Outcome, Session};
use engine::test_reports::{Captured, LoadProblem, TestReport, TestReports, TestResult};

use self::conclusion::{TestRunEnd, conclude};
use self::output::PrintedReports;
pub use self::runner::Runner;
pub use self::throws::Throw;
use self::throws::{CollectedThrows, ThrowCollector};
use super::command::Command;
use super::hang::{self, Diagnosis};
use super::lifecycle::BegunLaunch;
use super::settle::{Wait, with_progress};
use super::{lifecycle, run_until};
use crate::{Context, ToolError};

/// How long a program that did not end in time is watched to find out why.
const WATCHED: Duration = Duration::from_millis(1_500);

/// With it runners print no colours, which would be noise in answers.
const NO_COLOR: &str = "NO_COLOR";

/// `GoogleTest` has a variable of its own for that.
const GTEST_COLOR: &str = "GTEST_COLOR";

/// What to run.
#[derive(Debug)]
pub struct Test {
    /// The runner with its arguments, or any other program.
    pub command: Command,
    /// How long, and how much to report.
    pub wait: Wait,
    /// Leave the program stopped at the first throw that no code of the user's catches, or where it hangs.
    pub keeps: bool,
}

/// The result.
#[derive(Debug)]
pub struct TestRunResult {
    /// The verdict.
    pub verdict: Verdict,
    /// The test runner, if it is known.
    pub runner: Option<Runner>,
    /// How the program ended; none while it has not.
    pub end: Option<Arc<End>>,
    /// The program is stopped and left so.
    pub is_kept: bool,
    /// Number of tests by outcome.
    pub counts: Counts,
    /// The first failure, in full.
    pub failure: Option<Failure>,
    /// The further ones.
    pub others: Vec<Failure>,
    /// Test files that could not be loaded.
    pub problems: Vec<LoadProblem>,
    /// Exception thrown while loading the first of these.
    pub problem_throw: Option<Box<Throw>>,
    /// Requested names that match no test.
    pub missing: Vec<String>,
    /// Names of existing tests, the most similar first, if none was run.
    pub similar: Vec<String>,
    /// Where a program is that did not end in time, and the test that it was in.
    pub hang: Option<TestHang>,
    /// Captured output of tests that did not fail.
    pub captured: Vec<Captured>,
    /// The last of what the program wrote.
    pub output: Excerpt,
    /// Additional notes.
    pub notes: Vec<String>,
}

/// The verdict on a run of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A test failed.
    Failed,
    /// All that were run passed.
    Passed,
    /// Tests could not be loaded, or the runner itself went wrong.
    Error,
    /// No test was run.
    NoTests,
    /// The time was up, and tests were still coming to an end.
    TimedOut,
    /// The time was up, and no test came to an end.
    Hung,
}

impl Verdict {
    /// `failed`, `passed`, `error`, `no_tests`, `timeout`, `hung`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Passed => "passed",
            Self::Error => "error",
            Self::NoTests => "no_tests",
            Self::TimedOut => "timeout",
            Self::Hung => "hung",
        }
    }
}
/// Number of tests by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many came to a result, skipped ones included.
    pub run: u64,
    /// How many passed.
    pub passed: u64,
    /// How many failed, or had an error before or after them.
    pub failed: u64,
    /// How many were skipped.
    pub skipped: u64,
    /// How many failed as they were expected to.
    pub expected_failures: u64,
    /// How many errors no test has caught. They are in none of the others.
    pub unhandled: u64,
}

/// A test that failed.
#[derive(Debug)]
pub struct Failure {
    /// What its runner says. Only an id, while it is not over; none where there is no runner.
    pub result: Option<TestResult>,
    /// The thrown value; none when the runner failed it for another reason.
    pub throw: Option<Box<Throw>>,
}

/// A program that did not end in time.
#[derive(Debug)]
pub struct TestHang {
    /// Running test.
    pub test: Option<String>,
    /// Why it does not end.
    pub diagnosis: Box<Diagnosis>,
}

/// How much of a failure is reported: nothing more can be read once the program has ended.
pub fn limits(bounds: &Bounds) -> Limits {
    run_until::whole(bounds)
}

/// Opens the session of a command.
pub fn open(context: &Context, command: &Command) -> Result<Session, ToolError> {
    lifecycle::open(context, command.adapter.name(), Some(command.title()), command.executable.clone())
}

/// Runs tests in a session that was opened for them. Unless it is kept, the program is to be ended with the
/// session afterwards.
///
/// Errors are those of starting the program; later problems are part of the result.
pub async fn test(session: &Session, request: Test, context: &Context) -> Result<TestRunResult, ToolError> {
    let adapter = session.adapter();
    let reporting = adapter.facts().reporting;
    if reporting == Reporting::None {
        let instead = "start the tests in a debug session, and stop where one fails";
        return Err(adapter::unsupported(adapter, "running tests", instead).into());
    }
    let runner = Runner::of(&request.command);
    let reports = TestReports::new()?;
    let mut launch = request.command.launch.clone();
    launch.child_languages = node::child_languages(&request.command, runner);
    if runner == Some(Runner::Phpunit) {
        php::make_log(&mut launch, &reports);
    }
    let mut printed = PrintedReports::of(&request.command, runner, &mut launch, &reports);
    // Our code in the program recognizes a runner by the modules it loads.
    let path = reports.path().to_string_lossy().into_owned();
    launch.env.insert(TestReports::VARIABLE.to_owned(), Some(path));
    // Where the user has chosen, both variables together would only make runners complain.
    let chosen = |names: &[&str]| {
        let is_chosen = |name: &&str| launch.env.contains_key(*name) || std::env::var_os(name).is_some();
        names.iter().any(is_chosen)
    };
    let is_google_test = reporting == Reporting::Printed(PrintedFormat::GoogleTest);
    let plain = [
        (!chosen(&[NO_COLOR, "FORCE_COLOR"])).then_some((NO_COLOR, "1")),
        (is_google_test && !chosen(&[GTEST_COLOR])).then_some((GTEST_COLOR, "no")),
    ];
    let plain = plain.into_iter().flatten();
    let plain: Vec<_> = plain.map(|(name, value)| (name.to_owned(), Some(value.to_owned()))).collect();
    launch.env.extend(plain);
    // A debugger that cannot know what catches an exception stops at all of them.
    let exceptions = if is_google_test { ExceptionMode::All } else { ExceptionMode::UserUnhandled };
    session.set_exception_breakpoints(exceptions.into()).await?;
    let begun = lifecycle::begin_launch(session, launch, request.wait, context).await;
    let BegunLaunch { late, notes, from } = match begun {
        Ok(begun) => begun,
        Err(error) => {
            // `node --test` looks for its files before it runs anything that could be debugged.
            let Execution::Ended(end) = session.execution() else { return Err(error) };
            let output = session.output().tail(0, request.wait.limits.output);
            return if node::found_no_tests(&output.text()) {
                conclude(
                    session,
                    &request,
                    runner,
                    &reports,
                    CollectedThrows::default(),
                    TestRunEnd::Ended(end),
                )
            } else {
                Err(error)
            };
        }
    };
    if let Some(printed) = &mut printed {
        printed.begin();
    }
    let least = deadlines::START.min(session.policy().bounds.max_wait());
    let until = from + request.wait.timeout.max(least);
    let mut throws =
        ThrowCollector::new(session, &reports, request.wait.limits, printed.as_ref(), is_google_test);
    let outcome = match late {
        Some(_) => Outcome::Running,
        None => with_progress(session, context, throws.watch(until, request.keeps)).await?,
    };
    let run_end = match outcome {
        Outcome::Ended(end) => TestRunEnd::Ended(end),
        Outcome::Stopped(stop) if stop.reason == StopReason::Exception => TestRunEnd::Thrown,
        Outcome::Stopped(_) | Outcome::Running => {
            out_of_time(session, &reports, printed.as_ref(), request.wait, context).await
        }
    };
    let throws = throws.into_all();
    if let Some(printed) = &printed {
        printed.update(session);
    }
    if runner == Some(Runner::Phpunit) {
        let exit_code = if let TestRunEnd::Ended(end) = &run_end { end.exit_code() } else { None };
        php::report(&reports, exit_code);
    }
    let mut tested = conclude(session, &request, runner, &reports, throws, run_end)?;
    if let Some(printed) = &printed {
        printed.complete(session, &mut tested);
    }
    Ok(TestRunResult { notes: notes.into_iter().chain(tested.notes).collect(), ..tested })
}

/// Finds out why a program did not end in time. It is suspended afterwards, where that is possible.
async fn out_of_time(
    session: &Session,
    reports: &TestReports,
    printed: Option<&PrintedReports>,
    wait: Wait,
    context: &Context,
) -> TestRunEnd {
    let finished = || {
        if let Some(printed) = printed {
            printed.update(session);
        }
        reports.read().iter().filter(|report| matches!(report, TestReport::Result(_))).count()
    };
    let before = finished();
    let wait = Wait { timeout: WATCHED, ..wait };
    let request = hang::HangRequest { launch: None, interval: hang::INTERVAL, leave_paused: true, wait };
    let diagnosis = hang::hang(session, request, context).await.ok();
    match diagnosis.as_ref().and_then(|diagnosis| diagnosis.end.clone()) {
        Some(end) => TestRunEnd::Ended(end),
        None if finished() > before => TestRunEnd::TimedOut,
        None => TestRunEnd::Hung(diagnosis.map(Box::new)),
    }
}
