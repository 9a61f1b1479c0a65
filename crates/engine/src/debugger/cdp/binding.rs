//! The function by which a program talks to us, and what is kept with it in the program.
//!
//! The program's global object gets it when it is first needed. V8 adds it to later global objects only while the
//! console's events are enabled, which slows the program down. So code that needs it checks whether it exists, and
//! the program stops if it does not: see [`ProgramBinding::enter`].

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ::cdp::debugger::EvaluateOnCallFrame;
use ::cdp::runtime::{AddBinding, CallArgument, CallFunctionOn, Evaluate, RemoteObject};
use futures_util::future;
use serde_json::Value as Json;

use super::injected::BINDING;
use super::thread::JsThread;
use super::v8::{V8Client, evaluation};
use super::values::{Frame, ValueReader, context_of};
use super::{recording, rules};
use crate::deadlines;
use crate::debugger::RuleFor;
use crate::error::Result;
use crate::lock::lock;

/// The binding of one thread.
#[derive(Debug)]
pub(super) struct ProgramBinding {
    v8: V8Client,
    values: ValueReader,
    thread: Arc<JsThread>,
    /// The program's own global object has it.
    is_bound: AtomicBool,
    /// The contexts whose global objects have it. Another one would replace it, with all that is kept there.
    contexts: Mutex<BTreeSet<i32>>,
    /// The program's own global object has the recorder.
    has_recorder: AtomicBool,
    /// What the program says next of a hit is known already.
    is_hit_known: AtomicBool,
}

impl ProgramBinding {
    pub(super) fn new(v8: V8Client, values: ValueReader, thread: Arc<JsThread>) -> Self {
        Self {
            v8,
            values,
            thread,
            is_bound: AtomicBool::new(false),
            contexts: Mutex::default(),
            has_recorder: AtomicBool::new(false),
            is_hit_known: AtomicBool::new(false),
        }
    }

    /// Whether what the program says of a hit is news.
    pub(super) fn is_first_report(&self) -> bool {
        !self.is_hit_known.swap(false, Ordering::AcqRel)
    }

    /// Lets the program talk to us.
    pub(super) async fn bind_program(&self) -> Result<()> {
        if self.is_bound.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.bind(None).await
    }

    /// Lets the program write values by itself. A worker that has not begun has no `require` yet, and gets what it
    /// needs at its first hit.
    pub(super) async fn bind_recorder(&self) -> Result<()> {
        self.bind_program().await?;
        if self.has_recorder.swap(true, Ordering::AcqRel) || self.thread.is_worker() {
            return Ok(());
        }
        match self.values.default_helper().await? {
            Some(helper) => self.install_recorder(&helper).await,
            None => Ok(()),
        }
    }

    /// Does the same for the global object that a frame runs in.
    pub(super) async fn bind_frame(&self, frame: &Frame) -> Result<()> {
        self.bind_program().await?;
        let Some(context) = frame.context() else { return Ok(()) };
        if !lock(&self.contexts).contains(&context) {
            self.bind(Some(context)).await?;
        }
        match self.values.helper(Some(context)).await? {
            Some(helper) if self.has_recorder.load(Ordering::Acquire) => self.install_recorder(&helper).await,
            _ => Ok(()),
        }
    }

    async fn bind(&self, context: Option<i32>) -> Result<()> {
        let binding = AddBinding { name: BINDING.to_owned(), execution_context_id: context };
        self.v8.request_within(deadlines::LONGEST_WAIT, binding).await?;
        let install = Evaluate { context_id: context, ..evaluation(rules::installation()) };
        let installed = self.v8.request_within(deadlines::LONGEST_WAIT, install).await?;
        let bound = installed.result.object_id.as_deref().and_then(context_of);
        lock(&self.contexts).extend(bound);
        Ok(())
    }

    /// Makes the next condition stop the program, or no longer: V8 forgets a pause that comes while it evaluates a
    /// condition. Returns false if there is no condition that could.
    pub(super) async fn set_pausing(&self, is_asked: bool) -> bool {
        let contexts = lock(&self.contexts).clone();
        let may_stop = !contexts.is_empty();
        let set = |context: i32| {
            let evaluate = Evaluate { context_id: Some(context), ..evaluation(rules::pausing(is_asked)) };
            self.v8.request_within(deadlines::GOODBYE, evaluate)
        };
        // One may have ended, and a thread in native code evaluates no conditions.
        future::join_all(contexts.into_iter().map(set)).await;
        may_stop
    }

    async fn install_recorder(&self, helper: &str) -> Result<()> {
        let call = CallFunctionOn {
            function_declaration: recording::installation(),
            object_id: Some(helper.to_owned()),
            silent: true,
            ..CallFunctionOn::default()
        };
        let installed = self.v8.request_within(deadlines::LONGEST_WAIT, call).await?;
        if let Some(exception) = &installed.exception_details {
            tracing::warn!(?exception, "cannot record values inside the program");
        }
        Ok(())
    }

    /// The program has stopped in a frame because its global object cannot decide whether it is to stop. Now it can,
    /// and is asked again.
    pub(super) async fn enter(&self, frame: &Frame, rules: &[RuleFor]) -> Result<bool> {
        self.bind_frame(frame).await?;
        let Ok(decision) = rules::decision(rules, self.thread.name()) else { return Ok(false) };
        let again = EvaluateOnCallFrame {
            call_frame_id: frame.call.call_frame_id.clone(),
            expression: decision,
            silent: true,
            return_by_value: true,
            ..EvaluateOnCallFrame::default()
        };
        let answer = self.v8.request(again).await?;
        let stops = answer.result.value == Some(Json::Bool(true));
        self.is_hit_known.store(stops, Ordering::Release);
        Ok(stops)
    }

    /// Does something while expressions in a frame can reach a value as `error`. A request that calls a function with it
    /// would do without, but has no time limit.
    pub(super) fn with_error<T>(
        &self,
        frame: &Frame,
        error: &RemoteObject,
        work: impl Future<Output = Result<T>>,
    ) -> impl Future<Output = Result<T>> {
        // It is large.
        let work = Box::pin(work);
        async move {
            self.bind_frame(frame).await?;
            self.set_error(error, true).await?;
            let done = work.await;
            let given_back = self.set_error(error, false).await;
            let done = done?;
            given_back.map(|()| done)
        }
    }

    async fn set_error(&self, thrown: &RemoteObject, is_lent: bool) -> Result<()> {
        let Some(object_id) = thrown.object_id.clone() else { return Ok(()) };
        let does = if is_lent { format!("{BINDING}.error=this") } else { format!("delete {BINDING}.error") };
        let call = CallFunctionOn {
            function_declaration: format!("function(){{'use strict';{does}}}"),
            object_id: Some(object_id),
            return_by_value: true,
            silent: true,
            ..CallFunctionOn::default()
        };
        self.v8.request(call).await.map(|_| ())
    }

    /// Puts values where an expression of a frame can reach them, in a list; an empty list takes them away again.
    pub(super) async fn lend(&self, frame: &Frame, values: Vec<CallArgument>) -> Result<()> {
        let Some(helper) = self.values.helper(frame.context()).await? else { return Ok(()) };
        let does = if values.is_empty() {
            format!("delete {BINDING}.lent")
        } else {
            format!("{BINDING}.lent=values")
        };
        let call = CallFunctionOn {
            function_declaration: format!("(...values)=>{{{does}}}"),
            object_id: Some(helper.to_string()),
            arguments: values,
            return_by_value: true,
            silent: true,
            ..CallFunctionOn::default()
        };
        self.v8.request(call).await.map(|_| ())
    }
}
