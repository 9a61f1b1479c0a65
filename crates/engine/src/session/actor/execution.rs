//! Letting a suspended program run, and stopping one that runs.

use futures_util::future::BoxFuture;

use super::super::{Execution, Session};
use super::{Actor, Reply, answer};
use crate::debugger::{Debugger, Reverse, Step};
use crate::error::{Error, Result};
use crate::model::ids::{RawId, TargetId, ThreadId};
use crate::model::launch::Start;

impl Session {
    /// Lets the suspended program run.
    pub async fn resume(&self) -> Result<()> {
        self.ask(|actor, reply| actor.go(None, reply, |debugger, thread| debugger.resume(thread))).await
    }

    /// Lets the suspended thread, or another one, run one step.
    pub async fn step(&self, thread: Option<ThreadId>, step: Step) -> Result<()> {
        self.ask(move |actor, reply| {
            actor.go(thread, reply, move |debugger, thread| debugger.step(thread, step));
        })
        .await
    }

    /// Lets the suspended program run backwards.
    pub async fn reverse(&self, how: Reverse) -> Result<()> {
        self.ask(move |actor, reply| {
            actor.go(None, reply, move |debugger, thread| debugger.reverse(thread, how));
        })
        .await
    }

    /// The function that a step began in, when that has ended while the step has not: code of a library runs.
    pub async fn left_by_step(&self) -> Result<Option<String>> {
        self.ask(|actor, reply| {
            let debuggers = actor.ready_debuggers();
            let work = async move {
                for (_, debugger) in debuggers {
                    if let Some(function) = debugger.left_by_step().await? {
                        return Ok(Some(function));
                    }
                }
                Ok(None)
            };
            actor.spawn(work, |_, result| answer(reply, result));
        })
        .await
    }

    /// Asks the running program to stop. Whether it does is seen by waiting.
    pub async fn pause(&self, thread: Option<ThreadId>) -> Result<()> {
        self.ask_live(move |actor, reply| actor.pause(thread, reply)).await
    }
}

impl Actor {
    /// Lets the suspended process run, in one way or another. If another of its threads has stopped at the same time,
    /// that stop is shown first: nothing has to run for it, and running would take its frames.
    fn go(
        &mut self,
        thread: Option<ThreadId>,
        reply: Reply<()>,
        request: impl FnOnce(&dyn Debugger, RawId) -> BoxFuture<'_, Result<()>> + Send + 'static,
    ) {
        let prepared = self.stopped_thread(thread).and_then(|(target, raw)| {
            let debugger = self.stopped_debugger(target)?;
            Ok((debugger, raw))
        });
        let (debugger, raw) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return answer(reply, Err(error)),
        };
        if self.state.show_other_thread() {
            self.publish();
            return answer(reply, Ok(()));
        }
        let Some(stop) = self.state.resuming() else { return };
        self.publish();
        if let Some(resumes) = self.count_of_resumes(stop.target) {
            *resumes += 1;
        }
        self.resuming.push((stop.target, reply));
        let number = self.runs;
        self.spawn(async move { request(debugger.as_ref(), raw).await }, move |actor, result| {
            let waiting = actor.resuming.iter().position(|(target, _)| *target == stop.target);
            let Some(waiting) = waiting.filter(|_| actor.is_current(number)) else { return };
            let (_, reply) = actor.resuming.swap_remove(waiting);
            match result {
                Err(error @ (Error::Refused(_) | Error::Unsupported(_))) => {
                    if let Some(resumes) = actor.count_of_resumes(stop.target) {
                        *resumes -= 1;
                    }
                    actor.state.refused(&stop);
                    actor.publish();
                    answer(reply, Err(error));
                }
                // A program that ends in the step takes the acknowledgement along; what counts is its end.
                Ok(()) | Err(_) => answer(reply, Ok(())),
            }
        });
    }

    /// The run, and how often the user has resumed a process in it. What was found out about a stop of the process is
    /// void once they have changed.
    pub(super) fn resumes(&self, target: TargetId) -> Option<(u64, u64)> {
        let known = self.run.as_ref()?.targets.get(&target)?;
        Some((self.runs, known.resumes))
    }

    fn count_of_resumes(&mut self, target: TargetId) -> Option<&mut u64> {
        self.run.as_mut()?.targets.get_mut(&target).map(|known| &mut known.resumes)
    }

    /// The thread to use: the one that the program stopped in unless another one of its process is
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

    fn pause(&mut self, thread: Option<ThreadId>, reply: Reply<()>) {
        match self.state.execution() {
            Execution::Stopped(_) if self.last_start.as_ref().is_some_and(Start::is_dump) => {
                let problem = "a crash dump does not run, so that it cannot be paused";
                return answer(reply, Err(Error::Refused(problem.to_owned())));
            }
            Execution::Stopped(_) => return answer(reply, Ok(())),
            Execution::Starting => return self.pausing.push(reply),
            _ => {}
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
        self.forward(reply, debugger, |debugger| async move {
            let thread = match chosen {
                Some((_, raw)) => raw,
                None => debugger.threads().await?.first().ok_or(Error::Lost)?.id,
            };
            debugger.pause(thread).await
        });
    }

    /// The program runs now: pauses that were requested while it was being started are due.
    pub(super) fn run_pending_pauses(&mut self) {
        for reply in std::mem::take(&mut self.pausing) {
            self.pause(None, reply);
        }
    }
}
