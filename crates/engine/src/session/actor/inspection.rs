//! Reading a suspended program: threads, frames, values.
//!
//! An operation is one method of the handle: it finds the debugger that a number belongs to, asks it, and gives
//! numbers to what comes back.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};

use super::super::Session;
use super::super::references::{Kind, Referent};
use super::super::state::Execution;
use super::{Actor, Reply, answer};
use crate::adapter::Adapter;
use crate::debugger::{Debugger, Evaluate};
use crate::error::{Error, Result};
use crate::model::ids::{RawId, Reference, TargetId, ThreadId};
use crate::model::stack::{Debuggee, RawThread, Scope, Stack, Thread};
use crate::model::stop::Exception;
use crate::model::thrown::Thrown;
use crate::model::variable::{Children, ExpandedLocals, Expansion, Page, Value};

impl Session {
    /// The threads of all its processes.
    pub async fn threads(&self) -> Result<Vec<Thread>> {
        self.ask_live(|actor, reply| actor.list_threads(reply)).await
    }

    /// Its processes, the program itself first.
    pub async fn debuggees(&self) -> Result<Vec<Debuggee>> {
        self.ask(|actor, reply| answer(reply, actor.debuggees())).await
    }

    /// What the debugger of the program says it can do.
    pub async fn abilities(&self) -> Result<Vec<String>> {
        self.ask(|actor, reply| answer(reply, actor.abilities())).await
    }

    /// The name of a suspended thread, and the number of its process, as far as they are known.
    pub async fn thread_name(&self, thread: ThreadId) -> Result<(Option<String>, Option<u32>)> {
        self.ask_live(move |actor, reply| actor.thread_name(thread, reply)).await
    }

    /// Frames of the suspended thread, or of another one.
    pub async fn stack_trace(
        &self,
        thread: Option<ThreadId>,
        start: usize,
        levels: usize,
    ) -> Result<Stack<Reference>> {
        self.ask_live(move |actor, reply| actor.stack_trace(thread, start, levels, reply)).await
    }

