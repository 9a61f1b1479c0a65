//! What `GoogleTest` prints, and `ctest`.

use std::path::Path;

use engine::model::ids::Reference;
use engine::model::launch::{Launch, Program};
use engine::model::stack::StackFrame;
use engine::model::thrown::{Assertion, Side, SideValue};
use engine::test_reports::{TestOutcome, TestReport, TestResult};

use super::Runner;

/// `ctest`. A program that was linked with `GoogleTest` is known by its output.
pub(super) fn runner(launch: &Launch) -> Option<Runner> {
    let is_ctest = matches!(&launch.program, Program::Module(name) if name == "ctest");
    is_ctest.then_some(Runner::Ctest)
}

/// Whether a library that runs tests and catches what they throw is around a stack.
pub(super) fn is_around(stack: &[StackFrame<Reference>]) -> bool {
    let is_runner = |name: &str| ["testing::", "Catch::", "doctest::"].iter().any(|of| name.starts_with(of));
    stack.iter().any(|frame| is_runner(&frame.name))
}

/// Whether an exception is thrown that was kept before, such as by another thread.
pub(super) fn is_thrown_again(stack: &[StackFrame<Reference>]) -> bool {
    stack.iter().any(|frame| frame.name.starts_with("std::rethrow_exception"))
}

/// Whether a message is of an exception rather than of an assertion.
pub(super) fn is_of_exception(message: &str) -> bool {
    message.starts_with("C++ exception with description ")
        || message.starts_with("Unknown C++ exception thrown")
}

/// `folder` is what the names of files are relative to.
pub(super) fn parse(stdout: &str, folder: &Path) -> Vec<TestReport> {
    let mut reports = Vec::new();
    let mut current: Option<String> = None;
    let mut failures: Vec<Failure> = Vec::new();
    let mut is_message = false;
    for line in stdout.lines() {
        if let Some((_, name)) = line.split_once("[ RUN      ] ") {
            reports.push(TestReport::begins(name));
            current = Some(name.to_owned());
            failures.clear();
            is_message = false;
        } else if let (Some(test), Some(outcome)) = (&current, outcome(line)) {
            let first = failures.first();
            let file = first.and_then(|failure| failure.file.as_ref()).map(|file| folder.join(file));
            reports.push(TestReport::Result(TestResult {
                id: test.clone(),
                outcome,
                message: first.map(|failure| failure.message.trim_end().to_owned()),
                file: file.filter(|file| file.is_file()),
                line: first.and_then(|failure| failure.line),
                details: rest(&failures),
                ..TestResult::default()
            }));
            current = None;
        } else if let Some((file, line)) = place(line) {
            failures.push(Failure { file, line, message: String::new() });
            is_message = true;
        } else if let (true, Some(failure)) = (is_message && current.is_some(), failures.last_mut()) {
            failure.message += line;
            failure.message.push('\n');
        }
    }
    if stdout.contains("[==========] Running 0 tests from 0 test suites.") {
        reports.push(TestReport::collected(0));
    }
    reports
}

/// An assertion that failed, or a reason to skip.
struct Failure {
    file: Option<String>,
    line: Option<u32>,
    message: String,
}

/// The messages of the further assertions of a test.
fn rest(failures: &[Failure]) -> Option<String> {
    let more: Vec<String> = failures
        .iter()
        .skip(1)
        .map(|failure| {
            let place = failure.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            format!("{place}{}", failure.message.trim_end())
        })
        .collect();
    (!more.is_empty()).then(|| more.join("\n"))
}

/// `[  FAILED  ] Basket.Adds (0 ms)`, possibly after text that the test has printed.
fn outcome(line: &str) -> Option<TestOutcome> {
    let marks = [
        ("[       OK ] ", TestOutcome::Passed),
        ("[  FAILED  ] ", TestOutcome::Failed),
        ("[  SKIPPED ] ", TestOutcome::Skipped),
    ];
    marks
        .into_iter()
        .find(|(mark, _)| line.contains(mark) && line.ends_with(" ms)"))
        .map(|(_, outcome)| outcome)
}

/// `basket_test.cc:17: Failure`, `basket_test.cc:30: Skipped`, `unknown file: Failure`.
fn place(line: &str) -> Option<(Option<String>, Option<u32>)> {
    let place = line.strip_suffix(": Failure").or_else(|| line.strip_suffix(": Skipped"))?;
    let (file, number) =
        place.rsplit_once(':').map_or((place, None), |(file, number)| (file, number.parse().ok()));
    Some((number.is_some().then(|| file.to_owned()), number))
}

/// What was compared, as the macros of `GoogleTest` word it.
pub(super) fn assertion(message: &str) -> Option<Assertion> {
    let mut lines = message.lines();
    let first = lines.next()?;
    if first.starts_with("Expected equality of these values:") {
        return equality(lines);
    }
    if let Some(expression) = first.strip_prefix("Value of: ") {
        let value = |start: &str| {
            lines.clone().find_map(|line| line.trim_start().strip_prefix(start)).map(str::to_owned)
        };
        return Some(Assertion {
            expression: Some(expression.to_owned()),
            left: Some(side(Some(expression.to_owned()), value("Actual: "))),
            right: Some(side(None, value("Expected: "))),
            operator: None,
        });
    }
    if let Some(rest) = first.strip_prefix("Expected: ") {
        return ordering(rest);
    }
    near(message)
}

