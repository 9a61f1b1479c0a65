//! The seam between a session and a wire protocol.
//!
//! Above it everything is in the words of the Debug Adapter Protocol; below it each protocol has its own.
//! Sessions hold a debugger as `Arc<dyn Debugger>`, so that nothing above the seam is generic over the protocol.

pub mod cdp;
pub mod dap;
mod dbgp;
mod expansion;
#[doc(hidden)]
pub mod fake;
pub mod java;
pub mod mixed;
mod preparation;
pub mod python;
mod remote_setting;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};

use crate::adapter::Adapter;
use crate::error::{Error, Result};
use crate::model::activity::{Activity, Callback};
use crate::model::breakpoint::{FunctionLocation, Rule};
use crate::model::data_breakpoint::{DataAccess, DataChange};
use crate::model::ids::{BreakpointId, RawId};
use crate::model::launch::{Launch, Start};
use crate::model::performance::{CpuProfile, HeapSnapshot, HeapUsage, TimelineEntry};
use crate::model::stack::{RawThread, Scope, Stack};
use crate::model::stop::{End, Exception, ExceptionMode, StopReason};
use crate::model::thrown::Thrown;
use crate::model::variable::{Children, ExpandedLocals, Expansion, Page, Value};
use crate::output::Output;
use crate::policy::SharedPolicy;
use crate::process::{self, Process};
use crate::progress::Progress;

