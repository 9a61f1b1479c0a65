//! What a program is doing, seen without stopping it.

use std::time::Duration;

use super::ids::{RawId, TargetId, ThreadId};
use super::source::Location;

/// What one process, or one worker thread, was doing while samples were taken, and what it waits for now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Its threads.
    pub threads: Vec<ThreadActivity>,
    /// What it has under way apart from what its threads are blocked by: timers, sockets, tasks, promises.
    pub pending: Vec<Waiting>,
    /// How long it was paused for that.
    pub paused: Duration,
}

/// What a process of a session was doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessActivity {
    /// Which.
    pub target: TargetId,
    /// The operating system's number, when it runs on this machine.
    pub pid: Option<u32>,
    /// The session's numbers of its threads, in the order of `activity.threads`.
    pub numbers: Vec<ThreadId>,
    /// What it was doing.
    pub activity: Activity,
}

/// What a thread was doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadActivity {
    /// The debugger's number.
    pub thread: RawId,
    /// Its name.
    pub name: String,
    /// The operating system's number, where it is known.
    pub os_thread: Option<u32>,
    /// The process can end without it.
    pub is_daemon: bool,
    /// How many samples were taken of it.
    pub samples: u64,
    /// Where it was in them: the calls that it began with, outermost first.
    pub calls: Vec<CallNode>,
    /// Where it was at the last sample, innermost first. Empty when it ran none of the language's code.
    pub stack: Vec<SampledFrame>,
    /// What blocks it; nothing if it computes, or if that is unknown.
    pub blocked: Option<Waiting>,
}

/// A call in merged samples: the same function, called from the same calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallNode {
    /// The function, as the language names it.
    pub function: String,
    /// Where the function begins; none for native code.
    pub location: Option<Location>,
    /// How many samples were in it, calls of it included.
    pub total: u64,
    /// The lines that it was on, with the number of samples; ascending. For a call that had called another, only if
    /// the debugger reports them.
    pub lines: Vec<(u32, u64)>,
    /// What it called.
    pub calls: Vec<CallNode>,
}

/// A function that an event loop calls again and again: each call of it comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// The function, as the language names it.
    pub function: String,
    /// Where it begins.
    pub location: Option<Location>,
    /// How often it was called at least.
    pub calls: u64,
}

/// A frame in a sample. It cannot be inspected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledFrame {
    /// The function, as the language names it.
    pub function: String,
    /// Where it was; none for native code.
    pub location: Option<Location>,
}

/// Something that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// What kind of thing.
    pub kind: WaitKind,
    /// The same in words that continue `waits for`: `a timer of 5000 ms`, `a lock that has no name`.
    pub what: String,
    /// Where the code is that waits, where that is known.
    pub location: Option<Location>,
    /// The wait has a timeout.
    pub is_timed: bool,
    /// The threads of this process that can end the wait: the holder of the lock, the joined thread. Empty if there
    /// is none in particular. For a waiting task, these are tasks.
    pub holders: Vec<RawId>,
    /// The task that waits, where it is known which.
    pub task: Option<Task>,
}

/// A task of an event loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What no other task of its process has.
    pub number: RawId,
    /// Its name.
    pub name: String,
    /// The function of the user's that it is in; empty where there is none.
    pub function: String,
}

/// What kind of thing is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitKind {
    /// A lock, a condition, a semaphore, an empty queue: whatever another thread gives.
    Lock,
    /// The same between processes, and none of this process has it.
    Process,
    /// The end of another thread.
    Thread,
    /// The end of another process.
    Child,
    /// Standard input.
    Input,
    /// Data on a connection.
    Socket,
    /// Connections to a port.
    Server,
    /// Another file, pipe or terminal.
    File,
    /// A point in time.
    Timer,
    /// A task of an event loop.
    Task,
    /// A promise that is not settled.
    Promise,
    /// A worker thread.
    Worker,
    /// Something else.
    Other,
}

impl WaitKind {
    /// All, with the words by which programs tell of them and reports name them.
    const NAMES: [(Self, &str); 13] = [
        (Self::Lock, "lock"),
        (Self::Process, "process"),
        (Self::Thread, "thread"),
        (Self::Child, "child"),
        (Self::Input, "input"),
        (Self::Socket, "socket"),
        (Self::Server, "server"),
        (Self::File, "file"),
        (Self::Timer, "timer"),
        (Self::Task, "task"),
        (Self::Promise, "promise"),
        (Self::Worker, "worker"),
        (Self::Other, "other"),
    ];

    /// Its word.
    pub fn as_str(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("other", |(_, name)| name)
    }

    /// The kind of a word; something else for one that is not known.
    pub fn named(name: &str) -> Self {
        Self::NAMES.iter().find(|(_, known)| *known == name).map_or(Self::Other, |(kind, _)| *kind)
    }
}
