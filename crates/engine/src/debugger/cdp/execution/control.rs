//! Resuming a thread: what all ways of resuming have in common.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use ::cdp::debugger;
use ::cdp::runtime::ReleaseObjectGroup;
use futures_util::future;

use super::super::binding::ProgramBinding;
use super::super::breakpoints::BreakpointBinder;
use super::super::run_state::RunState;
use super::super::sources::Sources;
use super::super::thread::{JsThread, THREAD};
use super::super::v8::V8Client;
use super::super::values::ValueReader;
use super::ends::StepEndBreakpoints;
use super::intent::Intent;
use crate::debugger::{Event, Step};
use crate::error::Result;
use crate::lock::lock;
use crate::model::ids::BreakpointId;
use crate::model::stop::StopReason;

/// The group of the objects that functions returned.
pub(super) const RETURNED: &str = "stillframe-returned";

/// Resumes, steps and pauses a thread.
#[derive(Debug)]
pub(in super::super) struct RunControl {
    pub(super) v8: V8Client,
    pub(super) sources: Sources,
    pub(super) values: ValueReader,
    pub(super) run: Arc<RunState>,
    pub(super) thread: Arc<JsThread>,
    pub(super) binding: Arc<ProgramBinding>,
    pub(super) breakpoints: BreakpointBinder,
    pub(super) ends: StepEndBreakpoints,
    /// The last command of the thread.
    pub(super) intent: Mutex<Intent>,
    /// V8 continues a step that was abandoned at an exception.
    pub(super) lingers: AtomicBool,
}

impl RunControl {
    pub(in super::super) fn new(
        v8: V8Client,
        sources: Sources,
        values: ValueReader,
        run: Arc<RunState>,
        thread: Arc<JsThread>,
        binding: Arc<ProgramBinding>,
        breakpoints: BreakpointBinder,
    ) -> Self {
        let ends = StepEndBreakpoints::new(v8.clone(), sources.clone(), breakpoints.clone());
        let (intent, lingers) = (Mutex::default(), AtomicBool::new(false));
        Self { v8, sources, values, run, thread, binding, breakpoints, ends, intent, lingers }
    }

    async fn send(&self, next: Option<Step>) -> Result<()> {
        match next {
            None => self.v8.request(debugger::Resume::default()).await?,
            Some(Step::Over) => self.v8.request(debugger::StepOver::default()).await?,
            Some(Step::Into) => self.v8.request(debugger::StepInto::default()).await?,
            Some(Step::Out) => self.v8.request(debugger::StepOut::default()).await?,
        };
        Ok(())
    }

    /// Lets the thread run, in one way or another. What was read at the stop is void from here on.
    ///
    /// V8 is detached before the worker resumes: a worker may end at once, and Node 20 can abort on a message to an
    /// ending worker.
    pub(super) async fn leave(&self, next: Option<Step>) -> Result<()> {
        let left = self.run.take_stop();
        self.breakpoints.forget_removed().await;
        let returned = left.filter(|stop| stop.returned.get().is_some()).map(|_| RETURNED);
        let groups = self.values.forget().into_iter().chain(returned);
        let releases = groups.map(|group| {
            let release = ReleaseObjectGroup { object_group: group.to_owned() };
            self.v8.request(release)
        });
        let (_, sent) = future::join(future::join_all(releases), self.send(next)).await;
        sent
    }

    /// Resumes from an internal pause, with the thread's previous command.
    pub(in super::super) async fn resume_intent(&self) {
        let next = match &*lock(&self.intent) {
            Intent::Run | Intent::Pause => None,
            Intent::Step(stepping) if stepping.step != Step::Into => Some(Step::Out),
            Intent::Step(_) => Some(Step::Into),
        };
        self.proceed(next).await;
    }

    /// A thread that is gone by now is noticed elsewhere.
    pub(in super::super) async fn proceed(&self, next: Option<Step>) {
        if let Err(error) = self.leave(next).await {
            tracing::debug!(%error, "cannot resume the program");
        }
    }

    /// Whether a step is under way.
    pub(in super::super) fn is_stepping(&self) -> bool {
        matches!(&*lock(&self.intent), Intent::Step(_))
    }

    /// Whether the thread was asked to pause and has not.
    pub(in super::super) fn is_pausing(&self) -> bool {
        matches!(&*lock(&self.intent), Intent::Pause)
    }

    /// Replaces the intent of the thread. Returns true if that cancels a step, whose breakpoints are then removed.
    pub(super) fn abandon(&self, next: Intent) -> bool {
        let before = std::mem::replace(&mut *lock(&self.intent), next);
        let Intent::Step(stepping) = before else { return false };
        // A thread in native code answers late, and what comes next need not wait for that.
        let ends = self.ends.clone();
        tokio::spawn(async move { ends.clear(stepping.ends).await });
        true
    }

    /// Ends the current command: the program is suspended, for this reason.
    pub(in super::super) async fn stopped(
        &self,
        reason: StopReason,
        text: Option<String>,
        breakpoints: Vec<BreakpointId>,
    ) -> Event {
        let intent = std::mem::take(&mut *lock(&self.intent));
        if let Intent::Step(stepping) = intent {
            self.ends.clear(stepping.ends).await;
        }
        Event::Stopped { thread: THREAD, reason, text, breakpoints }
    }
}
