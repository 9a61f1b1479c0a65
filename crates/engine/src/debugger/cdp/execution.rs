//! Letting a thread run, step and pause.
//!
//! V8 steps from statement to statement; a user steps from line to line of the source. So a step of V8 that
//! ends where the user's has not is followed by another one: on the same line, in code that no source stands
//! for, in Node's own code, or below a module that was loaded on the way.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use ::cdp::debugger::{self, CallFrame, Location};
use ::cdp::runtime;
use futures_util::future;

use super::stops::{self, POKE, Stop};
use super::{CdpDebugger, Connection, breakpoints, ends, lock};
use crate::deadlines;
use crate::debugger::{Event, Step};
use crate::error::Result;
use crate::model::stop::StopReason;

/// A step that goes nowhere, as in a loop on one line, ends after so many steps of V8.
const MOST_STEPS: u32 = 32;

/// How long a program that was asked to pause is left alone before it counts as idle.
const IDLE: Duration = Duration::from_millis(30);

/// The group of the objects that functions returned.
const RETURNED: &str = "stillframe-returned";

/// What a thread was last told to do; it ends with the next stop that is told.
#[derive(Debug, Default)]
pub(super) enum Intent {
    /// To run.
    #[default]
    Run,
    /// To stop before its first line.
    Entry,
    /// To stop as soon as it can.
    Pause,
    /// To step.
    Step(Box<Stepping>),
}

/// A step under way.
#[derive(Debug)]
pub(super) struct Stepping {
    step: Step,
    /// The function that it began in.
    function: Option<Location>,
    /// How many frames the stack had then.
    depth: usize,
    /// The outermost function on the stack then. After an `await` it is another one.
    turn: Option<Location>,
    /// The line that it began on, as the user sees it.
    line: Option<(String, u32)>,
    /// How many steps of V8 it took so far.
    count: u32,
    /// Breakpoints of our own where it may end, or go on from.
    pub(super) ends: Vec<String>,
    /// The waiting frames that have such breakpoints, by how many frames there are from each of them outwards.
    caught: Vec<usize>,
    /// What the function returned.
    returned: Option<runtime::RemoteObject>,
}

/// V8's own step survives a stop at an exception, so that plainly resuming goes on with it.
pub(super) async fn pass(debugger: &CdpDebugger) -> Result<()> {
    debugger.stop()?;
    leave(debugger, None).await
}

pub(super) async fn resume(debugger: &CdpDebugger) -> Result<()> {
    debugger.stop()?;
    if abandon(debugger, Intent::Run) {
        // The step that an exception interrupted ends with a pause that nobody waits for.
        debugger.0.lingers.store(true, Ordering::Release);
    }
    leave(debugger, None).await
}

pub(super) async fn step(debugger: &CdpDebugger, step: Step) -> Result<()> {
    let stop = debugger.stop()?;
    let mut stepping = begin(debugger, step, &stop).await;
    if step == Step::Out {
        stepping.ends = ends::of_function(debugger, &stop).await;
    }
    catch_below(debugger, &stop, &mut stepping).await;
    abandon(debugger, Intent::Step(Box::new(stepping)));
    debugger.0.lingers.store(false, Ordering::Release);
    // The idle program's only frame is ours: a step from there leads to what it does next.
    leave(debugger, Some(if stop.is_idle { Step::Into } else { step })).await
}

async fn begin(debugger: &CdpDebugger, step: Step, stop: &Stop) -> Stepping {
    let line = match stop.frames.first() {
        Some(frame) => super::frames::line(debugger, &frame.location).await,
        None => None,
    };
    Stepping {
        step,
        function: stop.frames.first().and_then(|frame| frame.function_location.clone()),
        depth: stop.frames.len(),
        turn: stop.frames.last().and_then(|frame| frame.function_location.clone()),
        line,
        count: 0,
        ends: Vec::new(),
        caught: Vec::new(),
        returned: None,
    }
}

async fn send(debugger: &CdpDebugger, next: Option<Step>) -> Result<()> {
    match next {
        None => debugger.request(debugger::Resume::default()).await?,
        Some(Step::Over) => debugger.request(debugger::StepOver::default()).await?,
        Some(Step::Into) => debugger.request(debugger::StepInto::default()).await?,
        Some(Step::Out) => debugger.request(debugger::StepOut::default()).await?,
    };
    Ok(())
}

