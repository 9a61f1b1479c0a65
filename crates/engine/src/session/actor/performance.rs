//! Where the time and the memory of the processes go.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::super::Session;
use super::{Actor, Reply, answer};
use crate::debugger::Debugger;
use crate::error::{Error, Result};
use crate::model::ids::TargetId;
use crate::model::performance::{CpuProfile, HeapSnapshot, HeapUsage, TimelineEntry};

/// A profile that is taken, or was taken and is not asked for yet.
#[derive(Debug)]
pub(super) enum Profiling {
    /// Of this process.
    Underway(TargetId),
    /// The process ended with it.
    Done(CpuProfile),
}

impl Session {
    /// Starts a CPU profile of the process that is suspended, else of the program itself.
    pub async fn start_profile(&self) -> Result<()> {
        self.ask(Actor::start_profile).await
    }

    /// Stops the CPU profile and returns it. It may have ended with the program.
    pub async fn stop_profile(&self) -> Result<CpuProfile> {
        self.ask(Actor::stop_profile).await
    }

    /// Counts the objects in the program's memory. The program is suspended meanwhile.
    pub async fn heap_snapshot(&self) -> Result<HeapSnapshot> {
        self.ask(|actor, reply| actor.measure(reply, |debugger| debugger.heap_snapshot())).await
    }

    /// How much memory the program uses, after a garbage collection if requested.
    pub async fn heap_usage(&self, collect: bool) -> Result<HeapUsage> {
        self.ask(move |actor, reply| actor.measure(reply, move |debugger| debugger.heap_usage(collect))).await
    }

    /// What the program and its runtime recorded of its course, oldest first.
    pub async fn timeline(&self) -> Result<Vec<TimelineEntry>> {
        self.ask(|actor, reply| actor.measure(reply, |debugger| debugger.timeline())).await
    }
}

impl Actor {
    /// There is one profiler in a process, and samples for other ends are taken by it, too.
    fn start_profile(&mut self, reply: Reply<()>) {
        let taken = match (&self.profiling, self.sampling) {
            (Some(Profiling::Underway(_)), _) => Some("a profile is already being taken; stop it first"),
            (_, Some(_)) => Some("the program is being sampled to diagnose a hang; wait until that ends"),
            _ => None,
        };
        if let Some(problem) = taken {
            return answer(reply, Err(Error::Refused(problem.to_owned())));
        }
        let (target, debugger) = match self.measured() {
            Ok(measured) => measured,
            Err(error) => return answer(reply, Err(error)),
        };
        self.profiling = Some(Profiling::Underway(target));
        self.spawn(async move { debugger.start_profile().await }, |actor, result| {
            if result.is_err() {
                actor.profiling = None;
            }
            answer(reply, result);
        });
    }

    fn stop_profile(&mut self, reply: Reply<CpuProfile>) {
        let target = match self.profiling.take() {
            Some(Profiling::Done(profile)) => return answer(reply, Ok(profile)),
            Some(Profiling::Underway(target)) => target,
            None => return answer(reply, Err(Error::Refused("no profile is being taken".to_owned()))),
        };
        let gone = "the profiled process has ended, so its profile is lost";
        let debugger = self.debugger(target).map_err(|_| Error::Refused(gone.to_owned()));
        self.forward(reply, debugger, |debugger| async move { debugger.stop_profile().await });
    }

    /// A process ended while a profile was taken of it.
    pub(super) fn profiled(&mut self, target: TargetId, profile: CpuProfile) {
        if matches!(self.profiling, Some(Profiling::Underway(known)) if known == target) {
            self.profiling = Some(Profiling::Done(profile));
        }
    }

    /// Asks the process that is measured.
    fn measure<T: Send + 'static>(
        &self,
        reply: Reply<T>,
        request: impl FnOnce(&dyn Debugger) -> BoxFuture<'_, Result<T>> + Send + 'static,
    ) {
        self.forward(reply, self.measured(), |(_, debugger)| async move { request(debugger.as_ref()).await });
    }

    /// The process that is suspended, else the program itself.
    fn measured(&self) -> Result<(TargetId, Arc<dyn Debugger>)> {
        if !self.is_live() {
            return Err(self.not_live());
        }
        let target = self.stopped_thread(None).map_or(TargetId::PROGRAM, |(target, _)| target);
        Ok((target, self.debugger(target)?))
    }
}
