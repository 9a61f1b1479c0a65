//! Frames as a user knows them: in the source, under the names that stand there.

use std::collections::HashMap;
use std::sync::Arc;

use ::cdp::debugger::{self, CallFrame, Location as Place};
use ::cdp::runtime;

use super::scripts::Script;
use super::stops::Stop;
use super::values::Frame;
use super::{CdpDebugger, lock};
use crate::error::{Error, Result};
use crate::model::ids::RawId;
use crate::model::source::{Generated, Location, Source};
use crate::model::stack::{Stack, StackFrame};

/// The frames of a stop, followed by those that called them in earlier turns of the event loop.
pub(super) async fn stack_trace(debugger: &CdpDebugger, start: usize, levels: usize) -> Result<Stack<RawId>> {
    let stop = debugger.stop()?;
    if stop.is_idle {
        let idle = StackFrame { id: stop.id_of(0), name: "(idle)".to_owned(), location: None };
        return Ok(Stack { frames: [idle].into_iter().skip(start).take(levels).collect(), total: 1 });
    }
    let callers = callers(&stop);
    let all = stop.frames.len() + callers.len();
    let mut frames = Vec::new();
    for index in start..all.min(start.saturating_add(levels)) {
        let frame = match (stop.frames.get(index), callers.get(index - stop.frames.len().min(index))) {
            (Some(frame), _) => describe(debugger, stop.id_of(index), frame).await,
            (None, Some(frame)) => describe_caller(debugger, stop.id_of(index), frame).await,
            (None, None) => break,
        };
        frames.push(frame);
    }
    Ok(Stack { frames, total: all })
}

/// Frames that are not on the stack any more: their functions wait for what is on it.
fn callers(stop: &Stop) -> Vec<runtime::CallFrame> {
    let mut callers = Vec::new();
    let mut next = stop.asynchronous.as_ref();
    while let Some(trace) = next {
        callers.extend(trace.call_frames.iter().cloned());
        next = trace.parent.as_deref();
    }
    callers
}

async fn describe(debugger: &CdpDebugger, id: RawId, frame: &CallFrame) -> StackFrame<RawId> {
    let script = debugger.0.scripts.get(&frame.location.script_id);
    let name = match &script {
        Some(script) if is_module(script, frame) => "<module>".to_owned(),
        Some(script) => name(script, &frame.function_name, frame.function_location.as_ref()).await,
        None => or_anonymous(&frame.function_name),
    };
    StackFrame { id, name, location: location(debugger, &frame.location).await }
}

async fn describe_caller(debugger: &CdpDebugger, id: RawId, frame: &runtime::CallFrame) -> StackFrame<RawId> {
    let place = Place {
        script_id: frame.script_id.clone(),
        line_number: frame.line_number,
        column_number: Some(frame.column_number),
    };
    let name = if frame.function_name.is_empty() { "<anonymous>" } else { &frame.function_name };
    StackFrame { id, name: format!("async {name}"), location: location(debugger, &place).await }
}

/// Whether a frame is a module's own code. With `CommonJS` that is a function around the whole script.
fn is_module(script: &Script, frame: &CallFrame) -> bool {
    let begins_with_script = frame
        .function_location
        .as_ref()
        .is_some_and(|place| (place.line_number, place.column_number.unwrap_or(0)) == script.start);
    frame.function_name.is_empty()
        && (begins_with_script
            || Frame { call: frame.clone(), names: HashMap::new(), script_end: Some(script.end) }.is_module())
}

/// The name of the function that begins at a place.
pub(super) async fn function_name(script: &Script, function: &str, place: &Place) -> String {
    let begins_with_script = (place.line_number, place.column_number.unwrap_or(0)) == script.start;
    if function.is_empty() && begins_with_script {
        return "<module>".to_owned();
    }
    name(script, function, Some(place)).await
}

/// The name of a function in its source. A function without one is `<anonymous>`.
async fn name(script: &Script, name: &str, function: Option<&Place>) -> String {
    let Some(place) = function else { return or_anonymous(name) };
    let (line, column) = position(place);
    if let Some(Ok(map)) = script.map().await
        && let Some(original) = map.original(line, column)
        && let Some(original) = original.name
        && !name.is_empty()
    {
        // A method keeps the class in front.
        return match name.rsplit_once('.') {
            Some((class, _)) => format!("{class}.{original}"),
            None => original.to_owned(),
        };
    }
    or_anonymous(name)
}

pub(super) fn or_anonymous(name: &str) -> String {
    if name.is_empty() { "<anonymous>".to_owned() } else { name.to_owned() }
}

