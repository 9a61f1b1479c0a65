//! Where the time and the memory of a program go.

use std::time::Duration;

use super::source::Location;

/// Where a process spent its time, by samples of what it ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuProfile {
    /// When it began, on a clock of the process that only goes forward.
    pub begin: Duration,
    /// From the first sample to the last.
    pub duration: Duration,
    /// How many different calls were seen: functions with what called them.
    pub calls: usize,
    /// How many samples were taken.
    pub samples: usize,
    /// In how much of the time nothing ran.
    pub idle: Duration,
    /// What ran; most time of its own first.
    pub functions: Vec<FunctionTime>,
}

/// The time of a function, over all calls of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionTime {
    /// The function, as the language names it.
    pub function: String,
    /// Where it begins; none for native code.
    pub location: Option<Location>,
    /// In the function itself.
    pub own: Duration,
    /// In what it called, too.
    pub total: Duration,
    /// In how many samples it was the innermost.
    pub hits: u64,
}

/// What is in the memory of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapSnapshot {
    /// How many objects.
    pub nodes: u64,
    /// How many references between them.
    pub edges: u64,
    /// How large they are together, in bytes.
    pub size: u64,
    /// By their types; the largest first.
    pub types: Vec<HeapType>,
}

/// All objects of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapType {
    /// The class; in parentheses for what is not an object of the program: `(string)`, `(compiled code)`.
    pub name: String,
    /// How many there are.
    pub count: u64,
    /// How large they are together, without what they refer to, in bytes.
    pub size: u64,
}

/// How much memory a process uses for its objects, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapUsage {
    /// Taken by objects.
    pub used: u64,
    /// Held for them.
    pub total: u64,
}

/// A performance entry, such as a mark or a measure, that a program or its runtime recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimelineEntry {
    /// Its name.
    pub name: String,
    /// `mark`, `measure`, `node`, `function`.
    pub kind: String,
    /// Since the program began.
    pub start: Duration,
    /// How long it took.
    pub duration: Duration,
}
