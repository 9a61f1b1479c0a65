//! Reading a suspended program: threads, frames, values.

use futures_util::future::join_all;

use super::super::references::{Kind, Referent};
use super::super::state::Execution;
use super::{Actor, Reply, answer};
use crate::debugger::{Connector, Debugger, Evaluate};
use crate::error::{Error, Result};
use crate::model::ids::{RawId, Reference, TargetId, ThreadId};
use crate::model::stack::{Debuggee, RawThread, Scope, Stack, StackFrame, Thread};
use crate::model::stop::Exception;
use crate::model::thrown::Thrown;
use crate::model::variable::{Children, Page, Value};

impl<C: Connector> Actor<C> {
    pub(super) fn list_debuggees(&self, reply: Reply<Vec<Debuggee>>) {
        let Some(run) = self.run.as_ref().filter(|_| self.is_live()) else {
            return answer(reply, Err(self.not_live()));
        };
        let debuggee = |(target, known): (&TargetId, &super::program::Target<C::Debugger>)| Debuggee {
            target: *target,
            pid: known.debugger.pid(),
            url: known.debugger.url(),
            is_ready: known.ready,
        };
        answer(reply, Ok(run.targets.iter().map(debuggee).collect()));
    }

    pub(super) fn list_threads(&self, reply: Reply<Vec<Thread>>) {
        if !self.is_live() || self.is_undebugged() {
            return answer(reply, Err(self.not_live()));
        }
        let debuggers = self.ready_debuggers();
        let ask = |(target, debugger): (TargetId, C::Debugger)| async move {
            Ok::<_, Error>((target, debugger.pid(), debugger.threads().await?))
        };
        let asked = join_all(debuggers.into_iter().map(ask));
        let work = async move {
            // A process that does not answer hides none of the others.
            let (found, failed): (Vec<_>, Vec<_>) = asked.await.into_iter().partition(Result::is_ok);
            match failed.into_iter().next() {
                Some(failed) if found.is_empty() => failed.map(|none| vec![none]),
                _ => Ok(found.into_iter().flatten().collect()),
            }
        };
        self.spawn(work, |actor, found| {
            let threads = found.map(|found| actor.name_threads(found));
            answer(reply, threads);
        });
    }

