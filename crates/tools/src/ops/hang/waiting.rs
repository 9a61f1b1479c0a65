//! The verdict on a program that waits.

use engine::model::activity::{Activity, ProcessActivity, ThreadActivity, WaitKind, Waiting};
use engine::process;

use super::finding::{HangFinding, is_users, place_of};
use super::watch::HangWatch;
use super::{Verdict, deadlock};
use crate::ops::execution;

/// How many of many threads are named.
const NAMES: usize = 4;
/// How many reasons to wait are shown.
const SHOWN: usize = 12;

impl HangWatch<'_> {
    /// The verdict on a program that does not compute.
    pub(super) async fn waits(&self) -> HangFinding {
        let deadlock = || self.deadlocked_threads().or_else(|| self.deadlocked_tasks());
        let (verdict, message, reasons) = if let Some(pid) = self.held() {
            let message = format!("The program is waiting: {}", execution::held_by_signal(pid));
            (Verdict::Waiting, message, Vec::new())
        } else if let Some((message, reasons)) = deadlock() {
            (Verdict::Deadlocked, message, reasons)
        } else {
            self.waits_for_others().await
        };
        let evidence = [self.share()].into_iter().chain(reasons).collect();
        HangFinding { verdict, message, evidence }
    }

    /// Threads that nothing can wake, in a sentence, and what each waits for.
    fn deadlocked_threads(&self) -> Option<(String, Vec<String>)> {
        let circle = deadlock::deadlock(&self.activity);
        let first = circle.first()?;
        let tasks: Vec<&Waiting> =
            self.activity.iter().flat_map(|process| &process.activity.pending).collect();
        let is_loop = first.blocked.as_ref().is_some_and(|waiting| waiting.kind == WaitKind::Task);
        let names: Vec<String> = circle.iter().map(|thread| format!("`{}`", thread.name)).collect();
        let message = match (names.as_slice(), tasks.as_slice()) {
            ([_], [task]) if is_loop => format!("Nothing can wake {}{}", task.what, at(task)),
            ([_], _) if is_loop => "Nothing can wake the tasks of the event loop".to_owned(),
            ([name], _) => {
                let place = place_of(&first.stack);
                format!("Thread {name} waits for something that no other thread can provide{place}")
            }
            _ if deadlock::is_circle(&circle) => format!("Threads {} wait for each other", listed(&names)),
            _ => format!("Threads {} all wait, and no thread is left to wake them", listed(&names)),
        };
        let of_tasks = tasks.iter().take(SHOWN).map(|waiting| format!("{}{}", waiting.what, at(waiting)));
        Some((message, waits_of(&circle).into_iter().chain(of_tasks).collect()))
    }

    /// The same of the tasks of an event loop that runs.
    fn deadlocked_tasks(&self) -> Option<(String, Vec<String>)> {
        let tasks = deadlock::deadlocked_tasks(&self.activity);
        let (_, first) = tasks.first()?;
        let names: Vec<String> = tasks.iter().map(|(task, _)| format!("`{}`", task.name)).collect();
        let message = match names.as_slice() {
            [name] => format!("Task {name} waits for something that no other task can provide{}", at(first)),
            names => format!("Tasks {} wait for each other", names.join(", ")),
        };
        let reasons = tasks.iter().map(|(_, waiting)| format!("{}{}", waiting.what, at(waiting)));
        Some((message, reasons.collect()))
    }

    /// What a program waits for that something else may provide: a verdict, a sentence, and all reasons.
    async fn waits_for_others(&self) -> (Verdict, String, Vec<String>) {
        let waits = self.all_waits().await;
        let mut reasons: Vec<String> = Vec::new();
        for (_, waiting) in &waits {
            let reason = format!("it waits for {}{}", waiting.what, at(waiting));
            // Many threads of a pool wait for the same.
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons.truncate(SHOWN);
        let (verdict, message) = match main_reason(&waits) {
            Some(waiting) => {
                (Verdict::Waiting, format!("The program is waiting for {}{}", waiting.what, at(waiting)))
            }
            None if self.is_measured() => {
                (Verdict::Waiting, "The program is waiting; the reason is unknown".to_owned())
            }
            None => {
                let message = "Cannot tell whether the program computes or waits: its process is unknown";
                (Verdict::Unknown, message.to_owned())
            }
        };
        (verdict, message, reasons)
    }

    /// The verdict on a program whose runtime has found that none of its threads can continue.
    pub(super) async fn deadlocked_by_runtime(&self, error: &str) -> HangFinding {
        let mut finding = self.waits().await;
        finding.evidence.push(format!("its runtime reports `{error}`"));
        if finding.verdict == Verdict::Deadlocked {
            return finding;
        }
        let message = format!("No thread of the program can continue: {error}");
        HangFinding { verdict: Verdict::Deadlocked, message, ..finding }
    }

    /// What each process waits for, and whether it also waits for a child whose waits are among these.
    async fn all_waits(&self) -> Vec<(bool, Waiting)> {
        let mut waits: Vec<(bool, Waiting)> = Vec::new();
        for process in &self.activity {
            let blocked = process.activity.threads.iter().filter_map(|thread| {
                let waiting = thread.blocked.clone()?;
                let location = waiting.location.clone().or_else(|| {
                    thread.stack.iter().find(|frame| is_users(frame)).and_then(|frame| frame.location.clone())
                });
                Some(Waiting { location, ..waiting })
            });
            let own: Vec<Waiting> = blocked.chain(process.activity.pending.iter().cloned()).collect();
            let is_parent = own.iter().any(|waiting| waiting.kind == WaitKind::Child)
                && process.pid.is_some_and(|pid| self.waits_below(pid));
            waits.extend(own.into_iter().map(|waiting| (is_parent, waiting)));
        }
        if waits.is_empty() {
            for pid in self.activity.iter().filter_map(|process| process.pid) {
                waits.extend(process::blocked(pid, pid).await.map(|waiting| (false, waiting)));
            }
        }
        waits
    }

    /// Whether a process below this one is known to wait for something.
    fn waits_below(&self, pid: u32) -> bool {
        let below = descendants(pid);
        let is_below = |process: &ProcessActivity| process.pid.is_some_and(|pid| below.contains(&pid));
        self.activity.iter().any(|process| waits(process) && is_below(process))
    }
}

