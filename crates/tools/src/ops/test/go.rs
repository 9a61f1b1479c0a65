//! `go test`. The test binary prints how its tests go, in the form that `go test -v` shows, so that
//! the reports are made of its output.

mod sides;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use engine::model::ids::Reference;
use engine::model::launch::{Launch, Program};
use engine::model::stack::StackFrame;
use engine::test_reports::{TestOutcome, TestReport, TestResult};

use super::{Failure, Runner};

pub(super) use sides::sides;

/// `go test`, or the tests of a file.
pub(super) fn runner(launch: &Launch) -> Option<Runner> {
    let is_test = launch.runtime_args.first().is_some_and(|word| word == "test") || is_test_file(launch);
    is_test.then_some(Runner::Go)
}

fn is_test_file(launch: &Launch) -> bool {
    matches!(&launch.program, Program::Script(path) if path.to_string_lossy().ends_with("_test.go"))
}

/// Has the test binary print each test as it goes.
pub(super) fn make_verbose(launch: &mut Launch) {
    let is_verbose = |word: &String| matches!(word.as_str(), "-v" | "-test.v" | "-v=true" | "-test.v=true");
    if !launch.runtime_args.iter().chain(&launch.args).any(is_verbose) {
        let after_test = usize::from(launch.runtime_args.first().is_some_and(|word| word == "test"));
        launch.runtime_args.insert(after_test, "-v".to_owned());
    }
}

/// The folder of the tests, which their messages name files of.
pub(super) fn folder(launch: &Launch) -> PathBuf {
    match &launch.program {
        Program::Script(path) => path.parent().unwrap_or(path).to_owned(),
        Program::Package(folder) => {
            let package = launch.runtime_args.iter().skip(1).find(|word| word.starts_with('.'));
            package.map_or_else(|| folder.clone(), |package| engine::sources::absolute(&folder.join(package)))
        }
        Program::Module(_) | Program::Command => launch.working_folder(),
    }
}

/// A message of a test, and where it was written.
#[derive(Default)]
struct Message {
    text: String,
    place: Option<(String, u32)>,
}

/// Why a test has failed that has no result.
const CUT_SHORT: &str = "the program ended before this test did";

impl Message {
    fn of_test(self, id: &str, outcome: TestOutcome, folder: &Path) -> TestResult {
        let (file, line) = self.place.unzip();
        TestResult {
            id: id.to_owned(),
            outcome,
            message: Some(self.text.trim_end().to_owned()).filter(|text| !text.is_empty()),
            file: file.map(|file| folder.join(file)),
            line,
            ..TestResult::default()
        }
    }
}

/// What the output says of the tests. Those that run when the program ends early have failed.
pub(super) fn parse(text: &str, folder: &Path, has_ended: bool) -> Vec<TestReport> {
    let mut reports = Vec::new();
    let mut current = String::new();
    let mut running: Vec<&str> = Vec::new();
    let mut is_complete = false;
    let mut messages: std::collections::BTreeMap<String, Message> = std::collections::BTreeMap::new();
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some(name) = line.strip_prefix("=== RUN   ") {
            name.clone_into(&mut current);
            running.push(name);
            reports.push(TestReport::begins(name));
        } else if let Some(name) = line.strip_prefix("=== CONT  ").or_else(|| line.strip_prefix("=== NAME  "))
        {
            name.clone_into(&mut current);
            running.retain(|known| *known != name);
            running.push(name);
        } else if let Some(name) = line.strip_prefix("=== PAUSE ") {
            running.retain(|known| *known != name);
        } else if let Some((outcome, name)) = result(trimmed).or_else(|| result_behind_text(line, &running)) {
            running.retain(|known| *known != name);
            let message = messages.remove(name).unwrap_or_default();
            reports.push(TestReport::Result(message.of_test(name, outcome, folder)));
            current = name.rsplit_once('/').map_or_else(String::new, |(parent, _)| parent.to_owned());
        } else if !current.is_empty() && line.starts_with("    ") {
            let message = messages.entry(current.clone()).or_default();
            let said = place(trimmed);
            if message.place.is_none() {
                message.place = said.as_ref().map(|(file, line, _)| ((*file).to_owned(), *line));
            }
            message.text += said.map_or(trimmed, |(_, _, text)| text);
            message.text.push('\n');
        } else if !is_complete
            && !matches!(line, "PASS" | "FAIL")
            && let Some(TestReport::Result(example)) = reports.last_mut()
            && example.outcome.is_failure()
            && example.id.starts_with("Example")
        {
            // What an example has printed, and what it should have, is after its result.
            let said = example.message.take().map_or_else(String::new, |said| said + "\n");
            example.message = Some(said + line);
        }
        // A test may print such a line, too; the one at the end comes after all tests.
        is_complete = matches!(line, "PASS" | "FAIL") || is_complete && !line.starts_with("=== ");
    }
    if has_ended && !is_complete {
        let is_parent = |name: &&str| {
            running.iter().any(|other| other.strip_prefix(*name).is_some_and(|rest| rest.starts_with('/')))
        };
        for name in running.iter().filter(|name| !is_parent(name)) {
            let message = messages.remove(*name).unwrap_or_default();
            let result = message.of_test(name, TestOutcome::Failed, folder);
            let message = result.message.or_else(|| Some(CUT_SHORT.to_owned()));
            reports.push(TestReport::Result(TestResult { message, ..result }));
        }
    }
    without_parents(reports)
}

