//! Whether a program that computes comes nearer to an end, from a few samples of it. Pure.
//!
//! The *pinned* frame is common to all samples: everything below it has not returned, everything above it changes.
//! The loops around its line, and around the lines of its callers, are the running loops. A loop that cannot end is
//! decisive, wherever it is; otherwise the values of its condition are checked for convergence.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use engine::model::source::{Comparison, Loop};

use super::sampler::{Position, StackSample};

/// Where a program computes, and whether it makes progress there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ComputeObservation {
    /// Where it runs.
    pub(super) function: String,
    pub(super) file: PathBuf,
    pub(super) line: u32,
    /// The loop that decides; none when no loop is around the place.
    pub(super) found: Option<LoopObservation>,
    pub(super) motion: LoopProgress,
}

impl ComputeObservation {
    /// Nothing of it outlasts the call in which it was seen. A loop without a way out does, and so may one that a
    /// statement leaves: that may wait for what comes later, and go on then.
    pub(super) fn ends_with_its_call(&self) -> bool {
        let has_exit = self.found.as_ref().is_some_and(|found| found.has_exit);
        // One whose values repeat may do that in each call.
        self.motion == LoopProgress::Repeats
            || (!has_exit && !matches!(self.motion, LoopProgress::Certain | LoopProgress::Endless))
    }
}

/// A loop that a program is in.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopObservation {
    /// The file.
    pub file: PathBuf,
    /// The function.
    pub function: String,
    /// Its lines, its head included.
    pub lines: RangeInclusive<u32>,
    /// A statement of it leaves it.
    pub has_exit: bool,
    /// What has changed between the samples.
    pub changing: Vec<Change>,
    /// Values that decide whether it continues and have not changed.
    pub steady: Vec<(String, String)>,
}

/// A value that changed from sample to sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The variable or expression.
    pub name: String,
    /// Its value at the first sample, as text.
    pub first: String,
    /// Value in the last sample.
    pub last: String,
}

/// Whether it comes nearer to an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LoopProgress {
    /// It can never end: the loop's text says so.
    Certain,
    /// The loop has no way out but an error or an exit in what it calls.
    Endless,
    /// Nothing changes that its end depends on.
    Stuck,
    /// No visible value changes; its condition calls something each time.
    Asks,
    /// Nothing but variables decides about it, and all of these are as they were before.
    Repeats,
    /// What its condition compares does not come together.
    Away,
    /// The values of its condition converge; about this much time is left, if known.
    Nearer(Option<Duration>),
    /// It goes from one item to the next of what may have no end.
    Advances,
    /// Values change.
    Changes,
    /// A function calls itself.
    Recursion,
    /// Always at the same line, and nothing is seen to change.
    Still,
}

/// What one sample shows of a stack: the calls that wait, and the values of the frame that runs.
type Known<'a> = (&'a [Position], &'a BTreeMap<String, String>);

/// What the samples show; `passed` is the time from the first to the last. At least one.
pub(super) fn observe(samples: &[StackSample], passed: Duration) -> Option<ComputeObservation> {
    let (first, last) = (samples.first()?, samples.last()?);
    let pinned = pinned(samples)?;
    let chain = chain(samples, pinned);
    let (inner, outer) = (last.get(pinned)?, last.get(..pinned)?);
    let at = std::iter::once(inner).chain(outer.iter().rev()).find(|at| !at.is_internal).unwrap_or(inner);
    let place = |position: &Position, found: Option<LoopObservation>, motion| ComputeObservation {
        function: position.function.clone(),
        file: position.file.clone(),
        line: position.line,
        found,
        motion,
    };
    let mut best: Option<ComputeObservation> = None;
    for (index, around) in &chain {
        let Some(position) = last.get(*index) else { continue };
        if !around.is_endless && is_unread(samples, *index) {
            continue;
        }
        let motion = motion(samples, *index, around, passed);
        if best.as_ref().is_none_or(|best| decides(motion, best.motion)) {
            best = Some(place(position, Some(loop_seen(samples, *index, around)), motion));
        }
    }
    best.or_else(|| {
        let again = samples.iter().rev().find_map(recursion);
        let (at, motion) = match again {
            Some(caller) => (caller, LoopProgress::Recursion),
            None if first != last => (at, LoopProgress::Changes),
            None => (at, LoopProgress::Still),
        };
        Some(place(at, None, motion))
    })
}

