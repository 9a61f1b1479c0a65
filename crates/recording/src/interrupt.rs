//! What Ctrl-C does while a program is recorded.

use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Semaphore;

/// How far a recording has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// The program has not been started.
    Preparing,
    /// The program runs.
    Running,
    /// The program has ended, and its recording is written to the end.
    Finishing,
}

/// Interrupts a program that is recorded, as often as it is called.
#[derive(Debug)]
pub struct Interrupts {
    phase: AtomicU8,
    /// One permit for each that has not been seen.
    waiting: Semaphore,
}

impl Default for Interrupts {
    fn default() -> Self {
        Self { phase: AtomicU8::new(Phase::Preparing as u8), waiting: Semaphore::new(0) }
    }
}

impl Interrupts {
    /// Interrupts what is done, and returns what that is.
    pub fn interrupt(&self) -> Phase {
        self.waiting.add_permits(1);
        let phase = self.phase.load(Ordering::Acquire);
        [Phase::Preparing, Phase::Running]
            .into_iter()
            .find(|&of| of as u8 == phase)
            .unwrap_or(Phase::Finishing)
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Release);
    }

    /// Waits for the next one.
    pub(crate) async fn next(&self) {
        match self.waiting.acquire().await {
            Ok(permit) => permit.forget(),
            Err(_) => std::future::pending().await,
        }
    }
}