    /// The language of a frame's process; the session's own, if the frame is of an earlier stop.
    pub async fn language_of_frame(&self, frame: Reference) -> &'static dyn Adapter {
        let asked = self.ask(move |actor, reply| {
            let referent = actor.references.find(Kind::Frame, frame);
            let target =
                |referent: Referent| actor.run.as_ref().and_then(|run| run.targets.get(&referent.target));
            answer(reply, referent.map(|referent| target(referent).map(|target| target.adapter)));
        });
        asked.await.ok().flatten().unwrap_or_else(|| self.adapter())
    }

    /// The scopes of a frame.
    pub async fn scopes(&self, frame: Reference) -> Result<Vec<Scope<Reference>>> {
        self.read(
            Kind::Frame,
            frame,
            |debugger, frame| debugger.scopes(frame),
            move |actor, origin, scopes| {
                let number = |scope: Scope<RawId>| scope.try_map(actor.value_numbers(origin));
                let scopes = scopes.into_iter().map(number).collect::<Result<Vec<_>>>()?;
                actor.remember_scopes(frame, &scopes);
                Ok(scopes)
            },
        )
        .await
    }

    /// The variables of a frame's innermost scope, and that scope's name.
    pub async fn locals(
        &self,
        frame: Reference,
        page: Page,
        text: usize,
    ) -> Result<(String, Children<Reference>)> {
        let read = self.locals_expanded(frame, page, text, Expansion::NONE).await?;
        Ok((read.scope, read.variables))
    }

    /// The same, with what some of the variables contain. What is inside them gets no number and is not written to
    /// the journal.
    pub async fn locals_expanded(
        &self,
        frame: Reference,
        page: Page,
        text: usize,
        expansion: Expansion,
    ) -> Result<ExpandedLocals<Reference>> {
        self.read(
            Kind::Frame,
            frame,
            move |debugger, frame| debugger.locals(frame, page, text, expansion),
            move |actor, origin, ExpandedLocals { scope, variables, values }| {
                let variables = variables.try_map(actor.value_numbers(origin))?;
                actor.journal_variables(Some((frame, &scope)), None, &variables);
                Ok(ExpandedLocals { scope, variables, values })
            },
        )
        .await
    }

    /// Children of a scope or value.
    pub async fn variables(
        &self,
        reference: Reference,
        page: Page,
        text: usize,
    ) -> Result<Children<Reference>> {
        self.read(
            Kind::Value,
            reference,
            move |debugger, reference| debugger.variables(reference, page, text),
            move |actor, origin, children| {
                let children = children.try_map(actor.value_numbers(origin))?;
                actor.journal_children(reference, &children);
                Ok(children)
            },
        )
        .await
    }

    /// Evaluates an expression in a frame. A `pure` one may change nothing, and is refused when it could; where
    /// nothing may be changed, each is.
    pub async fn evaluate(
        &self,
        frame: Reference,
        expression: String,
        deadline: Duration,
        text: usize,
        pure: bool,
    ) -> Result<Value<Reference>> {
        let pure = pure || self.policy().safety.read_only;
        self.read(
            Kind::Frame,
            frame,
            move |debugger, frame| debugger.evaluate(Evaluate { expression, frame, deadline, text, pure }),
            |actor, origin, value| value.try_map(actor.value_numbers(origin)),
        )
        .await
    }

    /// Assigns to a child of a scope or value.
    pub async fn set_variable(
        &self,
        parent: Reference,
        name: String,
        value: String,
        text: usize,
    ) -> Result<Value<Reference>> {
        self.policy().safety.check_assignment()?;
        self.read(
            Kind::Value,
            parent,
            move |debugger, parent| {
                Box::pin(async move { debugger.set_variable(parent, &name, &value, text).await })
            },
            |actor, origin, value| value.try_map(actor.value_numbers(origin)),
        )
        .await
    }

    /// Which of several values another one is itself, as one that contains itself is; none when it is none of
    /// them. Values of other processes are none of them.
    pub async fn same_as(&self, value: Reference, among: Vec<Reference>) -> Result<Option<usize>> {
        self.ask_live(move |actor, reply| actor.same_as(value, &among, reply)).await
    }

    /// The exception that the program is stopped at.
    pub async fn exception(&self) -> Result<Exception> {
        self.ask_live(|actor, reply| {
            actor.read_stop(reply, |debugger, thread| debugger.exception(thread));
        })
        .await
    }

    /// Details of it: what was asserted, with the values on both sides, and a mark to know it
    /// by. Texts longer than `text` characters are cut.
    pub async fn thrown(&self, text: usize) -> Result<Thrown> {
        self.ask_live(move |actor, reply| {
            actor.read_stop(reply, move |debugger, thread| debugger.thrown(thread, text));
        })
        .await
    }

    /// The text of a source that is in no file, by the name that frames have for it; none when no process of
    /// the program has it.
    pub async fn source_text(&self, name: String) -> Result<Option<String>> {
        self.ask(move |actor, reply| actor.source_text(name, reply)).await
    }

    /// See [`Actor::read`].
    pub(super) async fn read<T, U>(
        &self,
        kind: Kind,
        number: Reference,
        request: impl FnOnce(&dyn Debugger, RawId) -> BoxFuture<'_, Result<T>> + Send + 'static,
        renumber: impl FnOnce(&mut Actor, ReadContext, T) -> Result<U> + Send + 'static,
    ) -> Result<U>
    where
        T: Send + 'static,
        U: Send + 'static,
    {
        self.ask_live(move |actor, reply| actor.read(kind, number, reply, request, renumber)).await
    }
}

/// Where and when something was read: its number is good for that process and that stop.
#[derive(Clone, Copy)]
pub(super) struct ReadContext {
    pub(super) target: TargetId,
    epoch: u64,
}

impl Actor {
    fn debuggees(&self) -> Result<Vec<Debuggee>> {
        let run = self.run.as_ref().filter(|_| self.is_live()).ok_or_else(|| self.not_live())?;
        let debuggee = |(target, known): (&TargetId, &super::program::Target)| Debuggee {
            target: *target,
            pid: known.debugger.pid(),
            url: known.debugger.url(),
            is_ready: known.ready,
        };
        Ok(run.targets.iter().map(debuggee).collect())
    }

    fn abilities(&self) -> Result<Vec<String>> {
        let run = self.run.as_ref().filter(|_| self.is_live()).ok_or_else(|| self.not_live())?;
        Ok(run.targets.values().next().map(|target| target.debugger.abilities()).unwrap_or_default())
    }

