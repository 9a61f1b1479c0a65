//! Where the time and the memory of a thread of JavaScript go.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::time::Duration;

use ::cdp::profiler::{self, Profile, ProfileFrame};
use ::cdp::{heap_profiler, runtime};
use serde::Deserialize;

use super::heap::SnapshotReader;
use super::sampling;
use super::sources::Sources;
use super::v8::V8Client;
use super::values::ValueReader;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::performance::{CpuProfile, FunctionTime, HeapSnapshot, HeapUsage, TimelineEntry};
use crate::model::source::Location;

/// Microseconds between samples: what V8 does by itself.
const INTERVAL: u32 = 1_000;
/// How many of the functions are given.
const FUNCTIONS: usize = 100;

/// Measures one thread.
#[derive(Debug)]
pub(super) struct Profiler {
    v8: V8Client,
    sources: Sources,
    values: ValueReader,
    is_profiling: Mutex<bool>,
    /// A heap snapshot that is being read.
    heap: Mutex<Option<SnapshotReader>>,
}

impl Profiler {
    pub(super) fn new(v8: V8Client, sources: Sources, values: ValueReader) -> Self {
        Self { v8, sources, values, is_profiling: Mutex::default(), heap: Mutex::default() }
    }

    pub(super) async fn start_profile(&self) -> Result<()> {
        self.v8.request(profiler::Enable::default()).await?;
        self.v8.request(profiler::SetSamplingInterval { interval: INTERVAL }).await?;
        self.v8.request(profiler::Start::default()).await?;
        *lock(&self.is_profiling) = true;
        Ok(())
    }

    pub(super) async fn stop_profile(&self) -> Result<CpuProfile> {
        *lock(&self.is_profiling) = false;
        let stopped = self.v8.request_within(deadlines::READ, profiler::Stop::default()).await?;
        self.v8.request(profiler::Disable::default()).await?;
        Ok(self.summarize(&stopped.profile).await)
    }

    /// The profile of a thread that has come to its end while it was taken.
    pub(super) async fn last_profile(&self) -> Option<CpuProfile> {
        let is_profiling = *lock(&self.is_profiling);
        if is_profiling { self.stop_profile().await.ok() } else { None }
    }

    async fn summarize(&self, profile: &Profile) -> CpuProfile {
        let (sums, idle) = sums(profile);
        let mut sums: Vec<(&ProfileFrame, FunctionSum)> = sums.into_values().collect();
        sums.sort_by_key(|(_, sum)| std::cmp::Reverse((sum.own, sum.total)));
        let mut functions = Vec::new();
        for (frame, sum) in sums.into_iter().take(FUNCTIONS) {
            functions.push(FunctionTime {
                function: name(frame),
                location: self.place(frame).await,
                own: Duration::from_micros(sum.own),
                total: Duration::from_micros(sum.total),
                hits: sum.hits,
            });
        }
        let time = |micros: f64| Duration::try_from_secs_f64(micros / 1e6).unwrap_or_default();
        CpuProfile {
            begin: time(profile.start_time),
            duration: time(profile.end_time - profile.start_time),
            calls: profile.nodes.len(),
            samples: profile.samples.len(),
            idle: Duration::from_micros(idle),
            functions,
        }
    }

    async fn place(&self, frame: &ProfileFrame) -> Option<Location> {
        self.sources.location(&sampling::place(frame)?).await
    }

    /// The pieces of a snapshot are events, which the pump reads one by one into what is counted.
    pub(super) async fn heap_snapshot(&self) -> Result<HeapSnapshot> {
        let (reading, done) = SnapshotReader::new();
        {
            let mut heap = lock(&self.heap);
            if heap.is_some() {
                // The pieces of two snapshots could not be distinguished.
                let problem = "a heap snapshot is already being taken; wait for it";
                return Err(Error::Refused(problem.to_owned()));
            }
            *heap = Some(reading);
        }
        let take = heap_profiler::TakeHeapSnapshot { report_progress: false };
        let taken = async {
            self.v8.request_within(deadlines::SNAPSHOT, take).await?;
            done.await.map_err(|_| Error::Refused("cannot read the heap snapshot".to_owned()))
        };
        let late = || Error::Deadline { what: "the heap snapshot".to_owned(), after: deadlines::SNAPSHOT };
        let snapshot = tokio::time::timeout(deadlines::SNAPSHOT, taken).await;
        *lock(&self.heap) = None;
        snapshot.unwrap_or_else(|_| Err(late()))
    }

    /// Takes the next piece of a snapshot.
    pub(super) fn chunk(&self, chunk: &str) {
        if let Some(reading) = lock(&self.heap).as_mut() {
            reading.read(chunk);
        }
    }

