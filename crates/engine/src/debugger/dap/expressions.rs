//! Expressions that an adapter gets wrong, and that a command of its debugger evaluates instead.

use std::path::PathBuf;

use serde::Deserialize;

use super::{DapDebugger, commands, lock};
use crate::adapter::plan::{Deciding, Quirks};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::ids::RawId;
use crate::model::variable::Value;

/// What the command prints about an expression that it understands.
#[derive(Debug, Deserialize)]
struct Evaluated {
    /// An expression that the adapter can evaluate.
    #[serde(rename = "as")]
    spelled: Option<String>,
    /// That expression runs code of the program.
    #[serde(default)]
    runs: bool,
    error: Option<String>,
    #[serde(flatten)]
    form: Form,
}

/// What surrounds the text and the type of a value, which are at `{}`, and what is noted about it.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Form {
    text: Option<String>,
    kind: Option<String>,
    note: Option<String>,
    /// How many items it has, where the adapter does not report that.
    pub(super) indexed: Option<i64>,
}

impl Form {
    pub(super) fn around(self, value: Value<RawId>) -> Value<RawId> {
        let around = |form: Option<String>, own: String| match form {
            Some(form) => form.replacen("{}", &own, 1),
            None => own,
        };
        Value {
            text: around(self.text, value.text),
            type_name: around(self.kind, value.type_name),
            note: self.note.or(value.note),
            ..value
        }
    }
}

/// Why an expression is not evaluated without side effects.
pub(super) fn runs_code() -> Error {
    let problem = "this expression runs the program's code; evaluate it with side effects allowed";
    Error::Unsupported(problem.to_owned())
}

/// Another expression for the same value, from the command of the debugger, and what surrounds that; no expression if the
/// adapter can evaluate it as it is, or if there is no such command.
///
/// # Errors
///
/// [`Error::Raised`] if the expression has no value, [`Error::Unsupported`] if only code of the program has it and
/// `pure` forbids that.
pub(super) async fn spelled(
    debugger: &DapDebugger,
    frame: RawId,
    expression: &str,
    pure: bool,
) -> Result<(Option<String>, Form)> {
    // About the name of a variable, the command decides nothing.
    if lock(&debugger.0.references).is_variable(frame, expression) {
        return Ok((None, Form::default()));
    }
    let Some(found) = understood(debugger, frame, if pure { "pure " } else { "" }, expression).await else {
        return Ok((None, Form::default()));
    };
    match found.error {
        Some(message) => Err(Error::Raised { type_name: String::new(), message, traceback: String::new() }),
        None if pure && found.runs => Err(runs_code()),
        None => Ok((found.spelled, found.form)),
    }
}

/// What the adapter answers for an expression that it has refused as a whole, when the functions of the program that it
/// calls are called one by one; none if that has run already, or is not understood. An error is about what has run.
pub(super) async fn run<Answer>(
    debugger: &DapDebugger,
    frame: RawId,
    expression: &str,
    answer: &Result<::dap::EvaluateResponse>,
    ask: impl Fn(String) -> Answer,
) -> Option<Result<::dap::EvaluateResponse>>
where
    Answer: Future<Output = Result<::dap::EvaluateResponse>>,
{
    let Err(Error::Refused(message)) = answer else { return None };
    if (debugger.quirks().has_run)(message) {
        return None;
    }
    let found = understood(debugger, frame, "run ", expression).await?;
    match found.error {
        Some(error) => Some(Err(Error::Refused((debugger.quirks().message)(&error)))),
        None => Some(ask(found.spelled?).await),
    }
}

