//! Python: the Debug Adapter Protocol as pydevd speaks it, and our agent inside the program.
//!
//! Starting, stepping and stacks are the protocol's ([`DapDebugger`]). Values, expressions, rules of breakpoints,
//! recording and sampling are the agent's, which bounds every text and every evaluation; `docs/adr/` says why.
//!
//! Reading order: `agent.rs` (its other end), `ahead.rs`, `breakpoints.rs`, `events.rs`, `pausing.rs`, `sampling.rs`.

mod agent;
mod ahead;
mod authorize;
mod breakpoints;
mod events;
mod pausing;
mod sampling;

use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc;

use self::agent::{AgentClient, PrintedException};
use self::events::PythonEvents;
use self::pausing::Pausing;
use self::sampling::Sampling;
use super::dap::{DapConnector, DapDebugger, Dialect};
use super::{
    BindResult, DataBreakpoint, DataRequest, Debugger, Evaluate, Event, FunctionBreakpoint, SourceBreakpoint,
    Step,
};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::activity::{Activity, Callback};
use crate::model::ids::RawId;
use crate::model::limits::MAX_VALUE;
use crate::model::stack::{RawThread, Scope, Stack};
use crate::model::stop::{End, Exception, ExceptionMode};
use crate::model::thrown::Thrown;
use crate::model::variable::{Children, ExpandedLocals, Expansion, Page, Value};
use crate::process::Injector;

/// Starts and reaches programs in Python.
pub type PythonConnector = DapConnector<PythonDebugger>;

/// One process of a program. Clones share the connection.
#[derive(Clone, Debug)]
pub struct PythonDebugger(Arc<Python>);

#[derive(Debug)]
struct Python {
    dap: DapDebugger,
    agent: OnceLock<AgentClient>,
    /// What brought the debugger into the program, where it ran already.
    injector: OnceLock<Injector>,
    pausing: Pausing,
    sampling: Sampling,
    /// Numbers the places that the agent has rules for.
    places: AtomicU64,
}

impl Dialect for PythonDebugger {
    fn on(dap: DapDebugger, incoming: ::dap::Incoming) -> (Self, mpsc::Receiver<Event>) {
        let python = Arc::new(Python {
            dap,
            agent: OnceLock::new(),
            injector: OnceLock::new(),
            pausing: Pausing::default(),
            sampling: Sampling::default(),
            places: AtomicU64::new(0),
        });
        let events = python.dap.listen(incoming, PythonEvents::new(Arc::downgrade(&python)));
        (Self(python), events)
    }

    /// pydevd is asked for the secret that its program was given, before anything else.
    async fn identify(&self, token: &str) -> Result<()> {
        let asked = authorize::AuthorizeArguments::default();
        let answer = self.0.dap.request::<authorize::Authorize>(asked, deadlines::REQUEST).await?;
        if answer.client_access_token.as_deref() == Some(token) {
            return Ok(());
        }
        Err(Error::Refused("it does not know the program's secret".to_owned()))
    }

    fn injected_by(&self, injector: Injector) {
        // It is given once.
        let _ = self.0.injector.set(injector);
    }
}

impl PythonDebugger {
    /// The agent, once [`Debugger::prepare`] has found it.
    fn agent(&self) -> Result<&AgentClient> {
        self.0.agent.get().ok_or(Error::Lost)
    }

    /// Nothing of the program's may run while it is read.
    fn is_read_only(&self) -> bool {
        self.0.dap.sinks().policy.safety.read_only
    }

    async fn printed_exception(&self, thread: RawId) -> Result<PrintedException> {
        let frame = self.top(thread).await?.ok_or(Error::Lost)?;
        self.agent()?.printed_exception(frame).await
    }

    /// The innermost frame of a suspended thread.
    async fn top(&self, thread: RawId) -> Result<Option<RawId>> {
        Ok(self.stack_trace(thread, 0, 1).await?.frames.first().map(|frame| frame.id))
    }
}

#[async_trait]
impl Debugger for PythonDebugger {
    fn base(&self) -> Option<&dyn Debugger> {
        Some(&self.0.dap)
    }

    async fn prepare(&self) -> Result<()> {
        let dap = &self.0.dap;
        dap.prepare().await.map_err(|error| match error {
            Error::Deadline { after, what } if dap.is_by_adapter() && what.contains("`initialize`") => {
                adapter_stopped_accepting(after)
            }
            other => other,
        })?;
        let agent = AgentClient::new(dap.client().clone(), self.pid(), self.is_read_only());
        // Any other has the agent from the start, in its children too.
        if dap.is_by_adapter() {
            agent.send_itself().await?;
        }
        if self.is_read_only() {
            agent.forbid_side_effects().await?;
        }
        // It is prepared once.
        let _ = self.0.agent.set(agent);
        Ok(())
    }

