//! The report of tests that were run.

use engine::model::limits::Limits;
use engine::model::source::Location;
use engine::model::stop::End;
use engine::model::thrown::{Assertion, Side};
use engine::snapshot::Caller;
use engine::test_reports::{Captured, LoadProblem, TestPhase, TestResult};
use schemars::JsonSchema;
use serde::Serialize;

use super::report::ExceptionData;
use super::{CallerData, HangReport, output_text, window};
use crate::ops::test::{Counts, Failure, Hang, Tested, Throw, Verdict};

/// What running tests came to.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestData {
    /// `failed`, `passed`, `error` (tests could not be loaded), `no_tests` or `hung`.
    pub verdict: String,
    /// The same in a sentence.
    pub message: String,
    /// The runner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// The exit code of the runner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How many tests went how.
    pub tests: CountsData,
    /// The first test that failed, in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureData>,
    /// The others that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_failures: Vec<BriefData>,
    /// Files of tests that could not be loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<BriefData>,
    /// What was thrown while the first of these was loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<FailureData>,
    /// Names that stand for no test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Tests that there are, the most similar first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub similar: Vec<String>,
    /// Where the program was when the time was up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hang: Option<HangData>,
    /// What the runner has kept of the output of tests that did not fail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub captured: Vec<CapturedData>,
    /// The end of what the runner, and whatever it has let through, wrote.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// How many bytes before `output` are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_skipped: Option<u64>,
    /// What else needs saying.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How many tests went how.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CountsData {
    /// All that came to a result.
    pub run: u64,
    /// Passed.
    pub passed: u64,
    /// Failed, or had an error before or after them.
    pub failed: u64,
    /// Were skipped.
    pub skipped: u64,
    /// Failed as they were expected to.
    pub expected_failures: u64,
}

/// A failure with all that there is to it.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureData {
    /// The test, by the name with which its runner runs it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// `setup`, `call` (the test itself) or `teardown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The message.
    pub message: String,
    /// What was thrown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<ExceptionData>,
    /// What was asserted, with the values on both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assertion: Option<AssertionData>,
    /// Where it was thrown: absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The lines around that place, `>` at the line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The frames of the user's code as they were at the throw, innermost first, each with its variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<CallerData>,
    /// The whole stack at the throw, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// What the runner says of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
    /// What the test wrote, as far as the runner has kept it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub captured: Vec<CapturedData>,
    /// What could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A failure in a few words.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BriefData {
    /// The test, or the file.
    pub name: String,
    /// The type of what was thrown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// The message.
    pub message: String,
    /// Where it was thrown, or else where the test is: absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// What was asserted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AssertionData {
    /// As the source has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// How the two sides are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// What was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<SideData>,
    /// What it was compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<SideData>,
}

/// One side of an assertion.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SideData {
    /// As the source has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// Its value; left out where it could not be known without running the program's code again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The type of the value.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// The value is not all of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Where a program was that did not end in time.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HangData {
    /// The test that it was in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Why it does not end.
    #[serde(flatten)]
    pub diagnosis: HangReport,
}

/// Output that a runner has kept.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CapturedData {
    /// `stdout`, `stderr`, `log`.
    pub name: String,
    /// The output, cut to its end.
    pub text: String,
}

impl TestData {
    /// The report. Captured output and what the runner says is cut to the limit for output.
    pub fn new(tested: Tested, limits: Limits) -> Self {
        let message = message(&tested);
        let Tested { verdict, runner, end, counts, failure, others, problems, .. } = tested;
        Self {
            verdict: verdict.as_str().to_owned(),
            message,
            runner: runner.map(|runner| runner.name().to_owned()),
            exit_code: end.and_then(|end| end.exit_code()),
            tests: CountsData::from(counts),
            failure: failure.map(|failure| FailureData::new(failure, limits)),
            other_failures: others.iter().map(BriefData::of).collect(),
            problems: problems.iter().map(BriefData::from).collect(),
            problem: tested
                .problem_throw
                .map(|throw| FailureData::new(Failure { result: None, throw: Some(throw) }, limits)),
            missing: tested.missing,
            similar: tested.similar,
            hang: tested.hang.map(HangData::from),
            captured: captured(tested.captured, limits),
            output: output_text(&tested.output),
            output_skipped: Some(tested.output.skipped).filter(|skipped| *skipped > 0),
            notes: tested.notes,
        }
    }
}

