//! Holding a process by SIGSTOP until a debugger has attached to it.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use crate::deadlines;
use crate::lock::lock;

use super::{marked, proc};

/// The processes that are held.
static HELD: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

/// Holds a process; it runs on when this is dropped.
#[derive(Debug)]
pub struct Hold(u32);

impl Hold {
    /// Lets a process run on that was stopped for us.
    pub fn release(pid: u32) {
        drop(Self(pid));
    }

    /// Stops the process.
    pub fn of(pid: u32) -> Self {
        held(|held| held.insert(pid));
        marked::stop(pid);
        Self(pid)
    }

    /// Releases the process once a debugger traces it, which decides from then on when it runs. A stop signal that is
    /// still pending is discarded with it (signal(7)), so that the debugger does not report it.
    pub async fn until_traced(self) {
        let traced = async {
            while !is_traced(self.0) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        // Without a debugger, it runs on.
        let _ = tokio::time::timeout(deadlines::HELD, traced).await;
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        marked::resume(self.0);
        held(|held| held.remove(&self.0));
    }
}

/// Whether a process is stopped by us.
pub(super) fn is_held(pid: u32) -> bool {
    held(|held| held.contains(&pid))
}

fn held<T>(use_it: impl FnOnce(&mut HashSet<u32>) -> T) -> T {
    let mut held = lock(&HELD);
    use_it(held.get_or_insert_default())
}

/// By `TracerPid` of `proc_pid_status(5)`. A process that has ended needs no debugger.
fn is_traced(pid: u32) -> bool {
    proc::status(pid, "TracerPid").is_none_or(|tracer| tracer != "0")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::output::Output;
    use crate::process::{Process, ProcessSpec, exists, is_stopped};

    #[tokio::test]
    async fn a_held_process_runs_on_afterwards_and_is_not_called_stopped() {
        let spec =
            ProcessSpec { program: "/bin/sleep".into(), args: vec!["0.3".into()], ..Default::default() };
        let process = Process::spawn(&spec, "held", &Output::new()).unwrap();
        let hold = Hold::of(process.pid());
        let status = || std::fs::read_to_string(format!("/proc/{}/status", process.pid())).unwrap();
        while !status().contains("(stopped)") {
            tokio::task::yield_now().await;
        }
        assert!(exists(process.pid()) && !is_stopped(process.pid()), "{}", status());
        drop(hold);
        assert_eq!(process.ended().await, crate::model::stop::End::Exited(0));
    }
}
