//! Values that an adapter can read only when it has read another one since the program stopped.
//!
//! Reading that one at every stop would slow down what only counts hits or reads simple values at them. So it is read
//! where scopes are listed that may lack it, and when the value of an expression may lack something or was refused for
//! that.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ::dap::{EvaluateArguments, EvaluateResponse};

use super::{DapDebugger, calls, lock};
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::ids::RawId;

/// Has the adapter read what it must have read at this stop, before it answers what it is asked next. False if there is
/// nothing to do.
pub(super) fn read(debugger: &DapDebugger) -> bool {
    let Some(first) = debugger.quirks().read_first else { return false };
    if std::mem::replace(&mut lock(&debugger.0.references).is_first_read, true) {
        return false;
    }
    let arguments = EvaluateArguments {
        expression: first.expression.to_owned(),
        context: Some("hover".to_owned()),
        ..Default::default()
    };
    // Without it, other values can still be read, so the answer is not waited for.
    tokio::spawn(debugger.client().begin::<::dap::Evaluate>(&arguments, deadlines::CONDITION));
    true
}

/// The same where values in one of these scopes may lack it.
pub(super) fn read_for(debugger: &DapDebugger, scopes: &[::dap::Scope]) -> bool {
    let may_lack = debugger.quirks().read_first.map(|first| first.scope_may_lack);
    may_lack.is_some_and(|may_lack| scopes.iter().any(|scope| may_lack(&scope.name))) && read(debugger)
}

/// Evaluates an expression, a second time if it may have lacked what must be read first. One that runs code of the program
/// is evaluated only once.
pub(super) async fn evaluate(
    debugger: &DapDebugger,
    arguments: EvaluateArguments,
    within: Duration,
) -> Result<EvaluateResponse> {
    let quirks = debugger.quirks();
    let request = |arguments| debugger.request::<::dap::Evaluate>(arguments, within);
    let Some(first) = quirks.read_first else { return request(arguments).await };
    if (quirks.is_call)(&arguments.expression) {
        calls::check(debugger, RawId(arguments.frame_id.unwrap_or_default())).await?;
        read(debugger);
        let (asked, expression) = (debugger.clone(), arguments.expression.clone());
        let call = async move { asked.request::<::dap::Evaluate>(arguments, within).await };
        let answer = debugger.silently(call).await;
        lock(&debugger.0.references).is_first_read = false;
        return answer.or_else(|error| match error {
            Error::Refused(message) => match (quirks.has_run_without_result)(&expression, message) {
                Ok(()) => Ok(EvaluateResponse::default()),
                Err(message) => Err(Error::Refused(message)),
            },
            other => Err(other),
        });
    }
    if debugger.0.reads_first.load(Ordering::Acquire) {
        read(debugger);
    }
    let answer = request(arguments.clone()).await;
    let may_lack = match &answer {
        Ok(EvaluateResponse { result: text, .. }) | Err(Error::Refused(text)) => (first.may_lack)(text),
        Err(_) => false,
    };
    if !may_lack || !read(debugger) {
        return answer;
    }
    let again = request(arguments).await;
    // The same expression is likely to be evaluated at the next stop.
    debugger.0.reads_first.fetch_or(again.is_ok(), Ordering::AcqRel);
    again
}
