//! What a thread waits for in the C library or in Rust's standard library, by the names of their functions.

use crate::adapter::plan::{HolderRecord, StackWait};
use crate::model::activity::WaitKind;

/// A function that waits: its name without what the C library puts in front, or a part of a path of Rust or C++; what
/// it waits for; whether it has a time limit.
type Row = (&'static str, WaitKind, &'static str, bool);

/// In the order in which they are looked for: what calls the others comes first.
const FUNCTIONS: [Row; 44] = [
    ("std::thread::functions::sleep", WaitKind::Timer, "a sleep to end", true),
    ("std::this_thread::sleep", WaitKind::Timer, "a sleep to end", true),
    ("nanosleep", WaitKind::Timer, "a sleep to end", true),
    ("clock_nanosleep", WaitKind::Timer, "a sleep to end", true),
    ("std::sync::mpsc::Receiver::recv_timeout", WaitKind::Lock, "a message on a channel", true),
    ("std::sync::mpsc::Receiver", WaitKind::Lock, "a message on a channel", false),
    ("std::sync::mpsc::SyncSender", WaitKind::Lock, "space in a channel", false),
    ("std::sync::barrier::Barrier::wait", WaitKind::Lock, "the other threads of a barrier", false),
    ("std::sync::once", WaitKind::Lock, "an initialization by another thread", false),
    ("std::sys::sync::once", WaitKind::Lock, "an initialization by another thread", false),
    ("std::sync::poison::condvar::Condvar::wait_timeout", WaitKind::Lock, CONDITION, true),
    ("std::sync::poison::condvar::Condvar", WaitKind::Lock, CONDITION, false),
    ("condvar::futex::Condvar", WaitKind::Lock, CONDITION, false),
    ("rwlock::futex::RwLock", WaitKind::Lock, "a read-write lock, whose holders are not recorded", false),
    ("mutex::futex::Mutex", WaitKind::Lock, "a mutex, whose holder is not recorded", false),
    ("std::thread::functions::park_timeout", WaitKind::Lock, "another thread to unpark it", true),
    ("std::thread::functions::park", WaitKind::Lock, "another thread to unpark it", false),
    ("std::thread::thread::Thread::park", WaitKind::Lock, "another thread to unpark it", false),
    ("std::__future_base", WaitKind::Lock, "the result of a future", false),
    ("std::__atomic_wait", WaitKind::Lock, "the change of an atomic value", false),
    ("std::latch", WaitKind::Lock, "the other threads of a latch", false),
    ("pthread_clockjoin_ex", WaitKind::Thread, THREAD, false),
    ("pthread_timedjoin_np", WaitKind::Thread, THREAD, false),
    ("pthread_join", WaitKind::Thread, THREAD, false),
    ("pthread_cond_wait", WaitKind::Lock, CONDITION, false),
    ("pthread_cond_timedwait", WaitKind::Lock, CONDITION, true),
    ("pthread_cond_timedwait64", WaitKind::Lock, CONDITION, true),
    ("pthread_cond_clockwait", WaitKind::Lock, CONDITION, true),
    ("pthread_cond_clockwait64", WaitKind::Lock, CONDITION, true),
    ("pthread_barrier_wait", WaitKind::Lock, "the other threads of a barrier", false),
    ("pthread_rwlock_rdlock", WaitKind::Lock, "a read-write lock", false),
    ("pthread_rwlock_wrlock", WaitKind::Lock, "a read-write lock", false),
    ("pthread_mutex_lock", WaitKind::Lock, MUTEX, false),
    ("pthread_mutex_timedlock", WaitKind::Lock, MUTEX, true),
    ("pthread_mutex_clocklock", WaitKind::Lock, MUTEX, true),
    ("new_sem_wait", WaitKind::Lock, "a semaphore", false),
    ("sem_wait", WaitKind::Lock, "a semaphore", false),
    ("poll", WaitKind::Socket, "events of file descriptors (`poll`)", false),
    ("ppoll", WaitKind::Socket, "events of file descriptors (`ppoll`)", false),
    ("select", WaitKind::Socket, "events of file descriptors (`select`)", false),
    ("epoll_wait", WaitKind::Socket, "events of file descriptors (`epoll_wait`)", false),
    ("epoll_pwait", WaitKind::Socket, "events of file descriptors (`epoll_pwait`)", false),
    ("pause", WaitKind::Other, "a signal", false),
    ("sigsuspend", WaitKind::Other, "a signal", false),
];
const MUTEX: &str = "a mutex";
const CONDITION: &str = "a condition variable";
const THREAD: &str = "the end of a thread";

