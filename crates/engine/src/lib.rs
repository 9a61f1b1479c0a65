//! engine
#![allow(missing_docs, dead_code, unreachable_pub)]
pub mod model;
pub mod deadlines;
pub mod error;
pub mod output;
pub mod process;
pub mod session { pub mod state; }
