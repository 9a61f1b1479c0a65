//! What is particular to PHPUnit. It writes a log of its tests in the form of TeamCity's service messages, of which the
//! reports are made.

use engine::model::launch::{Launch, Program};
use engine::test_reports::TestReports;
use serde_json::{Value, json};

use super::Runner;
use crate::ops::command::Command;

/// PHPUnit, by the name of its script.
pub(super) fn runner(command: &Command) -> Option<Runner> {
    let Program::Script(path) = &command.launch.program else { return None };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    (command.adapter.name() == "php" && name.starts_with("phpunit")).then_some(Runner::Phpunit)
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
    pass_risky(&mut parsed, exit_code == Some(0));
    parsed.iter_mut().for_each(add_line);
    let lines: Vec<String> = parsed.iter().map(Value::to_string).collect();
    // A folder for temporary files that is full says nothing of the tests: the output does.
    let _ = std::fs::write(reports.path(), lines.join("\n") + "\n");
}

/// The log calls a risky test a failed one. It is one only where nothing else makes the run fail.
fn pass_risky(reports: &mut [Value], is_success: bool) {
    let is_failure = |report: &Value| report["outcome"] == "failed" || report["outcome"] == "error";
    let is_risky = |report: &Value| {
        let text = report["message"].as_str().unwrap_or_default();
        report["exception"].is_null() && RISKY.iter().any(|start| text.starts_with(start))
    };
    let fails_by_others = reports.iter().any(|report| is_failure(report) && !is_risky(report));
    if !is_success && !fails_by_others {
        return;
    }
    for report in reports.iter_mut().filter(|report| is_failure(report) && is_risky(report)) {
        *report =
            json!({ "kind": "result", "id": report["id"], "file": report["file"], "outcome": "passed" });
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
fn add_line(report: &mut Value) {
    if report["message"].is_null() || !report["line"].is_null() {
        return;
    }
    let text = report["file"].as_str().and_then(|file| std::fs::read_to_string(file).ok());
    let name = report["id"].as_str().and_then(|id| id.rsplit("::").next()?.split(' ').next());
    if let (Some(text), Some(name)) = (text, name) {
        let head = format!("function {name}(");
        report["line"] =
            json!((1_u32..).zip(text.lines()).find(|(_, line)| line.contains(&head)).map(|(at, _)| at));
    }
}

fn parse(log: &str) -> Vec<Value> {
    let mut reports = Vec::new();
    let mut current = (String::new(), String::new());
    let mut outcome = json!({ "outcome": "passed" });
    for message in log.lines().filter_map(Message::read) {
        match message.name {
            "testCount" => {
                let count = message.value("count").and_then(|count| count.parse::<u64>().ok());
                reports.push(json!({ "kind": "collected", "count": count.unwrap_or_default() }));
            }
            "testStarted" => {
                let place = message.value("locationHint").unwrap_or_default();
                let place = place.strip_prefix("php_qn://").unwrap_or(&place);
                let (file, test) = place.split_once("::\\").unwrap_or(("", place));
                current = (file.to_owned(), test.to_owned());
                outcome = json!({ "outcome": "passed" });
                reports.push(json!({ "kind": "begins", "test": current.1 }));
            }
            "testFailed" => outcome = failure(&message, &current.0),
            "testIgnored" => outcome = json!({ "outcome": "skipped", "message": message.value("message") }),
            "testFinished" => {
                let mut result = json!({ "kind": "result", "id": current.1, "file": current.0 });
                if let (Some(result), Some(outcome)) = (result.as_object_mut(), outcome.as_object()) {
                    result.extend(outcome.clone());
                }
                reports.push(result);
            }
            _ => {}
        }
    }
    reports
}

/// An exception that is not a failed assertion is written as `TYPE : MESSAGE`.
fn failure(message: &Message<'_>, file: &str) -> Value {
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
    let here = format!("{file}:");
    // An exception that was not the expected one has its place in the message.
    let mut lines = details.lines().chain(text.lines());
    let line = lines.find_map(|line| line.trim().strip_prefix(&here)?.parse::<u32>().ok());
    json!({
        "outcome": if exception.is_some() { "error" } else { "failed" },
        "exception": exception, "message": text, "details": details, "line": line,
    })
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
        assert_eq!(found[0], json!({ "kind": "collected", "count": 2 }));
        assert_eq!(found[1], json!({ "kind": "begins", "test": "CartTest::testAdds" }));
        assert_eq!((&found[2]["message"], &found[2]["line"]), (&json!("it's [3]"), &json!(8)));
        assert_eq!(
            (&found[4]["outcome"], &found[4]["exception"]),
            (&json!("error"), &json!("RuntimeException"))
        );
        assert_eq!(
            (&found[4]["message"], &found[4]["line"]),
            (&json!("no at\n/t/CartTest.php:12\n."), &json!(12))
        );
        assert_eq!(
            (&found[6]["message"], &found[6]["line"]),
            (&json!("syntax error in /s/Cart.php on line 3"), &json!(16))
        );
    }
}
