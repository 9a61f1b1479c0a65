//! Domain `Debugger`: breakpoints, stepping, frames.

mod breakpoints;
mod events;
mod execution;
mod frames;

pub use breakpoints::*;
pub use events::*;
pub use execution::*;
pub use frames::*;