/// What a thread waits for, by the functions that the user's code has called, innermost first.
pub(super) fn by_stack(_thread: &str, functions: &[&str]) -> Option<StackWait> {
    let names: Vec<String> = functions.iter().map(|function| plain(function)).collect();
    let is_in = |name: &str| {
        let is_path = name.contains("::");
        names.iter().any(|function| if is_path { function.contains(name) } else { function == name })
    };
    let (_, kind, what, is_timed) = FUNCTIONS.iter().copied().find(|(name, ..)| is_in(name))?;
    let holder = match what {
        MUTEX => HolderRecord::Mutex,
        THREAD => HolderRecord::Value,
        _ => HolderRecord::None,
    };
    Some(StackWait { kind, what: what.to_owned(), is_timed, holder })
}

/// A function without what its library puts around its name: `pthread_mutex_lock` for `___pthread_mutex_lock`,
/// `std::sync::mpsc::Receiver::recv` for `std::sync::mpsc::Receiver<T>::recv`.
fn plain(function: &str) -> String {
    let function = function.strip_suffix(" [inlined]").unwrap_or(function).trim_start_matches('_');
    // `pthread_cond_wait@@GLIBC_2.3.2`: symbols of a library without debug information can have their version.
    let function = function.split_once('@').map_or(function, |(name, _)| name);
    let function = function.strip_prefix("GI_").unwrap_or(function).trim_start_matches('_');
    let function = function.strip_prefix("libc_").unwrap_or(function);
    // `<std::thread::thread::Thread>::park`: the brackets are around the type.
    let function = match function.strip_prefix('<').and_then(|rest| rest.split_once(">::")) {
        Some((of, method)) if !of.contains([' ', '<']) => format!("{of}::{method}"),
        _ => function.to_owned(),
    };
    let mut depth = 0_usize;
    let mut name = String::new();
    for letter in function.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => name.push(letter),
            _ => {}
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_show_what_threads_wait_for() {
        type Expected = Option<(WaitKind, &'static str, bool, HolderRecord)>;
        let table: &[(&[&str], Expected)] = &[
            (
                &[
                    "futex_wait",
                    "__GI___lll_lock_wait",
                    "lll_mutex_lock_optimized",
                    "___pthread_mutex_lock",
                    "std::mutex::lock",
                ],
                Some((WaitKind::Lock, "a mutex", false, HolderRecord::Mutex)),
            ),
            (
                &["__GI___clock_nanosleep", "__GI___nanosleep", "__sleep"],
                Some((WaitKind::Timer, "a sleep to end", true, HolderRecord::None)),
            ),
            (
                &["___pthread_cond_clockwait64", "std::__condvar::wait_until"],
                Some((WaitKind::Lock, "a condition variable", true, HolderRecord::None)),
            ),
            (
                &[
                    "syscall",
                    "std::sys::pal::unix::futex::futex_wait",
                    "<std::sys::sync::mutex::futex::Mutex>::lock_contended",
                    "std::sync::poison::mutex::Mutex<T>::lock",
                ],
                Some((WaitKind::Lock, "a mutex, whose holder is not recorded", false, HolderRecord::None)),
            ),
            (
                &[
                    "<std::thread::thread::Thread>::park",
                    "std::sync::mpmc::context::Context::wait_until",
                    "std::sync::mpsc::Receiver<T>::recv",
                ],
                Some((WaitKind::Lock, "a message on a channel", false, HolderRecord::None)),
            ),
            (
                &["std::thread::functions::park"],
                Some((WaitKind::Lock, "another thread to unpark it", false, HolderRecord::None)),
            ),
            (
                &["__pthread_clockjoin_ex"],
                Some((WaitKind::Thread, "the end of a thread", false, HolderRecord::Value)),
            ),
            (
                &["pthread_cond_wait@@GLIBC_2.3.2"],
                Some((WaitKind::Lock, "a condition variable", false, HolderRecord::None)),
            ),
            (
                &["__GI___poll"],
                Some((WaitKind::Socket, "events of file descriptors (`poll`)", false, HolderRecord::None)),
            ),
            (&["memcpy"], None),
            (&[], None),
        ];
        for (functions, expected) in table {
            let found =
                by_stack("", functions).map(|wait| (wait.kind, wait.what, wait.is_timed, wait.holder));
            let expected =
                expected.map(|(kind, what, is_timed, holder)| (kind, what.to_owned(), is_timed, holder));
            assert_eq!(found, expected, "{functions:?}");
        }
    }
}
