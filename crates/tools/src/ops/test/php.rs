//! PHPUnit. Its log of the tests, in the form of TeamCity's service messages, becomes the reports.

use engine::model::launch::{Launch, Program};
use engine::test_reports::{TestOutcome, TestReport, TestReports, TestResult};

use super::Runner;

/// PHPUnit, by the name of its script.
pub(super) fn runner(launch: &Launch) -> Option<Runner> {
    let Program::Script(path) = &launch.program else { return None };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("phpunit").then_some(Runner::Phpunit)
}

/// Has PHPUnit write its log.
pub(super) fn make_log(launch: &mut Launch, reports: &TestReports) {
    let file = reports.path().to_string_lossy().into_owned();
    launch.args.splice(0..0, ["--log-teamcity".to_owned(), file]);
}

/// Replaces the log by the reports that are made of it.
pub(super) fn report(reports: &TestReports, exit_code: Option<i32>) {
    let Ok(log) = std::fs::read_to_string(reports.path()) else { return };
    let mut parsed = parse(&log);
    let results = parsed.iter_mut().filter_map(|report| match report {
        TestReport::Result(result) => Some(result),
        _ => None,
    });
    let mut results: Vec<&mut TestResult> = results.collect();
    pass_risky(&mut results, exit_code == Some(0));
    results.into_iter().for_each(add_line);
    reports.write(&parsed);
}

/// The log calls a risky test a failed one. It is one only where nothing else makes the run fail.
fn pass_risky(results: &mut [&mut TestResult], is_success: bool) {
    let is_risky = |result: &TestResult| {
        let text = result.message.as_deref().unwrap_or_default();
        result.exception.is_none() && RISKY.iter().any(|start| text.starts_with(start))
    };
    let mut failed = results.iter().filter(|result| result.outcome.is_failure());
    if !is_success && failed.all(|result| is_risky(result)) {
        return;
    }
    for result in results.iter_mut().filter(|result| result.outcome.is_failure() && is_risky(result)) {
        let TestResult { id, file, .. } = std::mem::take(*result);
        **result = TestResult { id, file, outcome: TestOutcome::Passed, ..TestResult::default() };
    }
}

/// How messages about risky tests begin, in PHPUnit 9 to 12.
const RISKY: [&str; 13] = [
    "This test did not perform any assertions",
    "This test is annotated with \"@doesNotPerformAssertions\" but performed",
    "This test is not expected to perform assertions but performed",
    "This test printed output: ",
    "Test code or tested code printed unexpected output",
    "Test code or tested code did not",
    "Test code or tested code closed output buffers",
    "Test code or tested code removed error handlers",
    "Test code or tested code removed exception handlers",
    "This test executed code that is not listed as code to be covered",
    "This test does not have a @covers annotation",
    "This test does not define a code coverage target",
    "Test method is annotated with @todo",
];

/// What fails when a test is over, such as an exception that was expected, is in no line of it: its first one is given.
fn add_line(result: &mut TestResult) {
    if result.message.is_none() || result.line.is_some() {
        return;
    }
    let text = result.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
    let name = result.id.rsplit("::").next().and_then(|name| name.split(' ').next());
    if let (Some(text), Some(name)) = (text, name) {
        let head = format!("function {name}(");
        result.line = (1..).zip(text.lines()).find(|(_, line)| line.contains(&head)).map(|(at, _)| at);
    }
}

fn parse(log: &str) -> Vec<TestReport> {
    let mut reports = Vec::new();
    let mut current = begun("");
    for message in log.lines().filter_map(Message::read) {
        match message.name {
            "testCount" => {
                let count = message.value("count").and_then(|count| count.parse::<u64>().ok());
                reports.push(TestReport::collected(count.unwrap_or_default()));
            }
            "testStarted" => {
                let place = message.value("locationHint").unwrap_or_default();
                current = begun(place.strip_prefix("php_qn://").unwrap_or(&place));
                reports.push(TestReport::begins(&current.id));
            }
            "testFailed" => current = failure(&message, current),
            "testIgnored" => {
                current.outcome = TestOutcome::Skipped;
                current.message = message.value("message");
            }
            "testFinished" => reports.push(TestReport::Result(current.clone())),
            _ => {}
        }
    }
    reports
}

