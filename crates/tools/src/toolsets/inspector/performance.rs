//! Where the time and the memory of a program of Node.js go.

use std::fmt::Write;
use std::time::SystemTime;

use engine::model::performance::{HeapSnapshot, HeapType, HeapUsage, TimelineEntry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::StatusAnswer;
use super::profile::{ProfileResult, percent};
use crate::ops::performance::{self, Growth};
use crate::ops::settle::with_progress;
use crate::{Context, Effects, Tool, ToolError};

/// How many types of objects are reported.
const TYPES: usize = 10;
/// How many entries of the timeline.
const ENTRIES: usize = 50;

/// The parameters of all that measure.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SessionParam {
    /// default: the only open session
    session_id: Option<String>,
}

/// Begins a profile.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct DebuggerStartCpuProfile(SessionParam);

/// A profile has begun.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProfileStarted {
    session_id: String,
    message: &'static str,
}

impl Tool for DebuggerStartCpuProfile {
    type Answer = StatusAnswer<ProfileStarted>;
    const NAME: &'static str = "debugger_start_cpu_profile";
    const TITLE: &'static str = "Start CPU profile";
    const DESCRIPTION: &'static str = "Start a CPU profile (Node.js only). Then debugger_continue; paused time counts for the location of the pause.";
    const EFFECTS: Effects = Effects::ADDS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<ProfileStarted>, ToolError> {
        let session = context.session(self.0.session_id.as_deref())?;
        session.start_profile().await?;
        let message = "CPU profiling started; call debugger_continue to let the program run, then \
                       debugger_stop_cpu_profile for the result, also after the program has ended";
        Ok(StatusAnswer(ProfileStarted { session_id: session.id().to_string(), message }))
    }
}

/// Ends a profile.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct DebuggerStopCpuProfile(SessionParam);

impl Tool for DebuggerStopCpuProfile {
    type Answer = StatusAnswer<ProfileResult>;
    const NAME: &'static str = "debugger_stop_cpu_profile";
    const TITLE: &'static str = "Stop CPU profile";
    const DESCRIPTION: &'static str = "Stop the CPU profile, and report the functions that took the time.";
    const EFFECTS: Effects = Effects::ENDS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<ProfileResult>, ToolError> {
        let session = context.session(self.0.session_id.as_deref())?;
        Ok(StatusAnswer(ProfileResult::from(&session.stop_profile().await?)))
    }
}

/// Counts what is in memory.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct DebuggerTakeHeapSnapshot(SessionParam);

/// What is in memory.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HeapSnapshotResult {
    snapshot: SnapshotData,
    report: HeapReport,
    /// The same as text.
    formatted_report: String,
}
/// Size of the snapshot.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SnapshotData {
    /// Objects.
    node_count: u64,
    /// References between them.
    edge_count: u64,
}
/// Content of the heap; sizes in bytes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HeapReport {
    total_heap_size: u64,
    used_heap_size: u64,
    heap_usage_percentage: f64,
    /// Largest first.
    top_object_types: Vec<TypeData>,
}

/// All objects of a type.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TypeData {
    /// The class; in parentheses if not an object of the program.
    #[serde(rename = "type")]
    type_name: String,
    count: u64,
    /// Without the objects they refer to.
    size: u64,
    /// Of the whole heap.
    percentage: f64,
}

impl HeapSnapshotResult {
    fn new(snapshot: &HeapSnapshot, usage: HeapUsage) -> Self {
        let of_type = |found: &HeapType| TypeData {
            type_name: found.name.clone(),
            count: found.count,
            size: found.size,
            percentage: percent(found.size, snapshot.size),
        };
        let report = HeapReport {
            total_heap_size: usage.total,
            used_heap_size: usage.used,
            heap_usage_percentage: percent(usage.used, usage.total),
            top_object_types: snapshot.types.iter().take(TYPES).map(of_type).collect(),
        };
        Self {
            snapshot: SnapshotData { node_count: snapshot.nodes, edge_count: snapshot.edges },
            formatted_report: formatted(&report),
            report,
        }
    }
}

fn formatted(report: &HeapReport) -> String {
    let HeapReport { used_heap_size, total_heap_size, heap_usage_percentage, .. } = report;
    let mut text = format!("{used_heap_size} of {total_heap_size} bytes used ({heap_usage_percentage} %)\n");
    for TypeData { type_name, count, size, percentage } in &report.top_object_types {
        let _ = writeln!(text, "{percentage:5.1} %  {type_name}  {count} objects, {size} bytes");
    }
    text
}

