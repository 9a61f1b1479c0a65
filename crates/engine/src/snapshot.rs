//! The data of a stop: everything that the next decision needs, within limits.

use std::path::Path;
use std::sync::Arc;

use tokio::time::Instant;

use crate::adapter::{self, Machine};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::breakpoint::{Breakpoint, Failures};
use crate::model::ids::Reference;
use crate::model::limits::Limits;
use crate::model::source::Location;
use crate::model::stack::{SEARCHED, Stack, StackFrame, users_frames};
use crate::model::stop::{Exception, Stop, StopReason};
use crate::model::variable::{Children, ExpandedLocals, ExpandedValue, Expansion, Page};
use crate::output::Excerpt;
use crate::session::Session;
use crate::session::seen_values::{ChangedValue, EXPANSION, FrameIdentity};
use crate::session::watches::Changed;

/// A suspended program, within the limits.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Why and where.
    pub stop: Arc<Stop>,
    /// The user's frames, innermost first.
    pub frames: Vec<StackFrame<Reference>>,
    /// How many frames of libraries and of the runtime are left out among them.
    pub hidden_frames: usize,
    /// How many frames the stack has.
    pub total_frames: usize,
    /// The name of the innermost scope of the first of `frames`, and what is in it.
    pub locals: Option<(String, Children<Reference>)>,
    /// The lines around the place.
    pub source: Vec<(u32, String)>,
    /// The exception, when that is why the program stopped.
    pub exception: Option<Exception>,
    /// The watched expressions whose values have changed since the last report.
    pub watches: Vec<Changed>,
    /// The values that have changed since the last stop in the function; none if that is not known.
    pub changed: Option<Vec<ChangedValue>>,
    /// What was written since the last report.
    pub output: Excerpt,
    /// Conditions and log messages that failed.
    pub failures: Vec<RuleFailure>,
    /// What could not be read, and other notes.
    pub notes: Vec<String>,
}

/// A frame that waits for the one that it called, and what is in it.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The frame.
    pub frame: StackFrame<Reference>,
    /// Its variables, or why they are unknown: a predicate for "its variables".
    pub locals: Result<Children<Reference>, String>,
}

fn first_page(limits: Limits) -> Page {
    Page { start: 0, count: limits.variables as u64, special: false, internals: false }
}

impl Snapshot {
    /// Reads a stop. What cannot be read is left out, and the reason is among the notes: half a report is
    /// worth more than none.
    pub async fn take(session: &Session, stop: Arc<Stop>, limits: Limits) -> Self {
        let (mut snapshot, expanded) = Self::read(session, stop, limits, limits.changes).await;
        if let Some(frame) = snapshot.frames.first() {
            let (watches, unwatched) = session.changed_watches(frame.id).await;
            snapshot.watches = watches;
            if unwatched > 0 {
                snapshot.notes.push(format!("no time was left to evaluate {unwatched} of the watches"));
            }
        }
        if let (true, Some(frame), Some((_, locals))) =
            (limits.changes, snapshot.frames.first(), &snapshot.locals)
        {
            let frame = FrameIdentity::of(snapshot.stop.thread, frame, snapshot.total_frames);
            snapshot.changed = session.changed_values(frame, locals, &expanded);
        }
        snapshot.output = session.take_new_output(limits.output);
        snapshot
    }

    /// The same without the watches, for an observer: the output and the changes of watches are still new to the next
    /// report.
    pub async fn peek(session: &Session, stop: Arc<Stop>, limits: Limits) -> Self {
        Self::read(session, stop, limits, false).await.0
    }

    /// With `expands`, also what some of the local variables contain.
    async fn read(
        session: &Session,
        stop: Arc<Stop>,
        limits: Limits,
        expands: bool,
    ) -> (Self, Vec<ExpandedValue>) {
        let mut notes = Vec::new();
        let mut keep = |what: &str, error: Error| notes.push(format!("{what} could not be read: {error}"));

        let stack = session.stack_trace(Some(stop.thread), 0, SEARCHED).await;
        let stack = stack.unwrap_or_else(|error| {
            keep("the stack", error);
            Stack { frames: Vec::new(), total: 0 }
        });
        let (frames, hidden_frames) = users_frames(stack.frames, Some(&stop));
        let first = frames.first();
        let reading = async {
            let expansion = if expands { EXPANSION } else { Expansion::NONE };
            Some(session.locals_expanded(first?.id, first_page(limits), limits.value, expansion).await)
        };
        let surroundings = async {
            let location = first?.location.as_ref()?;
            Some(window(session, location, limits.source).await)
        };
        // What is read here is read while the program's answer is on its way: its request leaves when this yields.
        let meanwhile = async {
            tokio::task::yield_now().await;
            tokio::join!(surroundings, failures(session), session.output().caught_up())
        };
        let (locals, (source, failures, ())) = tokio::join!(reading, meanwhile);
        let source = source.unwrap_or_default();
        let locals =
            locals.and_then(|locals| locals.map_err(|error| keep("the local variables", error)).ok());
        let (locals, expanded) =
            locals.map(|ExpandedLocals { scope, variables, values }| ((scope, variables), values)).unzip();
        let exception = match stop.reason {
            StopReason::Exception => {
                let exception = session.exception().await;
                exception.map(Exception::shortened).map_err(|error| keep("the exception", error)).ok()
            }
            _ => None,
        };
        let is_users = first.is_some_and(|first| !first.is_internal());
        if is_users && locals.as_ref().is_some_and(|(scope, _)| scope.contains("optimized")) {
            let flags = session.adapter().facts().debug_flags;
            notes.push(format!("the function is optimized: variables may be missing; build it with {flags}"));
        }
        if stop.reason == StopReason::Pause {
            notes.extend(stop.text.clone());
        }
        if stop.is_simultaneous {
            notes.push(format!(
                "the program has not moved: thread {} had stopped at the same time, and is the current thread now; \
                 step or continue again to let it run",
                stop.thread
            ));
        }
        if source.is_empty() {
            notes.extend(first.and_then(without_text));
        }
        if first.is_some_and(|first| first.location.is_none())
            && let Ok(Some(start)) = session.last_start().await
        {
            notes.extend(adapter::without_debug_info(session.adapter(), &Machine, &start));
        }
        let snapshot = Self {
            stop,
            frames: frames.into_iter().take(limits.frames).collect(),
            hidden_frames,
            total_frames: stack.total,
            locals,
            source,
            exception,
            watches: Vec::new(),
            changed: None,
            output: session.new_output(limits.output),
            failures,
            notes,
        };
        (snapshot, expanded.unwrap_or_default())
    }

