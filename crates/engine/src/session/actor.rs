//! The task that owns a session's state.
//!
//! It awaits in one place, its `select!`, and there only two things: the next request, and the next of the
//! *jobs* in flight. A job is whatever takes time: a request to a debugger, the next event of a process, the
//! end of the program. It runs without the actor and gives back a function of it, which is applied when the
//! job is done. So a debugger that does not answer holds up nothing but its own caller.
//!
//! A request is a function of the actor as well. The modules below have the operations: the method of the handle
//! that callers use, and what it makes the actor do.

mod breakpoint_sync;
mod data_breakpoints;
mod exceptions;
mod execution;
mod fate;
mod inspection;
mod journaling;
mod performance;
mod program;
mod sampling;
mod unnoticed;
pub(super) mod until_next_stop;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use self::breakpoint_sync::BreakpointSync;
use self::journaling::Journaling;
use self::performance::Profiling;
use self::program::Run;
use self::until_next_stop::UntilNextStop;
use super::breakpoints::Breakpoints;
use super::references::References;
use super::state::{Execution, State};
use crate::deadlines;
use crate::debugger::{Connector, Debugger, Sinks};
use crate::error::{Error, Result};
use crate::model::breakpoint::{Failures, Pending};
use crate::model::data_breakpoint::DataChange;
use crate::model::ids::{RawId, Reference, TargetId, ThreadId};
use crate::model::launch::Start;
use crate::model::stacks::Stacks;
use crate::model::stop::ExceptionBreakpoints;
use journal::SessionJournal;

/// Where the answer to a request goes. The caller may have gone.
pub(super) type Reply<T> = oneshot::Sender<Result<T>>;

/// What the handle asks for.
pub(super) struct Request {
    /// Only a program that has a debugger can answer it.
    pub(super) is_live: bool,
    pub(super) serve: Box<dyn FnOnce(&mut Actor) + Send>,
}

/// What a job leads to.
type Then = Box<dyn FnOnce(&mut Actor) + Send>;
type Job = Pin<Box<dyn Future<Output = Then> + Send>>;

pub(super) struct Actor {
    connector: Arc<dyn Connector>,
    sinks: Sinks,
    mailbox: mpsc::Receiver<Request>,
    published: watch::Sender<Execution>,
    jobs: FuturesUnordered<Job>,
    state: State,
    run: Option<Run>,
    /// Counts the starts, so that what a job of an earlier run brings is recognised.
    runs: u64,
    last_start: Option<Start>,
    breakpoints: Breakpoints,
    breakpoint_sync: BreakpointSync,
    /// Counts what may have changed of them.
    breakpoint_changes: watch::Sender<u64>,
    /// What happened to watched values, until the stop that follows.
    changes: Vec<(TargetId, DataChange)>,
    exceptions: ExceptionBreakpoints,
    /// How often their condition failed in this run.
    exception_failures: Option<Failures>,
    until_next_stop: Option<UntilNextStop>,
    references: References,
    stacks: Stacks<(TargetId, RawId), Reference>,
    threads: ThreadNumbers,
    /// Samples are taken, this far apart.
    sampling: Option<Duration>,
    profiling: Option<Profiling>,
    /// Who waits for a process to run again.
    resuming: Vec<(TargetId, Reply<()>)>,
    /// Who asked for a pause while the program was being started.
    pausing: Vec<Reply<()>>,
    /// A request to a program that is ending, answered when its end is known.
    held: Vec<Request>,
    /// Since when it is leaving.
    leaving: Option<Instant>,
    journaling: Journaling,
}

impl Actor {
    pub(super) fn new(
        connector: Arc<dyn Connector>,
        sinks: Sinks,
        mailbox: mpsc::Receiver<Request>,
        published: watch::Sender<Execution>,
        breakpoint_changes: watch::Sender<u64>,
        journal: SessionJournal,
    ) -> Self {
        Self {
            connector,
            sinks,
            mailbox,
            published,
            jobs: FuturesUnordered::new(),
            state: State::new(),
            run: None,
            runs: 0,
            last_start: None,
            breakpoints: Breakpoints::default(),
            changes: Vec::new(),
            breakpoint_sync: BreakpointSync::default(),
            breakpoint_changes,
            exceptions: ExceptionBreakpoints::default(),
            exception_failures: None,
            until_next_stop: None,
            references: References::new(),
            stacks: Stacks::default(),
            threads: ThreadNumbers::default(),
            sampling: None,
            profiling: None,
            resuming: Vec::new(),
            pausing: Vec::new(),
            held: Vec::new(),
            leaving: None,
            journaling: Journaling::new(journal),
        }
    }

