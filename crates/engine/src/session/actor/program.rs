//! The life of a program: start, processes that join and leave, stops, end.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::{AbortHandle, abortable, join_all};
use tokio::sync::{mpsc, oneshot};

use super::super::Session;
use super::super::state::Execution;
use super::{Actor, Reply, answer, fate};
use crate::adapter::{Adapter, commands};
use crate::deadlines;
use crate::debugger::{Arrival, Debugger, Event, Owned, Started};
use crate::error::{Error, Result};
use crate::model::ids::TargetId;
use crate::model::launch::Start;
use crate::model::stop::{End, Stop, StopReason};
use crate::output::Category;
use crate::process::Termination;
use crate::safety;

/// A program, from its start to its end.
pub(super) struct Run {
    pub(super) targets: BTreeMap<TargetId, Target>,
    /// What to end with the session; none when the program ran already.
    pub(super) process: Option<Owned>,
    /// Stops the start while it is under way.
    starting: Option<AbortHandle>,
    /// Stops listening for children.
    listening: Option<AbortHandle>,
    next_target: u32,
    /// Whether the limit of debugged processes was reported.
    passes_by: bool,
    /// Counts the events, to detect when no more arrive.
    pub(super) events: u64,
    /// How the process ended, while its last events are awaited.
    end: Option<End>,
    /// We detached from it, so a closing connection does not mean that the program ended.
    pub(super) is_leaving: bool,
}

/// A process of the program.
pub(super) struct Target {
    pub(super) adapter: &'static dyn Adapter,
    pub(super) debugger: Arc<dyn Debugger>,
    /// It is configured: changes of breakpoints are sent to it.
    pub(super) ready: bool,
    /// How often the user has resumed it.
    pub(super) resumes: u64,
    /// See [`Arrival::configured`].
    configured: Option<oneshot::Sender<()>>,
    /// See [`Arrival::after`].
    after: Option<oneshot::Receiver<()>>,
}

impl Run {
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

impl Session {
    /// Starts or reaches a program, when it may. Returns when it runs.
    pub async fn start(&self, start: Start) -> Result<()> {
        self.check_start(&start)?;
        if let Start::Attach(attach) = &start {
            self.policy().safety.check_endpoint(&attach.to).await?;
        }
        let title = start.title(self.executable());
        let start = self.with_child_sources(start).await?;
        self.forget_seen_values();
        self.ask(move |actor, reply| actor.start(start, &title, reply)).await
    }

    /// How the program was started the last time.
    pub async fn last_start(&self) -> Result<Option<Start>> {
        self.ask(|actor, reply| answer(reply, Ok(actor.last_start.clone()))).await
    }

    /// What the program is doing, like [`Self::execution`]. Of one whose processes have all left, its end is waited
    /// for.
    pub async fn known_execution(&self) -> Result<Execution> {
        self.ask_live(|actor, reply| answer(reply, Ok(actor.state.execution().clone()))).await
    }

    /// Whether the program runs, and its debugger is gone. Where it may be about to end, that is waited for.
    pub async fn is_undebugged(&self) -> Result<bool> {
        self.ask_live(|actor, reply| answer(reply, Ok(actor.is_undebugged()))).await
    }

    /// How the program itself ended, while processes that it started still run.
    pub async fn program_ended(&self) -> Result<Option<End>> {
        self.ask(|actor, reply| answer(reply, Ok(actor.state.program_ended().cloned()))).await
    }

    /// Detaches from the program. A program that we started is ended.
    pub async fn detach(&self) -> Result<()> {
        self.ask(Actor::detach).await
    }

    /// Detaches from the program, and ends it even if it was attached.
    pub async fn detach_and_end(&self) -> Result<()> {
        let Some(Start::Attach(attach)) = self.last_start().await? else { return self.detach().await };
        self.policy().safety.check_termination()?;
        let debuggees = self.debuggees().await?;
        let program = debuggees.into_iter().find(|debuggee| debuggee.target == TargetId::PROGRAM);
        // On another machine, its number is that of another process here.
        let program = if safety::is_here(&attach.to).await {
            let listening = || commands::debuggee_of(&attach.to).map(|(pid, _)| pid);
            program.and_then(|program| program.pid).or_else(listening)
        } else {
            None
        };
        let Some(program) = program else {
            let problem = "the program may run on another machine; end it there";
            return Err(Error::Unsupported(problem.to_owned()));
        };
        let termination = Termination::of(program);
        // At a stop it could not heed a signal.
        self.detach().await?;
        termination.end().await
    }

