//! What a thread waits for in the operating system.
//!
//! `/proc/PID/task/TID/syscall` (`proc_pid_syscall(5)`) shows it, which a parent may read for its children. Signals,
//! such as those of a profiler, briefly wake a waiting thread, which then queues for a processor. So a thread that
//! seems to compute is checked again.

use std::time::Duration;

use tokio::time::sleep;

use super::proc::{SystemCall, memory, stat};
use crate::model::activity::{WaitKind, Waiting};

/// How often a thread that seems to compute is checked.
const LOOKS: u32 = 20;
/// The interval of these checks. On a busy machine, a thread may queue for part of that.
const APART: Duration = Duration::from_millis(5);

/// What a thread of a process waits for; nothing if it computes, or the system does not report it.
pub async fn blocked(pid: u32, thread: u32) -> Option<Waiting> {
    let mut looks = 1..LOOKS;
    let call = loop {
        if let Some(call) = SystemCall::of(pid, thread).ok()? {
            break call;
        }
        looks.next()?;
        sleep(APART).await;
    };
    let number = file_of(call, pid)?;
    let file = std::fs::read_link(format!("/proc/{pid}/fd/{number}"));
    let name = file.map(|path| path.display().to_string()).unwrap_or_default();
    let (kind, what) = waits_for(call, number, &name)?;
    let is_timed = kind == WaitKind::Timer || has_timeout(call);
    Some(Waiting { kind, what, location: None, is_timed, holders: Vec::new(), task: None })
}

/// Whether a thread of a process is in a system call at the moment, which one that computes rarely is. Without an answer
/// of the system, it is.
pub fn is_in_call(pid: u32, thread: u32) -> bool {
    SystemCall::of(pid, thread).map_or(true, |call| call.is_some())
}

/// Whether a thread of a process waits for something; when in doubt, that is so.
pub async fn is_waiting(pid: u32, thread: u32) -> bool {
    for look in 0..LOOKS {
        if look > 0 {
            sleep(APART).await;
        }
        let stat = stat(format_args!("{pid}/task/{thread}"));
        if stat.is_none_or(|state| state.starts_with(['S', 'D'])) {
            return true;
        }
    }
    false
}

/// The number of the file that a call waits for, which mostly is its first argument. Of a poll, only that of a single file
/// is known.
fn file_of(call: SystemCall, pid: u32) -> Option<u64> {
    let [first, second, ..] = call.arguments;
    match (calls::POLL.contains(&call.number), second) {
        (false, _) => Some(first),
        (true, 1) => polled(pid, first),
        (true, _) => None,
    }
}

/// Whether a poll ends by itself. `ppoll(2)` has the address of a time, and `poll(2)` milliseconds, or -1.
fn has_timeout(call: SystemCall) -> bool {
    let [_, _, third, _] = call.arguments;
    let is_endless = if calls::PPOLL.contains(&call.number) { 0 } else { u64::from(u32::MAX) };
    calls::POLL.contains(&call.number) && third & u64::from(u32::MAX) != is_endless
}

