//! Threads that stop at the same time.

/// How an adapter reports threads that come to breakpoints at the same time.
#[derive(Clone, Copy, Debug)]
pub enum SimultaneousStops {
    /// The program continues between their stops.
    None,
    /// By one `stopped` event for each, all sent at once.
    Each,
    /// By one event for one of them. The others are at the address of a breakpoint, and are among the threads with such
    /// names.
    One {
        /// Whether a thread of this name may be at a breakpoint.
        may_be: fn(&str) -> bool,
    },
}
