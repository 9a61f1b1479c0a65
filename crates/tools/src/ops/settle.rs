//! Waiting for a program to stop or to end, and what to report then.

use std::sync::Arc;
use std::time::Duration;

use engine::adapter;
use engine::bounds::Bounds;
use engine::error::Error;
use engine::model::breakpoint::Breakpoint;
use engine::model::limits::Limits;
use engine::model::stop::End;
use engine::output::Excerpt;
use engine::session::{Outcome, Session};
use engine::snapshot::{self, RuleFailure, Snapshot};
use tokio::time::Instant;

use super::caught::{self, Caught};
use super::unreached::{Unreached, unreached};
use crate::Context;
use crate::error::Words;

/// How often progress is reported while waiting.
const PROGRESS: Duration = Duration::from_secs(1);

/// How to wait, and how much to report.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// How long.
    pub timeout: Duration,
    /// How much.
    pub limits: Limits,
}

impl Wait {
    /// The default.
    pub fn usual(bounds: &Bounds) -> Self {
        Self { timeout: bounds.default_wait(), limits: bounds.report() }
    }

    /// The `timeout` of a call, or else the default. More than the maximum is an error.
    pub fn new(bounds: &Bounds, timeout_ms: Option<u64>, limits: Limits) -> Result<Self, Error> {
        Self::or(bounds, timeout_ms, bounds.default_wait(), limits)
    }

    /// The same where another time is usual.
    pub fn or(
        bounds: &Bounds,
        timeout_ms: Option<u64>,
        usual: Duration,
        limits: Limits,
    ) -> Result<Self, Error> {
        let timeout = match timeout_ms {
            Some(asked) => Duration::from_millis(bounds.within("longest_wait", "timeout", asked)?),
            None => usual.min(bounds.max_wait()),
        };
        Ok(Self { timeout, limits })
    }

    /// The rest of it.
    #[must_use]
    pub fn since(self, began: Instant) -> Self {
        Self { timeout: self.timeout.saturating_sub(began.elapsed()), ..self }
    }
}

/// What a program is doing after a wait. All of these are successes.
#[derive(Debug)]
pub enum Settled {
    /// It is suspended.
    Stopped(Box<Snapshot>),
    /// It is still running.
    Running {
        /// What it wrote since the last report.
        output: Excerpt,
        /// What of it runs, and how.
        runs: Runs,
        /// What else there is to say.
        remarks: RunNotes,
    },
    /// The program has ended.
    Ended {
        /// How.
        end: Arc<End>,
        /// What it wrote since the last report.
        output: Excerpt,
        /// The breakpoints that it ended without.
        unreached: Vec<Unreached>,
        /// What else there is to say.
        remarks: RunNotes,
    },
}

/// What there is to say of a program beside its state.
#[derive(Debug, Default)]
pub struct RunNotes {
    /// Conditions and log messages that failed.
    pub failures: Vec<RuleFailure>,
    /// An exception that something other than the user's code has caught.
    pub caught: Option<Caught>,
    /// Additional notes.
    pub notes: Vec<String>,
    /// The program was killed by a crash that its debugger does not see, such as one in an extension.
    pub is_unseen_crash: bool,
}

impl RunNotes {
    /// The notes, a sentence each.
    pub fn notes(&self, words: Words) -> Vec<String> {
        let caught = self.caught.iter().map(|caught| caught.sentence(words));
        caught.chain(self.notes.iter().cloned()).collect()
    }
}

/// What of a program runs, and how.
#[derive(Debug)]
pub enum Runs {
    /// The program.
    Program,
    /// Processes that it started; it has ended like this itself.
    Others(End),
    /// The program, and its debugger is gone.
    Undebugged,
}

impl Settled {
    /// The same, with more to say.
    #[must_use]
    pub fn with_notes(mut self, more: Vec<String>) -> Self {
        match &mut self {
            Self::Stopped(snapshot) => snapshot.notes.extend(more),
            Self::Running { remarks, .. } | Self::Ended { remarks, .. } => remarks.notes.extend(more),
        }
        self
    }
}

/// Waits, and reads what there is to report.
pub async fn settle(session: &Session, wait: Wait, context: &Context) -> Settled {
    settle_or(session, wait, context, std::future::pending()).await
}

/// The same, and waits no longer when `over` is.
pub(super) async fn settle_or(
    session: &Session,
    wait: Wait,
    context: &Context,
    over: impl Future<Output = ()>,
) -> Settled {
    let until = Instant::now() + wait.timeout;
    let settling = async {
        tokio::pin!(over);
        loop {
            let outcome = tokio::select! {
                biased;
                outcome = session.wait(until) => outcome,
                () = &mut over => return describe(session, session.wait(Instant::now()).await, wait.limits).await,
            };
            if let Some(settled) = describe_while_stopped(session, outcome, wait.limits).await {
                return settled;
            }
        }
    };
    with_progress(session, context, settling).await
}

