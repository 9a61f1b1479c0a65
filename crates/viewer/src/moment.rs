//! The state when an entry was written, reconstructed from the entries before it.
//!
//! Everything in it is for display: control characters in texts of programs are escaped.

mod inline;
pub(crate) mod shown;
pub(crate) mod walk;

use journal::entry::{BreakpointChange, Location, SourceWindow, Variable};

use crate::log::Log;

/// One session at one entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moment {
    /// The session's id.
    pub session_id: String,
    /// Its name.
    pub session_name: String,
    /// Its language.
    pub language: String,
    /// As in [`crate::log::LoggedSession`].
    pub state: &'static str,
    /// The reason, for display: `breakpoint`, `exited with code 0`.
    pub reason: Option<String>,
    /// What follows is of the last stop: its program has ended since.
    pub is_past: bool,
    /// The stop was at an exception.
    pub is_exception: bool,
    /// What the debugger adds to the stop, such as the exception.
    pub description: Option<String>,
    /// Where it is suspended.
    pub location: Option<Location>,
    /// The source around that.
    pub source: Option<SourceWindow>,
    /// The breakpoints that are set.
    pub breakpoints: Vec<BreakpointChange>,
    /// The frames, innermost first.
    pub stack: Vec<Location>,
    /// The variables of the innermost frame, as far as they were read at this stop.
    pub variables: Vec<ComparedVariable>,
    /// They were read, also when there are none.
    pub is_read: bool,
    /// The last output, oldest first.
    pub output: Vec<Line>,
    /// Where an editor can attach, as `127.0.0.1:4711`.
    pub editor: Option<String>,
}

/// A variable, compared with the stop before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparedVariable {
    /// What it is now.
    pub variable: Variable,
    /// Its value at the stop before, where that was another one and in the same function.
    pub before: Option<String>,
    /// It was not there at the stop before, which was in the same function.
    pub is_new: bool,
    /// What it consists of, as far as that was read at this stop.
    pub parts: Vec<ComparedVariable>,
    /// How many more parts it has.
    pub more: u64,
}

/// A piece of output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// `stdout`, `stderr`, `log` or `console`.
    pub category: String,
    /// The text, with escape sequences shown.
    pub text: String,
    /// How many bytes before it are not in the journal.
    pub omitted: u64,
    /// It is not output: a run ended, as the text says, and the rest belongs to the next one.
    pub is_divider: bool,
}

impl Moment {
    /// The state of a session (an index into [`Log::sessions`]) when the entry of that number was written.
    /// Reads a bounded number of entries before it, however many there are.
    pub fn at(log: &Log, session: usize, number: usize) -> Self {
        walk::moment(log, session, number)
    }
}

#[cfg(test)]
mod tests;
