//! Samples the stack of a program that computes: it is suspended for a moment, and runs on.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::Duration;

use engine::deadlines;
use engine::debugger::Step;
use engine::error::Error;
use engine::model::activity::SampledFrame;
use engine::model::ids::{Reference, ThreadId};
use engine::model::source::Loop;
use engine::model::stack::StackFrame;
use engine::model::stop::StopReason;
use engine::model::variable::Page;
use engine::session::{Outcome, Session};
use tokio::time::{Instant, timeout, timeout_at};

use crate::ToolError;

/// How long a pause in place of a step that takes too long may take.
const SUSPEND: Duration = Duration::from_secs(1);
/// How long an expression may take.
const EXPRESSION: Duration = Duration::from_millis(250);
/// How long a step may take.
const STEP: Duration = Duration::from_millis(100);
/// How long a function that is called again and again may take to return.
const RETURN: Duration = Duration::from_millis(500);
/// How many frames of a stack are read.
const FRAMES: usize = 400;
/// In how many frames, from the innermost outwards, variables are read.
const READ: usize = 6;
/// How many variables of a frame are read.
const VARIABLES: u64 = 40;
/// How many characters of a value are compared.
const TEXT: usize = 120;

/// A stack, outermost position first. Frames without a file are left out.
pub(super) type StackSample = Vec<Position>;

/// Where a frame was when its stack was sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Position {
    /// How many frames called it.
    pub(super) depth: usize,
    pub(super) function: String,
    pub(super) file: PathBuf,
    pub(super) line: u32,
    /// It belongs to the runtime or to a library.
    pub(super) is_internal: bool,
    /// The loops around the line, innermost first.
    pub(super) loops: Vec<Loop>,
    /// Variables and what conditions compare, with their values as text; empty where they were not read.
    pub(super) values: BTreeMap<String, String>,
    /// Too many other frames are further in for its variables to be read.
    pub(super) is_deep: bool,
}

impl Position {
    /// A name in the head of its innermost loop has no value here.
    fn is_in_front(&self) -> bool {
        let head = self.loops.first().map(|found| &found.variables);
        head.is_some_and(|names| names.iter().any(|name| !self.values.contains_key(name)))
    }
}

/// Samples the stack of one thread.
pub(super) struct StackSampler<'a> {
    session: &'a Session,
    /// What is in the files that were seen.
    loops: HashMap<PathBuf, Vec<Loop>>,
}

impl<'a> StackSampler<'a> {
    pub(super) fn new(session: &'a Session) -> Self {
        Self { session, loops: HashMap::new() }
    }

    /// Suspends the program and reads where a thread is. It stays suspended. Nothing when it was not suspended in
    /// time: then it is as soon as it leaves native code, unless that is taken back by [`StackSampler::release`].
    pub(super) async fn sample(
        &mut self,
        thread: ThreadId,
        patience: Duration,
    ) -> Result<Option<StackSample>, ToolError> {
        if self.session.execution().stop().is_none() {
            // One in native code need not even acknowledge it.
            let until = Instant::now() + patience;
            let asked = timeout_at(until, self.session.pause(Some(thread))).await;
            if asked.is_err() {
                return Ok(None);
            }
            match self.session.wait(until).await {
                Outcome::Stopped(stop) if stop.reason == StopReason::Pause => {}
                // A breakpoint of the user's, or the end.
                Outcome::Stopped(_) | Outcome::Running | Outcome::Ended(_) => return Ok(None),
            }
        }
        let Some((sample, is_placed)) = self.read(thread).await else { return Ok(None) };
        let innermost = sample.last();
        // A debugger may suspend a loop before its head, where what it counts is not in scope.
        let is_in_front = innermost.is_some_and(Position::is_in_front);
        let is_stray = self.session.adapter().facts().has_stray_lines
            && (!is_placed || innermost.is_some_and(|position| self.is_before_loop(position)));
        if (is_in_front || is_stray) && self.step(thread, Step::Into, STEP).await? {
            return Ok(self.read(thread).await.map(|(sample, _)| sample));
        }
        Ok(Some(sample))
    }

    /// A position of the user's in no loop, where its file has one further down.
    fn is_before_loop(&self, position: &Position) -> bool {
        let is_behind = |found: &Loop| found.start > position.line;
        let loops = self.loops.get(&position.file).map_or(&[][..], Vec::as_slice);
        !position.is_internal && position.loops.is_empty() && loops.iter().any(is_behind)
    }

    /// Lets the innermost function return, and samples again. One that does not return soon is sampled where it is then.
    pub(super) async fn sample_after_return(&mut self, thread: ThreadId) -> Option<StackSample> {
        // Without this, there are samples all the same.
        if !self.step(thread, Step::Out, RETURN).await.unwrap_or_default() {
            return None;
        }
        let (sample, _) = self.read(thread).await?;
        Some(sample).filter(|sample| !sample.is_empty())
    }

