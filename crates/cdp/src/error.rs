//! What can go wrong: before there is a connection, and on it.

use std::io;
use std::time::Duration;

/// Why a command has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The connection is closed, or the worker is gone.
    #[error("the connection to the debugger is closed")]
    Closed,
    /// No answer came in time.
    #[error("the debugger did not answer `{command}` within {} ms", deadline.as_millis())]
    Deadline {
        /// The command.
        command: &'static str,
        /// How long it was waited for.
        deadline: Duration,
    },
    /// The debugger refused; the text is its own.
    #[error("{message}")]
    Refused {
        /// The command.
        command: &'static str,
        /// -32000 for almost everything; -32601 for a command that this version does not know.
        code: i64,
        /// The debugger's message, including its details.
        message: String,
    },
    /// The answer does not have the shape that the command calls for, or is too long to be read.
    #[error("cannot read the response to `{command}`: {reason}")]
    Malformed {
        /// The command.
        command: &'static str,
        /// The parser's message.
        reason: String,
    },
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Not the address of an inspector.
    #[error("`{0}` is not an address such as `ws://HOST:PORT/ID`")]
    Address(String),
    /// Nothing listens there, or the connection broke.
    #[error("cannot connect to {place}: {source}")]
    Io {
        /// Host and port.
        place: String,
        /// The system's message.
        source: io::Error,
    },
    /// Nothing that makes sense came in time.
    #[error("no inspector answered at {place} within {} ms", deadline.as_millis())]
    Deadline {
        /// Host and port.
        place: String,
        /// How long it was waited for.
        deadline: Duration,
    },
    /// Something else listens there, or the inspector has no debuggee of that id.
    #[error("{place} is not an inspector: {reason}")]
    NotAnInspector {
        /// Host and port.
        place: String,
        /// What it did instead.
        reason: String,
    },
}
