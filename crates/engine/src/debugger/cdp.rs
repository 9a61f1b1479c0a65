//! Node's inspector as a [`Debugger`]: the Chrome `DevTools` Protocol, with nothing in between.
//!
//! Each process and each worker thread is a debugger of its own. Tasks, for every connection: the client's
//! driver, which moves bytes, and `events::pump`, which turns what arrives into the session's events; for every worker a
//! pump. All end with the connection.
//!
//! Reading order: `connector` (how processes come in), `scripts` (what they have loaded), `breakpoints`,
//! `places` and `columns` (where they stop), `events` and `stops` (what happens then), `execution` (how they go on), `frames`
//! and `values` (what is to be seen), `sampling` (what it does while it runs).

mod announcements;
mod assertions;
mod binding;
mod breakpoints;
mod columns;
mod connector;
mod console;
mod ends;
mod events;
mod exceptions;
mod execution;
mod frames;
mod functions;
mod heap;
mod insertions;
mod performance;
mod places;
mod recording;
mod renaming;
mod rules;
mod sampling;
mod scripts;
mod signal;
mod stops;
mod texts;
mod transpiled;
mod unhandled;
mod values;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::cdp::{Command, debugger, node_runtime, node_worker, runtime};
use tokio::sync::{mpsc, watch};

use self::binding::Bound;
use self::breakpoints::Breakpoints;
use self::execution::Intent;
use self::insertions::Insertions;
use self::sampling::Sampling;
use self::scripts::Scripts;
use self::stops::Stop;
use self::unhandled::Unhandled;
use self::values::Values;
use super::{Arrival, Debugger, Evaluate, Event, FunctionBreakpoint, Planted, SourceBreakpoint, Step};
use crate::adapter::{Adapter, Boxed, CdpSetup, Entry, Host, Question, Runtime};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::activity::Activity;
use crate::model::ids::RawId;
use crate::model::performance::{CpuProfile, HeapSnapshot, HeapUsage, TimelineEntry};
use crate::model::source::Code;
use crate::model::stack::{RawThread, Scope, Stack};
use crate::model::stop::{Exception, ExceptionMode};
use crate::model::thrown::Thrown;
use crate::model::variable::{Children, Page, Value};
use crate::output::Output;
use crate::policy::SharedPolicy;

pub use connector::CdpConnector;

/// How much of the chain of asynchronous calls V8 keeps. Deeper ones cost the program more and help nobody.
const ASYNC_DEPTH: i32 = 32;

/// A process has one thread of JavaScript, and each worker is a debugger of its own.
const THREAD: RawId = RawId(1);

/// One thread of JavaScript. Clones share it.
#[derive(Clone, Debug)]
pub struct CdpDebugger(Arc<Connection>);

/// What all threads of a program have in common.
#[derive(Clone, Debug)]
struct Shared {
    adapter: &'static dyn Adapter,
    setup: Arc<CdpSetup>,
    /// We started the program, so its pipes are ours.
    is_ours: bool,
    host: &'static dyn Host,
    runtime: Arc<Runtime>,
    /// Where workers come in.
    arrivals: mpsc::Sender<Arrival<CdpDebugger>>,
    output: Output,
    policy: SharedPolicy,
}

impl Shared {
    /// Whether a file is the user's: none of Node's, no library, and not our hook.
    fn is_users(&self, path: &Path) -> bool {
        !self.adapter.is_internal(path) && !self.setup.is_hook(path)
    }

    /// What a source holds; nothing when that cannot be known.
    async fn analyze(&self, path: &Path) -> Option<Code> {
        let question = Question { file: Some(path), ..Question::default() };
        self.adapter.analyze(self.host, &self.runtime, question).await.ok()
    }
}

/// What a thread of JavaScript is in its program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// The main thread of the program.
    Program,
    /// The main thread of a process that it started, and what that runs.
    Child(String),
    /// A worker thread, and what Node calls it.
    Worker(String),
}

impl Kind {
    /// What its thread is called.
    fn thread(&self) -> &str {
        match self {
            Self::Program => "main",
            Self::Child(name) | Self::Worker(name) => name,
        }
    }
}

