//! What the test harness of Rust prints, and how `assert_eq!` words a failure.

use std::collections::BTreeSet;
use std::path::Path;

use engine::model::ids::Reference;
use engine::model::launch::{Launch, Program};
use engine::model::source::{Location, Source};
use engine::model::stack::StackFrame;
use engine::model::thrown::{Assertion, Side, SideValue};
use engine::snapshot::Caller;
use engine::sources;
use engine::test_reports::{TestOutcome, TestReport, TestResult};

use super::throws::Throw;
use super::{Failure, Runner};

/// `cargo test`, or the tests of a file.
pub(super) fn runner(launch: &Launch) -> Option<Runner> {
    let is_test = launch.runtime_args.iter().any(|word| matches!(word.as_str(), "test" | "t"))
        || matches!(&launch.program, Program::Script(path) if path.extension().is_some_and(|kind| kind == "rs"));
    is_test.then_some(Runner::Cargo)
}

/// What we call the failure of a test that returns an error.
const RETURNED: &str = "the test returned an error: ";

/// What a panic has printed, and the name of its thread.
struct Panic<'a> {
    thread: &'a str,
    message: String,
    file: String,
    line: u32,
}

/// `folder` is what the names of files are relative to.
pub(super) fn parse(stdout: &str, stderr: &str, folder: &Path) -> Vec<TestReport> {
    let panics = panics(stderr);
    let names: BTreeSet<&str> = tests(stdout).map(|(name, _)| name).collect();
    let mut reports = Vec::new();
    for (name, body) in tests(stdout) {
        reports.push(TestReport::begins(name));
        let Some(outcome) = outcome(body) else { continue };
        let panic = cause(&panics, name, &names).filter(|_| outcome.is_failure());
        let message = unmet(stdout, name).or_else(|| panic.map(|panic| panic.message.as_str()));
        reports.push(TestReport::Result(TestResult {
            id: name.to_owned(),
            outcome,
            message: message.map(str::to_owned),
            file: panic.map(|panic| folder.join(&panic.file)).filter(|file| file.is_file()),
            line: panic.map(|panic| panic.line),
            ..TestResult::default()
        }));
    }
    add_errors(&mut reports, stderr);
    if reports.is_empty() && stdout.contains("\ntest result: ") {
        reports.push(TestReport::collected(0));
    }
    reports
}

/// The tests, each with what is printed until the next one.
fn tests(stdout: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = stdout;
    std::iter::from_fn(move || {
        let (name, body, behind) = next_test(rest)?;
        rest = behind;
        Some((name, body))
    })
}

/// The name of the next test, what is printed until the one after it, and the rest.
fn next_test(text: &str) -> Option<(&str, &str, &str)> {
    let start = if text.starts_with("test ") { 0 } else { text.find("\ntest ")? + 1 };
    let line = text.get(start + 5..)?;
    let Some(at) = line.find(" ... ").filter(|at| {
        !line.get(..*at).unwrap_or_default().contains(['\n', ' '])
            || line.get(..*at).is_some_and(|name| name.ends_with(" - should panic"))
    }) else {
        return next_test(line);
    };
    let (name, body) = (line.get(..at)?, line.get(at + 5..)?);
    let ends = ["\ntest ", "\nfailures:\n"];
    let end = ends.iter().filter_map(|end| body.find(end)).min().unwrap_or(body.len());
    Some((name.trim_end_matches(" - should panic"), body.get(..end)?, body.get(end..)?))
}

/// What the test has printed itself comes in front.
fn outcome(body: &str) -> Option<TestOutcome> {
    let last = body.trim_end();
    if last.ends_with("FAILED") {
        Some(TestOutcome::Failed)
    } else if last.ends_with("ok") {
        Some(TestOutcome::Passed)
    } else if last.starts_with("ignored") {
        Some(TestOutcome::Skipped)
    } else {
        None
    }
}

/// Why a test that should panic has failed: it has not panicked, or with another message.
fn unmet<'a>(stdout: &'a str, name: &str) -> Option<&'a str> {
    let (_, block) = stdout.split_once(&format!("\n---- {name} stdout ----\n"))?;
    let block = ["\n---- ", "\nfailures:\n"].iter().filter_map(|end| block.split(end).next());
    let block = block.min_by_key(|block| block.len())?;
    let notes = ["note: test did not panic", "note: panic did not contain"];
    let at = notes.iter().find_map(|note| block.find(note))?;
    Some(block.get(at + "note: ".len()..)?.trim_end())
}