fn message(tested: &Tested) -> String {
    let Counts { run, passed, failed, .. } = tested.counts;
    let of = |count: u64| if count == 1 { "1 test".to_owned() } else { format!("{count} tests") };
    let first = tested.failure.as_ref().and_then(|failure| failure.result.as_ref());
    let first = first.map(|result| format!(": {}", result.id)).unwrap_or_default();
    match tested.verdict {
        Verdict::Failed if tested.is_kept => {
            format!("failed (still running){first}; the program is stopped where it was thrown")
        }
        Verdict::Failed if run == 0 => format!("failed{first}; the program {}", ended(tested)),
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
            None => format!("no test failed, and yet the program {}: see its output", ended(tested)),
        },
        Verdict::NoTests => match tested.missing.first() {
            Some(name) => format!("`{name}` stands for no test"),
            None => "no test was run".to_owned(),
        },
        Verdict::Hung => {
            let test = tested.hang.as_ref().and_then(|hang| hang.test.as_ref());
            let inside = test.map(|test| format!(" in {test}")).unwrap_or_default();
            let why =
                tested.hang.as_ref().map(|hang| format!(". {}", hang.diagnosis.message)).unwrap_or_default();
            format!("still running{inside} when the time was up{why}")
        }
    }
}

fn ended(tested: &Tested) -> String {
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

/// The end of a text, of at most so many bytes.
fn tail(text: &str, bytes: usize) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(bytes));
    text.get(from..).unwrap_or_default().to_owned()
}

impl FailureData {
    fn new(Failure { result, throw }: Failure, limits: Limits) -> Self {
        let result = result.unwrap_or_default();
        let TestResult { id, file, line, phase, message, details, captured: kept, .. } = result;
        let mut data = throw.map(|throw| Self::thrown(*throw)).unwrap_or_default();
        // What the runner says of a throw is a part of what is known of it.
        if let Some(message) = message {
            data.message = message;
        }
        let asserted = data.assertion.as_ref().and_then(|assertion| assertion.expression.as_ref());
        if let (true, Some(asserted)) = (data.message.is_empty(), asserted) {
            data.message = format!("`{asserted}` does not hold");
        }
        data.phase = (!id.is_empty()).then(|| phase_name(phase).to_owned());
        data.test = Some(id).filter(|id| !id.is_empty());
        data.details = details.map(|details| tail(&details, limits.output));
        data.captured = captured(kept, limits);
        if data.file.is_none() {
            data.file = file.map(|file| file.display().to_string());
            data.line = line;
        }
        data
    }

    fn thrown(throw: Throw) -> Self {
        let Throw { snapshot, callers, stack, thrown, .. } = throw;
        let frame = snapshot.frames.first().cloned();
        let location = frame.as_ref().and_then(|frame| frame.location.clone());
        let innermost = frame.clone().map(|frame| {
            let locals = snapshot.locals.map(|(_, children)| children);
            CallerData::from(&Caller { frame, locals: locals.ok_or_else(|| "could not be read".to_owned()) })
        });
        let stack = match thrown.stack.as_slice() {
            [] => stack.iter().map(|frame| place(&frame.name, frame.location.as_ref())).collect(),
            whole => whole.iter().map(|frame| place(&frame.function, frame.location.as_ref())).collect(),
        };
        Self {
            message: snapshot.exception.as_ref().map(|thrown| thrown.message.clone()).unwrap_or_default(),
            exception: snapshot.exception.map(ExceptionData::from),
            assertion: thrown.assertion.map(AssertionData::from),
            file: location.as_ref().map(|location| location.source.name.clone()),
            line: location.as_ref().map(|location| location.line),
            function: frame.map(|frame| frame.name),
            source: window(&snapshot.source, location.map_or(0, |location| location.line)),
            frames: innermost.into_iter().chain(callers.iter().map(CallerData::from)).collect(),
            stack,
            notes: snapshot.notes,
            ..Self::default()
        }
    }
}

fn place(function: &str, location: Option<&Location>) -> String {
    match location {
        Some(location) => format!("{function} {}:{}", location.source.name, location.line),
        None => function.to_owned(),
    }
}

fn phase_name(phase: TestPhase) -> &'static str {
    match phase {
        TestPhase::Setup => "setup",
        TestPhase::Call => "call",
        TestPhase::Teardown => "teardown",
    }
}

impl BriefData {
    fn of(failure: &Failure) -> Self {
        let result = failure.result.clone().unwrap_or_default();
        let location = failure.throw.as_ref().and_then(|throw| throw.snapshot.frame()?.location.clone());
        let (file, line) = match location {
            Some(location) => (Some(location.source.name), Some(location.line)),
            None => (result.file.map(|file| file.display().to_string()), result.line),
        };
        let message = result.message.unwrap_or_default();
        Self { name: result.id, exception: result.exception, message, file, line }
    }
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
    fn from(Counts { run, passed, failed, skipped, expected_failures }: Counts) -> Self {
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

impl From<Hang> for HangData {
    fn from(Hang { test, diagnosis }: Hang) -> Self {
        Self { test, diagnosis: HangReport::new(*diagnosis) }
    }
}
