//! The life of a program: start, processes that join and leave, stops and resumes, end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{AbortHandle, abortable, join_all};
use tokio::sync::mpsc;

use super::{Actor, Reply, answer};
use crate::deadlines;
use crate::debugger::{Arrival, Connector, Debugger, Event, Started, Step};
use crate::error::{Error, Result};
use crate::model::breakpoint::Failures;
use crate::model::ids::{RawId, TargetId, ThreadId};
use crate::model::launch::Start;
use crate::model::stop::{End, Stop, StopReason};
use crate::output::Category;
use crate::process::{self, Process};

/// A program, from its start to its end.
pub(super) struct Run<D> {
    pub(super) targets: BTreeMap<TargetId, Target<D>>,
    /// The process, when it is ours.
    pub(super) process: Option<Process>,
    /// Stops the start while it is under way.
    starting: Option<AbortHandle>,
    /// Stops listening for children.
    listening: Option<AbortHandle>,
    next_target: u32,
    /// It was said that there are more processes than are debugged.
    passes_by: bool,
    /// Counts the events, to notice when no more come.
    events: u64,
    /// How the process ended, while its last events are awaited.
    end: Option<End>,
    /// We let go of it, so that a connection that closes says nothing of the program.
    is_leaving: bool,
}

/// A process of the program.
pub(super) struct Target<D> {
    pub(super) debugger: D,
    /// It is configured: changes of breakpoints are sent to it.
    pub(super) ready: bool,
}

impl<D> Run<D> {
    fn starting(handle: AbortHandle) -> Self {
        Self {
            targets: BTreeMap::new(),
            process: None,
            starting: Some(handle),
            listening: None,
            next_target: 0,
            passes_by: false,
            events: 0,
            end: None,
            is_leaving: false,
        }
    }
}

impl<C: Connector> Actor<C> {
    pub(super) fn start(&mut self, start: Start, reply: Reply<()>) {
        if !self.state.start() {
            return answer(reply, Err(Error::AlreadyLive));
        }
        self.runs += 1;
        self.breakpoints.reset();
        self.exception_failures = None;
        self.profiling = None;
        self.last_start = Some(start.clone());
        let connector = Arc::clone(&self.connector);
        let sinks = self.sinks.clone();
        let (work, handle) = abortable(async move { connector.start(start, sinks).await });
        self.run = Some(Run::starting(handle));
        self.publish();
        let run = self.runs;
        self.spawn(work, move |actor, started| {
            let started = started.unwrap_or(Err(Error::Closed));
            match started {
                Ok(started) if actor.is_current(run) => actor.started(started, reply),
                Ok(_) => answer(reply, Err(Error::Closed)),
                Err(error) => {
                    if actor.is_current(run) {
                        actor.state.finished(End::NotStarted(error.to_string()));
                        actor.publish();
                    }
                    answer(reply, Err(error));
                }
            }
        });
    }

    /// Whether a job that was begun in this run still matters.
    fn is_current(&self, run: u64) -> bool {
        self.runs == run && self.run.is_some()
    }

    fn started(&mut self, started: Started<C::Debugger>, reply: Reply<()>) {
        let run = self.runs;
        if let Some(process) = &started.process {
            let ended = process.ended();
            self.spawn(ended, move |actor, end| {
                if actor.is_current(run) {
                    actor.process_ended(end);
                }
            });
        }
        if let Some(current) = &mut self.run {
            current.process = started.process;
            current.starting = None;
        }
        self.next_arrival(started.arrivals, Some(reply));
    }

    /// The process is gone. What its debugger told before may still be on the way; the connection closes
    /// after it.
    fn process_ended(&mut self, end: End) {
        let Some(run) = &mut self.run else { return };
        if !run.targets.contains_key(&TargetId::PROGRAM) {
            return self.program_ended(end);
        }
        run.end = Some(end);
        let seen = run.events;
        self.drain_events(seen);
    }

