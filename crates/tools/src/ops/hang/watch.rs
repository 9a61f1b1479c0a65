//! Watches a program until it ends, the cause is certain, or its time is up.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use engine::deadlines;
use engine::model::activity::{CallNode, Callback, ProcessActivity, ThreadActivity};
use engine::model::ids::ThreadId;
use engine::model::stop::{End, Stop, StopReason};
use engine::process::{self, Usage};
use engine::session::{Outcome, Session};
use tokio::time::{Instant, timeout};

use super::finding::is_users;
use super::sampler::{Position, StackSample, StackSampler};
use super::waiting::waits;
use super::{deadlock, motion, tree};
use crate::ToolError;

/// Between two readings of what the operating system counts.
const SLICE: Duration = Duration::from_millis(100);
/// Over how long it is judged whether a program computes.
const WINDOW: Duration = Duration::from_secs(1);
/// The shortest time over which it is.
const SHORTEST: Duration = Duration::from_millis(300);
/// How long a program computes before its samples are looked through for a loop that can never end. After that
/// twice as long each time.
const FIRST_SAMPLE: Duration = Duration::from_millis(500);
/// How long the program may take to be suspended for such a sample. One in native code is not.
const GLANCE: Duration = Duration::from_secs(1);
/// How long it may take to take the samples that decide the verdict.
const PATIENCE: Duration = Duration::from_millis(2_500);
/// How many samples decide the verdict on a program that computes.
const SAMPLES: usize = 8;
/// After this time fewer will do, but for [`LEAST`].
const SAMPLING: Duration = Duration::from_millis(1500);
/// How many samples there are at least.
const LEAST: usize = 4;
/// So many times as much is sampled while that may show that values repeat.
const FEW: u32 = 3;
/// How long it runs between two samples.
const APART: Duration = Duration::from_millis(60);
/// How long a pause may keep a thread from what it waits for, and a little more.
const INTERRUPTED: Duration = Duration::from_millis(300);
/// For how long calls by an event loop are counted.
pub(super) const COUNTING: Duration = Duration::from_millis(300);
/// From this part of a processor on, a process computes.
pub(super) const BUSY: f64 = 0.5;

/// How a watch ended.
#[derive(Debug)]
pub(super) enum WatchEnd {
    /// The program has ended.
    Ended(Arc<End>),
    /// It stopped for a reason of its user's.
    Stopped,
    /// Its runtime has found a deadlock, and is about to end it with this error.
    Deadlocked(String),
    /// It computes, and this is where.
    Computes {
        thread: Option<ThreadId>,
        samples: Vec<StackSample>,
        passed: Duration,
        /// What its event loop calls again and again.
        callbacks: Vec<Callback>,
    },
    /// It does not.
    Waits,
}

pub(super) struct HangWatch<'a> {
    pub(super) session: &'a Session,
    /// It was started for this.
    is_ours: bool,
    began: Instant,
    until: Instant,
    sampler: StackSampler<'a>,
    counted: BTreeMap<u32, ProcessUsage>,
    /// How long the program was paused to be asked. It could not compute then, which may be most of the time on a busy
    /// machine.
    paused: Duration,
    /// What was seen at last, and the samples of all times.
    pub(super) activity: Vec<ProcessActivity>,
    pub(super) calls: Vec<CallNode>,
    pub(super) samples: u64,
    /// Samples taken before the time was over, and when the first was.
    glances: Vec<StackSample>,
    glanced: Option<Instant>,
    sampling: Backoff,
    asks: Backoff,
    /// Threads that waited for each other when they were asked last.
    blocked: Vec<ThreadActivity>,
}

/// What the operating system has counted for a process.
#[derive(Debug)]
struct ProcessUsage {
    first: Usage,
    /// Those of the last [`WINDOW`].
    recent: VecDeque<Usage>,
}

/// When to do something again: after a time that doubles.
#[derive(Clone, Copy, Debug)]
struct Backoff {
    next: Duration,
    /// Since when there has been reason to.
    since: Option<Instant>,
}

impl Backoff {
    fn new(first: Duration) -> Self {
        Self { next: first, since: None }
    }

    /// Whether it is time; `has_reason` is whether there is any to do it.
    fn is_due(&mut self, has_reason: bool) -> bool {
        if !has_reason {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        let is_due = since.elapsed() >= self.next;
        if is_due {
            self.next *= 2;
        }
        is_due
    }
}

impl<'a> HangWatch<'a> {
    pub(super) fn new(session: &'a Session, is_ours: bool, until: Instant) -> Self {
        Self {
            session,
            is_ours,
            began: Instant::now(),
            until,
            sampler: StackSampler::new(session),
            counted: BTreeMap::new(),
            paused: Duration::ZERO,
            activity: Vec::new(),
            calls: Vec::new(),
            samples: 0,
            glances: Vec::new(),
            glanced: None,
            sampling: Backoff::new(FIRST_SAMPLE),
            asks: Backoff::new(WINDOW),
            blocked: Vec::new(),
        }
    }

