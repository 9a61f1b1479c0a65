//! What a program does while it runs, for an adapter that can only stop it: a short pause in which all stacks are read.
//!
//! The session does not see the pause, see [`motion::hold`]. A program is paused only when it is asked for, never
//! regularly: a pause interrupts system calls, some of which then fail with `EINTR`, and slows down what computes.

mod locks;

use std::path::Path;

use tokio::time::Instant;

use super::super::{DapDebugger, lock, motion};
use crate::adapter::plan::{HolderRecord, StackSampling, StackWait};
use crate::debugger::Debugger;
use crate::error::Result;
use crate::model::activity::{Activity, CallNode, SampledFrame, ThreadActivity, WaitKind, Waiting};
use crate::model::ids::RawId;
use crate::model::stack::RawThread;
use crate::process::{self, Futex};

/// How many threads are read.
const THREADS: usize = 200;
/// How many frames of each.
const FRAMES: usize = 100;

/// Nothing of a program that cannot be paused.
pub(super) async fn activity(debugger: &DapDebugger, sampling: StackSampling) -> Result<Activity> {
    if sampling.ends_calls && debugger.pid().is_some_and(|pid| process::is_in_call(pid, pid)) {
        return Ok(Activity::default());
    }
    let idle = if sampling.has_os_threads { debugger.pid().map(Idle::of) } else { None };
    let began = Instant::now();
    let held = motion::hold(debugger).await;
    if lock(&debugger.0.motion).is_running() {
        return Ok(Activity { paused: began.elapsed(), ..Activity::default() });
    }
    let mut threads = Vec::new();
    // Of a program that ends meanwhile there is nothing to read.
    for thread in debugger.threads().await.unwrap_or_default().into_iter().take(THREADS) {
        threads.push(read(debugger, sampling, thread, idle.as_ref()).await);
    }
    let is_spare = |(thread, _): &(ThreadActivity, Vec<RawId>)| {
        let functions: Vec<&str> = thread.stack.iter().map(|frame| frame.function.as_str()).collect();
        (sampling.is_spare)(&functions)
    };
    threads.retain(|read| !is_spare(read));
    let (mut threads, frames): (Vec<ThreadActivity>, Vec<Vec<RawId>>) = threads.into_iter().unzip();
    number_holders(&mut threads);
    if let Some(search) = sampling.locks {
        locks::find_holders(debugger, search, &mut threads, &frames).await;
    }
    held.release().await;
    let paused = began.elapsed();
    name_apart(&mut threads);
    name_holders(&mut threads);
    if let Some(idle) = &idle {
        for thread in threads.iter_mut().filter(|thread| thread.blocked.is_none()) {
            thread.blocked = idle.call(thread).await;
        }
    }
    Ok(Activity { threads, pending: Vec::new(), paused })
}

/// The threads that were in a system call before the pause, which makes all of them stop.
struct Idle {
    pid: u32,
    threads: Vec<u32>,
}

impl Idle {
    fn of(pid: u32) -> Self {
        let numbers = process::threads(pid).into_iter();
        Self { pid, threads: numbers.filter(|thread| process::is_in_call(pid, *thread)).collect() }
    }

    fn has(&self, thread: &ThreadActivity) -> bool {
        thread.os_thread.is_some_and(|number| self.threads.contains(&number))
    }

    /// A wait for the end of another thread, whose number the C library waits on, as a futex that the kernel wakes. Where
    /// the library has no debug information, no function of it has the name that shows this.
    fn end_of_thread(&self, futex: Futex) -> Option<StackWait> {
        let thread = format!("/proc/{}/task/{}", self.pid, futex.expected);
        (futex.is_shared && Path::new(&thread).exists()).then(|| StackWait {
            kind: WaitKind::Thread,
            what: "the end of a thread".to_owned(),
            is_timed: false,
            holder: HolderRecord::Value,
        })
    }

    /// What a thread waits for whose stack does not show it.
    async fn call(&self, thread: &ThreadActivity) -> Option<Waiting> {
        let number = thread.os_thread.filter(|_| self.has(thread))?;
        let waiting = process::blocked(self.pid, number).await?;
        Some(Waiting { location: users(thread).and_then(|frame| frame.location.clone()), ..waiting })
    }
}

