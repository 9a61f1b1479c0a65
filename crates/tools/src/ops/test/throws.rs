//! The throws that no user code catches, each inspected while the program is suspended there.

use std::collections::VecDeque;
use std::sync::Arc;

use engine::error::Error;
use engine::model::ids::Reference;
use engine::model::limits::Limits;
use engine::model::stack::StackFrame;
use engine::model::stop::{ExceptionMode, Stop, StopReason};
use engine::model::thrown::Thrown;
use engine::session::{Outcome, Session};
use engine::snapshot::{Caller, Snapshot};
use engine::test_reports::{TestReport, TestReports};
use tokio::time::Instant;

use super::output::PrintedReports;
use super::{googletest, matching};
use crate::ToolError;

/// How many throws are kept. Most are caught by a library after all.
const MOST: usize = 50;
/// How many failed assertions are inspected where the runner reports each.
const ENOUGH: usize = 20;
/// How many frames of the whole stack are read.
const FRAMES: usize = 60;

/// A throw, as the program stood there.
#[derive(Debug)]
pub struct Throw {
    /// Place, source, exception, and the variables of the innermost frame of the user's.
    pub snapshot: Snapshot,
    /// The user's frames around it, with their variables.
    pub callers: Vec<Caller>,
    /// The whole stack, libraries included, innermost frame first.
    pub stack: Vec<StackFrame<Reference>>,
    /// What was asserted, and the mark by which the runner names it.
    pub thrown: Thrown,
    /// The test that was running.
    pub test: Option<String>,
}

/// The throws of a run.
pub(super) struct ThrowCollector<'a> {
    session: &'a Session,
    reports: &'a TestReports,
    limits: Limits,
    /// Where the reports are made of the output.
    printed: Option<&'a PrintedReports>,
    kept: VecDeque<Throw>,
    dropped: u64,
    passed_over: u64,
    /// The program also stops at throws that its tests catch.
    stops_at_all: bool,
}

/// All that there were.
#[derive(Debug, Default)]
pub(super) struct CollectedThrows {
    /// In their order.
    pub(super) kept: Vec<Throw>,
    /// How many others there were that belong to no failure known at that time.
    pub(super) dropped: u64,
    /// How many stops there were for other reasons, such as a breakpoint in the source.
    pub(super) passed_over: u64,
}

impl<'a> ThrowCollector<'a> {
    pub(super) fn new(
        session: &'a Session,
        reports: &'a TestReports,
        limits: Limits,
        printed: Option<&'a PrintedReports>,
        stops_at_all: bool,
    ) -> Self {
        Self {
            session,
            reports,
            limits,
            printed,
            kept: VecDeque::new(),
            dropped: 0,
            passed_over: 0,
            stops_at_all,
        }
    }

    pub(super) fn into_all(self) -> CollectedThrows {
        CollectedThrows { kept: self.kept.into(), dropped: self.dropped, passed_over: self.passed_over }
    }

    /// Inspects each throw and resumes the program, until it ends or the time is up. With `keeps` it stays at the
    /// first.
    pub(super) async fn watch(&mut self, until: Instant, keeps: bool) -> Result<Outcome, ToolError> {
        loop {
            let outcome = self.session.wait(until).await;
            let Outcome::Stopped(stop) = &outcome else { return Ok(outcome) };
            self.session.mark_stop_reported(stop);
            if stop.reason == StopReason::Exception && self.is_known(stop).await {
                // What it says is in the runner's message.
            } else if stop.reason == StopReason::Exception {
                self.drop_oldest();
                let throw = self.look(stop).await;
                let is_in_runner = self.stops_at_all && googletest::is_around(&throw.stack);
                self.kept.push_back(throw);
                if keeps {
                    return Ok(outcome);
                }
                if is_in_runner {
                    // What a test catches is not a failure: only what comes to the runner is one.
                    self.session.set_exception_breakpoints(ExceptionMode::UserUnhandled.into()).await?;
                    self.stops_at_all = false;
                }
            } else {
                self.passed_over += 1;
            }
            if Instant::now() >= until {
                return Ok(Outcome::Running);
            }
            match self.session.resume().await {
                // It may have ended meanwhile, which is what comes next.
                Ok(()) | Err(Error::NotPaused { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether a failed assertion adds nothing to what is known: the first one of each test is its failure.
    async fn is_known(&self, stop: &Stop) -> bool {
        // Signals and panics have a text.
        let Some(printed) = self.printed.filter(|_| stop.text.is_none()) else { return false };
        let failed: Vec<&Throw> = self.kept.iter().filter(|throw| is_failed_assertion(throw)).collect();
        if failed.is_empty() || failed.len() >= ENOUGH {
            return !failed.is_empty();
        }
        let stack = if printed.finds_tests_in_stacks() {
            self.session.stack_trace(Some(stop.thread), 0, FRAMES).await.ok()
        } else {
            None
        };
        printed.update(self.session);
        let of_stack = stack.and_then(|stack| printed.test_of(&stack.frames));
        let test = of_stack.or_else(|| running(&self.reports.read()));
        test.is_some() && failed.iter().any(|throw| throw.test == test)
    }

    async fn look(&self, stop: &Arc<Stop>) -> Throw {
        let mut snapshot = Snapshot::take(self.session, Arc::clone(stop), self.limits).await;
        let callers = snapshot.callers(self.session, self.limits).await;
        let stack = self.session.stack_trace(Some(stop.thread), 0, FRAMES).await;
        if let Some(printed) = self.printed {
            printed.update(self.session);
        }
        let thrown = self.session.thrown(self.limits.value.saturating_mul(5)).await.unwrap_or_else(|error| {
            snapshot.notes.push(format!("the asserted values could not be read: {error}"));
            Thrown::default()
        });
        let stack = stack.map(|stack| stack.frames).unwrap_or_default();
        let of_stack = || self.printed?.test_of(&stack);
        let test = thrown.test.clone().or_else(of_stack).or_else(|| running(&self.reports.read()));
        Throw { snapshot, callers, stack, thrown, test }
    }

    /// Forgets the oldest throw that no failing test has named so far.
    fn drop_oldest(&mut self) {
        if self.kept.len() < MOST {
            return;
        }
        let reports = self.reports.read();
        let is_free = |throw: &Throw| !matching::may_be_named(throw, &reports);
        // Tests expect exceptions, but hardly ever an assertion to fail.
        let is_expected = |throw: &Throw| throw.thrown.assertion.is_none() && is_free(throw);
        let oldest = self.kept.iter().position(is_expected).or_else(|| self.kept.iter().position(is_free));
        let oldest = oldest.unwrap_or(MOST - 1);
        self.kept.remove(oldest);
        self.dropped += 1;
    }
}

/// Whether the debugger has stopped where a test reports a failure.
fn is_failed_assertion(throw: &Throw) -> bool {
    throw.snapshot.exception.as_ref().is_some_and(|exception| exception.type_name == "test failure")
}

/// The test that has begun and is not over.
pub(super) fn running(reports: &[TestReport]) -> Option<String> {
    let last = reports.iter().rev().find_map(|report| match report {
        TestReport::Begins { test, .. } => Some(test),
        _ => None,
    })?;
    let mut results = reports.iter().filter_map(TestReport::result);
    (!results.any(|result| result.id == *last)).then(|| last.clone())
}
