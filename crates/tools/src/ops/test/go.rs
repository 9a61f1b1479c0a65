//! What is particular to `go test`. The test binary prints how its tests go, in the form that `go test -v` shows, so that
//! the reports are made of its output.

mod sides;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use engine::model::launch::{Launch, Program};
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

/// What the output says of the tests.
pub(super) fn parse(text: &str, folder: &Path) -> Vec<TestReport> {
    let mut reports = Vec::new();
    let mut current = String::new();
    let mut messages: std::collections::BTreeMap<String, Message> = std::collections::BTreeMap::new();
    for line in text.lines() {
        let trimmed = line.trim_start();
        if let Some(name) = line.strip_prefix("=== RUN   ") {
            name.clone_into(&mut current);
            reports.push(TestReport::begins(name));
        } else if let Some(name) = line.strip_prefix("=== CONT  ").or_else(|| line.strip_prefix("=== NAME  "))
        {
            name.clone_into(&mut current);
        } else if line.starts_with("=== PAUSE ") {
        } else if let Some((outcome, name)) = result(trimmed) {
            let Message { text, place } = messages.remove(name).unwrap_or_default();
            let (file, line) = place.unzip();
            reports.push(TestReport::Result(TestResult {
                id: name.to_owned(),
                outcome,
                message: Some(text.trim_end().to_owned()).filter(|text| !text.is_empty()),
                file: file.map(|file| folder.join(file)),
                line,
                ..TestResult::default()
            }));
            current = name.rsplit_once('/').map_or_else(String::new, |(parent, _)| parent.to_owned());
        } else if !current.is_empty() && line.starts_with("    ") {
            let message = messages.entry(current.clone()).or_default();
            let said = place(trimmed);
            if message.place.is_none() {
                message.place = said.as_ref().map(|(file, line, _)| ((*file).to_owned(), *line));
            }
            message.text += said.map_or(trimmed, |(_, _, text)| text);
            message.text.push('\n');
        }
    }
    without_parents(reports)
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
    let panic = thrown.filter(|thrown| thrown.type_name == "panic").map(|thrown| thrown.message.clone());
    if let (Some(result), Some(_)) = (&mut failure.result, &panic) {
        result.details = std::mem::replace(&mut result.message, panic);
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
        let reports = parse(text, Path::new("/w"));
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
}
