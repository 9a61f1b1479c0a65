//! Breakpoints that an adapter refuses because their lines have no code. Only the compiler knows which lines have some, so
//! the adapter is asked about the other ones of the same function.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

use super::breakpoints::silenced::NEVER;
use super::breakpoints::{SentBreakpoint, positive};
use super::{DapDebugger, functions};
use crate::error::Result;
use crate::model::source::Function;

/// Whether an adapter refuses a breakpoint because its line has no code, rather than for another one at the same address.
pub(super) fn has_no_code(debugger: &DapDebugger, answer: &::dap::Breakpoint) -> bool {
    let message = answer.message.as_deref().unwrap_or_default();
    let refused = debugger.quirks().refused_lines;
    !answer.verified && refused.is_some_and(|refused| message.contains(refused.message))
}

/// A line that was refused, and the function around it.
struct Refused {
    line: u32,
    body: RangeInclusive<u32>,
    /// The lines of the function that may have code.
    lines: BTreeSet<u32>,
}

impl Refused {
    /// The next line with code, or else the last one before.
    fn nearest(&self, with_code: &BTreeSet<u32>) -> Option<u32> {
        let before = || with_code.range(..self.line).rfind(|before| self.body.contains(before));
        self.after(with_code).or_else(before).copied()
    }

    fn after<'a>(&self, with_code: &'a BTreeSet<u32>) -> Option<&'a u32> {
        with_code.range(self.line..=*self.body.end().max(&self.line)).next()
    }
}

/// Sets the breakpoints that were refused on the next line of their function with code, or else on the last one before.
/// Returns the answers to all breakpoints. Where no line of the function has code, the refusal stays.
pub(super) async fn move_on(
    debugger: &DapDebugger,
    path: &Path,
    arguments: ::dap::SetBreakpointsArguments,
    owners: &mut [SentBreakpoint],
    mut answers: Vec<::dap::Breakpoint>,
) -> Result<Vec<::dap::Breakpoint>> {
    let Some(refused) = debugger.quirks().refused_lines else { return Ok(answers) };
    if !answers.iter().any(|answer| has_no_code(debugger, answer)) {
        return Ok(answers);
    }
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(answers) };
    let code = (refused.read)(&text);
    let around = |line: u32| {
        let is_around = |function: &&Function| (function.start..=function.end).contains(&line);
        let function = code.functions.iter().find(is_around)?;
        let lines = code.lines_with_end(function.body, function.end);
        Some(Refused { line, body: function.body..=function.end, lines })
    };
    let mut bodies: Vec<Option<Refused>> = Vec::new();
    for (sent, answer) in arguments.breakpoints.iter().zip(&mut answers) {
        let line = positive(Some(sent.line)).filter(|_| has_no_code(debugger, answer));
        let body = line.and_then(around);
        // Why a function has no code does not explain a line outside of functions.
        answer.message = answer.message.take().filter(|_| line.is_none() || body.is_some());
        bodies.push(body);
    }
    if bodies.iter().all(Option::is_none) {
        return Ok(answers);
    }
    let moved = moved(debugger, path, arguments.clone(), owners, &bodies, answers).await;
    if moved.is_err() {
        // Those that only show whether a line has code do not stay.
        debugger.request_in_source(arguments).await?;
    }
    moved
}

/// The answers to all breakpoints, with those that were refused on other lines.
async fn moved(
    debugger: &DapDebugger,
    path: &Path,
    mut arguments: ::dap::SetBreakpointsArguments,
    owners: &mut [SentBreakpoint],
    bodies: &[Option<Refused>],
    answers: Vec<::dap::Breakpoint>,
) -> Result<Vec<::dap::Breakpoint>> {
    let after = bodies.iter().flatten().flat_map(|body| body.lines.range(body.line..)).copied().collect();
    let mut with_code = lines_with_code(debugger, &arguments, &after).await?;
    let last = bodies.iter().flatten().filter(|body| body.after(&with_code).is_none());
    let before: BTreeSet<u32> = last.flat_map(|body| body.lines.range(..body.line)).copied().collect();
    if !before.is_empty() {
        with_code.append(&mut lines_with_code(debugger, &arguments, &before).await?);
    }
    for ((sent, owner), body) in arguments.breakpoints.iter_mut().zip(owners).zip(bodies) {
        let Some(to) = body.as_ref().and_then(|body| body.nearest(&with_code)) else { continue };
        sent.line = i64::from(to);
        owner.line = Some(to);
        if functions::closures_around(debugger, path, to).is_some() {
            (sent.condition, owner.is_native) = (None, false);
        }
    }
    let (breakpoints, places) = without_doubles(&arguments.breakpoints);
    arguments.breakpoints = breakpoints;
    let moved = debugger.request_in_source(arguments).await?.breakpoints;
    let answer = |(place, before): (usize, ::dap::Breakpoint)| {
        moved.get(place).filter(|answer| !has_no_code(debugger, answer)).cloned().unwrap_or(before)
    };
    Ok(places.into_iter().zip(answers).map(answer).collect())
}

/// Which lines of a file have code. Its breakpoints stay set, with others on those lines that never stop.
async fn lines_with_code(
    debugger: &DapDebugger,
    arguments: &::dap::SetBreakpointsArguments,
    candidates: &BTreeSet<u32>,
) -> Result<BTreeSet<u32>> {
    let is_asked = |line: &u32| arguments.breakpoints.iter().any(|sent| sent.line == i64::from(*line));
    let mut asked = arguments.clone();
    asked.breakpoints.extend(candidates.iter().filter(|line| !is_asked(line)).map(|line| {
        let condition = Some(NEVER.to_owned());
        ::dap::SourceBreakpoint { line: i64::from(*line), condition, ..Default::default() }
    }));
    let lines: Vec<_> = asked.breakpoints.iter().map(|sent| positive(Some(sent.line))).collect();
    let answers = debugger.request_in_source(asked).await?.breakpoints;
    let with_code = answers.iter().zip(lines).filter(|(answer, _)| !has_no_code(debugger, answer));
    Ok(with_code.filter_map(|(_, line)| line).collect())
}

/// Each place once, without a condition where there were several, and where each breakpoint is among them.
fn without_doubles(breakpoints: &[::dap::SourceBreakpoint]) -> (Vec<::dap::SourceBreakpoint>, Vec<usize>) {
    let mut places: Vec<::dap::SourceBreakpoint> = Vec::new();
    let mut numbers = Vec::new();
    for sent in breakpoints {
        let known =
            places.iter_mut().position(|place| (place.line, place.column) == (sent.line, sent.column));
        if let Some(place) = known.and_then(|known| places.get_mut(known)) {
            place.condition = None;
        }
        numbers.push(known.unwrap_or(places.len()));
        if known.is_none() {
            places.push(sent.clone());
        }
    }
    (places, numbers)
}
