//! Data breakpoints: what is watched, what happened to it, and when its storage is gone.

use std::collections::HashMap;

use super::{DapDebugger, commands, expressions, lock, motion, values};
use crate::adapter::plan::FrameQuirks;
use crate::deadlines;
use crate::debugger::{
    BindResult, DataBreakpoint, DataRequest, Debugger, Evaluate, Event, RuleFor, cannot_watch,
};
use crate::error::{Error, Result};
use crate::model::data_breakpoint::{CodeLine, DataChange};
use crate::model::ids::RawId;
use crate::model::limits::MAX_VALUE;

/// How many frames are searched for the one that a value is in.
const FRAMES: i64 = 50;

/// How far below the stack pointer a function that calls no other may keep its variables.
const RED_ZONE: u64 = 128;

/// What is known of storage, and what is watched.
#[derive(Debug, Default)]
pub(super) struct Watched {
    /// By the adapter's name for the storage.
    known: HashMap<String, Storage>,
    set: Vec<DataBreakpoint>,
}

#[derive(Clone, Debug)]
struct Storage {
    /// The expression for its value, in any frame.
    expression: String,
    /// The value at the last stop.
    value: String,
    /// The frame that it is in.
    frame: Option<FrameEnd>,
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
    if !debugger.capabilities().supports_data_breakpoints {
        return Err(refused(debugger));
    }
    let quirks = debugger.quirks().data;
    // An expression that cannot be evaluated fails here, in the language's words.
    evaluate(debugger, frame, &expression).await?;
    let other = expressions::stored(debugger, frame, &expression).await;
    let name = (quirks.name)(other.as_deref().unwrap_or(&expression));
    let type_name = raw_type(debugger, frame, &name).await?;
    let arguments = ::dap::DataBreakpointInfoArguments { name, frame_id: Some(frame.0) };
    let info = debugger.request::<::dap::DataBreakpointInfo>(arguments, deadlines::REQUEST).await?;
    let Some(id) = info.data_id else {
        return Err(Error::Unsupported(format!(
            "`{expression}` cannot be watched: {}; watch a variable, a field or an element",
            info.description
        )));
    };
    if !info.access_types.is_empty() && !info.access_types.iter().any(|known| known == access.as_str()) {
        let known = info.access_types.join(", ");
        return Err(Error::Unsupported(format!("access `{access}` cannot be watched here; use: {known}")));
    }
    let expression = (quirks.value)(&type_name, &id).unwrap_or(expression);
    let value = evaluate(debugger, frame, &expression).await?.text;
    let frame = match quirks.frames {
        Some(frames) => frame_of(debugger, &frames, frame, &id).await,
        None => None,
    };
    lock(&debugger.0.watched).known.insert(id.clone(), Storage { expression, value, frame });
    Ok(id)
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

/// The type of an expression in the adapter's words, in which it reads them.
async fn raw_type(debugger: &DapDebugger, frame: RawId, expression: &str) -> Result<String> {
    let arguments = ::dap::EvaluateArguments {
        expression: expression.to_owned(),
        frame_id: Some(frame.0),
        context: Some("watch".to_owned()),
        ..::dap::EvaluateArguments::default()
    };
    let answer = debugger.request::<::dap::Evaluate>(arguments, deadlines::CONDITION).await?;
    Ok(answer.kind.unwrap_or_default())
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

/// Why nothing can be watched.
fn refused(debugger: &DapDebugger) -> Error {
    if !debugger.capabilities().supports_step_back {
        return cannot_watch();
    }
    Error::Unsupported(
        "watching a value is not available in a recording, which has all writes: call find_writes, or \
         `stillframe ask writes`"
            .to_owned(),
    )
}

/// Replaces what is watched.
pub(super) async fn set(debugger: &DapDebugger, wanted: Vec<DataBreakpoint>) -> Result<Vec<BindResult>> {
    if !debugger.capabilities().supports_data_breakpoints {
        return if wanted.is_empty() { Ok(Vec::new()) } else { Err(refused(debugger)) };
    }
    let _still = motion::hold(debugger).await;
    let breakpoints = wanted
        .iter()
        .filter(|data| data.enabled)
        .map(|data| ::dap::DataBreakpoint {
            data_id: data.data_id.clone(),
            access_type: Some(data.access.as_str().to_owned()),
        })
        .collect();
    let arguments = ::dap::SetDataBreakpointsArguments { breakpoints };
    let response = debugger.request::<::dap::SetDataBreakpoints>(arguments, deadlines::REQUEST).await?;
    lock(&debugger.0.watched).set.clone_from(&wanted);
    stop_at_returns(debugger, &wanted).await;
    let mut answers = response.breakpoints.into_iter();
    let result = |data: &DataBreakpoint| match data.enabled.then(|| answers.next()).flatten() {
        _ if !data.enabled => BindResult::on(None),
        Some(answer) if answer.verified => BindResult::on(None),
        answer => {
            let reason = answer.and_then(|answer| answer.message).unwrap_or_else(|| {
                "the debugger cannot watch it: processors watch at most 4 values, of 8 bytes each".to_owned()
            });
            BindResult::Refused(reason)
        }
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

/// Whether something is watched.
pub(super) fn watches(debugger: &DapDebugger) -> bool {
    lock(&debugger.0.watched).set.iter().any(|data| data.enabled)
}

/// What happened to the watched values before a stop at one of them, with the rules there.
pub(super) async fn changes(debugger: &DapDebugger, thread: RawId) -> Vec<(RuleFor, DataChange)> {
    let Ok(Some(top)) = debugger.top(thread).await else { return Vec::new() };
    let (known, set) = {
        let watched = lock(&debugger.0.watched);
        (watched.known.clone(), watched.set.clone())
    };
    let by = match debugger.quirks().data.frames {
        Some(quirks) => {
            accessed_by(debugger, &quirks, top.id, &(debugger.quirks().function)(&top.name)).await
        }
        None => None,
    };
    let mut found = Vec::new();
    for data in set.into_iter().filter(|data| data.enabled) {
        let Some(storage) = known.get(&data.data_id) else { continue };
        let Ok(value) = evaluate(debugger, top.id, &storage.expression).await else { continue };
        let change = DataChange {
            id: data.rule.id,
            expression: data.expression,
            old: storage.value.clone(),
            new: value.text.clone(),
            is_read: storage.value == value.text,
            by: by.clone(),
        };
        found.push((data.access, data.rule, change));
        if let Some(storage) = lock(&debugger.0.watched).known.get_mut(&data.data_id) {
            storage.value = value.text;
        }
    }
    let is_written = found.iter().any(|(_, _, change)| change.old != change.new);
    let is_hit =
        |(access, rule, change): (crate::model::data_breakpoint::DataAccess, RuleFor, DataChange)| {
            let hit = if is_written { access.writes() && change.old != change.new } else { access.reads() };
            hit.then_some((rule, change))
        };
    found.into_iter().filter_map(is_hit).collect()
}

/// The line of the instruction before the next one.
async fn accessed_by(
    debugger: &DapDebugger,
    quirks: &FrameQuirks,
    frame: RawId,
    function: &str,
) -> Option<CodeLine> {
    let next = number(debugger, frame, quirks.next_instruction).await?;
    let text = command(debugger, frame, (quirks.line_at)(next.checked_sub(1)?)).await?;
    let (file, line) = line_in(&text)?;
    Some(CodeLine { function: function.to_owned(), file, line })
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
