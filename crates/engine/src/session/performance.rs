//! Where the time and the memory of a session's program go.

use super::Session;
use super::actor::Command;
use crate::error::Result;
use crate::model::performance::{CpuProfile, HeapSnapshot, HeapUsage, TimelineEntry};

impl Session {
    /// Begins to take down what the program spends its time with: the process that is suspended, else the
    /// program itself.
    pub async fn start_profile(&self) -> Result<()> {
        self.ask(|reply| Command::StartProfile { reply }).await
    }

    /// Ends that, and gives what was found. It may have ended with the program.
    pub async fn stop_profile(&self) -> Result<CpuProfile> {
        self.ask(|reply| Command::StopProfile { reply }).await
    }

    /// Counts what is in the program's memory. The program stands still meanwhile.
    pub async fn heap_snapshot(&self) -> Result<HeapSnapshot> {
        self.ask(|reply| Command::HeapSnapshot { reply }).await
    }

    /// How much memory the program uses, after a collection of garbage if that is wanted.
    pub async fn heap_usage(&self, collect: bool) -> Result<HeapUsage> {
        self.ask(|reply| Command::HeapUsage { collect, reply }).await
    }

    /// What the program and its runtime took down of its course, oldest first.
    pub async fn timeline(&self) -> Result<Vec<TimelineEntry>> {
        self.ask(|reply| Command::Timeline { reply }).await
    }
}
