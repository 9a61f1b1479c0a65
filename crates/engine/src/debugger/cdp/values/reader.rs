//! Reading values: what is held at a stop, and what may be run for it.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::super::scripts::Scripts;
use super::super::v8::V8Client;
use super::frame::Frame;
use super::references::{ValuePath, ValueReferences};
use crate::deadlines;
use crate::debugger::uninterrupted;
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::ids::RawId;
use crate::model::variable::Value;

/// The group of the objects that are held until the program runs.
pub(super) const STOP: &str = "stillframe-stop";

/// The helper of each context. `None` where there can be none.
pub(super) type Helpers = Mutex<HashMap<i32, Option<Arc<str>>>>;

/// What is known of the variables of the frame that was read last.
#[derive(Debug, Default)]
pub(super) struct KnownVariables {
    /// V8's number of the frame.
    frame: String,
    /// The frame's own, by their names, each with the epoch at which it was read.
    variables: HashMap<String, (u64, KnownValue)>,
    /// The object with variables that were read again, with the epoch and their scopes.
    pub(super) again: Option<(u64, Vec<usize>, String)>,
}

impl KnownVariables {
    /// What is known of a frame.
    pub(super) fn of(&mut self, frame: &Frame) -> &mut Self {
        if self.frame != frame.call.call_frame_id {
            *self = Self { frame: frame.call.call_frame_id.clone(), ..Self::default() };
        }
        self
    }
}

#[derive(Clone, Debug)]
pub(super) enum KnownValue {
    /// All of a simple value, with the limit of texts that it was read with.
    Simple(Value<RawId>, usize),
    Held(ValuePath),
}

/// Reads the values of one thread. Clones share it.
#[derive(Clone, Debug)]
pub(in super::super) struct ValueReader(pub(super) Arc<ReaderState>);

pub(super) struct ReaderState {
    pub(super) v8: V8Client,
    /// Names the places of functions.
    pub(super) scripts: Arc<Scripts>,
    pub(super) pid: Option<u32>,
    /// Nothing of the program's may run.
    pub(super) careful: bool,
    pub(super) helpers: Helpers,
    /// Held while a helper is installed.
    pub(super) installing: tokio::sync::Mutex<()>,
    pub(super) references: ValueReferences,
    /// Counts the times at which anything in the program may have changed.
    pub(super) epoch: AtomicU64,
    /// The program's variables may have changed during this stop. V8's scopes are copies from its beginning.
    pub(super) changed: AtomicBool,
    pub(super) known: Mutex<KnownVariables>,
    /// Objects are held.
    holds: AtomicBool,
}

impl fmt::Debug for ReaderState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueReader").field("references", &self.references).finish_non_exhaustive()
    }
}

impl ValueReader {
    /// Reads from a thread of a process of this machine, as far as that is known. Nothing is sent before it is needed.
    /// With `careful`, only what is shown to change nothing is run.
    pub(in super::super) fn new(
        v8: V8Client,
        scripts: Arc<Scripts>,
        pid: Option<u32>,
        careful: bool,
    ) -> Self {
        Self(Arc::new(ReaderState {
            v8,
            scripts,
            pid,
            careful,
            helpers: Helpers::default(),
            installing: tokio::sync::Mutex::default(),
            references: ValueReferences::default(),
            epoch: AtomicU64::new(0),
            changed: AtomicBool::new(false),
            known: Mutex::default(),
            holds: AtomicBool::new(false),
        }))
    }

    /// The program runs again: all references are gone. The group of the objects behind them is to be released,
    /// when there is one.
    pub(in super::super) fn forget(&self) -> Option<&'static str> {
        self.0.references.clear();
        *lock(&self.0.known) = KnownVariables::default();
        self.0.epoch.fetch_add(1, Ordering::Relaxed);
        self.0.changed.store(false, Ordering::Relaxed);
        self.0.holds.swap(false, Ordering::Relaxed).then_some(STOP)
    }

    /// Something may have changed the program's variables and objects.
    pub(super) fn has_changed(&self) {
        self.0.changed.store(true, Ordering::Relaxed);
        self.0.epoch.fetch_add(1, Ordering::Relaxed);
    }

    /// The value of a variable of a frame's own function, if nothing may have changed it since it was read.
    pub(super) fn known(&self, frame: &Frame, name: &str, text: usize) -> Option<KnownValue> {
        let epoch = self.0.epoch.load(Ordering::Relaxed);
        let mut known = lock(&self.0.known);
        let (at, value) = known.of(frame).variables.get(name)?;
        let is_short = matches!(value, KnownValue::Simple(_, limit) if *limit > text);
        (*at == epoch && !is_short).then(|| value.clone())
    }

    /// Notes the value that a variable had at an epoch. `is_own`: it is one of the frame's own function, which is known
    /// otherwise only if it was noted before.
    pub(super) fn remember(&self, frame: &Frame, name: &str, epoch: u64, value: KnownValue, is_own: bool) {
        let mut known = lock(&self.0.known);
        let variables = &mut known.of(frame).variables;
        if epoch == self.0.epoch.load(Ordering::Relaxed) && (is_own || variables.contains_key(name)) {
            variables.insert(name.to_owned(), (epoch, value));
        }
    }

    /// Sends a command whose results may be held in the group of the stop.
    pub(super) async fn request<C: ::cdp::Command>(&self, command: C) -> Result<C::Result> {
        self.0.v8.request_within(deadlines::READ, command).await.map_err(failed)
    }

    /// The group for objects of this stop, which is to be released.
    pub(super) fn group(&self) -> String {
        self.holds();
        STOP.to_owned()
    }

    /// An object of this stop is held.
    pub(super) fn holds(&self) {
        self.0.holds.store(true, Ordering::Relaxed);
    }
}

/// What the wire client says, in the engine's words.
pub(super) fn failed(error: ::cdp::Error) -> Error {
    match error {
        ::cdp::Error::Refused { message, .. } if is_gone(&message) => Error::Refused(
            "the value is gone: the program has run since then, or its context has ended".to_owned(),
        ),
        other => other.into(),
    }
}

/// V8's errors for an object, a frame or a context that no longer exists.
fn is_gone(message: &str) -> bool {
    [
        "Could not find object with given id",
        "Cannot find context with specified id",
        "Invalid remote object id",
    ]
    .iter()
    .any(|words| message.contains(words))
}

/// An evaluation that ran out of time, in the words for that.
pub(super) fn interrupted(error: Error, deadline: Duration, pid: Option<u32>) -> Error {
    match error {
        Error::Refused(message) if message.contains("Execution was terminated") => {
            Error::Deadline { what: "the expression".to_owned(), after: deadline }
        }
        Error::Deadline { .. } => uninterrupted(deadline, pid),
        other => other,
    }
}
