//! The events an editor receives: stops, output, breakpoints, and the end.
//!
//! Nothing is queued. The last state sent to an editor is compared with the current state when it can receive again.
//! A slow editor misses what has passed, and never delays the session.

use std::collections::BTreeMap;

use dap::{BreakpointEvent, ContinuedEvent, ExitedEvent, OutputEvent, SetBreakpointsResponse, StoppedEvent};
use engine::Timestamp;
use engine::model::ids::BreakpointId;
use engine::model::stop::{End, Stop};
use engine::output::{Category, Piece};

use engine::session::state::Execution;
use serde_json::{Value, json};

use crate::breakpoints::{describe, is_shown};
use crate::editor::Editor;
use crate::limits;
use crate::outgoing::{EditorGone, Outgoing};
use crate::redacted::{clean, clean_text};

/// The last state sent to an editor.
#[derive(Debug, Default)]
pub(crate) struct EditorUpdates {
    /// The number of the stop and its thread, while the program is suspended in the editor's view.
    stop: Option<(u64, i64)>,
    /// It has all output before this.
    cursor: u64,
    breakpoints: BTreeMap<BreakpointId, dap::Breakpoint>,
}

/// Whether there will be more to report.
pub(crate) enum UpdatesState {
    GoesOn,
    Over,
}

impl EditorUpdates {
    /// A request of the editor lets the program run, and its answer says so.
    pub(crate) fn resumed(&mut self) {
        self.stop = None;
    }

    /// A response has reported these breakpoints.
    pub(crate) fn answered(&mut self, answer: &Value) {
        let told: SetBreakpointsResponse = serde_json::from_value(answer.clone()).unwrap_or_default();
        let numbered = told.breakpoints.into_iter().filter_map(|told| {
            let id = u32::try_from(told.id?).ok()?;
            Some((BreakpointId(id), told))
        });
        self.breakpoints.extend(numbered);
    }

    /// Reports the program's state, and its output before that.
    pub(crate) async fn execution(
        &mut self,
        editor: &Editor,
        out: &mut Outgoing,
    ) -> Result<UpdatesState, EditorGone> {
        let now = editor.session().execution();
        if now.is_settled() {
            while self.output(editor, out).await? {}
        }
        match &now {
            Execution::Stopped(stop) if self.stop.is_none_or(|(epoch, _)| epoch != stop.epoch) => {
                self.continued(out).await?;
                let thread = i64::from(stop.thread.0);
                self.stop = Some((stop.epoch, thread));
                let mut event = serde_json::to_value(stopped(editor, stop).await).unwrap_or_default();
                clean(&mut event, None, editor.exposed.shows_credentials);
                out.event("stopped", &event).await?;
            }
            Execution::Running => self.continued(out).await?,
            Execution::Ended(end) => {
                if let Some(exit_code) = exit_code(end) {
                    out.event("exited", &ExitedEvent { exit_code }).await?;
                }
                out.event("terminated", &json!({})).await?;
                return Ok(UpdatesState::Over);
            }
            _ => {}
        }
        Ok(UpdatesState::GoesOn)
    }

    async fn continued(&mut self, out: &mut Outgoing) -> Result<(), EditorGone> {
        let Some((_, thread_id)) = self.stop.take() else { return Ok(()) };
        out.event("continued", &ContinuedEvent { thread_id, all_threads_continued: true }).await
    }

    /// Reports some of the program's output, and whether there is more.
    pub(crate) async fn output(&mut self, editor: &Editor, out: &mut Outgoing) -> Result<bool, EditorGone> {
        let excerpt = editor.session().output().read(self.cursor, limits::OUTPUT);
        self.cursor = excerpt.next;
        if excerpt.skipped > 0 {
            let text = format!("[{} bytes of earlier output were dropped]\n", excerpt.skipped);
            let note = Piece { category: Category::Console, text, at: Timestamp::now() };
            out.event("output", &written(editor, note)).await?;
        }
        let more = excerpt.more > 0;
        for piece in excerpt.pieces {
            out.event("output", &written(editor, piece)).await?;
        }
        Ok(more)
    }

    /// Reports which breakpoints are new, gone, or changed.
    pub(crate) async fn breakpoints(
        &mut self,
        editor: &Editor,
        out: &mut Outgoing,
    ) -> Result<(), EditorGone> {
        // A session that is closed has none to tell of.
        let Ok(all) = editor.session().breakpoints().await else { return Ok(()) };
        let now: BTreeMap<_, _> =
            all.iter().filter(|one| is_shown(one)).map(|one| (one.id, describe(one))).collect();
        let before = std::mem::replace(&mut self.breakpoints, now);
        for (id, breakpoint) in &self.breakpoints {
            let reason = match before.get(id) {
                None => "new",
                Some(before) if before != breakpoint => "changed",
                Some(_) => continue,
            };
            out.event("breakpoint", &change(reason, breakpoint)).await?;
        }
        for (_, gone) in before.iter().filter(|(id, _)| !self.breakpoints.contains_key(*id)) {
            out.event("breakpoint", &change("removed", gone)).await?;
        }
        Ok(())
    }
}

fn change(reason: &str, breakpoint: &dap::Breakpoint) -> BreakpointEvent {
    BreakpointEvent { reason: reason.to_owned(), breakpoint: breakpoint.clone() }
}

/// A stop suspends a process. Others of the same session may run on.
async fn stopped(editor: &Editor, stop: &Stop) -> StoppedEvent {
    let processes = editor.session().debuggees().await.map_or(1, |all| all.len());
    StoppedEvent {
        reason: stop.reason.to_string(),
        text: stop.text.clone(),
        thread_id: Some(stop.thread.0.into()),
        all_threads_stopped: processes == 1,
        hit_breakpoint_ids: stop.breakpoints.iter().map(|id| id.0.into()).collect(),
        ..StoppedEvent::default()
    }
}

/// What shells say of a program that a signal has ended.
fn exit_code(end: &End) -> Option<i64> {
    match end {
        End::Killed { signal, .. } => Some(128 + i64::from(*signal)),
        end => end.exit_code().map(i64::from),
    }
}

fn written(editor: &Editor, piece: Piece) -> OutputEvent {
    let category = match piece.category {
        Category::Stdout => "stdout",
        Category::Stderr => "stderr",
        Category::Log | Category::Console => "console",
    };
    OutputEvent {
        category: Some(category.to_owned()),
        output: clean_text(piece.text, editor.exposed.shows_credentials),
        ..OutputEvent::default()
    }
}
