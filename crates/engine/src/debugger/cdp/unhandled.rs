//! What is thrown that no code of the user's catches.
//!
//! V8 knows one kind of catching, and a test runner catches everything. So it pauses at all that is thrown, and
//! here is decided from the texts of the functions on the stack whether that is told. A pause takes much longer than a
//! throw. Where the same place has thrown in vain too often, V8 is told to pass over that function.

use std::collections::HashMap;
use std::sync::Mutex;

use ::cdp::debugger::{self, Location, ScriptPosition};
use ::cdp::runtime::{self, RemoteObject};

use super::exceptions::{is_assertion, is_of_users, is_users};
use super::stops::Stop;
use super::{CdpDebugger, frames, lock};
use crate::error::Result;
use crate::javascript::{self, Fate};

/// How often a place may throw in vain. Passing over its function loses what it throws to others.
const IN_VAIN: u32 = 500;

/// The property of an error that a stop was about, with its mark. It belongs to a symbol that all global objects
/// share, and is not enumerable.
const MARK: &str = "Symbol.for('stillframe.mark')";

/// What is known of the places where something was thrown.
#[derive(Debug, Default)]
pub(super) struct Unhandled {
    fates: Mutex<HashMap<(Location, bool), Fate>>,
    in_vain: Mutex<HashMap<Location, u32>>,
    /// The ranges of functions that V8 passes over, by their script.
    passed: Mutex<HashMap<String, Vec<(ScriptPosition, ScriptPosition)>>>,
}

/// Whether nothing of the user's catches what was thrown at a stop, and no earlier stop was about it.
pub(super) async fn is_candidate(debugger: &CdpDebugger, stop: &Stop, thrown: &RemoteObject) -> bool {
    let leaves = leaves_users(debugger, stop, thrown).await;
    if !leaves {
        count(debugger, stop).await;
    }
    leaves && mark(debugger, thrown).await != Marked::Before
}

/// Follows what was thrown outwards. Above the user's first frame, libraries and Node itself are asked too: what they
/// throw and catch is none of the user's. Below it, they catch only what they were called to see thrown: a test
/// runner catches everything.
async fn leaves_users(debugger: &CdpDebugger, stop: &Stop, thrown: &RemoteObject) -> bool {
    if !is_above_users(debugger, stop) {
        return false;
    }
    let is_assertion = is_assertion(thrown);
    let mut walk = Walk { is_assertion, reached: false, is_rejection: false };
    for frame in &stop.frames {
        let is_users = is_users(debugger, frame);
        if !walk.goes_on(debugger, &frame.location, &frame.function_name, is_users).await {
            return false;
        }
    }
    let mut next = stop.asynchronous.as_ref();
    while let Some(trace) = next {
        let is_await = matches!(trace.description.as_deref(), Some("await" | "async function"));
        let is_promise = trace.description.as_deref().is_some_and(|what| what.starts_with("Promise."));
        if !is_await && !is_promise {
            // A timer, or another event: nobody waits for what its function throws.
            break;
        }
        walk.is_rejection = true;
        for frame in &trace.call_frames {
            let location = place(frame);
            let is_users = is_of_users(debugger, &frame.script_id);
            if !walk.goes_on(debugger, &location, &frame.function_name, is_users).await {
                return false;
            }
        }
        next = trace.parent.as_deref();
    }
    walk.reached
}

/// Whether code of the user's is waiting for what has thrown. Most that is thrown while a runner starts is its own, and
/// no text need be read for that.
fn is_above_users(debugger: &CdpDebugger, stop: &Stop) -> bool {
    let mut traces = std::iter::successors(stop.asynchronous.as_ref(), |trace| trace.parent.as_deref());
    stop.frames.iter().any(|frame| is_users(debugger, frame))
        || traces.any(|trace| trace.call_frames.iter().any(|frame| is_of_users(debugger, &frame.script_id)))
}

/// The place of a frame that waits.
pub(super) fn place(frame: &runtime::CallFrame) -> Location {
    Location {
        script_id: frame.script_id.clone(),
        line_number: frame.line_number,
        column_number: Some(frame.column_number),
    }
}

/// The way of what was thrown.
struct Walk {
    /// It was thrown because it says that something is not as the user wants it.
    is_assertion: bool,
    /// It came to the user's code.
    reached: bool,
    /// It has become a promise's rejection.
    is_rejection: bool,
}

impl Walk {
    /// Whether it leaves the function of a frame.
    async fn goes_on(
        &mut self,
        debugger: &CdpDebugger,
        location: &Location,
        name: &str,
        is_users: bool,
    ) -> bool {
        if !is_users && self.reached {
            return !javascript::expects(name);
        }
        if !is_users && self.is_assertion {
            return true;
        }
        let was_reached = self.reached;
        self.reached |= is_users;
        match fate(debugger, location, self.is_rejection).await {
            Fate::Passed => true,
            Fate::Rejected => {
                self.is_rejection = true;
                true
            }
            Fate::Caught => false,
            // An assertion that something throws fails itself when it does not.
            Fate::Expected => self.is_assertion && !was_reached,
        }
    }
}

/// What the text of a function says; the same for each pass.
async fn fate(debugger: &CdpDebugger, location: &Location, is_rejection: bool) -> Fate {
    let key = (location.clone(), is_rejection);
    if let Some(known) = lock(&debugger.0.unhandled.fates).get(&key) {
        return *known;
    }
    let fate = read(debugger, location, is_rejection).await;
    lock(&debugger.0.unhandled.fates).insert(key, fate);
    fate
}

