//! When events happened.
//!
//! The recorder does not read a clock at each event, which would cost more than the event. The reader writes the time
//! after each part that it has stored.

use crate::error::Result;
use crate::reading::Recording;

/// A part that follows a pause took at most so long, in microseconds, and so much for each of its events.
const PART: i64 = 5_000;
const EACH: i64 = 2;

/// The time of events, to within some milliseconds.
#[derive(Debug)]
pub(crate) struct Clock {
    /// The last event of each part, and when it was stored, in microseconds from the beginning.
    parts: Vec<(i64, i64)>,
}

impl Recording {
    pub(crate) fn clock(&self) -> Result<Clock> {
        let parts = "SELECT event, max(milliseconds) * 1000 FROM clock GROUP BY event ORDER BY event";
        Ok(Clock { parts: self.rows(parts, [], |row| Ok((row.get(0)?, row.get(1)?)))? })
    }
}

impl Clock {
    /// Microseconds from the beginning of the run until an event. The events of a part are evenly spaced.
    pub(crate) fn at(&self, event: i64) -> i64 {
        let part = self.parts.partition_point(|(last, _)| *last < event);
        let (first, began) =
            part.checked_sub(1).and_then(|before| self.parts.get(before)).copied().unwrap_or_default();
        let Some((last, ended)) = self.parts.get(part).copied() else { return began };
        let count = (last - first).max(1);
        let began = began.max(ended - PART - EACH * count);
        began + (ended - began) * (event - first) / count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_after_a_pause_are_after_it() {
        let clock = Clock { parts: vec![(0, 0), (100, 4_000), (120, 1_000_000)] };
        let at = [0, 50, 100, 101, 120, 121].map(|event| clock.at(event));
        assert_eq!(at, [0, 2_000, 4_000, 995_212, 1_000_000, 1_000_000]);
    }

    #[test]
    fn without_parts_there_is_no_time() {
        assert_eq!(Clock { parts: Vec::new() }.at(7), 0);
    }
}
