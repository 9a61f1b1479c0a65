//! The exception that a thread has stopped at.

use super::{DapDebugger, first, lock, thrown};
use crate::deadlines;
use crate::debugger::Debugger;
use crate::error::{Error, Result};
use crate::model::ids::RawId;
use crate::model::stack::StackFrame;
use crate::model::stop::{Exception, ExceptionMode};
use crate::output::Category;

/// How much of the end of a program's output is searched for an exception.
const PRINTED: usize = 64 * 1024;

/// The program's own output about an exception says more than its debugger, which reports a signal or a function.
pub(super) async fn exception(debugger: &DapDebugger, thread: RawId) -> Result<Exception> {
    let described = described(debugger, thread).await;
    if debugger.setup().is_dump {
        return thrown::of_dump(debugger, thread, described?).await;
    }
    let function = lock(&debugger.0.breakpoints).exception_function();
    let filters = (debugger.quirks().exception_filters)(ExceptionMode::All);
    let is_thrown =
        |described: &&Exception| function.is_some() || filters.contains(&described.type_name.as_str());
    if let Some(described) = described.as_ref().ok().filter(is_thrown)
        && let Some((type_name, message)) = thrown::by_command(debugger, thread).await
    {
        return Ok(Exception { type_name, message, ..described.clone() });
    }
    if function.is_none() && !matches!(&described, Ok(exception) if exception.type_name == "SIGABRT") {
        return described;
    }
    let until = tokio::time::Instant::now() + deadlines::DRAIN;
    loop {
        // It was written before the stop, and may still be on its way.
        let output = debugger.sinks().output.tail(debugger.0.output_before, PRINTED);
        let printed = (debugger.quirks().printed_exception)(&output.text_of(Category::Stderr));
        if let Some(printed) = printed {
            // What is not an exception of the standard library has no message, but a value.
            let value =
                if printed.message.is_empty() { thrown::by_command(debugger, thread).await } else { None };
            let message = value.map_or(printed.message, |(_, message)| message);
            return Ok(Exception { message, ..printed });
        }
        if tokio::time::Instant::now() >= until {
            break;
        }
        tokio::time::sleep(deadlines::LOOK).await;
    }
    match function {
        Some(name) => Ok(thrown::in_function(debugger, name, thrown_value(debugger, thread).await)),
        None => described,
    }
}

async fn described(debugger: &DapDebugger, thread: RawId) -> Result<Exception> {
    if let Some(signal) = debugger.setup().dump_signal {
        return Ok(thrown::in_dump(debugger, signal, thrown_value(debugger, thread).await));
    }
    if !debugger.capabilities().supports_exception_info_request {
        return Err(Error::Unsupported("this debugger does not support exception details".to_owned()));
    }
    let info = debugger.request::<::dap::ExceptionInfo>(DapDebugger::thread(thread), deadlines::READ).await;
    let info = match info {
        Ok(info) => info,
        // What stops all threads may be the exception of none of them.
        Err(Error::Refused(refusal)) => {
            let (type_name, message) = lock(&debugger.0.described).clone();
            if message.is_empty() {
                return Err(Error::Refused(refusal));
            }
            let exception = Exception { type_name, message, stack: String::new(), uncaught: true };
            return Ok(thrown::understood(debugger, exception));
        }
        Err(error) => return Err(error),
    };
    let details = info.details.unwrap_or_default();
    let id =
        if info.exception_id.is_empty() { details.type_name.unwrap_or_default() } else { info.exception_id };
    let exception = Exception {
        type_name: id,
        message: info.description.or(details.message).unwrap_or_default(),
        stack: details.stack_trace.unwrap_or_default(),
        uncaught: info.break_mode.as_deref() == Some("unhandled"),
    };
    let exception = if exception.message.is_empty() {
        let message = thrown_value(debugger, thread).await.unwrap_or_default();
        Exception { message, ..exception }
    } else {
        exception
    };
    Ok(thrown::understood(debugger, exception))
}

/// How far from the innermost frame an exception is searched for.
const THROWN_WITHIN: usize = 12;

/// The value of an exception, in the function that it goes through.
async fn thrown_value(debugger: &DapDebugger, thread: RawId) -> Option<String> {
    let thrown = debugger.quirks().thrown_value?;
    let stack = debugger.stack_trace(thread, 0, THROWN_WITHIN).await.ok()?;
    let throws = |frame: &&StackFrame<RawId>| frame.name == thrown.function;
    // The first of several that are thrown while another one is on its way, unless the last is stopped at.
    let frame = stack.frames.first().filter(throws).or_else(|| stack.frames.iter().rfind(throws))?.id;
    // As the adapter writes it: how it is shown to a user may lack its type.
    let read = async |expression: &str| {
        let arguments = ::dap::EvaluateArguments {
            expression: expression.to_owned(),
            frame_id: Some(frame.0),
            context: Some("hover".to_owned()),
            ..Default::default()
        };
        let answer = first::evaluate(debugger, arguments, deadlines::CONDITION).await;
        answer.ok().map(|answer| answer.result)
    };
    for expression in thrown.expressions {
        if let Some(text) = read(expression).await {
            return Some(text);
        }
    }
    None
}
