//! What binding breakpoints needs, and how V8 forgets them.

use std::sync::{Arc, Mutex};

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

/// Binds a thread's requested breakpoints. Clones share it.
#[derive(Clone, Debug)]
pub(in super::super) struct BreakpointBinder {
    pub(super) table: Arc<BreakpointTable>,
    pub(super) insertions: Arc<Insertions>,
    pub(super) v8: V8Client,
    pub(super) sources: Sources,
    pub(super) binding: Arc<ProgramBinding>,
    pub(super) run: Arc<RunState>,
    pub(super) thread: Arc<JsThread>,
    /// V8's breakpoint before each file, while the thread has not come to one of the user's.
    pub(super) files: Arc<Mutex<Option<String>>>,
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
        Self {
            table: Arc::default(),
            insertions: Arc::default(),
            v8,
            sources,
            binding,
            run,
            thread,
            files: Arc::default(),
            events,
        }
    }

    /// Removes breakpoints from V8. While the thread is suspended, this waits until it resumes: if the last
    /// breakpoint of a function is removed while the thread is suspended there, V8 skips the next one that is set
    /// there.
    pub(super) async fn remove(&self, ids: Vec<String>) -> Result<()> {
        if self.run.is_stopped() {
            self.table.remove_on_resume(ids);
            return Ok(());
        }
        self.forget(ids).await
    }

    /// The thread resumes: V8 removes breakpoints that were removed meanwhile.
    pub(in super::super) async fn forget_removed(&self) {
        // V8 no longer knows it.
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
        // V8 no longer knows it.
        let _ = self.remove(ids).await;
    }
}
