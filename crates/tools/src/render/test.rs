//! The report of tests that were run.

use engine::model::limits::Limits;
use engine::model::stop::End;
use engine::model::thrown::{Assertion, Side};
use engine::snapshot::Caller;
use engine::test_reports::{Captured, LoadProblem, TestPhase, TestResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use journal::visible::uncoloured;

use super::report::ExceptionData;
use super::traces::{compact, news};
use super::{CallerData, HangReport, output_text, window};
use crate::ops::test::{Counts, Failure, TestHang, TestRunResult, Throw, Verdict};
use crate::truncate::shortened;

/// The most characters of a message in a line.
const BRIEF: usize = 200;

/// What running tests came to.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestData {
    /// `failed`, `passed`, `error` (tests could not be loaded), `no_tests`, `timeout` (tests were still ending) or `hung`.
    pub verdict: String,
    /// Summary in a sentence.
    pub message: String,
    /// The runner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// Exit code of the runner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Number of tests by outcome.
    pub tests: CountsData,
    /// The first failed test, in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureData>,
    /// Further failures in full, as many as requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_failures: Vec<FailureData>,
    /// Remaining failures, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_failures: Vec<BriefData>,
    /// Test files that could not be loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<BriefData>,
    /// Exception thrown while loading the first of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<FailureData>,
    /// Names that match no test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Existing tests, most similar first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub similar: Vec<String>,
    /// Where the program was at the timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hang: Option<HangData>,
    /// Captured output of tests that did not fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub captured: Vec<CapturedData>,
    /// End of the output of the runner and of uncaptured tests.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Number of omitted bytes before `output`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_skipped: Option<u64>,
    /// Additional notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
/// Number of tests by outcome.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CountsData {
    /// All tests with a result.
    pub run: u64,
    /// Passed.
    pub passed: u64,
    /// Failed, including in set-up or teardown.
    pub failed: u64,
    /// Skipped.
    pub skipped: u64,
    /// Expected failures.
    pub expected_failures: u64,
}

/// A failure with all that there is to it.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureData {
    /// Name that makes the runner run this test alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// `setup`, `call` (the test itself), `teardown` or `unhandled` (an error during or after it that no test caught).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The message.
    pub message: String,
    /// The thrown exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<ExceptionData>,
    /// The assertion, with the values of both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertion: Option<AssertionData>,
    /// File of the throw: absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Source around the location, with `>` at the line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// User frames at the throw, innermost first, with their variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<CallerData>,
    /// Stack at the throw, innermost first: user frames, and the number of others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// Additional text from the runner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// Output of the test that the runner captured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub captured: Vec<CapturedData>,
    /// Data that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A failure in a few words.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BriefData {
    /// The test, after `during or after` for an error that no test caught; or the file.
    pub name: String,
    /// Type of the thrown exception.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// The message.
    pub message: String,
    /// File of the throw, or else of the test: absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// What was asserted.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AssertionData {
    /// Source text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// Comparison operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// The actual side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<SideData>,
    /// The expected side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<SideData>,
}

/// One side of an assertion.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SideData {
    /// Source text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// Value; absent if reading it would run code of the program again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Type of the value.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// The value is truncated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Where a program was that did not end in time.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct HangData {
    /// Running test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Why it does not end.
    #[serde(flatten)]
    pub diagnosis: HangReport,
}

/// Output that a runner has kept.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CapturedData {
    /// `stdout`, `stderr`, `log`.
    pub name: String,
    /// End of the output.
    pub text: String,
}

/// How much of a test run is shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// How much of each failure.
    pub limits: Limits,
    /// How many failures in full.
    pub failures: usize,
    /// The runner's own report of the failures too, which has nothing that is not said elsewhere.
    pub whole_output: bool,
}

impl Shown {
    /// One failure, and no output that repeats it.
    pub fn usual(limits: Limits) -> Self {
        Self { limits, failures: 1, whole_output: false }
    }
}

