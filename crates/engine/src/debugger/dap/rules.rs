//! Conditions, hit counts and log messages that the adapter does not apply itself.
//!
//! Adapters differ in all of this: some stop at a condition that cannot be evaluated and some never do, each has a
//! different grammar for hit counts, and most merge several breakpoints on one line. So a stop is examined before it
//! reaches the session, and a program that should not have stopped resumes.

use std::path::Path;
use std::sync::atomic::Ordering;

use super::breakpoints::{SentBreakpoint, place_of};
use super::motion::RemovalStop;
use super::{DapDebugger, awaits, catches, commands, data, functions, lock, recording, values};
use crate::deadlines;
use crate::debugger::{Debugger, Evaluate, Event, RuleFor, Step};
use crate::error::{Error, Result};
use crate::model::ids::RawId;
use crate::model::limits::MAX_VALUE;
use crate::model::stack::{SEARCHED, StackFrame};
use crate::model::stop::StopReason;

/// A step that a silently resumed stop may interrupt.
#[derive(Debug, Default)]
pub(super) struct Stepping {
    /// The step, and where it began.
    step: Option<(Step, StackPosition)>,
    /// The thread that steps.
    thread: Option<RawId>,
    pub(super) future: SteppedFuture,
    /// It goes out of a function that it did not mean to stop in.
    is_going_out: bool,
    /// It runs the rest of a line that it has come to in the middle.
    is_finishing_line: bool,
    /// It began in a library, as after a stop at a breakpoint there.
    is_in_library: bool,
    /// What was requested.
    wanted: Option<Step>,
}

/// The future that a step began in. See `awaits.rs`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum SteppedFuture {
    /// It began in another function.
    #[default]
    None,
    Polled,
    /// The program runs until it is polled again, at the breakpoint of this number.
    Waits(i64),
}

impl Stepping {
    /// From here on, another thread continues the step.
    fn moved(&mut self, thread: RawId, depth: Option<usize>) {
        self.thread = Some(thread);
        self.step =
            self.step.zip(depth).map(|((step, began), depth)| (step, StackPosition { depth, ..began }));
        self.future = SteppedFuture::Polled;
        // It reaches its line from the beginning of the function.
        self.is_finishing_line = self.wanted != Some(Step::Out);
    }

    pub(super) fn end(&mut self) {
        *self = Self::default();
    }

    /// The thread whose step has not ended.
    pub(super) fn thread(&self) -> Option<RawId> {
        self.thread.filter(|_| self.wanted.is_some())
    }

    /// Whether the step continues at these breakpoints, and nothing else is there.
    pub(super) fn waits_for(&self, numbers: &[i64]) -> bool {
        matches!(self.future, SteppedFuture::Waits(number) if numbers == [number])
    }
}

/// Where a thread is: how deep its stack is, and on which line of the innermost frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StackPosition {
    depth: usize,
    line: i64,
}

/// Remembers a step, where a stop that the session does not see may interrupt it.
pub(super) async fn begin_step(debugger: &DapDebugger, thread: RawId, wanted: Step) {
    let quirks = debugger.quirks();
    let leaves_libraries = leaves_libraries(debugger);
    let wants_frame = quirks.future_commands.is_some() || leaves_libraries;
    let frame = if wants_frame { debugger.top(thread).await.ok().flatten() } else { None };
    let is_in_future = match &frame {
        Some(frame) => awaits::begin(debugger, thread, &frame.name).await,
        None => false,
    };
    let may_interrupt = is_in_future
        || lock(&debugger.0.breakpoints).has_rules(quirks.stops_at_bad_conditions)
        || leaves_libraries && (quirks.steps_into_libraries || wanted == Step::Into)
        || quirks.pauses_for_breakpoints;
    let began = if may_interrupt { spot(debugger, thread).await } else { None };
    let is_in_library = leaves_libraries && frame.as_ref().is_some_and(is_of_library);
    let step = began.map(|began| (wanted, began));
    *lock(&debugger.0.stepping) = Stepping {
        step,
        thread: Some(thread),
        future: if is_in_future { SteppedFuture::Polled } else { SteppedFuture::None },
        is_in_library,
        wanted: Some(wanted),
        ..Stepping::default()
    };
}

