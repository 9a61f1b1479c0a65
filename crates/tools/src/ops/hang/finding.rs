//! A verdict on a program, and the formats of locations and times.

use std::time::Duration;

use engine::model::activity::{SampledFrame, ThreadActivity};

use super::Verdict;

/// How many frames of a stack are reported.
const FRAMES: usize = 50;

/// The message.
pub(super) struct HangFinding {
    pub(super) verdict: Verdict,
    pub(super) message: String,
    pub(super) evidence: Vec<String>,
}

/// The user's frames, or all if none is the user's.
pub(super) fn users(stack: Vec<SampledFrame>) -> Vec<SampledFrame> {
    let has_users = stack.iter().any(is_users);
    stack.into_iter().filter(|frame| !has_users || is_users(frame)).take(FRAMES).collect()
}

/// The same for a thread. Where events are awaited, a runtime's own frames in a thread that is not blocked say nothing:
/// it is between two events.
pub(super) fn frames_of(thread: &ThreadActivity, awaits_events: bool) -> Vec<SampledFrame> {
    let says_nothing = awaits_events && thread.blocked.is_none() && !thread.stack.iter().any(is_users);
    if says_nothing { Vec::new() } else { users(thread.stack.clone()) }
}

/// Whether a frame is of the user's code.
pub(super) fn is_users(frame: &SampledFrame) -> bool {
    frame.location.as_ref().is_some_and(|location| !location.source.internal)
}

/// Where the user's code is in a stack: appended to a description.
pub(super) fn place_of(stack: &[SampledFrame]) -> String {
    let frame = stack.iter().find(|frame| is_users(frame));
    frame
        .and_then(|frame| frame.location.as_ref())
        .map(|location| format!(" at {}:{}", location.source.name, location.line))
        .unwrap_or_default()
}

/// A duration for messages.
pub(super) fn time(time: Duration) -> String {
    match time.as_secs() {
        0..=9 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..=599 => format!("{seconds} s"),
        seconds @ 600..=35_999 => format!("{} minutes", seconds / 60),
        seconds @ 36_000..=863_999 => format!("{} hours", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use engine::model::activity::{WaitKind, Waiting};
    use engine::model::source::{Location, Source};

    use super::*;

    #[test]
    fn frames_of_a_runtime_between_two_events_are_left_out() {
        let frame = |internal| {
            let source = Source { internal, ..Source::file("/main.js") };
            let location = Some(Location { source, line: 1, column: 1, generated: None });
            SampledFrame { function: "f".to_owned(), location }
        };
        let input = Waiting {
            kind: WaitKind::Input,
            what: "input".to_owned(),
            location: None,
            is_timed: false,
            holders: Vec::new(),
            task: None,
        };
        let table = [
            (vec![true], None, true, 0),
            (vec![true], None, false, 1),
            (vec![true], Some(input), true, 1),
            (vec![true, false], None, true, 1),
        ];
        for (internal, blocked, awaits_events, expected) in table {
            let stack = internal.into_iter().map(frame).collect();
            let thread = ThreadActivity { stack, blocked, ..ThreadActivity::default() };
            assert_eq!(frames_of(&thread, awaits_events).len(), expected, "{thread:?}");
        }
    }
}
