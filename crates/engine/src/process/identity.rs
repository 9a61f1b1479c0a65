//! A process, distinguished from a later one with the same number.

use serde::{Deserialize, Serialize};

use super::proc::{stat, threads};
use crate::deadlines;
use crate::model::stop::End;

/// A process of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its number.
    pub pid: u32,
    /// When it was started, as the system counts; none if the system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
}

impl Identity {
    /// This process.
    pub fn own() -> Self {
        Self::of(std::process::id())
    }

    /// The process that has this number now.
    pub fn of(pid: u32) -> Self {
        Self { pid, started: started(pid) }
    }

    /// Whether it is running. A zombie is not.
    pub fn is_alive(self) -> bool {
        match self.started {
            Some(time) => started(self.pid) == Some(time),
            None => super::exists(self.pid),
        }
    }

    /// How it ended. None while one of its threads is there, or if the system does not report it.
    pub fn end(self) -> Option<End> {
        let Some(status) = stat(self.pid) else { return self.started.map(|_| End::Gone) };
        let mut fields = status.split_whitespace().skip(19);
        let time: u64 = fields.next()?.parse().ok()?;
        if self.started.is_some_and(|started| started != time) {
            return Some(End::Gone);
        }
        if threads(self.pid).into_iter().any(|thread| started(thread).is_some()) {
            return None;
        }
        // Field 52, as `wait(2)` has it. It is 0, too, if it may not be read.
        let code: i32 = fields.nth(29)?.parse().ok()?;
        Some(match (code & 0x7f, code >> 8) {
            (0, 0) => End::Gone,
            (0, code) => End::Exited(code),
            (signal, _) => End::Killed { signal, by_us: false },
        })
    }
}

/// The time in clock ticks since the system was started (field 22 of `proc_pid_stat(5)`).
fn started(pid: u32) -> Option<u64> {
    let status = stat(pid)?;
    let mut fields = status.split_whitespace();
    let state = fields.next()?;
    let time = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(time)
}

/// Whether a signal such as SIGSTOP has stopped a process. False if the system does not report it.
pub(super) fn is_stopped(pid: u32) -> bool {
    stat(pid).is_some_and(|status| status.starts_with('T'))
}

/// The child processes of a process's threads (`proc_tid_children(5)`), if the system reports them.
pub(super) fn children(pid: u32) -> Vec<u32> {
    let lists = |thread| std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).ok();
    let children = threads(pid).into_iter().filter_map(lists);
    let numbers =
        |text: String| text.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>();
    children.flat_map(numbers).collect()
}

/// The group of a process that has not ended (field 5 of `proc_pid_stat(5)`).
pub(super) fn group(pid: u32) -> Option<u32> {
    let status = stat(pid)?;
    let mut fields = status.split_whitespace();
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(group)
}

/// The variables that a process was started with, each ended by a NUL. None if the system does not report them.
pub(super) fn environment(pid: u32) -> Option<Vec<u8>> {
    let mut environment = Vec::new();
    for _ in 0..LOOKS {
        environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        match room_for_variables(pid) {
            // It becomes another program, and what was read may be of the one before.
            Some(room) if room != environment.len() => std::thread::sleep(deadlines::EXEC),
            _ => break,
        }
    }
    Some(environment)
}

/// How often it is looked whether a process has become another program.
const LOOKS: usize = 100;

/// How many bytes the variables of a process take (fields 50 and 51 of `proc_pid_stat(5)`, where they begin and end);
/// as good as endless inside `execve`, which sets where the code begins (field 26) after it has copied the variables.
/// None when it has no memory (field 23): it has ended, or is a thread of the kernel.
fn room_for_variables(pid: u32) -> Option<usize> {
    let status = stat(pid)?;
    let mut fields = status.split_whitespace().skip(20);
    let mut next = |skipped| fields.nth(skipped)?.parse::<usize>().ok();
    let (memory, code, begin, end) = (next(0)?, next(2)?, next(23)?, next(0)?);
    (memory > 0).then(|| if code == 0 { usize::MAX } else { end.saturating_sub(begin) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_pid_is_not_the_same_process() {
        let own = Identity::own();
        assert!(own.is_alive());
        let earlier = Identity { started: own.started.map(|time| time.wrapping_sub(1)), ..own };
        assert_eq!(earlier.is_alive(), own.started.is_none());
        assert!(!Identity { pid: u32::MAX >> 1, ..own }.is_alive());
    }
    #[cfg(target_os = "linux")]
    #[expect(clippy::disallowed_methods, reason = "a program of the test, which ends it")]
    #[test]
    fn a_process_stopped_by_a_signal_is_detected() {
        use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
        let mut program = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = Pid::from_child(&program);
        assert!(!is_stopped(program.id()));
        kill_process(pid, Signal::STOP).unwrap();
        // It is stopped once its parent has been notified.
        waitpid(Some(pid), WaitOptions::UNTRACED).unwrap();
        assert!(is_stopped(program.id()));
        program.kill().unwrap();
        program.wait().unwrap();
        assert!(!is_stopped(program.id()));
    }
}
