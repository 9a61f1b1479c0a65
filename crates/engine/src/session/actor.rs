//! The task that owns a session's state.
//!
//! It awaits in one place, its `select!`, and there only two things: the next command, and the next of the
//! *jobs* in flight. A job is whatever takes time: a request to a debugger, the next event of a process, the
//! end of the program. It runs without the actor and gives back a function of it, which is applied when the
//! job is done. So a debugger that does not answer holds up nothing but its own caller.

mod inspection;
mod journaling;
mod performance;
mod planting;
mod program;
mod sampling;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use self::journaling::Journaling;
use self::performance::Profiling;
use self::planting::Planter;
use self::program::Run;
use super::breakpoints::{Breakpoints, Change, Relocation};
use super::references::References;
use super::stacks::Stacks;
use super::state::{Execution, State};
use crate::deadlines;
use crate::debugger::{Connector, Evaluate, Sinks, Step};
use crate::error::{Error, Result};
use crate::journal::SessionJournal;
use crate::model::activity::ProcessActivity;
use crate::model::breakpoint::{Breakpoint, Failures, Pending, Place, Planned, Request};
use crate::model::ids::{BreakpointId, RawId, Reference, TargetId, ThreadId};
use crate::model::launch::Start;
use crate::model::performance::{CpuProfile, HeapSnapshot, HeapUsage, TimelineEntry};
use crate::model::stack::{Debuggee, Scope, Stack, Thread};
use crate::model::stop::{End, Exception, ExceptionBreakpoints};
use crate::model::thrown::Thrown;
use crate::model::variable::{Children, Page, Value};

/// Where the answer to a command goes. The caller may have gone.
pub(super) type Reply<T> = oneshot::Sender<Result<T>>;

/// Picks breakpoints.
type Which = Box<dyn Fn(BreakpointId, &Place) -> bool + Send>;

/// What the handle asks for; its methods say what each means.
pub(super) enum Command {
    Start {
        start: Start,
        reply: Reply<()>,
    },
    LastStart {
        reply: Reply<Option<Start>>,
    },
    Resume {
        reply: Reply<()>,
    },
    Step {
        thread: Option<ThreadId>,
        step: Step,
        reply: Reply<()>,
    },
    Pause {
        thread: Option<ThreadId>,
        reply: Reply<()>,
    },
    AddBreakpoint {
        request: Request,
        planned: Planned,
        /// How long a program is waited for that does not answer.
        within: Duration,
        reply: Reply<Breakpoint>,
    },
    ChangeBreakpoint {
        id: BreakpointId,
        change: Change,
        reply: Reply<Breakpoint>,
    },
    RelocateBreakpoint {
        id: BreakpointId,
        to: Relocation,
        reply: Reply<()>,
    },
    RemoveBreakpoints {
        which: Which,
        reply: Reply<Vec<BreakpointId>>,
    },
    Breakpoints {
        reply: Reply<Vec<Breakpoint>>,
    },
    SetExceptionBreakpoints {
        wanted: ExceptionBreakpoints,
        reply: Reply<ExceptionBreakpoints>,
    },
    ExceptionBreakpoints {
        reply: Reply<(ExceptionBreakpoints, Option<Failures>)>,
    },
    Debuggees {
        reply: Reply<Vec<Debuggee>>,
    },
    Threads {
        reply: Reply<Vec<Thread>>,
    },
    StackTrace {
        thread: Option<ThreadId>,
        start: usize,
        levels: usize,
        reply: Reply<Stack<Reference>>,
    },
    Scopes {
        frame: Reference,
        reply: Reply<Vec<Scope<Reference>>>,
    },
    Locals {
        frame: Reference,
        page: Page,
        text: usize,
        reply: Reply<(String, Children<Reference>)>,
    },
    Variables {
        reference: Reference,
        page: Page,
        text: usize,
        reply: Reply<Children<Reference>>,
    },
    Evaluate {
        frame: Reference,
        expression: String,
        deadline: Duration,
        text: usize,
        pure: bool,
        reply: Reply<Value<Reference>>,
    },
    SameAs {
        value: Reference,
        among: Vec<Reference>,
        reply: Reply<Option<usize>>,
    },
    SetVariable {
        parent: Reference,
        name: String,
        value: String,
        text: usize,
        reply: Reply<Value<Reference>>,
    },
    Exception {
        reply: Reply<Exception>,
    },
    Thrown {
        text: usize,
        reply: Reply<Thrown>,
    },
    SourceText {
        name: String,
        reply: Reply<Option<String>>,
    },
    Execution {
        reply: Reply<Execution>,
    },
    Undebugged {
        reply: Reply<bool>,
    },
    ProgramEnded {
        reply: Reply<Option<End>>,
    },
    StartSampling {
        interval: Duration,
        reply: Reply<()>,
    },
    Activity {
        reply: Reply<Vec<ProcessActivity>>,
    },
    StopSampling {
        reply: Reply<()>,
    },
    StartProfile {
        reply: Reply<()>,
    },
    StopProfile {
        reply: Reply<CpuProfile>,
    },
    HeapSnapshot {
        reply: Reply<HeapSnapshot>,
    },
    HeapUsage {
        collect: bool,
        reply: Reply<HeapUsage>,
    },
    Timeline {
        reply: Reply<Vec<TimelineEntry>>,
    },
    Detach {
        reply: Reply<()>,
    },
    End {
        reply: Reply<()>,
    },
}

