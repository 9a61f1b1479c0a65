//! The Debug Adapter Protocol as a [`Debugger`].
//!
//! Tasks, for every connection: the client's driver, which moves bytes, and `events::pump`, which turns
//! what arrives into [`Event`]s. Both end with the connection.

mod breakpoints;
mod connector;
mod events;
mod inspect;
mod inspector;
mod sampling;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use serde_json::{Map, Value as Json};
use tokio::sync::{mpsc, watch};

use self::breakpoints::Planting;
use self::inspector::InspectorClient;
use self::sampling::Sampling;
use super::{Debugger, Evaluate, Event, FunctionBreakpoint, Planted, SourceBreakpoint, Step};
use crate::adapter::{Adapter, DapSetup};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::activity::Activity;
use crate::model::ids::RawId;
use crate::model::limits::MAX_VALUE;
use crate::model::source::{Location, Source};
use crate::model::stack::{RawThread, Scope, Stack, StackFrame};
use crate::model::stop::{Exception, ExceptionMode};
use crate::model::thrown::Thrown;
use crate::model::variable::{Children, Page, Value};
use crate::output::Output;
use crate::policy::SharedPolicy;
use crate::process::Injector;

pub use connector::DapConnector;

/// A server by itself cannot tell beforehand what an expression does.
const NOT_PURE: &str = "this debugger cannot evaluate without side effects; leave `sideEffects` out, \
                        and ask for names and attributes only";

/// One connection to a server of the protocol.
#[derive(Clone, Debug)]
pub struct DapDebugger(Arc<Connection>);

#[derive(Debug)]
struct Connection {
    client: ::dap::Client,
    adapter: &'static dyn Adapter,
    setup: DapSetup,
    policy: SharedPolicy,
    /// The program itself, as opposed to a child of it.
    is_program: bool,
    /// Where children go that the server announces; those of a program that we started come by themselves.
    children: Option<mpsc::Sender<Map<String, Json>>>,
    capabilities: OnceLock<::dap::Capabilities>,
    /// Set when the server says that breakpoints may be sent.
    initialized: watch::Sender<bool>,
    /// Which of the user's breakpoints the server's numbers stand for.
    planting: Mutex<Planting>,
    inspector: OnceLock<InspectorClient>,
    /// What brought the debugger into the program, where it ran already.
    injector: OnceLock<Injector>,
    sampling: Sampling,
    /// The sources of frames that only the server has, by what we call them.
    texts: Mutex<HashMap<String, ::dap::Source>>,
    /// The operating system's number of the process, once the server has told it.
    pid: OnceLock<u32>,
    /// Counts the stops.
    stops: AtomicU64,
    /// The program was brought to its present stop by a signal.
    nudged: AtomicBool,
    /// It has stopped, and was not asked to run since.
    suspended: AtomicBool,
    /// The server has said that the program has ended.
    terminated: AtomicBool,
}