/// A thread, and its frames while the program is paused.
async fn read(
    debugger: &DapDebugger,
    sampling: StackSampling,
    thread: RawThread,
    idle: Option<&Idle>,
) -> (ThreadActivity, Vec<RawId>) {
    let frames =
        debugger.stack_trace(thread.id, 0, FRAMES).await.map(|stack| stack.frames).unwrap_or_default();
    let ids = frames.iter().map(|frame| frame.id).collect();
    let frames =
        frames.into_iter().map(|frame| SampledFrame { function: frame.name, location: frame.location });
    let os_thread = thread.os_thread.or_else(|| u32::try_from(thread.id.0).ok());
    let mut read = ThreadActivity {
        thread: thread.id,
        name: thread.name,
        os_thread: if sampling.has_os_threads { os_thread } else { None },
        samples: 1,
        stack: frames.collect(),
        ..ThreadActivity::default()
    };
    read.calls = calls(&read.stack);
    let is_users = |frame: &&SampledFrame| is_users(frame);
    let called = read.stack.iter().take_while(|frame| !is_users(frame));
    let called: Vec<&str> = called.map(|frame| frame.function.as_str()).collect();
    let is_waiting = idle.is_none_or(|idle| idle.has(&read));
    let wait = if is_waiting { (sampling.wait)(&read.name, &called) } else { None };
    let futex = idle.zip(read.os_thread).and_then(|(idle, thread)| Futex::of(idle.pid, thread));
    let wait = wait.or_else(|| idle?.end_of_thread(futex.filter(|_| is_waiting)?));
    read.blocked = wait.map(|wait| waiting(&read, wait, futex, idle.map(|idle| idle.pid)));
    // What it waits for is said in more words.
    let end = read.name.rfind(" [").filter(|_| read.blocked.is_some() && read.name.ends_with(']'));
    read.name.truncate(end.unwrap_or(read.name.len()));
    (read, ids)
}

fn waiting(thread: &ThreadActivity, wait: StackWait, futex: Option<Futex>, pid: Option<u32>) -> Waiting {
    let StackWait { kind, mut what, is_timed, holder } = wait;
    let holder = futex.and_then(|futex| match holder {
        HolderRecord::None => None,
        HolderRecord::Mutex => {
            what = format!("{what} at 0x{:x}", futex.address);
            futex.owner(pid?)
        }
        HolderRecord::Value => u32::try_from(futex.expected).ok(),
    });
    Waiting {
        kind,
        what,
        location: users(thread).and_then(|frame| frame.location.clone()),
        is_timed: is_timed || futex.is_some_and(|futex| futex.is_timed),
        holders: holder.map(|holder| RawId(holder.into())).into_iter().collect(),
        task: None,
    }
}

fn is_users(frame: &SampledFrame) -> bool {
    frame.location.as_ref().is_some_and(|location| !location.source.internal)
}

/// The frame of the user's code that waits or computes.
fn users(thread: &ThreadActivity) -> Option<&SampledFrame> {
    thread.stack.iter().find(|frame| is_users(frame))
}

/// A stack as calls, outermost first.
fn calls(stack: &[SampledFrame]) -> Vec<CallNode> {
    stack.iter().fold(Vec::new(), |calls, frame| {
        let line = frame.location.as_ref().map(|location| location.line).unwrap_or_default();
        // Where a function begins is not known: the place of its file will do.
        let location = frame.location.clone();
        vec![CallNode { function: frame.function.clone(), location, total: 1, lines: vec![(line, 1)], calls }]
    })
}

/// Appends its ID to the name of each thread whose name is not unique.
fn name_apart(threads: &mut [ThreadActivity]) {
    let names: Vec<String> = threads.iter().map(|thread| thread.name.clone()).collect();
    for thread in threads {
        if names.iter().filter(|name| **name == thread.name).count() > 1 {
            thread.name = format!("{} {}", thread.name, thread.thread.0);
        }
    }
}

/// Holders get the debugger's number in place of the operating system's. One that has ended has none.
fn number_holders(threads: &mut [ThreadActivity]) {
    let numbers: Vec<_> = threads.iter().map(|thread| (thread.os_thread, thread.thread)).collect();
    let waiting = threads.iter_mut().filter_map(|thread| thread.blocked.as_mut());
    for holder in waiting.flat_map(|waiting| &mut waiting.holders) {
        let known = numbers.iter().find(|(number, _)| number.is_some_and(|one| i64::from(one) == holder.0));
        *holder = known.map_or(RawId(-holder.0), |(_, id)| *id);
    }
}

fn name_holders(threads: &mut [ThreadActivity]) {
    let names: Vec<(RawId, String)> =
        threads.iter().map(|thread| (thread.thread, thread.name.clone())).collect();
    for waiting in threads.iter_mut().filter_map(|thread| thread.blocked.as_mut()) {
        let Some(holder) = waiting.holders.first() else { continue };
        let name = names.iter().find(|(id, _)| id == holder).map(|(_, name)| name);
        waiting.what = match (name, waiting.kind) {
            (Some(name), WaitKind::Thread) => format!("the end of thread `{name}`"),
            (Some(name), _) => format!("{} (held by thread `{name}`)", waiting.what),
            (None, WaitKind::Thread) => continue,
            (None, _) => format!("{} (held by a thread that has ended)", waiting.what),
        };
    }
}
