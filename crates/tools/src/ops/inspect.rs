//! Reading a suspended program.

use std::time::Duration;

use engine::deadlines;
use engine::error::Error;
use engine::model::ids::{Reference, ThreadId};
use engine::model::limits::MAX_VALUE;
use engine::model::stack::StackFrame;
use engine::model::variable::{Children, Page, Value};
use engine::session::Session;
use engine::snapshot;

use crate::ToolError;

/// How many children are searched for names at a time.
const SEARCHED: u64 = 10_000;
/// How many frames are read at most.
const MOST_FRAMES: usize = 1000;

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
    let execution = session.execution();
    let Some(stop) = execution.stop() else {
        return Err(Error::NotPaused { state: execution.as_str() }.into());
    };
    let stack = session.stack_trace(thread, 0, MOST_FRAMES).await?;
    let its_own = thread.is_none_or(|thread| thread == stop.thread).then_some(&**stop);
    let (frames, hidden) =
        if internals { (stack.frames, 0) } else { snapshot::users_frames(stack.frames, its_own) };
    let frames = frames.into_iter().skip(start).take(count).collect();
    Ok(Frames { frames, hidden, total: stack.total })
}

/// The frame that is meant when none is named: the innermost of the user's.
pub async fn frame(session: &Session, frame: Option<u64>) -> Result<Reference, ToolError> {
    if let Some(frame) = frame {
        return Ok(Reference(frame));
    }
    let frames = stack(session, None, 0, 1, false).await?.frames;
    let first = frames.first().ok_or_else(|| Error::Refused("the stack is empty".to_owned()))?;
    Ok(first.id)
}

/// Evaluates an expression.
pub async fn evaluate(
    session: &Session,
    expression: &str,
    frame_id: Option<u64>,
    timeout_ms: Option<u64>,
    text: usize,
) -> Result<Value<Reference>, ToolError> {
    if expression.trim().is_empty() {
        return Err(ToolError::argument("expression", "is empty"));
    }
    let frame = frame(session, frame_id).await?;
    let deadline =
        timeout_ms.map_or(deadlines::EVALUATE, Duration::from_millis).min(deadlines::LONGEST_EVALUATE);
    Ok(session.evaluate(frame, expression.to_owned(), deadline, text.min(MAX_VALUE)).await?)
}

/// Children of a scope or value; with names, only those.
pub async fn variables(
    session: &Session,
    reference: u64,
    page: Page,
    names: Option<&[String]>,
    text: usize,
) -> Result<(Children<Reference>, Vec<String>), ToolError> {
    let text = text.min(MAX_VALUE);
    let Some(names) = names else {
        return Ok((session.variables(Reference(reference), page, text).await?, Vec::new()));
    };
    let mut children = Children { variables: Vec::new(), total: 0, start: 0, hidden: 0 };
    let mut start = 0;
    loop {
        let page = Page { start, count: SEARCHED, special: true };
        let found = session.variables(Reference(reference), page, text).await?;
        start += SEARCHED;
        children.total = found.total;
        let named = found.variables.into_iter().filter(|variable| names.contains(&variable.name));
        children.variables.extend(named);
        if children.variables.len() >= names.len() || start >= children.total {
            break;
        }
    }
    let found = |name: &&String| children.variables.iter().any(|variable| variable.name == **name);
    let missing = names.iter().filter(|name| !found(name)).cloned().collect();
    Ok((children, missing))
}