impl TestData {
    /// The report. Captured output and what the runner says is cut to the limit for output.
    pub fn new(tested: TestRunResult, shown: Shown) -> Self {
        let message = message(&tested);
        let limits = shown.limits;
        let is_said = tested.failure.is_some() && !shown.whole_output;
        let output = if is_said { without_report(&tested) } else { output_text(&tested.output) };
        let skipped = if is_said { 0 } else { tested.output.skipped };
        let TestRunResult { verdict, runner, end, counts, failure, mut others, problems, is_kept, .. } =
            tested;
        let in_full = |failure| {
            let data = FailureData::new(failure, limits);
            if is_kept { data } else { data.detached() }
        };
        let rest = others.split_off(others.len().min(shown.failures.saturating_sub(1)));
        let problem = tested.problem_throw.map(|throw| Failure { result: None, throw: Some(throw) });
        Self {
            verdict: verdict.as_str().to_owned(),
            message,
            runner: runner.map(|runner| runner.name().to_owned()),
            exit_code: end.and_then(|end| end.exit_code()),
            tests: CountsData::from(counts),
            failure: failure.map(in_full),
            more_failures: others.into_iter().map(in_full).collect(),
            other_failures: rest.iter().map(BriefData::of).collect(),
            problems: problems.iter().map(BriefData::from).collect(),
            problem: problem.map(in_full),
            missing: tested.missing,
            similar: tested.similar,
            hang: tested.hang.map(HangData::from),
            captured: captured(tested.captured, limits),
            output: tail(&output, limits.output),
            output_skipped: Some(skipped).filter(|skipped| *skipped > 0),
            notes: tested.notes,
        }
    }
}

/// The output before the runner's report of the failures, which is at the end of each stream: failures are
/// reported one by one.
fn without_report(tested: &TestRunResult) -> String {
    let mut output = tested.output.clone();
    let mut ended = Vec::new();
    output.pieces.retain_mut(|piece| {
        if ended.contains(&piece.category) {
            return false;
        }
        if let Some(at) = report_start(&piece.text) {
            piece.text.truncate(at);
            ended.push(piece.category);
        }
        !piece.text.trim().is_empty()
    });
    output_text(&output)
}

/// Where a runner begins to report failures.
fn report_start(text: &str) -> Option<usize> {
    let mut at = 0;
    text.split_inclusive('\n').find_map(|line| {
        let start = at;
        at += line.len();
        is_report_head(uncoloured(line).trim()).then_some(start)
    })
}

fn is_report_head(line: &str) -> bool {
    let words = line.trim_matches(['=', '⎯', '─', ' ', '●', '✖']);
    let is_framed = words.len() < line.len();
    let counts = || {
        line.split_once(' ').is_some_and(|(count, word)| count.parse::<u32>().is_ok() && word == "failing")
    };
    // What a test harness writes from its first test on is its report.
    matches!(line, "failures:" | "[----------] Global test environment tear-down")
        || is_framed
            && (matches!(words, "FAILURES" | "ERRORS" | "failing tests:")
                || words.starts_with("Failed Tests"))
        || line.starts_with("● ")
        || line.len() > 60 && line.chars().all(|mark| mark == '=')
        || counts()
}

fn message(tested: &TestRunResult) -> String {
    let Counts { run, passed, failed, unhandled, .. } = tested.counts;
    let of = |count: u64| if count == 1 { "1 test".to_owned() } else { format!("{count} tests") };
    let id = tested.failure.as_ref().and_then(|failure| failure.result.as_ref()).map(|result| &result.id);
    let first = id.map(|id| format!(": {id}")).unwrap_or_default();
    match tested.verdict {
        Verdict::Failed if tested.is_kept => {
            format!("failed (still running){first}; the program is stopped at the throw")
        }
        Verdict::Failed if failed == 0 && unhandled > 0 => {
            let test = id.filter(|id| !id.is_empty());
            let first = if unhandled == 1 { "it" } else { "the first" };
            let test = test.map(|id| format!("; {first} came during or after {id}")).unwrap_or_default();
            format!("no test failed, but {}{test}", uncaught(unhandled))
        }
        Verdict::Failed if run == 0 => format!("failed{first}; the program {}", ended(tested)),
        Verdict::Failed if unhandled > 0 => {
            format!("{failed} of {} failed{first}; {}", of(run), uncaught(unhandled))
        }
        Verdict::Failed => format!("{failed} of {} failed{first}", of(run)),
        Verdict::Passed if run == 0 => {
            format!("the program {}; no test runner reported anything", ended(tested))
        }
        Verdict::Passed if passed == run => format!("{} passed", of(run)),
        Verdict::Passed => format!("{} passed, none failed, of {}", passed, of(run)),
        Verdict::Error => match tested.problems.first() {
            Some(problem) => format!("`{}` could not be loaded: {}", problem.name, problem.message),
            None if tested.problem_throw.is_some() => {
                format!("the tests could not be loaded; the program {}", ended(tested))
            }
            None if run == 0 => {
                format!("no test runner reported anything, and the program {}: see its output", ended(tested))
            }
            None => format!("no test failed, but the program {}: see its output", ended(tested)),
        },
        Verdict::NoTests => match tested.missing.first() {
            Some(name) => format!("`{name}` matches no test"),
            None => "no test was run".to_owned(),
        },
        Verdict::TimedOut | Verdict::Hung => {
            let test = tested.hang.as_ref().and_then(|hang| hang.test.as_ref());
            let inside = test.map(|test| format!(" in {test}")).unwrap_or_default();
            let why = match &tested.hang {
                _ if tested.verdict == Verdict::TimedOut => {
                    "; tests were still ending: pass a longer `timeout`, or run fewer tests".to_owned()
                }
                Some(hang) => format!(". {}", hang.diagnosis.message),
                None => String::new(),
            };
            let before =
                if run > 0 { format!("{failed} of {} failed{first}; ", of(run)) } else { String::new() };
            format!("{before}still running{inside} at the timeout{why}")
        }
    }
}