/// The panic that a test fails by: its first one, in the thread that has its name. If that is only about the panic of
/// another thread, it is the one before it in a thread that is not another test's.
fn cause<'a>(panics: &'a [Panic<'a>], test: &str, tests: &BTreeSet<&str>) -> Option<&'a Panic<'a>> {
    let at = panics.iter().position(|panic| panic.thread == test)?;
    let (before, from) = panics.split_at(at);
    let own = from.first()?;
    if !is_of_other_thread(&own.message) {
        return Some(own);
    }
    let mut others = before.iter().rev().take_while(|panic| !tests.contains(panic.thread));
    others.find(|panic| !is_of_other_thread(&panic.message)).or(Some(own))
}

/// Whether a message only says that another thread has panicked: of `join`, of a scope, or of a lock.
fn is_of_other_thread(message: &str) -> bool {
    message.ends_with(": Any { .. }")
        || message.ends_with(": PoisonError { .. }")
        || message == "a scoped thread panicked"
}

/// All panics.
fn panics(stderr: &str) -> Vec<Panic<'_>> {
    let mut panics = Vec::new();
    for piece in stderr.split("\nthread '").map(|piece| piece.strip_prefix("thread '").unwrap_or(piece)) {
        let Some((thread, rest)) = piece.split_once('\'') else { continue };
        let Some((_, rest)) = rest.split_once(" panicked at ") else { continue };
        let (place, message) = rest.split_once(":\n").unwrap_or((rest, ""));
        let mut place = place.splitn(3, ':');
        let (Some(file), Some(Ok(line))) = (place.next(), place.next().map(str::parse)) else { continue };
        let ends = ["\nnote: ", "\nstack backtrace:", "\nError: "];
        let end = ends.iter().filter_map(|end| message.find(end)).min().unwrap_or(message.len());
        let message = message.get(..end).unwrap_or_default().trim_end().to_owned();
        let (file, line) = place_of_property(&message).unwrap_or((file, line));
        panics.push(Panic { thread, file: file.to_owned(), line, message });
    }
    panics
}