impl DapDebugger {
    /// Speaks to the server at the other end of `reader` and `writer`.
    fn connect<R, W>(
        (reader, writer): (R, W),
        adapter: &'static dyn Adapter,
        setup: DapSetup,
        is_program: bool,
        children: Option<mpsc::Sender<Map<String, Json>>>,
        output: Output,
        policy: SharedPolicy,
    ) -> (Self, mpsc::Receiver<Event>)
    where
        R: tokio::io::AsyncRead + Send + Unpin + 'static,
        W: tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        let (client, incoming, driver) = ::dap::connect(reader, writer);
        tokio::spawn(driver);
        let debugger = Self(Arc::new(Connection {
            client,
            adapter,
            setup,
            policy,
            is_program,
            children,
            capabilities: OnceLock::new(),
            initialized: watch::Sender::new(false),
            planting: Mutex::default(),
            inspector: OnceLock::new(),
            injector: OnceLock::new(),
            sampling: Sampling::default(),
            texts: Mutex::default(),
            pid: OnceLock::new(),
            stops: AtomicU64::new(0),
            nudged: AtomicBool::new(false),
            suspended: AtomicBool::new(false),
            terminated: AtomicBool::new(false),
        }));
        let (events, received) = mpsc::channel(256);
        // The pump must not keep the connection open when nobody uses it any more.
        tokio::spawn(events::pump(incoming, Arc::downgrade(&debugger.0), events, output));
        (debugger, received)
    }

    /// Has the program on the other side show that it is the one that was given this secret.
    async fn identify(&self, token: &str) -> Result<()> {
        let asked = ::dap::PydevdAuthorizeArguments::default();
        let answer = self.request::<::dap::PydevdAuthorize>(asked, deadlines::REQUEST).await?;
        if answer.client_access_token.as_deref() == Some(token) {
            return Ok(());
        }
        Err(Error::Refused("it does not know the secret that the program was given".to_owned()))
    }

    /// It is told, once, what brought it into the program.
    fn injected_by(&self, injector: Injector) {
        let _ = self.0.injector.set(injector);
    }

    async fn request<R: ::dap::Request>(
        &self,
        arguments: R::Arguments,
        deadline: Duration,
    ) -> Result<R::Response> {
        Ok(self.0.client.request::<R>(arguments, deadline).await?)
    }

    /// Between us and the process is an adapter that somebody else started, and that goes on when we leave.
    fn is_by_adapter(&self) -> bool {
        self.0.children.is_some()
    }

    fn thread(thread: RawId) -> ::dap::ThreadArguments {
        ::dap::ThreadArguments { thread_id: thread.0 }
    }

    fn capabilities(&self) -> ::dap::Capabilities {
        self.0.capabilities.get().cloned().unwrap_or_default()
    }

    /// Whether a thread was brought to its stop by a signal, into a function of ours.
    async fn is_in_pause(&self, thread: RawId) -> bool {
        if !self.0.nudged.swap(false, Ordering::Relaxed) {
            return false;
        }
        let top = ::dap::StackTraceArguments { thread_id: thread.0, start_frame: None, levels: Some(1) };
        let stack = self.request::<::dap::StackTrace>(top, deadlines::REQUEST).await.unwrap_or_default();
        stack.stack_frames.first().is_some_and(|frame| self.0.adapter.is_foreign_frame(&frame.name))
    }

    fn inspector(&self) -> Option<&InspectorClient> {
        self.0.inspector.get()
    }

    fn location(&self, source: ::dap::Source, line: i64, column: i64) -> Location {
        let path = source.path.clone().filter(|path| !path.starts_with('<'));
        let hint = source.presentation_hint.as_deref();
        let internal = matches!(hint, Some("subtle" | "deemphasize"))
            || path.as_deref().is_some_and(|path| self.0.adapter.is_internal(Path::new(path)));
        let name = source.path.clone().or_else(|| source.name.clone()).unwrap_or_default();
        if source.source_reference.is_some_and(|reference| reference > 0) {
            self.0.texts.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), source);
        }
        let source = Source { path: path.map(Into::into), name, internal };
        Location {
            source,
            line: u32::try_from(line).unwrap_or(0),
            column: u32::try_from(column).unwrap_or(0),
            generated: None,
        }
    }
}

impl Debugger for DapDebugger {
    /// Source: the specification's "Launch sequencing". Servers disagree on whether `initialized` or the
    /// answer to `launch` comes first; either opens the configuration.
    async fn prepare(&self) -> Result<()> {
        let setup = &self.0.setup;
        let arguments = ::dap::InitializeArguments {
            adapter_id: setup.adapter_id.to_owned(),
            client_name: "stillframe".to_owned(),
            lines_start_at1: true,
            columns_start_at1: true,
            path_format: "path".to_owned(),
            supports_variable_type: true,
            supports_variable_paging: true,
            supports_start_debugging_request: false,
        };
        let answer = self.request::<::dap::Initialize>(arguments, deadlines::REQUEST).await;
        let capabilities = match answer {
            Err(Error::Deadline { after, .. }) if self.is_by_adapter() => return Err(deaf_adapter(after)),
            answer => answer?,
        };
        // It is asked for once in the life of a connection.
        let _ = self.0.capabilities.set(capabilities);

        let mut arguments = setup.arguments.clone();
        let mut initialized = self.0.initialized.subscribe();
        let started = async {
            if setup.launch && self.0.is_program {
                self.request::<::dap::Launch>(arguments, deadlines::REQUEST).await
            } else {
                arguments.remove("stopOnEntry");
                self.request::<::dap::Attach>(arguments, deadlines::REQUEST).await
            }
        };
        tokio::select! {
            started = started => { started?; }
            initialized = initialized.wait_for(|&initialized| initialized) => {
                initialized.map_err(|_| Error::Lost)?;
            }
        }
        if let Some(inspector) = setup.inspector {
            let client = InspectorClient::new(
                self.0.client.clone(),
                inspector,
                self.pid(),
                self.0.policy.safety.read_only,
            );
            if !inspector.is_loaded {
                client.send_itself().await?;
            }
            if self.0.policy.safety.read_only {
                client.be_careful().await?;
            }
            let _ = self.0.inspector.set(client);
        }
        Ok(())
    }