    /// Serves until the last handle is gone, then ends the program.
    pub(super) async fn run(mut self) {
        loop {
            tokio::select! {
                request = self.mailbox.recv() => match request {
                    Some(request) => self.handle(request),
                    None => break,
                },
                Some(then) = self.jobs.next(), if !self.jobs.is_empty() => then(&mut self),
            }
        }
        if let Some(owned) = self.run.and_then(|run| run.process) {
            owned.process().kill().await;
        }
    }

    fn handle(&mut self, request: Request) {
        if request.is_live && self.state.is_leaving() && !self.is_undebugged() {
            return self.hold(request);
        }
        (request.serve)(self);
    }

    /// Whether the program runs or has ended is known in a moment.
    fn hold(&mut self, request: Request) {
        if self.held.is_empty() {
            let known = self.leaving.unwrap_or_else(Instant::now) + deadlines::LEAVING;
            self.spawn(tokio::time::sleep_until(known), |actor, ()| actor.serve_held());
        }
        self.held.push(request);
    }

    fn serve_held(&mut self) {
        for request in std::mem::take(&mut self.held) {
            (request.serve)(self);
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
            Box::new(move |actor: &mut Self| then(actor, result)) as Then
        }));
    }

    /// Answers with what a request gives, or with the reason why there is nothing to ask.
    fn forward<X, T, W>(&self, reply: Reply<T>, found: Result<X>, request: impl FnOnce(X) -> W)
    where
        T: Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        match found {
            Ok(found) => self.spawn(request(found), |_, result| answer(reply, result)),
            Err(error) => answer(reply, Err(error)),
        }
    }

    fn is_live(&self) -> bool {
        self.state.execution().is_live()
    }

    /// It has been leaving for so long that it runs on without a debugger.
    fn is_undebugged(&self) -> bool {
        let known = self.leaving.map(|since| since + deadlines::LEAVING);
        self.state.is_leaving() && known.is_some_and(|known| Instant::now() >= known)
    }

    /// Why a breakpoint is pending that no process has yet.
    fn pending_reason(&self) -> Pending {
        match self.state.execution() {
            _ if self.is_undebugged() => Pending::Undebugged,
            execution if execution.is_live() => Pending::Underway,
            _ => Pending::NotStarted,
        }
    }

    /// Wakes everyone who waits with what the program is doing now.
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
        let is_settled = now.is_settled();
        self.published.send_replace(now);
        if is_settled {
            self.remove_until_next_stop();
        }
        if !self.state.is_leaving() {
            self.serve_held();
        }
    }

    /// The debuggers of all processes that are configured.
    fn ready_debuggers(&self) -> Vec<(TargetId, Arc<dyn Debugger>)> {
        let targets = self.run.iter().flat_map(|run| &run.targets).filter(|(_, target)| target.ready);
        targets.map(|(id, target)| (*id, target.debugger.clone())).collect()
    }

    /// The debugger of a process.
    fn debugger(&self, target: TargetId) -> Result<Arc<dyn Debugger>> {
        let run = self.run.as_ref().ok_or_else(|| self.not_live())?;
        let lost = || if self.is_undebugged() { Error::Undebugged } else { Error::Lost };
        run.targets.get(&target).map(|target| target.debugger.clone()).ok_or_else(lost)
    }

    /// The debugger of a process that is suspended.
    fn stopped_debugger(&self, target: TargetId) -> Result<Arc<dyn Debugger>> {
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
        let thread = self.0.iter().find(|(_, known)| **known == number);
        thread.map(|(thread, _)| *thread).ok_or(Error::NoThread(number))
    }
}

#[cfg(test)]
mod tests;
