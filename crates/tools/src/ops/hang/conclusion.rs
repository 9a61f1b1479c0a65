//! From what was seen to a verdict.

use std::time::Duration;

use engine::model::activity::{SampledFrame, ThreadActivity, WaitKind, Waiting};
use engine::model::ids::ThreadId;
use engine::model::limits::Limits;
use engine::process;
use engine::session::{Outcome, Session};
use engine::{snapshot, sources};
use tokio::time::Instant;

use super::looks::{Look, Looker};
use super::motion::{self, Motion, Seen};
use super::watch::{BUSY, Came, Watch};
use super::{Diagnosis, ThreadSeen, Verdict, deadlock, tree};
use crate::ToolError;
use crate::ops::settle::{Settled, describe};

/// How long the last pause may take. A program in native code is not suspended.
const SUSPEND: Duration = Duration::from_millis(500);
/// How many frames of a stack are told.
const FRAMES: usize = 50;

/// What is said of it.
struct Said {
    verdict: Verdict,
    message: String,
    evidence: Vec<String>,
}

impl Watch<'_> {
    /// Makes the verdict. A program that has not ended is suspended for it, where that is possible, and stays so
    /// when it is to be `left_paused`.
    pub(super) async fn conclude(
        &mut self,
        came: Came,
        left_paused: bool,
        limits: Limits,
    ) -> Result<Diagnosis, ToolError> {
        let (took, computed) = (self.took(), self.computed());
        let (mut seen, mut looked, mut thread) = (None, Vec::new(), None);
        let said = match &came {
            Came::Ended(end) => Said {
                verdict: Verdict::Completed,
                message: format!("The program {end}, after {}", time(took)),
                evidence: Vec::new(),
            },
            Came::Stopped => Said {
                verdict: Verdict::Stopped,
                message: "The program was suspended before there was a verdict".to_owned(),
                evidence: Vec::new(),
            },
            Came::Computes { thread: busy, looks, passed } => {
                thread = *busy;
                if self.activity.is_empty() {
                    self.ask().await;
                }
                seen = motion::seen(looks, *passed);
                looked = looks.last().map(live_stack).unwrap_or_default();
                self.computes(seen.as_ref(), looks.len(), thread).await
            }
            Came::Waits => self.waits(),
        };
        let threads = self.threads();
        let stack = if looked.is_empty() { self.sampled_stack(thread) } else { looked };
        let found = seen.and_then(|seen| seen.found);
        let lines = found.as_ref().map(|found| self.lines_of(found)).unwrap_or_default();
        let settled = self.settle(&came, thread, left_paused, limits).await?;
        let end = match came {
            Came::Ended(end) => Some(end),
            _ => None,
        };
        let pending =
            self.activity.iter_mut().flat_map(|process| std::mem::take(&mut process.activity.pending));
        Ok(Diagnosis {
            verdict: said.verdict,
            message: said.message,
            evidence: said.evidence,
            stack: users(stack),
            found,
            lines,
            threads,
            pending: pending.collect(),
            calls: std::mem::take(&mut self.calls),
            samples: self.samples,
            computed,
            took,
            end,
            settled,
        })
    }

    /// Of a program that computes.
    async fn computes(&self, seen: Option<&Seen>, looks: usize, thread: Option<ThreadId>) -> Said {
        let mut evidence = vec![format!(
            "it has computed for {} of the {} that it was watched",
            time(self.computed()),
            time(self.took())
        )];
        let Some(seen) = seen else {
            evidence.push("it could not be suspended: it is in one call of native code".to_owned());
            return self.in_one_call(self.sampled_stack(thread), evidence).await;
        };
        let place = format!("{}:{} in {}", seen.file.display(), seen.line, seen.function);
        if looks > 1 {
            evidence.push(format!("it was looked at {looks} times"));
        } else if !matches!(seen.motion, Motion::Certain | Motion::Endless) {
            evidence.push("it could be looked at only once, so it is not known what changes".to_owned());
            let message =
                format!("The program computes, and whether it comes to an end cannot be told: {place}");
            return Said { verdict: Verdict::Unknown, message, evidence };
        }
        let lines =
            seen.found.as_ref().map(|found| format!("lines {}-{}", found.lines.start(), found.lines.end()));
        let lines = lines.unwrap_or_default();
        let (verdict, message) = match seen.motion {
            Motion::Certain => {
                evidence.push("by its text the loop can never end".to_owned());
                (Verdict::BusyLoop, format!("The program is in a loop that can never end, {lines}: {place}"))
            }
            Motion::Endless => {
                evidence.push("the loop has no way out but an error or an exit in what it calls".to_owned());
                (Verdict::BusyLoop, format!("The program is in a loop without a way out, {lines}: {place}"))
            }
            Motion::Stuck => {
                evidence.push("nothing that the loop depends on has changed".to_owned());
                (
                    Verdict::BusyLoop,
                    format!("The program is in a loop in which nothing changes, {lines}: {place}"),
                )
            }
            Motion::Asks => {
                evidence.push(
                    "no value in it changes; its condition calls something that has not ended it yet"
                        .to_owned(),
                );
                (
                    Verdict::BusyLoop,
                    format!("The program goes round in a loop until something ends it, {lines}: {place}"),
                )
            }
            Motion::Away => {
                evidence.push("what the loop's condition compares does not come together".to_owned());
                (
                    Verdict::BusyLoop,
                    format!(
                        "The program is in a loop that does not come nearer to its end, {lines}: {place}"
                    ),
                )
            }
            Motion::Nearer(left) => {
                let left = left.map(|left| format!("; at this rate it takes {} more", time(left)));
                evidence.push(format!("the loop comes nearer to its end{}", left.unwrap_or_default()));
                (Verdict::Slow, format!("The program is slow and makes progress in a loop, {lines}: {place}"))
            }
            Motion::Changes if seen.found.is_some() => {
                evidence.push(
                    "values change, and whether the loop comes nearer to its end cannot be told".to_owned(),
                );
                (
                    Verdict::Slow,
                    format!("The program computes in a loop in which values change, {lines}: {place}"),
                )
            }
            Motion::Changes => (Verdict::Slow, format!("The program computes, and values change: {place}")),
            Motion::Recursion => {
                evidence.push("the function calls itself".to_owned());
                (Verdict::Slow, format!("The program computes by recursion: {place}"))
            }
            Motion::Still => {
                let stack = vec![SampledFrame { function: seen.function.clone(), location: None }];
                let stack = [stack, self.sampled_stack(thread)].concat();
                evidence.push("it was always on the same line".to_owned());
                return self.in_one_call_at(&place, &source_line(seen), &stack, evidence);
            }
        };
        Said { verdict, message, evidence }
    }

    /// Of one that is in native code since it was looked at.
    async fn in_one_call(&self, stack: Vec<SampledFrame>, evidence: Vec<String>) -> Said {
        let user = stack.iter().find(|frame| is_users(frame)).and_then(|frame| frame.location.clone());
        let Some(location) = user else {
            return Said {
                verdict: Verdict::Unknown,
                message: "The program computes, and where could not be found out".to_owned(),
                evidence,
            };
        };
        let lines =
            snapshot::lines(self.session, &location.source.name, location.source.path.as_deref()).await;
        let at = usize::try_from(location.line).unwrap_or_default().saturating_sub(1);
        let line = lines.unwrap_or_default().into_iter().nth(at).unwrap_or_default();
        let place = format!("{}:{}", location.source.name, location.line);
        self.in_one_call_at(&place, &line, &stack, evidence)
    }

    /// A regular expression that goes through all its possibilities looks like this; so does a call that only
    /// takes long.
    fn in_one_call_at(
        &self,
        place: &str,
        line: &str,
        stack: &[SampledFrame],
        mut evidence: Vec<String>,
    ) -> Said {
        let by_name = stack.first().is_some_and(|frame| frame.function.starts_with("RegExp:"))
            || self.calls_innermost().iter().any(|name| name.starts_with("RegExp:"));
        if by_name || matches_text(line) {
            evidence.push(format!("the line matches a regular expression: `{}`", line.trim()));
            return Said {
                verdict: Verdict::BusyLoop,
                message: format!(
                    "The program is in a regular expression that does not come to its end: {place}"
                ),
                evidence,
            };
        }
        Said {
            verdict: Verdict::Unknown,
            message: format!(
                "The program is in one call that has not come back, and whether it will cannot be told: {place}"
            ),
            evidence,
        }
    }

    fn calls_innermost(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut calls: Vec<_> = self.calls.iter().collect();
        while let Some(call) = calls.pop() {
            if call.calls.is_empty() && call.total * 2 > self.samples {
                names.push(call.function.clone());
            }
            calls.extend(&call.calls);
        }
        names
    }

    /// Of a program that does not compute.
    fn waits(&self) -> Said {
        let mut evidence = vec![format!(
            "it has computed for {} of the {} that it was watched",
            time(self.computed()),
            time(self.took())
        )];
        let circle = deadlock::deadlock(&self.activity);
        if let Some(first) = circle.first() {
            let sentence = |thread: &&ThreadActivity| {
                let what = thread.blocked.as_ref().map(|waiting| waiting.what.clone()).unwrap_or_default();
                format!("thread `{}` waits for {what}{}", thread.name, place_of(&thread.stack))
            };
            evidence.extend(circle.iter().map(sentence));
            let names: Vec<String> = circle.iter().map(|thread| format!("`{}`", thread.name)).collect();
            let message = match names.as_slice() {
                [name] => {
                    format!("Thread {name} waits for what no other thread can give{}", place_of(&first.stack))
                }
                _ => format!("Threads {} wait for each other", names.join(", ")),
            };
            return Said { verdict: Verdict::Deadlocked, message, evidence };
        }
        let waits = self.all_waits();
        let told: Vec<String> =
            waits.iter().map(|waiting| format!("it waits for {}{}", waiting.what, at(waiting))).collect();
        evidence.extend(told.into_iter().take(12));
        let (verdict, message) = match main_reason(&waits) {
            Some(waiting) => {
                (Verdict::Waiting, format!("The program waits for {}{}", waiting.what, at(waiting)))
            }
            None => (Verdict::Waiting, "The program waits, and does not tell for what".to_owned()),
        };
        Said { verdict, message, evidence }
    }

    fn all_waits(&self) -> Vec<Waiting> {
        let mut waits: Vec<Waiting> = Vec::new();
        for process in &self.activity {
            let blocked = process.activity.threads.iter().filter_map(|thread| {
                let waiting = thread.blocked.clone()?;
                let location = waiting.location.clone().or_else(|| {
                    thread.stack.iter().find(|frame| is_users(frame)).and_then(|frame| frame.location.clone())
                });
                Some(Waiting { location, ..waiting })
            });
            waits.extend(blocked.chain(process.activity.pending.iter().cloned()));
        }
        if waits.is_empty() {
            let pids = self.activity.iter().filter_map(|process| process.pid);
            waits.extend(pids.filter_map(|pid| process::blocked(pid, pid)));
        }
        waits
    }

    fn threads(&self) -> Vec<ThreadSeen> {
        let circle = deadlock::deadlock(&self.activity);
        let mut threads = Vec::new();
        for process in &self.activity {
            for thread in &process.activity.threads {
                let demand = process.pid.and_then(|pid| self.demand(pid, Some(thread.os_thread?)));
                threads.push(ThreadSeen {
                    name: thread.name.clone(),
                    pid: process.pid,
                    demand,
                    stack: users(thread.stack.clone()),
                    blocked: thread.blocked.clone().filter(|_| demand.is_none_or(|demand| demand < BUSY)),
                    is_deadlocked: circle.iter().any(|other| std::ptr::eq(*other, thread)),
                });
            }
        }
        threads
    }

    /// Where a thread was at the last sample; without one, the first that is blocked, or else is anywhere.
    fn sampled_stack(&self, thread: Option<ThreadId>) -> Vec<SampledFrame> {
        let all =
            || self.activity.iter().flat_map(|process| process.numbers.iter().zip(&process.activity.threads));
        let named = all().find(|(number, _)| Some(**number) == thread);
        let circle = deadlock::deadlock(&self.activity);
        let found = named
            .map(|(_, thread)| thread)
            .or_else(|| circle.into_iter().next())
            .or_else(|| all().map(|(_, thread)| thread).find(|thread| thread.stack.iter().any(is_users)))
            .or_else(|| all().map(|(_, thread)| thread).find(|thread| !thread.stack.is_empty()));
        found.map(|thread| thread.stack.clone()).unwrap_or_default()
    }

    /// The lines of a loop that samples have seen.
    fn lines_of(&self, found: &super::LoopSeen) -> Vec<(u32, u64)> {
        let mut lines = tree::lines_in(&self.calls, &found.file.display().to_string());
        lines.retain(|(line, _)| found.lines.contains(line));
        lines
    }

    /// Suspends the program where that is possible, and reads what there is to tell of it.
    async fn settle(
        &self,
        came: &Came,
        thread: Option<ThreadId>,
        left_paused: bool,
        limits: Limits,
    ) -> Result<Settled, ToolError> {
        let outcome = match came {
            Came::Ended(end) => Outcome::Ended(std::sync::Arc::clone(end)),
            _ => suspend(self.session, thread).await,
        };
        let settled = describe(self.session, outcome, limits).await;
        if !left_paused && !matches!(came, Came::Stopped) {
            Looker::new(self.session).let_go().await?;
        }
        Ok(settled)
    }
}