/// Code without a text that can be read lets everything pass.
async fn read(debugger: &CdpDebugger, location: &Location, is_rejection: bool) -> Fate {
    let Some(script) = debugger.0.scripts.get(&location.script_id) else { return Fate::Passed };
    let Some(text) = frames::text(debugger, &script).await else { return Fate::Passed };
    let (line, column) = script.in_text(frames::position(location));
    let look = move || {
        let handlers = script.handlers.get_or_init(|| javascript::Handlers::of(&text));
        handlers.as_ref().map_or(Fate::Passed, |handlers| handlers.fate(line, column, is_rejection))
    };
    tokio::task::spawn_blocking(look).await.unwrap_or(Fate::Passed)
}

/// A place that has thrown in vain is asked about only so often.
async fn count(debugger: &CdpDebugger, stop: &Stop) {
    let Some(frame) = stop.frames.first() else { return };
    let times = {
        let mut in_vain = lock(&debugger.0.unhandled.in_vain);
        let times = in_vain.entry(frame.location.clone()).or_default();
        *times += 1;
        *times
    };
    if times != IN_VAIN {
        return;
    }
    let end = frame.scope_chain.iter().find_map(|scope| scope.end_location.as_ref());
    let (Some(start), Some(end)) = (frame.function_location.as_ref(), end) else { return };
    let range = (before(start), ScriptPosition::of(end));
    lock(&debugger.0.unhandled.passed).entry(start.script_id.clone()).or_default().push(range);
    if let Err(error) = pass_over(debugger, &start.script_id).await {
        tracing::debug!(%error, "a function that throws much is not passed over");
    }
}

/// The function has to begin behind the beginning of the range.
fn before(start: &Location) -> ScriptPosition {
    let column = start.column_number.unwrap_or(0);
    match (start.line_number, column) {
        (0, 0) => ScriptPosition { line_number: 0, column_number: 0 },
        (line, 0) => ScriptPosition { line_number: line - 1, column_number: i32::MAX },
        (line, column) => ScriptPosition { line_number: line, column_number: column - 1 },
    }
}

/// Tells V8 the ranges of a script that it is to pass over: they alternate with those that it is not.
async fn pass_over(debugger: &CdpDebugger, script_id: &str) -> Result<()> {
    let mut ranges = lock(&debugger.0.unhandled.passed).get(script_id).cloned().unwrap_or_default();
    ranges.sort_by_key(|(start, end)| (start.line_number, start.column_number, end.line_number));
    let mut positions: Vec<ScriptPosition> = Vec::new();
    for (start, end) in ranges {
        let is_inside = positions.last().is_some_and(|last| {
            (start.line_number, start.column_number) <= (last.line_number, last.column_number)
        });
        if !is_inside {
            positions.extend([start, end]);
        }
    }
    debugger.request(debugger::SetBlackboxedRanges { script_id: script_id.to_owned(), positions }).await?;
    Ok(())
}

/// Has V8 pause everywhere again: the user steps, or wants other exceptions.
pub(super) async fn reset(debugger: &CdpDebugger) -> Result<()> {
    lock(&debugger.0.unhandled.in_vain).clear();
    let scripts: Vec<String> = lock(&debugger.0.unhandled.passed).drain().map(|(script, _)| script).collect();
    for script_id in scripts {
        pass_over(debugger, &script_id).await?;
    }
    Ok(())
}

/// Whether what was thrown has a mark. Where nothing may be changed, marks are kept apart from errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marked {
    /// It had one.
    Before,
    /// It got one, or cannot have one.
    Now,
}

async fn mark(debugger: &CdpDebugger, thrown: &RemoteObject) -> Marked {
    if !can_have_mark(thrown) {
        return Marked::Now;
    }
    if debugger.0.shared.policy.safety.read_only {
        return if debugger.0.values.is_known(thrown).await { Marked::Before } else { Marked::Now };
    }
    let mark = uuid::Uuid::new_v4();
    let question = runtime::CallFunctionOn {
        function_declaration: format!(
            "function(){{const mark={MARK};if(Object.hasOwn(this,mark))return true;\
             Reflect.defineProperty(this,mark,{{configurable:true,value:'{mark}'}});return false}}"
        ),
        ..on(thrown)
    };
    let answer = debugger.request(question).await.ok();
    match answer.and_then(|answer| answer.result.value).and_then(|value| value.as_bool()) {
        Some(true) => Marked::Before,
        _ => Marked::Now,
    }
}

/// The mark of what was thrown.
pub(super) async fn mark_of(debugger: &CdpDebugger, thrown: &RemoteObject) -> Option<String> {
    if !can_have_mark(thrown) || debugger.0.shared.policy.safety.read_only {
        return None;
    }
    let question = runtime::CallFunctionOn {
        function_declaration: format!(
            "function(){{return Object.getOwnPropertyDescriptor(this,{MARK})?.value}}"
        ),
        ..on(thrown)
    };
    let answer = debugger.request(question).await.ok()?;
    answer.result.value?.as_str().map(str::to_owned)
}

/// A proxy would run code of the program's.
fn can_have_mark(thrown: &RemoteObject) -> bool {
    thrown.object_id.is_some() && thrown.subtype.as_deref() != Some("proxy")
}

fn on(thrown: &RemoteObject) -> runtime::CallFunctionOn {
    runtime::CallFunctionOn {
        object_id: thrown.object_id.clone(),
        return_by_value: true,
        silent: true,
        ..Default::default()
    }
}
