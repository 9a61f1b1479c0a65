//! Why a program does not finish.
//!
//! The program runs, and is sampled without stopping it; the operating system reports how much CPU time it uses. At
//! the timeout, or as soon as the cause is certain, the verdict is made: for a computing program from a few samples
//! that each suspend it briefly (`sampler.rs`, `motion.rs`), for a waiting one from what its threads wait for
//! (`deadlock.rs`). "Completed" is only reported after the program has ended.

mod computing;
mod conclusion;
mod deadlock;
mod finding;
mod motion;
mod sampler;
mod tree;
mod waiting;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use engine::adapter;
use engine::bounds::Bounds;
use engine::deadlines;
use engine::model::activity::{CallNode, SampledFrame, Waiting};
use engine::model::launch::Launch;
use engine::model::stop::{End, ExceptionBreakpoints, ExceptionMode};
use engine::session::Session;
use tokio::time::Instant;

pub use self::motion::{Change, LoopObservation};
pub use self::tree::text as tree_text;
pub use self::waiting::alike;
use self::watch::HangWatch;
use super::settle::{Settled, Wait, with_progress};
use super::{execution, lifecycle};
use crate::{Context, ToolError};

/// The default interval of samples.
pub const INTERVAL: Duration = Duration::from_millis(100);
/// How long a program may take by default.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// What to diagnose.
#[derive(Debug)]
pub struct HangRequest {
    /// The program to start; none for the one that is there, running or suspended.
    pub launch: Option<Launch>,
    /// How far samples are apart.
    pub interval: Duration,
    /// The program is left suspended when it has not ended; else one that was there before runs on.
    pub leave_paused: bool,
    /// How long it may take, and how much to report.
    pub wait: Wait,
}

/// What a program is doing, or that it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The program has ended.
    Completed,
    /// It has ended with an error: a code that is not 0, or a signal.
    Failed,
    /// It is in a loop that it does not leave, or in one call that does not come back.
    BusyLoop,
    /// Its event loop never rests: each call comes back, and the same functions are called again and again.
    BusyEventLoop,
    /// It computes, and what it computes with changes.
    Slow,
    /// It waits for something that may still come.
    Waiting,
    /// Its threads wait for each other.
    Deadlocked,
    /// It was suspended for a reason of its user's, such as a breakpoint, before there was a verdict.
    Stopped,
    /// Unknown.
    Unknown,
}

impl Verdict {
    /// The same in a word that does not change between versions.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::BusyLoop => "busy_loop",
            Self::BusyEventLoop => "busy_event_loop",
            Self::Slow => "slow",
            Self::Waiting => "waiting",
            Self::Deadlocked => "deadlocked",
            Self::Stopped => "stopped",
            Self::Unknown => "unknown",
        }
    }

    /// Of a program that has ended.
    fn of_end(end: &End) -> Self {
        match end {
            End::Exited(code) if *code != 0 => Self::Failed,
            End::Killed { by_us: false, .. } | End::NotStarted(_) => Self::Failed,
            _ => Self::Completed,
        }
    }

    /// Whether the program has ended, however.
    pub fn is_end(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }

    /// Whether the program is held up, or was still computing when its time was over. One that waits for
    /// requests or for time to pass is not.
    pub fn is_hung(self) -> bool {
        matches!(self, Self::BusyLoop | Self::BusyEventLoop | Self::Slow | Self::Deadlocked | Self::Unknown)
    }
}

/// What was found.
#[derive(Debug)]
pub struct Diagnosis {
    /// The verdict.
    pub verdict: Verdict,
    /// Summary in a sentence.
    pub message: String,
    /// The evidence, in sentences.
    pub evidence: Vec<String>,
    /// Where it hangs: the frame of the deciding loop, which can be a caller of the innermost frame.
    pub hung_at: Option<SampledFrame>,
    /// The lines around it.
    pub source: Vec<(u32, String)>,
    /// The user's frames of the responsible thread, innermost first; all its frames if none is the user's.
    pub stack: Vec<SampledFrame>,
    /// The loop it is in.
    pub found: Option<LoopObservation>,
    /// The lines that it was on in that loop, with the number of samples.
    pub lines: Vec<(u32, u64)>,
    /// The threads of all its processes.
    pub threads: Vec<ThreadObservation>,
    /// What else it waits for.
    pub pending: Vec<Waiting>,
    /// All samples, merged.
    pub calls: Vec<CallNode>,
    /// How many there were.
    pub samples: u64,
    /// How long it computed.
    pub computed: Duration,
    /// How long it was watched.
    pub took: Duration,
    /// How it ended.
    pub end: Option<Arc<End>>,
    /// What it is doing now, and its output.
    pub settled: Settled,
}

