//! A thread that is suspended.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use ::cdp::debugger::{CallFrame, Paused};
use ::cdp::runtime::{RemoteObject, StackTrace};

use super::values::Frame;
use crate::model::ids::RawId;

/// Raw numbers of frames are this times the number of the stop, and the number of the frame in it.
const FRAMES: i64 = 1 << 20;

/// A pause of V8.
#[derive(Debug)]
pub(super) struct V8Stop {
    number: i64,
    /// Innermost first.
    pub(super) frames: Vec<CallFrame>,
    /// Who called the outermost of them, in an earlier turn of the event loop.
    pub(super) asynchronous: Option<StackTrace>,
    /// The thrown value, when that is why.
    pub(super) thrown: Option<ThrownValue>,
    /// The program is waiting for events: its only frame is ours.
    pub(super) is_idle: bool,
    /// The functions that threw are no longer on the stack: its only frame is our hook's.
    pub(super) is_unwound: bool,
    /// The thread has begun, and waits before its first statement.
    pub(super) is_start: bool,
    /// What the function returned that was just stepped out of.
    pub(super) returned: OnceLock<RemoteObject>,
    /// The frames that values were read from so far, by their index.
    pub(super) read: Mutex<HashMap<usize, Arc<Frame>>>,
}

/// The thrown value.
#[derive(Debug)]
pub(super) struct ThrownValue {
    pub(super) value: RemoteObject,
    /// V8 predicts that nothing will catch it.
    pub(super) is_uncaught: bool,
    /// It rejects a promise, according to V8.
    pub(super) is_rejection: bool,
}

impl V8Stop {
    /// `unwound` is what Node says that nothing has caught.
    pub(super) fn new(
        number: i64,
        paused: &mut Paused,
        is_idle: bool,
        unwound: Option<RemoteObject>,
    ) -> Self {
        let is_unwound = unwound.is_some();
        let mut frames = std::mem::take(&mut paused.call_frames);
        if is_unwound {
            frames.truncate(1);
        }
        let unwound = unwound.map(|value| ThrownValue { value, is_uncaught: true, is_rejection: false });
        Self {
            number,
            thrown: unwound.or_else(|| ThrownValue::of(paused)),
            frames,
            asynchronous: paused.async_stack_trace.take().filter(|_| !is_unwound),
            is_idle,
            is_unwound,
            is_start: paused.reason.starts_with("Break on start"),
            returned: OnceLock::new(),
            read: Mutex::default(),
        }
    }

    /// The number of a frame. It means nothing at another stop.
    pub(super) fn id_of(&self, index: usize) -> RawId {
        RawId(self.number * FRAMES + i64::try_from(index).unwrap_or(FRAMES - 1))
    }

    /// The index of a frame of this stop.
    pub(super) fn index_of(&self, frame: RawId) -> Option<usize> {
        let belongs = frame.0.div_euclid(FRAMES) == self.number;
        belongs.then(|| usize::try_from(frame.0.rem_euclid(FRAMES)).ok())?
    }

    /// Who called, in earlier turns of the event loop, the latest first.
    pub(super) fn traces(&self) -> impl Iterator<Item = &StackTrace> {
        std::iter::successors(self.asynchronous.as_ref(), |trace| trace.parent.as_deref())
    }

    /// What the protocol calls the error that was thrown.
    pub(super) fn error_name(&self) -> Option<String> {
        let value = &self.thrown.as_ref()?.value;
        value.class_name.clone().or_else(|| value.description.clone())
    }
}

impl ThrownValue {
    /// The protocol's words for a stop at something that was thrown are `exception` and `promiseRejection`.
    fn of(paused: &Paused) -> Option<Self> {
        let is_rejection = paused.reason == "promiseRejection";
        if !is_rejection && paused.reason != "exception" {
            return None;
        }
        let data = paused.data.clone()?;
        let is_uncaught = data.get("uncaught").and_then(serde_json::Value::as_bool).unwrap_or(is_rejection);
        Some(Self { value: serde_json::from_value(data).ok()?, is_uncaught, is_rejection })
    }
}
