//! Code that V8 skips (blackboxing): Node's own, libraries, and functions that keep throwing what is caught.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ::cdp::debugger::{Location, ScriptPosition, SetBlackboxPatterns, SetBlackboxedRanges};

use super::program::NodeProgram;
use super::stop::V8Stop;
use super::v8::V8Client;
use crate::debugger::remote_setting::RemoteSetting;
use crate::error::Result;
use crate::lock::lock;

/// How often a place may throw what is caught before its function is skipped, which also hides what it throws to others.
const IN_VAIN: u32 = 500;

/// What the V8 of one thread passes over.
#[derive(Debug)]
pub(super) struct Blackbox {
    v8: V8Client,
    program: Arc<NodeProgram>,
    /// The thread stops at errors that are caught, too.
    stops_at_caught: AtomicBool,
    /// V8 passes over Node's own code and libraries.
    is_skipping: RemoteSetting<bool>,
    /// How often places have thrown what was caught.
    in_vain: Mutex<HashMap<Location, u32>>,
    /// The ranges of functions that V8 passes over, by their script.
    ranges: Mutex<HashMap<String, Vec<(ScriptPosition, ScriptPosition)>>>,
}

impl Blackbox {
    pub(super) fn new(v8: V8Client, program: Arc<NodeProgram>) -> Self {
        Self {
            v8,
            program,
            stops_at_caught: AtomicBool::new(false),
            is_skipping: RemoteSetting::new(false),
            in_vain: Mutex::default(),
            ranges: Mutex::default(),
        }
    }

    /// Notes whether the thread stops at errors that are caught, too.
    pub(super) fn set_stops_at_caught(&self, stops_at_caught: bool) {
        self.stops_at_caught.store(stops_at_caught, Ordering::Release);
    }

    /// Steps pass over Node's own code and over libraries, unless they are to be stepped into.
    ///
    /// V8 does not stop at an exception that is thrown in skipped code and caught somewhere. Assertions fail in such
    /// code, so while all exceptions are enabled nothing is skipped, except during a step.
    pub(super) async fn update_blackbox(&self, is_stepping: bool) -> Result<()> {
        let passes = is_stepping || !self.stops_at_caught.load(Ordering::Acquire);
        let patterns = if passes { self.patterns() } else { Vec::new() };
        let request = async { self.v8.request(SetBlackboxPatterns { patterns }).await.map(drop) };
        self.is_skipping.set(passes, request).await
    }

    fn patterns(&self) -> Vec<String> {
        let patterns: &[&str] = if self.program.setup.just_my_code {
            &["^node:", "/node_modules/"]
        } else {
            &["^node:internal/"]
        };
        patterns.iter().map(|&pattern| pattern.to_owned()).collect()
    }

    /// A place that keeps throwing what is caught is checked only so often.
    pub(super) async fn count(&self, stop: &V8Stop) {
        let Some(frame) = stop.frames.first() else { return };
        let times = {
            let mut in_vain = lock(&self.in_vain);
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
        lock(&self.ranges).entry(start.script_id.clone()).or_default().push(range);
        if let Err(error) = self.send_ranges(&start.script_id).await {
            tracing::debug!(%error, "cannot skip a function that throws often");
        }
    }

    /// Gives V8 the ranges of a script that it is to pass over: they alternate with those that it is not.
    async fn send_ranges(&self, script_id: &str) -> Result<()> {
        let mut ranges = lock(&self.ranges).get(script_id).cloned().unwrap_or_default();
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
        self.v8.request(SetBlackboxedRanges { script_id: script_id.to_owned(), positions }).await?;
        Ok(())
    }

    /// Makes V8 pause in all functions again: the user steps, or enables other exceptions.
    pub(super) async fn reset_ranges(&self) -> Result<()> {
        lock(&self.in_vain).clear();
        let scripts: Vec<String> = lock(&self.ranges).drain().map(|(script, _)| script).collect();
        for script_id in scripts {
            self.send_ranges(&script_id).await?;
        }
        Ok(())
    }
}

/// The function has to begin after the beginning of the range.
fn before(start: &Location) -> ScriptPosition {
    let column = start.column_number.unwrap_or(0);
    match (start.line_number, column) {
        (0, 0) => ScriptPosition { line_number: 0, column_number: 0 },
        (line, 0) => ScriptPosition { line_number: line - 1, column_number: i32::MAX },
        (line, column) => ScriptPosition { line_number: line, column_number: column - 1 },
    }
}
