//! Whether the program runs, resuming it, and keeping it from running while breakpoints are removed.
//!
//! A debugger may lose a breakpoint that it removes just as a thread reaches it: it reports the trap as a signal, and
//! breakpoints at that address never stop the program again. For an adapter with [`Quirks::removes_only_when_stopped`],
//! a running program is paused first, and continues when the adapter has answered. The session does not see that stop.
//!
//! [`Quirks::removes_only_when_stopped`]: crate::adapter::plan::Quirks::removes_only_when_stopped

use tokio::sync::{MutexGuard, oneshot};
use tokio::time::Instant;

use super::{DapDebugger, commands, lock, pausing};
use crate::deadlines;
use crate::debugger::{Debugger, Reverse, Step};
use crate::error::{Error, Result};
use crate::model::ids::RawId;

/// What the program does, according to requests and events.
#[derive(Debug, Default)]
pub(super) struct RunMotion {
    /// When it was resumed; none while it is suspended.
    running_since: Option<Instant>,
    step: Option<Step>,
    /// It runs backwards, also when a rule resumes it.
    is_backward: bool,
    /// The session knows of a stop since then.
    is_reported: bool,
    /// The thread that stopped or was resumed last.
    thread: Option<RawId>,
    hold: Option<RemovalPause>,
}

/// A pause that was requested in order to remove breakpoints.
#[derive(Debug)]
struct RemovalPause {
    stopped: oneshot::Sender<()>,
    /// Resolves when the breakpoints are removed, or when that was given up.
    removed: oneshot::Receiver<()>,
    /// Dropped when the program has been resumed.
    resumed: oneshot::Sender<()>,
}

/// A stop during a [`RemovalPause`]. It is kept until the program has been resumed.
pub(super) struct RemovalStop {
    removed: oneshot::Receiver<()>,
    _resumed: oneshot::Sender<()>,
    was_stepping: bool,
}

impl RemovalStop {
    /// Waits until the program may continue. True if a step was under way when it stopped.
    pub(super) async fn released(&mut self) -> bool {
        // An error ends the hold, too.
        let _ = (&mut self.removed).await;
        self.was_stepping
    }
}

impl RunMotion {
    /// Whether the program runs, and not even a hold suspends it.
    pub(super) fn is_running(&self) -> bool {
        self.running_since.is_some()
    }

    /// The program is about to run.
    pub(super) fn resumed(&mut self, thread: Option<RawId>, step: Option<Step>) {
        self.running_since = Some(Instant::now());
        self.is_reported = false;
        self.step = step;
        self.thread = thread.or(self.thread);
    }

    /// The session is notified that the program has stopped.
    pub(super) fn reported(&mut self) {
        self.is_reported = true;
    }

    /// The adapter says that the program continues.
    pub(super) fn continued(&mut self) {
        self.is_reported = false;
    }

    /// Whether the program has stopped and the session knows, so that only the user resumes it.
    pub(super) fn is_reported(&self) -> bool {
        self.is_reported
    }

    /// From here on it is resumed in this direction.
    pub(super) fn turn(&mut self, is_backward: bool) {
        self.is_backward = is_backward;
    }

    /// Whether it is resumed backwards.
    pub(super) fn is_backward(&self) -> bool {
        self.is_backward
    }

    /// Whether it is to be paused for a while without the session seeing it.
    pub(super) fn is_held(&self) -> bool {
        self.hold.is_some()
    }

    /// The program has stopped, or could not be resumed.
    pub(super) fn stopped(&mut self, thread: RawId) -> Option<RemovalStop> {
        self.running_since = None;
        self.thread = Some(thread);
        let was_stepping = self.step.take().is_some();
        let RemovalPause { stopped, removed, resumed } = self.hold.take()?;
        // A hold that was given up still owns the stop that it asked for.
        let _ = stopped.send(());
        Some(RemovalStop { removed, _resumed: resumed, was_stepping })
    }

    /// The program has ended.
    pub(super) fn ended(&mut self) {
        self.running_since = None;
        self.hold = None;
    }
}

impl DapDebugger {
    /// Lets a thread run, by whichever request.
    pub(super) async fn go(&self, thread: RawId, step: Option<Step>) -> Result<()> {
        let moving = self.0.moving.lock().await;
        self.go_while(&moving, thread, step).await
    }

    /// Lets a thread run backwards.
    pub(super) async fn go_back(&self, thread: RawId, how: Reverse) -> Result<()> {
        let moving = self.0.moving.lock().await;
        lock(&self.0.motion).turn(true);
        match how {
            Reverse::Continue => self.go_while(&moving, thread, None).await,
            Reverse::Step => {
                let asked = self.request::<::dap::StepBack>(Self::thread(thread), deadlines::REQUEST);
                self.resumed(thread, None, asked).await.map(drop)
            }
        }
    }

