//! What is sent to a thread that may not answer in time.

use ::cdp::runtime::Evaluate;

use super::super::injected::named;
use super::super::v8::{V8Client, evaluation};
use crate::deadlines;
use crate::error::Result;

/// One that is not answered in time is answered later.
pub(super) async fn send<C: ::cdp::Command>(v8: &V8Client, command: C) -> Result<()> {
    match v8.request_within(deadlines::ACTIVITY, command).await {
        Ok(_) | Err(::cdp::Error::Deadline { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn send_if<C: ::cdp::Command>(is_needed: bool, v8: &V8Client, command: C) -> Result<()> {
    if is_needed { send(v8, command).await } else { Ok(()) }
}

/// The same, in the console's scope, which has `require`.
pub(super) fn evaluate(expression: String) -> Evaluate {
    Evaluate { include_command_line_api: true, ..evaluation(named(expression, "sampling")) }
}
