//! Recording values at each hit of a location, over any length of run.
//!
//! The program writes the rows itself if its debugger supports that ([`RecordMethod::Auto`]). The method that always
//! works is to stop at each hit, evaluate and resume ([`RecordMethod::Stop`], in `stopping.rs`). Both produce the
//! same rows.

mod cells;
mod outcome;
mod points;
mod stopping;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::adapter::{Adapter, RecordingSide};
use engine::bounds::Bounds;
use engine::deadlines;
use engine::model::ids::BreakpointId;
use engine::model::launch::Launch;
use engine::model::stop::{ExceptionBreakpoints, ExceptionMode, Stop, StopReason};
use engine::recording::{CellFormat, Recorder};
use engine::session::placing::PlaceRequest;
use engine::session::{Outcome, Session};
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::Instant;

pub use self::outcome::{RowKey, TraceEndReason, TraceResult, key_of};
use self::outcome::{TraceEnd, conclude};
use self::points::Points;
pub use self::points::TracedPoint;
use self::stopping::StopRecorder;
use super::settle::{Wait, with_progress};
use super::trigger::{PendingTrigger, Trigger};
use super::{execution, lifecycle};
use crate::{Context, ToolError};

/// What to run, and what to record there.
#[derive(Debug)]
pub struct Trace {
    /// The program to start; none to resume the one that is there, running or suspended.
    pub launch: Option<Launch>,
    /// Where to record what.
    pub points: Vec<Point>,
    /// The exceptions to stop at meanwhile; nothing to leave them unchanged. A program may survive an exception that
    /// seems uncaught.
    pub exceptions: Option<ExceptionBreakpoints>,
    /// How many rows, in all; at least 1.
    pub max_rows: u64,
    /// Of the passes at which the condition holds, the first and then every Nth. At least 1.
    pub sample_every: u64,
    /// Only rows that differ from the one before, at the same place in the same thread.
    pub only_when_changed: bool,
    /// What becomes of the program when all rows are there.
    pub when_full: WhenFull,
    /// How values are written.
    pub cells: CellFormat,
    /// How many frames of the stack to keep with each row. More than none needs stops.
    pub frames: usize,
    /// How the rows are obtained.
    pub way: RecordMethod,
    /// Stops for other reasons, such as a `debugger` statement, are passed over; else the first ends the trace.
    pub passes_others: bool,
    /// How long, and how much to report of the program.
    pub wait: Wait,
    /// From when the time counts.
    pub clock: Clock,
    /// Ends the trace as its time does, with what is there so far.
    pub interrupt: Option<Arc<Notify>>,
    /// What is done when the program listens. What comes back of it ends the trace.
    pub trigger: Option<Trigger>,
    /// Released when the program runs.
    pub admission: Option<OwnedSemaphorePermit>,
}

impl Trace {
    /// With the usual limits, in the usual way.
    pub fn new(launch: Option<Launch>, points: Vec<Point>, wait: Wait) -> Self {
        Self {
            exceptions: launch.is_some().then(|| ExceptionBreakpoints::from(ExceptionMode::None)),
            launch,
            points,
            max_rows: 200,
            sample_every: 1,
            only_when_changed: false,
            when_full: WhenFull::End,
            cells: CellFormat::Text(wait.limits.value),
            frames: 0,
            way: RecordMethod::Auto,
            passes_others: false,
            wait,
            clock: Clock::Call,
            interrupt: None,
            trigger: None,
            admission: None,
        }
    }
}

/// Where to record what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Point {
    /// The place, with its condition.
    pub wanted: PlaceRequest,
    /// Evaluated at each hit, in its frame.
    pub expressions: Vec<String>,
}

/// What becomes of a program that was started for a trace when all rows are there. One that was there before
/// is left running in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// It is ended.
    #[default]
    End,
    /// It runs on to its end, and its passes are counted.
    RunOn,
}

/// How the rows are obtained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordMethod {
    /// The program writes them itself.
    #[default]
    Auto,
    /// The program is stopped at each hit.
    Stop,
}