    async fn run(&self) -> Result<()> {
        if self.capabilities().supports_configuration_done_request {
            let is_inside = self.inspector().is_some();
            let deadline = if is_inside { deadlines::RUN } else { deadlines::REQUEST };
            match self.request::<::dap::ConfigurationDone>(::dap::Empty {}, deadline).await {
                // Native code at the very beginning may keep a server inside the program from answering.
                Err(Error::Deadline { .. }) if is_inside => {}
                done => {
                    done?;
                }
            }
        }
        if let Some(injector) = self.0.injector.get() {
            // Until then the main thread may stand still.
            let _ = tokio::time::timeout(deadlines::INJECT, injector.ended()).await;
        }
        Ok(())
    }

    async fn set_breakpoints(&self, path: &Path, wanted: Vec<SourceBreakpoint>) -> Result<Vec<Planted>> {
        breakpoints::set_in_source(self, path, wanted).await
    }

    async fn set_function_breakpoints(&self, wanted: Vec<FunctionBreakpoint>) -> Result<Vec<Planted>> {
        breakpoints::set_on_functions(self, wanted).await
    }

    async fn set_exception_mode(&self, mode: ExceptionMode) -> Result<()> {
        let offered = self.capabilities().exception_breakpoint_filters;
        if offered.is_empty() {
            // The request itself is an error then.
            return Ok(());
        }
        let wanted = self.0.adapter.exception_filters(mode);
        let filters = wanted
            .iter()
            .filter(|wanted| offered.iter().any(|filter| filter.filter == **wanted))
            .map(|&wanted| wanted.to_owned())
            .collect();
        let arguments = ::dap::SetExceptionBreakpointsArguments { filters };
        if let Some(inspector) = self.inspector() {
            inspector.watch_throws(mode == ExceptionMode::UserUnhandled).await?;
        }
        self.request::<::dap::SetExceptionBreakpoints>(arguments, deadlines::REQUEST).await?;
        Ok(())
    }

    async fn resume(&self, thread: RawId) -> Result<()> {
        self.0.suspended.store(false, Ordering::Release);
        self.request::<::dap::Continue>(Self::thread(thread), deadlines::REQUEST).await?;
        Ok(())
    }

    async fn step(&self, thread: RawId, step: Step) -> Result<()> {
        // A step from inside our own pause leads back to where the program was.
        let step = if self.is_in_pause(thread).await { Step::Out } else { step };
        let thread = Self::thread(thread);
        self.0.suspended.store(false, Ordering::Release);
        match step {
            Step::Over => self.request::<::dap::Next>(thread, deadlines::REQUEST).await?,
            Step::Into => self.request::<::dap::StepIn>(thread, deadlines::REQUEST).await?,
            Step::Out => self.request::<::dap::StepOut>(thread, deadlines::REQUEST).await?,
        };
        Ok(())
    }

    async fn pause(&self, thread: RawId) -> Result<()> {
        let stops = self.0.stops.load(Ordering::Relaxed);
        self.request::<::dap::Pause>(Self::thread(thread), deadlines::REQUEST).await?;
        if self.0.setup.is_local && self.inspector().is_some() {
            tokio::spawn(nudge_unless_stopped(Arc::downgrade(&self.0), stops));
        }
        Ok(())
    }

    async fn threads(&self) -> Result<Vec<RawThread>> {
        let response = self.request::<::dap::Threads>(::dap::Empty {}, deadlines::REQUEST).await?;
        Ok(response
            .threads
            .into_iter()
            .map(|thread| RawThread { id: RawId(thread.id), name: thread.name })
            .collect())
    }

