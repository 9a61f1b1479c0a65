//! Data breakpoints: what is watched, what happened to it, and when its storage is gone.

mod storage;

use std::collections::HashMap;

use super::{DapDebugger, commands, lock, motion, together, values};
use crate::adapter::plan::FrameQuirks;
use crate::deadlines;
use crate::debugger::{
    BindResult, DataBreakpoint, DataRequest, Debugger, Evaluate, Event, NO_DATA_BREAKPOINTS, RuleFor,
    cannot_watch,
};
use crate::error::{Error, Result};
use crate::model::data_breakpoint::{CodeLine, DataChange};
use crate::model::ids::{BreakpointId, RawId};
use crate::model::limits::MAX_VALUE;

/// How many frames are searched for the one that a value is in.
const FRAMES: i64 = 50;

/// How far below the stack pointer a function that calls no other may keep its variables.
const RED_ZONE: u64 = 128;

/// What is known of storage, and what is watched.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// How many storages were found.
    count: u64,
    /// By our names for the storages.
    known: HashMap<String, Storage>,
    set: Vec<DataBreakpoint>,
    /// What the adapter watches, by its numbers.
    numbers: HashMap<i64, String>,
}

#[derive(Clone, Debug)]
struct Storage {
    /// The adapter's name for it. Several expressions can have the same storage.
    adapter_id: String,
    /// The expression for its value.
    expression: String,
    /// What it had at the last stop.
    content: Content,
    /// The frame that it is in.
    frame: Option<FrameEnd>,
}

/// What storage has.
#[derive(Clone, Debug, Default)]
struct Content {
    text: String,
    /// Its bytes, where the debugger gives them. The text of a pointer may change without a write to it.
    bytes: Option<String>,
    /// The text does not show all of it.
    is_partial: bool,
}

impl Content {
    fn is_same(&self, other: &Self) -> bool {
        let is_text_same = self.text == other.text;
        match (&self.bytes, &other.bytes) {
            (Some(one), Some(other)) if one == other => true,
            (Some(_), Some(_)) => is_text_same && !self.is_partial,
            _ => is_text_same,
        }
    }
}

/// Where a frame ends.
#[derive(Clone, Debug)]
struct FrameEnd {
    /// The function that ends then.
    function: String,
    /// Where it returns to.
    address: String,
    /// The stack pointer in the frame.
    pointer: u64,
    /// The adapter's number for the breakpoint there, while the storage is watched.
    number: Option<i64>,
}

/// Finds the storage of a value.
pub(super) async fn find(debugger: &DapDebugger, request: DataRequest) -> Result<String> {
    let DataRequest { expression, frame, access } = request;
    check(debugger)?;
    let name = {
        let mut watched = lock(&debugger.0.watched);
        watched.count += 1;
        watched.count.to_string()
    };
    let quirks = debugger.quirks().data;
    let found = match quirks.command {
        Some(command) => storage::found(debugger, command, frame, &name, &expression).await,
        None => storage::adapter_id(debugger, frame, &expression, access).await,
    };
    let mut content = Content::default();
    if quirks.command.is_none() || matches!(found, Err(Error::Unsupported(_))) {
        // An expression that cannot be evaluated fails here, in the language's words.
        content.text = evaluate(debugger, frame, &expression).await?.text;
    }
    let adapter_id = found?;
    let frame = match quirks.frames {
        Some(frames) => frame_of(debugger, &frames, frame, &adapter_id).await,
        None => None,
    };
    lock(&debugger.0.watched).known.insert(name.clone(), Storage { adapter_id, expression, content, frame });
    Ok(name)
}

async fn evaluate(
    debugger: &DapDebugger,
    frame: RawId,
    expression: &str,
) -> Result<crate::model::variable::Value<RawId>> {
    let expression = expression.to_owned();
    let request =
        Evaluate { expression, frame, deadline: deadlines::CONDITION, text: MAX_VALUE, pure: false };
    values::evaluate(debugger, request).await
}

async fn number(debugger: &DapDebugger, frame: RawId, expression: &str) -> Option<u64> {
    evaluate(debugger, frame, expression).await.ok()?.text.parse().ok()
}

