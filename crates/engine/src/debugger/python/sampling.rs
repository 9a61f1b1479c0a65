//! What a program is doing, seen without stopping it: the other end of `debuggee/python/stillframe_sampler.py`.
//!
//! The sampler takes samples by itself and is asked for them. A program whose interpreter's lock is held by
//! native code cannot answer; what its watchdog writes into a file in memory is read past it.

mod calls;
mod stacks;

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use self::calls::{Calls, FlatCall};
use self::stacks::{OutputWritten, Stacks, Thread};
use super::PythonDebugger;
use super::agent::AgentClient;
use crate::deadlines;
use crate::debugger::dap::DapDebugger;
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::activity::{Activity, Callback, SampledFrame, Task, ThreadActivity, WaitKind, Waiting};
use crate::model::ids::RawId;
use crate::model::source::Location;

/// The sampling of one process.
#[derive(Debug, Default)]
pub(super) struct Sampling {
    /// Counts the requests.
    numbers: AtomicU64,
    /// Who waits for the answer to a request.
    asked: Mutex<HashMap<u64, oneshot::Sender<Json>>>,
    /// What is under way. One request at a time.
    run: tokio::sync::Mutex<Option<Run>>,
    /// The number of starts and ends, so that a slow start notices that it is obsolete.
    turns: AtomicU64,
}

#[derive(Debug)]
struct Run {
    interval: Duration,
    stacks: Option<Stacks>,
    /// The answer to a request that the program did not come to in time. What it holds is in no other answer.
    late: Option<oneshot::Receiver<Json>>,
}

type FileLine = (String, u32);

#[derive(Deserialize)]
struct SamplerStarted {
    pid: u32,
    /// Where the watchdog writes, where there is one.
    descriptor: Option<u32>,
    /// How long it waits between two times, in seconds.
    watchdog: f64,
}

/// What the sampler has seen since it was last asked.
#[derive(Default, Deserialize)]
struct Report {
    threads: Vec<ThreadReport>,
    pending: Vec<WaitReport>,
}

#[derive(Deserialize)]
struct ThreadReport {
    #[serde(flatten)]
    thread: Thread,
    samples: u64,
    calls: Vec<FlatCall>,
    stack: Vec<(String, String, u32)>,
    blocked: Option<WaitReport>,
}

#[derive(Deserialize)]
struct WaitReport {
    kind: String,
    what: String,
    place: Option<FileLine>,
    timed: bool,
    holders: Vec<i64>,
    /// Number, name and function.
    task: Option<(i64, String, String)>,
}

impl Sampling {
    /// An answer of the sampler has come.
    pub(super) fn answered(&self, number: u64, body: Json) {
        if let Some(asked) = lock(&self.asked).remove(&number) {
            // The caller has given up.
            let _ = asked.send(body);
        }
    }

    fn expect_answer(&self) -> (u64, oneshot::Receiver<Json>) {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        lock(&self.asked).insert(number, sender);
        (number, answer)
    }
}

pub(super) async fn start(debugger: &PythonDebugger, interval: Duration) -> Result<()> {
    let agent = debugger.agent()?;
    let sampling = &debugger.0.sampling;
    let turn = sampling.turns.fetch_add(1, Ordering::Relaxed) + 1;
    let mut run = sampling.run.lock().await;
    let begun = begin(debugger, agent, interval).await;
    if sampling.turns.load(Ordering::Relaxed) != turn {
        let _ = agent.call_sampler("stop", &json!([]), deadlines::ACTIVITY).await;
        return Ok(());
    }
    *run = Some(begun?);
    Ok(())
}