/// Whether the innermost function has a loop that does not seem to end, and may have been called anew for each sample: what
/// calls it has no loop in its source, but may be a function of the runtime that has no frame.
pub(super) fn may_be_several_calls(samples: &[StackSample]) -> bool {
    use LoopProgress::{Asks, Away, Repeats, Stuck};
    let Some(observed) = observe(samples, Duration::ZERO) else { return false };
    let (Some(found), Some([.., _, innermost])) = (observed.found, samples.last().map(Vec::as_slice)) else {
        return false;
    };
    matches!(observed.motion, Away | Repeats | Stuck | Asks)
        && (&found.function, &found.file) == (&innermost.function, &innermost.file)
        && found.lines.contains(&innermost.line)
}

/// Whether an outer loop says more about the end than the current result. A loop that progresses toward its end, or
/// from item to item, leaves its inner loops repeatedly; one without an exit is decisive whatever runs in it.
fn decides(outer: LoopProgress, inner: LoopProgress) -> bool {
    let strength = |motion| match motion {
        LoopProgress::Away => 3,
        LoopProgress::Advances | LoopProgress::Changes => 2,
        _ => 1,
    };
    match (outer, inner) {
        (_, LoopProgress::Certain) => false,
        (LoopProgress::Nearer(_) | LoopProgress::Advances, _) => true,
        (LoopProgress::Certain | LoopProgress::Endless, inner) => inner != LoopProgress::Endless,
        (_, LoopProgress::Endless | LoopProgress::Nearer(_)) => false,
        (outer, inner) => strength(outer) > strength(inner),
    }
}

/// The index of the innermost frame that is the same call in all samples, as far as can be seen: the same
/// functions, called from the same lines.
fn pinned(samples: &[StackSample]) -> Option<usize> {
    let (first, others) = samples.split_first()?;
    let call = |position: &Position| (position.depth, position.function.clone(), position.file.clone());
    let mut pinned = None;
    for (index, position) in first.iter().enumerate() {
        let others = || others.iter().map(|sample| sample.get(index));
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

/// The loops that are running, innermost first, with the indexes of their frames. A loop counts when all
/// samples found the frame in it.
fn chain(samples: &[StackSample], pinned: usize) -> Vec<(usize, Loop)> {
    let mut chain = Vec::new();
    for index in (0..=pinned).rev() {
        let Some(position) = samples.first().and_then(|sample| sample.get(index)) else { continue };
        let holds = |around: &&Loop| {
            samples
                .iter()
                .all(|sample| sample.get(index).is_some_and(|position| position.loops.contains(around)))
        };
        chain.extend(position.loops.iter().filter(holds).map(|around| (index, around.clone())));
    }
    chain
}

fn motion(samples: &[StackSample], index: usize, around: &Loop, passed: Duration) -> LoopProgress {
    if around.is_endless {
        return if around.is_certain { LoopProgress::Certain } else { LoopProgress::Endless };
    }
    if samples.len() < 2 {
        return LoopProgress::Changes;
    }
    let tests: Vec<Option<LoopProgress>> =
        around.condition.iter().map(|test| convergence(samples, index, test, passed)).collect();
    if let Some(nearer) = tests.iter().flatten().find(|motion| matches!(motion, LoopProgress::Nearer(_))) {
        return *nearer;
    }
    // What a loop iterates over begins anew when its function is called again.
    if tests.contains(&Some(LoopProgress::Away)) && !around.goes_through {
        return LoopProgress::Away;
    }
    let moves = |name: &String| changed(samples, index, name).is_some();
    if around.goes_through {
        return if around.variables.iter().any(moves) || assigned_by_itself(samples, index, around).any(moves)
        {
            if has_end(samples, index, around) { LoopProgress::Nearer(None) } else { LoopProgress::Advances }
        } else if around.variables.iter().any(|name| is_read_twice(samples, index, name)) {
            LoopProgress::Stuck
        } else {
            LoopProgress::Changes
        };
    }
    let is_read = !around.condition.is_empty();
    if let Some(states) = states(samples, index, around) {
        if recurs(&states) {
            return LoopProgress::Away;
        }
        // Whatever else changes: the condition is all that could end it.
        if is_read && !around.has_exit && is_one(&states) {
            return LoopProgress::Stuck;
        }
    }
    if around.is_closed && repeats(samples, index, around) {
        return LoopProgress::Repeats;
    }
    if around.assigned.iter().chain(&around.variables).any(moves) {
        LoopProgress::Changes
    } else if is_read {
        LoopProgress::Stuck
    } else {
        LoopProgress::Asks
    }
}

/// The names that a loop assigns to, without those that a loop in it does. At the head of a loop, a debugger may show
/// its item as if there was none.
fn assigned_by_itself<'a>(
    samples: &'a [StackSample],
    index: usize,
    around: &'a Loop,
) -> impl Iterator<Item = &'a String> {
    let inner = move |position: &'a Position| position.loops.iter().take_while(move |found| *found != around);
    let inner: BTreeSet<&String> = samples
        .iter()
        .filter_map(|sample| sample.get(index))
        .flat_map(inner)
        .flat_map(|found| &found.assigned)
        .collect();
    around.assigned.iter().filter(move |name| !inner.contains(name))
}

