//! Why and where a program is suspended, and how it ended.

use std::fmt;

use super::data_breakpoint::DataChange;
use super::ids::{BreakpointId, TargetId, ThreadId};

/// A program is suspended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Counts the stops of a session; references belong to one.
    pub epoch: u64,
    /// Which process.
    pub target: TargetId,
    /// Which thread.
    pub thread: ThreadId,
    /// Why.
    pub reason: StopReason,
    /// The debugger's addition, for messages.
    pub text: Option<String>,
    /// Breakpoints at which it stopped.
    pub breakpoints: Vec<BreakpointId>,
    /// What happened to watched values, at a data breakpoint.
    pub changes: Vec<DataChange>,
    /// The thread came to it at the same time as another one to the stop shown before: the program has not run since.
    pub is_simultaneous: bool,
}

/// Why a program is suspended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A source or function breakpoint.
    Breakpoint,
    /// A watched value was written or read.
    DataBreakpoint,
    /// A step ended.
    Step,
    /// The first line, as requested.
    Entry,
    /// An exception.
    Exception,
    /// A pause was requested.
    Pause,
    /// Another reason, in the debugger's word.
    Other(String),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Breakpoint => "breakpoint",
            Self::DataBreakpoint => "data breakpoint",
            Self::Step => "step",
            Self::Entry => "entry",
            Self::Exception => "exception",
            Self::Pause => "pause",
            Self::Other(reason) => reason,
        })
    }
}

/// The exception that a thread is stopped at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Its type.
    pub type_name: String,
    /// Its message.
    pub message: String,
    /// Stack and causes, as the language prints them.
    pub stack: String,
    /// Whether the debugger predicts that nothing catches it.
    pub uncaught: bool,
}

/// How much of an exception's message and stack is reported at a stop, in characters.
const TOLD: usize = 8_000;

impl Exception {
    /// The same, with a message and a stack of a length that can be read.
    #[must_use]
    pub fn shortened(self) -> Self {
        Self { message: shortened(self.message), stack: shortened(self.stack), ..self }
    }

    /// Its type and its message.
    pub fn headline(&self) -> String {
        headline(&self.type_name, &self.message)
    }
}

/// The type of an exception, and its message if it has one.
pub fn headline(type_name: &str, message: &str) -> String {
    if message.is_empty() { type_name.to_owned() } else { format!("{type_name}: {message}") }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(TOLD) {
        Some((end, _)) => {
            let all = text.chars().count();
            format!("{}... ({all} characters)", text.get(..end).unwrap_or_default())
        }
        None => text,
    }
}

/// Which exceptions to stop at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExceptionMode {
    /// None.
    None,
    /// Those that nothing catches.
    #[default]
    Uncaught,
    /// Those that no code of the user's catches, whatever a library or a test runner does with them. The stop is
    /// where they are thrown.
    UserUnhandled,
    /// All that are raised.
    All,
}

impl fmt::Display for ExceptionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Uncaught => "uncaught",
            Self::UserUnhandled => "userUnhandled",
            Self::All => "all",
        })
    }
}

/// The exceptions to stop at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExceptionBreakpoints {
    /// Which ones.
    pub mode: ExceptionMode,
    /// Of these, only the ones of which this expression is true. `error` is the thrown value.
    pub condition: Option<String>,
}

impl From<ExceptionMode> for ExceptionBreakpoints {
    fn from(mode: ExceptionMode) -> Self {
        Self { mode, condition: None }
    }
}

/// How a program ended, as far as known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this code.
    Exited(i32),
    /// A signal killed it.
    Killed {
        /// The signal's number.
        signal: i32,
        /// The signal was ours: the session ended it.
        by_us: bool,
    },
    /// It ended, and only its parent knows how: we had attached to it.
    Gone,
    /// It was detached, and keeps running.
    Detached,
    /// The connection to its debugger is gone; how the program is doing is not known.
    Lost,
    /// It never started.
    NotStarted(String),
}

impl End {
    /// The exit code, when there is one.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(*code),
            _ => None,
        }
    }

    /// The name of the signal that killed it.
    pub fn signal(&self) -> Option<String> {
        match self {
            Self::Killed { signal, .. } => Some(signal_name(*signal)),
            _ => None,
        }
    }

    /// Whether machine code crashed: an invalid instruction, address or calculation.
    pub fn is_crash(&self) -> bool {
        matches!(self, Self::Killed { signal: 4 | 7 | 8 | 11, by_us: false })
    }
}

/// The predicate of a sentence that begins with `the program`.
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exited with code {code}"),
            Self::Killed { signal, by_us: false } => write!(f, "was killed by {}", signal_name(*signal)),
            Self::Killed { by_us: true, .. } => f.write_str("was ended by the session"),
            Self::Gone => f.write_str("ended; its exit code is unknown"),
            Self::Detached => f.write_str("was detached and keeps running"),
            Self::Lost => f.write_str("is unreachable: the connection to the debugger is lost"),
            Self::NotStarted(reason) => write!(f, "was not started: {reason}"),
        }
    }
}

/// `SIGSEGV` for 11, and so on; the number where it has no common name.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        17 => "SIGCHLD",
        18 => "SIGCONT",
        19 => "SIGSTOP",
        20 => "SIGTSTP",
        21 => "SIGTTIN",
        22 => "SIGTTOU",
        23 => "SIGURG",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        26 => "SIGVTALRM",
        27 => "SIGPROF",
        31 => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}

/// 11 for `SIGSEGV`, and so on.
pub fn signal_number(name: &str) -> Option<i32> {
    (1..32).find(|signal| signal_name(*signal) == name)
}
