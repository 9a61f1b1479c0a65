//! The last command of a thread.

use ::cdp::debugger::{CallFrame, Location};
use ::cdp::runtime::RemoteObject;

use super::super::stop::V8Stop;
use crate::debugger::Step;

/// The last command of a thread; it ends with the next reported stop.
#[derive(Debug, Default)]
pub(super) enum Intent {
    /// To run.
    #[default]
    Run,
    /// To stop as soon as it can.
    Pause,
    /// To step.
    Step(Box<Stepping>),
}

/// A step under way.
#[derive(Debug)]
pub(super) struct Stepping {
    pub(super) step: Step,
    /// The frame that V8 steps in.
    pub(super) frame: Option<CallFrame>,
    /// The function that it began in.
    pub(super) function: Option<Location>,
    /// How many frames the stack had then.
    pub(super) depth: usize,
    /// The outermost function on the stack then. After an `await` it is another one.
    pub(super) turn: Option<Location>,
    /// The line that it began on, as the user sees it.
    pub(super) line: Option<(String, u32)>,
    /// How many steps of V8 it took so far.
    pub(super) count: u32,
    /// Internal breakpoints where it may end or continue.
    pub(super) ends: Vec<String>,
    /// The waiting frames that have such breakpoints, by how many frames there are from each of them outwards.
    pub(super) caught: Vec<usize>,
    /// What the function returned.
    pub(super) returned: Option<RemoteObject>,
}

impl Stepping {
    /// Whether a stop is in the function that the step began in.
    pub(super) fn is_in_function(&self, stop: &V8Stop) -> bool {
        stop.frames.first().is_some_and(|frame| frame.function_location == self.function)
    }

    /// Whether the function that the step began in is further out on the stack, where it was then.
    pub(super) fn waits(&self, stop: &V8Stop) -> bool {
        let inner = stop.frames.len().checked_sub(self.depth).filter(|count| *count > 0);
        let frame = inner.and_then(|count| stop.frames.get(count));
        frame.is_some_and(|frame| frame.function_location == self.function)
    }

    /// Whether the event loop has called another function than the one that it had called.
    pub(super) fn is_later_turn(&self, stop: &V8Stop) -> bool {
        stop.frames.last().is_none_or(|frame| frame.function_location != self.turn)
    }

    /// Whether the function that the step began in has waited and continues.
    pub(super) fn is_resumed(&self, stop: &V8Stop) -> bool {
        self.is_in_function(stop) && self.is_later_turn(stop)
    }

    /// Takes note of the stack on which the function continues.
    pub(super) fn resume_at(&mut self, stop: &V8Stop) {
        self.depth = stop.frames.len();
        self.turn = stop.frames.last().and_then(|frame| frame.function_location.clone());
    }
}