/// What a call waits for, with the number and the name of its file.
fn waits_for(call: SystemCall, number: u64, file: &str) -> Option<(WaitKind, String)> {
    let kind = |calls: &[u64]| calls.contains(&call.number);
    let reads = kind(calls::READ) || kind(calls::POLL);
    Some(if reads && number == 0 {
        (WaitKind::Input, "standard input".to_owned())
    } else if reads && file.starts_with("socket:") || kind(calls::RECEIVE) {
        (WaitKind::Socket, "data on a connection".to_owned())
    } else if reads && file.starts_with("pipe:") {
        (WaitKind::File, "data from a pipe".to_owned())
    } else if reads && file.starts_with("anon_inode:") {
        return None;
    } else if reads {
        (WaitKind::File, format!("data from `{file}`"))
    } else if kind(calls::ACCEPT) {
        (WaitKind::Server, "an incoming connection".to_owned())
    } else if kind(calls::CONNECT) {
        (WaitKind::Socket, "a connection to be established".to_owned())
    } else if kind(calls::WAIT) {
        (WaitKind::Child, "the end of another process".to_owned())
    } else if kind(calls::SLEEP) {
        (WaitKind::Timer, "a sleep to end".to_owned())
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

/// The file at this address of a program's memory (`struct pollfd`), if it is polled for something to read.
fn polled(pid: u32, address: u64) -> Option<u64> {
    const POLLIN: u8 = 1;
    let [a, b, c, d, events, _] = memory(pid, address)?;
    let number = u64::from(u32::from_ne_bytes([a, b, c, d]));
    (events & POLLIN != 0).then_some(number)
}

/// Numbers of calls, of the kernel's `syscall_64.tbl`.
#[cfg(target_arch = "x86_64")]
mod calls {
    pub(super) const READ: &[u64] = &[0, 17, 19];
    pub(super) const POLL: &[u64] = &[7, 271];
    pub(super) const PPOLL: &[u64] = &[271];
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
    pub(super) const POLL: &[u64] = &[73];
    pub(super) const PPOLL: &[u64] = POLL;
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
    fn system_calls_name_what_they_wait_for() {
        let table = [
            (calls::READ, "0x0", "/dev/pts/1", Some((WaitKind::Input, "standard input"))),
            (calls::READ, "0x5", "pipe:[123]", Some((WaitKind::File, "data from a pipe"))),
            (calls::READ, "0x5", "socket:[123]", Some((WaitKind::Socket, "data on a connection"))),
            (calls::READ, "0x5", "/tmp/fifo", Some((WaitKind::File, "data from `/tmp/fifo`"))),
            (calls::WAIT, "0x1f", "", Some((WaitKind::Child, "the end of another process"))),
            (calls::SLEEP, "0x0", "", Some((WaitKind::Timer, "a sleep to end"))),
            (calls::LOCK_FILE, "0x4", "/tmp/x", Some((WaitKind::File, "the lock of `/tmp/x`"))),
            (&[1_000_000], "0x0", "", None),
        ];
        for (numbers, first, file, expected) in table {
            let text = format!("{} {first} 0x7ffd 0x400 0x0 0x0 0x0 0x7ffd 0x7f1a", numbers[0]);
            let call = SystemCall::read(&text).unwrap();
            let found = waits_for(call, call.arguments[0], file);
            assert_eq!(found, expected.map(|(kind, what)| (kind, what.to_owned())), "{text}");
        }
    }

    /// Makes a thread repeat an action while it is inspected.
    #[cfg(target_os = "linux")]
    async fn of_thread<T>(turn: fn(), look: impl AsyncFnOnce(u32) -> T) -> T {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicBool, Ordering};

        let is_over = Arc::new(AtomicBool::new(false));
        let (number, told) = tokio::sync::oneshot::channel();
        let until = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let path = std::fs::read_link("/proc/thread-self").unwrap();
            number.send(path.file_name().unwrap().to_str().unwrap().parse().unwrap()).unwrap();
            while !until.load(Ordering::Relaxed) {
                turn();
            }
        });
        let found = look(told.await.unwrap()).await;
        is_over.store(true, Ordering::Relaxed);
        thread.join().unwrap();
        found
    }

    #[test]
    fn a_poll_ends_by_itself_if_it_has_a_timeout() {
        for (number, third, expected) in [
            (calls::POLL[0], "0xffffffff", calls::POLL == calls::PPOLL),
            (calls::PPOLL[0], "0x0", false),
            (calls::PPOLL[0], "0x7ffd", true),
        ] {
            let call = SystemCall::read(&format!("{number} 0x7ffd 0x1 {third} 0x0 0x0 0x0 0x7ffd 0x7f1a"));
            assert_eq!(has_timeout(call.unwrap()), expected, "{number} {third}");
        }
    }

    #[cfg(target_os = "linux")]
    fn compute(time: Duration) {
        let began = std::time::Instant::now();
        while began.elapsed() < time {
            std::hint::spin_loop();
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_briefly_woken_thread_is_waiting() {
        let wakes = || {
            compute(APART / 50);
            // sleep: this is what the thread is to be caught at.
            std::thread::sleep(APART / 5);
        };
        let pid = std::process::id();
        let looks = async |thread| {
            for _ in 0..50 {
                assert!(is_waiting(pid, thread).await);
                assert!(blocked(pid, thread).await.is_some_and(|waiting| waiting.kind == WaitKind::Timer));
            }
        };
        of_thread(wakes, looks).await;
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_computing_thread_is_not_waiting() {
        let pid = std::process::id();
        let look = async |thread| (is_waiting(pid, thread).await, blocked(pid, thread).await);
        assert_eq!(of_thread(|| compute(APART), look).await, (false, None));
    }
}
