//! One call: run until something, and report the values there.

use std::time::Duration;

use engine::bounds::Bounds;
use engine::error::Error;
use engine::model::breakpoint::{Breakpoint, Rule};
use engine::model::ids::{BreakpointId, Reference};
use engine::model::launch::Launch;
use engine::model::limits::Limits;
use engine::model::stop::{ExceptionBreakpoints, ExceptionMode, StopReason};
use engine::model::variable::Value;
use engine::session::Session;
use engine::session::UntilNextStop;
use engine::session::placing::PlaceRequest;
use engine::snapshot::Caller;
use tokio::time::Instant;

use super::caught;
use super::functions::similar_functions;
use super::lifecycle::BegunLaunch;
use super::settle::{Settled, Wait, settle_or};
use super::trigger::{PendingTrigger, Trigger, TriggerProgress};
use super::unreached::{is_on_unknown_function, never_bound, not_stopped_at};
use super::{execution, inspect, lifecycle};
use crate::{Context, Next, ToolError};

/// What to run, how far, and what to report there.
#[derive(Debug)]
pub struct RunUntil {
    /// The program to start; none to resume the one that is there.
    pub launch: Option<Launch>,
    /// Where to stop; any of them.
    pub places: Vec<PlaceRequest>,
    /// The exceptions to stop at. None for those that the session stops at. Where that is the default and a trigger is
    /// all there is to see, also for those that no code of the user's catches, from the trigger on: a framework catches
    /// what a handler throws.
    pub exceptions: Option<ExceptionBreakpoints>,
    /// What to evaluate there.
    pub expressions: Vec<String>,
    /// Of which frames the variables are read.
    pub frames: Frames,
    /// What is done when the program listens.
    pub trigger: Option<Trigger>,
    /// How long, and how much to report.
    pub wait: Wait,
}

/// Of which frames the variables are read at a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// The innermost of the user's.
    Top,
    /// All reported user frames.
    All,
}

/// The size of a final report: nothing can be read from a program that is ended with it.
pub fn whole(bounds: &Bounds) -> Limits {
    let usual = bounds.report();
    Limits { frames: usual.frames.max(10), ..usual }
}

/// The result.
#[derive(Debug)]
pub struct RunUntilResult {
    /// What the program is doing now.
    pub settled: Settled,
    /// The frames that called the innermost one, when they were requested.
    pub callers: Vec<Caller>,
    /// The expressions and their results.
    pub values: Vec<(String, Result<Value<Reference>, ToolError>)>,
    /// The places at which it did not stop before it ended, a sentence each.
    pub missed: Vec<String>,
    /// Notes on the places.
    pub notes: Vec<String>,
    /// Result of the trigger.
    pub triggered: Option<TriggerProgress>,
    /// It was still running when the time was over.
    pub timed_out: bool,
}

