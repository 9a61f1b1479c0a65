//! A verdict on a program, and the formats of locations and times.

use std::time::Duration;

use engine::model::activity::SampledFrame;

use super::Verdict;

/// How many frames of a stack are reported.
const FRAMES: usize = 50;

/// The message.
pub(super) struct HangFinding {
    pub(super) verdict: Verdict,
    pub(super) message: String,
    pub(super) evidence: Vec<String>,
}

/// The user's frames; all of them, when there is none of the user's.
pub(super) fn users(stack: Vec<SampledFrame>) -> Vec<SampledFrame> {
    let has_users = stack.iter().any(is_users);
    stack.into_iter().filter(|frame| !has_users || is_users(frame)).take(FRAMES).collect()
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
