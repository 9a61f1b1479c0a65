//! From the protocol's events to ours.

use std::sync::{Arc, Weak};

use ::cdp::{node_worker, runtime};
use tokio::sync::mpsc;

use super::connection::{CdpDebugger, ThreadParts};
use super::injected::BINDING;
use super::program::NodeProgram;
use super::rules::RuleEvent;
use super::scripts::Script;
use super::thread::{JsThread, ThreadKind};
use super::{console, stops};
use crate::adapter::BoxFuture;
use crate::debugger::{Arrival, Event};
use crate::error::{Error, Result};
use crate::model::ids::BreakpointId;

/// Attaches to a thread, and reports it to the session. Boxed, because a thread brings others in.
pub(super) fn arrive(
    client: ::cdp::Client,
    incoming: ::cdp::Incoming,
    thread: JsThread,
    program: Arc<NodeProgram>,
    arrivals: mpsc::Sender<Arrival>,
) -> BoxFuture<'static, Result<()>> {
    let (events, received) = mpsc::channel(256);
    let adapter = program.adapter;
    let debugger = CdpDebugger::new(client, thread, program, arrivals.clone(), events.clone());
    // The pump must not keep an unused connection open.
    tokio::spawn(pump(incoming, Arc::downgrade(&debugger.0), events));
    let arrival: Arrival = Arrival::new(adapter, Arc::new(debugger), received);
    Box::pin(async move { arrivals.send(arrival).await.map_err(|_| Error::Closed) })
}

/// Takes messages until the connection closes, or the program ends and waits for that.
async fn pump(mut incoming: ::cdp::Incoming, parts: Weak<ThreadParts>, events: mpsc::Sender<Event>) {
    let mut named = Vec::new();
    while let Some(message) = incoming.recv().await {
        let Some(debugger) = parts.upgrade().map(CdpDebugger) else { break };
        let happened = match message {
            ::cdp::Message::Worker(worker) => {
                enter_worker(&debugger, *worker).await;
                Vec::new()
            }
            ::cdp::Message::Event(::cdp::Event::WaitingForDisconnect) => {
                debugger.0.set_terminated();
                if let Some(profile) = debugger.0.profiler.last_profile().await {
                    send(&events, vec![Event::Profiled(profile)]).await;
                }
                break;
            }
            ::cdp::Message::Event(event) => translate(&debugger, event, &mut named).await,
        };
        drop(debugger);
        if !send(&events, happened).await {
            return;
        }
    }
    if let Some(debugger) = parts.upgrade().map(CdpDebugger) {
        let last = debugger.0.breakpoints.never_bound().await;
        send(&events, last).await;
    }
    // The receiver is gone when the session ends first.
    let _ = events.send(Event::Left).await;
}

async fn send(events: &mpsc::Sender<Event>, happened: Vec<Event>) -> bool {
    for event in happened {
        if events.send(event).await.is_err() {
            return false;
        }
    }
    true
}