async fn suspend(session: &Session, thread: Option<ThreadId>) -> Outcome {
    if session.execution().stop().is_none() {
        // One that ends meanwhile is told of as ended; one in native code need not acknowledge it.
        let _ = tokio::time::timeout(SUSPEND, session.pause(thread)).await;
    }
    session.wait(Instant::now() + SUSPEND).await
}

fn live_stack(look: &Look) -> Vec<SampledFrame> {
    use engine::model::source::{Location, Source};
    let frame = |position: &super::looks::Position| {
        let source = Source { internal: position.is_internal, ..Source::file(position.file.clone()) };
        let location = Location { source, line: position.line, column: 0, generated: None };
        SampledFrame { function: position.function.clone(), location: Some(location) }
    };
    look.iter().rev().map(frame).collect()
}

/// The user's frames; all of them, when there is none of the user's.
fn users(stack: Vec<SampledFrame>) -> Vec<SampledFrame> {
    let has_users = stack.iter().any(is_users);
    stack.into_iter().filter(|frame| !has_users || is_users(frame)).take(FRAMES).collect()
}

fn is_users(frame: &SampledFrame) -> bool {
    frame.location.as_ref().is_some_and(|location| !location.source.internal)
}

/// What keeps a program most: what stands still in its own code comes before what is only open.
fn main_reason(waits: &[Waiting]) -> Option<&Waiting> {
    let weight = |waiting: &&Waiting| match waiting.kind {
        WaitKind::Input => 0,
        WaitKind::Child => 1,
        WaitKind::Lock | WaitKind::Thread | WaitKind::File => 2,
        WaitKind::Server => 3,
        WaitKind::Socket => 4,
        WaitKind::Task | WaitKind::Promise | WaitKind::Worker => 5,
        WaitKind::Timer => 6,
        WaitKind::Other => 7,
    };
    waits.iter().min_by_key(weight)
}