/// Speaks one wire protocol to one process (or worker).
///
/// Every method returns when the debugger has *acknowledged*; none waits for the program to stop. What the
/// program does arrives as [`Event`]s, in order. Every method keeps a deadline of its own.
#[async_trait]
pub trait Debugger: Send + Sync + 'static {
    /// The debugger to which this one leaves what it does not answer itself.
    fn base(&self) -> Option<&dyn Debugger> {
        None
    }

    /// Opens the conversation. After it breakpoints can be set, and the process waits for [`Debugger::run`].
    async fn prepare(&self) -> Result<()>;

    /// Ends the configuration: the process runs.
    async fn run(&self) -> Result<()>;

    /// Replaces the breakpoints of a file. One outcome for each, in order.
    async fn set_breakpoints(&self, path: &Path, wanted: Vec<SourceBreakpoint>) -> Result<Vec<BindResult>>;

    /// Replaces the breakpoints on function names. One outcome for each, in order.
    async fn set_function_breakpoints(&self, wanted: Vec<FunctionBreakpoint>) -> Result<Vec<BindResult>>;

    /// Finds the storage of a value in a frame, to watch it.
    async fn data_breakpoint_info(&self, request: DataRequest) -> Result<String> {
        self.base().ok_or_else(|| cannot_watch(NO_DATA_BREAKPOINTS))?.data_breakpoint_info(request).await
    }

    /// Replaces the data breakpoints. One outcome for each, in order, also for those that are disabled.
    async fn set_data_breakpoints(&self, wanted: Vec<DataBreakpoint>) -> Result<Vec<BindResult>> {
        self.base().ok_or_else(|| cannot_watch(NO_DATA_BREAKPOINTS))?.set_data_breakpoints(wanted).await
    }

    /// Chooses the exceptions to stop at.
    async fn set_exception_mode(&self, mode: ExceptionMode) -> Result<()>;

    /// Lets a suspended process run.
    async fn resume(&self, thread: RawId) -> Result<()>;

    /// Resumes silently from an internal stop, with the thread's previous resume command.
    async fn resume_silently(&self, thread: RawId) -> Result<()> {
        self.resume(thread).await
    }

    /// Lets a suspended thread run one step.
    async fn step(&self, thread: RawId, step: Step) -> Result<()>;

    /// Lets a suspended thread run backwards.
    async fn reverse(&self, thread: RawId, how: Reverse) -> Result<()> {
        let _ = (thread, how);
        Err(cannot_reverse())
    }

    /// The function that a step began in, when that has ended while the step has not: code of a library runs.
    async fn left_by_step(&self) -> Result<Option<String>> {
        Ok(None)
    }

    /// Asks a running process to stop.
    async fn pause(&self, thread: RawId) -> Result<()>;

    /// The threads of the process.
    async fn threads(&self) -> Result<Vec<RawThread>>;

    /// The name of a thread that is suspended; none if there is no such thread.
    async fn thread_name(&self, thread: RawId) -> Result<Option<String>> {
        let threads = self.threads().await?;
        Ok(threads.into_iter().find(|found| found.id == thread).map(|found| found.name))
    }

    /// Frames of a thread. Some debuggers answer for running threads too.
    async fn stack_trace(&self, thread: RawId, start: usize, levels: usize) -> Result<Stack<RawId>>;

    /// The scopes of a frame, innermost first.
    async fn scopes(&self, frame: RawId) -> Result<Vec<Scope<RawId>>>;

    /// The variables of a frame's innermost scope, and what some of them contain. One request for all of it, where the
    /// debugger can.
    async fn locals(
        &self,
        frame: RawId,
        page: Page,
        text: usize,
        expansion: Expansion,
    ) -> Result<ExpandedLocals<RawId>>;

    /// Children of a scope or value. Texts longer than `text` characters are cut.
    async fn variables(&self, reference: RawId, page: Page, text: usize) -> Result<Children<RawId>>;

    /// Evaluates an expression in a frame.
    async fn evaluate(&self, request: Evaluate) -> Result<Value<RawId>>;

    /// Assigns to a child of a scope or value, and returns what it holds then.
    async fn set_variable(&self, parent: RawId, name: &str, value: &str, text: usize)
    -> Result<Value<RawId>>;

    /// Which of several values another one is itself; none when it is none of them.
    async fn same_as(&self, value: RawId, among: Vec<RawId>) -> Result<Option<usize>> {
        let _ = (value, among);
        Ok(None)
    }

    /// The exception that a thread is stopped at.
    async fn exception(&self, thread: RawId) -> Result<Exception>;

    /// Whether a stop at an exception is one to show. It is not when the exception is how programs end in an
    /// orderly way, or when an earlier stop was about the same one.
    async fn should_stop_at_exception(
        &self,
        thread: RawId,
        exception: Option<&str>,
        mode: ExceptionMode,
    ) -> Result<bool>;

    /// The text of a source that is in no file here, by the path or name under which frames have it: a source
    /// inside a compiler's map, evaluated code, the runtime's own. None when this debugger does not have it.
    async fn source_text(&self, name: &str) -> Result<Option<String>> {
        match self.base() {
            Some(base) => base.source_text(name).await,
            None => Ok(None),
        }
    }

    /// Whether a condition is true for the exception at which a thread is stopped; `error` is that exception. A
    /// condition that throws or takes too long is an error.
    async fn exception_satisfies(&self, thread: RawId, condition: &str) -> Result<bool>;

    /// Details of the exception that a thread is stopped at, besides [`Debugger::exception`]. Values
    /// are read and nothing of the program is run. Texts longer than `text` characters are cut.
    async fn thrown(&self, thread: RawId, text: usize) -> Result<Thrown> {
        let _ = (thread, text);
        Ok(Thrown::default())
    }

    /// Begins to take samples of what the process does, about one each `interval`, without stopping it.
    async fn start_sampling(&self, interval: Duration) -> Result<()> {
        let _ = interval;
        Err(Error::Unsupported("this debugger cannot sample stacks".to_owned()))
    }

    /// The activity of the process since [`Debugger::start_sampling`], or since the last such call, and what it waits
    /// for now. This does not stop the process, and sampling continues. A process that cannot respond now, because it
    /// waits in native code, is described as far as possible without it.
    async fn activity(&self) -> Result<Activity> {
        Ok(Activity::default())
    }

    /// The functions that an event loop has called more than once within a time, most frequent first. Empty if one of
    /// its calls has not returned, there is no event loop, or this is unknown. The process runs meanwhile, and
    /// sampling continues.
    async fn callbacks(&self, during: Duration) -> Result<Vec<Callback>> {
        let _ = during;
        Ok(Vec::new())
    }

    /// Stops sampling.
    async fn stop_sampling(&self) -> Result<()> {
        Ok(())
    }

    /// Begins to take down what the process spends its time with.
    async fn start_profile(&self) -> Result<()> {
        self.base().ok_or_else(|| not_measured("CPU profiles"))?.start_profile().await
    }

    /// Ends that, and returns the result.
    async fn stop_profile(&self) -> Result<CpuProfile> {
        self.base().ok_or_else(|| not_measured("CPU profiles"))?.stop_profile().await
    }

    /// Counts the objects in the memory of the process, which is suspended meanwhile.
    async fn heap_snapshot(&self) -> Result<HeapSnapshot> {
        self.base().ok_or_else(|| not_measured("heap snapshots"))?.heap_snapshot().await
    }

    /// How much memory the process uses for its objects, after a garbage collection if requested and the process is
    /// running.
    async fn heap_usage(&self, collect: bool) -> Result<HeapUsage> {
        self.base().ok_or_else(|| not_measured("memory metrics"))?.heap_usage(collect).await
    }

    /// Marks and measures that the program and its runtime recorded, oldest first.
    async fn timeline(&self) -> Result<Vec<TimelineEntry>> {
        self.base().ok_or_else(|| not_measured("timelines"))?.timeline().await
    }

    /// Detaches: breakpoints are removed and the process keeps running.
    async fn detach(&self) -> Result<()>;

    /// The operating system's number of the process, once [`Debugger::prepare`] has learnt it.
    ///
    /// Nothing when the process is not known to run on this machine.
    fn pid(&self) -> Option<u32>;

    /// What the debugger says it can do, beyond what each can.
    fn abilities(&self) -> Vec<String> {
        match self.base() {
            Some(base) => base.abilities(),
            None => Vec::new(),
        }
    }

    /// Where else its debugger can be reached, as a URL; none where only this connection leads to it.
    fn url(&self) -> Option<String> {
        None
    }

    /// How the program ended, once the debugger has reported it.
    fn end(&self) -> Option<End>;
}

