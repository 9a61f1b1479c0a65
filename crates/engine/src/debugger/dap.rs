//! The Debug Adapter Protocol as a [`Debugger`]: the specification, and the [`Quirks`] of one adapter.
//!
//! Reading order: how an adapter is reached (`connector.rs`, `transport.rs`), how debugging starts (`start.rs`), what
//! the adapter says (`events.rs`, `errors.rs`), can do (`abilities.rs`) and asks (`reverse.rs`), commands of the
//! debugger behind it (`commands.rs`), breakpoints and the rules that it cannot apply itself (`breakpoints.rs`,
//! `functions.rs`, `data.rs`, `refused.rs`, `motion.rs`, `kept.rs`, `pausing.rs`, `recording.rs`, `rules.rs`,
//! `together.rs`, `calls.rs`, `awaits.rs`, `catches.rs`), `threads.rs`, `frames.rs`, values (`values.rs`, `first.rs`,
//! `locals.rs`, `removed.rs`, `shadowing.rs`, `expressions.rs`), exceptions (`exception.rs`, `thrown.rs`), samples (`sampling.rs`).
//! Some languages wrap this type, see `Dialect`.
//!
//! Each connection has two tasks: the client's driver, and `events::pump`, which makes [`Event`]s of what arrives.

mod abilities;
mod awaits;
mod breakpoints;
mod calls;
mod catches;
mod commands;
mod connector;
mod data;
mod errors;
mod events;
mod exception;
mod expressions;
mod first;
mod frames;
mod functions;
mod kept;
mod locals;
mod motion;
mod pausing;
mod recording;
mod refused;
mod removed;
mod reverse;
mod rules;
mod sampling;
mod shadowing;
mod start;
mod threads;
mod thrown;
mod together;
mod transport;
mod values;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value as Json};
use tokio::sync::{mpsc, watch};

use self::breakpoints::Breakpoints;
use self::events::LineEnds;
use self::kept::KeptStep;
use self::motion::RunMotion;
use self::pausing::PauseRequest;
use self::rules::Stepping;
use self::together::KnownAddresses;
use self::values::References;
use super::remote_setting::RemoteSetting;
use super::{
    BindResult, DataBreakpoint, DataRequest, Debugger, Evaluate, Event, FunctionBreakpoint, Reverse, Sinks,
    SourceBreakpoint, Step, cannot_reverse,
};
use crate::adapter::Adapter;
use crate::adapter::plan::{DapSetup, Quirks, StartRequest};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::activity::Activity;
use crate::model::ids::RawId;
use crate::model::stack::{RawThread, Scope, Stack, StackFrame};
use crate::model::stop::{End, Exception, ExceptionMode};
use crate::model::thrown::Thrown;
use crate::model::variable::{Children, ExpandedLocals, Expansion, Page, Value};
use crate::process::{Injector, Process};

pub use connector::DapConnector;
pub(crate) use events::Extension;

/// One connection to an adapter. Clones share it.
#[derive(Clone, Debug)]
pub struct DapDebugger(Arc<Connection>);

