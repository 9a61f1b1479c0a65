//! Steps out of which an exception goes.
//!
//! The debugger waits for a function to return, and the program runs on when an exception leaves it. A command has the
//! debugger break where a handler begins instead, and the step ends there.

use std::sync::atomic::Ordering;

use super::{DapDebugger, commands, lock};
use crate::deadlines;
use crate::debugger::Step;
use crate::model::ids::RawId;

/// A step is requested next.
pub(super) fn begin(debugger: &DapDebugger, thread: RawId, step: Step) {
    let word = match step {
        Step::Over => "over",
        Step::Into => "into",
        Step::Out => "out",
    };
    if let Some(command) = debugger.quirks().catches_command {
        debugger.0.catches.store(true, Ordering::Release);
        commands::begin(debugger, format!("{command} begin {} {word}", thread.0));
    }
}

/// The program runs on without a step, at full speed.
pub(super) fn end(debugger: &DapDebugger) {
    let command =
        debugger.quirks().catches_command.filter(|_| debugger.0.catches.swap(false, Ordering::AcqRel));
    if let Some(command) = command {
        commands::begin(debugger, format!("{command} end"));
    }
}

/// Whether a thread has come to the handler of an exception that left the step. If a breakpoint of the user's is there,
/// too, that is what it stops at.
pub(super) async fn landed(debugger: &DapDebugger, numbers: &[i64]) -> bool {
    let [number] = numbers else { return false };
    if !may_have_landed(debugger, numbers) {
        return false;
    }
    let said = run(debugger, &format!("landed {number}")).await;
    said.is_some_and(|said| said.lines().any(|line| line == "landed"))
}

/// Whether breakpoints may be that of a handler.
pub(super) fn may_have_landed(debugger: &DapDebugger, numbers: &[i64]) -> bool {
    let is_catching = debugger.0.catches.load(Ordering::Acquire);
    is_catching && numbers.len() == 1 && lock(&debugger.0.breakpoints).hit(numbers, None).is_empty()
}

async fn run(debugger: &DapDebugger, what: &str) -> Option<String> {
    let command = debugger.quirks().catches_command?;
    commands::run(debugger, None, format!("{command} {what}"), deadlines::REQUEST).await.ok()
}
