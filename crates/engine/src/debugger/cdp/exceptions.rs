//! Stops at exceptions.
//!
//! Reading order: `marks` (which errors a stop was about), `unhandled` (what no code of the user's catches),
//! `modules` (what V8 wrongly takes for caught), `assertions`, this file.

mod assertions;
mod marks;
mod modules;
mod unhandled;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ::cdp::debugger::{CallFrame, PauseOnExceptions, SetPauseOnExceptions};
use ::cdp::runtime::RemoteObject;

use self::marks::ErrorMarks;
use self::unhandled::{UnhandledThrows, is_assertion};
use super::binding::ProgramBinding;
use super::blackbox::Blackbox;
use super::frames;
use super::injected::BINDING;
use super::sources::Sources;
use super::stop::{ThrownValue, V8Stop};
use super::thread::JsThread;
use super::v8::V8Client;
use super::values::ValueReader;
use crate::deadlines;
use crate::debugger::Evaluate;
use crate::error::{Error, Result};
use crate::javascript::ScriptOutline;
use crate::lock::lock;
use crate::model::stop::{Exception, ExceptionMode};
use crate::model::thrown::Thrown;

/// Decides which throws of a thread are worth a stop, and describes them.
#[derive(Debug)]
pub(super) struct ExceptionPauses {
    v8: V8Client,
    sources: Sources,
    values: ValueReader,
    binding: Arc<ProgramBinding>,
    blackbox: Arc<Blackbox>,
    thread: Arc<JsThread>,
    marks: ErrorMarks,
    unhandled: UnhandledThrows,
    /// Caught exceptions are ignored.
    only_uncaught: AtomicBool,
    /// What was reported last, where that was no object.
    last_literal: Mutex<Option<String>>,
}

impl ExceptionPauses {
    pub(super) fn new(
        v8: V8Client,
        sources: Sources,
        values: ValueReader,
        binding: Arc<ProgramBinding>,
        blackbox: Arc<Blackbox>,
        thread: Arc<JsThread>,
    ) -> Self {
        let marks = ErrorMarks::new(v8.clone(), values.clone(), Arc::clone(&sources.program));
        let unhandled = UnhandledThrows::new(sources.clone());
        Self {
            v8,
            sources,
            values,
            binding,
            blackbox,
            thread,
            marks,
            unhandled,
            only_uncaught: AtomicBool::new(false),
            last_literal: Mutex::default(),
        }
    }

    /// Has V8 pause at what a mode needs to see.
    pub(super) async fn set_mode(&self, mode: ExceptionMode) -> Result<()> {
        let state = match mode {
            ExceptionMode::None => PauseOnExceptions::None,
            // Node itself catches what a worker does not, and ends it later.
            ExceptionMode::Uncaught if self.thread.is_worker() => PauseOnExceptions::All,
            ExceptionMode::Uncaught if self.runs_module().await => PauseOnExceptions::All,
            ExceptionMode::Uncaught => PauseOnExceptions::Uncaught,
            ExceptionMode::UserUnhandled | ExceptionMode::All => PauseOnExceptions::All,
        };
        self.only_uncaught.store(mode == ExceptionMode::Uncaught, Ordering::Release);
        self.v8.request(SetPauseOnExceptions { state }).await?;
        let stops_at_caught = matches!(mode, ExceptionMode::UserUnhandled | ExceptionMode::All);
        self.blackbox.set_stops_at_caught(stops_at_caught);
        self.blackbox.reset_ranges().await?;
        self.blackbox.update_blackbox(false).await
    }

    /// What the thread is stopped at.
    pub(super) async fn describe(&self, stop: &V8Stop) -> Result<Exception> {
        let thrown = stop
            .thrown
            .as_ref()
            .ok_or_else(|| Error::Unsupported("the program is not stopped at an exception".to_owned()))?;
        let is_uncaught = thrown.is_uncaught
            || self.only_uncaught.load(Ordering::Acquire)
            || self.thread.is_worker() && !self.is_caught(stop).await;
        self.values.exception(&thrown.value, is_uncaught).await
    }

    /// What matches an error with a test's failure: its mark, and the failed assertion.
    pub(super) async fn thrown(&self, stop: &V8Stop, text: usize) -> Result<Thrown> {
        let Some(thrown) = &stop.thrown else { return Ok(Thrown::default()) };
        let mark = self.marks.mark_of(&thrown.value).await;
        if !is_assertion(&thrown.value) {
            return Ok(Thrown { mark, ..Thrown::default() });
        }
        let assertion = self.assertion(stop, &thrown.value, text).await?;
        Ok(Thrown { mark, assertion: Some(assertion), ..Thrown::default() })
    }

