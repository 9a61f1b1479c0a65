//! From what was observed to a verdict.

use std::path::Path;
use std::time::Duration;

use engine::model::activity::{SampledFrame, ThreadActivity};
use engine::model::ids::ThreadId;
use engine::model::limits::Limits;
use engine::model::source::{Location, Source};
use engine::session::{Outcome, Session};
use engine::snapshot;
use tokio::time::Instant;

use super::finding::{HangFinding, frames_of, is_users, time, users};
use super::motion;
use super::sampler::{StackSample, StackSampler};
use super::watch::{BUSY, HangWatch, WatchEnd};
use super::{Diagnosis, ThreadObservation, Verdict, deadlock, tree};
use crate::ToolError;
use crate::ops::settle::{Settled, describe};

/// How long the last pause may take. A program in native code is not suspended.
const SUSPEND: Duration = Duration::from_millis(500);
impl HangWatch<'_> {
    /// Makes the verdict. A program that has not ended is suspended for it, where that is possible, and stays so
    /// when it is to be `left_paused`.
    pub(super) async fn conclude(
        &mut self,
        watch_end: WatchEnd,
        left_paused: bool,
        limits: Limits,
    ) -> Result<Diagnosis, ToolError> {
        let (took, computed) = (self.took(), self.computed());
        let (mut observed, mut sampled, mut thread, mut recurring) = (None, Vec::new(), None, None);
        let finding = match &watch_end {
            WatchEnd::Ended(end) => HangFinding {
                verdict: Verdict::of_end(end),
                message: format!("The program {end}, after {}", time(took)),
                evidence: Vec::new(),
            },
            WatchEnd::Stopped => HangFinding {
                verdict: Verdict::Stopped,
                message: "The program was suspended before there was a verdict".to_owned(),
                evidence: Vec::new(),
            },
            WatchEnd::Computes { thread: busy, samples, passed, callbacks } => {
                thread = *busy;
                if self.activity.is_empty() {
                    self.ask().await;
                }
                observed = motion::observe(samples, *passed);
                sampled = samples.last().map(live_stack).unwrap_or_default();
                if let Some(callback) = callbacks.first()
                    && observed.as_ref().is_none_or(motion::ComputeObservation::ends_with_its_call)
                {
                    observed = None;
                    recurring = Some(SampledFrame {
                        function: callback.function.clone(),
                        location: callback.location.clone(),
                    });
                    self.turns(callbacks)
                } else {
                    self.computes(observed.as_ref(), samples.len(), thread).await
                }
            }
            WatchEnd::Waits => self.waits().await,
            WatchEnd::Deadlocked(error) => self.deadlocked_by_runtime(error).await,
        };
        let awaits_events = finding.verdict == Verdict::Waiting
            && self.activity.iter().any(|process| !process.activity.pending.is_empty());
        let threads = self.threads(awaits_events);
        let shown = thread.or_else(|| self.sampled_thread(None).map(|(number, _)| number));
        let last = self.sampled_thread(thread).filter(|_| sampled.is_empty());
        let stack = last.map_or_else(|| users(sampled), |(_, thread)| frames_of(thread, awaits_events));
        let task = deadlock::deadlocked_tasks(&self.activity).first().map(|(task, waiting)| SampledFrame {
            function: task.function.clone(),
            location: waiting.location.clone(),
        });
        let hung_at = match (&observed, finding.verdict) {
            (None, Verdict::Deadlocked) if deadlock::deadlock(&self.activity).is_empty() => task,
            (_, Verdict::BusyEventLoop) => recurring,
            (_, Verdict::Completed | Verdict::Failed | Verdict::Stopped) => None,
            (Some(observed), _) => Some(frame(&observed.function, &observed.file, observed.line, false)),
            // A frame without a place, such as that of a collection of garbage, says nothing.
            (None, _) => stack.iter().find(|frame| frame.location.is_some()).cloned(),
        };
        let found = observed.and_then(|observed| observed.found);
        let lines = found.as_ref().map(|found| self.lines_of(found)).unwrap_or_default();
        let settled = self.settle(&watch_end, shown, left_paused, limits).await?;
        let source = match hung_at.as_ref().and_then(|frame| frame.location.as_ref()) {
            Some(location) => snapshot::window(self.session, location, limits.source).await,
            None => Vec::new(),
        };
        let end = match watch_end {
            WatchEnd::Ended(end) => Some(end),
            _ => None,
        };
        let pending =
            self.activity.iter_mut().flat_map(|process| std::mem::take(&mut process.activity.pending));
        Ok(Diagnosis {
            verdict: finding.verdict,
            message: finding.message,
            evidence: finding.evidence,
            hung_at,
            source,
            stack,
            found,
            lines,
            threads,
            pending: pending.collect(),
            calls: std::mem::take(&mut self.calls),
            samples: self.samples,
            computed,
            took,
            end,
            settled,
        })
    }

    fn threads(&self, awaits_events: bool) -> Vec<ThreadObservation> {
        let circle = deadlock::deadlock(&self.activity);
        let mut threads = Vec::new();
        for process in &self.activity {
            // A thread of the debugger's, when the program could not say which ones those are.
            let is_foreign = |thread: &&ThreadActivity| {
                thread.os_thread.is_none() && !thread.stack.is_empty() && !thread.stack.iter().any(is_users)
            };
            for thread in process.activity.threads.iter().filter(|thread| !is_foreign(thread)) {
                let demand = process.pid.and_then(|pid| self.demand(pid, Some(thread.os_thread?)));
                threads.push(ThreadObservation {
                    name: thread.name.clone(),
                    pid: process.pid,
                    demand,
                    stack: frames_of(thread, awaits_events),
                    blocked: thread.blocked.clone().filter(|_| demand.is_none_or(|demand| demand < BUSY)),
                    is_deadlocked: circle.iter().any(|other| std::ptr::eq(*other, thread)),
                });
            }
        }
        threads
    }

    /// Where a thread was at the last sample; without one, the first that is blocked, or else is anywhere.
    pub(super) fn sampled_stack(&self, thread: Option<ThreadId>) -> Vec<SampledFrame> {
        self.sampled_thread(thread).map(|(_, thread)| thread.stack.clone()).unwrap_or_default()
    }

    fn sampled_thread(&self, thread: Option<ThreadId>) -> Option<(ThreadId, &ThreadActivity)> {
        let all =
            || self.activity.iter().flat_map(|process| process.numbers.iter().zip(&process.activity.threads));
        let circle = deadlock::deadlock(&self.activity);
        // A runner of tests waits for the test that does not end.
        let has_users = |thread: &&&ThreadActivity| thread.stack.iter().any(is_users);
        let first = circle.iter().find(has_users).or_else(|| circle.first());
        let found = all()
            .find(|(number, _)| Some(**number) == thread)
            .or_else(|| all().find(|(_, thread)| first.is_some_and(|first| std::ptr::eq(*first, *thread))))
            .or_else(|| all().find(|(_, thread)| thread.stack.iter().any(is_users)))
            .or_else(|| all().find(|(_, thread)| !thread.stack.is_empty()));
        found.map(|(number, thread)| (*number, thread))
    }

    /// The lines of a loop that the samples show.
    fn lines_of(&self, found: &super::LoopObservation) -> Vec<(u32, u64)> {
        let mut lines = tree::lines_in(&self.calls, &found.file.display().to_string());
        lines.retain(|(line, _)| found.lines.contains(line));
        lines
    }

    /// Suspends the program where that is possible, and reads what there is to report of it.
    async fn settle(
        &self,
        watch_end: &WatchEnd,
        thread: Option<ThreadId>,
        left_paused: bool,
        limits: Limits,
    ) -> Result<Settled, ToolError> {
        let outcome = match watch_end {
            WatchEnd::Ended(end) => Outcome::Ended(std::sync::Arc::clone(end)),
            // It would be suspended when it runs again, whenever that is.
            _ if self.held().is_some() => self.session.wait(Instant::now()).await,
            _ => suspend(self.session, thread).await,
        };
        let settled = describe(self.session, outcome, limits).await;
        if !left_paused && !matches!(watch_end, WatchEnd::Stopped) {
            StackSampler::new(self.session).release().await?;
        }
        Ok(settled)
    }
}

async fn suspend(session: &Session, thread: Option<ThreadId>) -> Outcome {
    if session.execution().stop().is_none() {
        // A program that ends meanwhile is reported as ended; one in native code need not acknowledge.
        let _ = tokio::time::timeout(SUSPEND, session.pause(thread)).await;
    }
    session.wait(Instant::now() + SUSPEND).await
}

/// A sample as a stack, innermost frame first.
fn live_stack(sample: &StackSample) -> Vec<SampledFrame> {
    let innermost_first = sample.iter().rev();
    innermost_first.map(|at| frame(&at.function, &at.file, at.line, at.is_internal)).collect()
}

fn frame(function: &str, file: &Path, line: u32, internal: bool) -> SampledFrame {
    let source = Source { internal, ..Source::file(file) };
    let location = Location { source, line, column: 0, generated: None };
    SampledFrame { function: function.to_owned(), location: Some(location) }
}