/// Whether it is known that what a loop iterates over has an end.
fn has_end(samples: &[StackSample], index: usize, around: &Loop) -> bool {
    around.end_known.as_ref().is_some_and(|expression| {
        let mut texts = texts(samples, index, expression);
        expression == Loop::HAS_END || texts.any(|text| text.eq_ignore_ascii_case("true"))
    })
}

/// What decides about a loop, at each sample: what its condition compares, or else the names in it. Nothing where
/// that was not read.
fn states(samples: &[StackSample], index: usize, around: &Loop) -> Option<Vec<Vec<String>>> {
    let sides = around.condition.iter().flat_map(|test| [&test.left, &test.right]);
    let names: Vec<&String> =
        if around.condition.is_empty() { around.variables.iter().collect() } else { sides.collect() };
    let of_sample = |sample: &StackSample| {
        let position = sample.get(index)?;
        let value = |name: &&String| {
            position.values.get(*name).cloned().or_else(|| number(name).map(|_| (*name).clone()))
        };
        names.iter().map(value).collect::<Option<Vec<_>>>()
    };
    samples.iter().map(of_sample).collect()
}

/// All that is known of the stack up to a frame is as it was before, and what a loop there assigns has been different
/// between.
fn repeats(samples: &[StackSample], index: usize, around: &Loop) -> bool {
    known(samples, index, around).is_some_and(|known| recurs(&known))
}

/// Whether more samples may show that values repeat: there seem to be few, because two samples in a row had the same.
pub(super) fn may_repeat(samples: &[StackSample]) -> bool {
    let Some(pinned) = pinned(samples) else { return false };
    chain(samples, pinned).iter().any(|(index, around)| {
        let seems_to =
            || around.is_closed && known(samples, *index, around).is_some_and(|known| has_pair(&known));
        let decides =
            || states(samples, *index, around).is_some_and(|states| has_pair(&states) && !is_one(&states));
        motion(samples, *index, around, Duration::ZERO) == LoopProgress::Changes && (seems_to() || decides())
    })
}

/// Two in a row are the same.
fn has_pair<T: PartialEq>(states: &[T]) -> bool {
    states.windows(2).any(|pair| pair.first() == pair.last())
}

/// All are the same.
fn is_one<T: PartialEq>(states: &[T]) -> bool {
    states.iter().all(|state| Some(state) == states.first())
}