    /// Ends the program: one that we started is killed with everything that it started, one that we
    /// attached to is left running.
    pub async fn end(&self) -> Result<()> {
        self.ask(Actor::end).await
    }
}

impl Actor {
    fn start(&mut self, start: Start, title: &str, reply: Reply<()>) {
        if !self.state.start() {
            return answer(reply, Err(Error::AlreadyLive));
        }
        self.runs += 1;
        self.breakpoints.reset();
        self.exception_failures = None;
        self.profiling = None;
        self.last_start = Some(start.clone());
        self.journaling.begins(title);
        self.sinks.output.begin_run();
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
    pub(super) fn is_current(&self, run: u64) -> bool {
        self.runs == run && self.run.is_some()
    }

    fn started(&mut self, started: Started, reply: Reply<()>) {
        let run = self.runs;
        if let Some(Owned::Program(process)) = &started.process {
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

    /// The process has ended. Earlier messages of its debugger may still be on the way; the connection closes after
    /// them.
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
    pub(super) fn program_ended(&mut self, end: End) {
        self.breakpoints.left(TargetId::PROGRAM);
        let process = self.run.as_ref().and_then(|run| run.process.clone());
        let number = self.runs;
        let alone = async move {
            // An adapter is still there when its program has ended.
            if let Some(Owned::Program(process)) = process {
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
    fn next_arrival(&mut self, mut arrivals: mpsc::Receiver<Arrival>, first: Option<Reply<()>>) {
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
                // The program has ended meanwhile, which is what to report.
                _ => reply_ok(first),
            }
        });
    }

    /// A process connected. `reply` is there for the program itself.
    fn arrived(&mut self, arrival: Arrival, reply: Option<Reply<()>>) {
        let bounds = &self.sinks.policy.bounds;
        let Some(run) = &mut self.run else { return reply_ok(reply) };
        if reply.is_none() && run.targets.len() as u64 >= bounds.processes {
            if !std::mem::replace(&mut run.passes_by, true) {
                let met =
                    bounds.reached("processes", "this and further child processes run without a debugger");
                let more = met.room().map(|more| format!(", {more}")).unwrap_or_default();
                self.sinks.output.append(Category::Console, &format!("{met}{more}\n"));
            }
            return self.spawn(run_undebugged(arrival), |_, ()| {});
        }
        let target = TargetId(run.next_target);
        run.next_target += 1;
        let Arrival { adapter, debugger, events, configured, after } = arrival;
        let known =
            Target { adapter, debugger: debugger.clone(), ready: false, resumes: 0, configured, after };
        run.targets.insert(target, known);
        self.state.arrived(target);
        self.next_event(target, events);
        let number = self.runs;
        let work = async move { debugger.prepare().await };
        self.spawn(work, move |actor, prepared| {
            if !actor.is_current(number) {
                return reply_ok(reply);
            }
            match prepared {
                Ok(()) => actor.configure(target, reply),
                Err(error) => actor.not_configured(target, error, reply),
            }
        });
    }

    /// The process has its breakpoints and may run.
    pub(super) fn configured(&mut self, target: TargetId, reply: Option<Reply<()>>) {
        let known = self.run.as_mut().and_then(|run| run.targets.get_mut(&target));
        let Some(known) = known else { return reply_ok(reply) };
        known.ready = true;
        let debugger = Arc::clone(&known.debugger);
        let (configured, after) = (known.configured.take(), known.after.take());
        self.state.running(target);
        self.publish();
        let number = self.runs;
        let run = async move {
            if let Some(after) = after {
                // One that fails does not keep this one.
                let _ = tokio::time::timeout(deadlines::ATTACH, after).await;
            }
            let result = debugger.run().await;
            // The other one may be gone.
            let _ = configured.map(|configured| configured.send(()));
            result
        };
        self.spawn(run, move |actor, result| match result {
            // It has run, and ended before it could say so; how, is learnt with its end.
            Ok(()) | Err(Error::Lost) => {
                reply_ok(reply);
                actor.run_pending_pauses();
                if target == TargetId::PROGRAM && actor.is_current(number) {
                    actor.watch_process();
                }
            }
            Err(error) if actor.is_current(number) => actor.not_configured(target, error, reply),
            Err(_) => reply_ok(reply),
        });
    }

    /// A process that cannot be configured is detached. If it is the program itself, the start has failed.
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
            let text = format!("a child process runs without a debugger: {error}\n");
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
            // A debugger may forget to acknowledge a resume when the next stop comes at once, and one inside a process
            // that another debugger has suspended cannot.
            let has_stopped = matches!(event, Event::Stopped { .. });
            let silent = if has_stopped { self.silenced_by(target) } else { Vec::new() };
            let is_over = |resuming: &TargetId| *resuming == target || silent.contains(resuming);
            for (_, reply) in self.resuming.extract_if(.., |(resuming, _)| is_over(resuming)) {
                answer(reply, Ok(()));
            }
        }
        match event {
            Event::Stopped { thread, reason, text, breakpoints } => {
                let raw = thread;
                let thread = self.threads.number(target, thread);
                let changes = self.changes.extract_if(.., |(of, _)| *of == target).map(|(_, change)| change);
                let changes = changes.collect();
                let is_simultaneous = false;
                let stop =
                    Stop { epoch: 0, target, thread, reason, text, breakpoints, changes, is_simultaneous };
                if stop.reason == StopReason::Exception {
                    return self.stopped_at_exception(raw, stop);
                }
                self.stopped(stop);
            }
            Event::DataChanged(change) => self.changes.push((target, change)),
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
            Event::BindResult { id, result } => {
                self.breakpoints.reported(target, id, result);
                self.breakpoints_changed();
            }
            Event::Profiled(profile) => self.profiled(target, profile),
            Event::Left => self.left(target),
        }
        self.publish();
    }

    /// The debuggers inside a process that do not answer while a debugger of machine code suspends it.
    fn silenced_by(&self, target: TargetId) -> Vec<TargetId> {
        let targets = || self.run.iter().flat_map(|run| &run.targets);
        let suspending =
            targets().find(|(id, known)| **id == target && known.adapter.facts().is_machine_code);
        let Some(pid) = suspending.and_then(|(_, known)| known.debugger.pid()) else { return Vec::new() };
        let inside = targets().filter(|(id, known)| **id != target && known.debugger.pid() == Some(pid));
        inside.map(|(id, _)| *id).collect()
    }

    pub(super) fn stopped(&mut self, stop: Stop) {
        for id in &stop.breakpoints {
            self.breakpoints.hit(stop.target, *id);
        }
        self.state.stopped(stop);
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
        // Of a program that we started ourselves, the end of its process is what counts.
        let is_ours = matches!(run.process, Some(Owned::Program(_)));
        if is_ours || run.is_leaving || !self.is_live() {
            return;
        }
        let number = self.runs;
        let fate = fate::of(gone.map(|target| target.debugger), self.sinks.output.clone());
        self.spawn(fate, move |actor, end| {
            if actor.is_current(number) {
                actor.state.ended(end);
                actor.publish();
            }
        });
    }

    fn detach(&mut self, reply: Reply<()>) {
        if !self.is_live() {
            return answer(reply, Err(self.not_live()));
        }
        self.end_or_detach(reply);
    }

    fn end(&mut self, reply: Reply<()>) {
        if !self.is_live() {
            return answer(reply, Ok(()));
        }
        if let Some(starting) = self.run.as_ref().and_then(|run| run.starting.as_ref()) {
            starting.abort();
            self.state.finished(End::NotStarted("the session ended it".to_owned()));
            self.publish();
            return answer(reply, Ok(()));
        }
        self.end_or_detach(reply);
    }

    /// Ends a program that we started, and detaches from one that was attached to.
    fn end_or_detach(&mut self, reply: Reply<()>) {
        let Some(run) = &mut self.run else { return answer(reply, Ok(())) };
        run.is_leaving = true;
        let process = run.process.clone();
        let debuggers: Vec<Arc<dyn Debugger>> =
            run.targets.values().map(|target| target.debugger.clone()).collect();
        let number = self.runs;
        let launched = matches!(self.last_start, Some(Start::Launch(_)));
        let work = async move {
            if let Some(Owned::Program(process)) = process {
                process.kill().await;
                let ended = tokio::time::timeout(deadlines::KILL, process.ended()).await;
                return ended.unwrap_or(End::Lost);
            }
            // A debugger that does not answer is left as well, by closing the connection.
            join_all(debuggers.iter().map(|debugger| debugger.detach())).await;
            let Some(Owned::Adapter(adapter)) = process else { return End::Detached };
            // What the adapter has started, and has not ended itself, goes with it.
            adapter.kill().await;
            if launched { End::Killed { signal: 9, by_us: true } } else { End::Detached }
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
        for reply in std::mem::take(&mut self.pausing) {
            answer(reply, Err(self.not_live()));
        }
        for target in self.run.iter().flat_map(|run| run.targets.keys()) {
            self.breakpoints.left(*target);
        }
        let Some(run) = self.run.take() else { return };
        if let Some(listening) = run.listening {
            listening.abort();
        }
        if let Some(owned) = run.process {
            self.spawn(async move { owned.process().kill().await }, |_, ()| {});
        }
    }
}

/// Resumes a process that waits for a debugger but will not get one: no breakpoints are set in it, and it resumes
/// from each stop.
async fn run_undebugged(arrival: Arrival) {
    let Arrival { debugger, mut events, .. } = arrival;
    let let_run = async {
        // It waits until it has received everything, like any other. A process that has ended needs nothing.
        if debugger.prepare().await.is_ok() {
            let _ = debugger.run().await;
        }
    };
    let hear = async {
        while let Some(event) = events.recv().await {
            match event {
                Event::Stopped { thread, .. } => drop(debugger.resume_silently(thread).await),
                Event::Left => return,
                _ => {}
            }
        }
    };
    tokio::join!(let_run, hear);
}

/// Answers the caller who started a program that is gone before it was configured: the state has its end.
pub(super) fn reply_ok(reply: Option<Reply<()>>) {
    if let Some(reply) = reply {
        answer(reply, Ok(()));
    }
}