/// Runs a program until one of the locations, an exception, or its end, and evaluates there. The breakpoints are
/// removed afterwards; at a timeout, at the next stop.
pub async fn run_until(
    session: &Session,
    request: RunUntil,
    context: &Context,
) -> Result<RunUntilResult, ToolError> {
    session.remove_before_next_stop().await;
    let mut guarded = Guarded { session, own: UntilNextStop::default() };
    let (mut notes, mut planned, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    let mut of_places = Vec::new();
    let (of_session, _) = session.exception_breakpoints().await?;
    let is_default = request.exceptions.is_none() && of_session == ExceptionBreakpoints::default();
    let at_trigger = is_default && request.places.is_empty() && request.trigger.is_some();
    let at_trigger = at_trigger.then_some(ExceptionMode::UserUnhandled);
    if let Some(exceptions) = &request.exceptions {
        check_condition(session, exceptions).await?;
    }
    for wanted in request.places {
        let (breakpoint, note) = session.set_breakpoint(wanted).await?;
        guarded.own.breakpoints.push(breakpoint.id);
        let moved = moved_to_line(&breakpoint, "stopping");
        planned.extend(moved.is_some().then_some(breakpoint.id));
        notes.extend(moved);
        of_places.extend(note.map(|note| (breakpoint.id, note)));
    }
    // A trigger changes it later.
    guarded.own.exceptions = at_trigger.map(|_| of_session);
    if let Some(exceptions) = request.exceptions {
        guarded.own.exceptions = Some(session.set_exception_breakpoints(exceptions).await?);
    }
    let mut armed =
        request.trigger.map(|trigger| trigger.arm(session, request.wait.limits.output, at_trigger));
    let mut settled = go(session, request.launch, request.wait, armed.as_mut(), context).await?;
    let triggered = match armed {
        Some(armed) => Some(armed.finish(matches!(settled, Settled::Ended { .. })).await),
        None => None,
    };
    if let Some(TriggerProgress::Answered(response)) = &triggered {
        caught::by_server(session, &mut settled, response.status).await;
    }
    if let Settled::Ended { unreached, .. } = &mut settled {
        unreached.retain(|unreached| !guarded.own.breakpoints.contains(&unreached.id));
        missed = not_reached(session, &guarded.own.breakpoints).await;
    }
    // Some are moved by the debugger alone, when the program is there.
    let own = session.breakpoints().await.unwrap_or_default();
    if matches!(settled, Settled::Ended { .. }) {
        let is_unknown = |id| own.iter().any(|own| own.id == id && is_on_unknown_function(own));
        of_places.retain(|(id, _)| !is_unknown(*id));
    }
    notes.extend(of_places.into_iter().map(|(_, note)| note));
    let own = own.iter().filter(|own| guarded.own.breakpoints.contains(&own.id));
    notes.extend(own.clone().filter_map(moved_to_column));
    let own: Vec<&Breakpoint> = own.filter(|own| !planned.contains(&own.id)).collect();
    notes.extend(own.iter().filter_map(|own| moved_to_line(own, "stopping")));
    notes.extend(own.iter().filter_map(|own| own.warning()).map(str::to_owned));
    let is_elsewhere = match &settled {
        Settled::Stopped(snapshot) => snapshot.stop.reason == StopReason::Exception,
        Settled::Running { .. } => true,
        Settled::Ended { .. } => false,
    };
    if is_elsewhere {
        notes.extend(own.iter().filter_map(|own| never_bound(own)));
    }
    guarded.settle(&settled).await;
    let (mut callers, mut values) = (Vec::new(), Vec::new());
    if let Settled::Stopped(snapshot) = &settled {
        let limits = request.wait.limits;
        // Before the expressions, which may change them.
        if request.frames == Frames::All {
            callers = snapshot.callers(session, limits).await;
        }
        values = evaluate_all(session, request.expressions, limits.value.saturating_mul(5)).await;
    }
    let has_triggered = triggered.as_ref().is_some_and(TriggerProgress::is_final);
    let timed_out = matches!(settled, Settled::Running { .. }) && !has_triggered;
    Ok(RunUntilResult { settled, callers, values, missed, notes, triggered, timed_out })
}

/// Starts the program, or resumes the one that is there, and waits for its next stop. What a trigger led to
/// ends the wait as well.
async fn go(
    session: &Session,
    launch: Option<Launch>,
    wait: Wait,
    armed: Option<&mut PendingTrigger>,
    context: &Context,
) -> Result<Settled, ToolError> {
    let began = Instant::now();
    let begun = if let Some(launch) = launch {
        lifecycle::begin_launch(session, launch, wait, context).await?
    } else {
        execution::acknowledged(execution::go_on(session), wait).await?;
        BegunLaunch { late: None, notes: Vec::new(), from: began }
    };
    let over = async {
        match armed {
            Some(armed) => armed.over().await,
            None => std::future::pending().await,
        }
    };
    let settled = match begun.late {
        Some(still) => still,
        None => settle_or(session, wait.since(begun.from), context, over).await,
    };
    Ok(settled.with_notes(begun.notes))
}

/// A sentence for each breakpoint that did not stop the program.
async fn not_reached(session: &Session, ids: &[BreakpointId]) -> Vec<String> {
    let all = session.breakpoints().await.unwrap_or_default();
    let is_passed_by = |breakpoint: &&Breakpoint| ids.contains(&breakpoint.id) && breakpoint.hits == 0;
    let passed_by: Vec<&Breakpoint> = all.iter().filter(is_passed_by).collect();
    let similar = similar_functions(session, passed_by.iter().filter_map(|it| it.at_entry_of())).await;
    let sentence = |breakpoint: &&Breakpoint| {
        let similar = breakpoint.at_entry_of().and_then(|name| similar.get(name));
        format!("{}{}", not_stopped_at(breakpoint), similar.map_or("", String::as_str))
    };
    passed_by.iter().map(sentence).collect()
}

/// Whether the condition on exceptions is an expression of the session's language.
pub async fn check_condition(session: &Session, wanted: &ExceptionBreakpoints) -> Result<(), ToolError> {
    let rule = Rule { condition: wanted.condition.clone(), ..Rule::default() };
    Ok(session.check_rule(&rule).await?)
}

/// Says that a breakpoint is on another line than the one requested; `doing` is what is done there.
pub(super) fn moved_to_line(breakpoint: &Breakpoint, doing: &str) -> Option<String> {
    let (asked, line) = (breakpoint.requested_line()?, breakpoint.line()?);
    (asked != line).then(|| format!("line {asked} has no code to stop at; {doing} on line {line}"))
}

/// Says that a breakpoint is at another column than the one requested.
pub fn moved_to_column(breakpoint: &Breakpoint) -> Option<String> {
    let (asked, column) = (breakpoint.requested_column()?, breakpoint.column()?);
    let columns: Vec<String> = breakpoint.columns().iter().map(ToString::to_string).collect();
    let begins = match (columns.as_slice(), breakpoint.line()) {
        ([], _) | (_, None) => String::new(),
        (columns, Some(line)) => {
            format!("; statements on line {line} start at columns {}", columns.join(", "))
        }
    };
    (asked != column).then(|| format!("moved from column {asked} to {column}{begins}"))
}

/// Evaluates each expression, within one deadline for all of them.
pub(super) async fn evaluate_all(
    session: &Session,
    expressions: Vec<String>,
    text: usize,
) -> Vec<(String, Result<Value<Reference>, ToolError>)> {
    let usual = session.policy().bounds.default_evaluate();
    let limit = usual * 2;
    let until = Instant::now() + limit;
    let mut values = Vec::new();
    for expression in expressions {
        let left = until.saturating_duration_since(Instant::now()).min(usual);
        let value = match u64::try_from(left.as_millis()) {
            Ok(left) if left > 0 => {
                inspect::evaluate(session, &expression, None, Some(left), text, false).await
            }
            _ => Err(not_evaluated(limit)),
        };
        values.push((expression, value));
    }
    values
}

fn not_evaluated(after: Duration) -> ToolError {
    let late = Error::Deadline { what: "the expressions before this one".to_owned(), after };
    ToolError::from(late).then(Next::EvaluateAlone)
}

/// State that lasts until the next stop. A cancelled call removes it.
struct Guarded<'a> {
    session: &'a Session,
    own: UntilNextStop,
}

impl Guarded<'_> {
    /// Takes it away: now, or when a program that still runs stops next.
    async fn settle(mut self, settled: &Settled) {
        if let Settled::Running { .. } = settled {
            return self.session.remove_at_next_stop(std::mem::take(&mut self.own)).await;
        }
        self.session.remove_now(self.own.clone()).await;
        // Not before, so that a call that is given up meanwhile leaves the rest to `drop`.
        self.own = UntilNextStop::default();
    }
}

impl Drop for Guarded<'_> {
    fn drop(&mut self) {
        let own = std::mem::take(&mut self.own);
        if own != UntilNextStop::default() {
            let session = self.session.clone();
            tokio::spawn(async move { session.remove_now(own).await });
        }
    }
}
