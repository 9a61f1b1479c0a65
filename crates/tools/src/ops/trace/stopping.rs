//! The method that always works: the program is stopped, inspected and resumed at each hit. A program that writes its
//! rows itself does not stop, so waiting works the same way.
//!
//! The rules are those of the recorders inside programs: hits are counted for each process, or thread of JavaScript, on
//! its own.

use std::collections::BTreeMap;

use engine::error::Error;
use engine::model::ids::{BreakpointId, Reference, TargetId};
use engine::model::stack::StackFrame;
use engine::model::stack::users_frames;
use engine::model::stop::Stop;
use engine::recording::{Cell, Recorder, Row};
use engine::session::{Outcome, Session};
use tokio::time::Instant;

use super::points::Points;
use super::{RowKey, Trace, cells, is_only_at, key_of, milliseconds};
use crate::ToolError;

/// What is recorded, and what was so far.
pub(super) struct StopRecorder<'a> {
    session: &'a Session,
    recorder: &'a Recorder,
    request: &'a Trace,
    expressions: BTreeMap<BreakpointId, Vec<String>>,
    writers: BTreeMap<(BreakpointId, TargetId), Writer>,
    stacks: BTreeMap<RowKey, Vec<StackFrame<Reference>>>,
}

/// A process, or a thread of JavaScript, at one place.
#[derive(Default)]
struct Writer {
    hits: u64,
    rows: u64,
    last: Option<Vec<Cell>>,
}

impl<'a> StopRecorder<'a> {
    pub(super) fn new(
        session: &'a Session,
        recorder: &'a Recorder,
        points: &Points<'_>,
        request: &'a Trace,
    ) -> Self {
        Self {
            session,
            recorder,
            request,
            expressions: points.expressions(),
            writers: BTreeMap::new(),
            stacks: BTreeMap::new(),
        }
    }

    /// The program has stopped at a hit of one of the places.
    pub(super) fn has_recorded(&self) -> bool {
        !self.writers.is_empty()
    }

    pub(super) fn into_stacks(self) -> BTreeMap<RowKey, Vec<StackFrame<Reference>>> {
        self.stacks
    }

    /// Moves from stop to stop, until one is for another reason, the program ends, or the time is up. Unless hits are
    /// counted further, it leaves the program at the hit of the last row: the caller sees it as running, and it
    /// resumes when its breakpoints are removed.
    pub(super) async fn run(&mut self, until: Instant, counts_on: bool) -> Result<Outcome, ToolError> {
        loop {
            let outcome = self.session.wait(until).await;
            let Outcome::Stopped(stop) = &outcome else { return Ok(outcome) };
            for id in &stop.breakpoints {
                if self.expressions.contains_key(id) {
                    self.record(*id, stop).await;
                }
            }
            let is_other = !is_only_at(stop, |id| self.expressions.contains_key(id));
            if is_other && !self.request.passes_others {
                return Ok(outcome);
            }
            self.session.mark_stop_reported(stop);
            let full = !counts_on && self.recorder.len() >= self.request.max_rows;
            if full || Instant::now() >= until {
                return Ok(Outcome::Running);
            }
            match self.session.resume().await {
                // It may have ended meanwhile, which is what comes next.
                Ok(()) | Err(Error::NotPaused { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Counts a hit, and makes a row of it where one is due.
    async fn record(&mut self, id: BreakpointId, stop: &Stop) {
        let time = milliseconds();
        let writer = self.writers.entry((id, stop.target)).or_default();
        writer.hits += 1;
        let hit = writer.hits;
        let is_sampled = (hit - 1).is_multiple_of(self.request.sample_every.max(1));
        let rows = self.writers.get(&(id, stop.target)).map_or(0, |writer| writer.rows);
        if !is_sampled || rows >= self.request.max_rows {
            let pid = self.named(stop).await.1;
            self.recorder.count(id, (pid, stop.target.0.into()), hit);
            return;
        }
        // In the order in which most debuggers answer, one after the other: all are asked at once.
        let ((thread, pid), (frames, cells)) = tokio::join!(self.named(stop), self.look(id, stop));
        self.recorder.count(id, (pid, stop.target.0.into()), hit);
        let Some(writer) = self.writers.get_mut(&(id, stop.target)) else { return };
        if self.request.only_when_changed {
            if writer.last.as_ref() == Some(&cells) {
                return;
            }
            writer.last = Some(cells.clone());
        }
        writer.rows += 1;
        let row = Row { id, hit, time, pid, thread, cells };
        if self.request.frames > 0 {
            self.stacks.insert(key_of(&row), frames);
        }
        self.recorder.push(row);
    }

    /// The user's frames, as many as requested, and the value of each expression in the innermost one.
    async fn look(&self, id: BreakpointId, stop: &Stop) -> (Vec<StackFrame<Reference>>, Vec<Cell>) {
        let expressions = self.expressions.get(&id).map(Vec::as_slice).unwrap_or_default();
        let stack = self.session.stack_trace(Some(stop.thread), 0, self.request.frames.max(1)).await;
        let frames = match stack {
            Ok(stack) => stack.frames,
            Err(error) => {
                let error = Cell::Error(format!("the stack could not be read: {error}"));
                return (Vec::new(), vec![error; expressions.len()]);
            }
        };
        let Some(frame) = frames.first().map(|frame| frame.id) else {
            return (frames, vec![Cell::Error("the stack is empty".to_owned()); expressions.len()]);
        };
        let mut read = Vec::new();
        for expression in expressions {
            read.push(cells::read(self.session, frame, expression, self.request.cells).await);
        }
        let (frames, _) = users_frames(frames, Some(stop));
        (frames, read)
    }

    /// The thread as its language calls it, and its process.
    async fn named(&self, stop: &Stop) -> (String, u32) {
        let (name, pid) = self.session.thread_name(stop.thread).await.unwrap_or_default();
        (name.unwrap_or_default(), pid.unwrap_or_default())
    }
}
