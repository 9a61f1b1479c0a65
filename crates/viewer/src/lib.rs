//! What an agent is doing, or has done, for a person to see. Knows journals, and no debugger.
//!
//! Reading order: [`log`] (the entries of all files, by number), [`moment`] (what was the case at one of them).

pub mod log;
pub mod moment;
