//! The diagnosis of a program that does not end.

use std::borrow::Cow;

use engine::model::activity::{SampledFrame, Waiting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::StopReport;
use super::window;
use crate::ops::hang::{self, Diagnosis, LoopObservation, ThreadObservation};

/// Why a program does not end, or how it ended.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HangReport {
    /// `completed`, `failed` (exited with an error), `busy_loop`, `busy_event_loop` (the same calls keep
    /// repeating), `slow` (computing, with changing values), `waiting`, `deadlocked`, `stopped` (at a breakpoint) or
    /// `unknown`.
    pub verdict: Cow<'static, str>,
    /// Hung, or still computing at the timeout. Waiting for requests, input or a timer is not a hang.
    pub hung: bool,
    /// The program has ended.
    pub completed: bool,
    /// Where it hangs, and what `source` shows: the frame of the deciding loop, which can be a caller of the innermost
    /// frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hung_at: Option<PlaceData>,
    /// Evidence for the verdict.
    pub evidence: Vec<String>,
    /// User frames of the responsible thread, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<PlaceData>,
    /// The loop it is in.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub found: Option<LoopData>,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<WaitData>,
    /// Its threads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadData>,
    /// Number of samples of all threads.
    pub samples: u64,
    /// The samples as a call tree, with the share of each call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub calls: String,
    /// CPU time, in milliseconds.
    pub cpu_ms: u64,
    /// Time watched, in milliseconds.
    pub duration_ms: u64,
    /// What it is doing now.
    #[serde(flatten)]
    pub report: StopReport,
}

/// A place in a stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceData {
    /// The function.
    pub function: String,
    /// Absolute path, or a name for code without a file; empty for native code.
    pub file: String,
    /// 1-based; 0 if unknown.
    pub line: u32,
}

/// A loop, and what runs in it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopData {
    /// Absolute path.
    pub file: String,
    /// The function.
    pub function: String,
    /// First line.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
    /// Sampled lines.
    pub lines: Vec<LineCount>,
    /// Values that changed between samples.
    pub changing: Vec<ChangeData>,
    /// Unchanged values that decide whether the loop continues.
    pub steady: Vec<SteadyData>,
}

/// How often a line was seen.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LineCount {
    /// 1-based.
    pub line: u32,
    /// Number of samples.
    pub samples: u64,
}

/// A value that changed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ChangeData {
    /// The variable or expression.
    pub name: String,
    /// Value in the first sample.
    pub first: String,
    /// Value in the last sample.
    pub last: String,
}

/// A value that did not change.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SteadyData {
    /// The variable or expression.
    pub name: String,
    /// Value.
    pub value: String,
}

/// Something that is waited for.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitData {
    /// `lock`, `process`, `thread`, `child`, `input`, `socket`, `server`, `file`, `timer`, `task`, `promise`, `worker` or
    /// `other`.
    pub kind: Cow<'static, str>,
    /// Description.
    pub what: String,
    /// The waiting thread; absent for an open resource that no thread waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The wait has a timeout.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed: bool,
}

/// A thread, and where it was last.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ThreadData {
    /// Its name.
    pub name: String,
    /// Its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_id: Option<u32>,
    /// CPU use during the last second, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<u32>,
    /// Part of a deadlock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deadlocked: bool,
    /// Innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<PlaceData>,
}

impl HangReport {
    /// The report.
    pub fn new(found: Diagnosis) -> Self {
        let stack: Vec<PlaceData> = found.stack.iter().map(PlaceData::from).collect();
        let mut waits_for: Vec<WaitData> = found.threads.iter().filter_map(WaitData::of_thread).collect();
        waits_for.extend(found.pending.iter().map(WaitData::from));
        let mut report = StopReport::new("Diagnosed", found.settled);
        report.message = found.message;
        let hung_at = found.hung_at.as_ref().map(PlaceData::from);
        if let Some(place) = hung_at.as_ref().filter(|_| !found.source.is_empty()) {
            report.source = window(&found.source, place.line);
        }
        Self {
            verdict: found.verdict.as_str().into(),
            hung: found.verdict.is_hung(),
            completed: found.verdict.is_end(),
            hung_at,
            evidence: found.evidence,
            stack,
            found: found.found.map(|seen| LoopData::new(seen, found.lines)),
            waits_for,
            threads: found.threads.into_iter().map(ThreadData::from).collect(),
            samples: found.samples,
            calls: hang::tree_text(&found.calls, found.samples),
            cpu_ms: u64::try_from(found.computed.as_millis()).unwrap_or(u64::MAX),
            duration_ms: u64::try_from(found.took.as_millis()).unwrap_or(u64::MAX),
            report,
        }
    }
}

impl From<&SampledFrame> for PlaceData {
    fn from(frame: &SampledFrame) -> Self {
        let location = frame.location.as_ref();
        Self {
            function: frame.function.clone(),
            file: location.map(|location| location.source.name.clone()).unwrap_or_default(),
            line: location.map_or(0, |location| location.line),
        }
    }
}

impl LoopData {
    fn new(seen: LoopObservation, lines: Vec<(u32, u64)>) -> Self {
        let changing = seen.changing.into_iter();
        let steady = seen.steady.into_iter();
        Self {
            file: seen.file.display().to_string(),
            function: seen.function,
            start_line: *seen.lines.start(),
            end_line: *seen.lines.end(),
            lines: lines.into_iter().map(|(line, samples)| LineCount { line, samples }).collect(),
            changing: changing
                .map(|change| ChangeData { name: change.name, first: change.first, last: change.last })
                .collect(),
            steady: steady.map(|(name, value)| SteadyData { name, value }).collect(),
        }
    }
}

impl WaitData {
    fn of_thread(thread: &ThreadObservation) -> Option<Self> {
        let waiting = thread.blocked.as_ref()?;
        let place = thread.stack.first().map(PlaceData::from).filter(|place| place.line > 0);
        let at = place.map(|place| format!("{}:{}", place.file, place.line));
        let told = Self::from(waiting);
        Some(Self { thread: Some(thread.name.clone()), at: told.at.or(at), ..told })
    }
}

impl From<&Waiting> for WaitData {
    fn from(waiting: &Waiting) -> Self {
        let at = waiting.location.as_ref();
        Self {
            kind: waiting.kind.as_str().into(),
            what: waiting.what.clone(),
            thread: None,
            at: at.map(|location| format!("{}:{}", location.source.name, location.line)),
            timed: waiting.is_timed,
        }
    }
}

impl From<ThreadObservation> for ThreadData {
    fn from(thread: ThreadObservation) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a processor")]
        let percent = |demand: f64| (demand * 100.0).round().clamp(0.0, 100.0) as u32;
        Self {
            name: thread.name,
            process_id: thread.pid,
            cpu_percent: thread.demand.map(percent),
            deadlocked: thread.is_deadlocked,
            stack: thread.stack.iter().map(PlaceData::from).collect(),
        }
    }
}
