//! Whether the server that debugs a session is still there.
//!
//! Sessions are closed in the journal when they end, also by a server that ends in an orderly way. One that was killed
//! closes nothing, so its process is looked for.

use rustix::process::{Pid, test_kill_process};

/// How exactly the system says when a process was started, and clocks are set, in milliseconds.
const TOLERANCE: i64 = 2000;

/// Whether a server with this process id, which wrote its last entry at a time in milliseconds since 1970, has ended.
/// A process that was started later has been given the same id, and is another one.
pub(super) fn is_gone(server: u32, last_entry: i64) -> bool {
    let Some(pid) = i32::try_from(server).ok().and_then(Pid::from_raw) else { return false };
    // A process that may not be signalled belongs to another user, but exists.
    let is_there = !matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH));
    !is_there || started(server).is_none_or(|started| started > last_entry.saturating_add(TOLERANCE))
}

/// When a process was started, in milliseconds since 1970; none for one that has ended and waits for its parent.
#[cfg(target_os = "linux")]
fn started(pid: u32) -> Option<i64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything. After it are the fields of `proc_pid_stat(5)` from the third on.
    let mut fields = status.rsplit_once(')')?.1.split_whitespace();
    if matches!(fields.next()?, "Z" | "X") {
        return None;
    }
    let ticks: i64 = fields.nth(18)?.parse().ok()?;
    let system = std::fs::read_to_string("/proc/stat").ok()?;
    let booted: i64 = system.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    let second = i64::try_from(rustix::param::clock_ticks_per_second()).ok()?.max(1);
    Some(booted * 1000 + ticks.saturating_mul(1000) / second)
}

/// Elsewhere a process of that id is taken for the server.
#[cfg(not(target_os = "linux"))]
fn started(_pid: u32) -> Option<i64> {
    Some(i64::MIN)
}

/// The id of a process that has ended.
#[cfg(test)]
pub(crate) fn ended_process() -> u32 {
    let mut child = tests::process();
    assert!(child.wait().is_ok_and(|status| status.success()));
    child.id()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;
    use crate::clock::now;

    #[expect(clippy::disallowed_methods, reason = "it ends by itself, and is waited for")]
    pub(super) fn process() -> Child {
        Command::new("true").spawn().unwrap()
    }

    #[test]
    fn a_server_lives_as_long_as_its_process() {
        let own = std::process::id();
        assert!(!is_gone(own, now()));
        assert!(is_gone(ended_process(), now()));
        // Process ids that cannot be say nothing.
        assert!(!is_gone(0, now()));
        assert!(!is_gone(u32::MAX, now()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_started_after_the_last_entry_is_another_server() {
        let own = std::process::id();
        let began = started(own).unwrap();
        assert!((now() - 3_600_000..=now() + TOLERANCE).contains(&began), "{began}");
        assert!(is_gone(own, began - TOLERANCE - 1));
        assert!(!is_gone(own, began));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_zombie_server_has_ended() {
        let mut child = process();
        while started(child.id()).is_some() {
            std::thread::yield_now();
        }
        assert!(is_gone(child.id(), now()));
        child.wait().unwrap();
    }
}