impl Tool for DebuggerTakeHeapSnapshot {
    type Answer = StatusAnswer<HeapSnapshotResult>;
    const NAME: &'static str = "debugger_take_heap_snapshot";
    const TITLE: &'static str = "Take heap snapshot";
    const DESCRIPTION: &'static str =
        "Count the objects in memory by type (Node.js only). The program is suspended meanwhile.";
    const EFFECTS: Effects = Effects::SETS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<HeapSnapshotResult>, ToolError> {
        let session = context.session(self.0.session_id.as_deref())?;
        let snapshot = with_progress(&session, context, session.heap_snapshot()).await?;
        let usage = session.heap_usage(false).await?;
        Ok(StatusAnswer(HeapSnapshotResult::new(&snapshot, usage)))
    }
}

/// Measures.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerGetPerformanceMetrics {
    session_id: Option<String>,
    /// true: watch the memory for 5 s, while the program runs
    include_leak_detection: Option<bool>,
    /// true: include marks and measures of the program and of Node
    include_performance_timeline: Option<bool>,
}

/// What was measured.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metrics {
    memory_usage: MemoryUsage,
    #[serde(skip_serializing_if = "Option::is_none")]
    leak_detection: Option<LeakDetection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    performance_timeline: Option<Timeline>,
}

/// Memory for the program's objects, in bytes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MemoryUsage {
    used_size: u64,
    total_size: u64,
    usage_percentage: f64,
    /// In milliseconds since 1970.
    timestamp: u64,
}
/// Growth of the memory.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct LeakDetection {
    /// Memory left after garbage collection grew at nearly every sample.
    is_leaking: bool,
    /// Bytes per second.
    growth_rate: f64,
    #[serde(rename = "growthRateMBPerSecond")]
    growth_rate_mb: f64,
    /// Number of samples.
    snapshot_count: usize,
    /// The reason if there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}
/// Performance entries of the program and Node.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Timeline {
    event_count: usize,
    /// The latest entries.
    entries: Vec<EntryData>,
}

/// A mark or measure; times in milliseconds.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EntryData {
    name: String,
    entry_type: String,
    /// Since the program's start.
    start_time: f64,
    duration: f64,
}

impl From<Growth> for LeakDetection {
    fn from(growth: Growth) -> Self {
        let note = "the program is paused, so nothing grows: call debugger_continue with a short timeout to \
                    let it run";
        Self {
            is_leaking: growth.is_leaking,
            growth_rate: growth.rate,
            growth_rate_mb: growth.rate / f64::from(1 << 20),
            snapshot_count: growth.used.len(),
            note: growth.was_paused.then_some(note),
        }
    }
}

impl From<Vec<TimelineEntry>> for Timeline {
    fn from(entries: Vec<TimelineEntry>) -> Self {
        let entry = |entry: &TimelineEntry| EntryData {
            name: entry.name.clone(),
            entry_type: entry.kind.clone(),
            start_time: entry.start.as_secs_f64() * 1e3,
            duration: entry.duration.as_secs_f64() * 1e3,
        };
        let from = entries.len().saturating_sub(ENTRIES);
        Self { event_count: entries.len(), entries: entries.iter().skip(from).map(entry).collect() }
    }
}

impl Tool for DebuggerGetPerformanceMetrics {
    type Answer = StatusAnswer<Metrics>;
    const NAME: &'static str = "debugger_get_performance_metrics";
    const TITLE: &'static str = "Get performance metrics";
    const DESCRIPTION: &'static str =
        "Show the program's memory use, whether it grows, and its own measurements (Node.js only).";
    const EFFECTS: Effects = Effects::SETS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<Metrics>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let HeapUsage { used, total } = session.heap_usage(false).await?;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let memory_usage = MemoryUsage {
            used_size: used,
            total_size: total,
            usage_percentage: percent(used, total),
            timestamp: u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
        };
        let mut metrics = Metrics { memory_usage, leak_detection: None, performance_timeline: None };
        if self.include_leak_detection == Some(true) {
            metrics.leak_detection = Some(performance::growth(&session, context).await?.into());
        }
        if self.include_performance_timeline == Some(true) {
            metrics.performance_timeline = Some(session.timeline().await?.into());
        }
        Ok(StatusAnswer(metrics))
    }
}
