//! Data breakpoints, which stop the program where a value is written or read.

use std::fmt;

use super::ids::{BreakpointId, TargetId};

/// What is watched, and in which process: the storage is known only there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataTarget {
    /// As requested.
    pub expression: String,
    /// Which accesses stop the program.
    pub access: DataAccess,
    /// The process.
    pub target: TargetId,
    /// The debugger's name for the storage.
    pub data_id: String,
}

/// Which accesses stop the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataAccess {
    /// Writing another value.
    #[default]
    Write,
    /// Reading.
    Read,
    /// Both.
    ReadWrite,
}

impl DataAccess {
    /// The protocol's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::ReadWrite => "readWrite",
        }
    }

    /// What stops the program at either access.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        if self == other { self } else { Self::ReadWrite }
    }

    /// Whether reading stops the program.
    pub fn reads(self) -> bool {
        self != Self::Write
    }

    /// Whether writing another value stops the program.
    pub fn writes(self) -> bool {
        self != Self::Read
    }
}

impl fmt::Display for DataAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What happened to a watched value before a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataChange {
    /// The breakpoint.
    pub id: BreakpointId,
    /// As requested.
    pub expression: String,
    /// The value before.
    pub old: String,
    /// The value now; the same if it was only read. Values that differ can have the same text.
    pub new: String,
    /// It was read, and not written.
    pub is_read: bool,
    /// The code that did it, where the debugger knows.
    pub by: Option<CodeLine>,
}

/// A line of code that has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// The function.
    pub function: String,
    /// The file, or its name.
    pub file: String,
    /// 1-based.
    pub line: u32,
}

impl fmt::Display for DataChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expression, old, new, is_read, by, .. } = self;
        if old == new {
            write!(f, "{expression} = {new}")?;
        } else {
            write!(f, "{expression}: {old} → {new}")?;
        }
        match by {
            Some(CodeLine { function, file, line }) => {
                let done = if *is_read { "read" } else { "written" };
                write!(f, ", {done} by {function} at {file}:{line}")
            }
            None => Ok(()),
        }
    }
}
