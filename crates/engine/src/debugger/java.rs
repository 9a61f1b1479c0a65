//! Java: the Debug Adapter Protocol as our bridge speaks it (`debuggee/java/`), with requests and events of its own.
//!
//! The bridge applies the rules of breakpoints in the program's own process of time: conditions, hit counts, log
//! messages and records come as JSON in place of a condition. Its events say what the rules came to.

mod events;
mod rules;
mod sampling;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use tokio::sync::mpsc;

use self::events::JavaEvents;
use self::sampling::Sampling;
use super::dap::{DapConnector, DapDebugger, Dialect};
use super::{BindResult, Debugger, Evaluate, Event, FunctionBreakpoint, SourceBreakpoint, Step};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::activity::Activity;
use crate::model::ids::RawId;
use crate::model::stack::{RawThread, Scope, Stack};
use crate::model::stop::{End, Exception, ExceptionMode};
use crate::model::thrown::{Assertion, Side, SideValue, Thrown};
use crate::model::variable::{Children, ExpandedLocals, Expansion, Page, Value};

/// Starts and reaches programs in Java.
pub type JavaConnector = DapConnector<JavaDebugger>;

/// One JVM. Clones share the connection.
#[derive(Clone, Debug)]
pub struct JavaDebugger(Arc<Java>);

#[derive(Debug)]
struct Java {
    dap: DapDebugger,
    sampling: Mutex<Option<Sampling>>,
}

macro_rules! requests {
    ($($name:ident = $command:literal => $response:ty;)*) => {$(
        #[derive(Debug)]
        enum $name {}

        impl ::dap::Request for $name {
            type Arguments = Map<String, Json>;
            type Response = $response;
            const COMMAND: &'static str = $command;
        }
    )*};
}

requests! {
    ReadOnly = "stillframe/readOnly" => ::dap::Empty;
    SameAs = "stillframe/same" => Same;
    ThrownBy = "stillframe/thrown" => RawThrown;
    ActivityOf = "stillframe/activity" => sampling::Look;
}

#[derive(Deserialize)]
struct Same {
    index: Option<usize>,
}

/// A mark of the exception, the class and method of the test, and both sides of an assertion: text and type.
#[derive(Deserialize)]
struct RawThrown {
    mark: Option<String>,
    test: Option<String>,
    expected: Option<(String, String)>,
    actual: Option<(String, String)>,
}

impl Dialect for JavaDebugger {
    fn on(dap: DapDebugger, incoming: ::dap::Incoming) -> (Self, mpsc::Receiver<Event>) {
        let events = dap.listen(incoming, JavaEvents::default());
        (Self(Arc::new(Java { dap, sampling: Mutex::default() })), events)
    }
}

impl JavaDebugger {
    async fn ask<R: ::dap::Request<Arguments = Map<String, Json>>>(
        &self,
        arguments: Json,
    ) -> Result<R::Response> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        self.0.dap.request::<R>(arguments, deadlines::READ).await
    }

    /// Nothing of the program's may run while it is read.
    fn is_read_only(&self) -> bool {
        self.0.dap.sinks().policy.safety.read_only
    }
}

#[async_trait]
impl Debugger for JavaDebugger {
    fn base(&self) -> Option<&dyn Debugger> {
        Some(&self.0.dap)
    }

    async fn prepare(&self) -> Result<()> {
        self.0.dap.prepare().await?;
        if self.is_read_only() {
            self.ask::<ReadOnly>(json!({})).await?;
        }
        Ok(())
    }

    async fn run(&self) -> Result<()> {
        self.0.dap.run().await
    }

    async fn set_breakpoints(&self, path: &Path, wanted: Vec<SourceBreakpoint>) -> Result<Vec<BindResult>> {
        let process = self.pid().unwrap_or_default();
        let places = wanted.into_iter().map(|SourceBreakpoint { line, rules, .. }| {
            let sent = ::dap::SourceBreakpoint {
                line: i64::from(line),
                condition: Some(rules::as_condition(&rules, process)),
                ..Default::default()
            };
            (sent, rules, true)
        });
        self.0.dap.send_breakpoints(path, places.collect()).await
    }

    async fn set_function_breakpoints(&self, wanted: Vec<FunctionBreakpoint>) -> Result<Vec<BindResult>> {
        let process = self.pid().unwrap_or_default();
        let places = wanted.into_iter().map(|FunctionBreakpoint { name, rules }| {
            let condition = Some(rules::as_condition(&rules, process));
            (::dap::FunctionBreakpoint { name, condition, hit_condition: None }, rules, true)
        });
        self.0.dap.send_function_breakpoints(places.collect()).await
    }

