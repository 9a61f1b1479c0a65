//! Whether a program that computes comes nearer to an end, from a few looks at it. Pure.
//!
//! What is common to all looks is the *pinned* frame: everything below it has not returned, everything above it
//! comes and goes. The loops around its line, and around the lines of its callers, are what goes on. A loop
//! that cannot end decides, wherever it is; else it is asked whether what its condition compares comes together.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use engine::model::source::{Comparison, Loop};

use super::looks::{Look, Position};

/// What was seen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    /// Where it goes on.
    pub(super) function: String,
    pub(super) file: PathBuf,
    pub(super) line: u32,
    /// The loop that decides; none when no loop is around the place.
    pub(super) found: Option<LoopSeen>,
    pub(super) motion: Motion,
}

/// A loop that a program is in.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopSeen {
    /// The file.
    pub file: PathBuf,
    /// The function.
    pub function: String,
    /// Its lines, its head included.
    pub lines: RangeInclusive<u32>,
    /// What has changed between the looks.
    pub changing: Vec<Change>,
    /// What decides whether it goes on and has not changed.
    pub steady: Vec<(String, String)>,
}

/// A value that changed from look to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The variable or expression.
    pub name: String,
    /// Its value at the first look, as text.
    pub first: String,
    /// At the last.
    pub last: String,
}

/// Whether it comes nearer to an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Motion {
    /// It can never end: the loop's text says so.
    Certain,
    /// The loop has no way out but an error or an exit in what it calls.
    Endless,
    /// Nothing changes that its end depends on.
    Stuck,
    /// Nothing changes that can be seen; whether it goes on is asked of something each time.
    Asks,
    /// What its condition compares does not come together.
    Away,
    /// What its condition compares comes together; about so long is left, where that can be told.
    Nearer(Option<Duration>),
    /// Values change.
    Changes,
    /// A function calls itself.
    Recursion,
    /// Always at the same line, and nothing is seen to change.
    Still,
}

/// What is seen in the looks; `passed` is the time from the first to the last. At least one.
pub(super) fn seen(looks: &[Look], passed: Duration) -> Option<Seen> {
    let (first, last) = (looks.first()?, looks.last()?);
    let pinned = pinned(looks)?;
    let chain = chain(looks, pinned);
    let (inner, outer) = (last.get(pinned)?, last.get(..pinned)?);
    let at = std::iter::once(inner).chain(outer.iter().rev()).find(|at| !at.is_internal).unwrap_or(inner);
    let place = |position: &Position, found: Option<LoopSeen>, motion| Seen {
        function: position.function.clone(),
        file: position.file.clone(),
        line: position.line,
        found,
        motion,
    };
    let mut best: Option<Seen> = None;
    for (index, around) in &chain {
        let Some(position) = last.get(*index) else { continue };
        let motion = motion(looks, *index, around, passed);
        if best.as_ref().is_none_or(|best| decides(motion, best.motion)) {
            best = Some(place(position, Some(loop_seen(looks, *index, around)), motion));
        }
    }
    best.or_else(|| {
        let again = looks.iter().rev().find_map(recursion);
        let (at, motion) = match again {
            Some(caller) => (caller, Motion::Recursion),
            None if first != last => (at, Motion::Changes),
            None => (at, Motion::Still),
        };
        Some(place(at, None, motion))
    })
}

/// Whether an outer loop says more about the end than what was found in it. One that comes nearer to its end
/// leaves those in it again and again; one without a way out holds whatever goes on in it.
fn decides(outer: Motion, inner: Motion) -> bool {
    let strength = |motion| match motion {
        Motion::Away => 3,
        Motion::Changes => 2,
        _ => 1,
    };
    match (outer, inner) {
        (_, Motion::Certain) => false,
        (Motion::Nearer(_), _) => true,
        (Motion::Certain | Motion::Endless, inner) => inner != Motion::Endless,
        (_, Motion::Endless | Motion::Nearer(_)) => false,
        (outer, inner) => strength(outer) > strength(inner),
    }
}

/// The index of the innermost frame that is the same call in all looks, as far as that can be seen: the same
/// functions, called from the same lines.
fn pinned(looks: &[Look]) -> Option<usize> {
    let (first, others) = looks.split_first()?;
    let call = |position: &Position| (position.depth, position.function.clone(), position.file.clone());
    let mut pinned = None;
    for (index, position) in first.iter().enumerate() {
        let others = || others.iter().map(|look| look.get(index));
        if !others().all(|other| other.is_some_and(|other| call(other) == call(position))) {
            break;
        }
        pinned = Some(index);
        if !others().flatten().all(|other| other.line == position.line) {
            break;
        }
    }
    pinned
}

/// The loops that are gone through, innermost first, with the indexes of their frames. A loop counts when all
/// looks found the frame in it.
fn chain(looks: &[Look], pinned: usize) -> Vec<(usize, Loop)> {
    let mut chain = Vec::new();
    for index in (0..=pinned).rev() {
        let Some(position) = looks.first().and_then(|look| look.get(index)) else { continue };
        let holds = |around: &&Loop| {
            looks.iter().all(|look| look.get(index).is_some_and(|position| position.loops.contains(around)))
        };
        chain.extend(position.loops.iter().filter(holds).map(|around| (index, around.clone())));
    }
    chain
}

