//! What the client of a session has been shown, so that each stop, end and byte of output is reported once.

use std::sync::Arc;

use tokio::sync::watch;

use super::Session;
use super::state::Execution;
use crate::model::source::Location;
use crate::model::stop::{End, Stop};
use crate::output::Excerpt;

/// What was reported last.
#[derive(Default)]
pub(super) struct ReportedState {
    /// The cursor after the output.
    output: watch::Sender<u64>,
    /// The epoch of the stop.
    stop: watch::Sender<u64>,
    end: watch::Sender<Option<Arc<End>>>,
    /// Where the program was stopped at an exception the last time.
    exception: watch::Sender<Option<Location>>,
}

impl Session {
    /// The last bytes of output that are not reported yet, at most `limit`. This does not count as reporting them.
    pub fn new_output(&self, limit: usize) -> Excerpt {
        self.shared.output.tail(*self.shared.reported.output.borrow(), limit)
    }

    /// The last bytes of output since the last such call, at most `limit`.
    pub fn take_new_output(&self, limit: usize) -> Excerpt {
        let reported = &self.shared.reported.output;
        let excerpt = self.shared.output.tail(*reported.borrow(), limit);
        reported.send_replace(excerpt.next);
        excerpt
    }

    /// The client has been shown this stop.
    pub fn mark_stop_reported(&self, stop: &Stop) {
        self.shared.reported.stop.send_modify(|reported| *reported = stop.epoch.max(*reported));
    }

    /// The client has been shown an exception, at this place.
    pub fn mark_exception_reported(&self, location: &Location) {
        self.shared.reported.exception.send_replace(Some(location.clone()));
    }

    /// The last exception that the client was shown was at this place.
    pub fn is_exception_reported(&self, file: &str, line: u32) -> bool {
        let last = self.shared.reported.exception.borrow();
        last.as_ref().is_some_and(|last| last.source.name == file && last.line == line)
    }

    /// The client has been shown this end.
    pub fn mark_end_reported(&self, end: &Arc<End>) {
        self.shared.reported.end.send_replace(Some(Arc::clone(end)));
    }

    /// The program is suspended, and that is not reported yet: it stopped after the last wait timed out.
    pub fn has_unreported_stop(&self) -> bool {
        self.execution().stop().is_some_and(|stop| stop.epoch > *self.shared.reported.stop.borrow())
    }

    /// The program has ended, and how is not reported yet.
    pub fn has_unreported_end(&self) -> bool {
        match self.execution() {
            Execution::Ended(end) => {
                let reported = self.shared.reported.end.borrow();
                !matches!(*end, End::NotStarted(_) | End::Detached)
                    && reported.as_ref().is_none_or(|reported| !Arc::ptr_eq(reported, &end))
            }
            _ => false,
        }
    }
}
