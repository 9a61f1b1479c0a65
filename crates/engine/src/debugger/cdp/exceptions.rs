//! Stops at what was thrown.

use ::cdp::debugger::CallFrame;
use ::cdp::runtime::{self, RemoteObject};

use super::binding::{self, BINDING};
use super::stops::Stop;
use super::{CdpDebugger, frames, unhandled};
use crate::deadlines;
use crate::debugger::Evaluate;
use crate::error::{Error, Result};
use crate::javascript;
use crate::model::stop::{Exception, ExceptionMode};

/// What the thread is stopped at.
pub(super) async fn describe(debugger: &CdpDebugger) -> Result<Exception> {
    let stop = debugger.stop()?;
    let thrown = stop
        .thrown
        .as_ref()
        .ok_or_else(|| Error::Unsupported("the program is not stopped at an exception".to_owned()))?;
    let is_uncaught = thrown.is_uncaught || (debugger.is_worker() && !is_caught(debugger, &stop).await);
    debugger.0.values.exception(&thrown.value, is_uncaught).await
}

/// Whether the user's code catches what was thrown at a stop.
async fn is_caught(debugger: &CdpDebugger, stop: &Stop) -> bool {
    let users: Vec<&CallFrame> = stop.frames.iter().filter(|frame| is_users(debugger, frame)).collect();
    users.is_empty() || is_caught_by(debugger, &users).await
}

/// An error that is thrown on by one function after the other is told once, where it was thrown first. What
/// is thrown and caught inside Node or a library is none of the user's; what comes out of it, as from a call that
/// fails, is, and so is an assertion that fails.
pub(super) async fn is_worth_a_stop(debugger: &CdpDebugger, mode: ExceptionMode) -> Result<bool> {
    let stop = debugger.stop()?;
    let Some(thrown) = &stop.thrown else { return Ok(true) };
    if mode == ExceptionMode::UserUnhandled {
        return Ok(unhandled::is_candidate(debugger, &stop, &thrown.value).await);
    }
    if !thrown.is_uncaught && !is_assertion(&thrown.value) {
        let inner: Vec<&CallFrame> =
            stop.frames.iter().take_while(|frame| !is_users(debugger, frame)).collect();
        if inner.len() == stop.frames.len() || is_caught_by(debugger, &inner).await {
            return Ok(false);
        }
    }
    if debugger.0.values.is_known(&thrown.value).await {
        return Ok(false);
    }
    if thrown.is_uncaught {
        return Ok(true);
    }
    let is_in_users = stop.frames.iter().any(|frame| is_users(debugger, frame));
    Ok(is_in_users && (mode == ExceptionMode::All || !is_caught(debugger, &stop).await))
}

/// By the names that `node:assert`, Chai and Jest have for it.
pub(super) fn is_assertion(thrown: &RemoteObject) -> bool {
    thrown.class_name.as_deref().is_some_and(|name| name.ends_with("AssertionError"))
}

pub(super) fn is_users(debugger: &CdpDebugger, frame: &CallFrame) -> bool {
    is_of_users(debugger, &frame.location.script_id)
}

/// Whether a script is the user's.
pub(super) fn is_of_users(debugger: &CdpDebugger, script_id: &str) -> bool {
    let script = debugger.0.scripts.get(script_id);
    let path = script.as_ref().and_then(|script| script.path.as_deref());
    path.is_some_and(|path| debugger.0.shared.is_users(path))
}

/// Whether one of these frames catches what is thrown in or above it, as far as its text tells. Of an
/// asynchronous function V8 knows more.
async fn is_caught_by(debugger: &CdpDebugger, frames: &[&CallFrame]) -> bool {
    for frame in frames {
        let Some(script) = debugger.0.scripts.get(&frame.location.script_id) else { continue };
        let Some(text) = frames::text(debugger, &script).await else { return true };
        let (line, column) = frames::position(&frame.location);
        let look = move || javascript::is_caught(&text, line, column);
        if tokio::task::spawn_blocking(look).await.unwrap_or(true) {
            return true;
        }
    }
    false
}

/// Whether a condition is true of what was thrown. It is evaluated where it was thrown, so that it sees the
/// names that are in scope there.
pub(super) async fn meets(debugger: &CdpDebugger, condition: &str) -> Result<bool> {
    let stop = debugger.stop()?;
    let Some(thrown) = &stop.thrown else { return Ok(true) };
    let frame = frames::frame(debugger, stop.id_of(0)).await?;
    binding::bind_frame(debugger, &frame).await?;
    lend(debugger, &thrown.value, true).await?;
    let error = literal(&thrown.value).unwrap_or_else(|| format!("{BINDING}.error"));
    let request = Evaluate {
        // The line end closes a comment.
        expression: format!("((error)=>!!(\n{condition}\n))({error})"),
        frame: stop.id_of(0),
        deadline: deadlines::CONDITION,
        text: 10,
        pure: false,
    };
    let answer = debugger.0.values.evaluate(&frame, &request).await;
    let given_back = lend(debugger, &thrown.value, false).await;
    let is_met = answer.map_err(late)?.text == "true";
    given_back.map(|()| is_met)
}

/// Puts an object where an expression can reach it, and takes it away again. A request that calls a function
/// with it would do without, but has no time limit.
pub(super) async fn lend(debugger: &CdpDebugger, thrown: &RemoteObject, is_lent: bool) -> Result<()> {
    let Some(object_id) = thrown.object_id.clone() else { return Ok(()) };
    // The name of our binding is the only one that no program has another use for.
    let does = if is_lent { format!("{BINDING}.error=this") } else { format!("delete {BINDING}.error") };
    let call = runtime::CallFunctionOn {
        function_declaration: format!("function(){{'use strict';{does}}}"),
        object_id: Some(object_id),
        return_by_value: true,
        silent: true,
        ..Default::default()
    };
    debugger.request(call).await.map(|_| ())
}

/// A value that is no object, as the program would write it.
fn literal(thrown: &RemoteObject) -> Option<String> {
    if thrown.object_id.is_some() {
        return None;
    }
    if thrown.subtype.as_deref() == Some("null") {
        return Some("null".to_owned());
    }
    let written = thrown.unserializable_value.clone();
    let written = written.or_else(|| thrown.value.as_ref().map(ToString::to_string));
    Some(written.unwrap_or_else(|| "undefined".to_owned()))
}

/// A condition that took too long, in the words for that.
fn late(error: Error) -> Error {
    match error {
        Error::Deadline { after, .. } => Error::Deadline { what: "the condition".to_owned(), after },
        other => other,
    }
}
