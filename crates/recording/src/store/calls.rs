//! The calls that have begun and not ended, and where they are.

use std::collections::HashMap;

/// Where a call is.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActiveCall {
    /// The number of the line that it is at; 0 before the first.
    pub(super) place: i64,
    /// The event of that line.
    pub(super) event: i64,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct ActiveCalls {
    calls: HashMap<u64, ActiveCall>,
}

impl ActiveCalls {
    pub(super) fn get(&self, call: u64) -> Option<ActiveCall> {
        self.calls.get(&call).copied()
    }

    pub(super) fn enter(&mut self, call: u64, active: ActiveCall) {
        self.calls.insert(call, active);
    }

    pub(super) fn reach(&mut self, call: u64, place: i64, event: i64) {
        self.calls.insert(call, ActiveCall { place, event });
    }

    pub(super) fn leave(&mut self, call: u64) {
        self.calls.remove(&call);
    }
}