fn at(waiting: &Waiting) -> String {
    waiting
        .location
        .as_ref()
        .map(|location| format!(" at {}:{}", location.source.name, location.line))
        .unwrap_or_default()
}

fn place_of(stack: &[SampledFrame]) -> String {
    let frame = stack.iter().find(|frame| is_users(frame));
    frame
        .and_then(|frame| frame.location.as_ref())
        .map(|location| format!(" at {}:{}", location.source.name, location.line))
        .unwrap_or_default()
}

fn source_line(seen: &Seen) -> String {
    let at = usize::try_from(seen.line).unwrap_or_default().saturating_sub(1);
    sources::read_lines(&seen.file).ok().and_then(|lines| lines.into_iter().nth(at)).unwrap_or_default()
}

/// Whether a line matches a text against a pattern, in the words of both languages.
fn matches_text(line: &str) -> bool {
    const CALLS: [&str; 11] = [
        ".match(",
        ".search(",
        ".fullmatch(",
        ".findall(",
        ".finditer(",
        ".sub(",
        ".subn(",
        ".test(",
        ".exec(",
        ".matchAll(",
        ".replace(",
    ];
    CALLS.iter().any(|call| line.contains(call))
}

/// A length of time for people.
fn time(time: Duration) -> String {
    match time.as_secs() {
        0..=9 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..=599 => format!("{seconds} s"),
        seconds @ 600..=35_999 => format!("{} minutes", seconds / 60),
        seconds @ 36_000..=863_999 => format!("{} hours", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
