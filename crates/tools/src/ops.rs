//! Operations: what can be done, in neutral terms. Toolsets and the command line call these.

pub mod caught;
pub mod closing;
pub mod command;
pub mod completions;
pub mod current;
pub mod dump;
pub mod execution;
pub mod functions;
pub mod globals;
pub mod hang;
pub mod inspect;
pub mod languages;
pub mod lifecycle;
pub mod objects;
pub mod performance;
pub mod recordings;
pub mod run_until;
pub mod settle;
mod sources;
pub mod test;
pub mod trace;
pub mod trigger;
pub mod unreached;
pub mod watches;