/// Lets the thread run, in one way or another. What was read at the stop is void from here on.
///
/// V8 is told to let go of it before it is told to run: a worker may end at once, and Node 20 can abort when an
/// ending worker is spoken to.
async fn leave(debugger: &CdpDebugger, next: Option<Step>) -> Result<()> {
    let left = lock(&debugger.0.stop).take();
    breakpoints::forget_removed(debugger).await;
    let returned = left.filter(|stop| stop.returned.get().is_some()).map(|_| RETURNED);
    let groups = debugger.0.values.forget().into_iter().chain(returned);
    let releases = groups.map(|group| {
        let release = runtime::ReleaseObjectGroup { object_group: group.to_owned() };
        debugger.request(release)
    });
    let (_, sent) = future::join(future::join_all(releases), send(debugger, next)).await;
    sent
}

/// Whether a step is under way.
pub(super) fn is_stepping(debugger: &CdpDebugger) -> bool {
    matches!(&*lock(&debugger.0.intent), Intent::Step(_))
}

/// Goes on from a pause that is none of the user's, with what the thread was told before.
pub(super) async fn go_on(debugger: &CdpDebugger) {
    let next = match &*lock(&debugger.0.intent) {
        Intent::Run | Intent::Pause => None,
        Intent::Step(stepping) if stepping.step != Step::Into => Some(Step::Out),
        Intent::Entry | Intent::Step(_) => Some(Step::Into),
    };
    proceed(debugger, next).await;
}

/// A thread that is gone by now is noticed elsewhere.
async fn proceed(debugger: &CdpDebugger, next: Option<Step>) {
    if let Err(error) = leave(debugger, next).await {
        tracing::debug!(%error, "the program could not be let go on");
    }
}

/// Decides about a pause at which nothing of the user's was hit: the end of a step or its way, the pause that
/// was asked for, or a `debugger` statement.
pub(super) async fn settle(debugger: &CdpDebugger, stop: &Arc<Stop>) -> Vec<Event> {
    let intent = std::mem::take(&mut *lock(&debugger.0.intent));
    match intent {
        // A process that waited for its debugger begins; a worker always waits.
        Intent::Run if stop.is_start && !debugger.is_worker() => {
            vec![stops::shown(debugger, StopReason::Entry, None, Vec::new()).await]
        }
        Intent::Run if stop.is_start => {
            proceed(debugger, None).await;
            Vec::new()
        }
        Intent::Run
            if debugger.0.lingers.swap(false, Ordering::AcqRel)
                && !is_debugger_statement(debugger, stop).await =>
        {
            proceed(debugger, None).await;
            Vec::new()
        }
        Intent::Run => vec![stops::shown(debugger, debugger_statement(), None, Vec::new()).await],
        Intent::Pause => settle_pause(debugger, stop).await,
        Intent::Entry => settle_entry(debugger, stop).await,
        Intent::Step(stepping) => settle_step(debugger, stop, *stepping).await,
    }
}

/// Whether the program's own text asks for the stop.
async fn is_debugger_statement(debugger: &CdpDebugger, stop: &Stop) -> bool {
    let Some(frame) = stop.frames.first() else { return false };
    let Some(script) = debugger.0.scripts.get(&frame.location.script_id) else { return false };
    let Some(text) = super::frames::text(debugger, &script).await else { return false };
    let (line, column) = super::frames::position(&frame.location);
    let at = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let line = text.split('\n').nth(at(line)).unwrap_or_default();
    line.encode_utf16().skip(at(column)).take(8).eq("debugger".encode_utf16())
}

/// Gives the thread another intent. A step that was under way is not any more: true, and its breakpoints go.
fn abandon(debugger: &CdpDebugger, next: Intent) -> bool {
    let before = std::mem::replace(&mut *lock(&debugger.0.intent), next);
    let Intent::Step(stepping) = before else { return false };
    // A thread in native code answers late, and what comes next need not wait for that.
    let debugger = debugger.clone();
    tokio::spawn(async move { ends::clear(&debugger, stepping.ends).await });
    true
}

fn debugger_statement() -> StopReason {
    StopReason::Other("debugger statement".to_owned())
}

async fn settle_pause(debugger: &CdpDebugger, stop: &Arc<Stop>) -> Vec<Event> {
    if !stop.is_idle && stop.frames.first().is_some_and(|frame| stops::is_poke(debugger, frame)) {
        // Our evaluation came in the middle of the program's own work, which is what there is to see.
        *lock(&debugger.0.intent) = Intent::Pause;
        proceed(debugger, Some(Step::Out)).await;
        return Vec::new();
    }
    let text = stop
        .is_idle
        .then(|| "the program is idle: it waits for events, such as timers, connections or input".to_owned());
    vec![stops::shown(debugger, StopReason::Pause, text, Vec::new()).await]
}

