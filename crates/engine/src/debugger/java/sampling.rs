//! What a JVM is doing, by short suspensions: all stacks, and the monitors and locks that threads wait for.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::{ActivityOf, JavaDebugger};
use crate::error::Result;
use crate::lock::lock;
use crate::model::activity::{Activity, CallNode, SampledFrame, ThreadActivity, WaitKind, Waiting};
use crate::model::ids::RawId;
use crate::model::source::{Location, Source};

/// The program runs for this many times as long as it is suspended.
const REST: u32 = 8;

/// The sampling of one JVM.
#[derive(Debug)]
pub(super) struct Sampling {
    merged: Arc<Mutex<BTreeMap<i64, ThreadActivity>>>,
    task: AbortHandle,
}

/// One sample.
#[derive(Deserialize)]
pub(super) struct Look {
    threads: Vec<ThreadLook>,
}

#[derive(Deserialize)]
struct ThreadLook {
    id: i64,
    name: String,
    daemon: bool,
    /// Innermost first.
    stack: Vec<FrameLook>,
    blocked: Option<WaitLook>,
}

/// Function, file of the user's, line, the function's first line.
#[derive(Deserialize)]
struct FrameLook(String, Option<String>, i64, i64);

#[derive(Deserialize)]
struct WaitLook {
    kind: String,
    what: String,
    timed: bool,
    holders: Vec<i64>,
}

pub(super) fn start(debugger: &JavaDebugger, interval: Duration) {
    let merged = Arc::<Mutex<BTreeMap<i64, ThreadActivity>>>::default();
    let (into, weak) = (Arc::clone(&merged), Arc::downgrade(&debugger.0));
    let task = tokio::spawn(async move {
        while let Some(java) = weak.upgrade() {
            let began = Instant::now();
            if look(&JavaDebugger(java), &into).await.is_err() {
                return;
            }
            tokio::time::sleep(interval.max(began.elapsed() * REST)).await;
        }
    });
    let sampling = Sampling { merged, task: task.abort_handle() };
    if let Some(before) = lock(&debugger.0.sampling).replace(sampling) {
        before.task.abort();
    }
}

pub(super) fn stop(debugger: &JavaDebugger) {
    if let Some(sampling) = lock(&debugger.0.sampling).take() {
        sampling.task.abort();
    }
}

/// What was seen since the last time.
pub(super) async fn activity(debugger: &JavaDebugger) -> Result<Activity> {
    let merged =
        lock(&debugger.0.sampling).as_ref().map(|sampling| Arc::clone(&sampling.merged)).unwrap_or_default();
    look(debugger, &merged).await?;
    let threads = std::mem::take(&mut *lock(&merged)).into_values().collect();
    Ok(Activity { threads, ..Activity::default() })
}

async fn look(debugger: &JavaDebugger, into: &Mutex<BTreeMap<i64, ThreadActivity>>) -> Result<()> {
    let seen = debugger.ask::<ActivityOf>(json!({})).await?;
    let mut merged = lock(into);
    for thread in seen.threads {
        let known = merged.entry(thread.id).or_default();
        let stack: Vec<SampledFrame> = thread.stack.iter().map(sampled).collect();
        known.samples += 1;
        add(&mut known.calls, &thread.stack);
        known.blocked = thread.blocked.map(|wait| {
            let own =
                stack.iter().find(|frame| frame.location.as_ref().is_some_and(|at| !at.source.internal));
            Waiting {
                kind: WaitKind::named(&wait.kind),
                what: wait.what,
                location: own.and_then(|frame| frame.location.clone()),
                is_timed: wait.timed,
                holders: wait.holders.into_iter().map(RawId).collect(),
                task: None,
            }
        });
        known.thread = RawId(thread.id);
        known.name = thread.name;
        known.is_daemon = thread.daemon;
        known.stack = stack;
    }
    Ok(())
}

fn sampled(FrameLook(function, file, line, _): &FrameLook) -> SampledFrame {
    SampledFrame { function: function.clone(), location: location(function, file.as_deref(), *line) }
}

/// A frame of a library has its class in place of a file.
fn location(function: &str, file: Option<&str>, line: i64) -> Option<Location> {
    let line = u32::try_from(line).ok()?;
    let name = file.unwrap_or(function).to_owned();
    let source = Source { path: file.map(PathBuf::from), name, internal: file.is_none() };
    Some(Location { source, line, column: 1, generated: None })
}

/// Adds a stack to merged samples.
fn add(calls: &mut Vec<CallNode>, stack: &[FrameLook]) {
    let mut calls = calls;
    for FrameLook(function, file, line, first) in stack.iter().rev() {
        let place = location(function, file.as_deref(), *first);
        let at = calls.iter().position(|call| call.function == *function && call.location == place);
        let at = at.unwrap_or_else(|| {
            calls.push(CallNode { function: function.clone(), location: place, ..CallNode::default() });
            calls.len() - 1
        });
        let Some(call) = calls.get_mut(at) else { return };
        call.total += 1;
        if let Ok(line) = u32::try_from(*line) {
            if let Some((_, times)) = call.lines.iter_mut().find(|(known, _)| *known == line) {
                *times += 1;
            } else {
                call.lines.push((line, 1));
                call.lines.sort_unstable();
            }
        }
        calls = &mut call.calls;
    }
}