    /// An error that is thrown on by one function after the other is reported once, where it was thrown first. What
    /// is thrown and caught inside Node or a library is none of the user's; what comes out of it, as from a call that
    /// fails, is, and so is an assertion that fails.
    pub(super) async fn should_stop_at_exception(&self, stop: &V8Stop, mode: ExceptionMode) -> Result<bool> {
        let Some(thrown) = &stop.thrown else { return Ok(true) };
        if mode == ExceptionMode::None {
            // Our hook stops without being asked.
            return Ok(false);
        }
        if mode == ExceptionMode::UserUnhandled {
            return Ok(self.is_unhandled(stop, &thrown.value).await);
        }
        if !thrown.is_uncaught && !is_assertion(&thrown.value) {
            let inner: Vec<&CallFrame> =
                stop.frames.iter().take_while(|frame| !self.sources.is_users_frame(frame)).collect();
            if inner.len() == stop.frames.len() || self.is_caught_by(&inner).await {
                return Ok(false);
            }
        }
        if mode == ExceptionMode::Uncaught && !thrown.is_uncaught && !self.thread.is_worker() {
            let leaves = self.unhandled.leaves_module(stop).await;
            if !leaves {
                self.blackbox.count(stop).await;
            }
            return Ok(leaves && !self.was_reported(thrown).await);
        }
        if mode == ExceptionMode::Uncaught && self.unhandled.is_handled_later(stop).await {
            self.blackbox.count(stop).await;
            return Ok(false);
        }
        if self.was_reported(thrown).await {
            return Ok(false);
        }
        if thrown.is_uncaught {
            return Ok(true);
        }
        let is_in_users = stop.frames.iter().any(|frame| self.sources.is_users_frame(frame));
        Ok(is_in_users && (mode == ExceptionMode::All || !self.is_caught(stop).await))
    }

    /// Whether an earlier stop was about the thrown value. From here on, one was.
    async fn was_reported(&self, thrown: &ThrownValue) -> bool {
        let Some(literal) = literal(&thrown.value) else { return self.values.is_known(&thrown.value).await };
        // A value other than an object cannot be recognized again. It is what ends the program in Node.
        let last = lock(&self.last_literal).replace(literal.clone());
        thrown.is_uncaught && last == Some(literal)
    }

    /// Whether no code of the user's catches the thrown value at a stop, and no earlier stop was about it. A pause takes
    /// much longer than a throw: a function that often throws what is caught is blackboxed.
    async fn is_unhandled(&self, stop: &V8Stop, thrown: &RemoteObject) -> bool {
        let leaves = self.unhandled.leaves_users(stop, thrown).await;
        if !leaves {
            self.blackbox.count(stop).await;
        }
        leaves && !self.marks.mark(thrown).await
    }

    /// Whether the user's code catches the thrown value at a stop.
    async fn is_caught(&self, stop: &V8Stop) -> bool {
        let users: Vec<&CallFrame> =
            stop.frames.iter().filter(|frame| self.sources.is_users_frame(frame)).collect();
        users.is_empty() || self.is_caught_by(&users).await
    }

    /// Whether one of these frames catches what is thrown in or above it, according to its source. V8 knows more
    /// about asynchronous functions.
    async fn is_caught_by(&self, frames: &[&CallFrame]) -> bool {
        for frame in frames {
            // It counts as caught in a script that cannot be read or parsed.
            if let Some(script) = self.sources.scripts.get(&frame.location.script_id)
                && script.at_outline(&frame.location, ScriptOutline::may_catch).await != Some(false)
            {
                return true;
            }
        }
        false
    }

    /// Whether a condition is true of the thrown value. It is evaluated where it was thrown, so that it sees the
    /// names that are in scope there.
    pub(super) async fn satisfies(&self, stop: &V8Stop, condition: &str) -> Result<bool> {
        let Some(thrown) = &stop.thrown else { return Ok(true) };
        let frame = frames::frame(stop, &self.sources.scripts, stop.id_of(0)).await?;
        let error = literal(&thrown.value).unwrap_or_else(|| format!("{BINDING}.error"));
        let request = Evaluate {
            // The line end closes a comment.
            expression: format!("((error)=>!!(\n{condition}\n))({error})"),
            frame: stop.id_of(0),
            deadline: deadlines::CONDITION,
            text: 10,
            pure: false,
        };
        let answer = async { self.values.evaluate(&frame, &request).await.map_err(late) };
        Ok(self.binding.with_error(&frame, &thrown.value, answer).await?.text == "true")
    }
}

/// A value other than an object, in the program's notation.
pub(super) fn literal(thrown: &RemoteObject) -> Option<String> {
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
