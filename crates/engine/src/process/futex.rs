//! Futexes on which threads wait, and who holds a mutex of the C library.
//!
//! `/proc/PID/task/TID/syscall` (`proc_pid_syscall(5)`) has the arguments of the system call that a thread is in:
//! the address of the futex, the value that it is expected to have, and where the timeout is.

use super::proc::{SystemCall, memory};

/// The operations that wait, without their flags (`futex(2)`).
const WAITS: [u64; 5] = [0, 6, 9, 11, 13];
/// `FUTEX_PRIVATE_FLAG`.
const PRIVATE: u64 = 0x80;
/// What is not a flag.
const OPERATION: u64 = 0x7f;
/// Where glibc and musl have the owner in a mutex: after the lock and, in glibc, the count.
const OWNER: u64 = if cfg!(target_env = "musl") { 4 } else { 8 };

/// The system calls by which a thread waits: `futex`, and the continuation of an interrupted one.
#[cfg(target_arch = "x86_64")]
const CALLS: [u64; 2] = [202, 219];
#[cfg(not(target_arch = "x86_64"))]
const CALLS: [u64; 2] = [98, 128];

/// A futex on which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Futex {
    /// Where it is in the memory of its process.
    pub address: u64,
    /// The value while the wait lasts.
    pub expected: u64,
    /// The wait has a timeout.
    pub is_timed: bool,
    /// Others than the threads of its process may wake it: `FUTEX_PRIVATE_FLAG` is not set.
    pub is_shared: bool,
}

impl Futex {
    /// The one that a thread of a process waits on; none if it does something else.
    pub fn of(pid: u32, thread: u32) -> Option<Self> {
        Self::of_call(SystemCall::of(pid, thread).ok()??)
    }

    fn of_call(call: SystemCall) -> Option<Self> {
        let [address, operation, expected, timeout] = call.arguments;
        let is_wait = CALLS.contains(&call.number) && WAITS.contains(&(operation & OPERATION));
        is_wait.then_some(Self {
            address,
            expected: expected & 0xffff_ffff,
            is_timed: timeout != 0,
            is_shared: operation & PRIVATE == 0,
        })
    }

    /// The thread that holds the mutex that this is the lock of; none if its memory cannot be read, or the mutex is
    /// free.
    pub fn owner(&self, pid: u32) -> Option<u32> {
        memory(pid, self.address + OWNER).map(u32::from_ne_bytes).filter(|owner| *owner != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn futexes_are_read_from_system_calls() {
        let futex =
            |address, expected, is_timed, is_shared| Some(Futex { address, expected, is_timed, is_shared });
        let number = CALLS[0];
        let table = [
            (format!("{number} 0x55a0 0x80 0x2 0x0 0x0 0x0 0x7f 0x7f"), futex(0x55a0, 2, false, false)),
            (
                format!("{number} 0x55a0 0x189 0xffffffff 0x7ff0 0x0 0xffffffff 0x7f 0x7f"),
                futex(0x55a0, 0xffff_ffff, true, false),
            ),
            (
                format!("{number} 0x55a0 0x109 0x3039 0x0 0x0 0xffffffff 0x7f 0x7f"),
                futex(0x55a0, 12345, false, true),
            ),
            (format!("{number} 0x55a0 0x81 0x1 0x0 0x0 0x0 0x7f 0x7f"), None),
            ("0 0x0 0x7ffd 0x400 0x0 0x0 0x0 0x7ffd 0x7f1a".to_owned(), None),
        ];
        for (text, expected) in table {
            assert_eq!(SystemCall::read(&text).and_then(Futex::of_call), expected, "{text}");
        }
    }
}