#[derive(Debug)]
struct Connection {
    client: ::cdp::Client,
    shared: Shared,
    kind: Kind,
    /// The operating system's number of the process, when it runs on this machine.
    pid: Option<u32>,
    /// Where the inspector listens; none for a worker, which has none of its own.
    url: Option<String>,
    scripts: Arc<Scripts>,
    breakpoints: Breakpoints,
    bound: Bound,
    insertions: Insertions,
    sampling: Sampling,
    values: Values,
    /// Where the thread is suspended.
    stop: Mutex<Option<Arc<Stop>>>,
    /// A heap snapshot that is being read.
    heap: Mutex<Option<heap::Reading>>,
    is_profiling: Mutex<bool>,
    /// Where the session hears of what the thread does.
    events: mpsc::Sender<Event>,
    /// Counts the stops.
    stops: AtomicI64,
    /// It runs, as far as V8 has said: a pause that is asked for before that is forgotten.
    is_running: watch::Sender<bool>,
    /// What it was last told to do.
    intent: Mutex<Intent>,
    /// Where something is thrown that nobody is told of.
    unhandled: Unhandled,
    terminated: AtomicBool,
    /// V8 goes on with a step that was given up at an exception.
    lingers: AtomicBool,
    /// It has not begun, and waits for us.
    waits: watch::Sender<bool>,
    /// It stops at errors that are caught, too.
    sees_caught: AtomicBool,
    /// V8 passes over Node's own code and libraries.
    passes_over: AtomicBool,
}

impl CdpDebugger {
    /// Takes up a thread, and tells the session of it. Boxed, because a thread brings others in.
    fn arrive(
        client: ::cdp::Client,
        incoming: ::cdp::Incoming,
        kind: Kind,
        pid: Option<u32>,
        url: Option<String>,
        shared: Shared,
    ) -> Boxed<'static, Result<()>> {
        let arrivals = shared.arrivals.clone();
        let (events, received) = mpsc::channel(256);
        let scripts = Arc::new(Scripts::default());
        let debugger = Self(Arc::new(Connection {
            values: Values::with_places(
                client.clone(),
                scripts.places(),
                pid,
                shared.policy.safety.read_only,
            ),
            client,
            shared,
            kind,
            pid,
            url,
            scripts,
            breakpoints: Breakpoints::default(),
            bound: Bound::default(),
            insertions: Insertions::default(),
            sampling: Sampling::default(),
            stop: Mutex::default(),
            heap: Mutex::default(),
            is_profiling: Mutex::default(),
            events: events.clone(),
            stops: AtomicI64::new(0),
            is_running: watch::Sender::new(false),
            intent: Mutex::default(),
            unhandled: Unhandled::default(),
            terminated: AtomicBool::new(false),
            lingers: AtomicBool::new(false),
            waits: watch::Sender::new(false),
            sees_caught: AtomicBool::new(false),
            passes_over: AtomicBool::new(false),
        }));
        // The pump must not keep the connection open when nobody uses it any more.
        tokio::spawn(events::pump(incoming, Arc::downgrade(&debugger.0), events));
        let arrival = Arrival { debugger, events: received };
        Box::pin(async move { arrivals.send(arrival).await.map_err(|_| Error::Closed) })
    }

    async fn request<C: Command>(&self, command: C) -> Result<C::Result> {
        Ok(self.0.client.request(command, deadlines::REQUEST).await?)
    }

    /// Sends a command where it is called for.
    async fn request_if<C: Command>(&self, is_needed: bool, command: C) -> Result<()> {
        if is_needed {
            self.request(command).await?;
        }
        Ok(())
    }

    /// Where the thread is suspended.
    fn stop(&self) -> Result<Arc<Stop>> {
        lock(&self.0.stop).clone().ok_or(Error::NotPaused { state: "running" })
    }

    /// Has the program stop before its first line, when that is wanted. Where there is no script, or it cannot
    /// be read, that is wherever it first comes out of Node's own code.
    async fn stop_at_entry(&self) -> Result<()> {
        let Some(entry) = &self.0.shared.setup.entry else { return Ok(()) };
        if let Entry::Script(path) = entry
            && let Some(first) = self.0.shared.analyze(path).await.and_then(|code| code.first)
        {
            return breakpoints::set_entry(self, path, first).await;
        }
        *lock(&self.0.intent) = Intent::Entry;
        self.request(debugger::Pause::default()).await?;
        Ok(())
    }

    /// A process announces itself before it waits, and Node forgets a `Runtime.runIfWaitingForDebugger` that
    /// comes before that: up to one start in ten is lost then. A version that does not tell when it waits is
    /// given time.
    async fn wait_for_start(&self) {
        let mut waits = self.0.waits.subscribe();
        let _ = tokio::time::timeout(deadlines::GOODBYE, waits.wait_for(|waits| *waits)).await;
    }

    fn is_worker(&self) -> bool {
        matches!(self.0.kind, Kind::Worker(_))
    }

    /// Steps pass over Node's own code and over libraries, unless they are to be stepped into.
    ///
    /// V8 does not stop at what is thrown in code that it passes over and caught somewhere. There an assertion
    /// fails, so with all exceptions wanted nothing is passed over, unless a step is under way.
    async fn pass_over(&self, is_stepping: bool) -> Result<()> {
        let passes = is_stepping || !self.0.sees_caught.load(Ordering::Acquire);
        if self.0.passes_over.swap(passes, Ordering::AcqRel) != passes {
            let patterns = if passes { self.passed_over() } else { Vec::new() };
            self.request(debugger::SetBlackboxPatterns { patterns }).await?;
        }
        Ok(())
    }

    fn passed_over(&self) -> Vec<String> {
        let patterns: &[&str] = if self.0.shared.setup.just_my_code {
            &["^node:", "/node_modules/"]
        } else {
            &["^node:internal/"]
        };
        patterns.iter().map(|&pattern| pattern.to_owned()).collect()
    }
}

