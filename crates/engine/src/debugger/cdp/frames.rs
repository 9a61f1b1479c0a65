//! Frames as users see them: in the source, under the source's names.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use ::cdp::debugger::{CallFrame, Location as ScriptPlace, Scope};
use ::cdp::runtime;

use super::function_names::{begins_with_script, or_anonymous, source_name};
use super::scripts::{Script, Scripts, path_of, position};
use super::sources::Sources;
use super::stop::V8Stop;
use super::values::Frame;
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::ids::RawId;
use crate::model::source::{Location, Source};
use crate::model::stack::{Stack, StackFrame};

/// The frames of a stop without those of our hook, followed by those that called them in earlier turns of the event
/// loop.
pub(super) async fn stack_trace(
    stop: &V8Stop,
    sources: &Sources,
    start: usize,
    levels: usize,
) -> Stack<RawId> {
    if stop.is_idle || stop.is_unwound {
        let name = if stop.is_idle { "(idle)" } else { "(the stack was unwound)" };
        let location = unwound_at(stop, sources).await;
        let only = StackFrame { id: stop.id_of(0), name: name.to_owned(), location };
        return Stack { frames: [only].into_iter().skip(start).take(levels).collect(), total: 1 };
    }
    // Frames that are no longer on the stack: their functions await what is on it.
    let callers: Vec<&runtime::CallFrame> = stop.traces().flat_map(|trace| &trace.call_frames).collect();
    let mut hooks: HashMap<&str, bool> = HashMap::new();
    let all = 0..stop.frames.len() + callers.len();
    let shown = all.filter(|index| {
        let Some(frame) = stop.frames.get(*index) else { return true };
        !*hooks.entry(&frame.location.script_id).or_insert_with(|| sources.is_hook(frame))
    });
    let shown: Vec<usize> = shown.collect();
    let mut frames = Vec::new();
    for &index in shown.iter().skip(start).take(levels) {
        let frame = match (stop.frames.get(index), callers.get(index - stop.frames.len().min(index))) {
            (Some(frame), _) => describe(sources, stop.id_of(index), frame).await,
            (None, Some(frame)) => describe_caller(sources, stop.id_of(index), frame).await,
            (None, None) => break,
        };
        frames.push(frame);
    }
    Stack { frames, total: shown.len() }
}

/// The first place of the user's code in the text of the stack of the thrown value.
async fn unwound_at(stop: &V8Stop, sources: &Sources) -> Option<Location> {
    let stack = stop.thrown.as_ref()?.value.description.as_deref()?;
    let is_users = |(path, ..): &(PathBuf, u32, u32)| sources.program.is_users(path);
    let (path, line, column) = stack.lines().filter_map(printed_place).find(is_users)?;
    let script = sources.scripts.newest(|script| script.path.as_deref() == Some(&path));
    let is_source = match &script {
        Some(script) => matches!(script.map().await, Some(Ok(map)) if map.source_of(&path).is_some()),
        None => true,
    };
    // A loader that gives a script the path of its source has Node write places of the source.
    let Some(script) = script.filter(|_| !is_source) else {
        let source = Source::file(sources.program.setup.to_local(&path));
        return Some(Location { source, line, column, generated: None });
    };
    let number = |number: u32| i32::try_from(number).unwrap_or(i32::MAX).saturating_sub(1);
    let (line_number, column_number) = (number(line), Some(number(column)));
    sources.location(&ScriptPlace { script_id: script.id.clone(), line_number, column_number }).await
}

/// File, line and column, 1-based, in a line of a stack such as `at async load (file:///app/a.mjs:3:9)`.
fn printed_place(line: &str) -> Option<(PathBuf, u32, u32)> {
    let call = line.trim_start().strip_prefix("at ")?;
    let place =
        call.strip_suffix(')').and_then(|call| call.rsplit_once('(')).map_or(call, |(_, place)| place);
    let (place, column) = place.strip_prefix("async ").unwrap_or(place).rsplit_once(':')?;
    let (url, line) = place.rsplit_once(':')?;
    Some((path_of(url)?, line.parse().ok()?, column.parse().ok()?))
}

async fn describe(sources: &Sources, id: RawId, frame: &CallFrame) -> StackFrame<RawId> {
    let script = sources.scripts.get(&frame.location.script_id);
    let name = match &script {
        Some(script) if is_module(script, frame) => "<module>".to_owned(),
        Some(script) => source_name(script, &frame.function_name, frame.function_location.as_ref()).await,
        None => or_anonymous(&frame.function_name),
    };
    StackFrame { id, name, location: sources.location(&frame.location).await }
}