/// A thread, and what it was doing.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadObservation {
    /// Its name.
    pub name: String,
    /// Its process.
    pub pid: Option<u32>,
    /// Of the last second, the part in which it computed or waited for a processor; nothing where that is not
    /// known.
    pub demand: Option<f64>,
    /// Where it was last, innermost first.
    pub stack: Vec<SampledFrame>,
    /// What it is blocked by.
    pub blocked: Option<Waiting>,
    /// It is one of those that wait for each other.
    pub is_deadlocked: bool,
}

/// Checks numbers of milliseconds that several vocabularies take.
pub fn check_times(
    bounds: &Bounds,
    timeout: Option<u64>,
    sample_interval: Option<u64>,
) -> Result<(), ToolError> {
    if let Some(asked) = timeout.filter(|asked| *asked > 0) {
        bounds.within("longest_wait", "timeout", asked)?;
    }
    let most = bounds.longest_wait;
    for (name, given, most) in [("timeout", timeout, most), ("sampleInterval", sample_interval, 10_000)] {
        if let Some(given) = given.filter(|given| !(1..=most).contains(given)) {
            let problem = format!("must be between 1 and {most} ms, not {given}");
            return Err(ToolError::argument(name, problem));
        }
    }
    Ok(())
}

/// Runs a program, or takes one that is there, and finds out why it does not end. A program that was started here
/// and has not ended is still there afterwards: it is suspended where that was possible.
///
/// Errors are those of starting; whatever happens later is a verdict.
pub async fn hang(
    session: &Session,
    request: HangRequest,
    context: &Context,
) -> Result<Diagnosis, ToolError> {
    let adapter = session.adapter();
    if !adapter.facts().samples {
        let instead = "pause the program, and read the stacks of its threads";
        return Err(adapter::unsupported(adapter, "diagnosing a hang", instead).into());
    }
    let began = Instant::now();
    let is_ours = request.launch.is_some();
    if !is_ours {
        execution::must_be_debugged(session).await?;
    }
    let guard = Sampling::start(session, request.interval, is_ours).await?;
    let mut until = began + request.wait.timeout;
    let mut notes = Vec::new();
    match request.launch {
        Some(launch) => {
            // A runtime that finds deadlocks ends the program with an error.
            let finds_deadlocks = adapter.facts().deadlock_error.is_some();
            let mode = if finds_deadlocks { ExceptionMode::Uncaught } else { ExceptionMode::None };
            session.set_exception_breakpoints(ExceptionBreakpoints::from(mode)).await?;
            let runs_in = lifecycle::interpreter(session, &launch).await;
            let begun = lifecycle::begin_launch(session, launch, request.wait, context).await?;
            notes = begun.notes;
            notes.extend(runs_in);
            // The program has its time from the moment at which it runs.
            until = Instant::now() + request.wait.timeout;
        }
        None => {
            execution::acknowledged(execution::go_on(session), request.wait).await?;
        }
    }
    let mut watch = HangWatch::new(session, is_ours, until);
    let watching = async {
        let came = watch.run().await?;
        watch.conclude(came, request.leave_paused || is_ours, request.wait.limits).await
    };
    let mut diagnosis = with_progress(session, context, watching).await?;
    diagnosis.evidence.extend(notes);
    guard.finish().await;
    Ok(diagnosis)
}

/// Samples are being taken. A call that is given up ends that, and lets a program run on that it has suspended.
struct Sampling {
    session: Session,
    is_done: bool,
}

impl Sampling {
    /// A program that is there already may be one that cannot be sampled, or not at the moment.
    async fn start(session: &Session, interval: Duration, is_ours: bool) -> Result<Self, ToolError> {
        let starting = tokio::time::timeout(deadlines::ACTIVITY, session.start_sampling(interval)).await;
        if let (Ok(Err(error)), true) = (starting, is_ours) {
            return Err(error.into());
        }
        Ok(Self { session: session.clone(), is_done: false })
    }

    async fn finish(mut self) {
        self.is_done = true;
        // A program that is gone or blocked has nothing to say to that.
        let _ = tokio::time::timeout(deadlines::ACTIVITY, self.session.stop_sampling()).await;
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        if !self.is_done {
            let session = self.session.clone();
            tokio::spawn(async move {
                let _ = sampler::StackSampler::new(&session).release().await;
                let _ = session.stop_sampling().await;
            });
        }
    }
}