/// A place as a user knows it: in the source, with the place in the script beside it where they differ.
pub(super) async fn location(debugger: &CdpDebugger, place: &Place) -> Option<Location> {
    let script = debugger.0.scripts.get(&place.script_id)?;
    let (line, column) = position(place);
    let here = Location {
        source: source(debugger, &script),
        line: line.saturating_add(1),
        column: column.saturating_add(1),
        generated: None,
    };
    let Some(Ok(map)) = script.map().await else { return Some(here) };
    let Some(original) = map.original(line, column) else { return Some(here) };
    let Some(found) = map.source(original.source) else { return Some(here) };
    let generated = Generated { script: here.source.name, line: here.line, column: here.column };
    let source = match &found.path {
        Some(path) => {
            let path = debugger.0.shared.setup.to_local(path);
            let internal = here.source.internal || debugger.0.shared.adapter.is_internal(&path);
            Source { internal, ..Source::file(path) }
        }
        None => Source { path: None, name: found.name.clone(), internal: here.source.internal },
    };
    Some(Location {
        source,
        line: original.line.saturating_add(1),
        column: original.column.saturating_add(1),
        generated: Some(generated),
    })
}

/// What a script is called where its map does not say of what it was made.
pub(super) fn source(debugger: &CdpDebugger, script: &Script) -> Source {
    let shared = &debugger.0.shared;
    if let Some(path) = &script.path {
        let path = shared.setup.to_local(path);
        return Source { internal: !shared.is_users(&path), ..Source::file(path) };
    }
    let name = if script.url.is_empty() { format!("eval-{}", script.id) } else { script.url.clone() };
    Source { path: None, internal: name.starts_with("node:"), name }
}

/// The line of a place as a user counts it, with what tells its source; none for code that no source stands for.
pub(super) async fn line(debugger: &CdpDebugger, place: &Place) -> Option<(String, u32)> {
    let script = debugger.0.scripts.get(&place.script_id)?;
    let (line, column) = position(place);
    match script.map().await {
        Some(Ok(map)) => {
            let original = map.original(line, column)?;
            Some((format!("{} {:?}", script.id, original.source), original.line))
        }
        _ => Some((script.id.clone(), line)),
    }
}

/// 0-based line and column; V8 leaves a column out where it is 0.
pub(super) fn position(place: &Place) -> (u32, u32) {
    let number = |value: i32| u32::try_from(value).unwrap_or(0);
    (number(place.line_number), number(place.column_number.unwrap_or(0)))
}

/// A frame that values can be read from.
pub(super) async fn frame(debugger: &CdpDebugger, id: RawId) -> Result<Arc<Frame>> {
    let stop = debugger.stop()?;
    let index = stop.index_of(id).ok_or(Error::NotPaused { state: "running" })?;
    if let Some(known) = lock(&stop.read).get(&index) {
        return Ok(Arc::clone(known));
    }
    let mut call_frame = stop.frames.get(index).cloned().ok_or_else(|| {
        Error::Unsupported(
            "this is an async frame: it waits for the ones above it and is not on the stack any more, so its \
             variables cannot be read"
                .to_owned(),
        )
    })?;
    // What a function is about to return stands on its line; what another one has returned is news.
    call_frame.return_value = stop.returned.get().cloned().filter(|_| index == 0);
    let script_end = debugger.0.scripts.get(&call_frame.location.script_id).map(|script| script.end);
    let names = names(debugger, &call_frame).await.unwrap_or_default();
    let frame = Arc::new(Frame { call: call_frame, names, script_end });
    lock(&stop.read).insert(index, Arc::clone(&frame));
    Ok(frame)
}

/// What the variables of a frame are called in its source, by what a minifier called them.
async fn names(debugger: &CdpDebugger, frame: &CallFrame) -> Option<HashMap<String, String>> {
    let script = debugger.0.scripts.get(&frame.location.script_id)?;
    let map = Arc::clone(script.map().await?.ok()?);
    if !map.has_names() {
        return None;
    }
    let scope = frame.scope_chain.iter().find(|scope| scope.kind == "local")?;
    let start = position(scope.start_location.as_ref()?);
    let end = position(scope.end_location.as_ref()?);
    let text = text(debugger, &script).await?;
    Some(map.names(&text, start, end))
}

/// The text of a script.
pub(super) async fn text(debugger: &CdpDebugger, script: &Script) -> Option<Arc<str>> {
    let read = || async {
        let question = debugger::GetScriptSource { script_id: script.id.clone() };
        debugger.request(question).await.map(|source| source.script_source.into())
    };
    script.text.get_or_try_init(read).await.ok().cloned()
}