async fn command(debugger: &DapDebugger, frame: RawId, command: String) -> Option<String> {
    commands::run(debugger, Some(frame), command, deadlines::REQUEST).await.ok()
}

/// The frame whose storage an address is in: below it is the end of its own, above it that of its caller.
async fn frame_of(debugger: &DapDebugger, quirks: &FrameQuirks, of: RawId, id: &str) -> Option<FrameEnd> {
    let address = (quirks.address)(id)?;
    let mut before: Option<(String, u64)> = None;
    for frame in stack_from(debugger, of).await {
        let pointer = number(debugger, RawId(frame.id), quirks.stack_pointer).await?;
        match before {
            Some((function, end)) if (end.saturating_sub(RED_ZONE)..pointer).contains(&address) => {
                let address = frame.instruction_pointer_reference?;
                return Some(FrameEnd { function, address, pointer: end, number: None });
            }
            // It is not on this stack.
            None if address + RED_ZONE < pointer => return None,
            _ => before = Some(((debugger.quirks().function)(&frame.name), pointer)),
        }
    }
    None
}

/// The stack from a frame outwards. The thread is the one that is suspended at it.
async fn stack_from(debugger: &DapDebugger, of: RawId) -> Vec<::dap::StackFrame> {
    for thread in debugger.threads().await.unwrap_or_default() {
        let arguments =
            ::dap::StackTraceArguments { thread_id: thread.id.0, start_frame: Some(0), levels: Some(FRAMES) };
        let Ok(stack) = debugger.request::<::dap::StackTrace>(arguments, deadlines::REQUEST).await else {
            continue;
        };
        if let Some(at) = stack.stack_frames.iter().position(|frame| frame.id == of.0) {
            return stack.stack_frames.into_iter().skip(at).collect();
        }
    }
    Vec::new()
}

/// Fails where nothing can be watched.
fn check(debugger: &DapDebugger) -> Result<()> {
    let can = debugger.capabilities();
    match debugger.quirks().data.refusal {
        Some(reason) => Err(cannot_watch(reason)),
        None if can.supports_data_breakpoints => Ok(()),
        None if can.supports_step_back => Err(Error::Unsupported(
            "watching a value is not available in a recording, which has all writes: call find_writes, or \
             `stillframe ask writes`"
                .to_owned(),
        )),
        None => Err(cannot_watch(NO_DATA_BREAKPOINTS)),
    }
}

/// Replaces what is watched. What was watched before stays if the debugger cannot watch all.
pub(super) async fn set(debugger: &DapDebugger, wanted: Vec<DataBreakpoint>) -> Result<Vec<BindResult>> {
    if let Err(refused) = check(debugger) {
        return if wanted.is_empty() { Ok(Vec::new()) } else { Err(refused) };
    }
    let _still = motion::hold(debugger).await;
    let before = lock(&debugger.0.watched).set.clone();
    let is_new = |data: &DataBreakpoint| !before.iter().any(|old| old.enabled && old.rule.id == data.rule.id);
    let mut refused: HashMap<BreakpointId, String> = HashMap::new();
    loop {
        let active: Vec<&DataBreakpoint> =
            wanted.iter().filter(|data| data.enabled && !refused.contains_key(&data.rule.id)).collect();
        let mut failed = storage::set(debugger, &active).await?;
        if !failed.is_empty() && storage::clear(debugger).await {
            failed = storage::set(debugger, &active).await?;
        }
        // What was refused before is given up first.
        let is_known = |data: &DataBreakpoint| before.iter().any(|old| old.rule.id == data.rule.id);
        let newest = active.iter().filter(|data| is_new(data)).max_by_key(|data| is_known(data));
        match (failed.values().next(), newest.map(|data| data.rule.id)) {
            (None, _) => break,
            (Some(reason), Some(newest)) => {
                refused.insert(newest, failed.get(&newest).unwrap_or(reason).clone());
            }
            (Some(_), None) => {
                refused.extend(failed);
                break;
            }
        }
    }
    // What is refused is kept, to be watched once that is possible.
    let enabled = |data: &DataBreakpoint| data.enabled && !refused.contains_key(&data.rule.id);
    let kept: Vec<DataBreakpoint> =
        wanted.iter().map(|data| DataBreakpoint { enabled: enabled(data), ..data.clone() }).collect();
    lock(&debugger.0.watched).set.clone_from(&kept);
    stop_at_returns(debugger, &kept).await;
    let is_gone = |name: &String| {
        let names = |data: &DataBreakpoint| data.data_id == *name;
        before.iter().any(names) && !kept.iter().any(names)
    };
    lock(&debugger.0.watched).known.retain(|name, _| !is_gone(name));
    if kept.iter().any(|data| data.enabled && is_new(data))
        && let Some(frame) = any_frame(debugger).await
    {
        storage::read(debugger, frame).await;
    }
    let result = |data: &DataBreakpoint| match refused.get(&data.rule.id) {
        Some(reason) => BindResult::Refused(reason.clone()),
        None => BindResult::on(None),
    };
    Ok(wanted.iter().map(result).collect())
}

