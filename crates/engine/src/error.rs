//! What can go wrong, in a debugger's terms.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::model::ids::{BreakpointId, Reference, ThreadId};

/// The engine's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What there is to say of a program that runs on when its debugger is gone.
pub const UNDEBUGGED: &str = "program runs without a debugger: it replaced itself with another program, or \
                              closed the debugger's connection";

/// What went wrong. Each has a stable code for programs and a readable message.
///
/// Messages start in lower case, have no full stop, put values in backticks and end with what to do next
/// where that is not plain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    // Not now.
    /// The program must be suspended for this.
    #[error("the program is {state}, not paused")]
    NotPaused {
        /// What it is instead.
        state: &'static str,
    },
    /// There must be a running or suspended program for this.
    #[error("no program is being debugged: the session is {state}")]
    NotLive {
        /// What it is instead.
        state: &'static str,
    },
    /// The program runs, and its debugger is gone.
    #[error("the {UNDEBUGGED}")]
    Undebugged,
    /// There is a program already.
    #[error("a program is already being debugged")]
    AlreadyLive,

    // Cannot.
    /// The language, the debugger or the way it was started does not offer this.
    #[error("{0}")]
    Unsupported(String),

    // Not found.
    /// No such breakpoint.
    #[error("no breakpoint `{0}`")]
    NoBreakpoint(BreakpointId),
    /// No such thread.
    #[error("no thread {0}")]
    NoThread(ThreadId),
    /// The number never stood for a frame or a value.
    #[error("{number} is not a {wanted} of this session")]
    NoReference {
        /// What it was taken for.
        wanted: &'static str,
        /// The number.
        number: Reference,
    },
    /// The number is something else.
    #[error("{number} is a {found}, not a {wanted}")]
    WrongReference {
        /// What it was taken for.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
        /// The number.
        number: Reference,
    },
    /// The number stood for something at an earlier stop.
    #[error("{wanted} {number} belongs to an earlier stop: the program has run since then")]
    Stale {
        /// What it was.
        wanted: &'static str,
        /// The number.
        number: Reference,
    },
    /// No such file.
    #[error("no file `{}`", path.display())]
    NoFile {
        /// The path, made absolute.
        path: PathBuf,
        /// Files with a similar name.
        similar: Vec<PathBuf>,
    },
    /// The file is there and cannot be used.
    #[error("`{}` {problem}", path.display())]
    BadFile {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The line cannot hold a breakpoint.
    #[error("line {line} of `{}` {problem}", path.display())]
    NoLine {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u32,
        /// What is wrong with it.
        problem: String,
        /// Lines nearby that can, with their text.
        nearest: Vec<(u32, String)>,
    },
    /// No single line has that text.
    #[error("`{statement}` {problem} in `{}`", path.display())]
    NoStatement {
        /// The file.
        path: PathBuf,
        /// The text.
        statement: String,
        /// What is wrong with it.
        problem: String,
        /// The lines that have it, or that are like it.
        lines: Vec<(u32, String)>,
    },
    /// The expression is invalid in its language.
    #[error("`{expression}` is not a valid expression: {message}")]
    BadExpression {
        /// The text.
        expression: String,
        /// The language's own message.
        message: String,
    },

    // Refused.
    /// The expression raised; the text is the language's own.
    #[error("{message}")]
    Raised {
        /// The type of the exception.
        type_name: String,
        /// Type and message in one line.
        message: String,
        /// The stack as the language prints it; empty where it has none.
        traceback: String,
    },
    /// A name in the expression is unknown; the text is the debugger's own.
    #[error("{0}")]
    UnknownName(String),
    /// The debugger refused; the text is its own.
    #[error("{0}")]
    Refused(String),

    /// The server's settings forbid it.
    #[error("{problem}")]
    Forbidden {
        /// What is not allowed.
        problem: String,
        /// Which rule says so, and what is allowed.
        rule: String,
    },
    /// A limit is reached.
    #[error("{problem}: the limit `{name}` is {value}")]
    Limit {
        /// The limit, as [`bounds`](crate::bounds) has it.
        name: &'static str,
        /// What it is set to.
        value: u64,
        /// How it was reached.
        problem: String,
        /// Who has set it.
        set_by: SetBy,
    },

    // Too long.
    /// It did not answer in time.
    #[error("{what} did not end within {} ms", after.as_millis())]
    Deadline {
        /// What.
        what: String,
        /// How long it was waited for.
        after: Duration,
    },

    // Lost.
    /// The connection to the program is gone.
    #[error("the connection to the program is closed")]
    Lost,
    /// The session was closed meanwhile.
    #[error("the session was closed")]
    Closed,

    // Environment.
    /// Something that the machine lacks.
    #[error("{problem}")]
    Environment {
        /// What is missing or broken.
        problem: String,
        /// What to do about it.
        remedy: String,
    },
    /// The program did not come up.
    #[error("{problem}")]
    StartFailed {
        /// What happened.
        problem: String,
        /// What it printed.
        output: String,
    },
}

impl Error {
    /// A name for the kind of error that does not change between versions.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotPaused { .. } => "not_paused",
            Self::NotLive { .. } => "not_started",
            Self::AlreadyLive => "already_started",
            Self::Unsupported(_) => "unsupported",
            Self::NoBreakpoint(_) => "breakpoint_not_found",
            Self::NoThread(_) => "thread_not_found",
            Self::NoReference { .. } | Self::WrongReference { .. } => "reference_not_found",
            Self::Stale { .. } => "stale_reference",
            Self::NoFile { .. } => "file_not_found",
            Self::BadFile { .. } => "file_unusable",
            Self::NoLine { .. } => "line_unusable",
            Self::NoStatement { .. } => "statement_not_found",
            Self::BadExpression { .. } => "bad_expression",
            Self::Raised { .. } | Self::UnknownName(_) => "evaluation_failed",
            Self::Refused(_) => "refused",
            Self::Forbidden { .. } => "not_allowed",
            Self::Limit { .. } => "limit_reached",
            Self::Deadline { .. } => "deadline_exceeded",
            Self::Lost | Self::Undebugged => "connection_lost",
            Self::Closed => "session_closed",
            Self::Environment { .. } => "environment",
            Self::StartFailed { .. } => "start_failed",
        }
    }
}

/// Who has set a bound, and so where it is raised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SetBy {
    /// The default.
    #[default]
    Default,
    /// A configuration file, with its line.
    File(String),
    /// A variable of the environment.
    Variable(&'static str),
    /// An option of the command line.
    Option(&'static str),
    /// It cannot be raised further.
    Maximum,
}

impl fmt::Display for SetBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("the default"),
            Self::File(place) => write!(f, "set in {place}"),
            Self::Variable(name) => write!(f, "set by the variable {name}"),
            Self::Option(name) => write!(f, "set by the option {name}"),
            Self::Maximum => f.write_str("the maximum"),
        }
    }
}