fn leaves_libraries(debugger: &DapDebugger) -> bool {
    let quirks = debugger.quirks();
    debugger.setup().leaves_libraries && (quirks.steps_into_libraries || quirks.steps_out_into_libraries)
}

/// How many frames of a deep recursion are counted.
const COUNTED: usize = 100 * SEARCHED;

/// Not every adapter says how many frames there are besides those that it has sent.
async fn spot(debugger: &DapDebugger, thread: RawId) -> Option<StackPosition> {
    let mut levels = SEARCHED;
    loop {
        let stack = debugger.stack_trace(thread, 0, levels).await.ok()?;
        let (sent, depth) = (stack.frames.len(), stack.total);
        let may_have_more =
            if debugger.quirks().counts_sent_frames { depth > sent } else { depth == sent && sent == levels };
        if !may_have_more || levels == COUNTED {
            let line = stack.frames.into_iter().next()?.location.map_or(0, |location| location.line.into());
            return Some(StackPosition { depth, line });
        }
        levels *= 10;
    }
}

/// The next action of a thread in the middle of a step; none if the step has ended.
fn rest(step: Step, began: StackPosition, now: StackPosition) -> Option<Step> {
    match step {
        Step::Over | Step::Out if now.depth > began.depth => Some(Step::Out),
        Step::Out if now.depth == began.depth => Some(Step::Out),
        Step::Over | Step::Into if now == began => Some(step),
        _ => None,
    }
}

/// A stop, as the adapter has reported it.
pub(super) struct Stop {
    pub(super) thread: RawId,
    pub(super) reason: StopReason,
    pub(super) text: Option<String>,
    /// The adapter's numbers for the breakpoints that were hit.
    pub(super) numbers: Vec<i64>,
    /// A pause was requested.
    pub(super) is_wanted: bool,
}

/// What comes of one stop.
#[derive(Default)]
pub(super) struct JudgedStop {
    pub(super) events: Vec<Event>,
    /// The program is to go on with this thread, if it may: see [`resume`].
    pub(super) passes: Option<(RawId, StopReason)>,
    /// Kept until it has gone on.
    pub(super) held: Option<RemovalStop>,
}

impl JudgedStop {
    fn of(events: Vec<Event>) -> Self {
        Self { events, ..Self::default() }
    }

    pub(super) fn passing(thread: RawId, reason: StopReason) -> Self {
        Self { passes: Some((thread, reason)), ..Self::default() }
    }
}

