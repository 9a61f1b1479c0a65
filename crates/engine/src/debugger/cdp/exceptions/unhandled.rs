//! What is thrown that no code of the user's catches.
//!
//! V8 distinguishes only caught and uncaught, and a test runner catches everything. So V8 pauses at every throw, and
//! this module decides from the source of the functions on the stack whether to report it.

use std::collections::HashMap;
use std::sync::Mutex;

use ::cdp::debugger::Location;
use ::cdp::runtime::{RemoteObject, StackTrace};

use super::super::frames::place_of;
use super::super::sources::Sources;
use super::super::stop::V8Stop;
use crate::javascript::{self, ScriptOutline, ThrowOutcome};
use crate::lock::lock;

/// The part of Node's loader of ES modules that runs other modules, as a `CommonJS` script that a package compiles.
const TRANSLATORS: &str = "node:internal/modules/esm/translators";

/// Follows throws through the functions of a thread.
#[derive(Debug)]
pub(super) struct UnhandledThrows {
    sources: Sources,
    /// What became of a value that was thrown or rejected at a place.
    fates: Mutex<HashMap<(Location, bool), ThrowOutcome>>,
}

/// By the names that `node:assert`, Chai and Jest have for it. A compiler may have renamed the class, but not the error.
pub(super) fn is_assertion(thrown: &RemoteObject) -> bool {
    let head = thrown.description.as_deref().and_then(|text| text.split([':', ' ', '\n']).next());
    [thrown.class_name.as_deref(), head].into_iter().flatten().any(|name| name.ends_with("AssertionError"))
}

impl UnhandledThrows {
    pub(super) fn new(sources: Sources) -> Self {
        Self { sources, fates: Mutex::default() }
    }

    /// Follows the thrown value outwards. Above the user's first frame, libraries and Node itself are asked too: what
    /// they throw and catch is none of the user's. Below it, they catch only what they were called to see thrown: a
    /// test runner catches everything.
    pub(super) async fn leaves_users(&self, stop: &V8Stop, thrown: &RemoteObject) -> bool {
        if !self.has_waiting_user_code(stop) {
            return false;
        }
        let is_assertion = is_assertion(thrown);
        let mut path = ThrowPath { is_assertion, reached: false, is_rejection: false };
        for (location, function, is_waiting) in waiting_places(stop) {
            path.is_rejection |= is_waiting;
            let is_users = self.sources.is_users(&location.script_id);
            if !path.propagates(self, &location, function, is_users).await {
                return false;
            }
        }
        path.reached
    }

    /// Whether the promise that is rejected by what a function throws at once is handled by a function on the stack,
    /// as in `f().catch(g)`. V8 takes it for uncaught: the handler is added when the call has returned. Outside of
    /// functions, as in `main().catch(g)`, a handler only reports what nothing has caught, and so does one of a
    /// library that calls the user's code.
    pub(super) async fn is_handled_later(&self, stop: &V8Stop) -> bool {
        let mut is_rejection = stop.thrown.as_ref().is_some_and(|thrown| thrown.is_rejection);
        let mut reached = false;
        for frame in &stop.frames {
            let is_users = self.sources.is_users_frame(frame);
            if reached && !is_users {
                return false;
            }
            reached |= is_users;
            match self.fate(&frame.location, is_rejection).await {
                ThrowOutcome::Caught => return is_rejection && !self.is_top_level(&frame.location).await,
                ThrowOutcome::Rejected => is_rejection = true,
                ThrowOutcome::Passed | ThrowOutcome::Expected => {}
            }
        }
        false
    }

    /// Whether a place is in no function.
    async fn is_top_level(&self, location: &Location) -> bool {
        self.sources.at_outline(location, ScriptOutline::is_top_level).await == Some(true)
    }