/// Sets breakpoints where the frames of watched values end, and removes those of values that are no longer watched.
async fn stop_at_returns(debugger: &DapDebugger, wanted: &[DataBreakpoint]) {
    let Some(quirks) = debugger.quirks().data.frames else { return };
    let Some(frame) = any_frame(debugger).await else { return };
    let known = lock(&debugger.0.watched).known.clone();
    for (id, storage) in known {
        let Some(end) = storage.frame else { continue };
        let is_wanted = wanted.iter().any(|data| data.data_id == id);
        let number = match end.number {
            None if is_wanted => {
                let set = command(debugger, frame, (quirks.at_return)(&end.address, end.pointer)).await;
                set.as_deref().and_then(quirks.number)
            }
            Some(number) if !is_wanted => {
                command(debugger, frame, (quirks.remove)(number)).await;
                None
            }
            number => number,
        };
        if let Some(storage) = lock(&debugger.0.watched).known.get_mut(&id)
            && let Some(frame) = &mut storage.frame
        {
            frame.number = number;
        }
    }
}

async fn any_frame(debugger: &DapDebugger) -> Option<RawId> {
    let threads = debugger.threads().await.ok()?;
    debugger.top(threads.first()?.id).await.ok()?.map(|frame| frame.id)
}

/// What is no longer watched because its function has returned, at a stop with these numbers.
pub(super) async fn frame_ended(debugger: &DapDebugger, numbers: &[i64]) -> Vec<Event> {
    let (ended, left) = {
        let watched = lock(&debugger.0.watched);
        if watched.set.is_empty() {
            return Vec::new();
        }
        let reached: Vec<(&str, u64)> = watched
            .known
            .values()
            .filter_map(|storage| storage.frame.as_ref())
            .filter(|frame| frame.number.is_some_and(|number| numbers.contains(&number)))
            .map(|frame| (frame.address.as_str(), frame.pointer))
            .collect();
        // Of several breakpoints for one frame, the debugger may report one.
        let ends = |storage: &Storage| {
            let frame = storage.frame.as_ref();
            frame.is_some_and(|frame| reached.contains(&(frame.address.as_str(), frame.pointer)))
        };
        let gone: HashMap<String, String> = watched
            .known
            .iter()
            .filter(|(_, storage)| ends(storage))
            .filter_map(|(id, storage)| Some((id.clone(), storage.frame.as_ref()?.function.clone())))
            .collect();
        let (ended, left): (Vec<_>, Vec<_>) =
            watched.set.clone().into_iter().partition(|data| gone.contains_key(&data.data_id));
        let ended: Vec<_> = ended
            .into_iter()
            .filter_map(|data| Some((data.rule.id, gone.get(&data.data_id)?.clone())))
            .collect();
        (ended, left)
    };
    if ended.is_empty() {
        return Vec::new();
    }
    if let Err(error) = set(debugger, left).await {
        tracing::warn!(%error, "cannot stop watching");
    }
    let event = |(id, function)| Event::BindResult {
        id,
        result: BindResult::Refused(format!("its storage is gone: `{function}` has returned")),
    };
    ended.into_iter().map(event).collect()
}

