//! The answers that the agent sends before an event of a stop; `debuggee/python/stillframe_ahead.py` is the other end.
//!
//! Each is used once, and only for the very request that it answers, before anything else is asked of the program.

use std::sync::Mutex;

use serde::Deserialize;
use serde_json::Value as Json;

use super::agent::ExpandedRows;
use crate::lock::lock;
use crate::model::ids::RawId;

/// What has arrived for the current stop, and what to expect at the next.
#[derive(Debug, Default)]
pub(super) struct Ahead(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    sent: Option<Sent>,
    /// The variables of no frame were requested since the stop.
    is_first: bool,
    /// The innermost frame, and how many frames were requested with it.
    innermost: Option<(RawId, usize)>,
}

/// What the agent sends.
#[derive(Debug, Deserialize)]
pub(super) struct Sent {
    thread: i64,
    levels: usize,
    stack: Option<::dap::StackTraceResponse>,
    /// The arguments of a request for the variables, and its answer.
    locals: Option<(Vec<Json>, ExpandedRows)>,
}

impl Ahead {
    pub(super) fn arrived(&self, sent: Sent) {
        lock(&self.0).sent = Some(sent);
    }

    /// A thread has stopped.
    pub(super) fn stopped(&self) {
        lock(&self.0).is_first = true;
    }

    /// The stack of a thread that was requested from its top.
    pub(super) fn stack(&self, thread: RawId, levels: usize) -> Option<::dap::StackTraceResponse> {
        let mut state = lock(&self.0);
        let sent = state.sent.as_mut().filter(|sent| sent.thread == thread.0 && sent.levels == levels)?;
        sent.stack.take()
    }

    /// A stack was read from its top.
    pub(super) fn read(&self, innermost: RawId, levels: usize) {
        lock(&self.0).innermost = Some((innermost, levels));
    }

    /// The answer to a request for the variables of a frame. If it is the first since the stop and has none, gives how
    /// many frames to send ahead of the next stop, with the same variables.
    pub(super) fn locals(&self, frame: RawId, arguments: &[Json]) -> Result<ExpandedRows, Option<usize>> {
        let mut state = lock(&self.0);
        if let Some((request, answer)) = state.sent.take().and_then(|sent| sent.locals)
            && request == arguments
        {
            state.is_first = false;
            return Ok(answer);
        }
        let levels =
            state.innermost.filter(|(innermost, _)| *innermost == frame).map_or(0, |(_, levels)| levels);
        Err(std::mem::take(&mut state.is_first).then_some(levels))
    }

    /// Something else is asked of the program, or it runs.
    pub(super) fn forget(&self) {
        lock(&self.0).sent = None;
    }
}