/// The outcome of a stop: the stop itself, unless the program is to go on, and what the rules report.
pub(super) async fn apply(debugger: &DapDebugger, stop: Stop) -> JudgedStop {
    let Stop { thread, mut reason, text, mut numbers, is_wanted } = stop;
    let stopped = |reason, text, breakpoints| Event::Stopped { thread, reason, text, breakpoints };
    let is_going_on = {
        let stepping = lock(&debugger.0.stepping);
        stepping.step.is_some() && (stepping.is_going_out || stepping.is_finishing_line)
    };
    if reason == StopReason::Step && !is_wanted {
        if awaits::wait(debugger, thread).await {
            return JudgedStop::default();
        }
        let resumed = if is_going_on {
            resume_interrupted(debugger, thread).await
        } else {
            finish_function(debugger, thread).await
        };
        match resumed {
            Ok(true) => return JudgedStop::default(),
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "cannot continue a step"),
        }
    }
    if reason == StopReason::Breakpoint && !is_wanted && catches::landed(debugger, &numbers).await {
        reason = StopReason::Step;
    }
    let is_step = reason == StopReason::Step && !is_wanted;
    if is_step && (pass_entry(debugger, thread).await || leave_library(debugger, thread).await) {
        return JudgedStop::default();
    }
    if reason == StopReason::DataBreakpoint {
        return at_data(debugger, thread, is_wanted).await;
    }
    if reason != StopReason::Breakpoint {
        lock(&debugger.0.stepping).end();
        return JudgedStop::of(vec![stopped(reason, text, Vec::new())]);
    }
    if !is_wanted && is_polled_again(debugger, thread, &mut numbers).await {
        return JudgedStop::default();
    }
    let ended = data::frame_ended(debugger, &numbers).await;
    let is_by_place = numbers.is_empty() && !debugger.quirks().reports_hits;
    let at = if is_by_place { place_of(debugger, thread).await } else { None };
    let at = at.as_ref().map(|(path, line)| (Path::new(path), *line));
    let mut hit = lock(&debugger.0.breakpoints).hit(&numbers, at);
    // A number that is not known is that of the entry, or of a breakpoint that was removed while the program was on its
    // way to it.
    let is_unknown = hit.is_empty() && !numbers.is_empty() && !debugger.quirks().reports_hits;
    if is_unknown && debugger.setup().stops_on_entry && !debugger.0.entered.swap(true, Ordering::AcqRel) {
        return JudgedStop::of(vec![stopped(StopReason::Entry, None, Vec::new())]);
    }
    let mut judged = RuleOutcome { events: ended, ..RuleOutcome::default() };
    functions::leave_out_closures(debugger, thread, &mut hit).await;
    let is_start = !hit.is_empty() && is_in_start_code(debugger, thread, &hit).await;
    for sent in hit.iter().filter(|_| !is_start) {
        apply_rules(debugger, thread, sent, &mut judged).await;
    }
    let RuleOutcome { mut events, stops, .. } = judged;
    let last = if (hit.is_empty() && !is_unknown) || !stops.is_empty() {
        stopped(reason, text, stops)
    } else if is_wanted {
        // The program stood still when it was to be paused, so no other stop comes.
        stopped(StopReason::Pause, None, Vec::new())
    } else {
        return JudgedStop { events, ..JudgedStop::passing(thread, reason) };
    };
    lock(&debugger.0.stepping).end();
    events.push(last);
    JudgedStop::of(events)
}

/// Whether a thread is where the future in which a step began is polled again, and steps on. If a breakpoint is there,
/// too, it only has the step from then on.
async fn is_polled_again(debugger: &DapDebugger, thread: RawId, numbers: &mut Vec<i64>) -> bool {
    let SteppedFuture::Waits(number) = lock(&debugger.0.stepping).future else { return false };
    let count = numbers.len();
    numbers.retain(|other| *other != number);
    if numbers.len() == count || !awaits::is_polled_by(debugger, thread).await {
        return false;
    }
    let depth = spot(debugger, thread).await.map(|spot| spot.depth);
    let wanted = {
        let mut stepping = lock(&debugger.0.stepping);
        stepping.moved(thread, depth);
        stepping.wanted
    };
    numbers.is_empty() && debugger.go_unless_paused(thread, wanted).await.unwrap_or(false)
}

/// Whether a thread is in code of the compiler's own before the program of the user, and no breakpoint is on the line
/// that it does there.
async fn is_in_start_code(debugger: &DapDebugger, thread: RawId, hit: &[SentBreakpoint]) -> bool {
    let Some(is_start) = debugger.quirks().is_start_function else { return false };
    // The report of the stop has these frames.
    let Ok(stack) = debugger.stack_trace(thread, 0, SEARCHED).await else { return false };
    let line = |frame: &StackFrame<RawId>| frame.location.as_ref().map(|location| location.line);
    match stack.frames.as_slice() {
        [frame, ..] if is_start(&frame.name) => true,
        [frame, caller, ..] if is_start(&caller.name) => {
            line(frame) == line(caller) || !hit.iter().any(|sent| sent.is_on(line(frame)))
        }
        _ => false,
    }
}

