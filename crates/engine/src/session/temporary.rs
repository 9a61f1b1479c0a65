//! Places and exceptions to stop at that hold until the next stop.
//!
//! They are kept with the session and not with the call that set them, because they outlast a call whose time
//! is over. Whoever comes first takes them away: the next stop, the end, or the next call of that kind.

use std::sync::PoisonError;

use super::Session;
use super::state::Execution;
use crate::deadlines;
use crate::model::ids::BreakpointId;
use crate::model::stop::ExceptionBreakpoints;

/// What holds until the next stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Temporary {
    /// Breakpoints to remove.
    pub breakpoints: Vec<BreakpointId>,
    /// The exceptions to stop at afterwards; none to leave that as it is.
    pub exceptions: Option<ExceptionBreakpoints>,
}

impl Session {
    /// Takes them away at once.
    pub async fn forget(&self, temporary: Temporary) {
        let Temporary { breakpoints, exceptions } = temporary;
        // A session that was closed meanwhile has nothing to forget.
        if !breakpoints.is_empty() {
            let _ = self.remove_breakpoints(move |id, _| breakpoints.contains(&id)).await;
        }
        if let Some(wanted) = exceptions {
            let _ = self.set_exception_breakpoints(wanted).await;
        }
    }

    /// Takes away what was to be taken away at the next stop. With a debugger that does not answer, it goes when that
    /// does.
    pub async fn forget_early(&self) {
        let kept = self.fixed.temporary.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(kept) = kept {
            let session = self.clone();
            let forgetting = tokio::spawn(async move { session.forget(kept).await });
            let _ = tokio::time::timeout(deadlines::ACKNOWLEDGE, forgetting).await;
        }
    }

    /// Takes them away when the program stops next or ends.
    pub fn forget_at_stop(&self, temporary: Temporary) {
        *self.fixed.temporary.lock().unwrap_or_else(PoisonError::into_inner) = Some(temporary);
        let session = self.clone();
        // It ends with the program, and that ends with the session.
        tokio::spawn(async move {
            let mut execution = session.watch();
            // A session that is gone has nothing left to forget.
            let _ = execution.wait_for(Execution::is_settled).await;
            session.forget_early().await;
        });
    }
}