async fn settle_entry(debugger: &CdpDebugger, stop: &Arc<Stop>) -> Vec<Event> {
    let is_users = |frame: &CallFrame| !is_passed_over(debugger, frame) && !frame.url.starts_with("node:");
    if !stop.frames.first().is_some_and(is_users) {
        *lock(&debugger.0.intent) = Intent::Entry;
        proceed(debugger, Some(Step::Into)).await;
        return Vec::new();
    }
    vec![stops::shown(debugger, StopReason::Entry, None, Vec::new()).await]
}

async fn settle_step(debugger: &CdpDebugger, stop: &Arc<Stop>, mut stepping: Stepping) -> Vec<Event> {
    stepping.count += 1;
    let has_ends = stepping.step == Step::Out || stepping.step == Step::Over && !stepping.ends.is_empty();
    if has_ends && stop.frames.len() > stepping.depth {
        return pass_inner_call(debugger, stepping).await;
    }
    let is_users = |frame: &CallFrame| !is_passed_over(debugger, frame);
    let ends_here = stop.frames.first().is_some_and(is_users);
    let is_lost =
        stepping.count >= MOST_STEPS || stepping.step != Step::Into && !stop.frames.iter().any(is_users);
    if is_lost && !ends_here {
        // The turn of the event loop is over, and with it the step: the program runs on.
        ends::clear(debugger, stepping.ends).await;
        proceed(debugger, None).await;
        return Vec::new();
    }
    let next = next_step(debugger, stop, &mut stepping).await.filter(|_| stepping.count < MOST_STEPS);
    if let Some(next) = next {
        catch_below(debugger, stop, &mut stepping).await;
        *lock(&debugger.0.intent) = Intent::Step(Box::new(stepping));
        proceed(debugger, Some(next)).await;
        return Vec::new();
    }
    if let Some(returned) = stepping.returned.take() {
        // It is told once for each stop.
        let _ = stop.returned.set(returned);
    }
    ends::clear(debugger, stepping.ends).await;
    vec![stops::shown(debugger, StopReason::Step, None, Vec::new()).await]
}

/// Sees to it that the step comes back to the user's code where V8 would lose it.
async fn catch_below(debugger: &CdpDebugger, stop: &Stop, stepping: &mut Stepping) {
    let is_out = stepping.step == Step::Out;
    for index in ends::unseen(debugger, stop, is_out).await {
        let caught = stop.frames.len() - index;
        if !stepping.caught.contains(&caught)
            && let Some(frame) = stop.frames.get(index)
        {
            stepping.caught.push(caught);
            stepping.ends.extend(ends::in_caller(debugger, frame).await);
        }
    }
}

/// A call that the function makes has come to the places where it returns. After many, V8's own step out, which
/// passes over such calls, has to do without those places.
async fn pass_inner_call(debugger: &CdpDebugger, mut stepping: Stepping) -> Vec<Event> {
    if stepping.count >= MOST_STEPS {
        ends::clear(debugger, std::mem::take(&mut stepping.ends)).await;
    }
    *lock(&debugger.0.intent) = Intent::Step(Box::new(stepping));
    proceed(debugger, Some(Step::Out)).await;
    Vec::new()
}

/// What is still to be stepped until the user's step is done.
async fn next_step(debugger: &CdpDebugger, stop: &Stop, stepping: &mut Stepping) -> Option<Step> {
    let frame = stop.frames.first()?;
    let is_same_function = frame.function_location == stepping.function;
    if let Some(value) = frame.return_value.as_ref().filter(|_| is_same_function) {
        // V8 stops once more where the function returns, and only there the value is to be seen.
        let is_asked = stepping.step == Step::Out || value.kind != "undefined";
        stepping.returned = if is_asked { keep(debugger, value).await } else { None };
    }
    let is_later_turn = stop.frames.last().is_none_or(|frame| frame.function_location != stepping.turn);
    let is_not_left = stop.frames.len() >= stepping.depth || is_later_turn;
    if stepping.step == Step::Out && is_same_function && is_not_left {
        return Some(Step::Out);
    }
    if is_passed_over(debugger, frame) {
        // Our hook leads on to the user's code; Node's own code that V8 does not pass over, such as that of
        // its promises, leads back to it.
        let leads_on = stepping.step == Step::Into && is_hook(debugger, frame);
        return Some(if leads_on { Step::Into } else { Step::Out });
    }
    if stepping.step != Step::Into && stop.frames.len() > stepping.depth {
        // A module that was loaded on the way has begun.
        return Some(Step::Out);
    }
    let line = super::frames::line(debugger, &frame.location).await;
    let is_nobodys = line.is_none();
    let is_same_line = is_same_function && is_not_left && line == stepping.line && stepping.step != Step::Out;
    (is_nobodys || is_same_line).then(|| if stepping.step == Step::Into { Step::Into } else { Step::Over })
}