    pub(super) async fn run(&mut self) -> Result<WatchEnd, ToolError> {
        loop {
            self.count().await;
            let until = self.until();
            let slice = (Instant::now() + SLICE).min(until);
            let outcome = self.session.wait(slice).await;
            if let Outcome::Stopped(stop) = &outcome
                && let Some(error) = self.deadlock_error(stop).await
            {
                self.ask().await;
                return Ok(WatchEnd::Deadlocked(error));
            }
            match outcome {
                Outcome::Ended(end) => return Ok(WatchEnd::Ended(end)),
                // A pause that took its time, or a `debugger` statement.
                Outcome::Stopped(stop) if self.is_ours || stop.reason == StopReason::Pause => {
                    // One that does not answer in time may run all the same.
                    let running = timeout(deadlines::ACKNOWLEDGE, self.session.resume()).await;
                    running.unwrap_or(Ok(()))?;
                }
                Outcome::Stopped(_) => return Ok(WatchEnd::Stopped),
                Outcome::Running => {}
            }
            if Instant::now() >= until {
                return self.last().await;
            }
            let computes = self.busiest().is_some();
            let glances = computes && self.glanced.is_none() && self.is_half_over();
            if (self.sampling.is_due(computes) || glances)
                && let Some(certain) = self.sample_for_certainty(glances).await?
            {
                return Ok(certain);
            }
            if self.asks.is_due(!computes) && self.is_deadlocked_again().await {
                return Ok(WatchEnd::Waits);
            }
        }
    }

    /// When it ends. A program that was not there at first is watched until it can be judged.
    fn until(&self) -> Instant {
        let first = self.counted.values().map(|counted| counted.first.at).min();
        first.map_or(self.until, |first| self.until.max(first + SHORTEST))
    }

    /// The error of a runtime that has found a deadlock.
    async fn deadlock_error(&self, stop: &Stop) -> Option<String> {
        let part = self.session.adapter().facts().deadlock_error?;
        if stop.reason != StopReason::Exception {
            return None;
        }
        let exception = self.session.exception().await.ok()?;
        let texts = [exception.message, exception.type_name];
        texts.into_iter().chain(stop.text.clone()).find(|text| text.contains(part))
    }

    /// How long it has been watched.
    pub(super) fn took(&self) -> Duration {
        self.began.elapsed()
    }

    /// How long all its processes have computed since the watch began.
    pub(super) fn computed(&self) -> Duration {
        let of_process = |counted: &ProcessUsage| {
            let last = counted.recent.back().map(Usage::computed).unwrap_or_default();
            last.saturating_sub(counted.first.computed())
        };
        self.counted.values().map(of_process).sum()
    }

    /// How much of that it has computed, in a sentence.
    pub(super) fn share(&self) -> String {
        if !self.is_measured() {
            return "its CPU time is unknown".to_owned();
        }
        let (computed, took) = (self.computed().as_secs_f64(), self.took().as_secs_f64());
        format!("it used the CPU for {computed:.1} s of the {took:.1} s that it was watched")
    }

    /// Whether the CPU time of a process of the program is known.
    pub(super) fn is_measured(&self) -> bool {
        !self.counted.is_empty()
    }

    /// How many processors a process has had work for lately; of one of its threads, when it is named.
    pub(super) fn demand(&self, pid: u32, thread: Option<u32>) -> Option<f64> {
        let counted = self.counted.get(&pid)?;
        let (first, last) = (counted.recent.front()?, counted.recent.back()?);
        Some(thread.map_or_else(|| last.demand_since(first), |thread| last.demand_of(thread, first)))
    }

    /// Reads what the operating system has counted.
    async fn count(&mut self) {
        let debuggees = self.session.debuggees().await.unwrap_or_default();
        let ready = debuggees.into_iter().filter(|debuggee| debuggee.is_ready);
        // Workers share the number of their process.
        for pid in ready.filter_map(|debuggee| debuggee.pid).collect::<BTreeSet<u32>>() {
            let Some(usage) = Usage::of(pid) else { continue };
            let now = usage.at.checked_sub(self.paused).unwrap_or(usage.at);
            let usage = Usage { at: now, ..usage };
            let counted = self
                .counted
                .entry(pid)
                .or_insert_with(|| ProcessUsage { first: usage.clone(), recent: VecDeque::new() });
            counted.recent.push_back(usage);
            while counted.recent.get(1).is_some_and(|usage| now.saturating_duration_since(usage.at) >= WINDOW)
            {
                counted.recent.pop_front();
            }
        }
    }

