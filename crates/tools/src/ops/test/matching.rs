//! Which throw a runner refers to.

use std::collections::BTreeSet;
use std::path::Path;

use engine::model::ids::Reference;
use engine::model::stack::StackFrame;
use engine::test_reports::{LoadProblem, TestReport, TestResult};

use super::output;
use super::throws::Throw;

/// As much of a message is compared; runners cut long ones.
const COMPARED: usize = 500;

/// What a runner says of something that was thrown.
pub(super) struct RunnerReport<'a> {
    mark: Option<&'a str>,
    message: Option<&'a str>,
    details: Option<&'a str>,
    /// The name of the test.
    test: Option<&'a str>,
    /// What was being loaded.
    file: Option<&'a Path>,
}

impl<'a> From<&'a TestResult> for RunnerReport<'a> {
    fn from(result: &'a TestResult) -> Self {
        let TestResult { mark, message, details, .. } = result;
        Self {
            mark: mark.as_deref(),
            message: message.as_deref(),
            details: details.as_deref(),
            test: Some(result.id.as_str()).filter(|id| !id.is_empty()),
            file: None,
        }
    }
}

impl<'a> From<&'a LoadProblem> for RunnerReport<'a> {
    fn from(problem: &'a LoadProblem) -> Self {
        let LoadProblem { mark, message, details, file, .. } = problem;
        let (mark, details) = (mark.as_deref(), details.as_deref());
        Self { mark, message: Some(message), details, test: None, file: file.as_deref() }
    }
}

/// Whether a test has failed, or a file could not be loaded, by what may be this throw.
pub(super) fn may_be_named(throw: &Throw, reports: &[TestReport]) -> bool {
    let is_named = |spoken: &RunnerReport<'_>| match spoken.mark {
        Some(mark) => has_mark(throw, mark),
        None => is_same(throw, spoken),
    };
    reports.iter().any(|report| match report {
        TestReport::Result(result) if result.outcome.is_failure() => is_named(&result.into()),
        TestReport::Problem(problem) => is_named(&problem.into()),
        _ => false,
    })
}

/// The throws of failed tests. Those of a test's class are given to it first: another class may have inherited a test, and
/// throw with the same message.
pub(super) fn take_each(throws: &mut Vec<Throw>, failed: &[&TestResult]) -> Vec<Option<Box<Throw>>> {
    let mut take_own = |result: &&TestResult| {
        let spoken = RunnerReport::from(*result);
        let at = match spoken.mark {
            Some(mark) => throws.iter().position(|throw| has_mark(throw, mark)),
            None => best(throws, &spoken, |throw| is_in_class(throw, &spoken)),
        };
        at.map(|at| Box::new(throws.remove(at)))
    };
    let own: Vec<_> = failed.iter().map(&mut take_own).collect();
    let each = failed.iter().zip(own);
    each.map(|(result, own)| own.or_else(|| take(throws, &RunnerReport::from(*result)))).collect()
}

/// The throw with the mark. Where a runner has lost the mark on the way from one process to another, the one with the
/// same message.
pub(super) fn take(throws: &mut Vec<Throw>, spoken: &RunnerReport<'_>) -> Option<Box<Throw>> {
    let at = if let Some(mark) = spoken.mark {
        throws.iter().position(|throw| has_mark(throw, mark))
    } else {
        // All that may be known of a file that could not be loaded is its name.
        let of_test = || output::throw_of(throws, spoken.test?, spoken.message);
        let best = best(throws, spoken, |_| true).or_else(of_test);
        best.or_else(|| throws.iter().rposition(|throw| is_of_file(throw, spoken)))
    };
    at.map(|at| Box::new(throws.remove(at)))
}

/// Of the throws with the message, the one whose places are in the trace that the runner shows.
fn best(throws: &[Throw], spoken: &RunnerReport<'_>, is_candidate: impl Fn(&Throw) -> bool) -> Option<usize> {
    let same = throws.iter().enumerate().filter(|(_, throw)| is_candidate(throw) && is_same(throw, spoken));
    let best = same.max_by_key(|(at, throw)| {
        (
            !is_elsewhere(throw, spoken),
            shared(throw, spoken, |frame| !frame.is_internal()),
            shared(throw, spoken, |_| true),
            std::cmp::Reverse(*at),
        )
    });
    best.map(|(at, _)| at)
}

