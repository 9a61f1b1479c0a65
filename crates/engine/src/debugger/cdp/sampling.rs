//! What a thread is doing, seen without stopping it.
//!
//! V8 takes samples from a thread of its own; `profile` makes calls of them, in the user's sources. What the thread
//! waits for, and where exactly it is, it says itself when it is asked (`question`). Both need it to take messages,
//! which it does not while it waits in native code. For that our hook writes down, before a call that may wait, what
//! it is and where (`blocking`).

mod blocking;
mod profile;
mod question;

use std::time::Duration;

use ::cdp::Client;
use ::cdp::profiler::{self, Profile};
use ::cdp::runtime::Evaluate;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use self::blocking::Blocking;
use self::question::{Answer, Tools};
use super::{CdpDebugger, THREAD};
use crate::deadlines;
use crate::error::Result;
use crate::model::activity::{Activity, ThreadActivity, WaitKind, Waiting};
use crate::process;

/// How far apart samples are at most. They cost the program less than what can be measured.
const LONGEST_INTERVAL: Duration = Duration::from_millis(10);
/// How far apart they are at least.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

/// How old a profile may become that is kept for what V8 knows while there is one.
const OLDEST_ANCHOR: Duration = Duration::from_mins(1);

/// The samples of a thread.
#[derive(Debug, Default)]
pub(super) struct Sampling(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Samples are taken.
    is_on: bool,
    /// A profile that nobody reads. Without one, V8 forgets where optimized code came from each time that samples
    /// are fetched, and tells wrong functions from then on.
    anchor: Option<Anchor>,
    /// What was asked for, and has not come.
    samples: Task<Option<Fetched>>,
    answer: Task<Option<(Tools, Answer)>>,
    /// What the question needs, once the thread could give it.
    tools: Option<Tools>,
    blocking: Option<Blocking>,
}

/// Work that goes on when nobody waits for it any more, as long as this is there.
#[derive(Debug)]
struct Task<T>(Option<JoinHandle<T>>);