    /// A forked child may hold the connection open, so silence counts as its end too.
    fn drain_events(&self, seen: u64) {
        let number = self.runs;
        self.spawn(tokio::time::sleep(deadlines::DRAIN), move |actor, ()| {
            let Some(run) = actor.run.as_mut().filter(|_| actor.runs == number) else { return };
            if run.events != seen {
                let seen = run.events;
                actor.drain_events(seen);
            } else if let Some(end) = run.end.take() {
                actor.program_ended(end);
            }
        });
    }

    /// A child may have been started a moment ago, and not have connected yet.
    fn program_ended(&mut self, end: End) {
        self.breakpoints.left(TargetId::PROGRAM);
        let process = self.run.as_ref().and_then(|run| run.process.clone());
        let number = self.runs;
        let alone = async move {
            if let Some(process) = process {
                process.alone(deadlines::CHILD).await;
            }
        };
        self.spawn(alone, move |actor, ()| {
            if actor.is_current(number) {
                actor.state.ended(end);
                actor.publish();
            }
        });
    }

    /// `first` is there until the program itself has connected.
    fn next_arrival(&mut self, mut arrivals: mpsc::Receiver<Arrival<C::Debugger>>, first: Option<Reply<()>>) {
        let number = self.runs;
        let (work, handle) = abortable(async move {
            let arrival = arrivals.recv().await;
            (arrival, arrivals)
        });
        if let Some(run) = &mut self.run {
            run.listening = Some(handle);
        }
        self.spawn(work, move |actor, arrived| {
            match arrived {
                Ok((Some(arrival), arrivals)) if actor.is_current(number) => {
                    actor.arrived(arrival, first);
                    actor.next_arrival(arrivals, None);
                }
                // The program has ended meanwhile, which is what there is to tell.
                _ => never_mind(first),
            }
        });
    }

    /// A process connected. `reply` is there for the program itself.
    fn arrived(&mut self, arrival: Arrival<C::Debugger>, reply: Option<Reply<()>>) {
        let bounds = &self.sinks.policy.bounds;
        let Some(run) = &mut self.run else { return never_mind(reply) };
        if reply.is_none() && run.targets.len() as u64 >= bounds.processes {
            if !std::mem::replace(&mut run.passes_by, true) {
                let met =
                    bounds.met("processes", "a child process, and those that follow, run without a debugger");
                let more = met.room().map(|more| format!(", {more}")).unwrap_or_default();
                self.sinks.output.append(Category::Console, &format!("{met}{more}\n"));
            }
            return self.spawn(pass_by(arrival), |_, ()| {});
        }
        let target = TargetId(run.next_target);
        run.next_target += 1;
        let debugger = arrival.debugger;
        run.targets.insert(target, Target { debugger: debugger.clone(), ready: false });
        self.state.arrived(target);
        self.next_event(target, arrival.events);
        let number = self.runs;
        let work = async move { debugger.prepare().await };
        self.spawn(work, move |actor, prepared| {
            if !actor.is_current(number) {
                return never_mind(reply);
            }
            match prepared {
                Ok(()) => actor.configure(target, reply),
                Err(error) => actor.not_configured(target, error, reply),
            }
        });
    }

    /// The process has its breakpoints and may run.
    pub(super) fn configured(&mut self, target: TargetId, reply: Option<Reply<()>>) {
        let Ok(debugger) = self.debugger(target) else { return never_mind(reply) };
        if let Some(target) = self.run.as_mut().and_then(|run| run.targets.get_mut(&target)) {
            target.ready = true;
        }
        self.state.running(target);
        self.publish();
        let number = self.runs;
        self.spawn(async move { debugger.run().await }, move |actor, result| match result {
            // It has run, and ended before it could say so; how, is learnt with its end.
            Ok(()) | Err(Error::Lost) => never_mind(reply),
            Err(error) if actor.is_current(number) => actor.not_configured(target, error, reply),
            Err(_) => never_mind(reply),
        });
    }

