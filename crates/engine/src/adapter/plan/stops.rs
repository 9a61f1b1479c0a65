//! Threads that stop at the same time.

/// How an adapter reports threads that come to breakpoints at the same time.
#[derive(Clone, Copy, Debug)]
pub enum SimultaneousStops {
    /// The program continues between their stops.
    None,
    /// By one `stopped` event for each.
    Each {
        /// A command that prints the IDs of the threads that have stopped, each on a line, with ` again` behind those
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
