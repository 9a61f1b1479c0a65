//! What a process holds of the machine, to see whether it gives it back.

use std::fmt;
use std::io::Write;
use std::time::{Duration, Instant};

/// How long a process is given until it holds as little as before. Threads that have nothing to do stay for ten
/// seconds.
pub(crate) const SETTLE: Duration = Duration::from_secs(20);
/// How long what it holds must stay the same to be what it holds.
const QUIET: Duration = Duration::from_secs(1);
/// The interval of measurements.
pub(crate) const LOOK: Duration = Duration::from_millis(50);

/// What a process holds at a moment. Linux only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceUsage {
    /// Files, sockets and pipes that are open.
    pub files: usize,
    /// Threads.
    pub threads: usize,
    /// Memory that is resident, in KiB.
    pub memory: usize,
    /// Children, zombies included.
    pub children: usize,
}

impl ResourceUsage {
    /// Of a process that lives.
    pub fn of(pid: u32) -> Self {
        let entries = |folder: &str| {
            let folder = format!("/proc/{pid}/{folder}");
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder}: {error}")).count()
        };
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
        let field = |name: &str| {
            let line =
                status.lines().find_map(|line| line.strip_prefix(name)).expect("a field of the status");
            line.trim().trim_end_matches(" kB").parse().expect("a number")
        };
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("the process lives").flatten();
        let children =
            threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
        Self {
            files: entries("fd"),
            threads: field("Threads:"),
            memory: field("VmRSS:"),
            children: children.map(|list| list.split_whitespace().count()).sum(),
        }
    }

    /// How much more memory than before, in KiB.
    pub fn growth_since(&self, before: &Self) -> usize {
        self.memory.saturating_sub(before.memory)
    }

    /// Whether no counter is higher than before.
    pub fn is_within(&self, before: &Self) -> bool {
        self.files <= before.files && self.threads <= before.threads && self.children <= before.children
    }
}

impl fmt::Display for ResourceUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, threads, memory, children } = self;
        let megabytes = memory / 1024;
        write!(f, "{files} files, {threads} threads, {children} children, {megabytes} MB")
    }
}

/// What a process holds once that has not changed for a while.
pub async fn quiet(pid: u32) -> ResourceUsage {
    let mut last = ResourceUsage::of(pid);
    let mut since = Instant::now();
    while since.elapsed() < QUIET {
        // sleep: a process's resources are not signalled.
        tokio::time::sleep(LOOK).await;
        let now = ResourceUsage::of(pid);
        if !(now.is_within(&last) && last.is_within(&now)) {
            since = Instant::now();
        }
        last = now;
    }
    last
}

/// A process's resources once they are back to the previous level, or after a while.
pub async fn settled(pid: u32, before: &ResourceUsage) -> ResourceUsage {
    let until = Instant::now() + SETTLE;
    loop {
        let now = ResourceUsage::of(pid);
        if now.is_within(before) || Instant::now() > until {
            return now;
        }
        // sleep: a process's resources are not signalled.
        tokio::time::sleep(LOOK).await;
    }
}

/// Shows something also where the test passes.
pub fn say(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}