#[derive(Debug)]
struct Connection {
    client: ::dap::Client,
    options: Options,
    capabilities: OnceLock<::dap::Capabilities>,
    /// The adapter has reported that it accepts breakpoints.
    initialized: watch::Sender<bool>,
    /// Held while debugging starts.
    starting: tokio::sync::Mutex<()>,
    /// The answer to the request that starts debugging.
    started: watch::Sender<Option<Result<()>>>,
    breakpoints: Mutex<Breakpoints>,
    watched: Mutex<data::Watched>,
    stepping: Mutex<Stepping>,
    addresses: Mutex<KnownAddresses>,
    /// The threads as they were listed at this stop, if they were.
    listed: Mutex<Vec<::dap::Thread>>,
    motion: Mutex<RunMotion>,
    kept: Mutex<KeptStep>,
    /// Held by requests that resume the program, and by whatever needs it not to be resumed.
    moving: tokio::sync::Mutex<()>,
    references: Mutex<References>,
    /// What must be read before other values is read before each expression.
    reads_first: AtomicBool,
    /// Held by code that needs the scopes of one frame to remain those of that frame.
    scoping: tokio::sync::Mutex<()>,
    /// The sources of frames that only the adapter has, by what we call them.
    texts: Mutex<HashMap<String, ::dap::Source>>,
    /// The operating system's number of the process, once the adapter has reported it.
    pid: OnceLock<u32>,
    /// The cursor of the session's output at the start.
    output_before: u64,
    /// What the adapter had us start: the program itself.
    terminal: OnceLock<Process>,
    /// It has stopped on entry.
    entered: AtomicBool,
    pausing: PauseRequest,
    /// The debugger breaks in handlers of exceptions, for a step.
    catches: AtomicBool,
    /// The exceptions that the adapter was last asked to stop at.
    filters: RemoteSetting<Vec<String>>,
    /// The command that has set the breakpoints at errors that leave the program or a test.
    errors_command: RemoteSetting<&'static str>,
    /// The description and the text of the last stop.
    described: Mutex<(String, String)>,
    line_ends: Mutex<LineEnds>,
    end: Mutex<Option<End>>,
}

/// A child that the adapter asks us to debug.
#[derive(Clone, Debug)]
pub(super) struct Child {
    request: StartRequest,
    arguments: Map<String, Json>,
}

/// A debugger that is built on the protocol.
pub(crate) trait Dialect: Debugger + Sized {
    /// Speaks the dialect on a connection, and begins to listen.
    fn on(debugger: DapDebugger, incoming: ::dap::Incoming) -> (Self, mpsc::Receiver<Event>);

    /// Makes the other side show that it is the program that was given this secret.
    fn identify(&self, token: &str) -> impl Future<Output = Result<()>> + Send {
        let _ = token;
        async { Ok(()) }
    }

    /// Takes charge of what brought the debugger into the program.
    fn injected_by(&self, injector: Injector) {
        drop(injector);
    }
}

impl Dialect for DapDebugger {
    fn on(debugger: Self, incoming: ::dap::Incoming) -> (Self, mpsc::Receiver<Event>) {
        let events = debugger.listen(incoming, ());
        (debugger, events)
    }

    async fn identify(&self, token: &str) -> Result<()> {
        let answer = self.request::<::dap::Identify>(::dap::Empty {}, deadlines::REQUEST).await?;
        if answer.token == token {
            return Ok(());
        }
        Err(Error::Refused("it does not know the secret that the program was given".to_owned()))
    }
}

/// What a connection is made with, besides the streams.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) adapter: &'static dyn Adapter,
    pub(super) setup: DapSetup,
    pub(super) sinks: Sinks,
    /// The program itself, as opposed to a child of it.
    pub(super) is_program: bool,
    /// The request that debugging begins with on this connection.
    pub(super) begins_by: StartRequest,
    /// Where the children go that the adapter announces; those of a program that connects to us connect by themselves.
    pub(super) children: Option<mpsc::Sender<Child>>,
    /// The adapter, where it is a process that was started for this connection.
    pub(super) adapter_process: Option<Process>,
    /// How long the adapter may take for its first answer.
    pub(super) initialize_within: Duration,
}