async fn begin(debugger: &PythonDebugger, agent: &AgentClient, interval: Duration) -> Result<Run> {
    let sampling = &debugger.0.sampling;
    agent.load_sampler().await?;
    let (number, answer) = sampling.expect_answer();
    let request = json!([number, interval.as_secs_f64()]);
    agent.call_sampler("start", &request, deadlines::REQUEST).await?;
    let late = || Error::Deadline { what: "the start of sampling".to_owned(), after: deadlines::REQUEST };
    let answer = timeout(deadlines::REQUEST, answer).await.map_err(|_| late())?;
    let started: SamplerStarted = serde_json::from_value(answer.map_err(|_| Error::Lost)?)
        .map_err(|error| unreadable_answer(&error))?;
    let file = started.descriptor.filter(|_| debugger.0.dap.setup().is_local);
    let stacks = file.map(|descriptor| Stacks::new(started.pid, descriptor, started.watchdog));
    Ok(Run { interval, stacks, late: None })
}

pub(super) async fn stop(debugger: &PythonDebugger) -> Result<()> {
    let sampling = &debugger.0.sampling;
    sampling.turns.fetch_add(1, Ordering::Relaxed);
    // While it is being begun, the beginning ends it.
    let Ok(mut run) = timeout(deadlines::ACTIVITY, sampling.run.lock()).await else { return Ok(()) };
    if run.take().is_none() {
        return Ok(());
    }
    // If it cannot stop now, its samples are unused.
    let _ = debugger.agent()?.call_sampler("stop", &json!([]), deadlines::ACTIVITY).await;
    Ok(())
}

pub(super) async fn activity(debugger: &PythonDebugger) -> Result<Activity> {
    let agent = debugger.agent()?;
    // A program that does not answer holds up the beginning.
    let run = timeout(deadlines::ACTIVITY, debugger.0.sampling.run.lock()).await;
    let Ok(Some(mut run)) = run.map(|run| tokio::sync::MutexGuard::try_map(run, Option::as_mut).ok()) else {
        return Ok(Activity::default());
    };
    let reports = run.ask(debugger, agent).await?;
    let written = match &mut run.stacks {
        Some(stacks) => stacks.read().await,
        None => OutputWritten::default(),
    };
    Ok(run.merge(&debugger.0.dap, reports, written))
}

/// What event loops have called again and again, see [`crate::debugger::Debugger::callbacks`].
pub(super) async fn callbacks(debugger: &PythonDebugger, during: Duration) -> Result<Vec<Callback>> {
    let agent = debugger.agent()?;
    let run = timeout(deadlines::ACTIVITY, debugger.0.sampling.run.lock()).await;
    if !run.is_ok_and(|run| run.is_some()) {
        return Ok(Vec::new());
    }
    // Its thread takes turns with those of the program.
    let within = during + 3 * deadlines::ACTIVITY;
    let (number, answer) = debugger.0.sampling.expect_answer();
    let request = json!([number, during.as_secs_f64()]);
    agent.call_sampler("callbacks", &request, within).await?;
    let late = || Error::Deadline { what: "the counting of calls".to_owned(), after: within };
    let answer = timeout(within, answer).await.map_err(|_| late())?.map_err(|_| Error::Lost)?;
    let told: Vec<(String, String, u32, u64)> =
        serde_json::from_value(answer).map_err(|error| unreadable_answer(&error))?;
    let callback = |(function, file, line, calls)| Callback {
        function,
        location: Some(place(&debugger.0.dap, file, line)),
        calls,
    };
    Ok(told.into_iter().map(callback).collect())
}

impl Run {
    /// What the program sends in time: nothing, or one report, or a late one and a new one.
    async fn ask(&mut self, debugger: &PythonDebugger, agent: &AgentClient) -> Result<Vec<Report>> {
        let until = Instant::now() + deadlines::ACTIVITY;
        let mut reports = Vec::new();
        if let Some(late) = self.late.take() {
            match self.receive(late, until).await? {
                Some(report) => reports.push(report),
                None => return Ok(reports),
            }
        }
        let (number, answer) = debugger.0.sampling.expect_answer();
        let called = agent.call_sampler("report", &json!([number]), until - Instant::now()).await;
        match called {
            Ok(()) | Err(Error::Deadline { .. }) => {}
            Err(error) => return Err(error),
        }
        reports.extend(self.receive(answer, until).await?);
        Ok(reports)
    }

