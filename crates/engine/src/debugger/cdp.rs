//! Node's inspector as a [`Debugger`]: the Chrome `DevTools` Protocol, with nothing in between.
//!
//! Each process and each worker thread is a debugger of its own, made of parts. A part holds the parts that it needs;
//! only `optimized_out`, `stops`, `events` and this file take the whole. Tasks, for every connection: the client's driver, which moves
//! bytes, and the pump in `events`, which turns what arrives into the session's events; for every worker a pump. All
//! end with the connection.
//!
//! Reading order, in which each module uses only those before it:
//!
//! 1. `injected` (the texts that are sent), `v8` (commands and deadlines), `program` and `thread` (what is debugged)
//! 2. `scripts` (what is loaded), `sources` and `function_names` (what that is to the user), `places`, `columns`,
//!    `functions` and `script_texts` (from sources to scripts)
//! 3. `values` (what is to be seen), `stop` and `run_state` (where the thread is), `frames`
//! 4. `imported`, `recording`, `rules`, `insertions` and `renaming` (what breakpoints do in the program), `binding` (how the program
//!    reports it)
//! 5. `breakpoints`, `data` (watched values), `blackbox` (code that V8 skips), `exceptions`, `execution` (how the thread resumes)
//! 6. `sampling`, `heap` and `performance` (what it does while it runs)
//! 7. `connection` (the whole), `optimized_out` (names that V8 has left out of a frame), `stops` (what becomes of a pause),
//!    `console` and `events`
//! 8. `announcements`, `signal` and `connector` (how processes come in), and this file

mod announcements;
mod binding;
mod blackbox;
mod breakpoints;
mod columns;
mod connection;
mod connector;
mod console;
mod data;
mod events;
mod exceptions;
mod execution;
mod frames;
mod function_names;
mod functions;
mod heap;
mod imported;
mod injected;
mod insertions;
mod optimized_out;
mod performance;
mod places;
mod program;
mod recording;
mod renaming;
mod rules;
mod run_state;
mod sampling;
mod script_texts;
mod scripts;
mod signal;
mod sources;
mod stop;
mod stops;
mod thread;
mod v8;
mod values;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::cdp::{debugger, node_runtime, node_worker, runtime};
use async_trait::async_trait;

use self::connection::ThreadParts;
use self::thread::{THREAD, ThreadKind};
use self::values::Frame;
use super::{
    BindResult, DataBreakpoint, DataRequest, Debugger, Evaluate, FunctionBreakpoint, SourceBreakpoint, Step,
};
use crate::adapter::plan::Entry;
use crate::deadlines;
use crate::error::Result;
use crate::model::activity::{Activity, Callback};
use crate::model::ids::RawId;
use crate::model::performance::{CpuProfile, HeapSnapshot, HeapUsage, TimelineEntry};
use crate::model::stack::{RawThread, Scope, Stack};
use crate::model::stop::{End, Exception, ExceptionMode};
use crate::model::thrown::Thrown;
use crate::model::variable::{Children, ExpandedLocals, Expansion, Page, Value};

pub use self::connection::CdpDebugger;
pub use self::connector::CdpConnector;

/// How many asynchronous calls V8 keeps in a stack. More cost the program time without benefit.
const ASYNC_DEPTH: i32 = 32;

impl CdpDebugger {
    /// Makes the program stop before its first line, if requested. Without a script, or if it cannot be read, that is
    /// in the first file of the user's.
    async fn stop_at_entry(&self) -> Result<()> {
        let Some(entry) = &self.0.program.setup.entry else { return Ok(()) };
        if let Entry::Script(path) = entry {
            if self.0.thread.kind != ThreadKind::Program {
                return Ok(());
            }
            if let Some(first) = self.0.program.analyze(path).await.and_then(|code| code.first) {
                return self.0.breakpoints.set_entry(path, first).await;
            }
        }
        self.0.breakpoints.stop_in_first_file().await
    }

    /// A frame of the current stop, to read values from.
    async fn frame(&self, id: RawId) -> Result<Arc<Frame>> {
        frames::frame(&*self.0.run.stop()?, &self.0.sources.scripts, id).await
    }
}

