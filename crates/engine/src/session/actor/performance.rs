//! Where the time and the memory of the processes go.

use super::{Actor, Reply, answer};
use crate::debugger::{Connector, Debugger};
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

impl<C: Connector> Actor<C> {
    /// There is one profiler in a process, and samples for other ends are taken by it, too.
    pub(super) fn start_profile(&mut self, reply: Reply<()>) {
        let taken = match (&self.profiling, self.sampling) {
            (Some(Profiling::Underway(_)), _) => Some("a profile is being taken already; stop it first"),
            (_, Some(_)) => Some("samples are being taken to see whether the program hangs; wait for that"),
            _ => None,
        };
        if let Some(problem) = taken {
            return answer(reply, Err(Error::Refused(problem.to_owned())));
        }
        let (target, debugger) = match self.measured() {
            Ok(found) => found,
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

    pub(super) fn stop_profile(&mut self, reply: Reply<CpuProfile>) {
        let target = match self.profiling.take() {
            Some(Profiling::Done(profile)) => return answer(reply, Ok(profile)),
            Some(Profiling::Underway(target)) => target,
            None => return answer(reply, Err(Error::Refused("no profile is being taken".to_owned()))),
        };
        let gone = "the process that the profile was taken of has ended, and the profile with it";
        let debugger = self.debugger(target).map_err(|_| Error::Refused(gone.to_owned()));
        match debugger {
            Ok(debugger) => {
                self.spawn(async move { debugger.stop_profile().await }, |_, result| answer(reply, result));
            }
            Err(error) => answer(reply, Err(error)),
        }
    }

    /// A process ended while a profile was taken of it.
    pub(super) fn profiled(&mut self, target: TargetId, profile: CpuProfile) {
        if matches!(self.profiling, Some(Profiling::Underway(known)) if known == target) {
            self.profiling = Some(Profiling::Done(profile));
        }
    }

    pub(super) fn heap_snapshot(&self, reply: Reply<HeapSnapshot>) {
        self.measure(reply, |debugger| async move { debugger.heap_snapshot().await });
    }

    pub(super) fn heap_usage(&self, collect: bool, reply: Reply<HeapUsage>) {
        self.measure(reply, move |debugger| async move { debugger.heap_usage(collect).await });
    }

    pub(super) fn timeline(&self, reply: Reply<Vec<TimelineEntry>>) {
        self.measure(reply, |debugger| async move { debugger.timeline().await });
    }

    /// Asks the process that is measured.
    fn measure<T, F>(&self, reply: Reply<T>, request: impl FnOnce(C::Debugger) -> F)
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        match self.measured() {
            Ok((_, debugger)) => self.spawn(request(debugger), |_, result| answer(reply, result)),
            Err(error) => answer(reply, Err(error)),
        }
    }

    /// The process that is suspended, else the program itself.
    fn measured(&self) -> Result<(TargetId, C::Debugger)> {
        if !self.is_live() {
            return Err(self.not_live());
        }
        let target = self.stopped_thread(None).map_or(TargetId::PROGRAM, |(target, _)| target);
        Ok((target, self.debugger(target)?))
    }
}
