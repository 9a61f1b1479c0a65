//! Whether a thread runs, is suspended, or waits to begin.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use ::cdp::debugger::Paused;
use ::cdp::runtime::RemoteObject;
use tokio::sync::watch;

use super::stop::V8Stop;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::lock::lock;

/// What V8 has reported about a thread.
#[derive(Debug)]
pub(super) struct RunState {
    /// Where the thread is suspended.
    stop: Mutex<Option<Arc<V8Stop>>>,
    /// Counts the stops.
    stops: AtomicI64,
    /// It runs, according to V8: a pause request before this report is dropped.
    is_running: watch::Sender<bool>,
    /// It has not begun, and waits for us.
    waits: watch::Sender<bool>,
}

impl Default for RunState {
    fn default() -> Self {
        Self {
            stop: Mutex::default(),
            stops: AtomicI64::new(0),
            is_running: watch::Sender::new(false),
            waits: watch::Sender::new(false),
        }
    }
}

impl RunState {
    /// Where the thread is suspended.
    pub(super) fn stop(&self) -> Result<Arc<V8Stop>> {
        lock(&self.stop).clone().ok_or(Error::NotPaused { state: "running" })
    }

    pub(super) fn is_stopped(&self) -> bool {
        lock(&self.stop).is_some()
    }

    /// Whether the thread was ever suspended.
    pub(super) fn has_stopped(&self) -> bool {
        self.stops.load(Ordering::Relaxed) > 0
    }

    /// The thread is suspended.
    pub(super) fn pause(
        &self,
        paused: &mut Paused,
        is_idle: bool,
        unwound: Option<RemoteObject>,
    ) -> Arc<V8Stop> {
        self.is_running.send_replace(false);
        let number = self.stops.fetch_add(1, Ordering::Relaxed) + 1;
        let stop = Arc::new(V8Stop::new(number, paused, is_idle, unwound));
        *lock(&self.stop) = Some(Arc::clone(&stop));
        stop
    }

    /// The stop has ended, and no new one is known.
    pub(super) fn take_stop(&self) -> Option<Arc<V8Stop>> {
        lock(&self.stop).take()
    }

    /// V8 says that the thread runs, or it must by now.
    pub(super) fn set_running(&self) {
        self.is_running.send_replace(true);
    }

    pub(super) fn is_running(&self) -> bool {
        *self.is_running.borrow()
    }

    /// Follows whether it runs.
    pub(super) fn watch_running(&self) -> watch::Receiver<bool> {
        self.is_running.subscribe()
    }

    /// The thread has not begun, and says that it waits.
    pub(super) fn set_waiting(&self) {
        self.waits.send_replace(true);
    }

    pub(super) fn is_waiting(&self) -> bool {
        *self.waits.borrow()
    }

    /// A process announces itself before it waits, and Node forgets a `Runtime.runIfWaitingForDebugger` that
    /// comes before that: up to one start in ten is lost then. A version that does not say when it waits is
    /// given time.
    pub(super) async fn wait_for_start(&self) {
        let mut waits = self.waits.subscribe();
        let _ = tokio::time::timeout(deadlines::GOODBYE, waits.wait_for(|waits| *waits)).await;
    }
}