fn uncaught(errors: u64) -> String {
    match errors {
        1 => "1 error was not caught".to_owned(),
        errors => format!("{errors} errors were not caught"),
    }
}

fn ended(tested: &TestRunResult) -> String {
    tested.end.as_deref().map(End::to_string).unwrap_or_default()
}

fn captured(captured: Vec<Captured>, limits: Limits) -> Vec<CapturedData> {
    let mut left = limits.output;
    let mut shown = Vec::new();
    for Captured { name, text } in captured {
        let text = tail(&text, left);
        left = left.saturating_sub(text.len());
        if !text.is_empty() {
            shown.push(CapturedData { name, text });
        }
    }
    shown
}

/// The end of a text, of at most this many bytes.
fn tail(text: &str, bytes: usize) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    text.get(from..).unwrap_or_default().to_owned()
}

impl FailureData {
    fn new(Failure { result, throw }: Failure, limits: Limits) -> Self {
        let result = result.unwrap_or_default();
        let TestResult { id, file, line, phase, message, details, captured: kept, .. } = result;
        let mut data = throw.map(|throw| Self::thrown(*throw, limits)).unwrap_or_default();
        // What the runner says of a throw is a part of what is known of it.
        if let Some(message) = message {
            data.message = message;
        }
        let asserted = data.assertion.as_ref().and_then(|assertion| assertion.expression.as_ref());
        if let (true, Some(asserted)) = (data.message.is_empty(), asserted) {
            data.message = format!("`{asserted}` is false");
        }
        data.phase = (!id.is_empty() || phase == TestPhase::Unhandled).then(|| phase_name(phase).to_owned());
        data.test = Some(id).filter(|id| !id.is_empty());
        data.details =
            details.and_then(|details| data.beyond(&details)).map(|text| tail(&text, limits.output));
        data.say_once();
        data.captured = captured(kept, limits);
        if data.file.is_none() {
            data.file = file.map(|file| file.display().to_string());
            data.line = line;
        }
        data
    }

    /// What a text says beyond the rest; all of it where there is no rest.
    fn beyond(&self, text: &str) -> Option<String> {
        if self.exception.is_none() {
            return Some(text.to_owned());
        }
        let thrown = self.exception.as_ref().and_then(|exception| exception.message.as_deref());
        let news = news(text, &[&self.source, &self.message, thrown.unwrap_or_default()]);
        Some(news).filter(|news| !news.is_empty())
    }

    /// Leaves out what the exception repeats.
    fn say_once(&mut self) {
        let stack = self.exception.as_ref().and_then(|exception| self.beyond(&exception.stack));
        if let Some(exception) = &mut self.exception {
            if stack.is_none() {
                exception.stack = String::new();
            }
            if exception.message.as_ref() == Some(&self.message) {
                exception.message = None;
            }
        }
    }

    /// Without references, which nothing can be asked for once the program has ended.
    fn detached(mut self) -> Self {
        self.frames.iter_mut().for_each(CallerData::detach);
        self
    }