impl DapDebugger {
    /// Speaks to the adapter at the other end of `reader` and `writer`. [`DapDebugger::listen`] comes next.
    pub(super) fn connect<R, W>((reader, writer): (R, W), options: Options) -> (Self, ::dap::Incoming)
    where
        R: tokio::io::AsyncRead + Send + Unpin + 'static,
        W: tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        let (client, incoming, driver) = ::dap::connect(reader, writer);
        tokio::spawn(driver);
        let output_before = options.sinks.output.end();
        let no_errors =
            options.setup.quirks.errors_command.map_or("", |command| command(ExceptionMode::None));
        let debugger = Self(Arc::new(Connection {
            client,
            options,
            capabilities: OnceLock::new(),
            initialized: watch::Sender::new(false),
            starting: tokio::sync::Mutex::default(),
            started: watch::Sender::new(None),
            breakpoints: Mutex::default(),
            watched: Mutex::default(),
            stepping: Mutex::default(),
            addresses: Mutex::default(),
            listed: Mutex::default(),
            motion: Mutex::default(),
            kept: Mutex::default(),
            moving: tokio::sync::Mutex::default(),
            references: Mutex::default(),
            reads_first: AtomicBool::default(),
            scoping: tokio::sync::Mutex::default(),
            texts: Mutex::default(),
            pid: OnceLock::new(),
            output_before,
            terminal: OnceLock::new(),
            entered: AtomicBool::new(false),
            pausing: PauseRequest::default(),
            catches: AtomicBool::new(false),
            filters: RemoteSetting::default(),
            errors_command: RemoteSetting::new(no_errors),
            described: Mutex::default(),
            line_ends: Mutex::default(),
            end: Mutex::default(),
        }));
        (debugger, incoming)
    }

    /// Turns what arrives into events, with what a language adds.
    pub(crate) fn listen(
        &self,
        incoming: ::dap::Incoming,
        extension: impl Extension,
    ) -> mpsc::Receiver<Event> {
        let (events, received) = mpsc::channel(256);
        // The pump must not keep the connection open once nothing else uses it.
        tokio::spawn(events::pump(incoming, Arc::downgrade(&self.0), events, extension));
        received
    }

    /// Sends a request, and waits for the answer.
    pub(crate) async fn request<R: ::dap::Request>(
        &self,
        arguments: R::Arguments,
        deadline: Duration,
    ) -> Result<R::Response> {
        let answer = self.0.client.request::<R>(arguments, deadline).await;
        answer.map_err(|error| self.error(error))
    }

    /// The connection itself.
    pub(crate) fn client(&self) -> &::dap::Client {
        &self.0.client
    }

    /// The language.
    pub(crate) fn adapter(&self) -> &'static dyn Adapter {
        self.0.options.adapter
    }

    /// How debugging was set up.
    pub(crate) fn setup(&self) -> &DapSetup {
        &self.0.options.setup
    }

    /// Where output goes, and what limits hold.
    pub(crate) fn sinks(&self) -> &Sinks {
        &self.0.options.sinks
    }

    /// Between us and the process is an adapter that was there before us, and stays when we leave.
    pub(crate) fn is_by_adapter(&self) -> bool {
        self.0.options.children.is_some()
    }

    /// The adapter's capabilities; nothing before it has sent them.
    pub(crate) fn capabilities(&self) -> ::dap::Capabilities {
        self.0.capabilities.get().cloned().unwrap_or_default()
    }

    fn quirks(&self) -> &'static Quirks {
        self.setup().quirks
    }

    fn error(&self, error: ::dap::Error) -> Error {
        match error {
            ::dap::Error::Refused { message, .. } => Error::Refused((self.quirks().message)(&message)),
            other => other.into(),
        }
    }

    fn thread(thread: RawId) -> ::dap::ThreadArguments {
        ::dap::ThreadArguments { thread_id: thread.0 }
    }

    /// Refuses what a crash dump cannot do.
    fn can_run(&self) -> Result<()> {
        if self.setup().is_dump {
            return Err(Error::Refused(
                "a crash dump cannot run or step; start the program to step through it".to_owned(),
            ));
        }
        Ok(())
    }

    /// The same problem, in words that fit a crash dump if it is one.
    fn in_dump(&self, error: Error) -> Error {
        match error {
            Error::Refused(message) | Error::Raised { message, .. }
                if self.setup().is_dump && (self.quirks().needs_running)(&message) =>
            {
                let problem =
                    "a crash dump can run no code, and its values cannot be changed; start the program";
                Error::Refused(problem.to_owned())
            }
            other => other,
        }
    }

    /// The innermost frame of a suspended thread.
    pub(crate) async fn top(&self, thread: RawId) -> Result<Option<StackFrame<RawId>>> {
        Ok(self.stack_trace(thread, 0, 1).await?.frames.into_iter().next())
    }

    fn launched(&self) -> bool {
        self.0.options.is_program && self.setup().request == StartRequest::Launch
    }
}

