//! The processes that a test program has started, directly or not.

use std::io::Result;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The variable that all of them inherit.
const VARIABLE: &str = "STILLFRAME_TEST_PROGRAM";
/// The end of a process that nobody waits for takes this long at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// A mark in the environment of a test program.
pub(super) struct Mark(String);

impl Mark {
    /// Marks a program that has not been started yet.
    pub(super) fn on(command: &mut Command) -> Self {
        let value = format!("{} {}", std::process::id(), command.get_program().display());
        command.env(VARIABLE, &value);
        Self(format!("{VARIABLE}={value}"))
    }

    /// Those that still run after a while, each with its command line. They are killed.
    pub(super) fn kill_those_left(&self) -> Result<Vec<String>> {
        let until = Instant::now() + PATIENCE;
        let mut left = self.processes()?;
        while !left.is_empty() && Instant::now() < until {
            sleep(Duration::from_millis(50));
            left = self.processes()?;
        }
        let mut killed = Vec::new();
        for pid in left {
            killed.push(format!("{} {}", pid.as_raw_nonzero(), text(pid, "cmdline").replace('\0', " ")));
            // It may have ended meanwhile.
            let _ = kill_process(pid, Signal::KILL);
        }
        Ok(killed)
    }

    fn processes(&self) -> Result<Vec<Pid>> {
        let all = std::fs::read_dir("/proc")?.flatten();
        let pids = all.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
        Ok(pids.filter(|pid| text(*pid, "environ").split('\0').any(|variable| variable == self.0)).collect())
    }
}

/// A file of a process that may have ended, or may not be ours.
fn text(pid: Pid, file: &str) -> String {
    let bytes = std::fs::read(format!("/proc/{}/{file}", pid.as_raw_nonzero())).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