/// What only some debuggers can tell.
fn not_measured(what: &str) -> Error {
    Error::Unsupported(format!(
        "{what} are not available: this language's debugger does not support them; use the language's own \
         tools"
    ))
}

/// Only recordings, and debuggers that record, can go back.
pub(crate) fn cannot_reverse() -> Error {
    Error::Unsupported(
        "this debugger cannot run backwards; record the run (record_run, `stillframe record`) and debug the recording \
         with the language `recording`"
            .to_owned(),
    )
}

/// Why most debuggers cannot watch a value.
pub(crate) const NO_DATA_BREAKPOINTS: &str = "this language's debugger has no data breakpoints";

/// A debugger that cannot watch a value, for this reason.
pub(crate) fn cannot_watch(reason: &str) -> Error {
    Error::Unsupported(format!(
        "watching a value is not available: {reason}; set breakpoints with a condition on the lines that may write \
         it, or trace it there"
    ))
}

/// How far to run backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reverse {
    /// To the line before, of this function or of its caller.
    Step,
    /// To the breakpoint before, or to the beginning.
    Continue,
}

/// How far to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the next line of this function, or of its caller.
    Over,
    /// Into the next call.
    Into,
    /// Out of this function.
    Out,
}

/// An expression to evaluate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluate {
    /// The text.
    pub expression: String,
    /// In which frame.
    pub frame: RawId,
    /// How long it may take; it is interrupted after that.
    pub deadline: Duration,
    /// A result text longer than this is cut, in characters.
    pub text: usize,
    /// It must not change anything; one that may is refused.
    pub pure: bool,
}

/// A rule, and the breakpoint that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFor {
    /// The user's breakpoint.
    pub id: BreakpointId,
    /// When it acts, and how.
    pub rule: Rule,
    /// The name of the requested function; none for a line.
    pub function: Option<String>,
}

impl RuleFor {
    /// Whose the rules of a place are.
    pub(crate) fn ids(rules: &[Self]) -> Vec<BreakpointId> {
        rules.iter().map(|rule| rule.id).collect()
    }
}

/// A line to set a breakpoint on. The program stops there if any of the rules applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceBreakpoint {
    /// 1-based.
    pub line: u32,
    /// 1-based; none for the first code on the line.
    pub column: Option<u32>,
    /// At least one.
    pub rules: Vec<RuleFor>,
}

/// A function to set a breakpoint on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionBreakpoint {
    /// Its name, with the class in front for a method.
    pub name: String,
    /// At least one.
    pub rules: Vec<RuleFor>,
}

/// A value to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataRequest {
    /// The text.
    pub expression: String,
    /// In which frame.
    pub frame: RawId,
    /// Which accesses are to stop the program.
    pub access: DataAccess,
}

/// A value to stop at when it is written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataBreakpoint {
    /// What [`Debugger::data_breakpoint_info`] gave.
    pub data_id: String,
    /// As the user wrote it.
    pub expression: String,
    /// Which accesses stop the program.
    pub access: DataAccess,
    /// When it acts, and how.
    pub rule: RuleFor,
    /// Whether it acts at all. Of one that does not, only the storage is kept.
    pub enabled: bool,
}

/// What became of a breakpoint in one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindResult {
    /// It is bound.
    Bound {
        /// On this line, where that is known.
        line: Option<u32>,
        /// At this column, where that is known; 1-based, in UTF-16 units.
        column: Option<u32>,
        /// The columns of the line where code begins, if the requested one is not among them.
        columns: Vec<u32>,
        /// Why the place may not be the intended one.
        warning: Option<String>,
        /// The function that was found, if one was requested by name.
        function: Option<FunctionLocation>,
    },
    /// It will be bound when its code is loaded.
    NotLoaded(String),
    /// It cannot be bound.
    Refused(String),
}

impl BindResult {
    /// Bound somewhere, or on a line.
    pub fn on(line: Option<u32>) -> Self {
        Self::Bound { line, column: None, columns: Vec::new(), function: None, warning: None }
    }

    /// The same with something to say about it, if there is anything.
    #[must_use]
    pub fn with_warning(mut self, text: Option<String>) -> Self {
        if let Self::Bound { warning, .. } = &mut self {
            *warning = text;
        }
        self
    }

