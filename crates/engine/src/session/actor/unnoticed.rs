//! The end of a running program whose debugger does not report it.
//!
//! A debugger may miss the end of a program that is killed while it resumes it, and then waits forever.

use super::super::Execution;
use super::Actor;
use crate::deadlines;
use crate::model::ids::TargetId;
use crate::model::launch::Start;
use crate::process::Identity;

impl Actor {
    /// Watches the process of a program that we started. The number of one that was attached to may be that of a process
    /// on another machine.
    pub(super) fn watch_process(&self) {
        if !matches!(self.last_start, Some(Start::Launch(_))) {
            return;
        }
        let debugger = self.run.as_ref().and_then(|run| run.targets.get(&TargetId::PROGRAM));
        if let Some(pid) = debugger.and_then(|program| program.debugger.pid()) {
            self.look_at_process(Identity::of(pid), None);
        }
    }

    /// `gone_at` is how many events there were when the process was found to have ended. The debugger may report more
    /// until then, and what it says counts.
    fn look_at_process(&self, process: Identity, gone_at: Option<u64>) {
        let number = self.runs;
        self.spawn(tokio::time::sleep(deadlines::UNNOTICED), move |actor, ()| {
            let Some(run) = actor.run.as_ref().filter(|_| actor.runs == number) else { return };
            let has_ended = actor.state.program_ended().is_some();
            if run.is_leaving || has_ended || !run.targets.contains_key(&TargetId::PROGRAM) {
                return;
            }
            let seen = run.events;
            let is_running = matches!(actor.state.execution(), Execution::Running);
            let status = run.targets.get(&TargetId::PROGRAM).and_then(|program| program.debugger.end());
            match process.end().filter(|_| is_running) {
                Some(end) if gone_at == Some(seen) => actor.program_ended(status.unwrap_or(end)),
                Some(_) => actor.look_at_process(process, Some(seen)),
                None => actor.look_at_process(process, None),
            }
        });
    }
}