#[async_trait]
impl Debugger for CdpDebugger {
    /// The commands are sent at once, in this order: one by one they take 3 ms of each start.
    async fn prepare(&self) -> Result<()> {
        let ThreadParts { v8, thread, program, blackbox, .. } = &*self.0;
        let is_process = !thread.is_worker();
        let depth = debugger::SetAsyncCallStackDepth { max_depth: ASYNC_DEPTH };
        let tell = node_runtime::NotifyWhenWaitingForDisconnect { enabled: true };
        let workers = node_worker::Enable { wait_for_debugger_on_start: true };
        tokio::try_join!(
            v8.request_if(is_process, tell),
            v8.request(debugger::Enable::default()),
            v8.request(depth),
            blackbox.update_blackbox(true),
            v8.request_if(is_process, workers),
            // The output of a program that we started comes through its pipes, so this costs nothing.
            v8.request_if(!program.is_ours, runtime::Enable::default()),
            // It reports when the program waits. Node.js before 20.12 does not have it.
            v8.request_if_known(is_process, node_runtime::Enable::default()),
        )?;
        Ok(())
    }

    async fn run(&self) -> Result<()> {
        let ThreadParts { v8, thread, program, run, .. } = &*self.0;
        self.stop_at_entry().await?;
        if program.is_ours && !thread.is_worker() {
            run.wait_for_start().await;
        }
        let mut stop_at_start = run.watch_running();
        v8.request(runtime::RunIfWaitingForDebugger::default()).await?;
        if !program.is_ours && run.is_waiting() {
            // It was started so that it stops before its first statement, which is seen at once then.
            let _ = tokio::time::timeout(deadlines::GOODBYE, stop_at_start.changed()).await;
        }
        if !run.is_stopped() {
            run.set_running();
        }
        Ok(())
    }

    async fn set_breakpoints(&self, path: &Path, wanted: Vec<SourceBreakpoint>) -> Result<Vec<BindResult>> {
        self.0.execution.keep_step().await;
        self.0.breakpoints.set_in_source(path, wanted).await
    }

    async fn set_function_breakpoints(&self, wanted: Vec<FunctionBreakpoint>) -> Result<Vec<BindResult>> {
        self.0.execution.keep_step().await;
        self.0.breakpoints.set_on_functions(wanted).await
    }

    async fn data_breakpoint_info(&self, request: DataRequest) -> Result<String> {
        let frame = self.frame(request.frame).await?;
        self.0.data.find(&frame, &request).await
    }

    async fn set_data_breakpoints(&self, wanted: Vec<DataBreakpoint>) -> Result<Vec<BindResult>> {
        self.0.data.set(wanted).await
    }

    async fn set_exception_mode(&self, mode: ExceptionMode) -> Result<()> {
        self.0.exceptions.set_mode(mode).await
    }

    async fn resume(&self, _thread: RawId) -> Result<()> {
        self.0.blackbox.update_blackbox(false).await?;
        self.0.execution.resume().await
    }

    async fn resume_silently(&self, _thread: RawId) -> Result<()> {
        self.0.execution.resume_silently().await
    }

    async fn step(&self, _thread: RawId, step: Step) -> Result<()> {
        self.0.blackbox.update_blackbox(true).await?;
        self.0.blackbox.reset_ranges().await?;
        self.0.execution.step(step).await
    }

    async fn pause(&self, _thread: RawId) -> Result<()> {
        self.0.execution.pause().await
    }

    async fn threads(&self) -> Result<Vec<RawThread>> {
        Ok(vec![RawThread { id: THREAD, name: self.0.thread.name().to_owned(), os_thread: None }])
    }

    async fn stack_trace(&self, _thread: RawId, start: usize, levels: usize) -> Result<Stack<RawId>> {
        let stop = self.0.run.stop()?;
        Ok(frames::stack_trace(&stop, &self.0.sources, start, levels).await)
    }

    async fn scopes(&self, frame: RawId) -> Result<Vec<Scope<RawId>>> {
        let frame = self.frame(frame).await?;
        let mut scopes = self.0.values.scopes(&frame);
        for (scope, raw) in scopes.iter_mut().zip(&frame.call.scope_chain) {
            if let (Some(start), Some(end)) = (&raw.start_location, &raw.end_location) {
                scope.range = self.0.sources.range(start, end).await;
            }
        }
        Ok(scopes)
    }

