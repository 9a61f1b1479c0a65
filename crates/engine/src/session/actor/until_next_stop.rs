//! Breakpoints that hold until the next stop.
//!
//! They are kept with the session and not with the call that set them, because they outlast a call that timed out.
//! Whatever comes first removes them: the next stop, the end, or the next call of that kind.

use tokio::sync::oneshot;

use super::super::Session;
use super::{Actor, answer};
use crate::deadlines;
use crate::error::Result;
use crate::model::ids::BreakpointId;
use crate::model::stop::ExceptionBreakpoints;

/// State that lasts until the next stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UntilNextStop {
    /// Breakpoints to remove.
    pub breakpoints: Vec<BreakpointId>,
    /// The exceptions to stop at afterwards; none to leave them unchanged.
    pub exceptions: Option<ExceptionBreakpoints>,
}

impl Session {
    /// Removes them now.
    pub async fn remove_now(&self, held: UntilNextStop) {
        let UntilNextStop { breakpoints, exceptions } = held;
        // A session that was closed meanwhile has nothing to remove.
        if !breakpoints.is_empty() {
            let _ = self.remove_breakpoints(move |id, _| breakpoints.contains(&id)).await;
        }
        if let Some(wanted) = exceptions {
            let _ = self.set_exception_breakpoints(wanted).await;
        }
    }

    /// Removes now what was to be removed at the next stop. With a debugger that does not answer, it goes when that
    /// does.
    pub async fn remove_before_next_stop(&self) {
        let held = self.ask(|actor, reply| answer(reply, Ok(actor.until_next_stop.take()))).await;
        if let Ok(Some(held)) = held {
            let session = self.clone();
            let removing = tokio::spawn(async move { session.remove_now(held).await });
            let _ = tokio::time::timeout(deadlines::ACKNOWLEDGE, removing).await;
        }
    }

    /// Removes them when the program stops next or ends.
    pub async fn remove_at_next_stop(&self, held: UntilNextStop) {
        // A session that was closed meanwhile has nothing to remove.
        let _: Result<()> = self
            .ask(|actor, reply| {
                actor.until_next_stop = Some(held);
                if actor.state.execution().is_settled() {
                    actor.remove_until_next_stop();
                }
                answer(reply, Ok(()));
            })
            .await;
    }
}

impl Actor {
    /// The program has stopped or ended.
    pub(super) fn remove_until_next_stop(&mut self) {
        let Some(UntilNextStop { breakpoints, exceptions }) = self.until_next_stop.take() else { return };
        if !breakpoints.is_empty() {
            let (reply, _) = oneshot::channel();
            self.remove_breakpoints(|id, _| breakpoints.contains(&id), reply);
        }
        if let Some(wanted) = exceptions {
            let (reply, _) = oneshot::channel();
            self.set_exception_breakpoints(wanted, reply);
        }
    }
}
