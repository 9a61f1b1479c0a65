//! From V8's samples to calls in the user's sources.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use ::cdp::debugger::Location as ScriptPlace;
use ::cdp::profiler::{Profile, ProfileFrame, ProfileNode};

use super::super::function_names::{function_name, or_anonymous};
use super::super::injected::is_ours;
use super::super::scripts::Script;
use super::super::sources::Sources;
use crate::model::activity::CallNode;
use crate::model::source::{Code, Function, Location};

/// How long a line of a script may be before it counts as minified, in UTF-16 units.
const LONGEST_LINE: u32 = 400;

/// The first calls in the samples. Our own code is left out, and its callees are attributed to its caller.
pub(super) async fn calls(sources: &Sources, profile: &Profile) -> Vec<CallNode> {
    let mut reader = ProfileReader { sources, known: HashMap::new(), codes: HashMap::new() };
    let mut calls = HashMap::new();
    for node in &profile.nodes {
        calls.insert(node.id, reader.call(node).await);
    }
    let children = profile.nodes.iter().map(|node| (node.id, node.children.as_slice())).collect();
    let root = profile.nodes.first().map(|root| root.children.as_slice()).unwrap_or_default();
    Tree { calls, children }.under(root, false)
}

/// What is known about a node, except its callees.
#[derive(Clone)]
enum SampledCall {
    /// The thread had nothing to do, or did what no JavaScript asked for.
    Idle,
    /// It belongs to us.
    Ours,
    /// A call of the program's. Its total does not count its callees yet, which are functions that V8 has put into
    /// its code.
    Own(CallNode),
}

struct Tree<'p> {
    calls: HashMap<i64, SampledCall>,
    children: HashMap<i64, &'p [i64]>,
}

impl Tree<'_> {
    fn under(&self, nodes: &[i64], is_ours: bool) -> Vec<CallNode> {
        let mut merged = Vec::new();
        for id in nodes {
            let children = self.children.get(id).copied().unwrap_or_default();
            match self.calls.get(id) {
                Some(SampledCall::Own(call)) if !(is_ours && call.location.is_none()) => {
                    let mut call = call.clone();
                    self.under(children, false).into_iter().for_each(|inner| merge(&mut call.calls, inner));
                    call.total += call.calls.iter().map(|inner| inner.total).sum::<u64>();
                    merge(&mut merged, call);
                }
                Some(SampledCall::Ours | SampledCall::Own(_)) => {
                    self.under(children, true).into_iter().for_each(|inner| merge(&mut merged, inner));
                }
                Some(SampledCall::Idle) | None => {}
            }
        }
        merged.retain(|call| call.total > 0);
        merged
    }
}

fn merge(into: &mut Vec<CallNode>, call: CallNode) {
    let place = |call: &CallNode| call.location.as_ref().map(|it| (it.source.name.clone(), it.line));
    let is_same = |known: &&mut CallNode| known.function == call.function && place(known) == place(&call);
    let Some(known) = into.iter_mut().find(is_same) else { return into.push(call) };
    known.total += call.total;
    known.lines = added([known.lines.as_slice(), &call.lines].concat());
    call.calls.into_iter().for_each(|inner| merge(&mut known.calls, inner));
}

/// Each line once, ascending.
fn added(lines: Vec<(u32, u64)>) -> Vec<(u32, u64)> {
    let mut sums = BTreeMap::new();
    for (line, ticks) in lines {
        *sums.entry(line).or_insert(0) += ticks;
    }
    sums.into_iter().collect()
}

/// A function of V8's: script, line, column and name.
type SampledFunction = (String, i64, i64, String);

struct ProfileReader<'s> {
    sources: &'s Sources,
    /// Functions by script and place.
    known: HashMap<SampledFunction, (String, Option<Location>)>,
    codes: HashMap<PathBuf, Code>,
}