/// What each of these threads waits for; in one sentence for many that wait for the same.
fn waits_of(threads: &[&ThreadActivity]) -> Vec<String> {
    let wait = |thread: &&ThreadActivity| {
        let what = thread.blocked.as_ref().map(|waiting| waiting.what.as_str()).unwrap_or_default();
        (format!("`{}`", thread.name), format!("for {what}{}", place_of(&thread.stack)))
    };
    let sentence = |(names, wait): (Vec<String>, String)| match names.as_slice() {
        [name] => format!("thread {name} waits {wait}"),
        names => format!("threads {} wait {wait}", listed(names)),
    };
    alike(threads.iter().map(wait).collect(), NAMES + 2).into_iter().map(sentence).collect()
}

/// Names with a text each: if there are at least `many`, those with the same text together. One that is empty stays alone.
pub fn alike(items: Vec<(String, String)>, many: usize) -> Vec<(Vec<String>, String)> {
    let is_many = items.len() >= many;
    let mut alike: Vec<(Vec<String>, String)> = Vec::new();
    for (name, text) in items {
        match alike.iter_mut().find(|(_, known)| is_many && !name.is_empty() && *known == text) {
            Some((names, _)) => names.push(name),
            None => alike.push((vec![name], text)),
        }
    }
    alike
}

fn listed(names: &[String]) -> String {
    match names.split_at_checked(NAMES) {
        Some((first, others)) if others.len() > 1 => {
            format!("{} and {} others", first.join(", "), others.len())
        }
        _ => names.join(", "),
    }
}

/// Whether it is known what a process waits for.
pub(super) fn waits(process: &ProcessActivity) -> bool {
    let Activity { threads, pending, .. } = &process.activity;
    !pending.is_empty() || threads.iter().any(|thread| thread.blocked.is_some())
}

/// The processes below one.
fn descendants(pid: u32) -> Vec<u32> {
    let mut found = process::children(pid);
    let mut at = 0;
    while let Some(next) = found.get(at) {
        found.extend(process::children(*next));
        at += 1;
    }
    found
}

/// The most relevant wait of a program: its own blocked code comes before open resources. What a process such as `npm`
/// waits for besides its child matters less than what the child waits for.
fn main_reason(waits: &[(bool, Waiting)]) -> Option<&Waiting> {
    let weight = |waiting: &Waiting| match waiting.kind {
        WaitKind::Input => 0,
        WaitKind::Child => 1,
        WaitKind::Lock | WaitKind::Process | WaitKind::Thread | WaitKind::File => 2,
        WaitKind::Server => 3,
        WaitKind::Socket => 4,
        WaitKind::Task | WaitKind::Promise | WaitKind::Worker => 5,
        WaitKind::Timer => 6,
        WaitKind::Other => 7,
    };
    let main = waits.iter().min_by_key(|(is_parent, waiting)| (*is_parent, weight(waiting)));
    main.map(|(_, waiting)| waiting)
}

fn at(waiting: &Waiting) -> String {
    waiting
        .location
        .as_ref()
        .map(|location| format!(" at {}:{}", location.source.name, location.line))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_threads_that_wait_for_the_same_are_one_sentence() {
        let blocked = Some(Waiting {
            kind: WaitKind::Lock,
            what: "a lock".to_owned(),
            location: None,
            is_timed: false,
            holders: Vec::new(),
            task: None,
        });
        let thread = |name: u32| ThreadActivity {
            name: name.to_string(),
            blocked: blocked.clone(),
            ..ThreadActivity::default()
        };
        let threads: Vec<ThreadActivity> = (0..9).map(thread).collect();
        let all: Vec<&ThreadActivity> = threads.iter().collect();
        assert_eq!(waits_of(&all), ["threads `0`, `1`, `2`, `3` and 5 others wait for a lock"]);
        assert_eq!(waits_of(&all[..2]), ["thread `0` waits for a lock", "thread `1` waits for a lock"]);
    }
}