    async fn stack_trace(&self, thread: RawId, start: usize, levels: usize) -> Result<Stack<RawId>> {
        let page = |number: usize| i64::try_from(number).ok();
        let arguments = ::dap::StackTraceArguments {
            thread_id: thread.0,
            start_frame: page(start),
            levels: page(levels),
        };
        let response = self.request::<::dap::StackTrace>(arguments, deadlines::REQUEST).await?;
        let total = response.total_frames.and_then(|total| usize::try_from(total).ok());
        let sent = response.stack_frames.len();
        let frames: Vec<StackFrame<RawId>> = response
            .stack_frames
            .into_iter()
            .filter(|frame| !self.0.adapter.is_foreign_frame(&frame.name))
            .map(|frame| StackFrame {
                id: RawId(frame.id),
                // pydevd says so of the frame that an exception has reached.
                name: frame.name.trim_end_matches(" (Current frame)").to_owned(),
                location: frame.source.map(|mut source| {
                    source.presentation_hint = source.presentation_hint.or(frame.presentation_hint);
                    self.location(source, frame.line, frame.column)
                }),
            })
            .collect();
        let foreign = sent - frames.len();
        let total = total.map_or(start + frames.len(), |total| total.saturating_sub(foreign));
        // A server without paging sends everything.
        Ok(Stack { frames: frames.into_iter().take(levels).collect(), total })
    }

    async fn scopes(&self, frame: RawId) -> Result<Vec<Scope<RawId>>> {
        match self.inspector() {
            Some(inspector) => inspector.scopes(frame).await,
            None => inspect::scopes(self, frame).await,
        }
    }

    async fn variables(&self, reference: RawId, page: Page, text: usize) -> Result<Children<RawId>> {
        match self.inspector() {
            Some(inspector) => inspector.variables(reference, page, text).await,
            None => inspect::variables(self, reference, page, text).await,
        }
    }

    async fn locals(&self, frame: RawId, page: Page, text: usize) -> Result<(String, Children<RawId>)> {
        match self.inspector() {
            Some(inspector) => inspector.locals(frame, page, text).await,
            None => inspect::locals(self, frame, page, text).await,
        }
    }

    async fn evaluate(&self, request: Evaluate) -> Result<Value<RawId>> {
        match self.inspector() {
            Some(inspector) => inspector.evaluate(request).await,
            None if request.pure => Err(Error::Unsupported(NOT_PURE.to_owned())),
            None => inspect::evaluate(self, request).await,
        }
    }

    async fn same_as(&self, value: RawId, among: Vec<RawId>) -> Result<Option<usize>> {
        match self.inspector() {
            Some(inspector) => inspector.same_as(value, &among).await,
            None => Ok(None),
        }
    }

    async fn set_variable(
        &self,
        parent: RawId,
        name: &str,
        value: &str,
        text: usize,
    ) -> Result<Value<RawId>> {
        match self.inspector() {
            Some(inspector) => inspector.set_variable(parent, name, value, text).await,
            None => inspect::set_variable(self, parent, name, value, text).await,
        }
    }

    async fn exception(&self, thread: RawId) -> Result<Exception> {
        match self.inspector().filter(|_| self.0.policy.safety.read_only) {
            // The server asks the exception for its text, which is the program's own code.
            Some(inspector) => {
                let frame = self.stack_trace(thread, 0, 1).await?.frames.into_iter().next();
                let frame = frame.ok_or_else(|| Error::Refused("the stack is empty".to_owned()))?;
                inspector.exception(frame.id, MAX_VALUE).await
            }
            None => inspect::exception(self, thread).await,
        }
    }

    async fn is_worth_a_stop(
        &self,
        thread: RawId,
        exception: Option<&str>,
        mode: ExceptionMode,
    ) -> Result<bool> {
        if exception.is_some_and(|exception| self.0.adapter.is_orderly_exit(exception)) {
            return Ok(false);
        }
        // Each is told once, where it is thrown.
        let is_repeated = matches!(mode, ExceptionMode::All | ExceptionMode::UserUnhandled);
        let Some(inspector) = self.inspector().filter(|_| is_repeated) else {
            return Ok(true);
        };
        match self.stack_trace(thread, 0, 1).await?.frames.first() {
            Some(frame) => Ok(!inspector.exception_is_known(frame.id).await?),
            None => Ok(true),
        }
    }