fn motion(looks: &[Look], index: usize, around: &Loop, passed: Duration) -> Motion {
    if around.is_endless {
        return if around.is_certain { Motion::Certain } else { Motion::Endless };
    }
    if looks.len() < 2 {
        return Motion::Changes;
    }
    let tests: Vec<Option<Motion>> =
        around.condition.iter().map(|test| toward(looks, index, test, passed)).collect();
    if let Some(nearer) = tests.iter().flatten().find(|motion| matches!(motion, Motion::Nearer(_))) {
        return *nearer;
    }
    // What a loop goes through begins anew when its function is called again.
    if tests.contains(&Some(Motion::Away)) && !around.goes_through {
        return Motion::Away;
    }
    let moves = |name: &String| changed(looks, index, name).is_some();
    if around.goes_through {
        return if around.variables.iter().any(moves) { Motion::Nearer(None) } else { Motion::Stuck };
    }
    let is_read = !around.condition.is_empty();
    if let Some(states) = states(looks, index, around) {
        if recurs(&states) {
            return Motion::Away;
        }
        // Whatever else changes: the condition is all that could end it.
        if is_read && !around.is_left && states.iter().all(|state| Some(state) == states.first()) {
            return Motion::Stuck;
        }
    }
    if around.assigned.iter().chain(&around.variables).any(moves) {
        Motion::Changes
    } else if is_read {
        Motion::Stuck
    } else {
        Motion::Asks
    }
}

/// What decides about a loop, at each look: what its condition compares, or else the names in it. Nothing where
/// that was not read.
fn states(looks: &[Look], index: usize, around: &Loop) -> Option<Vec<Vec<String>>> {
    let sides = around.condition.iter().flat_map(|test| [&test.left, &test.right]);
    let names: Vec<&String> =
        if around.condition.is_empty() { around.variables.iter().collect() } else { sides.collect() };
    let of_look = |look: &Look| {
        let position = look.get(index)?;
        let value = |name: &&String| {
            position.values.get(*name).cloned().or_else(|| number(name).map(|_| (*name).clone()))
        };
        names.iter().map(value).collect::<Option<Vec<_>>>()
    };
    looks.iter().map(of_look).collect()
}

/// Something is as it was before, and has been different between: what goes in circles does not come to an end.
fn recurs<T: PartialEq>(states: &[T]) -> bool {
    let mut runs: Vec<&T> = Vec::new();
    for state in states {
        if runs.last() != Some(&state) {
            if runs.contains(&state) {
                return true;
            }
            runs.push(state);
        }
    }
    false
}

/// Whether the sides of a comparison come together; nothing where that cannot be told, or they do not move.
fn toward(looks: &[Look], index: usize, test: &Comparison, passed: Duration) -> Option<Motion> {
    let side = |look: &Look, name: &String| {
        let value = look.get(index).and_then(|position| position.values.get(name));
        value.and_then(|text| number(text)).or_else(|| number(name))
    };
    let gaps: Vec<f64> = looks
        .iter()
        .map(|look| {
            let (left, right) = (side(look, &test.left)?, side(look, &test.right)?);
            Some(match test.operator.as_str() {
                "<" | "<=" => right - left,
                ">" | ">=" => left - right,
                "!=" | "!==" => (left - right).abs(),
                _ => return None,
            })
        })
        .collect::<Option<_>>()?;
    let (first, last) = (*gaps.first()?, *gaps.last()?);
    if gaps.iter().all(|gap| (gap - first).abs() < f64::EPSILON) {
        return first.is_infinite().then_some(Motion::Away);
    }
    let falls = gaps.iter().zip(gaps.iter().skip(1)).all(|(before, after)| after <= before);
    if !falls || !last.is_finite() {
        return Some(Motion::Away);
    }
    let left = passed.as_secs_f64() * last / (first - last);
    Some(Motion::Nearer(Duration::try_from_secs_f64(left).ok()))
}

/// A number as both languages write it.
fn number(text: &str) -> Option<f64> {
    match text {
        "Infinity" | "inf" => Some(f64::INFINITY),
        "-Infinity" | "-inf" => Some(f64::NEG_INFINITY),
        _ => text.trim_end_matches('n').replace('_', "").parse().ok(),
    }
}

fn changed(looks: &[Look], index: usize, name: &str) -> Option<Change> {
    let text = |look: &Look| look.get(index)?.values.get(name).cloned();
    let (first, last) = (text(looks.first()?)?, text(looks.last()?)?);
    let is_other = looks.iter().filter_map(text).any(|text| text != first);
    is_other.then(|| Change { name: name.to_owned(), first, last })
}

fn loop_seen(looks: &[Look], index: usize, around: &Loop) -> LoopSeen {
    let sides = around.condition.iter().flat_map(|test| [&test.left, &test.right]);
    let deciding: BTreeSet<&String> = around.variables.iter().chain(sides).collect();
    let names: BTreeSet<&String> = deciding.iter().copied().chain(&around.assigned).collect();
    let last = looks.last().and_then(|look| look.get(index)).cloned().unwrap_or_default();
    let value = |name: &&String| Some(((*name).clone(), last.values.get(*name)?.clone()));
    let is_steady = |name: &&&String| number(name).is_none() && changed(looks, index, name).is_none();
    LoopSeen {
        changing: names.iter().filter_map(|name| changed(looks, index, name)).collect(),
        steady: deciding.iter().filter(is_steady).filter_map(value).collect(),
        lines: around.start..=around.end,
        file: last.file,
        function: last.function,
    }
}

/// The innermost frame of a function that is on the stack again further in: where it calls itself.
fn recursion(look: &Look) -> Option<&Position> {
    let mut inside = BTreeSet::new();
    let users = look.iter().rev().filter(|position| !position.is_internal);
    users.into_iter().find(|position| !inside.insert((&position.function, &position.file)))
}

#[cfg(test)]
mod tests;