    async fn receive(
        &mut self,
        mut answer: oneshot::Receiver<Json>,
        until: Instant,
    ) -> Result<Option<Report>> {
        match timeout_at(until, &mut answer).await {
            Ok(Ok(body)) => serde_json::from_value(body).map(Some).map_err(|error| unreadable_answer(&error)),
            Ok(Err(_)) => Err(Error::Lost),
            Err(_) => {
                self.late = Some(answer);
                Ok(None)
            }
        }
    }

    /// Combines the program's report with its watchdog's.
    fn merge(&self, debugger: &DapDebugger, reports: Vec<Report>, written: OutputWritten) -> Activity {
        let mut threads = Threads::new();
        let mut pending = Vec::new();
        let has_answered = !reports.is_empty();
        for report in reports {
            pending = report.pending;
            for told in report.threads {
                let merged = entry(&mut threads, &told.thread);
                merged.samples += told.samples;
                merged.calls.add_flat(told.calls);
                merged.stack = told.stack;
                merged.blocked = told.blocked;
            }
        }
        let times = written.period / self.interval.as_secs_f64();
        for (thread, stack) in written.stacks {
            // A count of samples is small.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
            let times = times.round().max(1.0) as u64;
            let merged = entry(&mut threads, &thread);
            merged.samples += times;
            merged.calls.add_stack(&stack, times);
            if !has_answered {
                merged.stack = stack;
            }
        }
        if !has_answered {
            for thread in written.threads {
                entry(&mut threads, &thread);
            }
        }
        let place = |(file, line): FileLine| place(debugger, file, line);
        let wait = |report: WaitReport| Waiting {
            kind: WaitKind::named(&report.kind),
            what: report.what,
            location: report.place.map(place),
            is_timed: report.timed,
            holders: report.holders.into_iter().map(RawId).collect(),
            task: report.task.map(|(number, name, function)| Task { number: RawId(number), name, function }),
        };
        let threads = threads.into_values().map(|merged| ThreadActivity {
            thread: RawId(merged.thread.id),
            name: merged.thread.name,
            os_thread: merged.thread.os,
            is_daemon: merged.thread.daemon,
            samples: merged.samples,
            calls: merged.calls.into_nodes(&|file, line| self::place(debugger, file, line)),
            stack: merged
                .stack
                .into_iter()
                .map(|(function, file, line)| SampledFrame { function, location: Some(place((file, line))) })
                .collect(),
            blocked: merged.blocked.map(wait),
        });
        let threads = threads.collect();
        Activity { threads, pending: pending.into_iter().map(wait).collect(), ..Activity::default() }
    }
}

/// A thread, from all that is known of it.
struct MergedThread {
    thread: Thread,
    samples: u64,
    calls: Calls,
    stack: Vec<(String, String, u32)>,
    blocked: Option<WaitReport>,
}

/// Threads by the debugger's numbers, of which the main thread has the lowest.
type Threads = BTreeMap<i64, MergedThread>;

fn entry<'a>(threads: &'a mut Threads, thread: &Thread) -> &'a mut MergedThread {
    threads.entry(thread.id).or_insert_with(|| MergedThread {
        thread: thread.clone(),
        samples: 0,
        calls: Calls::default(),
        stack: Vec::new(),
        blocked: None,
    })
}

fn place(debugger: &DapDebugger, file: String, line: u32) -> Location {
    let source = ::dap::Source { path: Some(file), ..::dap::Source::default() };
    debugger.location(source, line.into(), 0)
}

fn unreadable_answer(error: &serde_json::Error) -> Error {
    Error::Refused(format!("cannot read the sampler's response: {error}"))
}
