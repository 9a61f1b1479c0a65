//! Reading a suspended program.

use std::path::Path;
use std::time::Duration;

use engine::deadlines;
use engine::error::Error;
use engine::model::ids::{Reference, ThreadId};
use engine::model::stack::{Stack, StackFrame, users_frames};
use engine::model::variable::{Children, Page, Value, Variable};
use engine::session::Session;
use engine::{snapshot, sources};
use tokio::time::Instant;

use crate::ToolError;

/// How many children are searched for names at a time.
const SEARCHED: u64 = 10_000;
/// How many frames are read at first. Few stacks have more.
const FRAMES: usize = 1000;
/// How many are read at most.
const MOST_FRAMES: usize = 64 * FRAMES;

/// Frames of a stack.
#[derive(Clone, Debug)]
pub struct Frames {
    /// Those that are shown.
    pub frames: Vec<StackFrame<Reference>>,
    /// How many of libraries and of the runtime are left out.
    pub hidden: usize,
    /// How many the stack has.
    pub total: usize,
}

/// The stack of the suspended thread, or of another one.
pub async fn stack(
    session: &Session,
    thread: Option<ThreadId>,
    start: usize,
    count: usize,
    internals: bool,
) -> Result<Frames, ToolError> {
    let mut execution = session.execution();
    if execution.stop().is_none() {
        execution = session.known_execution().await?;
    }
    let Some(stop) = execution.stop() else {
        super::execution::must_be_debugged(session).await?;
        return Err(Error::NotPaused { state: execution.as_str() }.into());
    };
    session.mark_stop_reported(stop);
    let wanted = start.saturating_add(count);
    let enough = |frames: &[StackFrame<Reference>]| {
        frames.iter().filter(|frame| internals || !frame.is_internal()).count() >= wanted
    };
    let stack = read_stack(session, thread, enough).await?;
    let its_own = thread.is_none_or(|thread| thread == stop.thread).then_some(&**stop);
    let (frames, hidden) = if internals { (stack.frames, 0) } else { users_frames(stack.frames, its_own) };
    let frames = frames.into_iter().skip(start).take(count).collect();
    Ok(Frames { frames, hidden, total: stack.total })
}

/// Reads a stack from its top, as much of it as is needed.
async fn read_stack(
    session: &Session,
    thread: Option<ThreadId>,
    enough: impl Fn(&[StackFrame<Reference>]) -> bool,
) -> Result<Stack<Reference>, ToolError> {
    let mut levels = FRAMES;
    loop {
        let stack = session.stack_trace(thread, 0, levels).await?;
        if stack.frames.len() >= stack.total || levels >= MOST_FRAMES || enough(&stack.frames) {
            return Ok(stack);
        }
        levels *= 4;
    }
}

/// A frame of the stack of the suspended thread, if it is there.
pub async fn find_frame(
    session: &Session,
    id: Reference,
) -> Result<Option<StackFrame<Reference>>, ToolError> {
    let is_it = |frame: &StackFrame<Reference>| frame.id == id;
    let stack = read_stack(session, None, |frames| frames.iter().any(is_it)).await?;
    Ok(stack.frames.into_iter().find(is_it))
}

/// The frame of that number in the stack of the suspended thread.
pub async fn frame_at(
    session: &Session,
    index: usize,
    internals: bool,
) -> Result<StackFrame<Reference>, ToolError> {
    let frames = stack(session, None, 0, index.saturating_add(1), internals).await?.frames;
    let count = frames.len();
    frames.into_iter().nth(index).ok_or_else(|| ToolError::no_frame(index, count))
}

/// A frame, and its number in the stack of the suspended thread: among the user's, or else among all.
pub async fn place_of(
    session: &Session,
    id: Reference,
) -> Result<(usize, Option<StackFrame<Reference>>), ToolError> {
    for internals in [false, true] {
        let frames = stack(session, None, 0, FRAMES, internals).await?.frames;
        if let Some(found) = frames.into_iter().enumerate().find(|(_, frame)| frame.id == id) {
            return Ok((found.0, Some(found.1)));
        }
    }
    Ok((0, None))
}

/// The default frame: the one that was chosen at this stop, else the innermost of the
/// user's.
pub async fn frame(session: &Session, frame: Option<u64>) -> Result<Reference, ToolError> {
    if let Some(frame) = frame.map(Reference).or_else(|| session.selected_frame()) {
        return Ok(frame);
    }
    let frames = stack(session, None, 0, 1, false).await?.frames;
    let first = frames.first().ok_or_else(|| Error::Refused("the stack is empty".to_owned()))?;
    Ok(first.id)
}

/// The lines of a source, and its name. It is a file, or what a frame says of code that is in none: inside a
/// compiler's map, evaluated, the runtime's own.
pub async fn source(session: &Session, file: &Path) -> Result<(String, Vec<String>), ToolError> {
    let path = sources::absolute(file);
    let absolute = path.display().to_string();
    let missing = match snapshot::lines(session, &absolute, Some(&path)).await {
        Ok(lines) => return Ok((absolute, lines)),
        Err(error) => error,
    };
    let name = file.display().to_string();
    match snapshot::lines(session, &name, None).await {
        Ok(lines) if name != absolute => Ok((name, lines)),
        _ => Err(missing.into()),
    }
}

