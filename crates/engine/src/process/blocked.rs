//! What a thread waits for in the operating system.
//!
//! It is told by `/proc/PID/task/TID/syscall` (`proc_pid_syscall(5)`), which a parent may read of its children.

use crate::model::activity::{WaitKind, Waiting};

/// What a thread of a process waits for; nothing when it computes, or the system does not tell.
pub fn blocked(pid: u32, thread: u32) -> Option<Waiting> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/syscall")).ok()?;
    let call = Call::read(&text)?;
    let file = |number: u64| std::fs::read_link(format!("/proc/{pid}/fd/{number}")).ok();
    let name = file(call.first).map(|path| path.display().to_string()).unwrap_or_default();
    let (kind, what) = call.waits_for(&name)?;
    let is_timed = kind == WaitKind::Timer;
    Some(Waiting { kind, what, location: None, is_timed, holders: Vec::new(), task: None })
}

/// A call of the system that has not come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    number: u64,
    /// Its first argument, mostly the number of a file.
    first: u64,
}

impl Call {
    /// `0 0x3 0x7ffc… …`; a thread that computes has `running` in its place.
    fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let first = words.next()?.strip_prefix("0x")?;
        Some(Self { number, first: u64::from_str_radix(first, 16).ok()? })
    }

    /// `file` is what the first argument stands for.
    fn waits_for(self, file: &str) -> Option<(WaitKind, String)> {
        let kind = |calls: &[u64]| calls.contains(&self.number);
        Some(if kind(calls::READ) && self.first == 0 {
            (WaitKind::Input, "standard input".to_owned())
        } else if kind(calls::READ) && file.starts_with("socket:") || kind(calls::RECEIVE) {
            (WaitKind::Socket, "data on a connection".to_owned())
        } else if kind(calls::READ) && file.starts_with("pipe:") {
            (WaitKind::File, "data in a pipe".to_owned())
        } else if kind(calls::READ) {
            (WaitKind::File, format!("data in `{file}`"))
        } else if kind(calls::ACCEPT) {
            (WaitKind::Server, "a connection to come in".to_owned())
        } else if kind(calls::CONNECT) {
            (WaitKind::Socket, "a connection to be made".to_owned())
        } else if kind(calls::WAIT) {
            (WaitKind::Child, "the end of another process".to_owned())
        } else if kind(calls::SLEEP) {
            (WaitKind::Timer, "time to pass".to_owned())
        } else if kind(calls::FUTEX) {
            (WaitKind::Lock, "another thread".to_owned())
        } else if kind(calls::LOCK_FILE) {
            (WaitKind::File, format!("the lock of `{file}`"))
        } else if kind(calls::OPEN) {
            (WaitKind::File, "a file that is being opened, such as a pipe without a writer".to_owned())
        } else {
            return None;
        })
    }
}

/// Numbers of calls, of the kernel's `syscall_64.tbl`.
#[cfg(target_arch = "x86_64")]
mod calls {
    pub(super) const READ: &[u64] = &[0, 17, 19];
    pub(super) const RECEIVE: &[u64] = &[45, 47, 299];
    pub(super) const ACCEPT: &[u64] = &[43, 288];
    pub(super) const CONNECT: &[u64] = &[42];
    pub(super) const WAIT: &[u64] = &[61, 247];
    pub(super) const SLEEP: &[u64] = &[35, 230];
    pub(super) const FUTEX: &[u64] = &[202];
    pub(super) const LOCK_FILE: &[u64] = &[72, 73];
    pub(super) const OPEN: &[u64] = &[2, 257];
}

/// Numbers of calls, of the kernel's `include/uapi/asm-generic/unistd.h`.
#[cfg(not(target_arch = "x86_64"))]
mod calls {
    pub(super) const READ: &[u64] = &[63, 65, 67];
    pub(super) const RECEIVE: &[u64] = &[207, 212, 243];
    pub(super) const ACCEPT: &[u64] = &[202, 242];
    pub(super) const CONNECT: &[u64] = &[203];
    pub(super) const WAIT: &[u64] = &[95, 260];
    pub(super) const SLEEP: &[u64] = &[101, 115];
    pub(super) const FUTEX: &[u64] = &[98];
    pub(super) const LOCK_FILE: &[u64] = &[25, 32];
    pub(super) const OPEN: &[u64] = &[56];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_says_what_is_waited_for() {
        let table = [
            (calls::READ, "0x0", "/dev/pts/1", Some((WaitKind::Input, "standard input"))),
            (calls::READ, "0x5", "pipe:[123]", Some((WaitKind::File, "data in a pipe"))),
            (calls::READ, "0x5", "socket:[123]", Some((WaitKind::Socket, "data on a connection"))),
            (calls::READ, "0x5", "/tmp/fifo", Some((WaitKind::File, "data in `/tmp/fifo`"))),
            (calls::WAIT, "0x1f", "", Some((WaitKind::Child, "the end of another process"))),
            (calls::SLEEP, "0x0", "", Some((WaitKind::Timer, "time to pass"))),
            (calls::LOCK_FILE, "0x4", "/tmp/x", Some((WaitKind::File, "the lock of `/tmp/x`"))),
            (&[1_000_000], "0x0", "", None),
        ];
        for (numbers, first, file, expected) in table {
            let text = format!("{} {first} 0x7ffd 0x400 0x0 0x0 0x0 0x7ffd 0x7f1a", numbers[0]);
            let found = Call::read(&text).unwrap().waits_for(file);
            assert_eq!(found, expected.map(|(kind, what)| (kind, what.to_owned())), "{text}");
        }
        assert_eq!(Call::read("running\n"), None);
    }
}
