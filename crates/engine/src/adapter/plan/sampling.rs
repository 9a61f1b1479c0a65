//! How programs are sampled whose debugger reports nothing while they run, and what their threads wait for.

use crate::model::activity::WaitKind;

/// How a program is sampled whose debugger reports nothing while it runs: it is paused, and all stacks are read.
#[derive(Clone, Copy, Debug)]
pub struct StackSampling {
    /// The debugger's IDs of threads are the operating system's, or it reports these, too.
    pub has_os_threads: bool,
    /// A pause ends the system call that the program waits in, so that it is not paused in one.
    pub ends_calls: bool,
    /// Whether a thread is one that the runtime keeps and that runs nothing, by its functions, innermost first.
    pub is_spare: fn(&[&str]) -> bool,
    /// What a thread waits for, by its name and by the functions on its stack that are not the user's, innermost first.
    pub wait: fn(&str, &[&str]) -> Option<StackWait>,
    /// How the holders of locks are found, where the locks do not record them.
    pub locks: Option<LockSearch>,
}

/// How the holder of a lock is found that does not record it: by the address of the lock.
#[derive(Clone, Copy, Debug)]
pub struct LockSearch {
    /// In a frame of a function that waits for a lock, an expression for the lock's address.
    pub awaited: fn(&str) -> Option<&'static str>,
    /// Expressions for the addresses of the locks that a frame at a line of a source may hold.
    pub held: fn(&str, u32) -> Vec<String>,
}

/// What a thread waits for, as far as its stack shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackWait {
    /// What kind of thing.
    pub kind: WaitKind,
    /// The same in words that continue `waits for`.
    pub what: String,
    /// The wait has a timeout.
    pub is_timed: bool,
    /// Where the thread is recorded that can end the wait.
    pub holder: HolderRecord,
}

/// Where the thread is recorded that can end a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HolderRecord {
    /// Nowhere.
    None,
    /// In the mutex of the C library that the thread waits for.
    Mutex,
    /// In the value of the futex, as that of a thread whose end is awaited.
    Value,
}