/// The outcome of a stop at data breakpoints.
async fn at_data(debugger: &DapDebugger, thread: RawId, is_wanted: bool) -> JudgedStop {
    if !data::watches(debugger) {
        // One that another client has set.
        lock(&debugger.0.stepping).end();
        let reason = StopReason::DataBreakpoint;
        return JudgedStop::of(vec![Event::Stopped { thread, reason, text: None, breakpoints: Vec::new() }]);
    }
    let mut judged = RuleOutcome::default();
    let changes = data::changes(debugger, thread).await;
    for (rule, _) in &changes {
        apply_rules(debugger, thread, &SentBreakpoint::on_data(rule.clone()), &mut judged).await;
    }
    let RuleOutcome { mut events, stops, .. } = judged;
    if stops.is_empty() && !is_wanted {
        return JudgedStop { events, ..JudgedStop::passing(thread, StopReason::DataBreakpoint) };
    }
    lock(&debugger.0.stepping).end();
    let changes = changes.into_iter().map(|(_, change)| change);
    events.extend(changes.filter(|change| stops.contains(&change.id)).map(Event::DataChanged));
    let reason = if stops.is_empty() { StopReason::Pause } else { StopReason::DataBreakpoint };
    events.push(Event::Stopped { thread, reason, text: None, breakpoints: stops });
    JudgedStop::of(events)
}

/// Steps to where the parameters of a function have their values, if a step into it has ended before.
async fn pass_entry(debugger: &DapDebugger, thread: RawId) -> bool {
    let Some(command) =
        debugger.quirks().entry_command.filter(|_| lock(&debugger.0.stepping).wanted == Some(Step::Into))
    else {
        return false;
    };
    let Ok(Some(frame)) = debugger.top(thread).await else { return false };
    let answer = commands::run(debugger, Some(frame.id), command.to_owned(), deadlines::READ).await;
    let answer = answer.unwrap_or_default();
    let Some(motion) = answer.lines().find_map(|line| line.strip_prefix("before ")) else { return false };
    debugger.go_by(thread, frame.id, motion).await.unwrap_or(false)
}

/// Steps out of a library in which a step has ended, or resumes the program if no user code is on the stack.
async fn leave_library(debugger: &DapDebugger, thread: RawId) -> bool {
    if !leaves_libraries(debugger) || lock(&debugger.0.stepping).is_in_library {
        return false;
    }
    // Most steps end in code of the user's, and the report of the stop has these frames.
    if library_frames(debugger, thread, SEARCHED).await.is_none() {
        return false;
    }
    let Some(frames) = library_frames(debugger, thread, LIBRARY_FRAMES).await else { return false };
    let next = frames.iter().any(|frame| !is_of_library(frame)).then_some(Step::Out);
    match next {
        Some(_) => lock(&debugger.0.stepping).is_going_out = true,
        // The step is over: the thread runs.
        None => lock(&debugger.0.stepping).end(),
    }
    debugger.go_unless_paused(thread, next).await.unwrap_or(false)
}

/// This many frames of a thread that is in a library.
async fn library_frames(
    debugger: &DapDebugger,
    thread: RawId,
    count: usize,
) -> Option<Vec<StackFrame<RawId>>> {
    let stack = debugger.stack_trace(thread, 0, count).await.ok()?;
    stack.frames.first().is_some_and(is_of_library).then_some(stack.frames)
}

fn is_of_library(frame: &StackFrame<RawId>) -> bool {
    frame.location.as_ref().is_none_or(|location| location.source.internal)
}

/// How many frames of a library may be above the code of the user.
const LIBRARY_FRAMES: usize = 60;

/// Continues from a stop that was not requested. The stop is reported if it ends a step, if the program is to be
/// paused, or if the adapter refuses.
pub(super) async fn resume(debugger: &DapDebugger, thread: RawId, reason: StopReason) -> Vec<Event> {
    let stepping = lock(&debugger.0.stepping).thread.unwrap_or(thread);
    let (thread, reason) = match resume_interrupted(debugger, stepping).await {
        Ok(true) => return Vec::new(),
        Ok(false) if debugger.0.pausing.take() => (thread, StopReason::Pause),
        Ok(false) => (stepping, StopReason::Step),
        Err(error) => {
            tracing::warn!(%error, "cannot resume from a stop without a breakpoint");
            (thread, reason)
        }
    };
    lock(&debugger.0.stepping).end();
    vec![Event::Stopped { thread, reason, text: None, breakpoints: Vec::new() }]
}

