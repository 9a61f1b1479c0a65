//! From the protocol's events to ours.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{PoisonError, Weak};

use serde::Deserialize;
use tokio::sync::mpsc;

use super::breakpoints::planted;
use super::inspector::Functions;
use super::{Connection, DapDebugger};
use crate::debugger::{Event, Planted};
use crate::model::ids::{BreakpointId, RawId};
use crate::model::stop::StopReason;
use crate::output::{Category, Output};
use crate::sources;

/// The breakpoints that the inspector named for stops that are still to come, by thread.
type Decided = BTreeMap<i64, Vec<BreakpointId>>;

/// Takes messages until the connection closes.
pub(super) async fn pump(
    mut incoming: ::dap::Incoming,
    connection: Weak<Connection>,
    events: mpsc::Sender<Event>,
    output: Output,
) {
    let mut decided = Decided::new();
    while let Some(message) = incoming.recv().await {
        let Some(connection) = connection.upgrade() else { break };
        // An adapter between stays when the program has ended, and would keep the connection open.
        if matches!(message, ::dap::Message::Event(::dap::Event::Terminated)) {
            connection.terminated.store(true, Ordering::Release);
            break;
        }
        let debugger = DapDebugger(connection);
        let translated = match message {
            ::dap::Message::Event(event) => translate(&debugger, event, &mut decided, &output),
            ::dap::Message::Request(request) => {
                debugger.0.client.respond(&request, Err(format!("`{}` is not served", request.command)));
                Vec::new()
            }
        };
        drop(debugger);
        for event in translated {
            if events.send(event).await.is_err() {
                return;
            }
        }
    }
    // Nobody listens any more when the session ends first.
    let _ = events.send(Event::Left).await;
}

fn translate(
    debugger: &DapDebugger,
    event: ::dap::Event,
    decided: &mut Decided,
    output: &Output,
) -> Vec<Event> {
    match event {
        ::dap::Event::Initialized => {
            debugger.0.initialized.send_replace(true);
            Vec::new()
        }
        ::dap::Event::Stopped(stopped) => {
            debugger.0.stops.fetch_add(1, Ordering::Relaxed);
            debugger.0.suspended.store(true, Ordering::Release);
            let Some(thread) = stopped.thread_id else {
                tracing::warn!("skipped a stop of no thread");
                return Vec::new();
            };
            let mut breakpoints = decided.remove(&thread).unwrap_or_default();
            let planting = debugger.0.planting.lock().unwrap_or_else(PoisonError::into_inner);
            breakpoints.extend(planting.owners(&stopped.hit_breakpoint_ids));
            drop(planting);
            let first = Event::Stopped {
                thread: RawId(thread),
                reason: stop_reason(&stopped.reason),
                text: stopped.text.or(stopped.description).filter(|text| !text.is_empty()),
                breakpoints,
            };
            let others = std::mem::take(decided).into_iter().map(|(thread, ids)| also_stopped(thread, ids));
            std::iter::once(first).chain(others).collect()
        }
        ::dap::Event::Continued(_) => {
            debugger.0.suspended.store(false, Ordering::Release);
            if let Some(inspector) = debugger.inspector() {
                inspector.forget();
            }
            vec![Event::Continued]
        }
        ::dap::Event::Output(event) => {
            let category = match event.category.as_deref() {
                Some("stdout") => Category::Stdout,
                Some("stderr") => Category::Stderr,
                Some("telemetry") => return Vec::new(),
                _ => Category::Console,
            };
            output.append(category, &event.output);
            Vec::new()
        }
        ::dap::Event::Breakpoint(event) => {
            let Some(number) = event.breakpoint.id else { return Vec::new() };
            let owners =
                debugger.0.planting.lock().unwrap_or_else(PoisonError::into_inner).all_owners(number);
            let planted = planted(event.breakpoint);
            owners.into_iter().map(|id| Event::Planted { id, planted: planted.clone() }).collect()
        }
        ::dap::Event::Process(event) => {
            if let Some(pid) = event.system_process_id.and_then(|pid| u32::try_from(pid).ok()) {
                // It is told once.
                let _ = debugger.0.pid.set(pid);
            }
            Vec::new()
        }
        ::dap::Event::Other(name, body) if name == "stillframe" => inspector_event(debugger, body, decided),
        // debugpy's own event, for a child that waits to be attached to with these arguments.
        ::dap::Event::Other(name, serde_json::Value::Object(arguments)) if name == "debugpyAttach" => {
            if let Some(children) = &debugger.0.children {
                // One that finds no room waits for ever, so there is room for more than anyone starts at once.
                let _ = children.try_send(arguments);
            }
            Vec::new()
        }
        ::dap::Event::Exited(_)
        | ::dap::Event::Terminated
        | ::dap::Event::Thread(_)
        | ::dap::Event::Other(..) => Vec::new(),
    }
}

