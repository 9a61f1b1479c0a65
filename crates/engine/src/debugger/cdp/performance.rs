//! Where the time and the memory of a thread of JavaScript go.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use ::cdp::profiler::{self, Profile, ProfileFrame};
use ::cdp::{debugger, heap_profiler, runtime};
use serde::Deserialize;

use super::heap::Reading;
use super::{CdpDebugger, frames, lock};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::performance::{CpuProfile, FunctionTime, HeapSnapshot, HeapUsage, TimelineEntry};
use crate::model::source::Location;

/// Microseconds between samples: what V8 does by itself.
const INTERVAL: u32 = 1_000;
/// How many of the functions are given.
const FUNCTIONS: usize = 100;

pub(super) async fn start_profile(debugger: &CdpDebugger) -> Result<()> {
    debugger.request(profiler::Enable::default()).await?;
    debugger.request(profiler::SetSamplingInterval { interval: INTERVAL }).await?;
    debugger.request(profiler::Start::default()).await?;
    *lock(&debugger.0.is_profiling) = true;
    Ok(())
}

pub(super) async fn stop_profile(debugger: &CdpDebugger) -> Result<CpuProfile> {
    *lock(&debugger.0.is_profiling) = false;
    let stopped = debugger.0.client.request(profiler::Stop::default(), deadlines::READ).await?;
    debugger.request(profiler::Disable::default()).await?;
    Ok(summed_up(debugger, &stopped.profile).await)
}

/// The profile of a thread that has come to its end while it was taken.
pub(super) async fn last_profile(debugger: &CdpDebugger) -> Option<CpuProfile> {
    let is_profiling = *lock(&debugger.0.is_profiling);
    if is_profiling { stop_profile(debugger).await.ok() } else { None }
}

/// One line of a profile: a function, whatever called it.
#[derive(Clone, Debug, Default)]
struct Sum {
    own: u64,
    total: u64,
    hits: u64,
}

/// What tells a function from others.
type Key = (String, String, i64, i64);

async fn summed_up(debugger: &CdpDebugger, profile: &Profile) -> CpuProfile {
    let (sums, idle) = sums(profile);
    let mut sums: Vec<(&ProfileFrame, Sum)> = sums.into_values().collect();
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse((sum.own, sum.total)));
    let mut functions = Vec::new();
    for (frame, sum) in sums.into_iter().take(FUNCTIONS) {
        functions.push(FunctionTime {
            function: name(frame),
            location: place(debugger, frame).await,
            own: Duration::from_micros(sum.own),
            total: Duration::from_micros(sum.total),
            hits: sum.hits,
        });
    }
    CpuProfile {
        duration: Duration::try_from_secs_f64((profile.end_time - profile.start_time).max(0.0) / 1e6)
            .unwrap_or_default(),
        calls: profile.nodes.len(),
        samples: profile.samples.len(),
        idle: Duration::from_micros(idle),
        functions,
    }
}

/// The time of each function in microseconds, and that in which nothing ran.
fn sums(profile: &Profile) -> (HashMap<Key, (&ProfileFrame, Sum)>, u64) {
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
    let mut sums: HashMap<Key, (&ProfileFrame, Sum)> = HashMap::new();
    let mut idle = 0;
    for (id, (time, hits)) in own {
        let Some(node) = by_id.get(&id) else { continue };
        match node.call_frame.function_name.as_str() {
            "(idle)" => idle += time,
            "(root)" => continue,
            _ => {}
        }
        let (_, sum) = sums.entry(key(&node.call_frame)).or_insert((&node.call_frame, Sum::default()));
        sum.own += time;
        sum.hits += hits;
        // A function that calls itself is counted once.
        let mut seen = HashSet::new();
        let mut next = Some(id);
        while let Some(node) = next.and_then(|id| by_id.get(&id)) {
            let frame = &node.call_frame;
            if frame.function_name != "(root)" && seen.insert(key(frame)) {
                sums.entry(key(frame)).or_insert((frame, Sum::default())).1.total += time;
            }
            next = parents.get(&node.id).copied();
        }
    }
    sums.retain(|(name, ..), _| name != "(idle)");
    (sums, idle)
}

fn key(frame: &ProfileFrame) -> Key {
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

async fn place(debugger: &CdpDebugger, frame: &ProfileFrame) -> Option<Location> {
    let place = debugger::Location {
        script_id: frame.script_id.clone(),
        line_number: i32::try_from(frame.line_number).ok().filter(|line| *line >= 0)?,
        column_number: i32::try_from(frame.column_number).ok(),
    };
    frames::location(debugger, &place).await
}

/// The pieces of a snapshot come by the events, which the pump reads one by one into what is counted.
pub(super) async fn heap_snapshot(debugger: &CdpDebugger) -> Result<HeapSnapshot> {
    let (reading, done) = Reading::new();
    {
        let mut heap = lock(&debugger.0.heap);
        if heap.is_some() {
            // The pieces of two snapshots could not be told apart.
            let problem = "a heap snapshot is being taken already; wait for it";
            return Err(Error::Refused(problem.to_owned()));
        }
        *heap = Some(reading);
    }
    let take = heap_profiler::TakeHeapSnapshot { report_progress: false };
    let taken = async {
        debugger.0.client.request(take, deadlines::SNAPSHOT).await?;
        done.await.map_err(|_| Error::Refused("the heap snapshot could not be read".to_owned()))
    };
    let late = || Error::Deadline { what: "the heap snapshot".to_owned(), after: deadlines::SNAPSHOT };
    let snapshot = tokio::time::timeout(deadlines::SNAPSHOT, taken).await;
    *lock(&debugger.0.heap) = None;
    snapshot.unwrap_or_else(|_| Err(late()))
}

/// Takes the next piece of a snapshot.
pub(super) fn chunk(debugger: &CdpDebugger, chunk: &str) {
    if let Some(reading) = lock(&debugger.0.heap).as_mut() {
        reading.read(chunk);
    }
}

pub(super) async fn heap_usage(debugger: &CdpDebugger, collect: bool) -> Result<HeapUsage> {
    debugger.request_if(collect, heap_profiler::CollectGarbage::default()).await?;
    let usage = debugger.request(runtime::GetHeapUsage::default()).await?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "V8 gives bytes as a double")]
    let bytes = |number: f64| number.max(0.0) as u64;
    Ok(HeapUsage { used: bytes(usage.used_size), total: bytes(usage.total_size) })
}

/// An entry as the program gives it: name, kind, start and duration, in milliseconds.
#[derive(Debug, Deserialize)]
struct Entry(String, String, f64, f64);

pub(super) async fn timeline(debugger: &CdpDebugger) -> Result<Vec<TimelineEntry>> {
    let entries: Vec<Entry> = debugger.0.values.timeline().await?;
    let time = |milliseconds: f64| Duration::try_from_secs_f64(milliseconds / 1e3).unwrap_or_default();
    let entry = |Entry(name, kind, start, duration)| TimelineEntry {
        name,
        kind,
        start: time(start),
        duration: time(duration),
    };
    Ok(entries.into_iter().map(entry).collect())
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
    fn time_is_summed_up_by_function_and_recursion_counts_once() {
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