/// Where a property does not hold, as `proptest!` ends what it says about that. It panics in a place of its own.
fn place_of_property(message: &str) -> Option<(&str, u32)> {
    let (said, _) = message.strip_prefix("Test failed: ")?.split_once("\nminimal failing input: ")?;
    let (_, place) = said.rsplit_once(" at ")?;
    let (file, line) = place.strip_suffix('.')?.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

/// A test that returns an error has printed it, and no panic. Which one did is only known if there are as many errors
/// as such tests.
fn add_errors(reports: &mut [TestReport], stderr: &str) {
    let silent = reports.iter_mut().filter_map(|report| match report {
        TestReport::Result(result) if result.outcome.is_failure() && result.message.is_none() => Some(result),
        _ => None,
    });
    give_errors(silent.collect(), stderr);
}

/// Gives each of these results the error that its test has returned, if there are as many errors.
fn give_errors(results: Vec<&mut TestResult>, stderr: &str) {
    let errors: Vec<&str> = stderr.lines().filter_map(|line| line.strip_prefix("Error: ")).collect();
    if results.len() == errors.len() {
        for (result, error) in results.into_iter().zip(errors) {
            result.message.get_or_insert_with(|| format!("{RETURNED}{error}"));
        }
    }
}

/// Adds the errors that tests have returned where other tests have panicked in other threads, as their throws show.
pub(super) fn add_missing_errors(failures: &mut [&mut Failure], stderr: &str) {
    let is_returned = |failure: &Failure| {
        let thrown = failure.throw.as_ref().and_then(|throw| throw.snapshot.exception.as_ref());
        let said = failure.result.as_ref().and_then(|result| result.message.as_deref());
        said.is_none_or(is_of_error) && thrown.is_none_or(|thrown| thrown.type_name == "error")
    };
    let results = failures
        .iter_mut()
        .filter(|failure| is_returned(failure))
        .filter_map(|failure| failure.result.as_mut());
    give_errors(results.collect(), stderr);
}

/// The test whose function a stack is of: the outermost one of the user's, without the name of the crate.
pub(super) fn test_of(stack: &[StackFrame<Reference>]) -> Option<String> {
    let is_runner = |name: &str| name.starts_with("test::") && name.contains("__rust_begin_short_backtrace");
    stack.iter().find(|frame| is_runner(&frame.name))?;
    let function = stack.iter().rev().find(|frame| !frame.is_internal())?;
    let (_, path) = function.name.split("::{{closure}}").next()?.split_once("::")?;
    Some(path.to_owned())
}

/// Where an error comes from, as our code in the debugger words it: a call in the line before, or several functions.
pub(super) fn origin(error: &str) -> Option<&str> {
    let starts = [" (returned by ", " (first returned by "].iter().filter_map(|start| error.find(start));
    starts.min().and_then(|at| error.get(at..))
}

/// Whether a test has failed by what it returned.
pub(super) fn is_of_error(message: &str) -> bool {
    message.starts_with(RETURNED)
}

/// The two sides of a comparison, as `assert_eq!` and `assert_ne!` print them; what `assert!` holds.
pub(super) fn assertion(message: &str) -> Option<Assertion> {
    if let Some(rest) = message.strip_prefix("assertion failed: ") {
        return Some(Assertion { expression: Some(rest.trim().to_owned()), ..Assertion::default() });
    }
    let (operator, left, right) = compared(message).or_else(|| compared_by_property(message))?;
    let side = |text: &str| {
        let value = SideValue { text: text.to_owned(), type_name: String::new(), cut: false };
        Some(Side { expression: None, value: Some(value) })
    };
    Some(Assertion {
        operator: Some(operator.to_owned()),
        left: side(left),
        right: side(right),
        ..Assertion::default()
    })
}

/// The operator and the sides.
fn compared(message: &str) -> Option<(&str, &str, &str)> {
    let operator = ["==", "!=", "matches"]
        .into_iter()
        .find(|operator| message.starts_with(&format!("assertion `left {operator} right` failed")))?;
    let (_, sides) = message.split_once("\n  left: ")?;
    let (left, right) = sides.split_once("\n right: ")?;
    Some((operator, left, right))
}

/// The same, as `prop_assert_eq!` and `prop_assert_ne!` print them.
fn compared_by_property(message: &str) -> Option<(&str, &str, &str)> {
    let said = message.strip_prefix("Test failed: assertion failed: `(left ")?;
    let (operator, said) = said.split_once(" right)`")?;
    let (left, said) = said.split_once("\n  left: `")?.1.split_once("`,\n right: `")?;
    let end = ["` at ", "`: "].iter().filter_map(|end| said.find(end)).min()?;
    Some((operator, left, said.get(..end)?))
}

/// How many lines before and after a place are shown.
const AROUND: u32 = 3;

/// Shows the function of a test, at the place that its panic names, if no frame is in a source of the user's: a macro
/// of a library, such as `proptest!`, has made the function.
pub(super) fn show_test(throw: &mut Throw, result: &TestResult) {
    let (Some(file), Some(line)) = (&result.file, result.line) else { return };
    if !throw.stack.iter().all(StackFrame::is_internal) {
        return;
    }
    let is_test = |frame: &StackFrame<Reference>| {
        frame.name.split_once("::").is_some_and(|(_, path)| path == result.id)
    };
    let Some(at) = throw.callers.iter().position(|caller| is_test(&caller.frame)) else { return };
    let Caller { mut frame, locals } = throw.callers.swap_remove(at);
    let location = Location { source: Source::file(file), line, column: 0, generated: None };
    frame.location = Some(location);
    throw.callers.clear();
    for known in throw.stack.iter_mut().filter(|known| known.id == frame.id) {
        known.location.clone_from(&frame.location);
    }
    let snapshot = &mut throw.snapshot;
    snapshot.locals = locals.ok().map(|locals| ("Locals".to_owned(), locals));
    let text = sources::read_text(file).unwrap_or_default();
    let near = (1..).zip(text.lines()).filter(|(at, _): &(u32, &str)| at.abs_diff(line) <= AROUND);
    snapshot.source = near.map(|(at, text)| (at, text.to_owned())).collect();
    snapshot.hidden_frames = snapshot.total_frames.saturating_sub(1);
    snapshot.frames = vec![frame];
}

/// Names the sides of a comparison as the source does.
pub(super) fn name_sides(throw: &mut Throw) {
    let place = throw.snapshot.frame().and_then(|frame| frame.location.as_ref()).map(|place| place.line);
    let Some((_, line)) = throw.snapshot.source.iter().find(|(line, _)| Some(*line) == place) else { return };
    let Some(assertion) = &mut throw.thrown.assertion else { return };
    let Some(words) = arguments(line) else { return };
    for (side, word) in [&mut assertion.left, &mut assertion.right].into_iter().zip(words) {
        if let Some(side) = side {
            side.expression = Some(word);
        }
    }
}

/// The first two arguments of an assertion that is in one line.
fn arguments(line: &str) -> Option<[String; 2]> {
    let (_, rest) = line.split_once("assert_eq!(").or_else(|| line.split_once("assert_ne!("))?;
    let mut words = Vec::new();
    let (mut word, mut depth, mut quote) = (String::new(), 0_u32, false);
    let mut letters = rest.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if quote => {
                word.push(letter);
                word.extend(letters.next());
                continue;
            }
            '"' => quote = !quote,
            _ if quote => {}
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                words.push(word.trim().to_owned());
                break;
            }
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                words.push(std::mem::take(&mut word).trim().to_owned());
                continue;
            }
            _ => {}
        }
        word.push(letter);
    }
    let mut words = words.into_iter().filter(|word| !word.is_empty());
    Some([words.next()?, words.next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    const STDOUT: &str = "
running 7 tests
test tests::adds ... printed
FAILED
test tests::empty ... ok
test tests::later ... ignored, not yet
test tests::panics - should panic ... ok
test tests::unwraps ... FAILED
test tests::calm - should panic ... FAILED
test tests::other - should panic ... FAILED

failures:

---- tests::adds stdout ----
printed
---- tests::calm stdout ----
note: test did not panic as expected at src/lib.rs:7:8
---- tests::other stdout ----
note: panic did not contain expected string
      panic message: \"out of bounds\"
 expected substring: \"divide\"

failures:
    tests::adds
";
    const STDERR: &str = "
thread 'tests::adds' (17) panicked at src/lib.rs:22:9:
assertion `left == right` failed: for [3, 4]
  left: 4
 right: 7
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
Error: \"no\"
";

    #[test]
    fn the_output_of_tests_is_read() {
        let reports = parse(STDOUT, STDERR, Path::new("/w"));
        let results: Vec<_> = reports.iter().filter_map(TestReport::result).collect();
        let short: Vec<_> = results.iter().map(|result| (result.id.as_str(), result.outcome)).collect();
        assert_eq!(
            short,
            [
                ("tests::adds", TestOutcome::Failed),
                ("tests::empty", TestOutcome::Passed),
                ("tests::later", TestOutcome::Skipped),
                ("tests::panics", TestOutcome::Passed),
                ("tests::unwraps", TestOutcome::Failed),
                ("tests::calm", TestOutcome::Failed),
                ("tests::other", TestOutcome::Failed),
            ]
        );
        assert_eq!(results[0].line, Some(22));
        let message = |at: usize| results[at].message.as_deref().unwrap();
        assert!(message(0).ends_with(" right: 7"), "{}", message(0));
        assert_eq!(message(4), "the test returned an error: \"no\"");
        assert_eq!(message(5), "test did not panic as expected at src/lib.rs:7:8");
        let other = "panic did not contain expected string\n      panic message: \"out of bounds\"\n expected \
                     substring: \"divide\"";
        assert_eq!(message(6), other);
        let running = parse("\nrunning 1 test\ntest a ... ", "", Path::new("/w"));
        assert_eq!(running, [TestReport::begins("a")]);
    }

    #[test]
    fn a_test_fails_by_the_panic_of_its_thread_that_it_joins() {
        let stderr = "
thread '<unnamed>' (3) panicked at src/lib.rs:3:5:
caught
thread 'tests::before' (2) panicked at src/lib.rs:5:9:
other
thread '<unnamed>' (4) panicked at src/lib.rs:7:9:
assertion `left == right` failed
  left: 6
 right: 7
thread '<unnamed>' (5) panicked at src/lib.rs:8:9:
called `Result::unwrap()` on an `Err` value: PoisonError { .. }
thread 'tests::joins' (6) panicked at src/lib.rs:9:9:
called `Result::unwrap()` on an `Err` value: Any { .. }
";
        let panics = panics(stderr);
        let tests = BTreeSet::from(["tests::before", "tests::joins"]);
        let line = |test| cause(&panics, test, &tests).map(|panic| panic.line);
        assert_eq!(
            (line("tests::joins"), line("tests::before"), line("tests::none")),
            (Some(7), Some(5), None)
        );
    }

    #[test]
    fn what_a_property_compares_and_where_is_found() {
        let message = "Test failed: assertion failed: `(left == right)` \n  left: `99`,\n right: `100` at \
                       src/lib.rs:10.\nminimal failing input: v = [\n    101,\n]";
        assert_eq!(compared_by_property(message), Some(("==", "99", "100")));
        assert_eq!(place_of_property(message), Some(("src/lib.rs", 10)));
        let said = message.replace("` at", "`: too large at");
        assert_eq!(compared_by_property(&said), Some(("==", "99", "100")));
        assert_eq!(place_of_property("Test failed: no.\nminimal failing input: v = 1"), None);
    }

    #[test]
    fn both_sides_and_their_expressions_are_found() {
        let found = assertion("assertion `left == right` failed: for [3, 4]\n  left: 4\n right: 7").unwrap();
        let text = |side: Option<Side>| side.unwrap().value.unwrap().text;
        assert_eq!((text(found.left), text(found.right)), ("4".to_owned(), "7".to_owned()));
        let found = assertion("assertion failed: total > 3").unwrap();
        assert_eq!(found.expression.as_deref(), Some("total > 3"));
        assert_eq!(assertion("index out of bounds"), None);
        let found = arguments("    assert_eq!(total(&[3, 4], \"a,)\"), 7, \"for {x}\");").unwrap();
        assert_eq!(found, ["total(&[3, 4], \"a,)\")", "7"]);
    }
}
