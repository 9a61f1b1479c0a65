//! How a trace ends, and its result.

use std::collections::BTreeMap;

use engine::adapter::RecordingSide;
use engine::deadlines;
use engine::model::breakpoint::{Binding, Breakpoint, BreakpointFate};
use engine::model::ids::{BreakpointId, Reference};
use engine::model::stack::StackFrame;
use engine::recording::{RecordedRows, Recorder, Row};
use engine::session::{Outcome, Session};
use tokio::time::{Instant, timeout};

use super::points::{Points, TracedPoint};
use super::{Trace, TraceStart};
use crate::ops::execution;
use crate::ops::settle::{Settled, describe};
use crate::ops::trigger::TriggerProgress;

/// Why a trace ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceEndReason {
    /// The program ended.
    ProgramEnded,
    /// It recorded as many rows as were requested.
    Full,
    /// It ran out of time.
    TimedOut,
    /// The program stopped for another reason, and is suspended.
    Stopped,
    /// The action on the program has finished.
    Triggered,
    /// It was interrupted from outside.
    Interrupted,
}

/// The result of a trace.
#[derive(Debug)]
pub struct TraceResult {
    /// What ended it.
    pub end_reason: TraceEndReason,
    /// What the program is doing now.
    pub settled: Settled,
    /// Locations, in the requested order.
    pub points: Vec<TracedPoint>,
    /// The rows, in the order of their times.
    pub rows: Vec<Row>,
    /// The stacks of rows, where they were requested.
    pub stacks: BTreeMap<RowKey, Vec<StackFrame<Reference>>>,
    /// When it began, in milliseconds since 1970.
    pub began: f64,
    /// How many rows came after the limits were reached, and are not among `rows`.
    pub dropped: u64,
    /// How many rows there could be.
    pub max_rows: u64,
    /// How many may be asked for.
    pub most_rows: u64,
    /// Additional notes.
    pub notes: Vec<String>,
    /// What recorded the rows while the program ran; none if it was stopped at each hit.
    pub recorded_by: Option<RecordingSide>,
    /// Result of the trigger.
    pub triggered: Option<TriggerProgress>,
}

/// Names a row: place, process, thread and pass.
pub type RowKey = (BreakpointId, u32, String, u64);

/// The name of a row.
pub fn key_of(row: &Row) -> RowKey {
    (row.id, row.pid, row.thread.clone(), row.hit)
}

/// How the wait for rows ended.
pub(super) enum TraceEnd {
    Full,
    Settled(Outcome),
    Triggered,
    Interrupted,
}

/// Takes the places away, ends a program that is not to continue, and reads what there is to report.
pub(super) async fn conclude(
    session: &Session,
    mut points: Points<'_>,
    recorder: &Recorder,
    request: &Trace,
    begun: TraceStart,
    end: TraceEnd,
) -> TraceResult {
    let reason = end.reason();
    let is_over = matches!(reason, TraceEndReason::ProgramEnded | TraceEndReason::Stopped);
    let ends = begun.is_ours && !is_over;
    let mut notes = begun.notes;
    if ends && reason == TraceEndReason::TimedOut && recorder.is_empty() {
        notes.extend(breakpoint_notes(session).await);
    }
    if reason == TraceEndReason::TimedOut {
        notes.extend(execution::held(session).await);
    }
    let views = points.take_away(ends).await;
    if ends {
        // A session that is gone has ended its program.
        let _ = session.end().await;
    }
    recorder.sync().await;
    let RecordedRows { mut rows, mut hits, dropped } = recorder.take();
    // What a debugger has bound elsewhere may have recorded there before that was seen.
    let refused: Vec<BreakpointId> =
        views.iter().filter(|view| is_refused(view)).map(|view| view.id).collect();
    rows.retain(|row| !refused.contains(&row.id));
    hits.retain(|id, _| !refused.contains(id));
    let outcome = match end {
        TraceEnd::Settled(outcome) if !ends => outcome,
        _ => session.wait(Instant::now()).await,
    };
    let settled = describe(session, outcome, request.wait.limits).await;
    let is_full = dropped > 0 || rows.len() as u64 >= request.max_rows;
    let points = points.report(&views, &rows, &hits, is_full);
    TraceResult {
        end_reason: reason,
        settled,
        points,
        rows,
        stacks: BTreeMap::new(),
        began: begun.at,
        dropped,
        max_rows: request.max_rows,
        most_rows: session.policy().bounds.rows,
        notes,
        triggered: None,
        recorded_by: None,
    }
}

fn is_refused(view: &Breakpoint) -> bool {
    matches!((&view.binding, &view.fate), (Binding::Refused(_), _) | (_, BreakpointFate::Refused(_)))
}

impl TraceEnd {
    fn reason(&self) -> TraceEndReason {
        match self {
            Self::Full => TraceEndReason::Full,
            Self::Triggered => TraceEndReason::Triggered,
            Self::Interrupted => TraceEndReason::Interrupted,
            Self::Settled(Outcome::Running) => TraceEndReason::TimedOut,
            Self::Settled(Outcome::Stopped(_)) => TraceEndReason::Stopped,
            Self::Settled(Outcome::Ended(_)) => TraceEndReason::ProgramEnded,
        }
    }
}

/// Where a program is that was started here and has recorded nothing, one sentence a thread. It is suspended
/// for that, and ended afterwards.
async fn breakpoint_notes(session: &Session) -> Vec<String> {
    let paused = async {
        session.pause(None).await.ok()?;
        Some(session.wait(Instant::now() + deadlines::GOODBYE).await)
    };
    // One that does not answer is asked all the same: some tell where they are while they run.
    let _ = timeout(deadlines::GOODBYE * 2, paused).await;
    let asked = timeout(deadlines::GOODBYE, execution::thread_locations(session)).await;
    asked.unwrap_or_default()
}