    fn thrown(throw: Throw, limits: Limits) -> Self {
        let Throw { snapshot, callers, stack, thrown, .. } = throw;
        let frame = snapshot.frames.first().cloned();
        let location = frame.as_ref().and_then(|frame| frame.location.clone());
        let innermost = frame.clone().map(|frame| {
            let locals = snapshot.locals.map(|(_, children)| children);
            CallerData::from(&Caller { frame, locals: locals.ok_or_else(|| "could not be read".to_owned()) })
        });
        let stack = match thrown.stack.as_slice() {
            [] => {
                let frames = stack.iter().map(|frame| (frame.name.as_str(), frame.location.as_ref()));
                compact(frames, limits.frames)
            }
            whole => {
                let frames = whole.iter().map(|frame| (frame.function.as_str(), frame.location.as_ref()));
                compact(frames, limits.frames)
            }
        };
        let mut notes = snapshot.notes;
        if thrown.assertion.as_ref().is_some_and(looks_true) {
            notes.push(
                "both sides look the same: they differ in something that their text does not show, or are distinct objects"
                    .to_owned(),
            );
        }
        Self {
            message: snapshot.exception.as_ref().map(|thrown| thrown.message.clone()).unwrap_or_default(),
            exception: snapshot.exception.map(|exception| ExceptionData::new(exception, limits.frames)),
            assertion: thrown.assertion.map(AssertionData::from),
            file: location.as_ref().map(|location| location.source.name.clone()),
            line: location.as_ref().map(|location| location.line),
            function: frame.map(|frame| frame.name),
            source: window(&snapshot.source, location.map_or(0, |location| location.line)),
            frames: innermost.into_iter().chain(callers.iter().map(CallerData::from)).collect(),
            stack,
            notes,
            ..Self::default()
        }
    }
}

/// Whether a failed comparison reads as one that holds.
fn looks_true(assertion: &Assertion) -> bool {
    let value = |side: &Option<Side>| side.as_ref().and_then(|side| side.value.clone());
    let (left, right) = (value(&assertion.left), value(&assertion.right));
    matches!(assertion.operator.as_deref(), Some("==" | "===")) && left.is_some() && left == right
}

fn phase_name(phase: TestPhase) -> &'static str {
    match phase {
        TestPhase::Setup => "setup",
        TestPhase::Call => "call",
        TestPhase::Teardown => "teardown",
        TestPhase::Unhandled => "unhandled",
    }
}

impl BriefData {
    fn of(failure: &Failure) -> Self {
        let result = failure.result.clone().unwrap_or_default();
        let thrown = failure.throw.as_ref().map(|throw| &throw.snapshot);
        let location = thrown.and_then(|thrown| thrown.frame()?.location.clone());
        let said = || Some(thrown?.exception.as_ref()?.message.clone());
        let (file, line) = match location {
            Some(location) => (Some(location.source.name), Some(location.line)),
            None => (result.file.map(|file| file.display().to_string()), result.line),
        };
        let message = brief(&result.message.or_else(said).unwrap_or_default());
        let name = match result.phase {
            TestPhase::Unhandled if result.id.is_empty() => "no test".to_owned(),
            TestPhase::Unhandled => format!("during or after {}", result.id),
            _ => result.id,
        };
        Self { name, exception: result.exception, message, file, line }
    }
}

/// A message in one line, cut.
fn brief(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    shortened(&line, BRIEF).into_owned()
}

impl From<&LoadProblem> for BriefData {
    fn from(problem: &LoadProblem) -> Self {
        Self {
            name: problem.name.clone(),
            exception: problem.exception.clone(),
            message: problem.message.clone(),
            file: problem.file.as_ref().map(|file| file.display().to_string()),
            line: problem.line,
        }
    }
}

impl From<Counts> for CountsData {
    fn from(Counts { run, passed, failed, skipped, expected_failures, .. }: Counts) -> Self {
        Self { run, passed, failed, skipped, expected_failures }
    }
}

impl From<Assertion> for AssertionData {
    fn from(Assertion { expression, operator, left, right }: Assertion) -> Self {
        Self { expression, operator, left: left.map(SideData::from), right: right.map(SideData::from) }
    }
}

impl From<Side> for SideData {
    fn from(Side { expression, value }: Side) -> Self {
        let value = value.unwrap_or_default();
        Self {
            expression,
            truncated: value.cut,
            type_name: Some(value.type_name).filter(|name| !name.is_empty()),
            value: Some(value.text).filter(|text| !text.is_empty()),
        }
    }
}

impl From<TestHang> for HangData {
    fn from(TestHang { test, diagnosis }: TestHang) -> Self {
        Self { test, diagnosis: HangReport::new(*diagnosis) }
    }
}