    /// Reads the variables of the frames that called the first, all within the time of one reading. Frames that
    /// have none that could be read are left out.
    pub async fn callers(&self, session: &Session, limits: Limits) -> Vec<Caller> {
        let until = Instant::now() + deadlines::READ;
        let mut callers = Vec::new();
        for frame in self.frames.iter().skip(1) {
            let reading = session.locals(frame.id, first_page(limits), limits.value);
            let locals = match tokio::time::timeout_at(until, reading).await {
                Ok(Ok((_, children))) => Ok(children),
                // It awaits the frames above it and is no longer on the stack, as its name shows.
                Ok(Err(Error::Unsupported(_))) => continue,
                Ok(Err(error)) => Err(format!("could not be read: {error}")),
                Err(_) => Err("were not read: no time was left".to_owned()),
            };
            callers.push(Caller { frame: frame.clone(), locals });
        }
        callers
    }

    /// Where the program is, as far as its user is concerned.
    pub fn frame(&self) -> Option<&StackFrame<Reference>> {
        self.frames.first()
    }
}

/// Says that user code is not in a file, such as a text that the program has compiled itself.
fn without_text(frame: &StackFrame<Reference>) -> Option<String> {
    let source = &frame.location.as_ref()?.source;
    let is_text = source.path.as_deref().is_none_or(|path| !path.exists());
    (is_text && !source.internal).then(|| format!("source is not available: `{}` is not a file", source.name))
}

/// The lines around a place, with their numbers.
pub async fn window(session: &Session, location: &Location, around: u32) -> Vec<(u32, String)> {
    let Ok(text) = text(session, &location.source.name, location.source.path.as_deref()).await else {
        return Vec::new();
    };
    let first = location.line.saturating_sub(around).max(1);
    let last = location.line.saturating_add(around);
    let near = (1..=last).zip(text.lines()).filter(|(line, _)| *line >= first);
    near.map(|(line, text)| (line, text.to_owned())).collect()
}

/// The lines of a source: of its file, or else as the program's debugger has them under this name.
pub async fn lines(session: &Session, name: &str, path: Option<&Path>) -> Result<Vec<String>> {
    Ok(text(session, name, path).await?.lines().map(str::to_owned).collect())
}

/// The same as one text.
pub async fn text(session: &Session, name: &str, path: Option<&Path>) -> Result<String> {
    let missing = match path.map(|path| session.read_text(path)) {
        Some(Ok(text)) => return Ok(text),
        // The program may have the text too, but that must not bypass the rule.
        Some(Err(error @ Error::Forbidden { .. })) => return Err(error),
        Some(Err(error)) => error,
        None => Error::NoFile { path: name.into(), similar: Vec::new() },
    };
    // The texts of a program are gone when it has ended.
    match session.source_text(name.to_owned()).await {
        Ok(Some(text)) => Ok(text),
        _ => Err(missing),
    }
}

/// A condition or log message that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFailure {
    /// The breakpoint that it belongs to; none for the exceptions.
    pub breakpoint: Option<Breakpoint>,
    failures: Failures,
}

impl RuleFailure {
    /// A sentence about it, with this as the name of what it belongs to.
    pub fn sentence(&self, name: &str) -> String {
        let is_condition =
            self.breakpoint.as_ref().is_none_or(|breakpoint| breakpoint.rule.condition.is_some());
        let what = if is_condition { "condition" } else { "log message" };
        let Failures { count, message } = &self.failures;
        let times = if *count == 1 { "once".to_owned() } else { format!("{count} times") };
        format!("the {what} of {name} failed {times} and did not stop the program: {message}")
    }
}

/// Names the breakpoint by its id.
impl std::fmt::Display for RuleFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = self.breakpoint.as_ref().map(|breakpoint| breakpoint.id.to_string());
        f.write_str(&self.sentence(id.as_deref().unwrap_or("the exceptions")))
    }
}

/// Conditions and log messages that failed.
pub async fn failures(session: &Session) -> Vec<RuleFailure> {
    let breakpoints: Result<Vec<Breakpoint>> = session.breakpoints().await;
    let failed = |breakpoint: Breakpoint| {
        breakpoint.failures.clone().map(|failures| RuleFailure { breakpoint: Some(breakpoint), failures })
    };
    let mut failed: Vec<RuleFailure> =
        breakpoints.unwrap_or_default().into_iter().filter_map(failed).collect();
    if let Ok((_, Some(failures))) = session.exception_breakpoints().await {
        failed.push(RuleFailure { breakpoint: None, failures });
    }
    failed
}