impl ProfileReader<'_> {
    async fn call(&mut self, node: &ProfileNode) -> SampledCall {
        let frame = &node.call_frame;
        if matches!(frame.function_name.as_str(), "(idle)" | "(program)" | "(root)") && is_native(frame) {
            return SampledCall::Idle;
        }
        let script = self.sources.scripts.get(&frame.script_id);
        if is_ours(&frame.url) || script.as_deref().is_some_and(|script| self.sources.is_own(script)) {
            return SampledCall::Ours;
        }
        let (function, location) = self.function(frame, script.as_deref()).await;
        let mut call = CallNode {
            function,
            total: u64::try_from(node.hit_count).unwrap_or_default(),
            location,
            ..CallNode::default()
        };
        if let Some(script) = script {
            for tick in &node.position_ticks {
                let line = u32::try_from(tick.line.saturating_sub(1)).unwrap_or_default();
                let ticks = u64::try_from(tick.ticks).unwrap_or_default();
                self.add_line(&mut call, &script, line, ticks).await;
            }
        }
        call.lines = added(std::mem::take(&mut call.lines));
        SampledCall::Own(call)
    }

    async fn function(
        &mut self,
        frame: &ProfileFrame,
        script: Option<&Script>,
    ) -> (String, Option<Location>) {
        let key =
            (frame.script_id.clone(), frame.line_number, frame.column_number, frame.function_name.clone());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = match (script, place(frame)) {
            (Some(script), Some(place)) => {
                let name = function_name(script, &frame.function_name, &place).await;
                (name, self.sources.location(&place).await)
            }
            _ => (or_anonymous(&frame.function_name), None),
        };
        self.known.insert(key, found.clone());
        found
    }

    /// V8 counts the lines of a function that it has put into the code of another one for that one.
    async fn add_line(&mut self, call: &mut CallNode, script: &Script, line: u32, ticks: u64) {
        let Some(own) = &call.location else { return };
        let Some((path, line)) = source_line(self.sources, script, own, line).await else { return };
        let around = match &path {
            Some(path) if !own.source.internal => {
                let code = self.code(path).await;
                let (here, there) = (innermost(code, own.line), innermost(code, line));
                there.filter(|there| here.is_none_or(|here| here.name != there.name)).cloned()
            }
            _ => None,
        };
        let Some(inner) = around else { return call.lines.push((line, ticks)) };
        let function = inner.name.rsplit('.').next().unwrap_or_default().to_owned();
        let location =
            Location { line: inner.header, column: 0, generated: None, source: own.source.clone() };
        call.total = call.total.saturating_sub(ticks);
        let lines = vec![(line, ticks)];
        merge(
            &mut call.calls,
            CallNode { function, location: Some(location), total: ticks, lines, calls: Vec::new() },
        );
    }

    async fn code(&mut self, path: &Path) -> &Code {
        if !self.codes.contains_key(path) {
            let code = self.sources.program.analyze(path).await.unwrap_or_default();
            self.codes.insert(path.to_owned(), code);
        }
        self.codes.entry(path.to_owned()).or_default()
    }
}

fn is_native(frame: &ProfileFrame) -> bool {
    frame.url.is_empty() && matches!(frame.script_id.as_str(), "" | "0")
}

/// Where a function of a profile begins; none for one of V8's own.
pub(in super::super) fn place(frame: &ProfileFrame) -> Option<ScriptPlace> {
    Some(ScriptPlace {
        script_id: frame.script_id.clone(),
        line_number: i32::try_from(frame.line_number).ok().filter(|line| *line >= 0)?,
        column_number: i32::try_from(frame.column_number).ok(),
    })
}

/// The innermost function with a name around a line, its first line included.
fn innermost(code: &Code, line: u32) -> Option<&Function> {
    let around = code.functions.iter().filter(|function| (function.start..=function.end).contains(&line));
    around.max_by_key(|function| function.start)
}

/// A line of a script, 0-based, in the source that the function comes from. V8 reports no columns, so a line with
/// much source in it cannot be resolved.
async fn source_line(
    sources: &Sources,
    script: &Script,
    own: &Location,
    line: u32,
) -> Option<(Option<PathBuf>, u32)> {
    let Some(Ok(map)) = script.map().await else {
        return Some((own.source.path.clone(), line.saturating_add(1)));
    };
    let originals: Vec<_> =
        (0..LONGEST_LINE).chain([u32::MAX]).filter_map(|column| map.original(line, column)).collect();
    let first = originals.first()?;
    let most = originals.iter().map(|original| original.line.abs_diff(first.line)).max();
    if most.is_none_or(|most| most > 3) || originals.iter().any(|original| original.source != first.source) {
        return None;
    }
    let path = map.source(first.source)?.path.as_ref();
    let path = path.map(|path| sources.program.setup.to_local(path));
    (path == own.source.path).then(|| (path, first.line.saturating_add(1)))
}
