//! What goroutines wait for, and which locks a goroutine holds, by its source.
//!
//! A `sync.Mutex` does not record its owner. A goroutine holds one if its function has locked it before the current
//! line and has not unlocked it, as far as the tokens show.

use super::super::braces::{Token, closing, tokens};
use super::super::plan::{HolderRecord, StackWait};
use crate::model::activity::WaitKind;

/// The reason that the runtime gives, what it means, and whether the wait has a time limit.
const REASONS: [(&str, WaitKind, &str, bool); 14] = [
    ("sleep", WaitKind::Timer, "a sleep to end", true),
    ("chan receive (nil chan)", WaitKind::Lock, "a message on a nil channel, which never arrives", false),
    ("chan receive", WaitKind::Lock, "a message on a channel", false),
    ("chan send (nil chan)", WaitKind::Lock, "a receiver on a nil channel, which never arrives", false),
    ("chan send", WaitKind::Lock, "a receiver on a channel", false),
    ("select (no cases)", WaitKind::Lock, "nothing: a `select` without cases never ends", false),
    // One of its channels may be that of a timer.
    ("select", WaitKind::Lock, "one of the channels of a `select`", true),
    ("sync.Mutex.Lock", WaitKind::Lock, "a mutex", false),
    ("sync.RWMutex.Lock", WaitKind::Lock, "a read-write mutex, to write", false),
    ("sync.RWMutex.RLock", WaitKind::Lock, "a read-write mutex, to read", false),
    ("sync.Cond.Wait", WaitKind::Lock, "a condition variable", false),
    ("sync.WaitGroup.Wait", WaitKind::Lock, "the counter of a `WaitGroup` to become 0", false),
    ("semacquire", WaitKind::Lock, "another goroutine", false),
    ("IO wait", WaitKind::Socket, "data on a connection", false),
];
/// Functions that say more than the reason, or that wait in a system call, for which there is no reason.
const FUNCTIONS: [(&str, WaitKind, &str); 5] = [
    (".Accept", WaitKind::Server, "an incoming connection"),
    ("os.(*Process).Wait", WaitKind::Child, "the end of another process"),
    ("net.Dial", WaitKind::Socket, "a connection to be established"),
    ("os.(*File).Read", WaitKind::File, "data from a file, a pipe or standard input"),
    ("os.(*File).Write", WaitKind::File, "room in a file or a pipe"),
];
/// Calls into the kernel, at the top of a stack that waits there.
const KERNEL: [&str; 2] = ["syscall.Syscall6", "syscall.RawSyscall6"];

/// What a goroutine waits for, by its name, `goroutine 5: work [chan receive]`, and by the functions that the user's code
/// has called, innermost first.
pub(super) fn by_stack(name: &str, functions: &[&str]) -> Option<StackWait> {
    let reason = name.strip_suffix(']').and_then(|name| name.rsplit_once(" [")).map(|(_, reason)| reason);
    let is_in_kernel = functions.iter().any(|function| KERNEL.iter().any(|call| function.ends_with(call)));
    let wait = |kind, what: &str, is_timed| StackWait {
        kind,
        what: what.to_owned(),
        is_timed,
        holder: HolderRecord::None,
    };
    let known = FUNCTIONS.iter().find(|(part, ..)| functions.iter().any(|function| function.contains(part)));
    if let Some((_, kind, what)) =
        known.filter(|_| reason == Some("IO wait") || (reason.is_none() && is_in_kernel))
    {
        return Some(wait(*kind, what, false));
    }
    let (_, kind, what, is_timed) = REASONS.iter().find(|(known, ..)| reason == Some(*known))?;
    Some(wait(*kind, what, *is_timed))
}

/// Whether a goroutine is the one that the runtime of a program with cgo has for a thread of C which calls Go, by its
/// functions. No code runs in it.
pub(super) fn is_spare(functions: &[&str]) -> bool {
    functions == ["runtime.goexit"]
}

/// In a frame of the function in which a goroutine waits for a lock, an expression for the lock's address.
pub(super) fn awaited_lock(function: &str) -> Option<&'static str> {
    match function {
        "sync.(*Mutex).Lock" => Some("uintptr(m)"),
        "sync.(*RWMutex).Lock" | "sync.(*RWMutex).RLock" => Some("uintptr(rw)"),
        _ => None,
    }
}

