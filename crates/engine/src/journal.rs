//! The record of everything that happens. Nothing is kept yet: the calls are in place, and lead nowhere.

use crate::model::breakpoint::Breakpoint;
use crate::session::state::Execution;

/// Something to remember.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// A program does something else than before.
    Execution(&'a Execution),
    /// What is known of the breakpoints changed.
    Breakpoints(&'a [Breakpoint]),
    /// The session is closed.
    SessionClosed,
}

/// Where records go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Journal;

impl Journal {
    /// Remembers.
    pub fn record(&self, record: &Record<'_>) {
        tracing::trace!(?record, "journal");
    }
}