    async fn thrown(&self, thread: RawId, text: usize) -> Result<Thrown> {
        let Some(inspector) = self.inspector() else { return Ok(Thrown::default()) };
        match self.stack_trace(thread, 0, 1).await?.frames.first() {
            Some(frame) => {
                let adapter = self.0.adapter;
                inspector.thrown(frame.id, text, |path| adapter.is_internal(path)).await
            }
            None => Ok(Thrown::default()),
        }
    }

    async fn source_text(&self, name: &str) -> Result<Option<String>> {
        let known = self.0.texts.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let Some(source) = known else { return Ok(None) };
        let source_reference = source.source_reference.unwrap_or_default();
        let arguments = ::dap::SourceArguments { source, source_reference };
        let response = self.request::<::dap::SourceText>(arguments, deadlines::READ).await?;
        Ok(Some(response.content))
    }

    async fn exception_meets(&self, thread: RawId, condition: &str) -> Result<bool> {
        let Some(inspector) = self.inspector() else {
            return Err(Error::Unsupported("this debugger has no conditions on exceptions".to_owned()));
        };
        match self.stack_trace(thread, 0, 1).await?.frames.first() {
            Some(frame) => inspector.exception_meets(frame.id, condition).await,
            None => Ok(true),
        }
    }

    async fn start_sampling(&self, interval: Duration) -> Result<()> {
        sampling::start(self, interval).await
    }

    async fn activity(&self) -> Result<Activity> {
        sampling::activity(self).await
    }

    async fn stop_sampling(&self) -> Result<()> {
        sampling::stop(self).await
    }

    async fn detach(&self) -> Result<()> {
        if let Some(inspector) = self.inspector() {
            // A program that does not answer is let go all the same.
            let _ = inspector.let_children_go().await;
        }
        let arguments = ::dap::DisconnectArguments { terminate_debuggee: Some(false) };
        self.request::<::dap::Disconnect>(arguments, deadlines::GOODBYE).await?;
        if self.is_by_adapter() {
            // A client that came while debugpy's adapter still lets go of another would be its last: it tells the
            // oldest of them, and the thread that takes connections ends when that one is gone (debugpy 1.8.22,
            // `Client.__init__` and `sessions.report_sockets`). It closes the connection first, and forgets it then.
            let _ = tokio::time::timeout(deadlines::GOODBYE, self.0.client.closed()).await;
            tokio::time::sleep(deadlines::FORGET).await;
        }
        Ok(())
    }

    /// A number of another machine, or of a container, means nothing here.
    fn pid(&self) -> Option<u32> {
        self.0.pid.get().copied().filter(|_| self.0.setup.is_local)
    }

    fn has_terminated(&self) -> bool {
        self.0.terminated.load(Ordering::Acquire)
    }
}

/// An adapter of debugpy that has lost its thread for connections: the system takes them in its place.
fn deaf_adapter(after: Duration) -> Error {
    Error::Environment {
        problem: format!(
            "a debugger takes connections there, but did not answer `initialize` within {} ms",
            after.as_millis()
        ),
        remedy:
            "start the program again: debugpy serves nobody any more once a client has come while it was \
                 letting go of another, or has gone at once"
                .to_owned(),
    }
}

/// A main thread that waits in the operating system does not notice a pause. A signal brings it out, into
/// the inspector's `stillframe_pause`; one that is busy stops by itself before that.
async fn nudge_unless_stopped(connection: Weak<Connection>, stops: u64) {
    tokio::time::sleep(deadlines::NUDGE).await;
    if let Some(connection) = connection.upgrade()
        && connection.stops.load(Ordering::Relaxed) == stops
        && let Some(pid) = connection.pid.get()
    {
        connection.nudged.store(true, Ordering::Relaxed);
        crate::process::nudge(*pid);
    }
}

impl From<::dap::Error> for Error {
    fn from(error: ::dap::Error) -> Self {
        match error {
            ::dap::Error::Closed => Self::Lost,
            ::dap::Error::Deadline { command, deadline } => {
                Self::Deadline { what: format!("the debugger's `{command}`"), after: deadline }
            }
            ::dap::Error::Refused { message, .. } => Self::Refused(message),
            malformed @ ::dap::Error::Malformed { .. } => Self::Refused(malformed.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