    async fn set_exception_mode(&self, mode: ExceptionMode) -> Result<()> {
        self.0.dap.set_exception_mode(mode).await
    }

    async fn resume(&self, thread: RawId) -> Result<()> {
        self.0.dap.resume(thread).await
    }

    async fn step(&self, thread: RawId, step: Step) -> Result<()> {
        self.0.dap.step(thread, step).await
    }

    async fn pause(&self, thread: RawId) -> Result<()> {
        self.0.dap.pause(thread).await
    }

    async fn threads(&self) -> Result<Vec<RawThread>> {
        self.0.dap.threads().await
    }

    async fn stack_trace(&self, thread: RawId, start: usize, levels: usize) -> Result<Stack<RawId>> {
        self.0.dap.stack_trace(thread, start, levels).await
    }

    async fn scopes(&self, frame: RawId) -> Result<Vec<Scope<RawId>>> {
        self.0.dap.scopes(frame).await
    }

    async fn variables(&self, reference: RawId, page: Page, text: usize) -> Result<Children<RawId>> {
        self.0.dap.variables(reference, page, text).await
    }

    async fn locals(
        &self,
        frame: RawId,
        page: Page,
        text: usize,
        expansion: Expansion,
    ) -> Result<ExpandedLocals<RawId>> {
        self.0.dap.locals(frame, page, text, expansion).await
    }

    async fn evaluate(&self, request: Evaluate) -> Result<Value<RawId>> {
        self.0.dap.evaluate(request).await
    }

    async fn set_variable(
        &self,
        parent: RawId,
        name: &str,
        value: &str,
        text: usize,
    ) -> Result<Value<RawId>> {
        let answer = self.0.dap.set_variable(parent, name, value, text).await;
        answer.map_err(|error| match error {
            Error::Refused(message) if !is_about_variable(&message) => {
                Error::Raised { type_name: String::new(), message, traceback: String::new() }
            }
            other => other,
        })
    }

    async fn same_as(&self, value: RawId, among: Vec<RawId>) -> Result<Option<usize>> {
        let among: Vec<i64> = among.iter().map(|other| other.0).collect();
        Ok(self.ask::<SameAs>(json!({ "value": value.0, "among": among })).await?.index)
    }

    async fn exception(&self, thread: RawId) -> Result<Exception> {
        self.0.dap.exception(thread).await
    }

    async fn should_stop_at_exception(
        &self,
        thread: RawId,
        exception: Option<&str>,
        mode: ExceptionMode,
    ) -> Result<bool> {
        self.0.dap.should_stop_at_exception(thread, exception, mode).await
    }

    /// In the bridge, `error` is the exception that stopped the thread.
    async fn exception_satisfies(&self, thread: RawId, condition: &str) -> Result<bool> {
        let Some(frame) = self.0.dap.top(thread).await? else { return Ok(true) };
        let request = Evaluate {
            expression: condition.to_owned(),
            frame: frame.id,
            deadline: deadlines::CONDITION,
            text: 100,
            pure: false,
        };
        match self.evaluate(request).await?.text.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Error::Refused("the condition is not `boolean`".to_owned())),
        }
    }

    async fn thrown(&self, _thread: RawId, text: usize) -> Result<Thrown> {
        let RawThrown { mark, test, expected, actual } = self.ask::<ThrownBy>(json!({})).await?;
        let side = |(value, type_name): (String, String)| {
            let cut = value.chars().count() > text;
            let text = value.chars().take(text).collect();
            Side { expression: None, value: Some(SideValue { text, type_name, cut }) }
        };
        let assertion = (expected.is_some() || actual.is_some()).then(|| Assertion {
            expression: None,
            operator: None,
            left: actual.map(side),
            right: expected.map(side),
        });
        Ok(Thrown { mark, test, assertion, ..Thrown::default() })
    }

    async fn start_sampling(&self, interval: Duration) -> Result<()> {
        sampling::start(self, interval);
        Ok(())
    }

    async fn activity(&self) -> Result<Activity> {
        sampling::activity(self).await
    }

    async fn stop_sampling(&self) -> Result<()> {
        sampling::stop(self);
        Ok(())
    }

    async fn detach(&self) -> Result<()> {
        sampling::stop(self);
        self.0.dap.detach().await
    }

    fn pid(&self) -> Option<u32> {
        self.0.dap.pid()
    }

    fn end(&self) -> Option<End> {
        self.0.dap.end()
    }
}

/// A refusal to assign is about the variable, or else about the expression.
fn is_about_variable(message: &str) -> bool {
    let starts = ["no assignable variable", "it cannot be assigned to", "the value belongs"];
    starts.iter().any(|start| message.starts_with(start)) || message.ends_with(" is final")
}