#[async_trait]
impl Debugger for DapDebugger {
    async fn prepare(&self) -> Result<()> {
        let _starting = self.0.starting.lock().await;
        start::prepare(self).await
    }

    async fn run(&self) -> Result<()> {
        let _starting = self.0.starting.lock().await;
        start::run(self).await
    }

    async fn set_breakpoints(&self, path: &Path, wanted: Vec<SourceBreakpoint>) -> Result<Vec<BindResult>> {
        breakpoints::set_in_source(self, path, wanted).await
    }

    async fn set_function_breakpoints(&self, wanted: Vec<FunctionBreakpoint>) -> Result<Vec<BindResult>> {
        functions::set_on_functions(self, wanted).await
    }

    async fn data_breakpoint_info(&self, request: DataRequest) -> Result<String> {
        data::find(self, request).await
    }

    async fn set_data_breakpoints(&self, wanted: Vec<DataBreakpoint>) -> Result<Vec<BindResult>> {
        data::set(self, wanted).await
    }

    async fn set_exception_mode(&self, mode: ExceptionMode) -> Result<()> {
        self.stop_in_functions((self.quirks().exception_functions)(mode)).await?;
        self.stop_at_errors(mode).await;
        let offered = self.capabilities().exception_breakpoint_filters;
        if offered.is_empty() {
            // The request itself is an error then.
            return Ok(());
        }
        let wanted = (self.quirks().exception_filters)(mode);
        let by_default = self.quirks().default_filters && mode != ExceptionMode::None;
        let filters = offered
            .iter()
            .filter(|filter| {
                wanted.contains(&filter.filter.as_str())
                    || by_default && (filter.default || mode == ExceptionMode::All)
            })
            .map(|filter| filter.filter.clone())
            .collect::<Vec<_>>();
        let arguments = ::dap::SetExceptionBreakpointsArguments { filters: filters.clone() };
        let request = async {
            let _still =
                if self.quirks().filters_only_when_stopped { Some(motion::hold(self).await) } else { None };
            self.request::<::dap::SetExceptionBreakpoints>(arguments, deadlines::REQUEST).await.map(drop)
        };
        self.0.filters.set(filters, request).await
    }

    async fn resume(&self, thread: RawId) -> Result<()> {
        lock(&self.0.stepping).end();
        self.0.pausing.forget();
        lock(&self.0.motion).turn(false);
        catches::end(self);
        self.go(thread, None).await
    }

    async fn step(&self, thread: RawId, step: Step) -> Result<()> {
        lock(&self.0.kept).check(thread, step)?;
        self.0.pausing.forget();
        lock(&self.0.motion).turn(false);
        catches::begin(self, thread, step);
        rules::begin_step(self, thread, step).await;
        self.go(thread, Some(step)).await
    }

    async fn reverse(&self, thread: RawId, how: Reverse) -> Result<()> {
        if !self.capabilities().supports_step_back {
            return Err(cannot_reverse());
        }
        lock(&self.0.stepping).end();
        self.0.pausing.forget();
        self.go_back(thread, how).await
    }

    async fn pause(&self, thread: RawId) -> Result<()> {
        self.can_run()?;
        {
            // Not while a stop is passed by.
            let _moving = self.0.moving.lock().await;
            self.0.pausing.ask(thread);
        }
        if !motion::may_pause(self).await {
            return Ok(());
        }
        pausing::ask(self, thread).await
    }

    async fn threads(&self) -> Result<Vec<RawThread>> {
        threads::threads(self).await
    }

    async fn thread_name(&self, thread: RawId) -> Result<Option<String>> {
        threads::name(self, thread).await
    }

