//! Pausing a thread that runs.

use std::sync::{Arc, Weak};
use std::time::Duration;

use ::cdp::debugger;
use ::cdp::runtime::Evaluate;

use super::super::injected::POKE;
use super::control::RunControl;
use super::intent::Intent;
use crate::deadlines;
use crate::error::Result;

/// How long a program that was asked to pause is left alone before it counts as idle.
const IDLE: Duration = Duration::from_millis(30);
/// The same for the first pause of a program that was attached to: a stop in its code shows more than that it is idle,
/// and one that has just been started still loads its modules.
const IDLE_AT_ATTACH: Duration = Duration::from_millis(250);

impl RunControl {
    /// Asks a running thread to stop. One that runs no code at the moment is brought to its stop by an evaluation.
    pub(in super::super) async fn pause(self: &Arc<Self>) -> Result<()> {
        let mut is_running = self.run.watch_running();
        // V8 drops a pause request that it receives before it has reported that it runs.
        let _ = tokio::time::timeout(deadlines::REQUEST, is_running.wait_for(|is_running| *is_running)).await;
        self.abandon(Intent::Pause);
        // V8 evaluates a condition again where a pause comes, which would count a hit twice.
        if self.binding.set_pausing(true).await {
            let _ = tokio::time::timeout(IDLE, is_running.wait_for(|is_running| !*is_running)).await;
        }
        if !self.run.is_stopped() {
            let asked = self.v8.request_within(deadlines::GOODBYE, debugger::Pause::default()).await;
            // A thread in native code takes it up when that returns.
            if let Err(error) = asked
                && !matches!(error, ::cdp::Error::Deadline { .. })
            {
                return Err(error.into());
            }
        }
        let is_attached = !self.sources.program.is_ours && !self.run.has_stopped();
        tokio::spawn(pause_idle_thread(
            Arc::downgrade(self),
            if is_attached { IDLE_AT_ATTACH } else { IDLE },
        ));
        Ok(())
    }
}

/// Makes a thread reach a requested pause. One that runs no code needs some to stop in, and V8
/// forgets a pause that finds it in code that is passed over, such as Node's own, or in the condition of a breakpoint.
async fn pause_idle_thread(control: Weak<RunControl>, mut patience: Duration) {
    loop {
        tokio::time::sleep(patience).await;
        let Some(control) = control.upgrade() else { return };
        if !control.is_pausing() {
            control.binding.set_pausing(false).await;
            return;
        }
        // An internal pause, which resumes silently: a reported stop ends the intent.
        if control.run.is_stopped() {
            continue;
        }
        let expression = format!("0\n//# sourceURL={POKE}");
        let poke = Evaluate { expression, silent: true, ..Default::default() };
        // It stops in there, and its answer comes when the program runs on.
        let ended = control.v8.request_within(deadlines::GOODBYE, poke).await;
        if matches!(ended, Err(::cdp::Error::Closed)) {
            return;
        }
        if ended.is_ok() && control.is_pausing() {
            control.binding.set_pausing(true).await;
            if control.v8.request(debugger::Pause::default()).await.is_err() {
                return;
            }
        }
        patience = (patience * 2).min(deadlines::NUDGE);
    }
}
