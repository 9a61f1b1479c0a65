//! Stops at exceptions, which the debugger or a condition may reject.

use std::sync::Arc;

use super::Actor;
use crate::debugger::Debugger;
use crate::error::Error;
use crate::model::breakpoint::Failures;
use crate::model::ids::RawId;
use crate::model::stop::Stop;

impl Actor {
    /// Reports the stop, unless the debugger or the condition on the exception rejects it; then the program resumes,
    /// unless another of its threads has stopped. A condition that fails is counted, and does not stop the program.
    /// A stop that the user has resumed meanwhile, from another thread's, is over.
    pub(super) fn stopped_at_exception(&self, raw: RawId, stop: Stop) {
        let Ok(debugger) = self.debugger(stop.target) else { return };
        let resumes = self.resumes(stop.target);
        let (wanted, exception) = (self.exceptions.clone(), stop.text.clone());
        let condition = wanted.condition.clone();
        let work = async move {
            let worth = debugger
                .should_stop_at_exception(raw, exception.as_deref(), wanted.mode)
                .await
                .unwrap_or(true);
            let met = match &wanted.condition {
                Some(condition) if worth => debugger.exception_satisfies(raw, condition).await,
                _ => Ok(worth),
            };
            (debugger, met)
        };
        self.spawn(work, move |actor, (debugger, met)| {
            if actor.resumes(stop.target) != resumes {
                return;
            }
            let is_met = met == Ok(true);
            if let Err(error) = met
                && !matches!(error, Error::Lost | Error::Closed)
                && actor.exceptions.condition == condition
            {
                let count = actor.exception_failures.as_ref().map_or(0, |failures| failures.count) + 1;
                actor.exception_failures = Some(Failures { count, message: error.to_string() });
            }
            if is_met {
                actor.stopped(stop);
                actor.publish();
            } else if !actor.state.is_stopped(stop.target) {
                actor.pass(debugger, raw, stop);
            }
        });
    }

    /// Resumes a process from a stop that is not shown. When it does not go on, the stop is shown after all.
    fn pass(&self, debugger: Arc<dyn Debugger>, raw: RawId, stop: Stop) {
        let resumes = self.resumes(stop.target);
        let work = async move { debugger.resume_silently(raw).await.is_ok() };
        self.spawn(work, move |actor, has_passed| {
            if !has_passed && actor.resumes(stop.target) == resumes {
                actor.stopped(stop);
                actor.publish();
            }
        });
    }
}