    async fn stack_trace(&self, thread: RawId, start: usize, levels: usize) -> Result<Stack<RawId>> {
        let generation = {
            let references = lock(&self.0.references);
            if let Some(known) = references.stacks.get(&thread, start, levels) {
                return Ok(known);
            }
            references.generation
        };
        let stack = self.frames(thread, start, levels, |name| Some(name)).await?;
        let mut references = lock(&self.0.references);
        // The program may have run meanwhile.
        if start == 0 && references.generation == generation {
            references.stacks.keep(thread, levels, &stack);
        }
        Ok(stack)
    }

    async fn scopes(&self, frame: RawId) -> Result<Vec<Scope<RawId>>> {
        values::scopes(self, frame).await
    }

    async fn variables(&self, reference: RawId, page: Page, text: usize) -> Result<Children<RawId>> {
        values::variables(self, reference, page, text).await
    }

    async fn locals(
        &self,
        frame: RawId,
        page: Page,
        text: usize,
        expansion: Expansion,
    ) -> Result<ExpandedLocals<RawId>> {
        locals::locals(self, frame, page, text, expansion).await
    }

    async fn evaluate(&self, request: Evaluate) -> Result<Value<RawId>> {
        values::evaluate(self, request).await.map_err(|error| self.in_dump(error))
    }

    async fn set_variable(
        &self,
        parent: RawId,
        name: &str,
        value: &str,
        text: usize,
    ) -> Result<Value<RawId>> {
        let assigned = values::set_variable(self, parent, name, value, text).await;
        assigned.map_err(|error| self.in_dump(error))
    }

    async fn exception(&self, thread: RawId) -> Result<Exception> {
        exception::exception(self, thread).await
    }

    async fn should_stop_at_exception(
        &self,
        _thread: RawId,
        _exception: Option<&str>,
        mode: ExceptionMode,
    ) -> Result<bool> {
        // It stops at a signal regardless of its settings.
        Ok(mode != ExceptionMode::None)
    }

    async fn source_text(&self, name: &str) -> Result<Option<String>> {
        let known = lock(&self.0.texts).get(name).cloned();
        let Some(source) = known else { return Ok(None) };
        let source_reference = source.source_reference.unwrap_or_default();
        let arguments = ::dap::SourceArguments { source, source_reference };
        let response = self.request::<::dap::SourceText>(arguments, deadlines::READ).await?;
        Ok(Some(response.content))
    }

    async fn exception_satisfies(&self, thread: RawId, condition: &str) -> Result<bool> {
        if self.quirks().names_exception {
            return rules::is_met(self, thread, condition).await;
        }
        Err(Error::Unsupported(
            "this debugger does not support conditions on exceptions; leave out the condition, and evaluate \
             at the stop"
                .to_owned(),
        ))
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

    async fn thrown(&self, thread: RawId, text: usize) -> Result<Thrown> {
        thrown::thrown(self, thread, text).await
    }

    /// Ends a program that the adapter has launched; one that it has attached to runs on.
    async fn detach(&self) -> Result<()> {
        let launched = self.launched();
        let takes = self.0.capabilities.get().is_none_or(|can| can.support_terminate_debuggee);
        let arguments = ::dap::DisconnectArguments { terminate_debuggee: takes.then_some(launched) };
        let answer = self.request::<::dap::Disconnect>(arguments, deadlines::GOODBYE).await;
        if launched && let Some(program) = self.0.terminal.get() {
            program.kill().await;
        }
        if let Some(adapter) = &self.0.options.adapter_process {
            adapter.kill().await;
        }
        // An adapter that closes the connection has detached too.
        match answer {
            Ok(_) | Err(Error::Lost) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn abilities(&self) -> Vec<String> {
        abilities::of(&self.capabilities())
    }

    fn pid(&self) -> Option<u32> {
        start::pid(self)
    }

    fn end(&self) -> Option<End> {
        // Of a program that we started, its exit status is known.
        let status = self.0.terminal.get().and_then(Process::end);
        status.or_else(|| lock(&self.0.end).clone())
    }
}

#[cfg(test)]
pub(super) mod tests;
