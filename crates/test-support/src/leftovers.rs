//! Which processes a test has started, directly or not, and whether they are gone.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// What a guardian waits for a debugger at most: `engine::deadlines::DETACH`.
const DETACH: Duration = Duration::from_secs(6);

/// Longer than the end of a process that was killed takes.
const PATIENCE: Duration = Duration::from_secs(2);

/// A mark in the environment of everything that a test starts.
#[derive(Clone, Debug)]
pub struct Mark {
    variable: &'static str,
    value: String,
}

impl Default for Mark {
    fn default() -> Self {
        Self::on("STILLFRAME_TEST_MARK")
    }
}

impl Mark {
    /// A mark for a whole test program, whose tests have marks of their own.
    pub fn of_program() -> Self {
        Self::on("STILLFRAME_TEST_PROGRAM")
    }

    fn on(variable: &'static str) -> Self {
        Self { variable, value: uuid::Uuid::new_v4().to_string() }
    }

    /// The variable and its value.
    pub fn variable(&self) -> (&'static str, &str) {
        (self.variable, &self.value)
    }

    /// The processes that carry the mark and live, with their command lines. Linux only.
    pub fn processes(&self) -> Vec<(u32, String)> {
        let wanted = format!("{}={}", self.variable, self.value);
        let all = std::fs::read_dir("/proc").expect("/proc is there").flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let marked = pids.filter(|pid| {
            environment(*pid).split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
        });
        marked.map(|pid| (pid, command_line(pid))).collect()
    }

    /// Those of them that clean up after a server.
    pub fn guardians(&self) -> Vec<u32> {
        let all = self.processes().into_iter();
        all.filter(|(_, command)| command.contains("__guard")).map(|(pid, _)| pid).collect()
    }

    /// Kills one of them, like an outsider, and waits until it is gone.
    pub fn kill(&self, pid: u32) {
        self.signal(pid, Signal::KILL);
        wait_for_exit(pid, PATIENCE);
    }

    /// Sends one of them a signal.
    pub fn signal(&self, pid: u32, signal: Signal) {
        assert!(self.processes().iter().any(|(known, _)| *known == pid), "{pid} was not started here");
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process number");
        kill_process(pid, signal).expect("it lives");
    }

    /// The same, where it may be gone already.
    pub fn try_signal(&self, pid: u32, signal: Signal) {
        if self.processes().iter().any(|(known, _)| *known == pid) {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process number");
            let _ = kill_process(pid, signal);
        }
    }

    /// Waits, at most this long, for the end of those of them that have a text in their command lines.
    pub fn wait_for_ends(&self, text: &str, limit: Duration) {
        for (pid, _) in self.processes().iter().filter(|(_, command)| command.contains(text)) {
            wait_for_exit(*pid, limit);
        }
    }

    /// Fails unless all of them are gone within this time. A guardian gives a debugger that has attached to a program
    /// more of it to detach, and is there until then.
    pub fn assert_gone_within(&self, limit: Duration) {
        let is_guardian = |(_, command): &(u32, String)| command.contains(" __guard ");
        let mut alive = self.left_after(limit);
        if alive.iter().any(is_guardian) {
            alive = self.left_after(DETACH);
        }
        assert!(alive.is_empty(), "left behind after {limit:?}: {alive:#?}");
    }

    /// Those that have not ended within this time.
    pub fn left_after(&self, limit: Duration) -> Vec<(u32, String)> {
        let deadline = Instant::now() + limit;
        loop {
            let alive = self.processes();
            let left = deadline.saturating_duration_since(Instant::now());
            match alive.first() {
                Some((pid, _)) if !left.is_zero() => wait_for_exit(*pid, left),
                _ => return alive,
            }
        }
    }
}

impl Drop for Mark {
    /// What a test has started that fails is ended, so that it does not hold up the others.
    fn drop(&mut self) {
        if std::thread::panicking() {
            for (pid, _) in self.processes() {
                self.try_signal(pid, Signal::KILL);
            }
        }
    }
}

/// What a process has in its environment: nothing when it has just ended or is not ours.
fn environment(pid: u32) -> Vec<u8> {
    let read = |of: &str| std::fs::read(format!("/proc/{pid}/{of}")).unwrap_or_default();
    let deadline = Instant::now() + PATIENCE;
    loop {
        let environment = read("environ");
        // Within `execve`, Linux has neither for a moment: such a process has a program, but no arguments.
        let is_starting =
            || read("cmdline").is_empty() && std::fs::read_link(format!("/proc/{pid}/exe")).is_ok();
        if !environment.is_empty() || !is_starting() || Instant::now() > deadline {
            return environment;
        }
        std::thread::yield_now();
    }
}

fn command_line(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

/// Fails unless a process is gone soon that carries no mark.
pub fn assert_gone(pid: u32) {
    wait_for_exit(pid, PATIENCE);
    assert_eq!(command_line(pid), "", "left behind");
}

/// Sends a process what a terminal sends for Ctrl-C.
pub fn interrupt(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process number");
    kill_process(pid, Signal::INT).expect("it lives");
}

/// Waits for the end of a process that need not be our child.
pub(crate) fn wait_for_exit(pid: u32, limit: Duration) {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
    // A process that is gone already cannot be opened.
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    let limit = Timespec::try_from(limit).expect("a limit of seconds");
    let wait = || poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&limit));
    retry_on_intr(wait).expect("a process can be polled");
}
