//! What `/proc` says of processes (`proc(5)`). Nothing on a system that has none.

use std::fmt::Display;
use std::io;
use std::os::unix::fs::FileExt;

/// The numbers of all processes.
pub(super) fn all() -> Vec<u32> {
    numbers("/proc")
}

/// The numbers of the threads of a process. None if it is gone, or the system does not report them.
pub fn threads(pid: u32) -> Vec<u32> {
    numbers(&format!("/proc/{pid}/task"))
}

/// The address of the next instruction of the only thread of a process that is not in a system call, if there is one.
pub fn only_computing(pid: u32) -> Option<String> {
    let read = |thread| std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/syscall"));
    let texts: Vec<_> = threads(pid).into_iter().map(|thread| read(thread).unwrap_or_default()).collect();
    let mut computing = texts.iter().filter(|text| SystemCall::read(text).is_none());
    // `-1 0x7ffc… 0x4991a4`, with the address of the stack before it.
    let address = computing.next()?.strip_prefix("-1 ")?.split_whitespace().nth(1)?;
    computing.next().is_none().then(|| address.to_owned())
}

/// The numbers of the open files of a process. None if the system does not report them.
pub(super) fn descriptors(pid: u32) -> Vec<u32> {
    numbers(&format!("/proc/{pid}/fd"))
}

fn numbers(folder: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// `stat` of a process, or of a thread (`PID/task/TID`), from its state on.
pub(super) fn stat(of: impl Display) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{of}/stat")).ok()?;
    // The name before it, in parentheses, may hold anything.
    Some(text.rsplit_once(')')?.1.trim_start().to_owned())
}

/// A line of `status`, by its name.
pub(super) fn status(pid: u32, name: &str) -> Option<String> {
    line_of(&std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?, name)
}

fn line_of(status: &str, name: &str) -> Option<String> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().to_owned())
}

/// Whether a process has a handler for a signal, or ignores it.
pub fn survives(pid: u32, signal: i32) -> bool {
    ["SigCgt", "SigIgn"].iter().any(|mask| has_signal(pid, mask, signal))
}

/// Whether a mask of signals in `status` has one.
pub(super) fn has_signal(pid: u32, mask: &str, signal: i32) -> bool {
    status(pid, mask).is_some_and(|mask| is_in_mask(&mask, signal))
}

fn is_in_mask(mask: &str, signal: i32) -> bool {
    let mask = u64::from_str_radix(mask, 16).unwrap_or_default();
    u32::try_from(signal - 1).ok().and_then(|at| mask.checked_shr(at)).is_some_and(|rest| rest & 1 == 1)
}

/// Some bytes of the memory of a process, if it may be read.
pub(super) fn memory<const LENGTH: usize>(pid: u32, address: u64) -> Option<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    std::fs::File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(&mut bytes, address).ok()?;
    Some(bytes)
}

/// Whether the instruction at an address, `0x4991a4`, is one that a debugger has put there to stop the program.
pub fn is_trap(pid: u32, address: &str) -> bool {
    let address = address.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    // `brk #0` or `int3`.
    if cfg!(target_arch = "aarch64") {
        address.and_then(|address| memory(pid, address)) == Some([0, 0, 0x20, 0xd4])
    } else {
        address.and_then(|address| memory(pid, address)) == Some([0xcc])
    }
}

/// A system call that has not come back: its number and its first arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SystemCall {
    pub(super) number: u64,
    pub(super) arguments: [u64; 4],
}

impl SystemCall {
    /// The one that a thread of a process is in; none while it computes. An error if the system does not report it.
    pub(super) fn of(pid: u32, thread: u32) -> io::Result<Option<Self>> {
        std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/syscall")).map(|text| Self::read(&text))
    }

    /// `0 0x3 0x7ffc… …`; for a computing thread, `running` instead.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
        Some(Self { number, arguments: [argument()?, argument()?, argument()?, argument()?] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_a_bit_for_each_signal() {
        let status = "Name:\tx\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000000201\n";
        let has = |name, signal| line_of(status, name).is_some_and(|mask| is_in_mask(&mask, signal));
        let caught: Vec<_> = (0..=65).filter(|signal| has("SigCgt", *signal)).collect();
        assert_eq!((caught, has("SigIgn", 13)), (vec![1, 10], true));
        assert!(!has("SigBlk", 10) && !is_in_mask("nonsense", 10));
    }

    #[test]
    fn system_calls_are_read_with_their_arguments() {
        let call = SystemCall { number: 0, arguments: [0, 0x7ffd, 0x400, 0] };
        assert_eq!(SystemCall::read("0 0x0 0x7ffd 0x400 0x0 0x0 0x0 0x7ffd 0x7f1a\n"), Some(call));
        assert_eq!(SystemCall::read("running\n"), None);
    }
}