/// What the adapter no longer watches, as it reports itself.
pub(super) fn ended(debugger: &DapDebugger, breakpoint: &::dap::Breakpoint) -> Vec<Event> {
    let covers = debugger.quirks().data.covers;
    let mut watched = lock(&debugger.0.watched);
    let Watched { known, set, numbers, .. } = &mut *watched;
    let number = breakpoint.id.filter(|_| !breakpoint.verified);
    let Some(outer) = number.and_then(|number| numbers.remove(&number)) else { return Vec::new() };
    let gone: Vec<String> =
        known.extract_if(|_, storage| covers(&outer, &storage.adapter_id)).map(|(name, _)| name).collect();
    let reason = breakpoint.message.clone().unwrap_or_else(|| "its storage is gone".to_owned());
    set.extract_if(.., |data| gone.contains(&data.data_id))
        .map(|data| Event::BindResult { id: data.rule.id, result: BindResult::Refused(reason.clone()) })
        .collect()
}

/// Whether something is watched.
pub(super) fn watches(debugger: &DapDebugger) -> bool {
    lock(&debugger.0.watched).set.iter().any(|data| data.enabled)
}

/// What happened to the watched values before a stop at one of them, with the rules there.
pub(super) async fn changes(debugger: &DapDebugger, thread: RawId) -> Vec<(RuleFor, DataChange)> {
    let Ok(Some(top)) = debugger.top(thread).await else { return Vec::new() };
    let quirks = debugger.quirks().data;
    let by = accessed_by(debugger, thread, top.id, (debugger.quirks().function)(&top.name)).await;
    let storage::Reading { accessed, before } = storage::read(debugger, top.id).await;
    let watched = lock(&debugger.0.watched);
    let active = watched.set.iter().filter(|data| data.enabled);
    let found: Vec<(&DataBreakpoint, &Storage, &Content)> = active
        .filter_map(|data| Some((data, watched.known.get(&data.data_id)?, before.get(&data.data_id)?)))
        .collect();
    let is_written = found.iter().any(|(_, storage, old)| !storage.content.is_same(old));
    let change = |(data, storage, old): (&DataBreakpoint, &Storage, &Content)| {
        let is_read = storage.content.is_same(old);
        let is_accessed = accessed.as_ref().map(|id| (quirks.covers)(id, &storage.adapter_id));
        let is_hit = if is_read {
            // Without knowing which one was accessed, a write of another value is the reason for the stop.
            data.access.reads() && is_accessed.unwrap_or(!is_written)
        } else {
            data.access.writes()
        };
        let change = DataChange {
            id: data.rule.id,
            expression: data.expression.clone(),
            old: old.text.clone(),
            new: storage.content.text.clone(),
            is_read,
            // Of another one, only the time until this stop is known.
            by: by.clone().filter(|_| is_accessed != Some(false)),
        };
        is_hit.then(|| (data.rule.clone(), change))
    };
    found.into_iter().filter_map(change).collect()
}

/// The line of the instruction before the next one.
async fn accessed_by(
    debugger: &DapDebugger,
    thread: RawId,
    frame: RawId,
    function: String,
) -> Option<CodeLine> {
    let line_at = debugger.quirks().data.line_at?;
    let next = together::address(debugger, thread).await?;
    let next = u64::from_str_radix(next.strip_prefix("0x")?, 16).ok()?;
    let text = command(debugger, frame, line_at(next.checked_sub(1)?)).await?;
    let (file, line) = line_in(&text)?;
    Some(CodeLine { function, file, line })
}

/// The place in `[START-END): FILE:LINE:COLUMN`.
fn line_in(text: &str) -> Option<(String, u32)> {
    let place = text.split("): ").nth(1)?.lines().next()?;
    let mut parts = place.rsplitn(3, ':');
    let (column, line, file) = (parts.next()?, parts.next()?, parts.next());
    match file {
        Some(file) => Some((file.to_owned(), line.parse().ok()?)),
        None => Some((line.to_owned(), column.parse().ok()?)),
    }
}