/// All that is known of the stack up to a frame, at each sample. Nothing unless all that a loop there assigns is.
fn known<'a>(samples: &'a [StackSample], index: usize, around: &Loop) -> Option<Vec<Known<'a>>> {
    let of_sample = |sample: &'a StackSample| {
        let (outer, position) = (sample.get(..index)?, sample.get(index)?);
        let is_whole = around.assigned.iter().all(|name| position.values.contains_key(name));
        is_whole.then_some((outer, &position.values))
    };
    samples.iter().map(of_sample).collect()
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

/// Whether the sides of a comparison converge; nothing if that is unknown, or they do not move.
fn convergence(
    samples: &[StackSample],
    index: usize,
    test: &Comparison,
    passed: Duration,
) -> Option<LoopProgress> {
    let side = |sample: &StackSample, name: &String| {
        let value = sample.get(index).and_then(|position| position.values.get(name));
        value.and_then(|text| number(text)).or_else(|| number(name))
    };
    let gaps: Vec<f64> = samples
        .iter()
        .map(|sample| {
            let (left, right) = (side(sample, &test.left)?, side(sample, &test.right)?);
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
        return first.is_infinite().then_some(LoopProgress::Away);
    }
    let falls = gaps.iter().zip(gaps.iter().skip(1)).all(|(before, after)| after <= before);
    if !falls || !last.is_finite() {
        return Some(LoopProgress::Away);
    }
    let left = passed.as_secs_f64() * last / (first - last);
    Some(LoopProgress::Nearer(Duration::try_from_secs_f64(left).ok()))
}

/// A number, as debuggers show it.
fn number(text: &str) -> Option<f64> {
    match text {
        "Infinity" | "inf" => Some(f64::INFINITY),
        "-Infinity" | "-inf" => Some(f64::NEG_INFINITY),
        _ => text.trim_end_matches('n').replace('_', "").parse().ok(),
    }
}

fn changed(samples: &[StackSample], index: usize, name: &str) -> Option<Change> {
    // While the head of a loop calls something, what it declares may be out of scope.
    let texts: Vec<&String> = texts(samples, index, name).collect();
    let (first, last) = (texts.first()?, texts.last()?);
    let is_other = texts.iter().any(|text| text != first);
    is_other.then(|| Change { name: name.to_owned(), first: (*first).clone(), last: (*last).clone() })
}

/// No sample has the values of a frame.
fn is_unread(samples: &[StackSample], index: usize) -> bool {
    samples.iter().all(|sample| sample.get(index).is_none_or(|position| position.is_deep))
}

fn is_read_twice(samples: &[StackSample], index: usize, name: &str) -> bool {
    texts(samples, index, name).nth(1).is_some()
}

fn texts<'a>(samples: &'a [StackSample], index: usize, name: &'a str) -> impl Iterator<Item = &'a String> {
    samples.iter().filter_map(move |sample| sample.get(index)?.values.get(name))
}

fn loop_seen(samples: &[StackSample], index: usize, around: &Loop) -> LoopObservation {
    let sides = around.condition.iter().flat_map(|test| [&test.left, &test.right]);
    let deciding: BTreeSet<&String> = around.variables.iter().chain(sides).collect();
    let names: BTreeSet<&String> = deciding.iter().copied().chain(&around.assigned).collect();
    let last = samples.last().and_then(|sample| sample.get(index)).cloned().unwrap_or_default();
    let value = |name: &&String| Some(((*name).clone(), last.values.get(*name)?.clone()));
    let is_steady = |name: &&&String| number(name).is_none() && changed(samples, index, name).is_none();
    LoopObservation {
        changing: names.iter().filter_map(|name| changed(samples, index, name)).collect(),
        steady: deciding.iter().filter(is_steady).filter_map(value).collect(),
        lines: around.start..=around.end,
        has_exit: around.has_exit,
        file: last.file,
        function: last.function,
    }
}

/// The innermost frame of a function that is on the stack again further in: where it calls itself.
fn recursion(sample: &StackSample) -> Option<&Position> {
    let mut inside = BTreeSet::new();
    let users = sample.iter().rev().filter(|position| !position.is_internal);
    users.into_iter().find(|position| !inside.insert((&position.function, &position.file)))
}

#[cfg(test)]
mod tests;
