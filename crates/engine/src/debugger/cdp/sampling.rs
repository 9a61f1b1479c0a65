//! What a thread is doing, seen without stopping it.
//!
//! V8 takes samples from a separate thread; `profile` turns them into calls, in the user's sources. The thread itself
//! reports what it waits for, and its exact location, on request (`question`). Both need it to process messages,
//! which it does not do while it waits in native code. For that case, our hook records a call that may wait, and its
//! location, before it starts (`blocking`). The other modules are `sending`, `task` (late answers) and `anchor`.

mod anchor;
mod blocking;
mod callbacks;
mod profile;
mod question;
mod sending;
mod task;

use std::sync::Arc;
use std::time::Duration;

use ::cdp::profiler::{self, Profile};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use self::anchor::Anchor;
use self::blocking::Blocking;
pub(super) use self::profile::place;
use self::question::{WaitAnswer, WaitTools};
use self::sending::{send, send_if};
use self::task::LateAnswer;
use super::run_state::RunState;
use super::sources::Sources;
use super::thread::{JsThread, THREAD};
use super::v8::V8Client;
use crate::deadlines;
use crate::error::Result;
use crate::model::activity::{Activity, Callback, ThreadActivity, WaitKind, Waiting};
use crate::process;

/// How far apart samples are at most. They cost the program less than what can be measured.
const LONGEST_INTERVAL: Duration = Duration::from_millis(10);
/// How far apart they are at least.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

/// Takes samples of a thread.
#[derive(Debug)]
pub(super) struct Sampler {
    v8: V8Client,
    sources: Sources,
    thread: Arc<JsThread>,
    state: Mutex<SamplingState>,
}

#[derive(Debug, Default)]
struct SamplingState {
    /// Samples are taken.
    is_on: bool,
    anchor: Option<Anchor>,
    /// The pending request.
    samples: LateAnswer<Option<FetchedProfile>>,
    answer: LateAnswer<Option<(WaitTools, WaitAnswer)>>,
    /// What the question needs, once the thread could give it.
    tools: Option<WaitTools>,
    blocking: Option<Blocking>,
}

/// Samples, and the profile that V8 is kept from forgetting by.
type FetchedProfile = (Profile, Option<Anchor>);

impl Sampler {
    pub(super) fn new(v8: V8Client, sources: Sources, thread: Arc<JsThread>) -> Self {
        Self { v8, sources, thread, state: Mutex::default() }
    }

