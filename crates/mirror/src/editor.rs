//! An attached editor: which requests it may make, and who answers them.

use std::sync::Arc;

use dap::{IncomingRequest, Request};
use engine::model::ids::{Reference, ThreadId};
use engine::session::Session;
use serde_json::json;

use crate::breakpoints::ListedBreakpoints;
use crate::endpoint::Exposed;
use crate::outgoing::{Answer, Refusal};
use crate::sources::Sources;

/// The error for an editor that requests more than is allowed.
const READ_ONLY: &str = "this view of the agent's session is read-only; to allow control, the agent calls \
                         expose_session with `control: true`";

/// An editor that was let in.
#[derive(Debug)]
pub(crate) struct Editor {
    pub(crate) exposed: Arc<Exposed>,
    pub(crate) sources: Sources,
    pub(crate) listed: ListedBreakpoints,
}

impl Editor {
    pub(crate) fn new(exposed: Arc<Exposed>) -> Self {
        Self { exposed, sources: Sources::default(), listed: ListedBreakpoints::default() }
    }

    pub(crate) fn session(&self) -> &Session {
        &self.exposed.session
    }

    /// Answers a request. That may take as long as the program or its debugger takes.
    pub(crate) async fn answer(&self, request: &IncomingRequest) -> Answer {
        match request.command.as_str() {
            dap::Threads::COMMAND => self.threads().await,
            dap::StackTrace::COMMAND => self.stack_trace(request.read::<dap::StackTrace>()?).await,
            dap::Scopes::COMMAND => self.scopes(request.read::<dap::Scopes>()?).await,
            dap::Variables::COMMAND => self.variables(request.read::<dap::Variables>()?).await,
            dap::SourceText::COMMAND => self.source(request.read::<dap::SourceText>()?).await,
            dap::Evaluate::COMMAND => self.evaluate(request.read::<dap::Evaluate>()?).await,
            dap::ExceptionInfo::COMMAND => self.exception_info().await,
            dap::SetBreakpoints::COMMAND => {
                self.set_breakpoints(request.read::<dap::SetBreakpoints>()?).await
            }
            dap::SetFunctionBreakpoints::COMMAND => {
                Self::set_function_breakpoints(&request.read::<dap::SetFunctionBreakpoints>()?)
            }
            // The agent chooses the exceptions to stop at. An editor sends its own choice unasked.
            dap::SetExceptionBreakpoints::COMMAND | dap::Cancel::COMMAND => Ok(json!({})),
            dap::Continue::COMMAND => self.resume().await,
            dap::Next::COMMAND | dap::StepIn::COMMAND | dap::StepOut::COMMAND => self.step(request).await,
            dap::Pause::COMMAND => self.pause(request.read::<dap::Pause>()?).await,
            dap::SetVariable::COMMAND => self.set_variable(request.read::<dap::SetVariable>()?).await,
            dap::Terminate::COMMAND | "restart" => Err(Refusal(
                "the program belongs to the agent's session; `disconnect` leaves it alone".to_owned(),
            )),
            command => Err(Refusal(format!("`{command}` is not supported"))),
        }
    }

    /// Refuses what changes anything.
    pub(crate) fn check_control(&self) -> Result<(), Refusal> {
        if self.exposed.control { Ok(()) } else { Err(Refusal(READ_ONLY.to_owned())) }
    }
}

/// Our number, in an editor's representation.
pub(crate) fn reference(number: i64) -> Result<Reference, Refusal> {
    u64::try_from(number).map(Reference).map_err(|_| Refusal(format!("unknown reference {number}")))
}

/// The same the other way; 0 where there is none.
pub(crate) fn number(reference: Option<Reference>) -> i64 {
    reference.and_then(|reference| i64::try_from(reference.0).ok()).unwrap_or(0)
}

/// A thread that an editor names; none for the one that is suspended.
pub(crate) fn thread(number: i64) -> Option<ThreadId> {
    u32::try_from(number).ok().filter(|number| *number > 0).map(ThreadId)
}