    async fn locals(
        &self,
        frame: RawId,
        page: Page,
        text: usize,
        expansion: Expansion,
    ) -> Result<ExpandedLocals<RawId>> {
        let frame = self.frame(frame).await?;
        self.0.values.locals(&frame, page, text, expansion).await
    }

    async fn variables(&self, reference: RawId, page: Page, text: usize) -> Result<Children<RawId>> {
        self.0.values.variables(reference, page, text).await
    }

    async fn evaluate(&self, request: Evaluate) -> Result<Value<RawId>> {
        optimized_out::refuse_assignment(self, &request).await?;
        let frame = self.frame(request.frame).await?;
        match self.0.values.evaluate(&frame, &request).await {
            Err(error) => optimized_out::evaluate(self, &request, error).await,
            value => value,
        }
    }

    async fn same_as(&self, value: RawId, among: Vec<RawId>) -> Result<Option<usize>> {
        self.0.values.same_as(value, &among).await
    }

    async fn set_variable(
        &self,
        parent: RawId,
        name: &str,
        value: &str,
        text: usize,
    ) -> Result<Value<RawId>> {
        self.0.values.set_variable(parent, name, value, text).await
    }

    async fn exception(&self, _thread: RawId) -> Result<Exception> {
        self.0.exceptions.describe(&*self.0.run.stop()?).await
    }

    async fn should_stop_at_exception(
        &self,
        _thread: RawId,
        _exception: Option<&str>,
        mode: ExceptionMode,
    ) -> Result<bool> {
        self.0.exceptions.should_stop_at_exception(&*self.0.run.stop()?, mode).await
    }

    async fn source_text(&self, name: &str) -> Result<Option<String>> {
        Ok(script_texts::of_source(&self.0.sources, name).await)
    }

    async fn exception_satisfies(&self, _thread: RawId, condition: &str) -> Result<bool> {
        self.0.exceptions.satisfies(&*self.0.run.stop()?, condition).await
    }

    async fn start_sampling(&self, interval: Duration) -> Result<()> {
        self.0.sampler.start(interval, &self.0.run).await
    }

    async fn activity(&self) -> Result<Activity> {
        self.0.sampler.activity().await
    }

    async fn callbacks(&self, during: Duration) -> Result<Vec<Callback>> {
        self.0.sampler.callbacks(during).await
    }

    async fn stop_sampling(&self) -> Result<()> {
        self.0.sampler.stop().await
    }

    async fn thrown(&self, _thread: RawId, text: usize) -> Result<Thrown> {
        self.0.exceptions.thrown(&*self.0.run.stop()?, text).await
    }

    async fn start_profile(&self) -> Result<()> {
        self.0.profiler.start_profile().await
    }

    async fn stop_profile(&self) -> Result<CpuProfile> {
        self.0.profiler.stop_profile().await
    }

    async fn heap_snapshot(&self) -> Result<HeapSnapshot> {
        self.0.profiler.heap_snapshot().await
    }

    async fn heap_usage(&self, collect: bool) -> Result<HeapUsage> {
        self.0.profiler.heap_usage(collect).await
    }

    async fn timeline(&self) -> Result<Vec<TimelineEntry>> {
        self.0.profiler.timeline().await
    }

    async fn detach(&self) -> Result<()> {
        let ThreadParts { v8, thread, program, run, .. } = &*self.0;
        // It removes all breakpoints, and a suspended program runs on.
        let disabled = v8.request_within(deadlines::GOODBYE, debugger::Disable::default()).await;
        if program.is_ours && !thread.is_worker() {
            // A connection that closes does not end its wait.
            run.wait_for_start().await;
            let start = runtime::RunIfWaitingForDebugger::default();
            let _ = v8.request_within(deadlines::GOODBYE, start).await;
        }
        run.take_stop();
        Ok(disabled.map(|_| ())?)
    }

    /// Those of the inspector in each Node.js that we support, which has no request for them.
    fn abilities(&self) -> Vec<String> {
        ["conditional breakpoints", "log points", "assignments", "evaluation without side effects"]
            .map(str::to_owned)
            .to_vec()
    }

    fn pid(&self) -> Option<u32> {
        self.0.thread.pid
    }

    fn url(&self) -> Option<String> {
        self.0.thread.url.clone()
    }

    fn end(&self) -> Option<End> {
        self.0.has_terminated().then_some(End::Gone)
    }
}