/// `named` collects the breakpoints that the program named for the pause that follows.
async fn translate(debugger: &CdpDebugger, event: ::cdp::Event, named: &mut Vec<BreakpointId>) -> Vec<Event> {
    match event {
        ::cdp::Event::Paused(paused) => stops::paused(debugger, *paused, std::mem::take(named)).await,
        ::cdp::Event::Resumed => resumed(debugger),
        ::cdp::Event::ScriptParsed(parsed) => {
            let parts = &debugger.0;
            let (policy, v8) = (Arc::clone(&parts.program.policy), parts.v8.clone());
            let scripts = &parts.sources.scripts;
            let evaluator = scripts.last_file().or_else(|| parts.program.setup.program.clone());
            let script = Script::new(*parsed, evaluator, policy, v8);
            let is_library = script.file().is_some_and(|path| parts.program.is_skipped(path));
            let script = scripts.add(script, is_library);
            parts.breakpoints.loaded(&script).await
        }
        ::cdp::Event::BreakpointResolved(resolved) => {
            debugger.0.breakpoints.resolved(&resolved.breakpoint_id, &resolved.location).await
        }
        ::cdp::Event::BindingCalled(called) if called.name == BINDING => {
            program_reports(debugger, &called.payload, named).await
        }
        ::cdp::Event::ConsoleApiCalled(called) => {
            console::print(&called, &debugger.0.program.output);
            Vec::new()
        }
        ::cdp::Event::HeapSnapshotChunk(piece) => {
            debugger.0.profiler.chunk(&piece.chunk);
            Vec::new()
        }
        ::cdp::Event::WaitingForDebugger => {
            debugger.0.run.set_waiting();
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// The stop has ended, also if another client of the inspector ended it.
fn resumed(debugger: &CdpDebugger) -> Vec<Event> {
    debugger.0.run.set_running();
    let was_left = debugger.0.run.take_stop().is_some();
    if was_left {
        if let Some(group) = debugger.0.values.forget() {
            let release = runtime::ReleaseObjectGroup { object_group: group.to_owned() };
            let v8 = debugger.0.v8.clone();
            tokio::spawn(async move { v8.request(release).await });
        }
        return vec![Event::Continued];
    }
    Vec::new()
}

async fn program_reports(debugger: &CdpDebugger, payload: &str, named: &mut Vec<BreakpointId>) -> Vec<Event> {
    match serde_json::from_str(payload) {
        Ok(RuleEvent::Hit { ids }) => {
            if debugger.0.binding.is_first_report() {
                named.extend(ids.into_iter().map(BreakpointId));
            }
            Vec::new()
        }
        // V8 has bound it where it does not belong, and it has acted there before that was seen.
        Ok(RuleEvent::Logged { id, .. } | RuleEvent::Recorded { id, .. } | RuleEvent::Failed { id, .. })
            if debugger.0.breakpoints.is_refused(BreakpointId(id)) =>
        {
            Vec::new()
        }
        Ok(RuleEvent::Logged { id, text }) => vec![Event::Logged { id: BreakpointId(id), text }],
        Ok(RuleEvent::Recorded { id, line }) => vec![Event::Recorded { id: BreakpointId(id), line }],
        Ok(RuleEvent::Inlined { id }) => {
            debugger.0.breakpoints.inlined(BreakpointId(id)).await;
            Vec::new()
        }
        Ok(RuleEvent::Failed { id, message, times }) => {
            vec![Event::RuleFailed { id: BreakpointId(id), message, times }]
        }
        Err(error) => {
            tracing::warn!(%error, "skipped a message of the program");
            Vec::new()
        }
    }
}

/// Worker threads use the connection of their process, and have separate debuggers.
async fn enter_worker(debugger: &CdpDebugger, worker: ::cdp::Worker) {
    let parts = &debugger.0;
    let kind = ThreadKind::Worker(name_of(&worker.attached.worker_info));
    let thread = JsThread { kind, pid: parts.thread.pid, url: None };
    let (program, arrivals) = (Arc::clone(&parts.program), parts.arrivals.clone());
    let entered = arrive(worker.client, worker.incoming, thread, program, arrivals).await;
    if let Err(error) = entered {
        tracing::debug!(%error, "ignored a worker that started while the session was ending");
    }
}

/// The name that the program gave it, or else its number and script. Node's title is `[worker 1] NAME`, with
/// `WorkerThread` for none.
fn name_of(info: &node_worker::WorkerInfo) -> String {
    let name = info.title.split_once("] ").map_or(info.title.as_str(), |(_, name)| name);
    if !name.is_empty() && name != "WorkerThread" && name != info.title {
        return name.to_owned();
    }
    let script = info.url.rsplit('/').next().unwrap_or_default();
    let number = format!("worker {}", info.worker_id);
    if script.is_empty() { number } else { format!("{number} {script}") }
}