    /// Begins. A thread that waits in native code does so when it comes back.
    pub(super) async fn start(&self, interval: Duration, run: &RunState) -> Result<()> {
        let mut state = self.state.lock().await;
        let v8 = &self.v8;
        let interval = interval.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL);
        let interval = u32::try_from(interval.as_micros()).unwrap_or(u32::MAX);
        let interval = profiler::SetSamplingInterval { interval };
        let runs = run.is_running();
        if state.is_on {
            return Ok(());
        }
        let blocking = Blocking::begin(v8, &self.sources.program, runs).await;
        if !runs {
            // A thread that runs may be in the middle of loading what the question needs of Node.
            let find = question::find_tools(v8);
            state.tools = timeout(deadlines::GOODBYE, find).await.ok().flatten();
        }
        let anchor = Anchor::after(state.anchor);
        // What ran already was optimized by a V8 that did not note the lines of it. Counting makes it begin anew.
        let count = profiler::StartPreciseCoverage { call_count: true, detailed: false };
        // They are sent at once, in this order.
        let ((), (), is_anchored, (), (), ()) = tokio::try_join!(
            send(v8, profiler::Enable::default()),
            send(v8, interval),
            anchor.begin(v8, None, deadlines::ACTIVITY),
            send_if(runs, v8, count),
            send_if(runs, v8, profiler::StopPreciseCoverage::default()),
            send(v8, profiler::Start::default()),
        )?;
        state.is_on = true;
        state.anchor = Some(anchor).filter(|_| is_anchored);
        state.blocking = blocking;
        Ok(())
    }

    /// What the thread has been doing since the last call, and what it waits for. See
    /// [`crate::debugger::Debugger::activity`].
    ///
    /// A sample in which it was idle, or in native code that no JavaScript has called, is counted and is in no call.
    /// One in which V8 tidied up is in a call without a place, `(garbage collector)`.
    pub(super) async fn activity(&self) -> Result<Activity> {
        // A program that does not answer holds up the beginning.
        let Ok(mut state) = timeout(deadlines::ACTIVITY, self.state.lock()).await else {
            return Ok(Activity::default());
        };
        let state = &mut *state;
        let v8 = self.v8.clone();
        if state.is_on && state.samples.is_idle() {
            state.samples.begin(fetch(v8.clone(), state.anchor));
        }
        // Its answer to an earlier call is out of date.
        if state.answer.is_over() {
            state.answer.begin(question::ask(v8, state.tools.clone()));
        }
        let until = Instant::now() + deadlines::ACTIVITY;
        let (profile, answer) = tokio::join!(state.samples.result(until), state.answer.result(until));
        let mut thread = ThreadActivity {
            thread: THREAD,
            name: self.thread.name().to_owned(),
            os_thread: if self.thread.is_worker() { None } else { self.thread.pid },
            ..ThreadActivity::default()
        };
        if let Some((profile, anchor)) = profile {
            state.anchor = anchor;
            thread.samples = u64::try_from(profile.samples.len()).unwrap_or_default();
            thread.calls = profile::calls(&self.sources, &profile).await;
        }
        let mut pending = Vec::new();
        // `Atomics.wait` lets messages in.
        let is_blocked = match (&answer, thread.os_thread) {
            (Some((_, answer)), _) => blocking::is_blocking(&self.sources.program, &answer.stack),
            (None, Some(pid)) => process::is_waiting(pid, pid).await,
            (None, None) => true,
        };
        let report = state.blocking.as_ref().and_then(Blocking::last).filter(|_| is_blocked);
        if let Some((tools, answer)) = answer {
            state.tools = Some(tools);
            thread.stack = question::stack(&self.sources, &answer.stack).await;
            pending = question::pending(&self.sources, answer.pending).await;
        } else if is_blocked && report.is_none() {
            // V8's own threads wait for each other all the time.
            let is_programs = |waiting: &Waiting| waiting.kind != WaitKind::Lock;
            if let Some(pid) = thread.os_thread {
                thread.blocked = process::blocked(pid, pid).await.filter(is_programs);
            }
        }
        if let Some(report) = report {
            let stack = question::stack(&self.sources, &report.stack).await;
            // The answer may be of a moment before. What was reported is cut off where it is long.
            if blocking::place(&stack) != blocking::place(&thread.stack) {
                thread.stack = stack;
            }
            thread.blocked = Some(blocking::waiting(&report, &thread.stack));
        }
        Ok(Activity { threads: vec![thread], pending, ..Activity::default() })
    }

    /// What the event loop calls again and again. See [`crate::debugger::Debugger::callbacks`].
    pub(super) async fn callbacks(&self, during: Duration) -> Result<Vec<Callback>> {
        let Ok(state) = timeout(deadlines::ACTIVITY, self.state.lock()).await else { return Ok(Vec::new()) };
        if !state.is_on || !state.samples.is_idle() {
            return Ok(Vec::new());
        }
        callbacks::of(&self.v8, &self.sources, during).await
    }

    /// Ends it.
    pub(super) async fn stop(&self) -> Result<()> {
        let mut state = self.state.lock().await;
        let SamplingState { is_on, blocking, .. } = std::mem::take(&mut *state);
        if is_on {
            send(&self.v8, profiler::Disable::default()).await?;
        }
        if let Some(blocking) = blocking {
            blocking.end(&self.v8).await;
        }
        Ok(())
    }
}

/// The samples that were taken. More are taken from then on.
async fn fetch(v8: V8Client, anchor: Option<Anchor>) -> Option<FetchedProfile> {
    let wait = deadlines::LONGEST_WAIT;
    let anchored = async {
        let next = Anchor::after(anchor);
        let is_due = anchor.is_none_or(Anchor::is_due);
        let has_begun = is_due && next.begin(&v8, anchor, wait).await.unwrap_or(false);
        if has_begun { Some(next) } else { anchor }
    };
    let stop = v8.request_within(wait, profiler::Stop::default());
    let (anchor, stopped, _) =
        tokio::join!(anchored, stop, v8.request_within(wait, profiler::Start::default()));
    Some((stopped.ok()?.profile, anchor))
}