    fn list_threads(&self, reply: Reply<Vec<Thread>>) {
        if !self.is_live() || self.is_undebugged() {
            return answer(reply, Err(self.not_live()));
        }
        let ask = |(target, debugger): (TargetId, Arc<dyn Debugger>)| async move {
            Ok::<_, Error>((target, debugger.pid(), debugger.threads().await?))
        };
        let asked = join_all(self.responsive_debuggers().into_iter().map(ask));
        let work = async move {
            // A process that does not answer hides none of the others.
            let (listed, failed): (Vec<_>, Vec<_>) = asked.await.into_iter().partition(Result::is_ok);
            match failed.into_iter().next() {
                Some(failed) if listed.is_empty() => failed.map(|none| vec![none]),
                _ => Ok(listed.into_iter().flatten().collect()),
            }
        };
        self.spawn(work, |actor, listed| {
            let threads = listed.map(|listed| actor.name_threads(listed));
            answer(reply, threads);
        });
    }

    /// A process that is suspended by a debugger of machine code does not answer another debugger inside it.
    fn responsive_debuggers(&self) -> Vec<(TargetId, Arc<dyn Debugger>)> {
        let targets = || self.run.iter().flat_map(|run| &run.targets);
        let suspended: Vec<u32> = targets()
            .filter(|(id, target)| target.adapter.facts().is_machine_code && self.state.is_stopped(**id))
            .filter_map(|(_, target)| target.debugger.pid())
            .collect();
        let answers = |target: &super::program::Target| {
            target.adapter.facts().is_machine_code
                || target.debugger.pid().is_none_or(|pid| !suspended.contains(&pid))
        };
        let responsive = targets().filter(|(_, target)| target.ready && answers(target));
        responsive.map(|(id, target)| (*id, Arc::clone(&target.debugger))).collect()
    }

    fn thread_name(&self, thread: ThreadId, reply: Reply<(Option<String>, Option<u32>)>) {
        let found = self.threads.find(thread).and_then(|(target, raw)| Ok((self.debugger(target)?, raw)));
        self.forward(reply, found, |(debugger, raw)| async move {
            Ok((debugger.thread_name(raw).await?, debugger.pid()))
        });
    }

    fn name_threads(&mut self, listed: Vec<(TargetId, Option<u32>, Vec<RawThread>)>) -> Vec<Thread> {
        let first = listed.first().and_then(|(_, pid, _)| *pid);
        let several = listed.iter().any(|(_, pid, _)| *pid != first);
        let mut threads = Vec::new();
        for (target, pid, raw) in listed {
            for thread in raw {
                let name = match pid {
                    Some(pid) if several => format!("{} (process {pid})", thread.name),
                    _ => thread.name,
                };
                let id = self.threads.number(target, thread.id);
                threads.push(Thread { id, name, target, pid, stopped: self.state.is_stopped(target) });
            }
        }
        threads
    }

    /// A running thread is possible, if requested by ID.
    pub(super) fn stack_trace(
        &self,
        thread: Option<ThreadId>,
        start: usize,
        levels: usize,
        reply: Reply<Stack<Reference>>,
    ) {
        let thread = match thread {
            Some(thread) => self.threads.find(thread),
            None => self.stopped_thread(None),
        };
        let debugger = thread.and_then(|(target, raw)| Ok((target, raw, self.debugger(target)?)));
        let (target, raw, debugger) = match debugger {
            Ok(debugger) => debugger,
            Err(error) => return answer(reply, Err(error)),
        };
        if let Some(known) = self.stacks.get(&(target, raw), start, levels) {
            return answer(reply, Ok(known));
        }
        let origin = ReadContext { target, epoch: self.state.epoch() };
        let work = async move { debugger.stack_trace(raw, start, levels).await };
        self.spawn(work, move |actor, stack| {
            let stack = stack.and_then(|stack| actor.number_frames(origin, stack));
            // Another thread may still be on its way to where it is suspended.
            if start == 0 && actor.stopped_thread(None) == Ok((target, raw)) {
                actor.journal_stack(&stack);
                if let Ok(stack) = &stack {
                    actor.stacks.keep((target, raw), levels, stack);
                }
            }
            answer(reply, stack);
        });
    }