/// Continues a thread's command from before the stop, which may have been in another thread. Returns false, and the
/// thread stays suspended, if that command has finished or a pause was requested.
async fn resume_interrupted(debugger: &DapDebugger, thread: RawId) -> Result<bool> {
    let step = {
        let stepping = lock(&debugger.0.stepping);
        stepping.step.filter(|_| !matches!(stepping.future, SteppedFuture::Waits(_)))
    };
    let next = match step {
        None => None,
        Some((step, began)) => match spot(debugger, thread).await {
            Some(now) => match rest(step, began, now) {
                None => return Ok(false),
                next => next,
            },
            None => Some(step),
        },
    };
    {
        let mut stepping = lock(&debugger.0.stepping);
        stepping.is_going_out = next == Some(Step::Out);
        stepping.is_finishing_line = false;
    }
    debugger.go_unless_paused(thread, next).await
}

/// Continues a step off the end of a function that has gone back to an earlier line of it, to which the calls that the
/// end makes belong. Returns false if the step has ended.
async fn finish_function(debugger: &DapDebugger, thread: RawId) -> Result<bool> {
    let Some(goes_back) = debugger.quirks().goes_back_at_end else { return Ok(false) };
    let step = lock(&debugger.0.stepping).step;
    let Some((step, began)) = step.filter(|(step, _)| *step != Step::Out) else { return Ok(false) };
    // The report of the stop has these frames.
    let stack = debugger.stack_trace(thread, 0, SEARCHED).await?;
    let place = stack.frames.first().and_then(|frame| frame.location.as_ref());
    let place = place.and_then(|place| Some((place.source.path.as_ref()?, place.line)));
    let Some((file, line)) = place else { return Ok(false) };
    let text = std::fs::read_to_string(file).unwrap_or_default();
    if !u32::try_from(began.line).is_ok_and(|began| goes_back(&text, began, line)) {
        return Ok(false);
    }
    lock(&debugger.0.stepping).is_finishing_line = true;
    debugger.go_unless_paused(thread, Some(step)).await
}

/// What the rules of a stop say.
#[derive(Default)]
struct RuleOutcome {
    events: Vec<Event>,
    /// The breakpoints that stop the program.
    stops: Vec<crate::model::ids::BreakpointId>,
    /// The frame that the expressions are evaluated in, once one is.
    frame: Option<RawId>,
}

async fn apply_rules(debugger: &DapDebugger, thread: RawId, sent: &SentBreakpoint, judged: &mut RuleOutcome) {
    let left = if sent.is_recorded { recording::left(debugger, thread).await } else { Vec::new() };
    for applied in &sent.rules {
        let RuleFor { id, rule, .. } = applied;
        if sent.is_recorded && recording::is_recordable(applied) && !left.contains(id) {
            continue;
        }
        // An adapter that stops where a condition makes no sense is not to be believed where it does.
        if sent.is_native && !debugger.quirks().stops_at_bad_conditions {
            judged.stops.push(*id);
            continue;
        }
        let is_met = match &rule.condition {
            Some(condition) => {
                let condition = (debugger.quirks().as_condition)(condition);
                let value = evaluate(debugger, thread, &condition, &mut judged.frame).await;
                value.map(|value| is_true(&value))
            }
            None => Ok(true),
        };
        match is_met {
            Ok(true) => {}
            Ok(false) => continue,
            Err(error) => {
                judged.events.push(Event::RuleFailed { id: *id, message: error.to_string(), times: 1 });
                continue;
            }
        }
        let count = lock(&debugger.0.breakpoints).count(*id);
        if rule.hit_condition.is_some_and(|hit| !hit.is_met(count)) {
            continue;
        }
        match &rule.log_message {
            None => judged.stops.push(*id),
            Some(message) => {
                let text = filled(debugger, thread, message, &mut judged.frame).await;
                judged.events.push(match text {
                    Ok(text) => Event::Logged { id: *id, text },
                    Err(error) => Event::RuleFailed { id: *id, message: error.to_string(), times: 1 },
                });
            }
        }
    }
}

