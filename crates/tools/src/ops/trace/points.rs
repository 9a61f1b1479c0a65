//! The places of a trace: setting them, taking them away, and notes on them.

use std::collections::BTreeMap;

use engine::deadlines;
use engine::model::breakpoint::{Binding, Breakpoint, Pending, Rule};
use engine::model::ids::BreakpointId;
use engine::recording::{Record, Recorder, Row};
use engine::session::Session;
use engine::session::UntilNextStop;
use tokio::time::Instant;

use super::{RecordMethod, Trace, is_only_at};
use crate::ToolError;
use crate::ops::run_until::{moved_to_column, moved_to_line};
use crate::ops::unreached::{is_on_unknown_function, not_stopped_at};

/// Notes on a place.
#[derive(Clone, Debug)]
pub struct TracedPoint {
    /// It, as it was at the end.
    pub breakpoint: Breakpoint,
    /// What was recorded there.
    pub expressions: Vec<String>,
    /// The text of its line.
    pub text: Option<String>,
    /// How often it was passed with its condition holding.
    pub hits: u64,
    /// How many of the rows are of it.
    pub rows: u64,
    /// Notes on it.
    pub notes: Vec<String>,
}

/// The places of a trace that is under way. They go with it.
pub(super) struct Points<'a> {
    session: &'a Session,
    set: Vec<(Breakpoint, Vec<String>, Option<String>)>,
    own: UntilNextStop,
}

impl<'a> Points<'a> {
    /// Checks every expression and sets every place, before anything runs. A program that runs already and does not
    /// answer is not waited for after `until`: the places hold when it does.
    pub(super) async fn set(
        session: &'a Session,
        request: &Trace,
        recorder: &Recorder,
        until: Instant,
    ) -> Result<Self, ToolError> {
        let mut points = Self { session, set: Vec::new(), own: UntilNextStop::default() };
        for point in &request.points {
            let record = Record {
                expressions: point.expressions.clone(),
                sample_every: request.sample_every,
                only_when_changed: request.only_when_changed,
                max_rows: request.max_rows,
                cells: request.cells,
                recorder: recorder.sink(),
            };
            let mut wanted = point.wanted.clone();
            let stops = request.way(session) == RecordMethod::Stop;
            // What may not be recorded in the program is checked without that.
            let record = (!session.policy().safety.read_only).then_some(record);
            wanted.rule = Rule { record, ..wanted.rule };
            let mut placed = session.place(wanted).await?;
            if stops {
                placed.request.rule.record = None;
            }
            let within = until.saturating_duration_since(Instant::now()).min(deadlines::REQUEST);
            let breakpoint = session.add_breakpoint_within(placed.request, placed.planned, within).await?;
            points.own.breakpoints.push(breakpoint.id);
            points.set.push((breakpoint, point.expressions.clone(), placed.note));
        }
        if let Some(exceptions) = request.exceptions.clone() {
            points.own.exceptions = Some(session.set_exception_breakpoints(exceptions).await?);
        }
        Ok(points)
    }

    /// What is recorded at each place.
    pub(super) fn expressions(&self) -> BTreeMap<BreakpointId, Vec<String>> {
        self.set.iter().map(|(breakpoint, expressions, _)| (breakpoint.id, expressions.clone())).collect()
    }

    /// Removes them, and resumes a program that is suspended at one of them. Returns their final state. A program
    /// that is ended next is not awaited.
    pub(super) async fn take_away(&mut self, ends: bool) -> Vec<Breakpoint> {
        let own = self.own.clone();
        let views = self.session.breakpoints().await.unwrap_or_default();
        let views = views.into_iter().filter(|view| own.breakpoints.contains(&view.id)).collect();
        if ends {
            let _ = tokio::time::timeout(deadlines::GOODBYE, self.session.remove_now(own)).await;
        } else {
            let session = self.session.clone();
            let leaving = tokio::spawn(async move { leave(&session, own).await });
            // With a debugger that does not answer, they go when it does.
            let _ = tokio::time::timeout(deadlines::ACKNOWLEDGE, leaving).await;
        }
        // Not before, so that a call that is given up meanwhile leaves the rest to `drop`.
        self.own = UntilNextStop::default();
        views
    }

    /// The results, with what was recorded. Hits that have no row may have come when the rows were full.
    pub(super) fn report(
        mut self,
        views: &[Breakpoint],
        rows: &[Row],
        hits: &BTreeMap<BreakpointId, u64>,
        is_full: bool,
    ) -> Vec<TracedPoint> {
        let session = self.session;
        let set = std::mem::take(&mut self.set);
        set.into_iter()
            .map(|(first, expressions, note)| {
                let breakpoint = views.iter().find(|view| view.id == first.id).cloned().unwrap_or(first);
                let note = note.filter(|_| !is_on_unknown_function(&breakpoint));
                // Not before: the debugger may bind it on another line or column than was planned.
                let moved = [moved_to_line(&breakpoint, "recording"), moved_to_column(&breakpoint), note];
                let mut notes: Vec<String> = moved.into_iter().flatten().collect();
                let rows = rows.iter().filter(|row| row.id == breakpoint.id).count() as u64;
                let hits = hits.get(&breakpoint.id).copied().unwrap_or_default();
                // A breakpoint whose condition failed was reached, and the failure is reported.
                if hits == 0 && breakpoint.failures.is_none() {
                    notes.push(not_recorded_at(&breakpoint));
                } else if hits > 0 && rows == 0 && !is_full && breakpoint.rule.hit_condition.is_none() {
                    notes.push("it was reached, but the evaluation there did not return".to_owned());
                }
                TracedPoint {
                    text: text_of(session, &breakpoint),
                    breakpoint,
                    expressions,
                    hits,
                    rows,
                    notes,
                }
            })
            .collect()
    }
}

impl Drop for Points<'_> {
    fn drop(&mut self) {
        let own = std::mem::take(&mut self.own);
        if own != UntilNextStop::default() {
            let session = self.session.clone();
            tokio::spawn(async move { leave(&session, own).await });
        }
    }
}

/// Removes breakpoints from a program that keeps running.
async fn leave(session: &Session, own: UntilNextStop) {
    let ids = own.breakpoints.clone();
    session.remove_now(own).await;
    // Several threads may have come to their stops at the same time.
    while let Some(stop) = session.execution().stop()
        && is_only_at(stop, |id| ids.contains(id))
        && session.resume().await.is_ok()
    {}
}

/// A sentence about a place where nothing was recorded.
fn not_recorded_at(breakpoint: &Breakpoint) -> String {
    let not = not_stopped_at(breakpoint);
    match &breakpoint.binding {
        Binding::Refused(reason) | Binding::Pending(Pending::NotLoaded(reason)) => format!("{not}: {reason}"),
        _ => not,
    }
}

fn text_of(session: &Session, breakpoint: &Breakpoint) -> Option<String> {
    let lines = session.read_lines(breakpoint.path()?).ok()?;
    let line = usize::try_from(breakpoint.line()?).ok()?.checked_sub(1)?;
    lines.get(line).map(|text| text.trim().to_owned())
}