    /// Bound in a function, on the line where the program stops.
    pub fn in_function(function: FunctionLocation, line: Option<u32>) -> Self {
        Self::Bound { line, column: None, columns: Vec::new(), function: Some(function), warning: None }
    }
}

/// What a process does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It is suspended.
    Stopped {
        /// The thread that caused it.
        thread: RawId,
        /// Why.
        reason: StopReason,
        /// What the debugger adds.
        text: Option<String>,
        /// The user's breakpoints that asked for it.
        breakpoints: Vec<BreakpointId>,
    },
    /// A watched value was written or read; the stop there follows.
    DataChanged(DataChange),
    /// It runs again.
    Continued,
    /// A logpoint spoke.
    Logged {
        /// Which.
        id: BreakpointId,
        /// What.
        text: String,
    },
    /// A line of what is recorded at a breakpoint, from a process that cannot open the recorder's pipe.
    Recorded {
        /// Which.
        id: BreakpointId,
        /// See [`recording`](crate::recording).
        line: String,
    },
    /// A condition or log message could not be evaluated.
    RuleFailed {
        /// Whose.
        id: BreakpointId,
        /// The language's message.
        message: String,
        /// How often since the last such event.
        times: u64,
    },
    /// The state of a breakpoint changed.
    BindResult {
        /// Whose.
        id: BreakpointId,
        /// The current state.
        result: BindResult,
    },
    /// The process has come to its end while a profile was taken of it.
    Profiled(CpuProfile),
    /// The connection is closed. Nothing follows.
    Left,
}

/// Starts programs, or reaches running ones, and speaks one protocol to them.
#[async_trait]
pub trait Connector: Send + Sync + 'static {
    /// Starts a program or connects to one.
    async fn start(&self, start: Start, to: Sinks) -> Result<Started>;

    /// Prepares for processes of this language that a program in another one starts.
    async fn follow(&self, launch: &Launch, to: Sinks) -> Result<Followed> {
        let _ = (launch, to);
        Err(Error::Unsupported("its processes cannot be followed".to_owned()))
    }
}

/// What makes processes connect that a program in another language starts.
pub struct Followed {
    /// Changes to the environment that they inherit; `None` removes a variable.
    pub env: BTreeMap<String, Option<String>>,
    /// Beginnings of lines that they print because they are debugged.
    pub muted: &'static [&'static str],
    /// The processes that connect.
    pub arrivals: mpsc::Receiver<Arrival>,
}

/// Where a program's output, and news about its start, go.
#[derive(Clone, Debug)]
pub struct Sinks {
    /// The session's output.
    pub output: Output,
    /// What is being done, while a start takes its time.
    pub progress: Progress,
    /// Marks the processes that belong to the session.
    pub session: String,
    /// What is permitted, and how far things may go.
    pub policy: SharedPolicy,
}

/// A program that was started or reached.
pub struct Started {
    /// What to end with the session; none when the program ran already.
    pub process: Option<Owned>,
    /// The processes that connect: the program itself first, then its children.
    pub arrivals: mpsc::Receiver<Arrival>,
}

/// A process that we started.
#[derive(Clone, Debug)]
pub enum Owned {
    /// The program itself: its end is the program's.
    Program(Process),
    /// The adapter that debugs it: how the program ended is what the adapter says.
    Adapter(Process),
}

impl Owned {
    /// The process.
    pub fn process(&self) -> &Process {
        let (Self::Program(process) | Self::Adapter(process)) = self;
        process
    }
}

/// A process that connected and waits to be configured. A connector may know its debugger as a `D` first.
pub struct Arrival<D = Arc<dyn Debugger>> {
    /// Its language.
    pub adapter: &'static dyn Adapter,
    /// Speaks to it.
    pub debugger: D,
    /// What it does.
    pub events: mpsc::Receiver<Event>,
    /// Notified when it has its breakpoints and runs.
    pub configured: Option<oneshot::Sender<()>>,
    /// It does not run before this has come: another debugger of the same process is not ready.
    pub after: Option<oneshot::Receiver<()>>,
}

impl<D> Arrival<D> {
    /// One that depends on no other.
    pub fn new(adapter: &'static dyn Adapter, debugger: D, events: mpsc::Receiver<Event>) -> Self {
        Self { adapter, debugger, events, configured: None, after: None }
    }
}

/// An evaluation that continued after its time limit and the signals that were to end it, and why.
fn uninterrupted(deadline: Duration, pid: Option<u32>) -> Error {
    let why = if pid.is_some_and(process::is_stopped) {
        "because a signal has stopped the process; it responds again after SIGCONT"
    } else {
        "because native code is running; the thread responds again when it returns"
    };
    let limit = deadline.as_millis();
    Error::Refused(format!("the expression did not end within {limit} ms and cannot be interrupted, {why}"))
}
