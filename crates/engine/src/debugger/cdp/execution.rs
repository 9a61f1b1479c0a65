//! Letting a thread run, step and pause.
//!
//! Reading order: `intent` (the thread's last command), `ends` (where steps may end), `control` (resuming),
//! `stepping`, `pausing`, this file (how a pause is handled).

mod control;
mod ends;
mod intent;
mod pausing;
mod stepping;

use std::sync::atomic::Ordering;

use super::stop::V8Stop;
use crate::debugger::{Event, Step};
use crate::error::Result;
use crate::lock::lock;
use crate::model::stop::StopReason;

use self::intent::Intent;

pub(super) use self::control::RunControl;

impl RunControl {
    /// V8's step survives a stop at an exception, so that a plain resume continues it.
    pub(super) async fn resume_silently(&self) -> Result<()> {
        self.run.stop()?;
        self.leave(None).await
    }

    pub(super) async fn resume(&self) -> Result<()> {
        self.run.stop()?;
        if self.abandon(Intent::Run) {
            // The step that an exception interrupted ends with an unneeded pause.
            self.lingers.store(true, Ordering::Release);
        }
        self.leave(None).await
    }

    /// Decides about a pause at which none of the user's breakpoints was hit: the end of a step or its way, the pause that
    /// was requested, or a `debugger` statement.
    pub(super) async fn settle(&self, stop: &V8Stop) -> Vec<Event> {
        let intent = std::mem::take(&mut *lock(&self.intent));
        match intent {
            // A process that waited for its debugger begins; a worker always waits.
            Intent::Run if stop.is_start && !self.thread.is_worker() => {
                vec![self.stopped(StopReason::Entry, None, Vec::new()).await]
            }
            Intent::Run if stop.is_start => {
                self.proceed(None).await;
                Vec::new()
            }
            Intent::Run
                if self.lingers.swap(false, Ordering::AcqRel) && !self.is_debugger_statement(stop).await =>
            {
                self.proceed(None).await;
                Vec::new()
            }
            Intent::Run => vec![self.stopped(debugger_statement(), None, Vec::new()).await],
            Intent::Pause => self.settle_pause(stop).await,
            Intent::Step(stepping) => self.settle_step(stop, *stepping).await,
        }
    }

    /// Whether the program's own text asks for the stop.
    async fn is_debugger_statement(&self, stop: &V8Stop) -> bool {
        match stop.frames.first() {
            Some(frame) => self.sources.is_at_debugger_statement(frame).await,
            None => false,
        }
    }

    async fn settle_pause(&self, stop: &V8Stop) -> Vec<Event> {
        if !stop.is_idle && stop.frames.first().is_some_and(|frame| self.sources.is_own_evaluation(frame)) {
            // Our evaluation came in the middle of the program's own work, which is what there is to see.
            *lock(&self.intent) = Intent::Pause;
            self.proceed(Some(Step::Out)).await;
            return Vec::new();
        }
        let text = if stop.is_idle {
            Some("the program is idle: it waits for events, such as timers, connections or input")
        } else if stop.frames.iter().all(|frame| self.sources.is_nodes_frame(frame)) {
            Some("none of the program's code is running: Node.js is between two events")
        } else {
            None
        };
        vec![self.stopped(StopReason::Pause, text.map(str::to_owned), Vec::new()).await]
    }
}

fn debugger_statement() -> StopReason {
    StopReason::Other("debugger statement".to_owned())
}