/// What the adapter answers for another spelling of an expression that it has refused, or for its operands one by one;
/// none if there is neither, or none that says more.
pub(super) async fn other<Answer>(
    debugger: &DapDebugger,
    frame: RawId,
    expression: &str,
    answer: &Result<::dap::EvaluateResponse>,
    ask: impl Fn(String) -> Answer,
) -> Option<Result<::dap::EvaluateResponse>>
where
    Answer: Future<Output = Result<::dap::EvaluateResponse>>,
{
    let Err(Error::Refused(message)) = answer else {
        return None;
    };
    let quirks = debugger.quirks();
    let source =
        || lock(&debugger.0.references).places.get(&frame).map(|(path, _)| path.clone()).unwrap_or_default();
    let mut last = None;
    for operands in (quirks.operands)(expression, message) {
        let mut are_true = true;
        for operand in operands {
            let mut answer = ask(operand.clone()).await;
            if let Some(other) = respelled(quirks, source, &operand, &answer, &ask).await {
                answer = other;
            }
            are_true = answer.as_ref().is_ok_and(|value| value.result == "true");
            let is_false = answer.as_ref().is_ok_and(|value| value.result == "false");
            if !are_true && !is_false {
                return Some(answer);
            }
            last = Some(answer);
            if is_false {
                break;
            }
        }
        if are_true {
            return last;
        }
    }
    match last {
        Some(answer) => Some(answer),
        None => respelled(quirks, source, expression, answer, &ask).await,
    }
}

/// An expression whose constants the adapter does not have to round. What runs code is evaluated only once: of what it
/// compares, nothing is known.
pub(super) async fn rounded<Answer>(
    quirks: &Quirks,
    expression: &str,
    ask: impl Fn(String) -> Answer,
) -> String
where
    Answer: Future<Output = Result<::dap::EvaluateResponse>>,
{
    let mut rounded = expression.to_owned();
    for comparison in (quirks.inexact_comparisons)(expression).into_iter().rev() {
        let constant = ask(comparison.constant.clone()).await.map(Deciding::from);
        let other = if (quirks.is_call)(expression) {
            Ok(Deciding::default())
        } else {
            ask(comparison.other.clone()).await.map(Deciding::from)
        };
        if let (Ok(constant), Ok(other)) = (constant, other)
            && let Some(exact) = (quirks.exact_comparison)(&comparison, &constant, &other)
        {
            rounded.replace_range(comparison.place, &exact);
        }
    }
    rounded
}

/// Another spelling, which may depend on what is in the `source` of the frame.
async fn respelled<Answer>(
    quirks: &Quirks,
    source: impl FnOnce() -> PathBuf,
    expression: &str,
    answer: &Result<::dap::EvaluateResponse>,
    ask: impl Fn(String) -> Answer,
) -> Option<Result<::dap::EvaluateResponse>>
where
    Answer: Future<Output = Result<::dap::EvaluateResponse>>,
{
    let Err(Error::Refused(message)) = answer else {
        return None;
    };
    let deciding = match (quirks.deciding_name)(expression, message) {
        Some(name) => ask(name).await.map(Deciding::from),
        None => Ok(Deciding::default()),
    };
    let source = std::fs::read_to_string(source()).unwrap_or_default();
    let deciding = Deciding { source, ..deciding.unwrap_or_default() };
    let other = (quirks.other_expression)(expression, message, &deciding)?;
    let answer = ask(other.expression).await;
    (other.explains || !matches!(answer, Err(Error::Refused(_)))).then_some(answer)
}

impl From<::dap::EvaluateResponse> for Deciding {
    fn from(value: ::dap::EvaluateResponse) -> Self {
        Self { kind: value.kind.unwrap_or_default(), text: value.result, source: String::new() }
    }
}

/// Whether an adapter's expression for a part of a value can be evaluated: `[1]->[1]`, `row._M_start->[1]` and `*([1])`,
/// for an item that a formatter has found, cannot.
pub(super) fn is_usable(expression: &str) -> bool {
    let is_of_formatter =
        expression.starts_with('[') || ["->[", "*(["].iter().any(|sign| expression.contains(sign));
    !expression.is_empty() && !is_of_formatter
}

/// The index of an item, by its name: 7 for `[7]`.
pub(super) fn index_of(name: &str) -> Option<u64> {
    name.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

async fn understood(debugger: &DapDebugger, frame: RawId, how: &str, expression: &str) -> Option<Evaluated> {
    let command = debugger.quirks().expression_command?;
    let quoted = commands::argument(&serde_json::Value::from(expression).to_string());
    let command = format!("{command} {how}{} {quoted}", frame.0);
    let answer = commands::run(debugger, Some(frame), command, deadlines::READ).await.ok()?;
    let printed = answer.lines().find_map(|line| line.strip_prefix("evaluated "))?;
    serde_json::from_str(printed).ok()
}
