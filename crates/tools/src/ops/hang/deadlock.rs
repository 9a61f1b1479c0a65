//! Threads that wait for each other. Pure.

use engine::model::activity::{ProcessActivity, ThreadActivity, WaitKind, Waiting};
use engine::model::ids::RawId;

/// The threads that will never go on, in the order in which they wait: each for the next one, the last for the
/// first. Without a circle, all that keep the program alive, when each of all its processes waits without a time
/// limit for what only another thread can give.
pub(super) fn deadlock(processes: &[ProcessActivity]) -> Vec<&ThreadActivity> {
    let circles = processes.iter().flat_map(|process| {
        let threads = &process.activity.threads;
        threads.iter().map(|thread| circle_from(threads, thread))
    });
    let circle = circles.into_iter().find(|circle| !circle.is_empty());
    circle.unwrap_or_else(|| all_blocked(processes))
}

/// What a thread waits for, when that never ends by itself.
fn waits_for_ever(thread: &ThreadActivity) -> Option<&Waiting> {
    thread.blocked.as_ref().filter(|waiting| !waiting.is_timed)
}

/// The circle that a thread is part of.
fn circle_from<'a>(threads: &'a [ThreadActivity], start: &'a ThreadActivity) -> Vec<&'a ThreadActivity> {
    let mut path = vec![start];
    loop {
        let Some(waiting) = path.last().and_then(|thread| waits_for_ever(thread)) else { return Vec::new() };
        // Who waits for one of several need not wait for this one.
        let [holder] = waiting.holders.as_slice() else { return Vec::new() };
        let Some(next) = find(threads, *holder) else { return Vec::new() };
        if next.thread == start.thread {
            return path;
        }
        if path.iter().any(|thread| thread.thread == next.thread) {
            return Vec::new();
        }
        path.push(next);
    }
}

fn find(threads: &[ThreadActivity], number: RawId) -> Option<&ThreadActivity> {
    threads.iter().find(|thread| thread.thread == number)
}

fn all_blocked(processes: &[ProcessActivity]) -> Vec<&ThreadActivity> {
    let needs_another = |thread: &ThreadActivity| {
        let kind = waits_for_ever(thread).map(|waiting| waiting.kind);
        matches!(kind, Some(WaitKind::Lock | WaitKind::Thread))
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

    /// Threads from `1>2` (1 waits for 2), `2` (computes), `3?` (waits for nobody in particular), `4?t` (the same,
    /// with a time limit), `5?d` (a daemon). Processes are separated by `|`.
    fn processes(text: &str) -> Vec<ProcessActivity> {
        let process = |text: &str| {
            let activity = Activity { threads: threads(text), pending: Vec::new() };
            ProcessActivity { target: TargetId(0), pid: None, numbers: Vec::new(), activity }
        };
        text.split('|').map(process).collect()
    }

    fn threads(text: &str) -> Vec<ThreadActivity> {
        let thread = |text: &str| {
            let number = |text: &str| RawId(text.trim_end_matches(['t', 'd', '?']).parse().unwrap());
            let (own, waits) =
                text.split_once(['>', '?']).map_or((text, None), |(own, rest)| (own, Some(rest)));
            let blocked = waits.map(|rest| Waiting {
                kind: WaitKind::Lock,
                what: "a lock".to_owned(),
                location: None,
                is_timed: rest.ends_with('t'),
                holders: if text.contains('>') { vec![number(rest)] } else { Vec::new() },
            });
            let is_daemon = text.ends_with('d');
            ThreadActivity { thread: number(own), blocked, is_daemon, ..ThreadActivity::default() }
        };
        text.split_whitespace().map(thread).collect()
    }

    #[test]
    fn a_circle_or_nobody_left_is_a_deadlock() {
        let table: &[(&str, &[i64])] = &[
            ("1>2 2>1", &[1, 2]),
            ("1>2 2>3 3>2 4", &[2, 3]),
            ("1>1 2", &[1]),
            ("1>2 2", &[]),
            ("1>2t 2>1", &[]),
            ("1>2 2?", &[1, 2]),
            ("1? 2?", &[1, 2]),
            ("1? 2?t", &[]),
            ("1? 2?d", &[1]),
            ("1>9", &[1]),
            ("1? | 2?", &[1, 2]),
            ("1? | 2", &[]),
            ("1? | ", &[]),
            ("1 | 2>3 3>2", &[2, 3]),
            ("", &[]),
        ];
        for (text, expected) in table {
            let processes = processes(text);
            let found: Vec<i64> = deadlock(&processes).iter().map(|thread| thread.thread.0).collect();
            assert_eq!(found, *expected, "{text}");
        }
    }
}