    /// Whether the thrown value leaves an ES module, or one that Node's loader of ES modules runs as if it were one. V8
    /// takes it for caught then, because Node's loader catches it, and ends the program.
    pub(super) async fn leaves_module(&self, stop: &V8Stop) -> bool {
        let mut is_rejection = false;
        if stop.thrown.as_ref().is_some_and(|thrown| thrown.is_rejection)
            && let Some(frame) = stop.frames.first()
            && self.fate(&frame.location, true).await == ThrowOutcome::Caught
        {
            return false;
        }
        for (location, _, is_waiting) in waiting_places(stop) {
            is_rejection |= is_waiting;
            if let Some(is_out) = self.module_exit(&location, &mut is_rejection).await {
                return is_out;
            }
        }
        false
    }

    /// Whether what is thrown leaves a module here; none if it propagates to the caller.
    async fn module_exit(&self, location: &Location, is_rejection: &mut bool) -> Option<bool> {
        match self.fate(location, *is_rejection).await {
            ThrowOutcome::Caught | ThrowOutcome::Expected => return Some(false),
            ThrowOutcome::Rejected => *is_rejection = true,
            ThrowOutcome::Passed => {}
        }
        let script = self.sources.scripts.get(&location.script_id)?;
        if script.url == TRANSLATORS {
            return Some(true);
        }
        if !script.is_module {
            return None;
        }
        self.is_top_level(location).await.then_some(true)
    }

    /// Whether code of the user's is waiting for what has thrown. Most that is thrown while a runner starts is its own,
    /// and no text need be read for that.
    fn has_waiting_user_code(&self, stop: &V8Stop) -> bool {
        let mut callers = stop.traces().flat_map(|trace| &trace.call_frames);
        stop.frames.iter().any(|frame| self.sources.is_users_frame(frame))
            || callers.any(|frame| self.sources.is_users(&frame.script_id))
    }

    /// What the text of a function says; the same for each hit. Code without a text that can be read lets everything
    /// pass.
    async fn fate(&self, location: &Location, is_rejection: bool) -> ThrowOutcome {
        let key = (location.clone(), is_rejection);
        if let Some(known) = lock(&self.fates).get(&key) {
            return *known;
        }
        let read = move |outline: &ScriptOutline, place| outline.fate(place, is_rejection);
        let fate = self.sources.at_outline(location, read).await.unwrap_or(ThrowOutcome::Passed);
        lock(&self.fates).insert(key, fate);
        fate
    }
}

/// The places that the thrown value may come through, innermost first: those of the stack, and those that await them.
/// With each the name of its function, and whether it awaits.
fn waiting_places(stop: &V8Stop) -> impl Iterator<Item = (Location, &str, bool)> {
    let stack = stop.frames.iter().map(|frame| (frame.location.clone(), &*frame.function_name, false));
    let awaiting = stop.traces().take_while(|trace| is_awaited(trace)).flat_map(|trace| &trace.call_frames);
    stack.chain(awaiting.map(|frame| (place_of(frame), &*frame.function_name, true)))
}

/// Whether the functions of a trace await what came next. Nothing awaits a timer or another event.
fn is_awaited(trace: &StackTrace) -> bool {
    let description = trace.description.as_deref();
    description.is_some_and(|what| matches!(what, "await" | "async function") || what.starts_with("Promise."))
}

/// The path of a thrown value.
struct ThrowPath {
    /// It was thrown to report a failed expectation of the user.
    is_assertion: bool,
    /// It came to the user's code.
    reached: bool,
    /// It has become a promise's rejection.
    is_rejection: bool,
}

impl ThrowPath {
    /// Whether it leaves the function of a frame.
    async fn propagates(
        &mut self,
        throws: &UnhandledThrows,
        location: &Location,
        name: &str,
        is_users: bool,
    ) -> bool {
        if !is_users && self.reached {
            return !javascript::expects(name);
        }
        if !is_users && self.is_assertion {
            return true;
        }
        let was_reached = self.reached;
        self.reached |= is_users;
        match throws.fate(location, self.is_rejection).await {
            ThrowOutcome::Passed => true,
            ThrowOutcome::Rejected => {
                self.is_rejection = true;
                true
            }
            ThrowOutcome::Caught => false,
            // An assertion that something throws fails itself when it does not.
            ThrowOutcome::Expected => self.is_assertion && !was_reached,
        }
    }
}