/// The test at a place, `FILE::\CLASS::METHOD`, which passes unless the log says otherwise.
fn begun(place: &str) -> TestResult {
    let (file, id) = place.split_once("::\\").unwrap_or(("", place));
    let (id, file) = (id.to_owned(), Some(file.into()));
    TestResult { id, file, outcome: TestOutcome::Passed, ..TestResult::default() }
}

/// An exception that is not a failed assertion is written as `TYPE : MESSAGE`.
fn failure(message: &Message<'_>, test: TestResult) -> TestResult {
    let text = message.value("message").unwrap_or_default();
    let details = message.value("details").unwrap_or_default();
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "_\\".contains(letter))
    };
    let (exception, text) = match text.split_once(" : ") {
        Some((name, rest)) if is_name(name) => (Some(name.to_owned()), rest.to_owned()),
        _ => (None, text),
    };
    // What does not compile is in a file without a frame: its place is part of the message, as the debugger has it.
    let refused = details.lines().next().and_then(|line| line.trim().rsplit_once(':'));
    let text = match refused {
        Some((file, line)) if exception.as_deref() == Some("ParseError") => {
            format!("{text} in {file} on line {line}")
        }
        _ => text,
    };
    let here = format!("{}:", test.file.clone().unwrap_or_default().display());
    // An exception that was not the expected one has its place in the message.
    let mut lines = details.lines().chain(text.lines());
    let line = lines.find_map(|line| line.trim().strip_prefix(&here)?.parse::<u32>().ok());
    let outcome = if exception.is_some() { TestOutcome::Error } else { TestOutcome::Failed };
    TestResult { outcome, exception, message: Some(text), details: Some(details), line, ..test }
}

/// `##teamcity[NAME KEY='VALUE' …]`.
struct Message<'a> {
    name: &'a str,
    rest: &'a str,
}

impl<'a> Message<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let inside = line.trim().strip_prefix("##teamcity[")?.strip_suffix(']')?;
        let (name, rest) = inside.split_once(' ')?;
        Some(Self { name, rest })
    }

    fn value(&self, key: &str) -> Option<String> {
        let (_, value) = self.rest.split_once(&format!("{key}='"))?;
        let mut text = String::new();
        let mut letters = value.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\'' => return Some(text),
                '|' => text.push(match letters.next()? {
                    'n' => '\n',
                    'r' => '\r',
                    other => other,
                }),
                other => text.push(other),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
##teamcity[testCount count='2' flowId='1']
##teamcity[testStarted name='testAdds' locationHint='php_qn:///t/CartTest.php::\\CartTest::testAdds' flowId='1']
##teamcity[testFailed name='testAdds' message='it|'s |[3|]' details=' /t/CartTest.php:8|n ' duration='3' flowId='1']
##teamcity[testFinished name='testAdds' duration='3' flowId='1']
##teamcity[testStarted name='testThrows' locationHint='php_qn:///t/CartTest.php::\\CartTest::testThrows' flowId='1']
##teamcity[testFailed name='testThrows' message='RuntimeException : no at|n/t/CartTest.php:12|n.' details='' duration='3' flowId='1']
##teamcity[testFinished name='testThrows' duration='3' flowId='1']
##teamcity[testStarted name='testLoads' locationHint='php_qn:///t/CartTest.php::\\CartTest::testLoads' flowId='1']
##teamcity[testFailed name='testLoads' message='ParseError : syntax error' details=' /s/Cart.php:3|n /t/CartTest.php:16|n ' duration='3' flowId='1']
##teamcity[testFinished name='testLoads' duration='3' flowId='1']
";

    #[test]
    fn a_log_becomes_reports() {
        let found = parse(LOG);
        assert_eq!(found[..2], [TestReport::collected(2), TestReport::begins("CartTest::testAdds")]);
        let results: Vec<_> = found.iter().filter_map(TestReport::result).collect();
        let said = |at: usize| (results[at].message.as_deref().unwrap(), results[at].line);
        assert_eq!(said(0), ("it's [3]", Some(8)));
        assert_eq!(results[1].outcome, TestOutcome::Error);
        assert_eq!(results[1].exception.as_deref(), Some("RuntimeException"));
        assert_eq!(said(1), ("no at\n/t/CartTest.php:12\n.", Some(12)));
        assert_eq!(said(2), ("syntax error in /s/Cart.php on line 3", Some(16)));
    }
}