/// A side is an expression, and its value in the next line unless the expression is the value.
fn equality<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Assertion> {
    let mut sides: Vec<(String, Option<String>)> = Vec::new();
    for line in lines {
        if let (Some(value), Some(last)) = (line.strip_prefix("    Which is: "), sides.last_mut()) {
            last.1 = Some(value.to_owned());
        } else if let (Some(expression), true) = (line.strip_prefix("  "), sides.len() < 2) {
            sides.push((expression.to_owned(), None));
        } else {
            break;
        }
    }
    let mut sides = sides.into_iter().map(|(expression, value)| match value {
        Some(value) => side(Some(expression), Some(value)),
        None => side(None, Some(expression)),
    });
    Some(Assertion {
        operator: Some("==".to_owned()),
        left: sides.next(),
        right: Some(sides.next()?),
        expression: None,
    })
}

/// `(5) < (total({1, 3})), actual: 5 vs 3`.
fn ordering(text: &str) -> Option<Assertion> {
    let (expression, values) = text.split_once(", actual: ")?;
    let (left, right) = values.split_once(" vs ")?;
    let operators = [") < (", ") <= (", ") > (", ") >= (", ") != ("];
    let (at, operator) =
        operators.iter().find_map(|operator| Some((expression.find(operator)?, operator)))?;
    let (one, other) = (expression.get(1..at)?, expression.get(at + operator.len()..)?);
    let other = other.strip_suffix(')').unwrap_or(other);
    Some(Assertion {
        expression: None,
        operator: Some(operator.trim_matches(['(', ')', ' ']).to_owned()),
        left: Some(side(Some(one.to_owned()), Some(left.to_owned()))),
        right: Some(side(Some(other.to_owned()), Some(right.to_owned()))),
    })
}

/// `The difference between 5.0 and total() is 2, which exceeds 0.1, where`, and a line for each value.
fn near(message: &str) -> Option<Assertion> {
    let rest = message.strip_prefix("The difference between ")?;
    let (names, _) = rest.split_once(" is ")?;
    let (one, other) = names.split_once(" and ")?;
    let value = |name: &str| {
        let start = format!("{name} evaluates to ");
        let line = message.lines().find_map(|line| line.strip_prefix(&start))?;
        Some(line.trim_end_matches(" and").trim_end_matches([',', '.']).to_owned())
    };
    Some(Assertion {
        expression: None,
        operator: Some("near".to_owned()),
        left: Some(side(Some(one.to_owned()), value(one))),
        right: Some(side(Some(other.to_owned()), value(other))),
    })
}

fn side(expression: Option<String>, value: Option<String>) -> Side {
    let value = value.map(|text| SideValue { text, type_name: String::new(), cut: false });
    Side { expression, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_tests_is_read() {
        let text = "\
[ RUN      ] Basket.IsEmpty
[       OK ] Basket.IsEmpty (0 ms)
[ RUN      ] Basket.Adds
b.cc:17: Failure
Expected equality of these values:
  total(prices)
    Which is: 4
  7
for two
b.cc:18: Failure
Value of: ok
  Actual: false
Expected: true
printed[  FAILED  ] Basket.Adds (0 ms)
[ RUN      ] Basket.Skips
b.cc:30: Skipped
later
[  SKIPPED ] Basket.Skips (0 ms)
[  FAILED  ] 1 test, listed below:
[  FAILED  ] Basket.Adds
[ RUN      ] Basket.Runs
";
        let reports = parse(text, Path::new("/w"));
        let results: Vec<_> = reports.iter().filter_map(TestReport::result).collect();
        let short: Vec<_> = results.iter().map(|result| (result.id.as_str(), result.outcome)).collect();
        assert_eq!(
            short,
            [
                ("Basket.IsEmpty", TestOutcome::Passed),
                ("Basket.Adds", TestOutcome::Failed),
                ("Basket.Skips", TestOutcome::Skipped)
            ]
        );
        assert_eq!(results[1].line, Some(17));
        assert!(results[1].message.as_ref().unwrap().ends_with("for two"), "{:?}", results[1]);
        let details = "line 18: Value of: ok\n  Actual: false\nExpected: true";
        assert_eq!(results[1].details.as_deref(), Some(details));
        assert_eq!(reports.last().unwrap(), &TestReport::begins("Basket.Runs"));
    }

    #[test]
    fn both_sides_of_a_comparison_are_found() {
        let table = [
            (
                "Expected equality of these values:\n  total(prices)\n    Which is: 4\n  7\nfor two",
                "total(prices)=4 == =7",
            ),
            (
                "Expected equality of these values:\n  name\n    Which is: \"Ann\"\n  \"Bob\"",
                "name=\"Ann\" == =\"Bob\"",
            ),
            ("Value of: ok\n  Actual: false\nExpected: true", "ok=false  =true"),
            ("Expected: (5) < (total({1, 3})), actual: 5 vs 3", "5=5 < total({1, 3})=3"),
            (
                "The difference between 5.0 and f() is 2, which exceeds 0.1, where\n5.0 evaluates to 5,\nf() evaluates to 3, and\n0.1 evaluates to 0.1.",
                "5.0=5 near f()=3",
            ),
        ];
        for (message, expected) in table {
            let found = assertion(message).unwrap();
            let text = |side: &Option<Side>| {
                let side = side.as_ref().unwrap();
                format!(
                    "{}={}",
                    side.expression.clone().unwrap_or_default(),
                    side.value.as_ref().unwrap().text
                )
            };
            let operator = found.operator.clone().unwrap_or_default();
            assert_eq!(
                format!("{} {operator} {}", text(&found.left), text(&found.right)),
                expected,
                "{message}"
            );
        }
        assert_eq!(assertion("Failed"), None);
    }
}