    /// Steps. False if that takes too long, or no longer is a step.
    async fn step(&self, thread: ThreadId, step: Step, within: Duration) -> Result<bool, ToolError> {
        self.session.step(Some(thread), step).await?;
        match self.session.wait(Instant::now() + within).await {
            Outcome::Stopped(stop) => Ok(stop.reason == StopReason::Step),
            Outcome::Running => {
                self.session.pause(Some(thread)).await?;
                let outcome = self.session.wait(Instant::now() + SUSPEND).await;
                Ok(matches!(outcome, Outcome::Stopped(_)))
            }
            Outcome::Ended(_) => Ok(false),
        }
    }

    /// The stack of a thread, and whether the place of its innermost frame is known.
    async fn read(&mut self, thread: ThreadId) -> Option<(StackSample, bool)> {
        let stack = self.session.stack_trace(Some(thread), 0, FRAMES).await.ok()?;
        let total = stack.total.max(stack.frames.len());
        let mut sample = Vec::new();
        for (at, frame) in stack.frames.iter().enumerate() {
            sample.extend(self.position(frame, total - 1 - at, sample.len() < READ).await);
        }
        sample.reverse();
        let is_placed = sample.last().is_some_and(|position| position.depth + 1 == total);
        Some((sample, is_placed))
    }

    /// A stack of the profile as a sample without values, for a program that was not suspended in time.
    pub(super) async fn profiled(&mut self, stack: &[SampledFrame]) -> StackSample {
        let mut sample = Vec::new();
        for frame in stack.iter().rev() {
            let Some(location) = &frame.location else { continue };
            let Some(file) = location.source.path.clone() else { continue };
            let loops = self.around(&file, location.line).await;
            let (function, is_internal) = (frame.function.clone(), location.source.internal);
            let (depth, line) = (sample.len(), location.line);
            sample.push(Position {
                depth,
                function,
                file,
                line,
                is_internal,
                loops,
                values: BTreeMap::new(),
                is_deep: false,
            });
        }
        sample
    }

    /// Lets a program run that a sample has suspended.
    pub(super) async fn release(&self) -> Result<(), ToolError> {
        match self.session.execution().stop() {
            Some(stop) if matches!(stop.reason, StopReason::Pause | StopReason::Step) => {
                // One that does not answer in time may run all the same.
                let running = timeout(deadlines::ACKNOWLEDGE, self.session.resume()).await;
                Ok(running.unwrap_or(Ok(()))?)
            }
            _ => Ok(()),
        }
    }

    async fn position(
        &mut self,
        frame: &StackFrame<Reference>,
        depth: usize,
        reads: bool,
    ) -> Option<Position> {
        // A frame that awaits the frames above it is no longer on the stack.
        let location = frame.location.as_ref().filter(|_| !frame.name.starts_with("async "))?;
        let file = location.source.path.clone()?;
        let line = location.line;
        let loops = self.around(&file, line).await;
        let values = if reads { self.values(frame.id, &loops).await } else { BTreeMap::new() };
        let (function, is_internal) = (frame.name.clone(), location.source.internal);
        Some(Position { depth, function, file, line, is_internal, loops, values, is_deep: !reads })
    }

    /// The loops around a line, innermost first.
    async fn around(&mut self, file: &PathBuf, line: u32) -> Vec<Loop> {
        let around = |found: &&Loop| (found.start..=found.end).contains(&line);
        self.loops(file).await.iter().rev().filter(around).cloned().collect()
    }

    /// The loops of a file, outer ones first.
    async fn loops(&mut self, file: &PathBuf) -> &[Loop] {
        if !self.loops.contains_key(file) {
            let loops = self.session.loops(file).await;
            self.loops.insert(file.clone(), loops);
        }
        self.loops.get(file).map_or(&[], Vec::as_slice)
    }

    async fn values(&self, frame: Reference, loops: &[Loop]) -> BTreeMap<String, String> {
        let page = Page { start: 0, count: VARIABLES, special: false, internals: false };
        let mut values = BTreeMap::new();
        if let Ok((_, children)) = self.session.locals(frame, page, TEXT).await {
            let texts = children.variables.into_iter();
            values.extend(texts.map(|variable| (variable.name, variable.value.text)));
        }
        let sides =
            loops.iter().flat_map(|found| &found.condition).flat_map(|test| [&test.left, &test.right]);
        let variables = loops.iter().flat_map(|found| &found.variables);
        // They may have other names here than in the source, such as `n` for `$n`.
        let assigned = loops.iter().flat_map(|found| &found.assigned);
        let ends = loops.iter().filter_map(|found| found.end_known.as_ref());
        let ends = ends.filter(|expression| *expression != Loop::HAS_END);
        for expression in sides.chain(variables).chain(assigned).chain(ends) {
            if values.contains_key(expression) {
                continue;
            }
            if let Some(text) = self.evaluate(frame, expression).await {
                values.insert(expression.clone(), text);
            }
        }
        values
    }

    /// Without side effects if the debugger can guarantee that. The source of the expression contains no call.
    async fn evaluate(&self, frame: Reference, expression: &str) -> Option<String> {
        let ask = |pure| self.session.evaluate(frame, expression.to_owned(), EXPRESSION, TEXT, pure);
        let value = match ask(true).await {
            Err(Error::Unsupported(_)) => ask(false).await,
            answer => answer,
        };
        value.ok().map(|value| value.text)
    }
}