/// Code that no step ends in: Node's own, our hook, and libraries unless they are the user's code too.
pub(super) fn is_passed_over(debugger: &CdpDebugger, frame: &CallFrame) -> bool {
    let Some(script) = debugger.0.scripts.get(&frame.location.script_id) else { return false };
    let just_my_code = debugger.0.shared.setup.just_my_code;
    let is_library = |path: &Path| just_my_code && debugger.0.shared.adapter.is_internal(path);
    script.url.starts_with(if just_my_code { "node:" } else { "node:internal/" })
        || script.url == POKE
        || script.path.as_deref().is_some_and(is_library)
        || is_hook(debugger, frame)
}

fn is_hook(debugger: &CdpDebugger, frame: &CallFrame) -> bool {
    let script = debugger.0.scripts.get(&frame.location.script_id);
    let path = script.as_ref().and_then(|script| script.path.as_deref());
    path.is_some_and(|path| debugger.0.shared.setup.is_hook(path))
}

/// V8 lets go of what a stop gave out when the program runs; this outlives it.
async fn keep(debugger: &CdpDebugger, value: &runtime::RemoteObject) -> Option<runtime::RemoteObject> {
    let Some(object_id) = value.object_id.clone() else { return Some(value.clone()) };
    let again = runtime::CallFunctionOn {
        function_declaration: "function(){return this}".to_owned(),
        object_id: Some(object_id),
        object_group: Some(RETURNED.to_owned()),
        ..Default::default()
    };
    Some(debugger.request(again).await.ok()?.result)
}

/// Asks a running thread to stop. One that runs no code at the moment is brought to its stop by an evaluation.
pub(super) async fn pause(debugger: &CdpDebugger) -> Result<()> {
    let mut is_running = debugger.0.is_running.subscribe();
    // V8 forgets a pause that it is asked for before it has said that it runs.
    let _ = tokio::time::timeout(deadlines::REQUEST, is_running.wait_for(|is_running| *is_running)).await;
    abandon(debugger, Intent::Pause);
    let asked = debugger.0.client.request(debugger::Pause::default(), deadlines::GOODBYE).await;
    // A thread in native code takes it up when that returns.
    if let Err(error) = asked
        && !matches!(error, ::cdp::Error::Deadline { .. })
    {
        return Err(error.into());
    }
    tokio::spawn(insist(Arc::downgrade(&debugger.0)));
    Ok(())
}

/// Has a thread come to the pause that it was asked for. One that runs no code needs some to stop in, and V8
/// forgets a pause that finds it in code that is passed over, such as Node's own.
async fn insist(connection: Weak<Connection>) {
    let mut patience = IDLE;
    loop {
        tokio::time::sleep(patience).await;
        let Some(debugger) = connection.upgrade().map(CdpDebugger) else { return };
        let is_awaited = || matches!(*lock(&debugger.0.intent), Intent::Pause);
        if !is_awaited() {
            return;
        }
        // A pause of our own, which is gone on from: a stop that is told ends the intent.
        if lock(&debugger.0.stop).is_some() {
            continue;
        }
        let expression = format!("0\n//# sourceURL={POKE}");
        let poke = runtime::Evaluate { expression, silent: true, ..Default::default() };
        // It stops in there, and its answer comes when the program runs on.
        let ended = debugger.0.client.request(poke, deadlines::GOODBYE).await;
        if matches!(ended, Err(::cdp::Error::Closed)) || !is_awaited() {
            return;
        }
        if ended.is_ok() && debugger.request(debugger::Pause::default()).await.is_err() {
            return;
        }
        patience = (patience * 2).min(deadlines::NUDGE);
    }
}
