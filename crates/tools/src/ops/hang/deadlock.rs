//! Threads that wait for each other, and tasks. Pure.

use engine::model::activity::{ProcessActivity, Task, ThreadActivity, WaitKind, Waiting};
use engine::model::ids::RawId;

/// The threads that can never continue, in the order in which they wait: each for the next one, the last for the
/// first. Without a circle, of threads or of tasks, all that keep the program alive, when each of all its processes
/// waits without a time limit for what only another thread can give.
pub(super) fn deadlock(processes: &[ProcessActivity]) -> Vec<&ThreadActivity> {
    let circles = processes.iter().flat_map(|process| {
        let threads = &process.activity.threads;
        threads.iter().map(|thread| circle_from(threads, thread))
    });
    let circle = circles.into_iter().find(|circle| !circle.is_empty());
    let all = || if deadlocked_tasks(processes).is_empty() { all_blocked(processes) } else { Vec::new() };
    circle.unwrap_or_else(all)
}

/// Whether each of several threads waits for the next one, the last for the first.
pub(super) fn is_circle(threads: &[&ThreadActivity]) -> bool {
    let next = threads.iter().cycle().skip(1);
    threads.iter().zip(next).all(|(thread, next)| {
        endless_wait(*thread).is_some_and(|waiting| waiting.holders.as_slice() == [next.thread])
    })
}

/// The tasks of a circle, in the order in which they wait, with what each waits for.
pub(super) fn deadlocked_tasks(processes: &[ProcessActivity]) -> Vec<(&Task, &Waiting)> {
    let circles = processes.iter().flat_map(|process| {
        let pending = &process.activity.pending;
        pending.iter().map(|waiting| circle_from(pending, waiting))
    });
    let circle = circles.into_iter().find(|circle| !circle.is_empty()).unwrap_or_default();
    circle.into_iter().filter_map(|waiting| Some((waiting.task.as_ref()?, waiting))).collect()
}

/// What can be part of a circle.
trait WaitingThread {
    /// The number by which those that hold something are called.
    fn number(&self) -> Option<RawId>;
    /// What it waits for.
    fn waiting(&self) -> Option<&Waiting>;
}

impl WaitingThread for ThreadActivity {
    fn number(&self) -> Option<RawId> {
        Some(self.thread)
    }

    fn waiting(&self) -> Option<&Waiting> {
        self.blocked.as_ref()
    }
}

/// A task is described by what it waits for.
impl WaitingThread for Waiting {
    fn number(&self) -> Option<RawId> {
        self.task.as_ref().map(|task| task.number)
    }

    fn waiting(&self) -> Option<&Waiting> {
        Some(self)
    }
}

/// What a thread waits for, when that never ends by itself.
fn endless_wait(thread: &impl WaitingThread) -> Option<&Waiting> {
    thread.waiting().filter(|waiting| !waiting.is_timed)
}

/// The circle that a thread or a task is part of.
fn circle_from<'a, T: WaitingThread>(threads: &'a [T], start: &'a T) -> Vec<&'a T> {
    let mut path = vec![start];
    loop {
        let Some(waiting) = path.last().and_then(|thread| endless_wait(*thread)) else { return Vec::new() };
        // Who waits for one of several need not wait for this one.
        let [holder] = waiting.holders.as_slice() else { return Vec::new() };
        let Some(next) = find(threads, *holder) else { return Vec::new() };
        if next.number() == start.number() {
            return path;
        }
        if path.iter().any(|thread| thread.number() == next.number()) {
            return Vec::new();
        }
        path.push(next);
    }
}

fn find<T: WaitingThread>(threads: &[T], number: RawId) -> Option<&T> {
    threads.iter().find(|thread| thread.number() == Some(number))
}

