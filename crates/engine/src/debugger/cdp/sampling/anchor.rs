//! A profile whose result is unused. Without one, V8 forgets where optimized code came from each time that samples
//! are fetched, and reports wrong functions from then on.

use std::time::Duration;

use ::cdp::runtime::Evaluate;
use tokio::time::Instant;

use super::super::v8::V8Client;
use super::sending::evaluate;
use crate::error::Result;

/// How old the profile may become that is kept for this knowledge of V8.
const OLDEST: Duration = Duration::from_mins(1);

/// A profile that is kept going.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    number: u32,
    since: Instant,
}

impl Anchor {
    pub(super) fn after(last: Option<Self>) -> Self {
        Self { number: last.map_or(1, |last| last.number.saturating_add(1)), since: Instant::now() }
    }

    /// Begins it, and ends the one before. False when the thread cannot: the program may have taken away what it needs.
    pub(super) async fn begin(self, v8: &V8Client, last: Option<Self>, within: Duration) -> Result<bool> {
        match v8.request_within(within, self.beginning(last)).await {
            Ok(begun) => Ok(begun.exception_details.is_none()),
            // It is answered later.
            Err(::cdp::Error::Deadline { .. }) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether it is time for the next one.
    pub(super) fn is_due(self) -> bool {
        self.since.elapsed() >= OLDEST
    }

    fn beginning(self, last: Option<Self>) -> Evaluate {
        let name = |number| format!("'stillframe {number}'");
        let end = last.map(|last| format!("profiles.profileEnd({});", name(last.number)));
        // The program may have another console in the place of Node's. A worker that has not begun cannot load
        // modules, and has V8's.
        evaluate(format!(
            "{{let profiles=console;try{{profiles=require('inspector').console}}catch{{}}\
             profiles.profile({});{}}}",
            name(self.number),
            end.unwrap_or_default()
        ))
    }
}