    /// The process that computes most, when one computes.
    fn busiest(&self) -> Option<u32> {
        let demands = self.counted.keys().filter_map(|pid| Some((*pid, self.demand(*pid, None)?)));
        let most = demands.max_by(|one, other| one.1.total_cmp(&other.1))?;
        (most.1 >= BUSY).then_some(most.0)
    }

    /// A process that a signal such as SIGSTOP holds.
    pub(super) fn held(&self) -> Option<u32> {
        self.counted.keys().copied().find(|pid| process::is_stopped(*pid))
    }

    /// Asks what the processes were doing, and keeps the samples.
    pub(super) async fn ask(&mut self) {
        self.activity = self.session.activity().await.unwrap_or_default();
        self.paused += self.activity.iter().map(|process| process.activity.paused).max().unwrap_or_default();
        for process in &mut self.activity {
            for thread in &mut process.activity.threads {
                self.samples += thread.samples;
                // Those in which it did nothing say nothing of what it does.
                thread.samples = thread.calls.iter().map(|call| call.total).sum();
                if thread.stack.is_empty() {
                    thread.stack = tree::most_frequent_stack(&thread.calls);
                }
                tree::merge(&mut self.calls, std::mem::take(&mut thread.calls));
            }
        }
    }

    /// The time is up.
    async fn last(&mut self) -> Result<WatchEnd, ToolError> {
        if self.held().is_some() {
            return Ok(WatchEnd::Waits);
        }
        self.ask().await;
        let Some(pid) = self.busiest() else {
            // A sample may have interrupted what the program waits for.
            if !self.activity.iter().any(waits) {
                if let Outcome::Ended(end) = self.session.wait(Instant::now() + INTERRUPTED).await {
                    return Ok(WatchEnd::Ended(end));
                }
                self.ask().await;
            }
            return Ok(WatchEnd::Waits);
        };
        let Some(thread) = self.busy_thread(pid).await else {
            return Ok(WatchEnd::Computes {
                thread: None,
                samples: Vec::new(),
                passed: Duration::ZERO,
                callbacks: Vec::new(),
            });
        };
        let callbacks = self.callbacks(thread).await;
        let mut samples = Vec::new();
        let (mut first, mut last) = (None, Instant::now());
        let began = Instant::now();
        while let Some(sample) = self.sampler.sample(thread, PATIENCE).await? {
            last = Instant::now();
            // A debugger may suspend between two of the program's calls.
            let is_empty = sample.is_empty();
            if !is_empty {
                first.get_or_insert(last);
                samples.push(sample);
            }
            let times = if motion::may_repeat(&samples) { FEW } else { 1 };
            let is_late = last >= began + SAMPLING * times;
            let (most, least) = (SAMPLES * times as usize, LEAST * times as usize);
            if samples.len() >= most || (is_late && (is_empty || samples.len() >= least)) {
                // It stays suspended: another pause might take longer than there is time for.
                break;
            }
            self.sampler.release().await?;
            if let Outcome::Ended(end) = self.session.wait(Instant::now() + APART).await {
                return Ok(WatchEnd::Ended(end));
            }
        }
        if self.session.adapter().facts().has_hidden_callers && motion::may_be_several_calls(&samples) {
            samples.extend(self.sampler.sample_after_return(thread).await);
        }
        if let engine::session::state::Execution::Ended(end) = self.session.execution() {
            return Ok(WatchEnd::Ended(end));
        }
        if samples.iter().any(is_whole) {
            samples.retain(is_whole);
        }
        if samples.is_empty() {
            let sampled = self.sampler.profiled(&self.sampled_stack(Some(thread))).await;
            samples.extend(Some(sampled).filter(|sample| !sample.is_empty()));
        }
        let passed = first.map_or(Duration::ZERO, |first| last - first);
        let (samples, passed) = self.add_sampled_stacks(samples, passed, last);
        Ok(WatchEnd::Computes { thread: Some(thread), samples, passed, callbacks })
    }

    /// What the event loop of a thread's process calls again and again. It has to run for that.
    async fn callbacks(&self, thread: ThreadId) -> Vec<Callback> {
        let process = self.activity.iter().find(|process| process.numbers.contains(&thread));
        let Some(target) = process.map(|process| process.target) else { return Vec::new() };
        self.session.callbacks(target, COUNTING).await.unwrap_or_default()
    }