    fn name_threads(&mut self, found: Vec<(TargetId, Option<u32>, Vec<RawThread>)>) -> Vec<Thread> {
        let first = found.first().and_then(|(_, pid, _)| *pid);
        let several = found.iter().any(|(_, pid, _)| *pid != first);
        let mut threads = Vec::new();
        for (target, pid, raw) in found {
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

    /// A running thread may be asked for by its number.
    pub(super) fn stack_trace(
        &self,
        thread: Option<ThreadId>,
        start: usize,
        levels: usize,
        reply: Reply<Stack<Reference>>,
    ) {
        let found = match thread {
            Some(thread) => self.threads.find(thread),
            None => self.stopped_thread(None),
        };
        let debugger = found.and_then(|(target, raw)| Ok((target, raw, self.debugger(target)?)));
        let (target, raw, debugger) = match debugger {
            Ok(found) => found,
            Err(error) => return answer(reply, Err(error)),
        };
        if let Some(known) = self.stacks.get((target, raw), start, levels) {
            return answer(reply, Ok(known));
        }
        let epoch = self.state.epoch();
        let work = async move { debugger.stack_trace(raw, start, levels).await };
        self.spawn(work, move |actor, stack| {
            let stack = stack.and_then(|stack| actor.number_frames(epoch, target, stack));
            // Another thread may still be on its way to where it is suspended.
            if start == 0 && actor.stopped_thread(None) == Ok((target, raw)) {
                actor.journal_stack(&stack);
                if let Ok(stack) = &stack {
                    actor.stacks.keep((target, raw), stack.clone());
                }
            }
            answer(reply, stack);
        });
    }

    fn number_frames(
        &mut self,
        epoch: u64,
        target: TargetId,
        stack: Stack<RawId>,
    ) -> Result<Stack<Reference>> {
        let number = |frame: StackFrame<RawId>| {
            let id = self.number(epoch, Kind::Frame, target, frame.id)?;
            Ok(frame.with_id(id))
        };
        let frames = stack.frames.into_iter().map(number).collect::<Result<_>>()?;
        Ok(Stack { frames, total: stack.total })
    }

    pub(super) fn scopes(&self, frame: Reference, reply: Reply<Vec<Scope<Reference>>>) {
        self.read(
            Kind::Frame,
            frame,
            reply,
            |debugger, frame| async move { debugger.scopes(frame).await },
            |scopes, number| {
                let scope = |scope: Scope<RawId>| {
                    let reference = number(scope.reference)?;
                    Ok(Scope { name: scope.name, kind: scope.kind, reference, expensive: scope.expensive })
                };
                scopes.into_iter().map(scope).collect()
            },
        );
    }

    pub(super) fn locals(
        &self,
        frame: Reference,
        page: Page,
        text: usize,
        reply: Reply<(String, Children<Reference>)>,
    ) {
        self.read(
            Kind::Frame,
            frame,
            reply,
            move |debugger, frame| async move { debugger.locals(frame, page, text).await },
            |(scope, children), number| Ok((scope, children.try_map(number)?)),
        );
    }

    pub(super) fn variables(
        &self,
        reference: Reference,
        page: Page,
        text: usize,
        reply: Reply<Children<Reference>>,
    ) {
        self.read(
            Kind::Value,
            reference,
            reply,
            move |debugger, reference| async move { debugger.variables(reference, page, text).await },
            |children, number| children.try_map(number),
        );
    }

    pub(super) fn evaluate(
        &self,
        frame: Reference,
        request: impl FnOnce(RawId) -> Evaluate,
        reply: Reply<Value<Reference>>,
    ) {
        self.read(
            Kind::Frame,
            frame,
            reply,
            |debugger, frame| {
                let request = request(frame);
                async move { debugger.evaluate(request).await }
            },
            |value, number| value.try_map(number),
        );
    }

    /// Values of other processes are none of them.
    pub(super) fn same_as(&self, value: Reference, among: &[Reference], reply: Reply<Option<usize>>) {
        let found = among.iter().map(|other| self.references.find(Kind::Value, *other)).collect();
        let others: Vec<Referent> = match found {
            Ok(others) => others,
            Err(error) => return answer(reply, Err(error)),
        };
        let request = move |debugger: C::Debugger, target: TargetId, value| async move {
            let here: Vec<(usize, RawId)> = others
                .iter()
                .enumerate()
                .filter(|(_, other)| other.target == target)
                .map(|(place, other)| (place, other.raw))
                .collect();
            let found = debugger.same_as(value, here.iter().map(|(_, raw)| *raw).collect()).await?;
            Ok(found.and_then(|found| here.get(found).map(|(place, _)| *place)))
        };
        let target = self.references.find(Kind::Value, value).map(|referent| referent.target);
        match target {
            Ok(target) => self.read(
                Kind::Value,
                value,
                reply,
                |debugger, value| request(debugger, target, value),
                |found, _| Ok(found),
            ),
            Err(error) => answer(reply, Err(error)),
        }
    }

    pub(super) fn set_variable(
        &self,
        parent: Reference,
        name: String,
        value: String,
        text: usize,
        reply: Reply<Value<Reference>>,
    ) {
        self.read(
            Kind::Value,
            parent,
            reply,
            move |debugger, parent| async move { debugger.set_variable(parent, &name, &value, text).await },
            |value, number| value.try_map(number),
        );
    }

    pub(super) fn exception(&self, reply: Reply<Exception>) {
        self.ask_of_stop(reply, |debugger, thread| async move { debugger.exception(thread).await });
    }

    pub(super) fn thrown(&self, text: usize, reply: Reply<Thrown>) {
        self.ask_of_stop(reply, move |debugger, thread| async move { debugger.thrown(thread, text).await });
    }

    /// Asks the debugger about the thread that the last stop is about.
    fn ask_of_stop<T, F>(&self, reply: Reply<T>, request: impl FnOnce(C::Debugger, RawId) -> F)
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let found = self.stopped_thread(None);
        match found.and_then(|(target, raw)| Ok((self.stopped_debugger(target)?, raw))) {
            Ok((debugger, raw)) => self.spawn(request(debugger, raw), |_, result| answer(reply, result)),
            Err(error) => answer(reply, Err(error)),
        }
    }

    /// The process that is suspended is asked first: it is the one whose frames are being looked at.
    pub(super) fn source_text(&self, name: String, reply: Reply<Option<String>>) {
        let Some(run) = self.run.as_ref().filter(|_| self.is_live()) else {
            return answer(reply, Err(self.not_live()));
        };
        let current = self.stopped_thread(None).ok().map(|(target, _)| target);
        let mut ready: Vec<_> = run.targets.iter().filter(|(_, target)| target.ready).collect();
        ready.sort_by_key(|(id, _)| (Some(**id) != current, **id));
        let debuggers: Vec<C::Debugger> =
            ready.into_iter().map(|(_, target)| target.debugger.clone()).collect();
        let work = async move {
            for debugger in debuggers {
                // One that has gone meanwhile has nothing to say.
                if let Ok(Some(text)) = debugger.source_text(&name).await {
                    return Some(text);
                }
            }
            None
        };
        self.spawn(work, |_, text| answer(reply, Ok(text)));
    }

    /// Asks the debugger about something that has a number, and gives numbers to what comes back.
    fn read<T, U, F>(
        &self,
        kind: Kind,
        number: Reference,
        reply: Reply<U>,
        request: impl FnOnce(C::Debugger, RawId) -> F,
        translate: impl FnOnce(T, &mut dyn FnMut(RawId) -> Result<Reference>) -> Result<U> + Send + 'static,
    ) where
        T: Send + 'static,
        U: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let found = match self.state.execution() {
            // Nothing that was read of it is any good, from whichever stop.
            ended @ Execution::Ended(_) => Err(Error::NotPaused { state: ended.as_str() }),
            _ => self.references.find(kind, number),
        };
        let prepared = found.and_then(|referent| Ok((referent, self.stopped_debugger(referent.target)?)));
        let (Referent { target, raw }, debugger) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return answer(reply, Err(error)),
        };
        let epoch = self.state.epoch();
        self.spawn(request(debugger, raw), move |actor, result| {
            let result = result.and_then(|result| {
                translate(result, &mut |raw| actor.number(epoch, Kind::Value, target, raw))
            });
            answer(reply, result);
        });
    }

    /// A number for something that was read at the stop `epoch`. The program may have run since.
    fn number(&mut self, epoch: u64, kind: Kind, target: TargetId, raw: RawId) -> Result<Reference> {
        if self.state.epoch() != epoch {
            return Err(Error::NotPaused { state: self.state.execution().as_str() });
        }
        Ok(self.references.number(kind, Referent { target, raw }))
    }
}