    fn number_frames(&mut self, origin: ReadContext, stack: Stack<RawId>) -> Result<Stack<Reference>> {
        let mut frames = Vec::with_capacity(stack.frames.len());
        for frame in stack.frames {
            let id = self.number(origin, Kind::Frame, frame.id)?;
            frames.push(frame.with_id(id));
        }
        Ok(Stack { frames, total: stack.total })
    }

    fn same_as(&self, value: Reference, among: &[Reference], reply: Reply<Option<usize>>) {
        let others: Result<Vec<_>> =
            among.iter().map(|other| self.references.find(Kind::Value, *other)).collect();
        let same_process = others.and_then(|others| {
            let target = self.references.find(Kind::Value, value)?.target;
            let others = others.into_iter().enumerate().filter(|(_, other)| other.target == target);
            Ok(others.map(|(index, other)| (index, other.raw)).unzip())
        });
        let (indices, raw): (Vec<usize>, Vec<RawId>) = match same_process {
            Ok(same_process) => same_process,
            Err(error) => return answer(reply, Err(error)),
        };
        self.read(
            Kind::Value,
            value,
            reply,
            move |debugger, value| debugger.same_as(value, raw),
            move |_, _, same: Option<usize>| Ok(same.and_then(|same| indices.get(same).copied())),
        );
    }

    /// Asks the debugger about the thread that the last stop is about.
    fn read_stop<T: Send + 'static>(
        &self,
        reply: Reply<T>,
        request: impl FnOnce(&dyn Debugger, RawId) -> BoxFuture<'_, Result<T>> + Send + 'static,
    ) {
        let thread = self.stopped_thread(None);
        let found = thread.and_then(|(target, raw)| Ok((self.stopped_debugger(target)?, raw)));
        self.forward(reply, found, |(debugger, raw)| async move { request(debugger.as_ref(), raw).await });
    }

    /// The process that is suspended is asked first: it is the one whose frames are being read.
    fn source_text(&self, name: String, reply: Reply<Option<String>>) {
        if !self.is_live() {
            return answer(reply, Err(self.not_live()));
        }
        let current = self.stopped_thread(None).ok().map(|(target, _)| target);
        let mut debuggers = self.ready_debuggers();
        debuggers.sort_by_key(|(target, _)| (Some(*target) != current, *target));
        let work = async move {
            for (_, debugger) in debuggers {
                // One that has gone meanwhile has nothing to say.
                if let Ok(Some(text)) = debugger.source_text(&name).await {
                    return Some(text);
                }
            }
            None
        };
        self.spawn(work, |_, text| answer(reply, Ok(text)));
    }

    /// Asks the debugger about something that has a number. `renumber` replaces the debugger's ids in the answer.
    fn read<T, U>(
        &self,
        kind: Kind,
        number: Reference,
        reply: Reply<U>,
        request: impl FnOnce(&dyn Debugger, RawId) -> BoxFuture<'_, Result<T>> + Send + 'static,
        renumber: impl FnOnce(&mut Self, ReadContext, T) -> Result<U> + Send + 'static,
    ) where
        T: Send + 'static,
        U: Send + 'static,
    {
        let referent = match self.state.execution() {
            // Nothing that was read of it is any good, from whichever stop.
            ended @ Execution::Ended(_) => Err(Error::NotPaused { state: ended.as_str() }),
            _ => self.references.find(kind, number),
        };
        let prepared = referent.and_then(|referent| Ok((referent, self.stopped_debugger(referent.target)?)));
        let (Referent { target, raw }, debugger) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return answer(reply, Err(error)),
        };
        let origin = ReadContext { target, epoch: self.state.epoch() };
        self.spawn(async move { request(debugger.as_ref(), raw).await }, move |actor, result| {
            answer(reply, result.and_then(|result| renumber(actor, origin, result)));
        });
    }

    /// Gives numbers to values.
    fn value_numbers(&mut self, origin: ReadContext) -> impl FnMut(RawId) -> Result<Reference> {
        move |raw| self.number(origin, Kind::Value, raw)
    }

    /// A number for something that was read at a stop. The program may have run since.
    fn number(&mut self, origin: ReadContext, kind: Kind, raw: RawId) -> Result<Reference> {
        if self.state.epoch() != origin.epoch {
            return Err(Error::NotPaused { state: self.state.execution().as_str() });
        }
        Ok(self.references.number(kind, Referent { target: origin.target, raw }))
    }
}