    pub(super) async fn heap_usage(&self, collect: bool) -> Result<HeapUsage> {
        self.v8.request_if(collect, heap_profiler::CollectGarbage::default()).await?;
        let usage = self.v8.request(runtime::GetHeapUsage::default()).await?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "V8 reports bytes as a double"
        )]
        let bytes = |number: f64| number.max(0.0) as u64;
        Ok(HeapUsage { used: bytes(usage.used_size), total: bytes(usage.total_size) })
    }

    pub(super) async fn timeline(&self) -> Result<Vec<TimelineEntry>> {
        let entries: Vec<TimelineRow> = self.values.timeline().await?;
        let time = |milliseconds: f64| Duration::try_from_secs_f64(milliseconds / 1e3).unwrap_or_default();
        let entry = |TimelineRow { name, kind, start, duration }| TimelineEntry {
            name,
            kind,
            start: time(start),
            duration: time(duration),
        };
        Ok(entries.into_iter().map(entry).collect())
    }
}

/// One line of a profile: a function, whatever called it.
#[derive(Clone, Debug, Default)]
struct FunctionSum {
    own: u64,
    total: u64,
    hits: u64,
}

/// What distinguishes a function from others.
type FunctionKey = (String, String, i64, i64);

/// The time of each function in microseconds, and that in which nothing ran.
fn sums(profile: &Profile) -> (HashMap<FunctionKey, (&ProfileFrame, FunctionSum)>, u64) {
    let by_id: HashMap<i64, &profiler::ProfileNode> =
        profile.nodes.iter().map(|node| (node.id, node)).collect();
    let parents: HashMap<i64, i64> =
        profile.nodes.iter().flat_map(|node| node.children.iter().map(|child| (*child, node.id))).collect();
    let mut own: HashMap<i64, (u64, u64)> = HashMap::new();
    for (sample, delta) in profile.samples.iter().zip(&profile.time_deltas) {
        let (time, hits) = own.entry(*sample).or_default();
        *time += u64::try_from(*delta).unwrap_or(0);
        *hits += 1;
    }
    let mut sums: HashMap<FunctionKey, (&ProfileFrame, FunctionSum)> = HashMap::new();
    let mut idle = 0;
    for (id, (time, hits)) in own {
        let Some(node) = by_id.get(&id) else { continue };
        match node.call_frame.function_name.as_str() {
            "(idle)" => idle += time,
            "(root)" => continue,
            _ => {}
        }
        let (_, sum) =
            sums.entry(key(&node.call_frame)).or_insert((&node.call_frame, FunctionSum::default()));
        sum.own += time;
        sum.hits += hits;
        // A function that calls itself is counted once.
        let mut seen = HashSet::new();
        let mut next = Some(id);
        while let Some(node) = next.and_then(|id| by_id.get(&id)) {
            let frame = &node.call_frame;
            if frame.function_name != "(root)" && seen.insert(key(frame)) {
                sums.entry(key(frame)).or_insert((frame, FunctionSum::default())).1.total += time;
            }
            next = parents.get(&node.id).copied();
        }
    }
    sums.retain(|(name, ..), _| name != "(idle)");
    (sums, idle)
}

fn key(frame: &ProfileFrame) -> FunctionKey {
    (frame.function_name.clone(), frame.script_id.clone(), frame.line_number, frame.column_number)
}

fn name(frame: &ProfileFrame) -> String {
    // The function around a module is without a name, and begins where its file does.
    match frame.function_name.as_str() {
        "" if frame.line_number == 0 && frame.column_number == 0 => "<module>".to_owned(),
        "" => "<anonymous>".to_owned(),
        name => name.to_owned(),
    }
}

/// An entry as the program gives it, a list of these fields. Times are in milliseconds.
#[derive(Debug, Deserialize)]
struct TimelineRow {
    name: String,
    kind: String,
    start: f64,
    duration: f64,
}

#[cfg(test)]
mod tests {
    use ::cdp::profiler::ProfileNode;

    use super::*;

    fn node(id: i64, name: &str, children: &[i64]) -> ProfileNode {
        let call_frame = ProfileFrame { function_name: name.to_owned(), ..ProfileFrame::default() };
        ProfileNode { id, call_frame, children: children.to_vec(), ..ProfileNode::default() }
    }

    #[test]
    fn time_is_summed_by_function_and_recursion_counts_once() {
        let profile = Profile {
            nodes: vec![
                node(1, "(root)", &[2, 5]),
                node(2, "main", &[3]),
                node(3, "fib", &[4]),
                node(4, "fib", &[]),
                node(5, "(idle)", &[]),
            ],
            samples: vec![2, 3, 4, 4, 5],
            time_deltas: vec![1, 10, 100, 100, 1000],
            ..Profile::default()
        };
        let (sums, idle) = sums(&profile);
        let mut found: Vec<_> =
            sums.values().map(|(frame, sum)| (name(frame), sum.own, sum.total, sum.hits)).collect();
        found.sort();
        assert_eq!(found, [("fib".to_owned(), 210, 210, 3), ("main".to_owned(), 1, 211, 1)]);
        assert_eq!(idle, 1000);
    }
}