impl Command {
    /// Only a program that has a debugger can tell it or do it.
    fn reads(&self) -> bool {
        matches!(
            self,
            Self::Pause { .. }
                | Self::Threads { .. }
                | Self::Undebugged { .. }
                | Self::StackTrace { .. }
                | Self::Scopes { .. }
                | Self::Locals { .. }
                | Self::Variables { .. }
                | Self::Evaluate { .. }
                | Self::SameAs { .. }
                | Self::SetVariable { .. }
                | Self::Exception { .. }
                | Self::Thrown { .. }
                | Self::Execution { .. }
        )
    }
}

/// What a job leads to.
type Then<C> = Box<dyn FnOnce(&mut Actor<C>) + Send>;
/// Something that takes time.
type Job<C> = Pin<Box<dyn Future<Output = Then<C>> + Send>>;

pub(super) struct Actor<C: Connector> {
    connector: Arc<C>,
    sinks: Sinks,
    commands: mpsc::Receiver<Command>,
    published: watch::Sender<Execution>,
    jobs: FuturesUnordered<Job<C>>,
    state: State,
    run: Option<Run<C::Debugger>>,
    /// Counts the starts, so that what a job of an earlier run brings is recognised.
    runs: u64,
    last_start: Option<Start>,
    breakpoints: Breakpoints,
    planter: Planter,
    exceptions: ExceptionBreakpoints,
    /// How often their condition failed in this run.
    exception_failures: Option<Failures>,
    references: References,
    stacks: Stacks,
    threads: ThreadNumbers,
    /// Samples are taken, this far apart.
    sampling: Option<Duration>,
    profiling: Option<Profiling>,
    /// Who waits for a process to run again.
    resuming: Vec<(TargetId, Reply<()>)>,
    /// What was asked of a program that is leaving. It is answered when its end is known.
    held: Vec<Command>,
    /// Since when it is leaving.
    leaving: Option<Instant>,
    journaling: Journaling,
}

impl<C: Connector> Actor<C> {
    pub(super) fn new(
        connector: C,
        sinks: Sinks,
        commands: mpsc::Receiver<Command>,
        published: watch::Sender<Execution>,
        journal: SessionJournal,
    ) -> Self {
        Self {
            connector: Arc::new(connector),
            sinks,
            commands,
            published,
            jobs: FuturesUnordered::new(),
            state: State::new(),
            run: None,
            runs: 0,
            last_start: None,
            breakpoints: Breakpoints::default(),
            planter: Planter::default(),
            exceptions: ExceptionBreakpoints::default(),
            exception_failures: None,
            references: References::new(),
            stacks: Stacks::default(),
            threads: ThreadNumbers::default(),
            sampling: None,
            profiling: None,
            resuming: Vec::new(),
            held: Vec::new(),
            leaving: None,
            journaling: Journaling::new(journal),
        }
    }

