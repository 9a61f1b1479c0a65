//! Calls of functions by an adapter that returns a result only in the thread that it has chosen, see [`ThreadOfCalls`]:
//! in another one the function runs, and its result is lost.
//!
//! [`ThreadOfCalls`]: crate::adapter::plan::ThreadOfCalls

use super::rules::{Part, parts};
use super::{DapDebugger, lock};
use crate::adapter::plan::ThreadOfCalls;
use crate::deadlines;
use crate::debugger::RuleFor;
use crate::error::{Error, Result};
use crate::model::ids::RawId;

/// How often the adapter may choose another thread, which runs into a breakpoint at the same time.
const ATTEMPTS: usize = 20;

/// Whether an event only says that a call has ended: the program is where it was.
pub(super) fn is_end_of_call(debugger: &DapDebugger, stop: &::dap::StoppedEvent) -> bool {
    debugger.quirks().thread_of_calls.is_some_and(|quirk| quirk.event == stop.reason)
}

/// Has the adapter choose the thread of a stop if a rule there calls a function. Frames get other numbers.
pub(super) async fn choose_thread(debugger: &DapDebugger, stop: &::dap::StoppedEvent) {
    let Some(quirk) = debugger.quirks().thread_of_calls else { return };
    let Some(thread) = stop.thread_id.map(RawId) else { return };
    let hit = lock(&debugger.0.breakpoints).hit(&stop.hit_breakpoint_ids, None);
    if !hit.iter().flat_map(|sent| &sent.rules).any(|rule| calls(debugger, rule))
        || chosen(debugger, quirk).await == Some(thread)
    {
        return;
    }
    let asked = debugger.clone();
    let choosing = async move {
        for _ in 0..ATTEMPTS {
            let Ok(Some(frame)) = asked.top(thread).await else { break };
            let arguments = ::dap::EvaluateArguments {
                expression: quirk.call.to_owned(),
                frame_id: Some(frame.id.0),
                context: Some("watch".to_owned()),
                ..Default::default()
            };
            // It is refused, because the thread was not the chosen one.
            let _ = asked.request::<::dap::Evaluate>(arguments, deadlines::CONDITION).await;
            lock(&asked.0.references).forget();
            if chosen(&asked, quirk).await == Some(thread) {
                break;
            }
        }
        Ok(())
    };
    // What was tried in vain is said where the rule is applied.
    let _ = debugger.silently(choosing).await;
}

/// Whether a rule calls a function of the program.
fn calls(debugger: &DapDebugger, RuleFor { rule, .. }: &RuleFor) -> bool {
    let is_call = debugger.quirks().is_call;
    let message = parts(rule.log_message.as_deref().unwrap_or_default());
    rule.condition.as_deref().is_some_and(is_call)
        || message.iter().any(|part| matches!(part, Part::Expression(expression) if is_call(expression)))
}

/// The thread that the adapter has chosen; after a pause there may be none.
async fn chosen(debugger: &DapDebugger, quirk: ThreadOfCalls) -> Option<RawId> {
    let answer = debugger.request::<::dap::Threads>(::dap::Empty {}, deadlines::REQUEST).await.ok()?;
    let chosen = answer.threads.iter().find(|thread| (quirk.is_chosen)(&thread.name))?;
    Some(RawId(chosen.id))
}

/// Refuses a call in a frame of another thread than the chosen one, where its result would be lost.
pub(super) async fn check(debugger: &DapDebugger, frame: RawId) -> Result<()> {
    let Some(quirk) = debugger.quirks().thread_of_calls else { return Ok(()) };
    let thread = lock(&debugger.0.references).stacks.thread_of(&frame);
    let chosen = if thread.is_some() { chosen(debugger, quirk).await } else { None };
    match thread.zip(chosen) {
        Some((thread, chosen)) if thread != chosen => Err(Error::Refused(format!(
            "the result would be lost, as the debugger has chosen another thread than {}; step in this one first",
            thread.0
        ))),
        _ => Ok(()),
    }
}
