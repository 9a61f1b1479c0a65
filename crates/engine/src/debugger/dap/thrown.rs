//! What an adapter knows of an exception beyond the specification.

use super::{DapDebugger, commands, start, values};
use crate::deadlines;
use crate::debugger::{Debugger, Evaluate};
use crate::error::Result;
use crate::model::ids::RawId;
use crate::model::stop::{Exception, signal_name, signal_number};
use crate::model::thrown::{Assertion, Side, SideValue, Thrown};
use crate::process;

pub(super) async fn thrown(debugger: &DapDebugger, thread: RawId, text: usize) -> Result<Thrown> {
    if !debugger.quirks().describes_throws {
        return Ok(Thrown { test: running_test(debugger, thread).await, ..Thrown::default() });
    }
    let arguments = ::dap::ThrownArguments { thread_id: thread.0, text: text as u64 };
    let answer = debugger.request::<::dap::Thrown>(arguments, deadlines::READ).await?;
    let assertion = answer.assertion.map(|assertion| Assertion {
        expression: assertion.expression,
        operator: assertion.operator,
        left: assertion.left.map(side),
        right: assertion.right.map(side),
    });
    Ok(Thrown { mark: answer.mark, assertion, ..Thrown::default() })
}

/// How many frames are searched for the runner of the test.
const RUNNER_WITHIN: usize = 100;

/// The name of the test that a thread is in, from the frame of its runner.
async fn running_test(debugger: &DapDebugger, thread: RawId) -> Option<String> {
    let runners = debugger.quirks().running_test;
    if runners.is_empty() {
        return None;
    }
    let stack = debugger.stack_trace(thread, 0, RUNNER_WITHIN).await.ok()?;
    let (frame, expression) = stack.frames.iter().find_map(|frame| {
        let (_, expression) = runners.iter().find(|(function, _)| *function == frame.name)?;
        Some((frame.id, (*expression).to_owned()))
    })?;
    let request = Evaluate { expression, frame, deadline: deadlines::CONDITION, text: 1000, pure: true };
    let name = values::evaluate(debugger, request).await.ok()?.text;
    // The runner itself runs like a test, without a name.
    Some(name.trim_matches('"').to_owned()).filter(|name| !name.is_empty())
}

fn side(side: ::dap::ThrownSide) -> Side {
    let value = SideValue { text: side.text, type_name: side.kind, cut: side.cut };
    Side { expression: None, value: Some(value) }
}

/// Signals of a program that has done something wrong. A handler for them reports that, as the one that Rust's library
/// installs does.
const FAULTS: [&str; 6] = ["SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGTRAP"];

/// An exception as an adapter has described it. A signal that the program handles or ignores is not uncaught.
pub(super) fn understood(debugger: &DapDebugger, described: Exception) -> Exception {
    let exception = (debugger.quirks().exception)(described);
    let signal = signal_number(&exception.type_name).filter(|_| !FAULTS.contains(&&*exception.type_name));
    let survives =
        signal.is_some_and(|signal| start::pid(debugger).is_some_and(|pid| process::survives(pid, signal)));
    Exception { uncaught: exception.uncaught && !survives, ..exception }
}

/// An exception that is known by a function that it goes through, with what the thread is throwing there, if anything: a
/// test that fails because its code has panicked fails with that.
pub(super) fn in_function(debugger: &DapDebugger, function: &str, thrown: Option<String>) -> Exception {
    let thrower = debugger.quirks().thrown_value.filter(|_| thrown.is_some());
    let type_name = thrower.map_or(function, |thrower| thrower.function).to_owned();
    let message = thrown.unwrap_or_default();
    // The function that throws runs for those that are caught, too.
    let uncaught = debugger.quirks().thrown_value.is_none_or(|thrower| thrower.function != function);
    (debugger.quirks().exception)(Exception { type_name, message, stack: String::new(), uncaught })
}

/// The type and the message of the exception that is being thrown or has ended the program, by a command of the debugger.
pub(super) async fn by_command(debugger: &DapDebugger, thread: RawId) -> Option<(String, String)> {
    // It asks the exception for its message, which runs code of the program.
    if debugger.sinks().policy.safety.read_only && !debugger.setup().is_dump {
        return None;
    }
    let command = debugger.quirks().exception_command?;
    let frame = debugger.top(thread).await.ok()??;
    let answer = commands::run(debugger, Some(frame.id), command.to_owned(), deadlines::READ).await.ok()?;
    let printed = answer.lines().find_map(|line| line.strip_prefix("thrown "))?;
    serde_json::from_str(printed).ok()
}

/// The exception that has ended the program of a crash dump, where there was one, and not only a signal.
pub(super) async fn of_dump(debugger: &DapDebugger, thread: RawId, signal: Exception) -> Result<Exception> {
    if signal.type_name != "SIGABRT" || !signal.message.is_empty() {
        return Ok(signal);
    }
    let thrown = by_command(debugger, thread).await;
    Ok(thrown.map_or(signal, |(type_name, message)| Exception {
        type_name,
        message,
        stack: String::new(),
        uncaught: true,
    }))
}

/// How the program of a crash dump ended.
pub(super) fn in_dump(debugger: &DapDebugger, signal: i32, message: Option<String>) -> Exception {
    let (type_name, message) = (signal_name(signal), message.unwrap_or_default());
    (debugger.quirks().exception)(Exception { type_name, message, stack: String::new(), uncaught: true })
}
