//! Pausing a main thread that waits in the operating system, and does not notice a pause.
//!
//! A signal brings it out, into the agent's `stillframe_pause`; one that is busy stops by itself before that.

use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{Python, PythonDebugger};
use crate::deadlines;
use crate::debugger::Debugger;
use crate::error::Result;
use crate::model::ids::RawId;

/// The function that the signal leads into.
pub(super) const FRAME: &str = "stillframe_pause";

#[derive(Debug, Default)]
pub(super) struct Pausing {
    /// Counts the stops.
    stops: AtomicU64,
    /// The program was brought to its present stop by a signal.
    nudged: AtomicBool,
}

impl Pausing {
    pub(super) fn stopped(&self) {
        self.stops.fetch_add(1, Ordering::Relaxed);
    }
}

pub(super) async fn pause(debugger: &PythonDebugger, thread: RawId) -> Result<()> {
    let python = &debugger.0;
    let stops = python.pausing.stops.load(Ordering::Relaxed);
    python.dap.pause(thread).await?;
    if python.dap.setup().is_local {
        tokio::spawn(interrupt_unless_stopped(std::sync::Arc::downgrade(python), stops));
    }
    Ok(())
}

async fn interrupt_unless_stopped(python: Weak<Python>, stops: u64) {
    tokio::time::sleep(deadlines::NUDGE).await;
    if let Some(python) = python.upgrade()
        && python.pausing.stops.load(Ordering::Relaxed) == stops
        && let Some(pid) = python.dap.pid()
    {
        python.pausing.nudged.store(true, Ordering::Relaxed);
        crate::process::interrupt_system_call(pid);
    }
}

/// Whether a thread was brought to its stop by a signal, into the function for that.
pub(super) async fn is_in_pause(debugger: &PythonDebugger, thread: RawId) -> bool {
    if !debugger.0.pausing.nudged.swap(false, Ordering::Relaxed) {
        return false;
    }
    let top = debugger.0.dap.frames(thread, 0, 1, |name| Some(name)).await;
    top.is_ok_and(|stack| stack.frames.first().is_some_and(|frame| frame.name == FRAME))
}