    /// A process that cannot be configured is let go. When it is the program itself, the start has failed.
    pub(super) fn not_configured(&mut self, target: TargetId, error: Error, reply: Option<Reply<()>>) {
        if let Some(left) = self.run.as_mut().and_then(|run| run.targets.remove(&target)) {
            self.spawn(async move { left.debugger.detach().await }, |_, _| {});
        }
        self.state.left(target);
        if let Some(reply) = reply {
            self.state.finished(End::NotStarted(error.to_string()));
            answer(reply, Err(error));
        } else if matches!(error, Error::Lost) {
            // It hung up: it has ended by now, or is about to.
            tracing::debug!(?target, "a child process ended before it could be debugged");
        } else {
            let text = format!("a child process could not be debugged and runs on without: {error}\n");
            self.sinks.output.append(Category::Console, &text);
        }
        self.publish();
    }

    fn next_event(&self, target: TargetId, mut events: mpsc::Receiver<Event>) {
        let run = self.runs;
        let work = async move {
            let event = events.recv().await.unwrap_or(Event::Left);
            (event, events)
        };
        self.spawn(work, move |actor, (event, events)| {
            if !actor.is_current(run) {
                return;
            }
            if let Some(run) = &mut actor.run {
                run.events += 1;
            }
            let last = event == Event::Left;
            actor.happened(target, event);
            if !last {
                actor.next_event(target, events);
            }
        });
    }

    fn happened(&mut self, target: TargetId, event: Event) {
        if matches!(event, Event::Stopped { .. } | Event::Continued | Event::Left) {
            // pydevd may forget to acknowledge a resume when the next stop comes at once.
            for (_, reply) in self.resuming.extract_if(.., |(resuming, _)| *resuming == target) {
                answer(reply, Ok(()));
            }
        }
        match event {
            Event::Stopped { thread, reason, text, breakpoints } => {
                let raw = thread;
                let thread = self.threads.number(target, thread);
                let stop = Stop { epoch: 0, target, thread, reason, text, breakpoints };
                if stop.reason == StopReason::Exception {
                    return self.stopped_at_exception(raw, stop);
                }
                self.stopped(stop);
            }
            Event::Continued => self.state.resumed(target),
            Event::Logged { id, text } => {
                self.breakpoints.hit(target, id);
                self.sinks.output.append(Category::Log, &format!("{text}\n"));
            }
            Event::Recorded { id, line } => {
                if let Some(record) = self.breakpoints.record(id) {
                    record.recorder.read(&line);
                }
            }
            Event::RuleFailed { id, message, times } => self.breakpoints.failed(id, message, times),
            Event::Planted { id, planted } => {
                self.breakpoints.settle(target, [(id, planted)]);
                self.journal_breakpoints();
            }
            Event::Profiled(profile) => self.profiled(target, profile),
            Event::Left => self.left(target),
        }
        self.publish();
    }

    fn stopped(&mut self, stop: Stop) {
        for id in &stop.breakpoints {
            self.breakpoints.hit(stop.target, *id);
        }
        self.state.stopped(stop);
    }

    /// Shows the stop, unless the debugger finds that it is not worth one or the condition is not true of what
    /// was thrown, and goes on. A condition that fails is counted, and is no reason to stop.
    fn stopped_at_exception(&self, raw: RawId, stop: Stop) {
        let Ok(debugger) = self.debugger(stop.target) else { return };
        let (run, wanted, exception) = (self.runs, self.exceptions.clone(), stop.text.clone());
        let condition = wanted.condition.clone();
        let work = async move {
            let worth =
                debugger.is_worth_a_stop(raw, exception.as_deref(), wanted.mode).await.unwrap_or(true);
            let met = match &wanted.condition {
                Some(condition) if worth => debugger.exception_meets(raw, condition).await,
                _ => Ok(worth),
            };
            // When it does not go on, the stop is shown after all.
            let passed = met != Ok(true) && debugger.pass(raw).await.is_ok();
            (passed, met.err())
        };
        self.spawn(work, move |actor, (passed, failure)| {
            if !actor.is_current(run) {
                return;
            }
            if let Some(error) = failure
                && !matches!(error, Error::Lost | Error::Closed)
                && actor.exceptions.condition == condition
            {
                let count = actor.exception_failures.as_ref().map_or(0, |failures| failures.count) + 1;
                actor.exception_failures = Some(Failures { count, message: error.to_string() });
            }
            if !passed {
                actor.stopped(stop);
                actor.publish();
            }
        });
    }