    async fn run(&self) -> Result<()> {
        match self.0.dap.run().await {
            // Native code at the very beginning may keep a program from answering.
            Ok(()) | Err(Error::Deadline { .. }) => {}
            Err(error) => return Err(error),
        }
        if let Some(injector) = self.0.injector.get() {
            // Until then, the main thread may be suspended.
            let _ = tokio::time::timeout(deadlines::INJECT, injector.ended()).await;
        }
        Ok(())
    }

    async fn set_breakpoints(&self, path: &Path, wanted: Vec<SourceBreakpoint>) -> Result<Vec<BindResult>> {
        breakpoints::set_in_source(self, path, wanted).await
    }

    async fn set_function_breakpoints(&self, wanted: Vec<FunctionBreakpoint>) -> Result<Vec<BindResult>> {
        breakpoints::set_on_functions(self, wanted).await
    }

    async fn data_breakpoint_info(&self, request: DataRequest) -> Result<String> {
        self.agent()?.find_storage(request).await
    }

    async fn set_data_breakpoints(&self, wanted: Vec<DataBreakpoint>) -> Result<Vec<BindResult>> {
        self.agent()?.watch(wanted).await
    }

    async fn set_exception_mode(&self, mode: ExceptionMode) -> Result<()> {
        self.agent()?.watch_throws(mode == ExceptionMode::UserUnhandled).await?;
        self.0.dap.set_exception_mode(mode).await
    }

    async fn resume(&self, thread: RawId) -> Result<()> {
        self.0.dap.resume(thread).await
    }

    async fn step(&self, thread: RawId, step: Step) -> Result<()> {
        // A step from inside our own pause leads back to where the program was.
        let step = if pausing::is_in_pause(self, thread).await { Step::Out } else { step };
        self.0.dap.step(thread, step).await
    }

    async fn left_by_step(&self) -> Result<Option<String>> {
        let found = self.agent()?.report_ended_steps(breakpoints::next_place(self)).await?;
        Ok(found.names.into_iter().next())
    }

    async fn pause(&self, thread: RawId) -> Result<()> {
        pausing::pause(self, thread).await
    }

    async fn threads(&self) -> Result<Vec<RawThread>> {
        self.0.dap.threads().await
    }

    async fn stack_trace(&self, thread: RawId, start: usize, levels: usize) -> Result<Stack<RawId>> {
        let dap = &self.0.dap;
        let Some(ahead) = self.0.agent.get().map(|agent| &agent.ahead).filter(|_| start == 0) else {
            return dap.frames(thread, start, levels, frame_name).await;
        };
        let stack = match ahead.stack(thread, levels) {
            Some(sent) => dap.shown_frames(sent, start, levels, frame_name),
            None => dap.frames(thread, start, levels, frame_name).await?,
        };
        if let Some(innermost) = stack.frames.first() {
            ahead.read(innermost.id, levels);
        }
        Ok(stack)
    }

    async fn scopes(&self, frame: RawId) -> Result<Vec<Scope<RawId>>> {
        self.agent()?.scopes(frame).await
    }

    async fn variables(&self, reference: RawId, page: Page, text: usize) -> Result<Children<RawId>> {
        self.agent()?.variables(reference, page, text).await
    }

    async fn locals(
        &self,
        frame: RawId,
        page: Page,
        text: usize,
        expansion: Expansion,
    ) -> Result<ExpandedLocals<RawId>> {
        self.agent()?.locals(frame, page, text, expansion).await
    }

    async fn evaluate(&self, request: Evaluate) -> Result<Value<RawId>> {
        self.agent()?.evaluate(request).await
    }

    async fn same_as(&self, value: RawId, among: Vec<RawId>) -> Result<Option<usize>> {
        self.agent()?.same_as(value, &among).await
    }

    async fn set_variable(
        &self,
        parent: RawId,
        name: &str,
        value: &str,
        text: usize,
    ) -> Result<Value<RawId>> {
        self.agent()?.set_variable(parent, name, value, text).await
    }

    async fn exception(&self, thread: RawId) -> Result<Exception> {
        if !self.is_read_only() {
            let exception = without_notes(&self.0.dap.exception(thread).await?);
            // pydevd's own text lacks the parts of groups, and it predicts nothing.
            return Ok(match self.printed_exception(thread).await {
                Ok(PrintedException { text, uncaught }) => Exception { stack: text, uncaught, ..exception },
                Err(_) => exception,
            });
        }
        // pydevd asks the exception for its text, which is the program's own code.
        let frame = self.top(thread).await?;
        let frame = frame.ok_or_else(|| Error::Refused("the stack is empty".to_owned()))?;
        self.agent()?.exception(frame, MAX_VALUE).await
    }