impl<T> Default for Task<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Send + 'static> Task<Option<T>> {
    /// What it comes to, if that is until then.
    async fn result(&mut self, until: Instant) -> Option<T> {
        let result = tokio::time::timeout_at(until, self.0.as_mut()?).await.ok()?;
        self.0 = None;
        result.ok()?
    }

    /// It has come to something that nobody has asked for yet.
    fn is_over(&self) -> bool {
        self.0.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn begin(&mut self, work: impl Future<Output = Option<T>> + Send + 'static) {
        self.0 = Some(tokio::spawn(work));
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// Samples, and the profile that V8 is kept from forgetting by.
type Fetched = (Profile, Option<Anchor>);

/// A profile that is kept going.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    number: u32,
    since: Instant,
}

impl Anchor {
    fn after(last: Option<Self>) -> Self {
        Self { number: last.map_or(1, |last| last.number.saturating_add(1)), since: Instant::now() }
    }

    /// Begins it, and ends the one before. False when the thread cannot: the program may have taken away what it needs.
    async fn begin(self, client: &Client, last: Option<Self>, within: Duration) -> Result<bool> {
        match client.request(self.beginning(last), within).await {
            Ok(begun) => Ok(begun.exception_details.is_none()),
            // It is answered later.
            Err(::cdp::Error::Deadline { .. }) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    fn beginning(self, last: Option<Self>) -> Evaluate {
        let name = |number| format!("'stillframe {number}'");
        let end = last.map(|last| format!("profiles.profileEnd({});", name(last.number)));
        // The program may have another console in the place of Node's. A worker that has not begun cannot load
        // modules, and has V8's.
        evaluate(format!(
            "{{let profiles=console;try{{profiles=require('inspector').console}}catch{{}}\
             profiles.profile({});{}}}",
            name(self.number),
            end.unwrap_or_default()
        ))
    }
}

/// Begins. A thread that waits in native code does so when it comes back.
pub(super) async fn start(debugger: &CdpDebugger, interval: Duration) -> Result<()> {
    let mut state = debugger.0.sampling.0.lock().await;
    let client = &debugger.0.client;
    let interval = interval.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL);
    let interval = u32::try_from(interval.as_micros()).unwrap_or(u32::MAX);
    let interval = profiler::SetSamplingInterval { interval };
    let runs = *debugger.0.is_running.borrow();
    if state.is_on {
        return Ok(());
    }
    let blocking = Blocking::begin(debugger, runs).await;
    if !runs {
        // A thread that runs may be in the middle of loading what the question needs of Node.
        let find = question::find_tools(client);
        state.tools = timeout(deadlines::GOODBYE, find).await.ok().flatten();
    }
    let anchor = Anchor::after(state.anchor);
    // What ran already was optimized by a V8 that did not note the lines of it. Counting makes it begin anew.
    let count = profiler::StartPreciseCoverage { call_count: true, detailed: false };
    // They are sent at once, in this order.
    let ((), (), is_anchored, (), (), ()) = tokio::try_join!(
        send(client, profiler::Enable::default()),
        send(client, interval),
        anchor.begin(client, None, deadlines::ACTIVITY),
        send_if(runs, client, count),
        send_if(runs, client, profiler::StopPreciseCoverage::default()),
        send(client, profiler::Start::default()),
    )?;
    state.is_on = true;
    state.anchor = Some(anchor).filter(|_| is_anchored);
    state.blocking = blocking;
    Ok(())
}

/// One that is not answered in time is answered later.
async fn send<C: ::cdp::Command>(client: &Client, command: C) -> Result<()> {
    match client.request(command, deadlines::ACTIVITY).await {
        Ok(_) | Err(::cdp::Error::Deadline { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

async fn send_if<C: ::cdp::Command>(is_needed: bool, client: &Client, command: C) -> Result<()> {
    if is_needed { send(client, command).await } else { Ok(()) }
}

/// What the thread has been doing since the last call, and what it waits for. See [`crate::debugger::Debugger::activity`].
///
/// A sample in which it was idle, or in native code that no JavaScript has called, is counted and is in no call. One
/// in which V8 tidied up is in a call without a place, `(garbage collector)`.
pub(super) async fn activity(debugger: &CdpDebugger) -> Result<Activity> {
    // A program that does not answer holds up the beginning.
    let Ok(mut state) = timeout(deadlines::ACTIVITY, debugger.0.sampling.0.lock()).await else {
        return Ok(Activity::default());
    };
    let state = &mut *state;
    let client = debugger.0.client.clone();
    if state.is_on && state.samples.0.is_none() {
        state.samples.begin(fetch(client.clone(), state.anchor));
    }
    // What it said in answer to an earlier call is out of date.
    if state.answer.is_over() {
        state.answer.begin(question::ask(client, state.tools.clone()));
    }
    let until = Instant::now() + deadlines::ACTIVITY;
    let (profile, answer) = tokio::join!(state.samples.result(until), state.answer.result(until));
    let mut thread = ThreadActivity {
        thread: THREAD,
        name: debugger.0.kind.thread().to_owned(),
        os_thread: if debugger.is_worker() { None } else { debugger.0.pid },
        ..ThreadActivity::default()
    };
    if let Some((profile, anchor)) = profile {
        state.anchor = anchor;
        thread.samples = u64::try_from(profile.samples.len()).unwrap_or_default();
        thread.calls = profile::calls(debugger, &profile).await;
    }
    let mut pending = Vec::new();
    // `Atomics.wait` lets messages in.
    let is_blocked = match (&answer, thread.os_thread) {
        (Some((_, answer)), _) => question::is_told(debugger, &answer.stack),
        (None, Some(pid)) => process::is_waiting(pid, pid).await,
        (None, None) => true,
    };
    let told = state.blocking.as_ref().and_then(Blocking::last).filter(|_| is_blocked);
    if let Some((tools, answer)) = answer {
        state.tools = Some(tools);
        thread.stack = question::stack(debugger, &answer.stack).await;
        pending = question::pending(debugger, answer.pending).await;
    } else if is_blocked && told.is_none() {
        // V8's own threads wait for each other all the time.
        let is_programs = |waiting: &Waiting| waiting.kind != WaitKind::Lock;
        if let Some(pid) = thread.os_thread {
            thread.blocked = process::blocked(pid, pid).await.filter(is_programs);
        }
    }
    if let Some(told) = told {
        let stack = question::stack(debugger, &told.stack).await;
        // The answer may be of a moment before. What was told is cut off where it is long.
        if blocking::place(&stack) != blocking::place(&thread.stack) {
            thread.stack = stack;
        }
        thread.blocked = Some(blocking::waiting(&told, &thread.stack));
    }
    Ok(Activity { threads: vec![thread], pending })
}

/// The samples that were taken. More are taken from then on.
async fn fetch(client: Client, anchor: Option<Anchor>) -> Option<Fetched> {
    let wait = deadlines::LONGEST_WAIT;
    let anchored = async {
        let next = Anchor::after(anchor);
        let is_due = anchor.is_none_or(|anchor| anchor.since.elapsed() >= OLDEST_ANCHOR);
        let has_begun = is_due && next.begin(&client, anchor, wait).await.unwrap_or(false);
        if has_begun { Some(next) } else { anchor }
    };
    let stop = client.request(profiler::Stop::default(), wait);
    let (anchor, stopped, _) = tokio::join!(anchored, stop, client.request(profiler::Start::default(), wait));
    Some((stopped.ok()?.profile, anchor))
}

/// Ends it.
pub(super) async fn stop(debugger: &CdpDebugger) -> Result<()> {
    let mut state = debugger.0.sampling.0.lock().await;
    let State { is_on, blocking, .. } = std::mem::take(&mut *state);
    if is_on {
        send(&debugger.0.client, profiler::Disable::default()).await?;
    }
    if let Some(blocking) = blocking {
        blocking.end(debugger).await;
    }
    Ok(())
}

/// Code of ours. No breakpoint in it, or in what it calls, is hit.
fn evaluate(expression: String) -> Evaluate {
    Evaluate {
        expression,
        include_command_line_api: true,
        silent: true,
        disable_breaks: true,
        ..Evaluate::default()
    }
}
