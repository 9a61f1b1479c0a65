//! Values, expressions and exceptions by the protocol's own requests.

use super::DapDebugger;
use crate::deadlines;
use crate::debugger::Evaluate;
use crate::error::{Error, Result};
use crate::model::ids::RawId;
use crate::model::stack::{Scope, ScopeKind};
use crate::model::stop::Exception;
use crate::model::variable::{Children, Page, Value, Variable};

pub(super) async fn scopes(debugger: &DapDebugger, frame: RawId) -> Result<Vec<Scope<RawId>>> {
    let arguments = ::dap::ScopesArguments { frame_id: frame.0 };
    let response = debugger.request::<::dap::Scopes>(arguments, deadlines::REQUEST).await?;
    let kind = |scope: &::dap::Scope| match scope.presentation_hint.as_deref() {
        Some("locals" | "arguments") => ScopeKind::Locals,
        Some("globals") => ScopeKind::Globals,
        // Not every server gives hints.
        _ if scope.name.to_ascii_lowercase().starts_with("local") => ScopeKind::Locals,
        _ if scope.name.to_ascii_lowercase().starts_with("global") => ScopeKind::Globals,
        _ => ScopeKind::Other,
    };
    Ok(response
        .scopes
        .into_iter()
        .map(|scope| Scope {
            kind: kind(&scope),
            name: scope.name,
            reference: RawId(scope.variables_reference),
            expensive: scope.expensive,
        })
        .collect())
}

pub(super) async fn locals(
    debugger: &DapDebugger,
    frame: RawId,
    page: Page,
    text: usize,
) -> Result<(String, Children<RawId>)> {
    let scopes = scopes(debugger, frame).await?;
    let scope = scopes.into_iter().find(|scope| scope.kind == ScopeKind::Locals);
    let scope = scope.ok_or_else(|| Error::Unsupported("this frame has no local variables".to_owned()))?;
    Ok((scope.name, variables(debugger, scope.reference, page, text).await?))
}

/// The whole list is asked for and cut here: debugpy, for one, ignores `start` and `count`.
pub(super) async fn variables(
    debugger: &DapDebugger,
    reference: RawId,
    page: Page,
    text: usize,
) -> Result<Children<RawId>> {
    let arguments = ::dap::VariablesArguments { variables_reference: reference.0, start: None, count: None };
    let response = debugger.request::<::dap::Variables>(arguments, deadlines::READ).await?;
    let all = response.variables.len();
    let shown: Vec<::dap::Variable> = response
        .variables
        .into_iter()
        .filter(|variable| page.special || !is_special(&variable.name))
        .collect();
    let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(Children {
        total: shown.len() as u64,
        start: page.start,
        hidden: (all - shown.len()) as u64,
        variables: shown
            .into_iter()
            .skip(at(page.start))
            .take(at(page.count))
            .map(|variable| Variable {
                special: is_special(&variable.name),
                value: value(variable.value, variable.kind, variable.variables_reference, text),
                name: variable.name,
            })
            .collect(),
    })
}

fn is_special(name: &str) -> bool {
    (name.starts_with("__") && name.ends_with("__")) || name.ends_with(" variables")
}

fn value(full: String, kind: Option<String>, reference: i64, limit: usize) -> Value<RawId> {
    let cut_at = full.char_indices().nth(limit).map(|(at, _)| at);
    Value {
        length: cut_at.map(|_| full.chars().count() as u64),
        cut: cut_at.is_some(),
        text: match cut_at.and_then(|at| full.get(..at)) {
            Some(head) => format!("{head}..."),
            None => full,
        },
        type_name: kind.unwrap_or_default(),
        reference: (reference > 0).then_some(RawId(reference)),
        children: None,
    }
}

pub(super) async fn evaluate(debugger: &DapDebugger, request: Evaluate) -> Result<Value<RawId>> {
    let arguments = ::dap::EvaluateArguments {
        expression: request.expression,
        frame_id: Some(request.frame.0),
        // The only context in which every server treats the text as an expression of the language.
        context: Some("watch".to_owned()),
    };
    let deadline = request.deadline + deadlines::EVALUATE_GRACE;
    let response =
        debugger.request::<::dap::Evaluate>(arguments, deadline).await.map_err(|error| match error {
            Error::Refused(message) => {
                Error::Raised { type_name: String::new(), message, traceback: String::new() }
            }
            other => other,
        })?;
    Ok(value(response.result, response.kind, response.variables_reference, request.text))
}

pub(super) async fn set_variable(
    debugger: &DapDebugger,
    parent: RawId,
    name: &str,
    text: &str,
    limit: usize,
) -> Result<Value<RawId>> {
    if !debugger.capabilities().supports_set_variable {
        return Err(Error::Unsupported("this debugger cannot assign to variables".to_owned()));
    }
    let arguments = ::dap::SetVariableArguments {
        variables_reference: parent.0,
        name: name.to_owned(),
        value: text.to_owned(),
    };
    let response = debugger.request::<::dap::SetVariable>(arguments, deadlines::READ).await?;
    Ok(value(response.value, response.kind, response.variables_reference, limit))
}

pub(super) async fn exception(debugger: &DapDebugger, thread: RawId) -> Result<Exception> {
    if !debugger.capabilities().supports_exception_info_request {
        return Err(Error::Unsupported("this debugger does not describe exceptions".to_owned()));
    }
    let info = debugger.request::<::dap::ExceptionInfo>(DapDebugger::thread(thread), deadlines::READ).await?;
    let details = info.details.unwrap_or_default();
    let id =
        if info.exception_id.is_empty() { details.type_name.unwrap_or_default() } else { info.exception_id };
    Ok(Exception {
        type_name: strip_note(&id).to_owned(),
        message: strip_note(&info.description.or(details.message).unwrap_or_default())
            .trim_start_matches(NO_MESSAGE)
            .to_owned(),
        // pydevd says so of the frame that the exception has reached.
        stack: details.stack_trace.unwrap_or_default().replace(" (Current frame)\n", "\n"),
        uncaught: info.break_mode.as_deref() == Some("unhandled"),
    })
}

/// What debugpy 1.8.22 has for the message of an exception that has none.
const NO_MESSAGE: &str = "exception: no description";

/// debugpy 1.8.22 can append where it paused to the name of an exception.
fn strip_note(text: &str) -> &str {
    text.split("\n\n(note: ").next().unwrap_or(text).split(" (note: ").next().unwrap_or(text).trim_end()
}
