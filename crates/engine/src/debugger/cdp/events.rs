//! From the protocol's events to ours.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use ::cdp::{node_worker, runtime};
use tokio::sync::mpsc;

use super::binding::BINDING;
use super::rules::Told;
use super::scripts::Script;
use super::{CdpDebugger, Connection, Kind, breakpoints, console, lock, performance, stops};
use crate::deadlines;
use crate::debugger::Event;
use crate::model::ids::BreakpointId;

/// Takes messages until the connection closes, or the program ends and waits for that.
pub(super) async fn pump(
    mut incoming: ::cdp::Incoming,
    connection: Weak<Connection>,
    events: mpsc::Sender<Event>,
) {
    let mut told = Vec::new();
    while let Some(message) = incoming.recv().await {
        let Some(debugger) = connection.upgrade().map(CdpDebugger) else { break };
        let happened = match message {
            ::cdp::Message::Worker(worker) => {
                enter_worker(&debugger, *worker).await;
                Vec::new()
            }
            ::cdp::Message::Event(::cdp::Event::WaitingForDisconnect) => {
                debugger.0.terminated.store(true, Ordering::Release);
                if let Some(profile) = performance::last_profile(&debugger).await {
                    send(&events, vec![Event::Profiled(profile)]).await;
                }
                break;
            }
            ::cdp::Message::Event(event) => translate(&debugger, event, &mut told).await,
        };
        drop(debugger);
        if !send(&events, happened).await {
            return;
        }
    }
    if let Some(debugger) = connection.upgrade().map(CdpDebugger) {
        let last = breakpoints::never_bound(&debugger).await;
        send(&events, last).await;
    }
    // Nobody listens any more when the session ends first.
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

/// `told` collects the breakpoints that the program named for the pause that follows.
async fn translate(debugger: &CdpDebugger, event: ::cdp::Event, told: &mut Vec<BreakpointId>) -> Vec<Event> {
    match event {
        ::cdp::Event::Paused(paused) => stops::paused(debugger, *paused, std::mem::take(told)).await,
        ::cdp::Event::Resumed => resumed(debugger),
        ::cdp::Event::ScriptParsed(parsed) => {
            let script = debugger.0.scripts.add(Script::new(*parsed, Arc::clone(&debugger.0.shared.policy)));
            breakpoints::loaded(debugger, &script).await
        }
        ::cdp::Event::BreakpointResolved(resolved) => {
            breakpoints::resolved(debugger, &resolved.breakpoint_id, &resolved.location).await
        }
        ::cdp::Event::BindingCalled(called) if called.name == BINDING => {
            program_told(debugger, &called.payload, told).await
        }
        ::cdp::Event::ConsoleApiCalled(called) => {
            console::print(&called, &debugger.0.shared.output);
            Vec::new()
        }
        ::cdp::Event::HeapSnapshotChunk(piece) => {
            performance::chunk(debugger, &piece.chunk);
            Vec::new()
        }
        ::cdp::Event::WaitingForDebugger => {
            debugger.0.waits.send_replace(true);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// The stop is over, also when another client of the inspector has ended it.
fn resumed(debugger: &CdpDebugger) -> Vec<Event> {
    debugger.0.is_running.send_replace(true);
    let was_left = lock(&debugger.0.stop).take().is_some();
    if was_left {
        if let Some(group) = debugger.0.values.forget() {
            let release = runtime::ReleaseObjectGroup { object_group: group.to_owned() };
            let client = debugger.0.client.clone();
            tokio::spawn(async move { client.request(release, deadlines::REQUEST).await });
        }
        return vec![Event::Continued];
    }
    Vec::new()
}

async fn program_told(debugger: &CdpDebugger, payload: &str, told: &mut Vec<BreakpointId>) -> Vec<Event> {
    match serde_json::from_str(payload) {
        Ok(Told::Hit { ids }) => {
            if debugger.0.bound.is_news() {
                told.extend(ids.into_iter().map(BreakpointId));
            }
            Vec::new()
        }
        Ok(Told::Logged { id, text }) => vec![Event::Logged { id: BreakpointId(id), text }],
        Ok(Told::Recorded { id, line }) => vec![Event::Recorded { id: BreakpointId(id), line }],
        Ok(Told::Inlined { id }) => {
            breakpoints::inlined(debugger, BreakpointId(id)).await;
            Vec::new()
        }
        Ok(Told::Failed { id, message, times }) => {
            vec![Event::RuleFailed { id: BreakpointId(id), message, times }]
        }
        Err(error) => {
            tracing::warn!(%error, "skipped a message of the program");
            Vec::new()
        }
    }
}

/// Worker threads come by the connection of their process, and are debuggers of their own.
async fn enter_worker(debugger: &CdpDebugger, worker: ::cdp::Worker) {
    let shared = debugger.0.shared.clone();
    let kind = Kind::Worker(name_of(&worker.attached.worker_info));
    let entered =
        CdpDebugger::arrive(worker.client, worker.incoming, kind, debugger.0.pid, None, shared).await;
    if let Err(error) = entered {
        tracing::debug!(%error, "a worker came when the session was ending");
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