async fn evaluate(
    debugger: &DapDebugger,
    thread: RawId,
    expression: &str,
    frame: &mut Option<RawId>,
) -> Result<String> {
    let frame = if let Some(frame) = *frame {
        frame
    } else {
        let top = debugger.top(thread).await?;
        *frame.insert(top.ok_or_else(|| Error::Refused("the stack is empty".to_owned()))?.id)
    };
    let request = Evaluate {
        expression: expression.to_owned(),
        frame,
        deadline: deadlines::CONDITION,
        text: MAX_VALUE,
        pure: false,
    };
    Ok(values::evaluate(debugger, request).await?.text)
}

/// Whether a condition is true in the innermost frame of a thread.
pub(super) async fn is_met(debugger: &DapDebugger, thread: RawId, condition: &str) -> Result<bool> {
    let condition = (debugger.quirks().as_condition)(condition);
    Ok(is_true(&evaluate(debugger, thread, &condition, &mut None).await?))
}

/// Whether the text of a value is that of one that counts as true, in whichever language.
fn is_true(value: &str) -> bool {
    let value = value.trim();
    let is_zero = value.trim_start_matches("0x").chars().all(|digit| matches!(digit, '0' | '.'));
    let is_no = matches!(value, "false" | "False" | "nil" | "null" | "None" | "NULL" | "nullptr" | r"'\0'");
    !(is_zero || is_no)
}

/// A log message, with the value of each expression in its braces. `{{` and `}}` are braces.
async fn filled(
    debugger: &DapDebugger,
    thread: RawId,
    message: &str,
    frame: &mut Option<RawId>,
) -> Result<String> {
    let mut text = String::new();
    for part in parts(message) {
        match part {
            Part::Text(part) => text.push_str(&part),
            Part::Expression(part) => {
                let expression = (debugger.quirks().as_text)(&part);
                text.push_str(&evaluate(debugger, thread, &expression, frame).await?);
            }
        }
    }
    Ok(text)
}

/// A part of a log message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Expression(String),
}

/// Braces inside an expression belong to it, as in `{(struct point){1, 2}.x}`. One that is not closed is text.
pub(super) fn parts(message: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = message;
    while let Some(letter) = rest.chars().next() {
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        if matches!(letter, '{' | '}') && after.starts_with(letter) {
            text.push(letter);
            rest = after.get(1..).unwrap_or_default();
        } else if let Some(length) = (letter == '{').then(|| expression_length(after)).flatten() {
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(Part::Expression(after.get(..length).unwrap_or_default().trim().to_owned()));
            rest = after.get(length + 1..).unwrap_or_default();
        } else {
            text.push(letter);
            rest = after;
        }
    }
    parts.push(Part::Text(text));
    parts.retain(|part| *part != Part::Text(String::new()));
    parts
}

fn expression_length(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, letter)| {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_many_languages_are_truthy_or_falsy() {
        let no = ["false", "False", "0", "0.0", "0x0", "0x0000000000000000", "nil", "null", "None", r"'\0'"];
        let yes = ["true", "True", "1", "-1", "0x7ff0", "\"\"", "'a'", "point @ 0x7ffe10", "10", "0.5"];
        assert!(no.iter().all(|text| !is_true(text)), "{no:?}");
        assert!(yes.iter().all(|text| is_true(text)), "{yes:?}");
    }

    #[test]
    fn log_messages_split_into_texts_and_expressions() {
        let text = |text: &str| Part::Text(text.to_owned());
        let expression = |text: &str| Part::Expression(text.to_owned());
        let table = [
            ("plain", vec![text("plain")]),
            ("n is { n }!", vec![text("n is "), expression("n"), text("!")]),
            ("{{n}} {n}", vec![text("{n} "), expression("n")]),
            ("{f((struct p){1}.x)}", vec![expression("f((struct p){1}.x)")]),
            ("open {n", vec![text("open {n")]),
            ("", vec![]),
        ];
        for (message, expected) in table {
            assert_eq!(parts(message), expected, "{message}");
        }
    }
}
