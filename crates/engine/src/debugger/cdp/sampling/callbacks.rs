//! What an event loop calls again and again: the outermost functions of the user's that samples show, when V8 has
//! counted several calls of each. One that calls itself proves nothing by that.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use ::cdp::profiler::{
    self, FunctionCoverage, Profile, ProfileFrame, ProfileNode, ScriptCoverage, TakePreciseCoverage,
};

use super::super::function_names::function_name;
use super::super::sources::Sources;
use super::super::v8::V8Client;
use super::profile::place;
use super::sending::send;
use crate::error::Result;
use crate::model::activity::Callback;

/// What is seen more rarely, in hundredths of all samples, may be the end of what ran before.
const RAREST: i64 = 5;

/// How long V8 may take to answer. It does so between two steps of a program that computes.
const WITHIN: Duration = Duration::from_millis(900);

/// Counts calls for a while. V8 drops the code that it has optimized for that.
pub(super) async fn of(v8: &V8Client, sources: &Sources, during: Duration) -> Result<Vec<Callback>> {
    let begin = profiler::StartPreciseCoverage { call_count: true, detailed: false };
    let counted = match v8.request_within(WITHIN, begin).await {
        Ok(_) => count(v8, during).await,
        Err(error) => Err(error.into()),
    };
    // V8 may yet begin with what it did not come to in time.
    send(v8, profiler::StopPreciseCoverage::default()).await?;
    let (profile, scripts) = counted?;
    let mut callbacks = Vec::new();
    for frame in outermost(sources, &profile).await {
        match callback(sources, frame, &scripts).await {
            Some(callback) if callback.calls > 1 => callbacks.push(callback),
            // It is in a call that has not come back.
            _ => return Ok(Vec::new()),
        }
    }
    callbacks.sort_by_key(|callback| std::cmp::Reverse(callback.calls));
    Ok(callbacks)
}

/// The samples and the calls of that time.
async fn count(v8: &V8Client, during: Duration) -> Result<(Profile, Vec<ScriptCoverage>)> {
    let within = WITHIN;
    let (stop, start) = (profiler::Stop::default(), profiler::Start::default());
    let (before, begun) = tokio::join!(v8.request_within(within, stop), v8.request_within(within, start));
    before?;
    begun?;
    tokio::time::sleep(during).await;
    let (stopped, begun, counted) = tokio::join!(
        v8.request_within(within, stop),
        v8.request_within(within, start),
        v8.request_within(within, TakePreciseCoverage::default()),
    );
    begun?;
    Ok((stopped?.profile, counted?.result))
}

/// The functions of the user's that are called by none of the user's. Empty when one of them calls itself.
async fn outermost<'p>(sources: &Sources, profile: &'p Profile) -> Vec<&'p ProfileFrame> {
    let nodes: HashMap<i64, &ProfileNode> = profile.nodes.iter().map(|node| (node.id, node)).collect();
    let total: i64 = profile.nodes.iter().map(|node| node.hit_count).sum();
    let mut hits: Vec<(&ProfileFrame, i64)> = Vec::new();
    let mut open: Vec<&ProfileNode> = profile.nodes.first().into_iter().collect();
    while let Some(node) = open.pop() {
        if !is_users(sources, &node.call_frame).await {
            open.extend(node.children.iter().filter_map(|child| nodes.get(child)));
            continue;
        }
        let inside = inside(node, &nodes);
        if inside.iter().skip(1).any(|inner| inner.call_frame == node.call_frame) {
            return Vec::new();
        }
        let seen: i64 = inside.iter().map(|inner| inner.hit_count).sum();
        match hits.iter_mut().find(|(frame, _)| **frame == node.call_frame) {
            Some((_, known)) => *known += seen,
            None => hits.push((&node.call_frame, seen)),
        }
    }
    hits.into_iter().filter(|(_, seen)| seen * 100 >= total * RAREST).map(|(frame, _)| frame).collect()
}

/// A call and what it called, itself first.
fn inside<'p>(node: &'p ProfileNode, nodes: &HashMap<i64, &'p ProfileNode>) -> Vec<&'p ProfileNode> {
    let (mut found, mut open, mut known) = (Vec::new(), vec![node], HashSet::new());
    while let Some(node) = open.pop() {
        if known.insert(node.id) {
            found.push(node);
            open.extend(node.children.iter().filter_map(|child| nodes.get(child)));
        }
    }
    found
}

async fn is_users(sources: &Sources, frame: &ProfileFrame) -> bool {
    let Some(script) = sources.scripts.get(&frame.script_id) else { return false };
    if script.path.as_deref().is_some_and(|path| sources.program.setup.is_hook(path)) {
        return false;
    }
    let Some(place) = place(frame) else { return false };
    sources.location(&place).await.is_some_and(|location| !location.source.internal)
}

async fn callback(sources: &Sources, frame: &ProfileFrame, scripts: &[ScriptCoverage]) -> Option<Callback> {
    let (place, script) = (place(frame)?, sources.scripts.get(&frame.script_id)?);
    let counted = scripts.iter().find(|counted| counted.script_id == frame.script_id)?;
    let (text, at) = script.text_at(&place).await?;
    // V8 counts UTF-16 units.
    let offset = u64::try_from(text.get(..at)?.encode_utf16().count()).ok()?;
    let calls = calls_at(&counted.functions, offset, &frame.function_name);
    let function = function_name(&script, &frame.function_name, &place).await;
    Some(Callback { function, location: sources.location(&place).await, calls })
}

/// How often the function was called that begins there, its name or its parameters. V8 leaves out some that were not
/// called; what is around one of these has another name.
fn calls_at(functions: &[FunctionCoverage], offset: u64, name: &str) -> u64 {
    let own = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let ranges = functions.iter().filter_map(|function| Some((function, function.ranges.first()?)));
    let around = ranges.filter(|(_, range)| (range.start_offset..range.end_offset).contains(&offset));
    around
        .max_by_key(|(_, range)| range.start_offset)
        .filter(|(function, _)| own(&function.function_name) == own(name))
        .map_or(0, |(_, range)| range.count)
}