/// Expressions for the addresses of the locks that a frame at a line may hold. Each lock has two: it is a variable, or
/// behind a pointer.
pub(super) fn held_locks(text: &str, line: u32) -> Vec<String> {
    let tokens = tokens(text);
    let function = innermost_function(&tokens, line);
    let mut held: Vec<String> = Vec::new();
    for (at, token) in function {
        if token.line >= line {
            break;
        }
        let is_call = tokens.get(at + 1).is_some_and(|next| next.is("("));
        let (true, Some((first, lock))) = (is_call, receiver(&tokens, at)) else { continue };
        let is_deferred =
            first.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|token| token.is("defer"));
        match token.text.as_str() {
            "Lock" | "RLock" => held.push(lock),
            "Unlock" | "RUnlock" if !is_deferred => held.retain(|other| *other != lock),
            _ => {}
        }
    }
    held.into_iter().flat_map(|lock| [format!("uintptr(&{lock})"), format!("uintptr({lock})")]).collect()
}

/// The tokens of the innermost function around a line, without those of functions in it.
fn innermost_function(tokens: &[Token], line: u32) -> Vec<(usize, &Token)> {
    let bodies: Vec<(usize, usize)> = (0..tokens.len()).filter_map(|at| body(tokens, at)).collect();
    let at = |index: usize| tokens.get(index).map(|token| token.line).unwrap_or_default();
    let around = bodies.iter().filter(|(open, close)| (at(*open)..=at(*close)).contains(&line));
    let Some((open, close)) = around.max_by_key(|(open, _)| *open).copied() else { return Vec::new() };
    let is_inner = |index: usize| {
        bodies.iter().any(|(from, to)| *from > open && *to < close && (*from..=*to).contains(&index))
    };
    let own = (open..close).filter(|index| !is_inner(*index));
    own.filter_map(|index| Some((index, tokens.get(index)?))).collect()
}

/// The braces of the function whose `func` is at an index.
fn body(tokens: &[Token], at: usize) -> Option<(usize, usize)> {
    tokens.get(at).filter(|token| token.is("func"))?;
    let mut open = at + 1;
    while !tokens.get(open)?.is("{") {
        open = if tokens.get(open)?.is("(") { closing(tokens, open)? } else { open } + 1;
    }
    Some((open, closing(tokens, open)?))
}

/// `account.lock` for the `Lock` of `account.lock.Lock()`, and the index where it begins.
fn receiver(tokens: &[Token], method: usize) -> Option<(usize, String)> {
    let mut first = method;
    while first >= 2 && tokens.get(first - 1)?.is(".") && tokens.get(first - 2)?.is_name() {
        first -= 2;
    }
    let end = method.checked_sub(1).filter(|end| *end > first)?;
    // `items[0].lock` is not taken apart.
    if first > 0 && tokens.get(first - 1)?.is(".") {
        return None;
    }
    Some((first, tokens.get(first..end)?.iter().map(|token| token.text.as_str()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_reasons_are_explained() {
        type Row = (&'static str, &'static [&'static str], Option<(WaitKind, bool)>);
        let table: &[Row] = &[
            (
                "goroutine 1: main [chan receive]",
                &["runtime.gopark", "runtime.chanrecv1"],
                Some((WaitKind::Lock, false)),
            ),
            (
                "goroutine 1: time.Sleep [sleep]",
                &["runtime.gopark", "time.Sleep"],
                Some((WaitKind::Timer, true)),
            ),
            (
                "goroutine 1: x [IO wait]",
                &["internal/poll.(*pollDesc).wait", "net.(*TCPListener).Accept"],
                Some((WaitKind::Server, false)),
            ),
            (
                "goroutine 1: x [IO wait]",
                &["internal/poll.(*pollDesc).wait", "net.(*conn).Read"],
                Some((WaitKind::Socket, false)),
            ),
            (
                "goroutine 1: x",
                &["internal/runtime/syscall.Syscall6", "os.(*File).Read"],
                Some((WaitKind::File, false)),
            ),
            ("goroutine 1: x", &["fmt.Println", "os.(*File).Write"], None),
            ("goroutine 1: main", &[], None),
        ];
        for (name, functions, expected) in table {
            let found = by_stack(name, functions).map(|wait| (wait.kind, wait.is_timed));
            assert_eq!(found, *expected, "{name} {functions:?}");
        }
    }

    #[test]
    fn locks_that_a_function_holds_are_found() {
        let text = "\
func (a *account) move(to *account) {
\ta.lock.Lock()
\tdefer a.lock.Unlock()
\tto.lock.Lock()
\tto.lock.Unlock()
\tgo func() {
\t\tother.Lock()
\t\twait()
\t}()
\titems[0].lock.RLock()
\twait()
}
";
        let held = |line| held_locks(text, line).join(" ");
        assert_eq!(held(2), "");
        assert_eq!(held(4), "uintptr(&a.lock) uintptr(a.lock)");
        assert_eq!(held(5), "uintptr(&a.lock) uintptr(a.lock) uintptr(&to.lock) uintptr(to.lock)");
        assert_eq!(held(8), "uintptr(&other) uintptr(other)");
        assert_eq!(held(11), "uintptr(&a.lock) uintptr(a.lock)");
    }
}
