//! Domain `Runtime`: evaluation and values.

mod commands;
mod events;
mod values;

pub use commands::*;
pub use events::*;
pub use values::*;