/// pydevd 1.8.22 tells of one thread when several come to breakpoints before it has suspended them all. The
/// inspector has told of each.
fn also_stopped(thread: i64, breakpoints: Vec<BreakpointId>) -> Event {
    Event::Stopped { thread: RawId(thread), reason: StopReason::Breakpoint, text: None, breakpoints }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "breakpoint" | "function breakpoint" | "instruction breakpoint" | "data breakpoint" => {
            StopReason::Breakpoint
        }
        "step" | "goto" => StopReason::Step,
        "entry" => StopReason::Entry,
        "exception" => StopReason::Exception,
        "pause" => StopReason::Pause,
        other => StopReason::Other(other.to_owned()),
    }
}

/// What `tell` in the inspector sends.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Told {
    Hit {
        ids: Vec<u32>,
        thread: i64,
    },
    Logged {
        id: u32,
        text: String,
    },
    Failed {
        id: u32,
        message: String,
        times: u64,
    },
    /// A line of a recording that did not go by the pipe.
    Recorded {
        id: u32,
        line: String,
    },
    /// The answer to `look_for`.
    Functions {
        place: u64,
        #[serde(flatten)]
        functions: Functions,
    },
    /// The answer of the sampler to a request.
    Answer {
        number: u64,
        body: serde_json::Value,
    },
    /// The program ends, and has never loaded this file.
    Unloaded {
        ids: Vec<u32>,
        file: String,
        /// The files of its own that it has loaded.
        loaded: Vec<String>,
    },
    /// The program ends, and has told everything.
    Flushed,
}

fn inspector_event(debugger: &DapDebugger, body: serde_json::Value, decided: &mut Decided) -> Vec<Event> {
    match serde_json::from_value(body) {
        Ok(Told::Functions { place, functions }) => {
            if let Some(inspector) = debugger.inspector() {
                inspector.found(place, functions);
            }
            Vec::new()
        }
        Ok(Told::Answer { number, body }) => {
            debugger.0.sampling.answered(number, body);
            Vec::new()
        }
        Ok(Told::Hit { ids, thread }) => {
            let ids = ids.into_iter().map(BreakpointId).collect();
            if debugger.0.suspended.load(Ordering::Acquire) {
                return vec![also_stopped(thread, ids)];
            }
            decided.insert(thread, ids);
            Vec::new()
        }
        Ok(Told::Logged { id, text }) => vec![Event::Logged { id: BreakpointId(id), text }],
        Ok(Told::Failed { id, message, times }) => {
            vec![Event::RuleFailed { id: BreakpointId(id), message, times }]
        }
        Ok(Told::Recorded { id, line }) => vec![Event::Recorded { id: BreakpointId(id), line }],
        Ok(Told::Unloaded { ids, file, loaded }) => {
            let planted = Planted::NotLoaded(sources::not_loaded(Path::new(&file), loaded));
            let news = |id| Event::Planted { id: BreakpointId(id), planted: planted.clone() };
            ids.into_iter().map(news).collect()
        }
        Ok(Told::Flushed) => Vec::new(),
        Err(error) => {
            tracing::warn!(%error, "skipped an event of the inspector");
            Vec::new()
        }
    }
}