    /// Serves until the last handle is gone, then ends the program.
    pub(super) async fn run(mut self) {
        loop {
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.handle(command),
                    None => break,
                },
                Some(then) = self.jobs.next(), if !self.jobs.is_empty() => then(&mut self),
            }
        }
        if let Some(process) = self.run.and_then(|run| run.process) {
            process.kill().await;
        }
    }

    fn handle(&mut self, command: Command) {
        if command.reads() && self.state.is_leaving() && !self.is_undebugged() {
            return self.hold(command);
        }
        self.serve(command);
    }

    /// Whether the program runs or has ended is known in a moment.
    fn hold(&mut self, command: Command) {
        if self.held.is_empty() {
            let known = self.leaving.unwrap_or_else(Instant::now) + deadlines::LEAVING;
            self.spawn(tokio::time::sleep_until(known), |actor, ()| actor.serve_held());
        }
        self.held.push(command);
    }

    fn serve_held(&mut self) {
        for command in std::mem::take(&mut self.held) {
            self.serve(command);
        }
    }

    fn serve(&mut self, command: Command) {
        match command {
            Command::Start { start, reply } => self.start(start, reply),
            Command::LastStart { reply } => answer(reply, Ok(self.last_start.clone())),
            Command::Resume { reply } => self.resume(reply),
            Command::Step { thread, step, reply } => self.step(thread, step, reply),
            Command::Pause { thread, reply } => self.pause(thread, reply),
            Command::AddBreakpoint { request, planned, within, reply } => {
                self.add_breakpoint(request, planned, within, reply);
            }
            Command::ChangeBreakpoint { id, change, reply } => self.change_breakpoint(id, change, reply),
            Command::RelocateBreakpoint { id, to, reply } => {
                self.breakpoints.relocate(id, to);
                answer(reply, Ok(()));
            }
            Command::RemoveBreakpoints { which, reply } => self.remove_breakpoints(which, reply),
            Command::Breakpoints { reply } => answer(reply, Ok(self.breakpoints.list(&self.untold()))),
            Command::SetExceptionBreakpoints { wanted, reply } => {
                self.set_exception_breakpoints(wanted, reply);
            }
            Command::ExceptionBreakpoints { reply } => {
                answer(reply, Ok((self.exceptions.clone(), self.exception_failures.clone())));
            }
            Command::Debuggees { reply } => self.list_debuggees(reply),
            Command::Threads { reply } => self.list_threads(reply),
            Command::StackTrace { thread, start, levels, reply } => {
                self.stack_trace(thread, start, levels, reply);
            }
            Command::Scopes { frame, reply } => self.scopes(frame, reply),
            Command::Locals { frame, page, text, reply } => self.locals(frame, page, text, reply),
            Command::Variables { reference, page, text, reply } => {
                self.variables(reference, page, text, reply);
            }
            Command::Evaluate { frame, expression, deadline, text, pure, reply } => {
                self.evaluate(frame, |frame| Evaluate { expression, frame, deadline, text, pure }, reply);
            }
            Command::SameAs { value, among, reply } => self.same_as(value, &among, reply),
            Command::SetVariable { parent, name, value, text, reply } => {
                self.set_variable(parent, name, value, text, reply);
            }
            Command::Exception { reply } => self.exception(reply),
            Command::Thrown { text, reply } => self.thrown(text, reply),
            Command::SourceText { name, reply } => self.source_text(name, reply),
            Command::Execution { reply } => answer(reply, Ok(self.state.execution().clone())),
            Command::Undebugged { reply } => answer(reply, Ok(self.is_undebugged())),
            Command::ProgramEnded { reply } => answer(reply, Ok(self.state.program_ended().cloned())),
            Command::StartSampling { interval, reply } => self.start_sampling(interval, reply),
            Command::Activity { reply } => self.activity(reply),
            Command::StopSampling { reply } => self.stop_sampling(reply),
            Command::StartProfile { reply } => self.start_profile(reply),
            Command::StopProfile { reply } => self.stop_profile(reply),
            Command::HeapSnapshot { reply } => self.heap_snapshot(reply),
            Command::HeapUsage { collect, reply } => self.heap_usage(collect, reply),
            Command::Timeline { reply } => self.timeline(reply),
            Command::Detach { reply } => self.detach(reply),
            Command::End { reply } => self.end(reply),
        }
    }

    /// Does something that takes time; `then` is applied to the actor and to what came of it.
    fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        then: impl FnOnce(&mut Self, T) + Send + 'static,
    ) {
        self.jobs.push(Box::pin(async move {
            let result = work.await;
            Box::new(move |actor: &mut Self| then(actor, result)) as Then<C>
        }));
    }

    fn is_live(&self) -> bool {
        self.state.execution().is_live()
    }

    /// It has been leaving for so long that it runs on without a debugger.
    fn is_undebugged(&self) -> bool {
        let known = self.leaving.map(|since| since + deadlines::LEAVING);
        self.state.is_leaving() && known.is_some_and(|known| Instant::now() >= known)
    }

    /// Why a breakpoint is pending that no process was told of.
    fn untold(&self) -> Pending {
        match self.state.execution() {
            _ if self.is_undebugged() => Pending::Undebugged,
            execution if execution.is_live() => Pending::Underway,
            _ => Pending::NotStarted,
        }
    }

    /// Tells everyone who waits what the program is doing now.
    fn publish(&mut self) {
        let is_leaving = self.state.is_leaving();
        self.leaving = self.leaving.filter(|_| is_leaving).or_else(|| is_leaving.then(Instant::now));
        let now = self.state.execution().clone();
        if *self.published.borrow() == now {
            return;
        }
        // A number from before belongs to another stop from here on.
        self.references.retire();
        self.stacks.forget();
        self.journal_execution(&now);
        if matches!(now, Execution::Ended(_)) {
            self.clean_up();
        }
        self.published.send_replace(now);
        if !self.state.is_leaving() {
            self.serve_held();
        }
    }

    /// The debuggers of all processes that are configured.
    fn ready_debuggers(&self) -> Vec<(TargetId, C::Debugger)> {
        let targets = self.run.iter().flat_map(|run| &run.targets).filter(|(_, target)| target.ready);
        targets.map(|(id, target)| (*id, target.debugger.clone())).collect()
    }

    /// The debugger of a process.
    fn debugger(&self, target: TargetId) -> Result<C::Debugger> {
        let run = self.run.as_ref().ok_or_else(|| self.not_live())?;
        let lost = || if self.is_undebugged() { Error::Undebugged } else { Error::Lost };
        run.targets.get(&target).map(|target| target.debugger.clone()).ok_or_else(lost)
    }

    /// The debugger of a process that is suspended.
    fn stopped_debugger(&self, target: TargetId) -> Result<C::Debugger> {
        if !self.state.is_stopped(target) {
            return Err(self.not_paused());
        }
        self.debugger(target)
    }

    fn not_live(&self) -> Error {
        if self.is_undebugged() {
            return Error::Undebugged;
        }
        Error::NotLive { state: self.state.execution().as_str() }
    }

    fn not_paused(&self) -> Error {
        if self.is_undebugged() {
            return Error::Undebugged;
        }
        Error::NotPaused { state: self.state.execution().as_str() }
    }
}

fn answer<T>(reply: Reply<T>, result: Result<T>) {
    // The caller may have stopped waiting.
    let _ = reply.send(result);
}

/// The numbers that agents use for threads. They stay the same for the life of the session.
#[derive(Debug, Default)]
struct ThreadNumbers(BTreeMap<(TargetId, RawId), ThreadId>);

impl ThreadNumbers {
    fn number(&mut self, target: TargetId, raw: RawId) -> ThreadId {
        let next = ThreadId(u32::try_from(self.0.len()).unwrap_or(u32::MAX - 1) + 1);
        *self.0.entry((target, raw)).or_insert(next)
    }

    fn find(&self, number: ThreadId) -> Result<(TargetId, RawId)> {
        let found = self.0.iter().find(|(_, known)| **known == number);
        found.map(|(thread, _)| *thread).ok_or(Error::NoThread(number))
    }
}

#[cfg(test)]
mod tests;
