//! Watching what the processes do while they run.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use super::super::Session;
use super::performance::Profiling;
use super::{Actor, Reply, answer};
use crate::debugger::Debugger;
use crate::error::{Error, Result};
use crate::model::activity::{Callback, ProcessActivity};
use crate::model::ids::TargetId;

impl Session {
    /// Samples what all its processes do, those that come later included, about once each `interval`. None is
    /// stopped.
    pub async fn start_sampling(&self, interval: Duration) -> Result<()> {
        self.ask(move |actor, reply| actor.start_sampling(interval, reply)).await
    }

    /// What each process and worker has been doing since sampling began, or since the last such call.
    pub async fn activity(&self) -> Result<Vec<ProcessActivity>> {
        self.ask(|actor, reply| actor.activity(reply)).await
    }

    /// What the event loop of a process calls again and again, see [`Debugger::callbacks`]. Samples are being taken.
    pub async fn callbacks(&self, target: TargetId, during: Duration) -> Result<Vec<Callback>> {
        self.ask(move |actor, reply| actor.callbacks(target, during, reply)).await
    }

    /// Stops sampling.
    pub async fn stop_sampling(&self) -> Result<()> {
        self.ask(Actor::stop_sampling).await
    }
}

impl Actor {
    /// Processes that come later begin with it, see [`Actor::configure`].
    fn start_sampling(&mut self, interval: Duration, reply: Reply<()>) {
        if matches!(self.profiling, Some(Profiling::Underway(_))) {
            // There is one profiler in a process.
            let problem = "a CPU profile is being taken; stop it first";
            return answer(reply, Err(Error::Refused(problem.to_owned())));
        }
        self.sampling = Some(interval);
        let debuggers = self.ready_debuggers();
        let work = async move {
            for (_, debugger) in debuggers {
                debugger.start_sampling(interval).await?;
            }
            Ok(())
        };
        self.spawn(work, |_, result| answer(reply, result));
    }

    /// A process that has gone meanwhile is left out.
    fn activity(&self, reply: Reply<Vec<ProcessActivity>>) {
        if !self.is_live() {
            return answer(reply, Err(self.not_live()));
        }
        let ask = |(target, debugger): (TargetId, Arc<dyn Debugger>)| async move {
            let activity = debugger.activity().await.ok()?;
            Some(ProcessActivity { target, pid: debugger.pid(), numbers: Vec::new(), activity })
        };
        let asked = join_all(self.ready_debuggers().into_iter().map(ask));
        let work = async move { asked.await.into_iter().flatten().collect::<Vec<_>>() };
        self.spawn(work, |actor, mut activities| {
            for ProcessActivity { target, numbers, activity, .. } in &mut activities {
                let threads = activity.threads.iter().map(|thread| thread.thread);
                *numbers = threads.map(|raw| actor.threads.number(*target, raw)).collect();
            }
            answer(reply, Ok(activities));
        });
    }

    fn callbacks(&self, target: TargetId, during: Duration, reply: Reply<Vec<Callback>>) {
        let ready = self.ready_debuggers();
        let debugger = ready.into_iter().find(|(ready, _)| *ready == target).map(|(_, debugger)| debugger);
        let Some(debugger) = debugger else { return answer(reply, Ok(Vec::new())) };
        let work = async move { debugger.callbacks(during).await };
        self.spawn(work, |_, result| answer(reply, result));
    }

    fn stop_sampling(&mut self, reply: Reply<()>) {
        self.sampling = None;
        let debuggers = self.ready_debuggers();
        let work = async move {
            let stops = debuggers.iter().map(|(_, debugger)| debugger.stop_sampling());
            join_all(stops).await.into_iter().collect::<Result<()>>()
        };
        self.spawn(work, |_, result| answer(reply, result));
    }
}
