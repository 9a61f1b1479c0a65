//! The function by which a program talks to us, and what is kept with it in the program.
//!
//! The program's own global object gets it from the first time on that something needs it. V8 gives it to
//! those that are made later only while the console's events are wanted, too, which cost the program much. So
//! what needs it says whether it is there, and the program stops where it is not: see [`enter`].

use std::sync::atomic::{AtomicBool, Ordering};

use ::cdp::debugger::EvaluateOnCallFrame;
use ::cdp::runtime::{AddBinding, CallFunctionOn, Evaluate};
use serde_json::Value as Json;

use super::stops::Stop;
use super::values::Frame;
use super::{CdpDebugger, frames, recording, rules};
use crate::deadlines;
use crate::debugger::RuleFor;
use crate::error::Result;

/// The name of the function.
pub(super) const BINDING: &str = "__stillframe";

/// What the program's own global object has.
#[derive(Debug, Default)]
pub(super) struct Bound {
    binding: AtomicBool,
    recorder: AtomicBool,
    /// What the program says next of a hit is known already.
    is_hit_known: AtomicBool,
}

impl Bound {
    /// Whether what the program says of a hit is news.
    pub(super) fn is_news(&self) -> bool {
        !self.is_hit_known.swap(false, Ordering::AcqRel)
    }
}

/// Lets the program talk to us.
pub(super) async fn bind_program(debugger: &CdpDebugger) -> Result<()> {
    if debugger.0.bound.binding.swap(true, Ordering::AcqRel) {
        return Ok(());
    }
    bind(debugger, None).await
}

/// Lets the program write values by itself. A worker that has not begun has no `require` yet, and gets what it needs
/// at its first pass.
pub(super) async fn bind_recorder(debugger: &CdpDebugger) -> Result<()> {
    bind_program(debugger).await?;
    if debugger.0.bound.recorder.swap(true, Ordering::AcqRel) || debugger.is_worker() {
        return Ok(());
    }
    match debugger.0.values.default_helper().await? {
        Some(helper) => install_recorder(debugger, &helper).await,
        None => Ok(()),
    }
}

/// Does the same for the global object that a frame runs in.
pub(super) async fn bind_frame(debugger: &CdpDebugger, frame: &Frame) -> Result<()> {
    bind_program(debugger).await?;
    let Some(context) = frame.context() else { return Ok(()) };
    bind(debugger, Some(context)).await?;
    match debugger.0.values.helper(Some(context)).await? {
        Some(helper) if debugger.0.bound.recorder.load(Ordering::Acquire) => {
            install_recorder(debugger, &helper).await
        }
        _ => Ok(()),
    }
}

async fn bind(debugger: &CdpDebugger, context: Option<i32>) -> Result<()> {
    let client = &debugger.0.client;
    let binding = AddBinding { name: BINDING.to_owned(), execution_context_id: context };
    client.request(binding, deadlines::LONGEST_WAIT).await?;
    let install = Evaluate {
        expression: rules::installation(),
        silent: true,
        disable_breaks: true,
        context_id: context,
        ..Evaluate::default()
    };
    client.request(install, deadlines::LONGEST_WAIT).await?;
    Ok(())
}

async fn install_recorder(debugger: &CdpDebugger, helper: &str) -> Result<()> {
    let call = CallFunctionOn {
        function_declaration: recording::installation(),
        object_id: Some(helper.to_owned()),
        silent: true,
        ..CallFunctionOn::default()
    };
    let installed = debugger.0.client.request(call, deadlines::LONGEST_WAIT).await?;
    if let Some(exception) = &installed.exception_details {
        tracing::warn!(?exception, "the program cannot write values by itself");
    }
    Ok(())
}

/// The program has stopped because its global object cannot tell whether it is to stop. Now it can, and is
/// asked again.
pub(super) async fn enter(debugger: &CdpDebugger, stop: &Stop, rules: &[RuleFor]) -> Result<bool> {
    let frame = frames::frame(debugger, stop.id_of(0)).await?;
    bind_frame(debugger, &frame).await?;
    let Ok(condition) = rules::condition(rules, debugger.0.kind.thread()) else { return Ok(false) };
    let again = EvaluateOnCallFrame {
        call_frame_id: frame.call.call_frame_id.clone(),
        expression: condition,
        silent: true,
        return_by_value: true,
        ..EvaluateOnCallFrame::default()
    };
    let answer = debugger.request(again).await?;
    let stops = answer.result.value == Some(Json::Bool(true));
    debugger.0.bound.is_hit_known.store(stops, Ordering::Release);
    Ok(stops)
}