fn has_mark(throw: &Throw, mark: &str) -> bool {
    throw.thrown.mark.as_deref() == Some(mark)
}

fn is_same(throw: &Throw, spoken: &RunnerReport<'_>) -> bool {
    let (Some(exception), Some(message)) = (&throw.snapshot.exception, spoken.message) else { return false };
    start(&exception.message) == start(message)
}

/// The name of a test may have its class before a `#`.
fn is_in_class(throw: &Throw, spoken: &RunnerReport<'_>) -> bool {
    let class = |test: &str| test.split('#').next().map(str::to_owned);
    throw.test.as_deref().and_then(class) == spoken.test.and_then(class)
}

fn is_of_file(throw: &Throw, spoken: &RunnerReport<'_>) -> bool {
    let Some(file) = spoken.file.filter(|_| spoken.details.is_none()) else { return false };
    let mut places = throw.stack.iter().filter_map(|frame| frame.location.as_ref());
    places.any(|place| place.source.is_file(file))
}

/// Reports in XML have spaces for the tabs in a message.
fn start(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    words.join(" ").chars().take(COMPARED).collect()
}

/// How many of its places in these frames the runner shows.
fn shared(throw: &Throw, spoken: &RunnerReport<'_>, is_wanted: fn(&StackFrame<Reference>) -> bool) -> usize {
    let Some(details) = spoken.details else { return 0 };
    let places = places(throw, is_wanted);
    places.iter().filter(|(file, line)| lines_of(details, file).contains(line)).count()
}

/// The runner shows other places in the files in which this was thrown: it may be another test with the same message, or
/// debugger and trace give another line of a statement with several.
fn is_elsewhere(throw: &Throw, spoken: &RunnerReport<'_>) -> bool {
    let Some(details) = spoken.details else { return false };
    let places = places(throw, |frame| !frame.is_internal());
    let shown: Vec<bool> = places
        .iter()
        .map(|(file, line)| (lines_of(details, file), line))
        .filter(|(lines, _)| !lines.is_empty())
        .map(|(lines, line)| lines.contains(line))
        .collect();
    !shown.is_empty() && !shown.contains(&true)
}

/// The files, without their folders, and lines of these frames.
fn places(throw: &Throw, is_wanted: fn(&StackFrame<Reference>) -> bool) -> BTreeSet<(&str, u32)> {
    let frames = throw.stack.iter().filter(|frame| is_wanted(frame));
    let places = frames.filter_map(|frame| frame.location.as_ref());
    places.filter_map(|place| Some((place.source.name.rsplit(['/', '\\']).next()?, place.line))).collect()
}

/// The lines of a file that a trace names, as `CartTest.java:12`.
fn lines_of(trace: &str, file: &str) -> BTreeSet<u32> {
    let is_part = |letter: char| letter.is_alphanumeric() || "_-.$".contains(letter);
    let mut parts = trace.split(file);
    let mut before = parts.next().unwrap_or_default();
    let mut lines = BTreeSet::new();
    for rest in parts {
        let digits = rest
            .strip_prefix(':')
            .and_then(|rest| rest.split(|letter: char| !letter.is_ascii_digit()).next());
        let line: Option<u32> =
            digits.filter(|_| !before.ends_with(is_part)).and_then(|digits| digits.parse().ok());
        lines.extend(line);
        before = rest;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_file_are_read_from_traces() {
        let table: [(&str, &[u32]); 5] = [
            ("\tat CartTest.dyn(CartTest.java:16)\n\tat CartTest.all(CartTest.java:8)", &[8, 16]),
            ("/home/me/CartTest.java:7:3", &[7]),
            ("MyCartTest.java:7", &[]),
            ("CartTest.java: no line", &[]),
            ("CartTest.java:3", &[3]),
        ];
        for (trace, expected) in table {
            let found: Vec<u32> = lines_of(trace, "CartTest.java").into_iter().collect();
            assert_eq!(found, expected, "{trace}");
        }
    }

    #[test]
    fn messages_are_compared_by_their_words() {
        let thrown = "Multiple Failures (1 failure)\n\torg.opentest4j.AssertionFailedError: expected: <1> but was: <2>";
        assert_eq!(start(thrown), start(&thrown.replace('\t', " ")));
        assert_ne!(start(thrown), start(&thrown.replace("<2>", "<3>")));
        let long = "x".repeat(COMPARED);
        assert_eq!(start(&long), start(&format!("{long}... cut")));
    }
}