impl RecordMethod {
    /// As `STILLFRAME_TRACE` says: `stop` is for the case that a program does not bear what is put into it.
    pub fn from_environment() -> Self {
        if std::env::var_os("STILLFRAME_TRACE").is_some_and(|way| way == "stop") {
            Self::Stop
        } else {
            Self::Auto
        }
    }
}

/// Checks numbers that several vocabularies take, under the names that these have for them.
pub fn check_counts(
    bounds: &Bounds,
    max_hits: Option<u64>,
    sample_every: Option<u64>,
    timeout: Option<u64>,
) -> Result<(), ToolError> {
    for (name, given) in [("maxHits", max_hits), ("sampleEvery", sample_every), ("timeout", timeout)] {
        if given == Some(0) {
            return Err(ToolError::argument(name, "must be at least 1, not 0"));
        }
    }
    if let Some(asked) = max_hits {
        bounds.within("rows", "maxHits", asked)?;
    }
    if let Some(asked) = timeout {
        bounds.within("longest_wait", "timeout", asked)?;
    }
    Ok(())
}

/// From when the time of a trace counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// From the call, or from the moment at which what it starts is built.
    #[default]
    Call,
    /// From the moment that the program runs. Starting it has the same time again.
    Run,
}

/// Runs a program and records. The breakpoints are removed afterwards, also if the call is cancelled. A program that
/// was started here is ended at the timeout or, unless it is to keep running, when all rows are there.
///
/// Errors are those of setting breakpoints and starting; later problems are reported with the recorded rows.
pub async fn trace(
    session: &Session,
    mut request: Trace,
    context: &Context,
) -> Result<TraceResult, ToolError> {
    let called = Instant::now();
    if request.launch.is_none() {
        execution::must_be_debugged(session).await?;
    }
    session.remove_before_next_stop().await;
    let recorder = recorder(session, &request)?;
    let points = Points::set(session, &request, &recorder, called + request.wait.timeout).await?;
    let trigger = request.trigger.take();
    let mut armed = trigger.map(|trigger| trigger.arm(session, request.wait.limits.output, None));
    let begun = begin(session, &mut request, called, context).await?;
    let mut stopping = StopRecorder::new(session, &recorder, &points, &request);
    let end = if begun.is_late {
        TraceEnd::Settled(Outcome::Running)
    } else {
        let waiting = wait(&recorder, &mut stopping, &request, &begun, armed.as_mut());
        with_progress(session, context, waiting).await?
    };
    let recorded_by = match request.way(session) {
        RecordMethod::Auto if !stopping.has_recorded() => recorded_by(session, &request),
        RecordMethod::Auto | RecordMethod::Stop => None,
    };
    let stacks = stopping.into_stacks();
    let is_ending = matches!(end, TraceEnd::Full | TraceEnd::Settled(Outcome::Ended(_)));
    let triggered = match armed {
        Some(armed) => Some(armed.finish(is_ending).await),
        None => None,
    };
    let traced = conclude(session, points, &recorder, &request, begun, end).await;
    Ok(TraceResult { stacks, recorded_by, triggered, ..traced })
}

fn recorded_by(session: &Session, request: &Trace) -> Option<RecordingSide> {
    request.languages(session).first().and_then(|language| language.facts().records)
}

/// Collects what is recorded, with values as other tools show them.
fn recorder(session: &Session, request: &Trace) -> Result<Recorder, ToolError> {
    let limit = match request.cells {
        CellFormat::Text(limit) => limit,
        CellFormat::Json(limit) => session.policy().bounds.text(limit),
    };
    Ok(Recorder::shaping(request.max_rows, limit, move |cell| cells::shortened(cell, limit))?)
}

/// How a trace began.
struct TraceStart {
    /// The program was started for it.
    is_ours: bool,
    /// The program was still being started when the time was over. It is ended like one that ran.
    is_late: bool,
    /// In milliseconds since 1970.
    at: f64,
    until: Instant,
    notes: Vec<String>,
}

