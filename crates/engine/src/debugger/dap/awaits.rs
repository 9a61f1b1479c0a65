//! Steps over a place where a future has to wait.
//!
//! Its function returns then, and the step ends in what polls the future. So the program runs until that future is polled
//! again, by whichever thread, and the step continues there.

use super::rules::SteppedFuture;
use super::{DapDebugger, commands, lock};
use crate::adapter::plan::FutureCommands;
use crate::deadlines;
use crate::model::ids::RawId;

/// Whether a step that begins in this function begins in a future.
pub(super) async fn begin(debugger: &DapDebugger, thread: RawId, function: &str) -> bool {
    let Some(FutureCommands { may_be, begin, .. }) = debugger.quirks().future_commands else { return false };
    if !may_be(function) {
        return false;
    }
    let answer = commands::run(debugger, None, format!("{begin} {}", thread.0), deadlines::READ).await;
    answer.is_ok_and(|answer| answer.lines().any(|line| line == "future"))
}

/// Runs the program until the future is polled again in which the step that has ended began. False if it does not wait.
pub(super) async fn wait(debugger: &DapDebugger, thread: RawId) -> bool {
    let is_in_future = matches!(lock(&debugger.0.stepping).future, SteppedFuture::Polled);
    let Some(commands) = debugger.quirks().future_commands.filter(|_| is_in_future) else { return false };
    let command = format!("{} {}", commands.wait, thread.0);
    let answer = commands::run(debugger, None, command, deadlines::READ).await.unwrap_or_default();
    let number = answer.lines().find_map(|line| line.strip_prefix("waits ")?.trim().parse().ok());
    let Some(number) = number else { return false };
    lock(&debugger.0.stepping).future = SteppedFuture::Waits(number);
    debugger.go_unless_paused(thread, None).await.unwrap_or(false)
}

/// Whether a thread is where that future is polled again. Others may have come there with another future.
pub(super) async fn is_polled_by(debugger: &DapDebugger, thread: RawId) -> bool {
    let Some(commands) = debugger.quirks().future_commands else { return false };
    let command = format!("{} {}", commands.polls, thread.0);
    let answer = commands::run(debugger, None, command, deadlines::READ).await;
    answer.is_ok_and(|answer| answer.lines().any(|line| line == "polls"))
}