/// Runs something slow, and reports progress.
pub async fn with_progress<T>(session: &Session, context: &Context, work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    let _busy = session.busy();
    let began = Instant::now();
    loop {
        tokio::select! {
            result = &mut work => return result,
            () = tokio::time::sleep(PROGRESS) => report_progress(session, context, began),
        }
    }
}

fn report_progress(session: &Session, context: &Context, began: Instant) {
    let Some(report) = &context.report else { return };
    let seconds = began.elapsed().as_secs();
    let doing = session.progress();
    report.say(if doing.is_empty() {
        let state = session.execution().as_str();
        format!("{state} for {seconds} s, {} bytes of output", session.output().end())
    } else {
        format!("{doing} ({seconds} s)")
    });
}

async fn runs(session: &Session) -> Runs {
    if session.is_undebugged().await.unwrap_or(false) {
        return Runs::Undebugged;
    }
    session.program_ended().await.ok().flatten().map_or(Runs::Program, Runs::Others)
}

async fn remarks(session: &Session, has_failed: bool) -> RunNotes {
    RunNotes {
        failures: snapshot::failures(session).await,
        caught: caught::in_new_output(session, has_failed).await,
        notes: Vec::new(),
        is_unseen_crash: false,
    }
}

/// Whether a program of an interpreter ran without a debugger for its extensions.
async fn is_without_extension(session: &Session) -> bool {
    let is_of_extension = |breakpoint: &Breakpoint| {
        breakpoint.file().and_then(adapter::by_extension).is_some_and(|owner| owner.facts().is_machine_code)
    };
    session.adapter().child_processes().is_some()
        && !session.breakpoints().await.unwrap_or_default().iter().any(is_of_extension)
}

/// Reads what there is to report of a program without waiting.
pub async fn describe(session: &Session, mut outcome: Outcome, limits: Limits) -> Settled {
    loop {
        if let Some(settled) = describe_while_stopped(session, outcome, limits).await {
            return settled;
        }
        outcome = session.wait(Instant::now()).await;
    }
}

/// The same; none if another call has resumed a stopped program meanwhile, so that there is nothing left to read.
async fn describe_while_stopped(session: &Session, outcome: Outcome, limits: Limits) -> Option<Settled> {
    let stop = match outcome {
        Outcome::Stopped(stop) => stop,
        Outcome::Running => {
            return Some(Settled::Running {
                runs: runs(session).await,
                remarks: remarks(session, false).await,
                output: session.take_new_output(limits.output),
            });
        }
        Outcome::Ended(end) => {
            session.mark_end_reported(&end);
            let explained = end.exit_code().and_then(|code| session.adapter().explain_exit(code));
            let mut remarks = remarks(session, end.exit_code() != Some(0)).await;
            remarks.notes.extend(explained.map(str::to_owned));
            remarks.is_unseen_crash = end.is_crash() && is_without_extension(session).await;
            return Some(Settled::Ended {
                unreached: unreached(session, &end).await,
                remarks,
                end,
                output: session.take_new_output(limits.output),
            });
        }
    };
    session.mark_stop_reported(&stop);
    let mut execution = session.watch();
    let epoch = stop.epoch;
    let resumed = execution.wait_for(|now| now.stop().is_none_or(|now| now.epoch != epoch));
    let snapshot = tokio::select! {
        biased;
        snapshot = Snapshot::take(session, stop, limits) => snapshot,
        _ = resumed => return None,
    };
    let place = snapshot.frame().and_then(|frame| frame.location.as_ref());
    if let (Some(place), Some(_)) = (place, &snapshot.exception) {
        session.mark_exception_reported(place);
    }
    Some(Settled::Stopped(Box::new(snapshot)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_waits_are_lowered_and_explicit_ones_refused() {
        let bounds = Bounds { longest_wait: 1_000, ..Bounds::default() };
        let wait = |asked| Wait::or(&bounds, asked, Duration::from_secs(10), bounds.report());
        assert_eq!(wait(None).unwrap().timeout, Duration::from_secs(1));
        assert_eq!(wait(Some(999)).unwrap().timeout, Duration::from_millis(999));
        assert_eq!(
            wait(Some(1_001)).unwrap_err().to_string(),
            "`timeout` is 1001: the limit `longest_wait` is 1000"
        );
    }
}
