//! Pauses that land where no code of the user's runs.
//!
//! For an adapter with [`Quirks::pauses_anywhere`], the thread that a pause stopped in may be the runtime's, or handle a
//! signal on another stack. Then another thread that runs code of the user's is the one to show. If the signal handler
//! hides that code, or no thread has any, the program resumes and is paused again.
//!
//! [`Quirks::pauses_anywhere`]: crate::adapter::plan::Quirks::pauses_anywhere

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use super::{DapDebugger, recording};
use crate::deadlines;
use crate::debugger::Debugger;
use crate::error::Result;
use crate::model::ids::RawId;

/// How often a pause is tried again.
const MOST: u32 = 10;
/// How long the program runs before that: a signal handler takes a few microseconds.
const APART: Duration = Duration::from_millis(10);
/// How many threads, and how many frames of each, are searched for code of the user's.
const THREADS: usize = 20;
const FRAMES: usize = 30;

/// Whether a pause was requested, and no stop has come since.
#[derive(Debug, Default)]
pub(super) struct PauseRequest {
    is_asked: AtomicBool,
    /// The thread that it was requested for.
    thread: AtomicI64,
    /// How often it may be tried again.
    left: AtomicU32,
}

impl PauseRequest {
    pub(super) fn ask(&self, thread: RawId) {
        self.thread.store(thread.0, Ordering::Release);
        self.left.store(MOST, Ordering::Release);
        self.is_asked.store(true, Ordering::Release);
    }

    pub(super) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Acquire)
    }

    /// The user has seen a stop, and continues from it.
    pub(super) fn forget(&self) {
        self.is_asked.store(false, Ordering::Release);
    }

    /// Whether the stop that has come may be that of a pause.
    pub(super) fn take(&self) -> bool {
        self.is_asked.swap(false, Ordering::AcqRel)
    }

    fn may_try_again(&self) -> bool {
        let one_less = |left: u32| left.checked_sub(1);
        self.left.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_less).is_ok()
    }
}

/// What a thread was doing when the program was paused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    Users,
    Runtimes,
    /// What it runs otherwise is not on its stack.
    SignalHandlers,
}

/// The thread that a pause was requested for, unless it is gone, where the adapter has reported the pause in `thread`.
pub(super) async fn asked_thread(debugger: &DapDebugger, thread: RawId) -> RawId {
    let asked = RawId(debugger.0.pausing.thread.load(Ordering::Acquire));
    if !debugger.quirks().ignores_paused_thread || asked == thread {
        return thread;
    }
    let threads = debugger.threads().await.unwrap_or_default();
    if threads.iter().any(|known| known.id == asked) { asked } else { thread }
}

/// The thread to show for a pause in `thread`; none if it is not known where the user's code is.
pub(super) async fn user_thread(debugger: &DapDebugger, thread: RawId) -> Option<RawId> {
    if !debugger.quirks().pauses_anywhere {
        return Some(thread);
    }
    match code(debugger, thread).await {
        Code::Users => return Some(thread),
        Code::SignalHandlers => return None,
        Code::Runtimes => {}
    }
    for other in debugger.threads().await.ok()?.into_iter().take(THREADS) {
        if code(debugger, other.id).await == Code::Users {
            return Some(other.id);
        }
    }
    None
}

async fn code(debugger: &DapDebugger, thread: RawId) -> Code {
    let Ok(stack) = debugger.stack_trace(thread, 0, FRAMES).await else { return Code::Runtimes };
    let mut places = stack.frames.iter().filter_map(|frame| frame.location.as_ref());
    if places.any(|place| !place.source.internal) {
        Code::Users
    } else if stack.frames.iter().any(|frame| (debugger.quirks().is_signal_handler)(&frame.name)) {
        Code::SignalHandlers
    } else {
        Code::Runtimes
    }
}

/// Resumes the program and pauses it again; false if that was tried often enough or is refused.
pub(super) async fn again(debugger: &DapDebugger, thread: RawId) -> bool {
    if !debugger.0.pausing.may_try_again() || debugger.go(thread, None).await.is_err() {
        return false;
    }
    // From here on a stop is an event of its own.
    tokio::time::sleep(APART).await;
    debugger.0.pausing.is_asked.store(true, Ordering::Release);
    if let Err(error) = ask(debugger, thread).await {
        tracing::warn!(%error, "cannot pause again");
    }
    true
}

/// Sends the request, after which a stop comes if the program runs.
pub(super) async fn ask(debugger: &DapDebugger, thread: RawId) -> Result<()> {
    if recording::stop_at_next_hit(debugger).await {
        return Ok(());
    }
    debugger.request::<::dap::Pause>(DapDebugger::thread(thread), deadlines::REQUEST).await.map(drop)
}
