//! Breakpoints that an adapter refuses because their lines have no code. Only the compiler knows which lines have some, so
//! the adapter is asked about the other ones of the same function.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;

use super::breakpoints::{SentBreakpoint, positive};
use super::{DapDebugger, functions};
use crate::deadlines;
use crate::error::Result;

/// A condition that is never true, for breakpoints that only show whether a line has code.
const NEVER: &str = "false";

/// Sets the breakpoints that were refused on the next line of their function with code, or else on the last one before.
/// Returns the answers to all breakpoints. Where no line of the function has code, the refusal stays.
pub(super) async fn move_on(
    debugger: &DapDebugger,
    path: &Path,
    mut arguments: ::dap::SetBreakpointsArguments,
    owners: &mut [SentBreakpoint],
    mut answers: Vec<::dap::Breakpoint>,
) -> Result<Vec<::dap::Breakpoint>> {
    let Some(refused) = debugger.quirks().refused_lines else { return Ok(answers) };
    let is_refused = |answer: &::dap::Breakpoint| {
        let message = answer.message.as_deref().unwrap_or_default();
        !answer.verified && message.contains(refused.message)
    };
    if !answers.iter().any(is_refused) {
        return Ok(answers);
    }
    let Ok(text) = std::fs::read_to_string(path) else { return Ok(answers) };
    let functions = (refused.read)(&text).functions;
    let around = |line: u32| {
        let function = functions.iter().find(|function| (function.start..=function.end).contains(&line))?;
        Some(function.body..=function.end)
    };
    let mut bodies: Vec<Option<(u32, RangeInclusive<u32>)>> = Vec::new();
    for (sent, answer) in arguments.breakpoints.iter().zip(&mut answers) {
        let line = positive(Some(sent.line)).filter(|_| is_refused(answer));
        bodies.push(line.and_then(|line| Some((line, around(line)?))));
        // Why a function has no code does not explain a line outside of functions.
        answer.message = answer.message.take().filter(|_| line.is_none_or(|line| around(line).is_some()));
    }
    let candidates = bodies.iter().flatten().flat_map(|(_, body)| body.clone()).collect();
    let with_code = lines_with_code(debugger, &arguments, candidates).await?;
    for ((sent, owner), body) in arguments.breakpoints.iter_mut().zip(owners).zip(bodies) {
        let Some((line, body)) = body else { continue };
        let after = with_code.range(line..=*body.end().max(&line)).next();
        let Some(to) = after.or_else(|| with_code.range(..line).rfind(|before| body.contains(before))) else {
            continue;
        };
        sent.line = i64::from(*to);
        owner.line = Some(*to);
        if functions::closures_around(debugger, path, *to).is_some() {
            (sent.condition, owner.is_native) = (None, false);
        }
    }
    let (breakpoints, places) = without_doubles(&arguments.breakpoints);
    arguments.breakpoints = breakpoints;
    let moved = debugger.request::<::dap::SetBreakpoints>(arguments, deadlines::REQUEST).await?.breakpoints;
    let answer = |(place, before): (usize, ::dap::Breakpoint)| {
        moved.get(place).filter(|answer| answer.verified).cloned().unwrap_or(before)
    };
    Ok(places.into_iter().zip(answers).map(answer).collect())
}

/// Which lines of a file have code. Its breakpoints stay set, with others on those lines that never stop.
async fn lines_with_code(
    debugger: &DapDebugger,
    arguments: &::dap::SetBreakpointsArguments,
    candidates: BTreeSet<u32>,
) -> Result<BTreeSet<u32>> {
    let is_asked = |line: &u32| arguments.breakpoints.iter().any(|sent| sent.line == i64::from(*line));
    let mut asked = arguments.clone();
    asked.breakpoints.extend(candidates.iter().filter(|line| !is_asked(line)).map(|line| {
        let condition = Some(NEVER.to_owned());
        ::dap::SourceBreakpoint { line: i64::from(*line), condition, ..Default::default() }
    }));
    let lines: Vec<_> = asked.breakpoints.iter().map(|sent| positive(Some(sent.line))).collect();
    let answers = debugger.request::<::dap::SetBreakpoints>(asked, deadlines::REQUEST).await?.breakpoints;
    let bound = answers.iter().zip(lines).filter(|(answer, _)| answer.verified).filter_map(|(_, line)| line);
    Ok(bound.collect())
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