    /// The same with the earlier samples, if these were at the same loop: a longer time gives a better verdict.
    fn add_sampled_stacks(
        &mut self,
        samples: Vec<StackSample>,
        passed: Duration,
        last: Instant,
    ) -> (Vec<StackSample>, Duration) {
        let all = [std::mem::take(&mut self.glances), samples.clone()].concat();
        let passed_in_all = self.glanced.map_or(passed, |glanced| last - glanced);
        let lines = |samples: &[StackSample]| Some(motion::observe(samples, passed)?.found?.lines);
        let own = lines(&samples);
        if samples.len() > 1 && own.is_some() && lines(&all) == own {
            (all, passed_in_all)
        } else {
            (samples, passed)
        }
    }

    /// Half of the program's time has passed.
    fn is_half_over(&self) -> bool {
        let passed = self.began.elapsed();
        passed >= self.until.saturating_duration_since(Instant::now())
    }

    /// Samples once: a loop that can never end needs no second sample. A sample costs a program of Node its speed from
    /// then on, so one that is none of the kind by its samples is left alone, unless it is to be sampled anyhow.
    async fn sample_for_certainty(&mut self, anyhow: bool) -> Result<Option<WatchEnd>, ToolError> {
        let Some(pid) = self.busiest() else { return Ok(None) };
        self.ask().await;
        let Some(thread) = self.busy_thread(pid).await else { return Ok(None) };
        let sampled = self.sampler.profiled(&self.sampled_stack(Some(thread))).await;
        if !anyhow && !sampled.iter().any(never_ends) {
            return Ok(None);
        }
        let Some(sample) = self.sampler.sample(thread, GLANCE).await? else { return Ok(None) };
        let is_certain = sample.last().is_some_and(never_ends);
        if is_certain && self.is_alone(pid) {
            return Ok(Some(WatchEnd::Computes {
                thread: Some(thread),
                samples: vec![sample],
                passed: Duration::ZERO,
                callbacks: Vec::new(),
            }));
        }
        self.glanced.get_or_insert_with(Instant::now);
        self.glances.push(sample);
        self.sampler.release().await?;
        Ok(None)
    }

    /// No other thread of the process runs the language's code.
    fn is_alone(&self, pid: u32) -> bool {
        let of_process = self.activity.iter().filter(|process| process.pid == Some(pid));
        of_process.map(|process| process.activity.threads.len()).sum::<usize>() <= 1
    }

    /// The thread of a process that computes.
    async fn busy_thread(&self, pid: u32) -> Option<ThreadId> {
        let of_process = self.activity.iter().filter(|process| process.pid == Some(pid));
        let threads = of_process.flat_map(|process| process.numbers.iter().zip(&process.activity.threads));
        // A process without data from the system comes after the computing ones, and before the others.
        let may_compute =
            |thread: &ThreadActivity| thread.blocked.is_none() && thread.stack.iter().any(is_users);
        let unknown = |thread: &ThreadActivity| if may_compute(thread) { BUSY } else { 0.0 };
        let demand = |thread: &ThreadActivity| {
            let told = thread.os_thread.and_then(|number| self.demand(pid, Some(number)));
            // Of two that compute all the time, which one has done so a little more is chance.
            (told.unwrap_or_else(|| unknown(thread)) * 4.0).round()
        };
        let seen = |thread: &ThreadActivity| {
            let innermost = thread.stack.first();
            // One that polls is mostly in what it calls.
            (thread.blocked.is_none(), innermost.is_some(), innermost.is_some_and(is_users), thread.samples)
        };
        let busiest = threads.max_by(|(_, one), (_, other)| {
            demand(one).total_cmp(&demand(other)).then_with(|| seen(one).cmp(&seen(other)))
        });
        if let Some((number, _)) = busiest {
            return Some(*number);
        }
        let threads = timeout(WINDOW, self.session.threads()).await.ok()?.ok()?;
        threads.into_iter().find(|thread| thread.pid == Some(pid)).map(|thread| thread.id)
    }

    /// The same threads have waited for each other twice.
    async fn is_deadlocked_again(&mut self) -> bool {
        self.ask().await;
        let now: Vec<ThreadActivity> = deadlock::deadlock(&self.activity).into_iter().cloned().collect();
        let stack = |thread: &ThreadActivity| (thread.thread, thread.stack.clone());
        let is_same = !now.is_empty() && now.iter().map(stack).eq(self.blocked.iter().map(stack));
        self.blocked = now;
        is_same
    }
}

/// Every frame is known. What a signal handler has interrupted may not be, and then its frame has no line.
fn is_whole(sample: &StackSample) -> bool {
    sample.iter().all(|position| position.line > 0) && sample.iter().any(|position| !position.is_internal)
}

/// It is in a loop that nothing ends. One with a condition may be left at once by a call that is made again and
/// again.
fn never_ends(position: &Position) -> bool {
    position.loops.iter().any(|found| found.is_certain && found.is_endless)
}