async fn describe_caller(sources: &Sources, id: RawId, frame: &runtime::CallFrame) -> StackFrame<RawId> {
    let place = place_of(frame);
    let name = or_anonymous(&frame.function_name);
    StackFrame { id, name: format!("async {name}"), location: sources.location(&place).await }
}

/// The place of a frame that waits.
pub(super) fn place_of(frame: &runtime::CallFrame) -> ScriptPlace {
    ScriptPlace {
        script_id: frame.script_id.clone(),
        line_number: frame.line_number,
        column_number: Some(frame.column_number),
    }
}

/// Whether a frame is a module's own code. With `CommonJS` that is a function around the whole script.
fn is_module(script: &Script, frame: &CallFrame) -> bool {
    let is_whole = frame.function_location.as_ref().is_some_and(|place| begins_with_script(script, place));
    frame.function_name.is_empty()
        && (is_whole || Frame { script_end: Some(script.end), ..Frame::new(frame.clone()) }.is_module())
}

/// A frame that values can be read from.
pub(super) async fn frame(stop: &V8Stop, scripts: &Scripts, id: RawId) -> Result<Arc<Frame>> {
    let index = stop.index_of(id).ok_or(Error::NotPaused { state: "running" })?;
    if let Some(known) = lock(&stop.read).get(&index) {
        return Ok(Arc::clone(known));
    }
    let mut call_frame = stop.frames.get(index).cloned().ok_or_else(|| {
        Error::Unsupported(
            "this is an async frame: it awaits the frames above it and is no longer on the stack, so its \
             variables cannot be read"
                .to_owned(),
        )
    })?;
    // What a function is about to return is on its line; what another function returned is new information.
    call_frame.return_value = stop.returned.get().cloned().filter(|_| index == 0);
    let script = scripts.get(&call_frame.location.script_id);
    if let Some(url) = script.as_ref().filter(|script| script.is_module_of_bundle()).map(|script| &script.url)
    {
        leave_out_bundle(&mut call_frame.scope_chain, url);
    }
    let script_end = script.map(|script| script.end);
    let (names, unclear) = names(scripts, &call_frame).await.unwrap_or_default();
    let frame = Arc::new(Frame { names, unclear, script_end, ..Frame::new(call_frame) });
    lock(&stop.read).insert(index, Arc::clone(&frame));
    Ok(frame)
}

/// Leaves out the function of a bundle that evaluates a module, which has the name of the module, and those around it.
fn leave_out_bundle(chain: &mut Vec<Scope>, url: &str) {
    let is_function = |scope: &Scope| {
        scope.name.as_ref().is_some_and(|name| !name.is_empty() && url.ends_with(name.as_str()))
    };
    if let Some(around) = chain.iter().position(is_function) {
        let outer = chain.split_off(around);
        chain.extend(outer.into_iter().filter(|scope| scope.kind == "global"));
    }
}

/// What the variables of a frame are called in its source, by what a minifier called them, and those of the source that
/// could be several of the script.
async fn names(scripts: &Scripts, frame: &CallFrame) -> Option<(HashMap<String, String>, HashSet<String>)> {
    let script = scripts.get(&frame.location.script_id)?;
    let map = Arc::clone(script.map().await?.ok()?);
    if !map.has_names() {
        return None;
    }
    let chain = &frame.scope_chain;
    let function = chain.iter().position(|scope| scope.kind == "local")?;
    let part = |scope: &Scope| {
        Some((position(scope.start_location.as_ref()?), position(scope.end_location.as_ref()?)))
    };
    let blocks: Vec<_> = chain.iter().take(function).filter_map(part).collect();
    let text = script.text().await?;
    Some(map.clear_names(&text, part(chain.get(function)?)?, &blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_from_the_lines_of_a_stack() {
        let table = [
            ("    at async load (file:///app/a%20b.mjs:3:9)", Some(("/app/a b.mjs", 3, 9))),
            ("    at async file:///app/main.mjs:7:1", Some(("/app/main.mjs", 7, 1))),
            ("    at Cart.total [as sum] (/app/cart.js:12:20)", Some(("/app/cart.js", 12, 20))),
            ("    at async Promise.all (index 0)", None),
            ("    at async open (node:internal/fs/promises:639:25)", None),
            ("TypeError: fetch failed", None),
        ];
        for (line, expected) in table {
            let expected = expected.map(|(path, line, column)| (PathBuf::from(path), line, column));
            assert_eq!(printed_place(line), expected, "{line}");
        }
    }
}
