//! Where a program stops, and threads that do at the same time.

use crate::model::source::Code;

/// How an adapter reports threads that come to breakpoints at the same time.
#[derive(Clone, Copy, Debug)]
pub enum SimultaneousStops {
    /// The program continues between their stops.
    None,
    /// By one `stopped` event for each.
    Each {
        /// A command that prints the IDs of the threads that have stopped, each on a line, with ` again` after those
        /// that were at the same breakpoint before and have not moved since.
        command: &'static str,
    },
    /// By one event for one of them. The others are at the address of a breakpoint, and are among the threads with such
    /// names.
    One {
        /// Whether a thread of this name may be at a breakpoint.
        may_be: fn(&str) -> bool,
    },
}

/// What an adapter says of a line without code, for which it refuses a breakpoint.
#[derive(Clone, Copy, Debug)]
pub struct RefusedLines {
    /// How its message begins.
    pub message: &'static str,
    /// The functions of a source, by its text.
    pub read: fn(&str) -> Code,
}

/// An adapter that returns what a function returns only in one thread, which it chooses at each stop.
#[derive(Clone, Copy, Debug)]
pub struct ThreadOfCalls {
    /// Whether that is the thread of this name.
    pub is_chosen: fn(&str) -> bool,
    /// A call without effects, after which it is mostly the thread of the call.
    pub call: &'static str,
    /// The reason of the stop that it reports when a result was lost.
    pub event: &'static str,
}
