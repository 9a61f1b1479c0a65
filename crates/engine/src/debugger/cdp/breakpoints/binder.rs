//! What binding breakpoints needs, and how V8 forgets them.

use std::sync::Arc;

use ::cdp::debugger::RemoveBreakpoint;
use futures_util::future;
use tokio::sync::mpsc;

use super::super::binding::ProgramBinding;
use super::super::insertions::Insertions;
use super::super::run_state::RunState;
use super::super::sources::Sources;
use super::super::thread::JsThread;
use super::super::v8::V8Client;
use super::table::BreakpointTable;
use crate::debugger::Event;
use crate::error::Result;

/// Binds what is wanted of a thread's breakpoints. Clones share it.
#[derive(Clone, Debug)]
pub(in super::super) struct BreakpointBinder {
    pub(super) table: Arc<BreakpointTable>,
    pub(super) insertions: Arc<Insertions>,
    pub(super) v8: V8Client,
    pub(super) sources: Sources,
    pub(super) binding: Arc<ProgramBinding>,
    pub(super) run: Arc<RunState>,
    pub(super) thread: Arc<JsThread>,
    /// Where the session hears of what V8 has answered late.
    pub(super) events: mpsc::Sender<Event>,
}

impl BreakpointBinder {
    pub(in super::super) fn new(
        v8: V8Client,
        sources: Sources,
        binding: Arc<ProgramBinding>,
        run: Arc<RunState>,
        thread: Arc<JsThread>,
        events: mpsc::Sender<Event>,
    ) -> Self {
        Self { table: Arc::default(), insertions: Arc::default(), v8, sources, binding, run, thread, events }
    }

    /// Has V8 forget some. While the thread is suspended, that waits until it is let go on: were the last one of a
    /// function taken away while it is suspended there, V8 would pass over the next place in it that is set then.
    pub(super) async fn remove(&self, ids: Vec<String>) -> Result<()> {
        if self.run.is_stopped() {
            self.table.remove_on_resume(ids);
            return Ok(());
        }
        self.forget(ids).await
    }

    /// The thread is let go on: V8 forgets what was removed meanwhile.
    pub(in super::super) async fn forget_removed(&self) {
        // One that V8 does not know any more is gone.
        let _ = self.forget(self.table.take_removals()).await;
    }

    /// Has V8 forget some, each whatever becomes of the others.
    async fn forget(&self, ids: Vec<String>) -> Result<()> {
        let forget = |breakpoint_id| self.v8.request(RemoveBreakpoint { breakpoint_id });
        let answers = future::join_all(ids.into_iter().map(forget)).await;
        answers.into_iter().try_for_each(|answer| answer.map(|_| ()))
    }

    /// Notes breakpoints as a step's.
    pub(in super::super) fn add_temporary(&self, ids: &[String]) {
        for id in ids {
            self.table.add_temporary(id.clone());
        }
    }

    /// Takes back what a step has set.
    pub(in super::super) async fn remove_temporary(&self, ids: Vec<String>) {
        for id in &ids {
            self.table.remove_temporary(id);
        }
        // One that V8 does not know any more is gone.
        let _ = self.remove(ids).await;
    }
}