/// The running test in whose function a goroutine is, or was started.
pub(super) fn test_of(stack: &[StackFrame<Reference>], reports: &[TestReport]) -> Option<String> {
    let is_over =
        |test: &String| reports.iter().filter_map(TestReport::result).any(|result| result.id == *test);
    let begun = |function: &str| {
        let mut tests = reports.iter().rev().filter_map(|report| match report {
            TestReport::Begins { test, .. } => Some(test),
            _ => None,
        });
        tests.find(|test| test.split('/').next() == Some(function) && !is_over(test)).cloned()
    };
    stack.iter().flat_map(|frame| frame.name.split('.')).find_map(begun)
}

/// `--- FAIL: TestAdd (0.00s)`.
fn result(line: &str) -> Option<(TestOutcome, &str)> {
    let (word, rest) = line.strip_prefix("--- ")?.split_once(": ")?;
    let outcome = match word {
        "PASS" => TestOutcome::Passed,
        "FAIL" => TestOutcome::Failed,
        "SKIP" => TestOutcome::Skipped,
        _ => return None,
    };
    Some((outcome, rest.rsplit_once(" (").map_or(rest, |(name, _)| name)))
}

/// The result of a running test after text that it printed without a line break.
fn result_behind_text<'a>(line: &'a str, running: &[&str]) -> Option<(TestOutcome, &'a str)> {
    let is_message = line.starts_with("    ");
    let (outcome, name) = result(line.get(line.rfind("--- ")?..)?)?;
    (!is_message && line.ends_with("s)") && running.contains(&name)).then_some((outcome, name))
}

/// `cart_test.go:12: got 3, want 4`.
fn place(line: &str) -> Option<(&str, u32, &str)> {
    let (file, rest) = line.split_once(".go:")?;
    let (number, text) = rest.split_once(": ").or_else(|| Some((rest.strip_suffix(':')?, "")))?;
    let file = line.get(..file.len() + 3)?;
    Some((file, number.parse().ok()?, text))
}

/// Without tests that have subtests, unless they have failed on their own.
fn without_parents(mut reports: Vec<TestReport>) -> Vec<TestReport> {
    let (mut parents, mut parents_of_failed) = (HashSet::new(), HashSet::new());
    for TestResult { id, outcome, .. } in reports.iter().filter_map(TestReport::result) {
        let above = id.match_indices('/').filter_map(|(at, _)| id.get(..at)).map(str::to_owned);
        if outcome.is_failure() {
            parents_of_failed.extend(above.clone());
        }
        parents.extend(above);
    }
    reports.retain(|report| {
        let Some(TestResult { id, outcome, message, .. }) = report.result() else { return true };
        let fails = outcome.is_failure();
        let parents = if fails { &parents_of_failed } else { &parents };
        !parents.contains(id) || fails && message.is_some()
    });
    reports
}