    /// Continues from a stop that the session does not see. Returns false, and the program stays suspended, if a pause
    /// was requested meanwhile: an adapter does nothing about a pause of a program that is suspended.
    pub(super) async fn go_unless_paused(&self, thread: RawId, step: Option<Step>) -> Result<bool> {
        let moving = self.0.moving.lock().await;
        if self.0.pausing.is_asked() {
            return Ok(false);
        }
        self.go_while(&moving, thread, step).await.map(|()| true)
    }

    /// Lets a thread run by a command of the debugger, which is a step to the adapter. Else as `go_unless_paused`.
    pub(super) async fn go_by(&self, thread: RawId, frame: RawId, command: &str) -> Result<bool> {
        let _moving = self.0.moving.lock().await;
        if self.0.pausing.is_asked() {
            return Ok(false);
        }
        let asked = commands::run(self, Some(frame), command.to_owned(), deadlines::REQUEST);
        self.resumed(thread, Some(Step::Into), asked).await.map(|_| true)
    }

    async fn go_while(&self, _moving: &MutexGuard<'_, ()>, thread: RawId, step: Option<Step>) -> Result<()> {
        self.can_run()?;
        let arguments = Self::thread(thread);
        let is_backward = lock(&self.0.motion).is_backward;
        let within = deadlines::REQUEST;
        let request = if self.quirks().keeps_steps { lock(&self.0.kept).request(thread, step) } else { step };
        self.resumed(thread, step, async {
            match request {
                None if is_backward => {
                    self.request::<::dap::ReverseContinue>(arguments, within).await.map(drop)
                }
                None => self.request::<::dap::Continue>(arguments, within).await.map(drop),
                Some(Step::Over) => self.request::<::dap::Next>(arguments, within).await.map(drop),
                Some(Step::Into) => self.request::<::dap::StepIn>(arguments, within).await.map(drop),
                Some(Step::Out) => self.request::<::dap::StepOut>(arguments, within).await.map(drop),
            }
        })
        .await
    }

    /// Keeps account of a request that resumes the program.
    async fn resumed<T>(
        &self,
        thread: RawId,
        step: Option<Step>,
        request: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        lock(&self.0.references).forget();
        lock(&self.0.motion).resumed(Some(thread), step);
        let answer = request.await;
        if matches!(answer, Err(Error::Refused(_))) {
            lock(&self.0.motion).stopped(thread);
        }
        answer
    }
}

/// While this exists, the program is not resumed.
pub(super) struct PauseGuard<'a> {
    moving: MutexGuard<'a, ()>,
    removed: oneshot::Sender<()>,
    resumed: oneshot::Receiver<()>,
}

impl PauseGuard<'_> {
    /// Waits until the program runs again. A pause that was requested before that would be lost.
    pub(super) async fn release(self) {
        let Self { moving, removed, resumed } = self;
        drop((moving, removed));
        // Nothing is ever sent: what would send it is gone when the program has been resumed.
        let _ = tokio::time::timeout(deadlines::REQUEST, resumed).await;
    }
}

/// Waits until the program may be paused, see [`Quirks::runs_before_pause`]. False if it has stopped by then.
///
/// [`Quirks::runs_before_pause`]: crate::adapter::plan::Quirks::runs_before_pause
pub(super) async fn may_pause(debugger: &DapDebugger) -> bool {
    let wait = debugger.quirks().runs_before_pause;
    if wait.is_zero() {
        return true;
    }
    let running_since = lock(&debugger.0.motion).running_since;
    let Some(since) = running_since else { return false };
    tokio::time::sleep_until(since + wait).await;
    lock(&debugger.0.motion).is_running()
}

/// Pauses the program if it runs, to remove breakpoints or to read stacks. One that cannot be paused within [`deadlines::PAUSE`] keeps running.
pub(super) async fn hold(debugger: &DapDebugger) -> PauseGuard<'_> {
    let moving = debugger.0.moving.lock().await;
    may_pause(debugger).await;
    let (stopped, has_stopped) = oneshot::channel();
    let (sender, removed) = oneshot::channel();
    let (resuming, resumed) = oneshot::channel();
    let still = PauseGuard { moving, removed: sender, resumed };
    let thread = {
        let mut motion = lock(&debugger.0.motion);
        if !motion.is_running() {
            return still;
        }
        motion.hold = Some(RemovalPause { stopped, removed, resumed: resuming });
        motion.thread
    };
    let thread = match thread {
        Some(thread) => thread,
        // Adapters that need a pause here stop all threads, so any will do.
        None => {
            debugger.threads().await.ok().and_then(|threads| Some(threads.first()?.id)).unwrap_or(RawId(0))
        }
    };
    match pausing::ask(debugger, thread).await {
        Ok(()) => {
            if tokio::time::timeout(deadlines::PAUSE, has_stopped).await.is_err() {
                tracing::warn!("cannot remove breakpoints: the running program did not pause");
            }
        }
        Err(error) => {
            tracing::warn!(%error, "cannot remove breakpoints while the program runs");
            lock(&debugger.0.motion).hold = None;
        }
    }
    still
}
