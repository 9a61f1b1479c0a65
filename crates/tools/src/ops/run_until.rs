//! One question, one answer: run until something, and tell what is asked there.

use engine::error::Error;
use engine::model::breakpoint::{Breakpoint, Place};
use engine::model::ids::{BreakpointId, Reference};
use engine::model::launch::Launch;
use engine::model::stop::ExceptionMode;
use engine::model::variable::Value;
use engine::session::Session;
use engine::session::placing::Wanted;
use engine::session::state::Execution;

use super::settle::{Settled, Wait};
use super::{execution, inspect, lifecycle};
use crate::{Context, ToolError};

/// What to run, how far, and what to tell there.
#[derive(Debug)]
pub struct RunUntil {
    /// The program to start; none to go on with the one that is there.
    pub launch: Option<Launch>,
    /// Where to stop; any of them.
    pub places: Vec<Wanted>,
    /// The exceptions to stop at.
    pub exceptions: ExceptionMode,
    /// What to evaluate there.
    pub expressions: Vec<String>,
    /// How long, and how much to tell.
    pub wait: Wait,
}

/// What came of it.
#[derive(Debug)]
pub struct Ran {
    /// What the program is doing now.
    pub settled: Settled,
    /// The expressions and what came of each.
    pub values: Vec<(String, Result<Value<Reference>, ToolError>)>,
    /// What is to be known of the places.
    pub notes: Vec<String>,
}

/// Runs a program until one of the places, an exception, or its end, and evaluates there. The places are
/// forgotten afterwards.
pub async fn run_until(session: &Session, request: RunUntil, context: &Context) -> Result<Ran, ToolError> {
    let mut own = Temporary { session, ids: Vec::new(), exceptions: None };
    let mut notes = Vec::new();
    for wanted in request.places {
        let (breakpoint, note) = session.set_breakpoint(wanted).await?;
        own.ids.push(breakpoint.id);
        if let (Some(asked), Some(line)) = (breakpoint.requested_line(), breakpoint.line())
            && asked != line
        {
            notes.push(format!("line {asked} holds no code; stopping on line {line}"));
        }
        notes.extend(note);
    }
    own.exceptions = Some(session.set_exception_mode(request.exceptions).await?);
    let settled = match request.launch {
        Some(launch) => lifecycle::launch(session, launch, request.wait, context).await?,
        None => execution::resume(session, request.wait, context).await?,
    };
    if let Settled::Ended { .. } = &settled {
        notes.extend(not_reached(session, &own.ids).await);
    }
    own.remove().await;
    let mut values = Vec::new();
    if let Settled::Stopped(_) = &settled {
        for expression in request.expressions {
            let value =
                inspect::evaluate(session, &expression, None, None, request.wait.limits.value * 5).await;
            values.push((expression, value));
        }
    }
    Ok(Ran { settled, values, notes })
}

/// A sentence for each breakpoint that did not stop the program.
async fn not_reached(session: &Session, ids: &[BreakpointId]) -> Vec<String> {
    let all = session.breakpoints().await.unwrap_or_default();
    let passed_by = all.into_iter().filter(|breakpoint| ids.contains(&breakpoint.id) && breakpoint.hits == 0);
    passed_by.map(|breakpoint| describe_passed_by(&breakpoint)).collect()
}

fn describe_passed_by(breakpoint: &Breakpoint) -> String {
    let what = match &breakpoint.place {
        Place::Line { path, line, .. } => {
            format!("line {} of {} was not reached", breakpoint.line().unwrap_or(*line), path.display())
        }
        Place::Function { name } => format!("no function `{name}` was entered"),
    };
    let what = match &breakpoint.rule.condition {
        Some(condition) => format!("{what} with `{condition}` true"),
        None => what,
    };
    match &breakpoint.rule.hit_condition {
        Some(hit) => format!("{what} often enough for `{hit}`"),
        None => what,
    }
}

/// Breakpoints that are removed when the call is over, also when it is given up.
struct Temporary<'a> {
    session: &'a Session,
    ids: Vec<BreakpointId>,
    exceptions: Option<ExceptionMode>,
}

impl Temporary<'_> {
    async fn remove(&mut self) {
        let (ids, exceptions) = (std::mem::take(&mut self.ids), self.exceptions.take());
        forget(self.session, ids, exceptions).await;
    }
}

async fn forget(session: &Session, ids: Vec<BreakpointId>, exceptions: Option<ExceptionMode>) {
    // A session that was closed meanwhile has nothing to forget.
    let _ = session.remove_breakpoints(move |id, _| ids.contains(&id)).await;
    if let Some(mode) = exceptions {
        let _ = session.set_exception_mode(mode).await;
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.ids.is_empty() && self.exceptions.is_none() {
            return;
        }
        let session = self.session.clone();
        let (ids, exceptions) = (std::mem::take(&mut self.ids), self.exceptions.take());
        tokio::spawn(async move { forget(&session, ids, exceptions).await });
    }
}

/// The session to run in: the one that is named, or the only one with a program to go on with.
pub fn must_be_live(session: &Session) -> Result<(), ToolError> {
    match session.execution() {
        Execution::Created | Execution::Ended(_) => {
            Err(Error::NotLive { state: session.execution().as_str() }.into())
        }
        _ => Ok(()),
    }
}