/// Starts the program, or lets the one run that is there.
async fn begin(
    session: &Session,
    request: &mut Trace,
    called: Instant,
    context: &Context,
) -> Result<TraceStart, ToolError> {
    let launch = request.launch.take();
    let at = milliseconds();
    let mut begun =
        TraceStart { is_ours: launch.is_some(), is_late: false, at, until: called, notes: Vec::new() };
    let mut from = called;
    match launch {
        Some(launch) => {
            let started = lifecycle::begin_launch(session, launch, request.wait, context).await?;
            (begun.is_late, begun.notes, from) = (started.late.is_some(), started.notes, started.from);
        }
        None => {
            execution::acknowledged(execution::go_on(session), request.wait.since(called)).await?;
        }
    }
    drop(request.admission.take());
    if request.clock == Clock::Run {
        from = Instant::now();
    }
    // Setting the places may have taken most of the time, and the program has not passed them yet.
    let least = request.wait.timeout.min(deadlines::ACKNOWLEDGE);
    begun.until = (from + request.wait.timeout).max(Instant::now() + least);
    Ok(begun)
}

/// Waits until all rows are there, the program stops for another reason or ends, or the time is up.
async fn wait(
    recorder: &Recorder,
    stopping: &mut StopRecorder<'_>,
    request: &Trace,
    begun: &TraceStart,
    armed: Option<&mut PendingTrigger>,
) -> Result<TraceEnd, ToolError> {
    let triggered = async {
        match armed {
            Some(armed) => armed.over().await,
            None => std::future::pending().await,
        }
    };
    let interrupted = async {
        match &request.interrupt {
            Some(interrupt) => interrupt.notified().await,
            None => std::future::pending().await,
        }
    };
    // A program that runs on to its end is waited for when all rows are there, too.
    let counts_on = begun.is_ours && request.when_full == WhenFull::RunOn;
    let full = async {
        if counts_on {
            std::future::pending::<()>().await;
        }
        recorder.full().await;
    };
    tokio::select! {
        biased;
        () = interrupted => Ok(TraceEnd::Interrupted),
        outcome = stopping.run(begun.until, counts_on) => Ok(match outcome? {
            // All rows may be there when the program is on its way to its end.
            Outcome::Running if !counts_on && recorder.len() >= request.max_rows => TraceEnd::Full,
            outcome => TraceEnd::Settled(outcome),
        }),
        () = full => Ok(TraceEnd::Full),
        () = triggered => Ok(TraceEnd::Triggered),
    }
}

impl Trace {
    /// The language of each place, or that of the session.
    fn languages(&self, session: &Session) -> Vec<&'static dyn Adapter> {
        let language = |point: &Point| match &point.wanted.file {
            Some(file) => session.language_of(file),
            None => session.adapter(),
        };
        let languages: Vec<_> = self.points.iter().map(language).collect();
        if languages.is_empty() { vec![session.adapter()] } else { languages }
    }

    /// Where nothing may be changed, the program does not evaluate by itself; nor does one in a language whose
    /// debugger cannot record.
    fn way(&self, session: &Session) -> RecordMethod {
        let languages = self.languages(session);
        let sides: Vec<_> = languages.iter().map(|language| language.facts().records).collect();
        let is_mixed =
            languages.windows(2).any(|two| matches!(two, [one, other] if one.name() != other.name()));
        // What a debugger has written is read as its language shows values.
        let records = sides.iter().all(Option::is_some)
            && !(is_mixed && sides.contains(&Some(RecordingSide::Debugger)));
        let stops = self.frames > 0 || session.policy().safety.read_only || !records;
        if stops { RecordMethod::Stop } else { self.way }
    }
}

/// Milliseconds since 1970, with fraction.
fn milliseconds() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map(|now| now.as_secs_f64() * 1000.0).unwrap_or_default()
}

/// Whether a stop is at places of a trace and for no other reason.
fn is_only_at(stop: &Stop, ids: impl Fn(&BreakpointId) -> bool) -> bool {
    stop.reason == StopReason::Breakpoint && !stop.breakpoints.is_empty() && stop.breakpoints.iter().all(ids)
}