fn all_blocked(processes: &[ProcessActivity]) -> Vec<&ThreadActivity> {
    let needs_another = |thread: &ThreadActivity| {
        let kind = endless_wait(thread).map(|waiting| waiting.kind);
        // Of event loops, those without a time limit that only another thread can wake. What processes share may be given
        // by one that is not debugged, such as the parent of the only one that is.
        match kind {
            Some(WaitKind::Process) => processes.len() > 1,
            kind => matches!(kind, Some(WaitKind::Lock | WaitKind::Thread | WaitKind::Task)),
        }
    };
    let threads = || processes.iter().flat_map(|process| &process.activity.threads);
    // One of which nothing is known, or a daemon that is not blocked, may give what the others wait for.
    let is_known = processes.iter().all(|process| !process.activity.threads.is_empty());
    if is_known && threads().all(needs_another) {
        threads().filter(|thread| !thread.is_daemon).collect()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use engine::model::activity::Activity;
    use engine::model::ids::TargetId;

    /// Threads from `1>2` (1 waits for 2), `2` (computes), `3?` (waits for something else), `4?t` (the same, with a
    /// time limit), `5?d` (a daemon), `6?p` (waits for another process). Processes are separated by `|`.
    fn processes(text: &str) -> Vec<ProcessActivity> {
        let process = |text: &str| {
            let activity = Activity { threads: threads(text), ..Activity::default() };
            ProcessActivity { target: TargetId(0), pid: None, numbers: Vec::new(), activity }
        };
        text.split('|').map(process).collect()
    }

    fn threads(text: &str) -> Vec<ThreadActivity> {
        let thread = |text: &str| {
            let number = |text: &str| RawId(text.trim_end_matches(['t', 'd', 'p', '?']).parse().unwrap());
            let (own, waits) =
                text.split_once(['>', '?']).map_or((text, None), |(own, rest)| (own, Some(rest)));
            let blocked = waits.map(|rest| Waiting {
                kind: if rest.ends_with('p') { WaitKind::Process } else { WaitKind::Lock },
                what: "a lock".to_owned(),
                location: None,
                is_timed: rest.ends_with('t'),
                holders: if text.contains('>') { vec![number(rest)] } else { Vec::new() },
                task: None,
            });
            let is_daemon = text.ends_with('d');
            ThreadActivity { thread: number(own), blocked, is_daemon, ..ThreadActivity::default() }
        };
        text.split_whitespace().map(thread).collect()
    }

    #[test]
    fn circular_waits_and_waits_without_holder_are_deadlocks() {
        let table: &[(&str, &[i64], bool)] = &[
            ("1>2 2>1", &[1, 2], true),
            ("1>2 2>3 3>2 4", &[2, 3], true),
            ("1>1 2", &[1], true),
            ("1>2 2", &[], true),
            ("1>2t 2>1", &[], true),
            ("1>2 2?", &[1, 2], false),
            ("1? 2?", &[1, 2], false),
            ("1? 2?t", &[], true),
            ("1? 2?d", &[1], false),
            ("1>9", &[1], false),
            ("1? | 2?", &[1, 2], false),
            ("1? | 2", &[], true),
            ("1?p", &[], true),
            ("1?p 2?", &[], true),
            ("1?p | 2?p", &[1, 2], false),
            ("1? | ", &[], true),
            ("1 | 2>3 3>2", &[2, 3], true),
            ("", &[], true),
        ];
        for (text, expected, circle) in table {
            let processes = processes(text);
            let found = deadlock(&processes);
            let numbers: Vec<i64> = found.iter().map(|thread| thread.thread.0).collect();
            assert_eq!((numbers.as_slice(), is_circle(&found)), (*expected, *circle), "{text}");
        }
    }

    #[test]
    fn tasks_that_wait_for_each_other_are_a_deadlock() {
        let table: &[(&str, &[i64])] = &[
            ("1>2 2>1", &[1, 2]),
            ("1>2 2>3 3>2", &[2, 3]),
            ("1>1", &[1]),
            ("1>2t 2>1", &[]),
            ("1>2 2?", &[]),
            ("1? 2?", &[]),
            ("1>9", &[]),
            ("1? | 2>3 3>2", &[2, 3]),
        ];
        for (text, expected) in table {
            let mut processes = processes(text);
            for process in &mut processes {
                let threads = std::mem::take(&mut process.activity.threads);
                process.activity.pending = threads
                    .into_iter()
                    .map(|thread| {
                        let (number, name) = (thread.thread, thread.thread.0.to_string());
                        let task = Task { number, name, function: String::new() };
                        Waiting { task: Some(task), ..thread.blocked.unwrap() }
                    })
                    .collect();
            }
            let found: Vec<i64> =
                deadlocked_tasks(&processes).iter().map(|(task, _)| task.number.0).collect();
            assert_eq!(found, *expected, "{text}");
        }
    }
}