    fn left(&mut self, target: TargetId) {
        let Some(run) = &mut self.run else { return };
        let gone = run.targets.remove(&target);
        self.breakpoints.left(target);
        self.state.left(target);
        if target != TargetId::PROGRAM {
            return;
        }
        if let Some(end) = run.end.take() {
            return self.program_ended(end);
        }
        // With a process of ours, its end is what counts.
        if run.process.is_some() || run.is_leaving || !self.is_live() {
            return;
        }
        let number = self.runs;
        let fate = async move {
            match gone.map(|target| target.debugger) {
                Some(debugger) if debugger.has_terminated() => End::Gone,
                debugger => fate_of(debugger.and_then(|debugger| debugger.pid())).await,
            }
        };
        self.spawn(fate, move |actor, end| {
            if actor.is_current(number) {
                actor.state.ended(end);
                actor.publish();
            }
        });
    }

    pub(super) fn resume(&mut self, reply: Reply<()>) {
        if self.state.show_other_thread() {
            self.publish();
            return answer(reply, Ok(()));
        }
        self.go(None, reply, |debugger, thread| async move { debugger.resume(thread).await });
    }

    pub(super) fn step(&mut self, thread: Option<ThreadId>, step: Step, reply: Reply<()>) {
        self.go(thread, reply, move |debugger, thread| async move { debugger.step(thread, step).await });
    }

