//! Letting a program run, step and pause.

use engine::bounds::Bounds;
use engine::deadlines;
use engine::debugger::{Reverse, Step};
use engine::error::Error;
use engine::model::ids::ThreadId;
use engine::model::limits::Limits;
use engine::model::stop::End;
use engine::process;
use engine::session::state::Execution;
use engine::session::{Outcome, Session};
use tokio::time::{Instant, sleep, timeout};

use super::settle::{Settled, Wait, describe, settle, with_progress};
use crate::{Context, ToolError};

/// Resumes a suspended program. For a running program it only waits; a stop or end since the last wait is reported,
/// because it has not been reported yet.
pub async fn resume(session: &Session, wait: Wait, context: &Context) -> Result<Settled, ToolError> {
    let wait = acknowledged(go_on(session), wait).await?;
    Ok(settle(session, wait, context).await)
}

/// Waits until the debugger acknowledges the request, and returns the rest of the wait. A request that is not
/// acknowledged in time may still take effect: waiting shows its result.
pub(super) async fn acknowledged<E: Into<ToolError>>(
    asked: impl Future<Output = Result<(), E>>,
    wait: Wait,
) -> Result<Wait, ToolError> {
    let began = Instant::now();
    if let Ok(acknowledged) = timeout(wait.timeout.max(deadlines::ACKNOWLEDGE), asked).await {
        acknowledged.map_err(Into::into)?;
    }
    Ok(wait.since(began))
}

/// Resumes a suspended program, unless there is an unreported stop or end.
pub(super) async fn go_on(session: &Session) -> Result<(), ToolError> {
    // A running program needs no resume: it may stop before the request arrives, and that stop would be lost.
    let is_running = matches!(session.execution(), Execution::Running);
    if !is_running && !session.has_unreported_stop() && !session.has_unreported_end() {
        match session.resume().await {
            // One that was running when it was asked may have ended since.
            Ok(()) | Err(Error::NotPaused { state: "running" }) => {}
            Err(error) => return Err(start_failure(session).unwrap_or(error).into()),
        }
    }
    Ok(())
}

/// A session with a program that can be resumed.
pub fn must_be_live(session: &Session) -> Result<(), ToolError> {
    let execution = session.execution();
    if execution.is_live() { Ok(()) } else { Err(Error::NotLive { state: execution.as_str() }.into()) }
}

/// A program whose debugger is not gone.
pub(super) async fn must_be_debugged(session: &Session) -> Result<(), ToolError> {
    if session.is_undebugged().await? { Err(Error::Undebugged.into()) } else { Ok(()) }
}

/// Why there is no program, if its start failed. The failure may be unreported, if the start outlasted its call.
fn start_failure(session: &Session) -> Option<Error> {
    match session.execution() {
        Execution::Ended(end) => match &*end {
            End::NotStarted(_) => {
                Some(Error::StartFailed { problem: format!("the program {end}"), output: String::new() })
            }
            _ => None,
        },
        _ => None,
    }
}

/// Steps.
pub async fn step(
    session: &Session,
    thread: Option<ThreadId>,
    step: Step,
    wait: Wait,
    context: &Context,
) -> Result<Settled, ToolError> {
    let wait = acknowledged(session.step(thread, step), wait).await?;
    let until = Instant::now() + wait.timeout;
    let (outcome, left) = tokio::select! {
        biased;
        outcome = with_progress(session, context, session.wait(until)) => (outcome, None),
        left = left_by_step(session) => (Outcome::Running, Some(left)),
    };
    let notes = left.map(|function| {
        format!(
            "the step left your code: `{function}` returned to a library, which keeps running; to stop \
             later, set a breakpoint and continue"
        )
    });
    Ok(describe(session, outcome, wait.limits).await.with_notes(notes.into_iter().collect()))
}

/// Runs backwards.
pub async fn reverse(
    session: &Session,
    how: Reverse,
    wait: Wait,
    context: &Context,
) -> Result<Settled, ToolError> {
    let wait = acknowledged(session.reverse(how), wait).await?;
    Ok(settle(session, wait, context).await)
}

/// The function that a step has left for the code of a library. Comes back only with one.
async fn left_by_step(session: &Session) -> String {
    loop {
        sleep(deadlines::LEFT).await;
        match session.left_by_step().await {
            Ok(Some(function)) => return function,
            Ok(None) => {}
            // A program that does not answer is only waited for.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Suspends a running program. A program that waits in native code may not stop; then the locations of its threads
/// are reported.
pub async fn pause(
    session: &Session,
    thread: Option<ThreadId>,
    wait: Wait,
    context: &Context,
) -> Result<Settled, ToolError> {
    let wait = acknowledged(session.pause(thread), wait).await?;
    let settled = settle(session, wait, context).await;
    if !matches!(settled, Settled::Running { .. }) {
        return Ok(settled);
    }
    if let Some(held) = held(session).await {
        return Ok(settled.with_notes(vec![format!("the pause is pending: {held}")]));
    }
    let asked = "the pause is pending: it takes effect when the program leaves native code; wait with a \
                 longer timeout";
    let mut notes = vec![asked.to_owned()];
    // A debugger that does not respond has no stacks.
    notes.extend(timeout(deadlines::ACKNOWLEDGE, thread_locations(session)).await.unwrap_or_default());
    Ok(settled.with_notes(notes))
}

/// What a signal such as SIGSTOP holds of a program, in a sentence.
pub(super) async fn held(session: &Session) -> Option<String> {
    let debuggees = session.debuggees().await.ok()?;
    let pid =
        debuggees.into_iter().filter_map(|debuggee| debuggee.pid).find(|pid| process::is_stopped(*pid))?;
    Some(held_by_signal(pid))
}

/// The same for a process that is held.
pub(super) fn held_by_signal(pid: u32) -> String {
    format!(
        "process {pid} is stopped by a signal such as SIGSTOP, and does nothing until it receives SIGCONT"
    )
}

/// How long a pause waits by default.
pub fn pause_wait(bounds: &Bounds, timeout_ms: Option<u64>, limits: Limits) -> Result<Wait, Error> {
    Wait::or(bounds, timeout_ms, bounds.default_pause(), limits)
}

/// Where the threads of a running program are, one sentence each.
pub async fn thread_locations(session: &Session) -> Vec<String> {
    let Ok(threads) = session.threads().await else { return Vec::new() };
    let mut notes = Vec::new();
    for thread in threads.iter().take(10) {
        let Ok(stack) = session.stack_trace(Some(thread.id), 0, 20).await else { continue };
        let frame = stack.frames.iter().find(|frame| !frame.is_internal()).or(stack.frames.first());
        if let Some(frame) = frame
            && let Some(location) = &frame.location
        {
            let place = format!("{}:{}", location.source.name, location.line);
            notes.push(format!("thread {} `{}` is in {} at {place}", thread.id, thread.name, frame.name));
        }
    }
    notes
}

#[cfg(test)]
mod tests;