    async fn should_stop_at_exception(
        &self,
        thread: RawId,
        exception: Option<&str>,
        mode: ExceptionMode,
    ) -> Result<bool> {
        // pydevd stops at `sys.exit("message")` regardless of its settings, and the agent where that ends a test.
        if exception == Some("SystemExit") && mode != ExceptionMode::UserUnhandled {
            return Ok(false);
        }
        // Each is reported once, where it is thrown.
        if !matches!(mode, ExceptionMode::All | ExceptionMode::UserUnhandled) {
            return Ok(true);
        }
        match self.top(thread).await? {
            Some(frame) => Ok(!self.agent()?.exception_is_known(frame).await?),
            None => Ok(true),
        }
    }

    async fn exception_satisfies(&self, thread: RawId, condition: &str) -> Result<bool> {
        match self.top(thread).await? {
            Some(frame) => self.agent()?.exception_satisfies(frame, condition).await,
            None => Ok(true),
        }
    }

    async fn thrown(&self, thread: RawId, text: usize) -> Result<Thrown> {
        match self.top(thread).await? {
            Some(frame) => {
                let adapter = self.0.dap.adapter();
                self.agent()?.thrown(frame, text, |path| adapter.is_internal(path)).await
            }
            None => Ok(Thrown::default()),
        }
    }

    async fn start_sampling(&self, interval: Duration) -> Result<()> {
        sampling::start(self, interval).await
    }

    async fn activity(&self) -> Result<Activity> {
        sampling::activity(self).await
    }

    async fn callbacks(&self, during: Duration) -> Result<Vec<Callback>> {
        sampling::callbacks(self, during).await
    }

    async fn stop_sampling(&self) -> Result<()> {
        sampling::stop(self).await
    }

    async fn detach(&self) -> Result<()> {
        if let Ok(agent) = self.agent() {
            // A program that does not respond is detached anyway.
            let _ = agent.stop_debugging_children().await;
        }
        let dap = &self.0.dap;
        dap.detach().await?;
        if dap.is_by_adapter() {
            // A client that connects while debugpy's adapter still disconnects from another would be its last: it
            // notifies the oldest of them, and the thread that accepts connections ends when that one is gone
            // (debugpy 1.8.22, `Client.__init__` and `sessions.report_sockets`). It closes the connection before it
            // removes the client.
            let _ = tokio::time::timeout(deadlines::GOODBYE, dap.client().closed()).await;
            tokio::time::sleep(deadlines::FORGET).await;
        }
        Ok(())
    }

    fn pid(&self) -> Option<u32> {
        self.0.dap.pid()
    }

    fn end(&self) -> Option<End> {
        self.0.dap.end()
    }
}

/// The name of a frame without pydevd's additions; none for the frames of an exception's causes, which pydevd
/// appends, and for the frame of an internal pause.
fn frame_name(name: &str) -> Option<&str> {
    if name.starts_with("[Chained Exc: ") || name == pausing::FRAME {
        return None;
    }
    Some(name.trim_end_matches(CURRENT_FRAME))
}

/// What pydevd 1.8.22 adds to the frame that an exception has reached.
const CURRENT_FRAME: &str = " (Current frame)";

/// What debugpy 1.8.22 has for the message of an exception that has none.
const NO_MESSAGE: &str = "exception: no description";

fn without_notes(exception: &Exception) -> Exception {
    Exception {
        type_name: strip_note(&exception.type_name).to_owned(),
        message: strip_note(&exception.message).trim_start_matches(NO_MESSAGE).to_owned(),
        stack: exception.stack.replace(&format!("{CURRENT_FRAME}\n"), "\n"),
        uncaught: exception.uncaught,
    }
}

/// debugpy 1.8.22 can append where it paused to the name of an exception.
fn strip_note(text: &str) -> &str {
    text.split("\n\n(note: ").next().unwrap_or(text).split(" (note: ").next().unwrap_or(text).trim_end()
}

/// A debugpy adapter that has lost its thread for connections: the system still accepts them.
fn adapter_stopped_accepting(after: Duration) -> Error {
    Error::Environment {
        problem: format!(
            "a debugger listens there, but did not respond to `initialize` within {} ms",
            after.as_millis()
        ),
        remedy: "restart the program: debugpy stops serving when a client connects while another one \
                 disconnects, or disconnects at once"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests;