impl Debugger for CdpDebugger {
    /// The commands are sent at once, in this order: one by one they take 3 ms of each start.
    async fn prepare(&self) -> Result<()> {
        let is_process = !self.is_worker();
        let depth = debugger::SetAsyncCallStackDepth { max_depth: ASYNC_DEPTH };
        let tell = node_runtime::NotifyWhenWaitingForDisconnect { enabled: true };
        let workers = node_worker::Enable { wait_for_debugger_on_start: true };
        tokio::try_join!(
            self.request_if(is_process, tell),
            self.request(debugger::Enable::default()),
            self.request(depth),
            self.pass_over(true),
            self.request_if(is_process, workers),
            // What a program of ours prints comes by its pipes, and costs nothing more then.
            self.request_if(!self.0.shared.is_ours, runtime::Enable::default()),
            // It tells when the program waits.
            self.request_if(is_process, node_runtime::Enable::default()),
        )?;
        Ok(())
    }

    async fn run(&self) -> Result<()> {
        if self.0.kind == Kind::Program {
            self.stop_at_entry().await?;
        }
        if self.0.shared.is_ours && !self.is_worker() {
            self.wait_for_start().await;
        }
        let mut stop_at_start = self.0.is_running.subscribe();
        self.request(runtime::RunIfWaitingForDebugger::default()).await?;
        if !self.0.shared.is_ours && *self.0.waits.borrow() {
            // It was started so that it stops before its first statement, which is seen at once then.
            let _ = tokio::time::timeout(deadlines::GOODBYE, stop_at_start.changed()).await;
        }
        if lock(&self.0.stop).is_none() {
            self.0.is_running.send_replace(true);
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
        let state = match mode {
            ExceptionMode::None => debugger::PauseOnExceptions::None,
            // Node itself catches what a worker does not, and ends it later.
            ExceptionMode::Uncaught if self.is_worker() => debugger::PauseOnExceptions::All,
            ExceptionMode::Uncaught => debugger::PauseOnExceptions::Uncaught,
            ExceptionMode::UserUnhandled | ExceptionMode::All => debugger::PauseOnExceptions::All,
        };
        self.request(debugger::SetPauseOnExceptions { state }).await?;
        let sees_caught = matches!(mode, ExceptionMode::UserUnhandled | ExceptionMode::All);
        self.0.sees_caught.store(sees_caught, Ordering::Release);
        unhandled::reset(self).await?;
        self.pass_over(false).await
    }

    async fn resume(&self, _thread: RawId) -> Result<()> {
        self.pass_over(false).await?;
        execution::resume(self).await
    }

    async fn pass(&self, _thread: RawId) -> Result<()> {
        execution::pass(self).await
    }

    async fn step(&self, _thread: RawId, step: Step) -> Result<()> {
        self.pass_over(true).await?;
        unhandled::reset(self).await?;
        execution::step(self, step).await
    }

    async fn pause(&self, _thread: RawId) -> Result<()> {
        execution::pause(self).await
    }

    async fn threads(&self) -> Result<Vec<RawThread>> {
        Ok(vec![RawThread { id: THREAD, name: self.0.kind.thread().to_owned() }])
    }

    async fn stack_trace(&self, _thread: RawId, start: usize, levels: usize) -> Result<Stack<RawId>> {
        frames::stack_trace(self, start, levels).await
    }

    async fn scopes(&self, frame: RawId) -> Result<Vec<Scope<RawId>>> {
        let frame = frames::frame(self, frame).await?;
        self.0.values.scopes(&frame).await
    }

    async fn locals(&self, frame: RawId, page: Page, text: usize) -> Result<(String, Children<RawId>)> {
        let frame = frames::frame(self, frame).await?;
        self.0.values.locals(&frame, page, text).await
    }

    async fn variables(&self, reference: RawId, page: Page, text: usize) -> Result<Children<RawId>> {
        self.0.values.variables(reference, page, text).await
    }

    async fn evaluate(&self, request: Evaluate) -> Result<Value<RawId>> {
        let frame = frames::frame(self, request.frame).await?;
        self.0.values.evaluate(&frame, &request).await
    }

    async fn same_as(&self, value: RawId, among: Vec<RawId>) -> Result<Option<usize>> {
        self.0.values.same_as(value, &among).await
    }

    async fn set_variable(
        &self,
        parent: RawId,
        name: &str,
        value: &str,
        text: usize,
    ) -> Result<Value<RawId>> {
        self.0.values.set_variable(parent, name, value, text).await
    }

    async fn exception(&self, _thread: RawId) -> Result<Exception> {
        exceptions::describe(self).await
    }

    async fn is_worth_a_stop(
        &self,
        _thread: RawId,
        _exception: Option<&str>,
        mode: ExceptionMode,
    ) -> Result<bool> {
        exceptions::is_worth_a_stop(self, mode).await
    }

    async fn source_text(&self, name: &str) -> Result<Option<String>> {
        Ok(texts::of_source(self, name).await)
    }

    async fn exception_meets(&self, _thread: RawId, condition: &str) -> Result<bool> {
        exceptions::meets(self, condition).await
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

    async fn thrown(&self, _thread: RawId, text: usize) -> Result<Thrown> {
        assertions::thrown(self, text).await
    }

    async fn start_profile(&self) -> Result<()> {
        performance::start_profile(self).await
    }

    async fn stop_profile(&self) -> Result<CpuProfile> {
        performance::stop_profile(self).await
    }

    async fn heap_snapshot(&self) -> Result<HeapSnapshot> {
        performance::heap_snapshot(self).await
    }

    async fn heap_usage(&self, collect: bool) -> Result<HeapUsage> {
        performance::heap_usage(self, collect).await
    }

    async fn timeline(&self) -> Result<Vec<TimelineEntry>> {
        performance::timeline(self).await
    }

    async fn detach(&self) -> Result<()> {
        // It removes all breakpoints, and a suspended program runs on.
        let disabled = self.0.client.request(debugger::Disable::default(), deadlines::GOODBYE).await;
        if self.0.shared.is_ours && !self.is_worker() {
            // A connection that closes does not end its wait.
            self.wait_for_start().await;
            let run = runtime::RunIfWaitingForDebugger::default();
            let _ = self.0.client.request(run, deadlines::GOODBYE).await;
        }
        *lock(&self.0.stop) = None;
        Ok(disabled.map(|_| ())?)
    }

    fn pid(&self) -> Option<u32> {
        self.0.pid
    }

    fn url(&self) -> Option<String> {
        self.0.url.clone()
    }

    fn has_terminated(&self) -> bool {
        self.0.terminated.load(Ordering::Acquire)
    }
}

/// Code of ours as it is sent into the program, without indentation and the lines that are comments.
fn sent(source: &str) -> String {
    let lines = source.lines().map(str::trim_start);
    lines.filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Nothing panics while one of these locks is held, and none is held across an await.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<::cdp::Error> for Error {
    fn from(error: ::cdp::Error) -> Self {
        match error {
            ::cdp::Error::Closed => Self::Lost,
            ::cdp::Error::Deadline { command, deadline } => {
                Self::Deadline { what: format!("the debugger's `{command}`"), after: deadline }
            }
            ::cdp::Error::Refused { message, .. } => Self::Refused(message),
            malformed @ ::cdp::Error::Malformed { .. } => Self::Refused(malformed.to_string()),
        }
    }
}

impl From<::cdp::ConnectError> for Error {
    fn from(error: ::cdp::ConnectError) -> Self {
        Self::Environment {
            problem: error.to_string(),
            remedy:
                "check that the program runs and was started with an inspector that listens there, such as \
                     `node --inspect=PORT program.js`"
                    .to_owned(),
        }
    }
}