    /// Lets the suspended process run, in one way or another.
    fn go<F>(
        &mut self,
        thread: Option<ThreadId>,
        reply: Reply<()>,
        request: impl FnOnce(C::Debugger, RawId) -> F,
    ) where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        let prepared = self.stopped_thread(thread).and_then(|(target, raw)| {
            let debugger = self.stopped_debugger(target)?;
            Ok((debugger, raw))
        });
        let (debugger, raw) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return answer(reply, Err(error)),
        };
        let Some(stop) = self.state.resuming() else { return };
        self.publish();
        self.resuming.push((stop.target, reply));
        let number = self.runs;
        self.spawn(request(debugger, raw), move |actor, result| {
            let waiting = actor.resuming.iter().position(|(target, _)| *target == stop.target);
            let Some(waiting) = waiting.filter(|_| actor.is_current(number)) else { return };
            let (_, reply) = actor.resuming.swap_remove(waiting);
            match result {
                Err(error @ Error::Refused(_)) => {
                    actor.state.refused(&stop);
                    actor.publish();
                    answer(reply, Err(error));
                }
                // A program that ends in the step takes the acknowledgement along; what counts is its end.
                Ok(()) | Err(_) => answer(reply, Ok(())),
            }
        });
    }

    /// The thread that is meant: the one that the program stopped in unless another one of its process is
    /// named.
    pub(super) fn stopped_thread(&self, thread: Option<ThreadId>) -> Result<(TargetId, RawId)> {
        let execution = self.state.execution();
        let stop = execution.stop().ok_or_else(|| self.not_paused())?;
        let (target, raw) = self.threads.find(thread.unwrap_or(stop.thread))?;
        if target == stop.target {
            Ok((target, raw))
        } else {
            Err(Error::NoThread(thread.unwrap_or(stop.thread)))
        }
    }

    pub(super) fn pause(&mut self, thread: Option<ThreadId>, reply: Reply<()>) {
        if self.state.execution().stop().is_some() {
            return answer(reply, Ok(()));
        }
        let chosen = match thread.map(|thread| self.threads.find(thread)).transpose() {
            Ok(chosen) => chosen,
            Err(error) => return answer(reply, Err(error)),
        };
        let target = chosen.map(|(target, _)| target).or_else(|| {
            let run = self.run.as_ref()?;
            run.targets.iter().find(|(_, target)| target.ready).map(|(id, _)| *id)
        });
        let debugger = target.ok_or_else(|| self.not_live()).and_then(|target| self.debugger(target));
        let debugger = match debugger {
            Ok(debugger) => debugger,
            Err(error) => return answer(reply, Err(error)),
        };
        let work = async move {
            let thread = match chosen {
                Some((_, raw)) => raw,
                None => debugger.threads().await?.first().ok_or(Error::Lost)?.id,
            };
            debugger.pause(thread).await
        };
        self.spawn(work, |_, result| answer(reply, result));
    }

    pub(super) fn detach(&mut self, reply: Reply<()>) {
        if !self.is_live() {
            return answer(reply, Err(self.not_live()));
        }
        self.let_go(End::Detached, reply);
    }

    pub(super) fn end(&mut self, reply: Reply<()>) {
        if !self.is_live() {
            return answer(reply, Ok(()));
        }
        if let Some(starting) = self.run.as_ref().and_then(|run| run.starting.as_ref()) {
            starting.abort();
            self.state.finished(End::NotStarted("the session ended it".to_owned()));
            self.publish();
            return answer(reply, Ok(()));
        }
        self.let_go(End::Detached, reply);
    }

    /// Ends a program of ours; lets go of one that we attached to, which is what `otherwise` says.
    fn let_go(&mut self, otherwise: End, reply: Reply<()>) {
        let Some(run) = &mut self.run else { return answer(reply, Ok(())) };
        run.is_leaving = true;
        let process = run.process.clone();
        let debuggers: Vec<C::Debugger> =
            run.targets.values().map(|target| target.debugger.clone()).collect();
        let number = self.runs;
        let work = async move {
            if let Some(process) = process {
                process.kill().await;
                let ended = tokio::time::timeout(deadlines::KILL, process.ended()).await;
                return ended.unwrap_or(End::Lost);
            }
            // A debugger that does not answer is left as well, by closing the connection.
            join_all(debuggers.iter().map(Debugger::detach)).await;
            otherwise
        };
        self.spawn(work, move |actor, end| {
            if actor.is_current(number) && actor.is_live() {
                actor.state.finished(end);
                actor.publish();
            }
            answer(reply, Ok(()));
        });
    }

    /// The program has ended: connections are closed, and what it left running is ended.
    pub(super) fn clean_up(&mut self) {
        // The end may be known before what came of the request that led to it, which is not waited for then.
        for (_, reply) in self.resuming.drain(..) {
            answer(reply, Ok(()));
        }
        for target in self.run.iter().flat_map(|run| run.targets.keys()) {
            self.breakpoints.left(*target);
        }
        let Some(run) = self.run.take() else { return };
        if let Some(listening) = run.listening {
            listening.abort();
        }
        if let Some(process) = run.process {
            self.spawn(async move { process.kill().await }, |_, ()| {});
        }
    }
}

/// Lets a process run that waits for a debugger and is to have none: nothing is set in it, and it goes on from
/// wherever it stops.
async fn pass_by<D: Debugger>(arrival: Arrival<D>) {
    let Arrival { debugger, mut events } = arrival;
    let let_run = async {
        // It waits until it was told everything, as any other. One that is gone needs nothing.
        if debugger.prepare().await.is_ok() {
            let _ = debugger.run().await;
        }
    };
    let hear = async {
        while let Some(event) = events.recv().await {
            match event {
                Event::Stopped { thread, .. } => drop(debugger.pass(thread).await),
                Event::Left => return,
                _ => {}
            }
        }
    };
    tokio::join!(let_run, hear);
}

/// Answers one who started a program that is gone before it was configured: its end is told by the state.
pub(super) fn never_mind(reply: Option<Reply<()>>) {
    if let Some(reply) = reply {
        answer(reply, Ok(()));
    }
}

/// What became of a program that we had attached to, now that its connection is closed.
async fn fate_of(pid: Option<u32>) -> End {
    let Some(pid) = pid else { return End::Lost };
    let poll = Duration::from_millis(10);
    for _ in 0..(deadlines::GOODBYE.as_millis() / poll.as_millis()) {
        if !process::exists(pid) {
            return End::Gone;
        }
        tokio::time::sleep(poll).await;
    }
    End::Lost
}
