//! The debugger as agents need it. This crate does not depend on MCP, the command line or the terminal.
//!
//! Reading order: [`model`] (plain data), [`session`] (what an agent uses) with its pure [`state`](session::state)
//! and breakpoint rules, [`debugger`] (the interface to the wire protocols), [`adapter`] (what differs between
//! languages), [`process`] (children), [`snapshot`] (the data of a stop).

pub use jiff::Timestamp;

pub mod adapter;
pub mod bounds;
pub mod deadlines;
pub mod debugger;
pub mod error;
pub mod host;
pub mod javascript;
mod lock;
pub mod model;
pub mod named_pipe;
pub mod output;
pub mod parts;
pub mod policy;
pub mod process;
pub mod progress;
pub mod recording;
pub mod safety;
pub mod session;
pub mod sessions;
pub mod snapshot;
pub mod source_map;
pub mod sources;
pub mod temporary;
pub mod test_reports;