/// Evaluates an expression. A `pure` one may change nothing.
pub async fn evaluate(
    session: &Session,
    expression: &str,
    frame_id: Option<u64>,
    timeout_ms: Option<u64>,
    text: usize,
    pure: bool,
) -> Result<Value<Reference>, ToolError> {
    let deadline = limit(session, timeout_ms)?;
    let frame = frame_for(session, expression, frame_id).await?;
    Ok(session
        .evaluate(frame, expression.to_owned(), deadline, session.policy().bounds.text(text), pure)
        .await?)
}

/// Evaluates an expression, and watches it from now on.
pub async fn watch(
    session: &Session,
    expression: &str,
    frame_id: Option<u64>,
    timeout_ms: Option<u64>,
) -> Result<Value<Reference>, ToolError> {
    let deadline = limit(session, timeout_ms)?;
    let frame = frame_for(session, expression, frame_id).await?;
    session.watch_expression(frame, expression, deadline).await.map_err(|error| match error {
        raised @ (Error::Raised { .. } | Error::UnknownName(_)) => {
            ToolError::from(raised).and("it is watched anyway")
        }
        other => other.into(),
    })
}

/// The frame to evaluate an expression in.
async fn frame_for(
    session: &Session,
    expression: &str,
    frame_id: Option<u64>,
) -> Result<Reference, ToolError> {
    if expression.trim().is_empty() {
        return Err(ToolError::argument("expression", "is empty"));
    }
    frame(session, frame_id).await
}

fn limit(session: &Session, timeout_ms: Option<u64>) -> Result<Duration, Error> {
    let bounds = &session.policy().bounds;
    match timeout_ms {
        Some(asked) => Ok(Duration::from_millis(bounds.within("longest_evaluate", "timeout", asked)?)),
        None => Ok(bounds.default_evaluate()),
    }
}

/// Children of a scope or value.
pub async fn variables(
    session: &Session,
    reference: u64,
    page: Page,
    text: usize,
) -> Result<Children<Reference>, ToolError> {
    let page = Page { count: page.count.min(session.policy().bounds.children), ..page };
    Ok(session.variables(Reference(reference), page, session.policy().bounds.text(text)).await?)
}

/// Children that were requested by their names.
#[derive(Clone, Debug)]
pub struct NamedChildren {
    /// Those that were found.
    pub children: Children<Reference>,
    /// The names that were not.
    pub missing: Vec<String>,
    /// How many children were searched, when there was no time for all of them.
    pub searched: Option<u64>,
}

/// Keeps the children of these names; returns the names that none of them has.
pub fn keep(children: &mut Children<Reference>, names: &[String]) -> Vec<String> {
    children.variables.retain(|variable| names.contains(&variable.name));
    missing(children, names)
}

fn missing(children: &Children<Reference>, names: &[String]) -> Vec<String> {
    let found = |name: &&String| children.variables.iter().any(|variable| variable.name == **name);
    names.iter().filter(|name| !found(name)).cloned().collect()
}

/// The item of a name such as `[99999]` or `99999`, which is mostly where its number says.
async fn item(session: &Session, reference: u64, name: &str, text: usize) -> Option<Variable<Reference>> {
    let inside = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let start: u64 = inside.unwrap_or(name).parse().ok()?;
    let page = Page { start, count: 1, special: true, internals: true };
    let reading = session.variables(Reference(reference), page, session.policy().bounds.text(text));
    let found = tokio::time::timeout(deadlines::READ, reading).await.ok()?.ok()?;
    found.variables.into_iter().find(|variable| variable.name == name)
}

/// Children of a scope or value that have these names. The search is given up when it takes too long.
pub async fn named(
    session: &Session,
    reference: u64,
    names: &[String],
    text: usize,
) -> Result<NamedChildren, ToolError> {
    let until = Instant::now() + deadlines::READ;
    let mut children = Children { variables: Vec::new(), total: 0, start: 0, hidden: 0 };
    let (mut start, mut searched) = (0, None);
    for name in names {
        children.variables.extend(item(session, reference, name, text).await);
    }
    loop {
        if children.variables.len() >= names.len() {
            break;
        }
        let page = Page { start, count: SEARCHED, special: true, internals: true };
        let reading = session.variables(Reference(reference), page, session.policy().bounds.text(text));
        let found = match tokio::time::timeout_at(until, reading).await {
            Err(_) | Ok(Err(Error::Deadline { .. })) => {
                searched = Some(start);
                break;
            }
            Ok(found) => found?,
        };
        start += SEARCHED;
        children.total = found.total;
        for variable in found.variables {
            if names.contains(&variable.name)
                && !children.variables.iter().any(|known| known.name == variable.name)
            {
                children.variables.push(variable);
            }
        }
        if start >= children.total {
            break;
        }
    }
    let missing = missing(&children, names);
    Ok(NamedChildren { children, missing, searched })
}