/// The message of a test that has panicked is that of the panic: it may have logged others before.
pub(super) fn name_panic(failure: &mut Failure) {
    let thrown = failure.throw.as_ref().and_then(|throw| throw.snapshot.exception.as_ref());
    let panic = thrown.filter(|thrown| matches!(thrown.type_name.as_str(), "panic" | "fatal error"));
    let panic = panic.map(|thrown| thrown.message.clone());
    if let (Some(result), Some(_)) = (&mut failure.result, &panic) {
        let logged = std::mem::replace(&mut result.message, panic);
        result.details = logged.filter(|logged| logged != CUT_SHORT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_test_output_is_parsed() {
        let text = "\
=== RUN   TestAdd
    cart_test.go:9: got 3, want 4
        and more
--- FAIL: TestAdd (0.00s)
=== RUN   TestTable
=== RUN   TestTable/empty
    cart_test.go:20: empty
--- FAIL: TestTable (0.00s)
    --- FAIL: TestTable/empty (0.00s)
=== RUN   TestParts
=== RUN   TestParts/one
--- PASS: TestParts (0.00s)
    --- PASS: TestParts/one (0.00s)
=== RUN   TestDeep
=== RUN   TestDeep/a
=== RUN   TestDeep/a/b
--- PASS: TestDeep (0.00s)
    --- PASS: TestDeep/a (0.00s)
        --- PASS: TestDeep/a/b (0.00s)
=== RUN   TestAlone
=== RUN   TestAlone/one
--- FAIL: TestAlone (0.00s)
    --- PASS: TestAlone/one (0.00s)
=== RUN   TestSkips
    cart_test.go:30: not here
--- SKIP: TestSkips (0.00s)
FAIL
";
        let reports = parse(text, Path::new("/w"), true);
        let results: Vec<_> = reports.iter().filter_map(TestReport::result).collect();
        let short: Vec<_> = results.iter().map(|result| (result.id.as_str(), result.outcome)).collect();
        let expected = [
            ("TestAdd", TestOutcome::Failed),
            ("TestTable/empty", TestOutcome::Failed),
            ("TestParts/one", TestOutcome::Passed),
            ("TestDeep/a/b", TestOutcome::Passed),
            ("TestAlone", TestOutcome::Failed),
            ("TestAlone/one", TestOutcome::Passed),
            ("TestSkips", TestOutcome::Skipped),
        ];
        assert_eq!(short, expected);
        assert_eq!(results[0].message.as_deref(), Some("got 3, want 4\nand more"));
        assert_eq!((&results[0].file, results[0].line), (&Some("/w/cart_test.go".into()), Some(9)));
    }

    #[test]
    fn the_message_of_an_example_is_behind_its_result() {
        let text = "\
=== RUN   ExampleDiv
--- PASS: ExampleDiv (0.00s)
=== RUN   ExampleMust
--- FAIL: ExampleMust (0.00s)
got:
3
want:
4
FAIL
exit status 1
";
        let reports = parse(text, Path::new("/w"), true);
        let messages: Vec<_> =
            reports.iter().filter_map(TestReport::result).map(|result| result.message.as_deref()).collect();
        assert_eq!(messages, [None, Some("got:\n3\nwant:\n4")]);
    }

    #[test]
    fn a_result_may_follow_text_without_a_line_break() {
        let text = "\
=== RUN   TestA
no newline--- PASS: TestA (0.00s)
=== RUN   TestB
    cart_test.go:9: --- PASS: TestB (0.00s)
prints --- PASS: TestA (0.00s)
";
        let reports = parse(text, Path::new("/w"), true);
        let results = reports.iter().filter_map(TestReport::result);
        let short: Vec<_> = results.map(|result| (result.id.as_str(), result.outcome)).collect();
        assert_eq!(short, [("TestA", TestOutcome::Passed), ("TestB", TestOutcome::Failed)]);
    }

    #[test]
    fn tests_that_run_when_the_program_ends_have_failed() {
        let text = "\
=== RUN   TestOver
--- PASS: TestOver (0.00s)
=== RUN   TestWaits
=== PAUSE TestWaits
=== RUN   TestTable
=== RUN   TestTable/dies
    cart_test.go:20: logged
";
        let failed = |text: &str, has_ended| {
            let reports = parse(text, Path::new("/w"), has_ended);
            let results = reports.into_iter().filter_map(|report| report.result().cloned());
            let failed = results.filter(|result| result.outcome.is_failure());
            failed.map(|result| (result.id, result.message.unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(failed(text, true), [("TestTable/dies".to_owned(), "logged".to_owned())]);
        assert_eq!(failed(text, false), []);
        assert_eq!(failed(&format!("{text}FAIL\n"), true), []);
        let prints = "=== RUN   TestPrints\nFAIL\n--- PASS: TestPrints (0.00s)\n";
        assert_eq!(
            failed(&format!("{prints}{text}"), true),
            [("TestTable/dies".to_owned(), "logged".to_owned())]
        );
        let continues = format!("{text}=== CONT  TestWaits\n");
        assert_eq!(failed(&continues, true)[1], ("TestWaits".to_owned(), CUT_SHORT.to_owned()));
    }
}
