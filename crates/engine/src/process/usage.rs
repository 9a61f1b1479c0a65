//! What the operating system has counted for a process: how long its threads computed, and what they wait for.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// Queueing counts up to this many times what was computed. On a busy machine, a thread that wakes only for a moment,
/// again and again, queues most of the time and has no work.
const CROWD: u32 = 50;

/// What was counted up to a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// When it was read.
    pub at: Instant,
    /// The threads, by the system's numbers.
    pub threads: BTreeMap<u32, ThreadUsage>,
}

/// What was counted for a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// How long it computed.
    pub computed: Duration,
    /// How long it could have computed and had no processor.
    pub queued: Duration,
}

impl Usage {
    /// Of a process of this machine; nothing if it is gone, or the system does not report it.
    pub fn of(pid: u32) -> Option<Self> {
        let at = Instant::now();
        let threads = super::threads(pid).into_iter().filter_map(|number| {
            // `schedstats` in the kernel's `Documentation/scheduler/sched-stats.rst`: nanoseconds computed,
            // nanoseconds queued, number of turns.
            let text = std::fs::read_to_string(format!("/proc/{pid}/task/{number}/schedstat")).ok()?;
            Some((number, read(&text)?))
        });
        let threads: BTreeMap<u32, ThreadUsage> = threads.collect();
        (!threads.is_empty()).then_some(Self { at, threads })
    }

    /// How long all threads have computed.
    pub fn computed(&self) -> Duration {
        self.threads.values().map(|thread| thread.computed).sum()
    }

    /// How long its threads could have computed and had no processor, together.
    pub fn queued(&self) -> Duration {
        self.threads.values().map(|thread| thread.queued).sum()
    }

    /// How many processors the process has had work for since an earlier moment: 1.0 is one thread that never
    /// waits. A busy machine does not make it less.
    pub fn demand_since(&self, earlier: &Self) -> f64 {
        self.threads.keys().map(|number| self.demand_of(*number, earlier)).sum()
    }

    /// The same for one thread.
    pub fn demand_of(&self, thread: u32, earlier: &Self) -> f64 {
        let of = |usage: &Self| usage.threads.get(&thread).copied().unwrap_or_default();
        let (first, last) = (of(earlier), of(self));
        let computed = last.computed.saturating_sub(first.computed);
        let queued = last.queued.saturating_sub(first.queued);
        let wanted = computed + queued.min(computed * CROWD);
        let passed = self.at.saturating_duration_since(earlier.at);
        if passed.is_zero() { 0.0 } else { wanted.as_secs_f64() / passed.as_secs_f64() }
    }
}

fn read(text: &str) -> Option<ThreadUsage> {
    let mut numbers = text.split_whitespace().map(str::parse);
    let mut next = || numbers.next()?.ok().map(Duration::from_nanos);
    Some(ThreadUsage { computed: next()?, queued: next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_stat_lines_are_parsed() {
        let read = read("1500000000 250000000 42\n");
        let expected =
            ThreadUsage { computed: Duration::from_millis(1500), queued: Duration::from_millis(250) };
        assert_eq!(read, Some(expected));
        assert_eq!(super::read("nonsense"), None);
    }

    #[test]
    fn demand_includes_time_waiting_for_a_cpu() {
        let earlier = Usage { at: Instant::now(), threads: BTreeMap::new() };
        let thread = |computed, queued| ThreadUsage {
            computed: Duration::from_millis(computed),
            queued: Duration::from_millis(queued),
        };
        let threads = [(1, thread(300, 500)), (2, thread(200, 0))].into();
        let later = Usage { at: earlier.at + Duration::from_secs(1), threads };
        assert!((later.demand_since(&earlier) - 1.0).abs() < 1e-9);
        assert!((later.demand_of(1, &earlier) - 0.8).abs() < 1e-9);
        assert!(later.demand_since(&later).abs() < 1e-9, "no time has passed");
    }

    #[test]
    fn a_briefly_woken_thread_has_no_demand() {
        let earlier = Usage { at: Instant::now(), threads: BTreeMap::new() };
        let idle = ThreadUsage { computed: Duration::from_millis(5), queued: Duration::from_millis(900) };
        let later = Usage { at: earlier.at + Duration::from_secs(1), threads: [(1, idle)].into() };
        assert!((later.demand_of(1, &earlier) - 0.255).abs() < 1e-9);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_threads() {
        assert!(!Usage::of(std::process::id()).unwrap().threads.is_empty());
        assert_eq!(Usage::of(u32::MAX >> 1), None);
    }
}
