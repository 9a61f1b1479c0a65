//! Letting an editor in: it says hello, and shows the token in the arguments of `attach`.

use std::sync::Arc;

use dap::server::RequestReader;
use dap::{Capabilities, IncomingRequest, Request};
use serde_json::{Value, json};
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::OwnedSemaphorePermit;

use crate::endpoint::Exposed;
use crate::limits;
use crate::outgoing::{Answer, Gone, Outgoing, Refusal, body};

/// The argument of `attach` that has the token.
const TOKEN: &str = "mirrorToken";

/// An editor that was let in.
pub(crate) struct Admitted {
    /// What it has asked for before it was; it is answered now.
    pub(crate) held: Vec<IncomingRequest>,
    /// Its place among those that may be attached.
    pub(crate) _place: OwnedSemaphorePermit,
}

/// Answers until it is known whether the client may come in; none when it may not, or has gone.
///
/// An editor may send its breakpoints before `attach`, because `initialized` invites it to. They wait for the token.
pub(crate) async fn admit(
    requests: &mut RequestReader<OwnedReadHalf>,
    out: &mut Outgoing,
    exposed: &Exposed,
) -> Result<Option<Admitted>, Gone> {
    let mut held = Vec::new();
    loop {
        let request = match requests.next().await {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(None),
            Err(error) => {
                tracing::debug!(%error, "a client without a token is disconnected");
                return Ok(None);
            }
        };
        match request.command.as_str() {
            dap::Initialize::COMMAND => {
                let answer = initialize(&request, exposed);
                let is_welcome = answer.is_ok();
                out.respond(&request, answer).await?;
                if !is_welcome {
                    return Ok(None);
                }
                out.event("initialized", &json!({})).await?;
            }
            dap::Attach::COMMAND => {
                let admitted = attach(&request, exposed);
                let (answer, admitted) = match admitted {
                    Ok(place) => (Ok(json!({})), Some(Admitted { held, _place: place })),
                    Err(refusal) => (Err(refusal), None),
                };
                out.respond(&request, answer).await?;
                return Ok(admitted);
            }
            dap::Disconnect::COMMAND => {
                out.respond(&request, Ok(json!({}))).await?;
                return Ok(None);
            }
            dap::Launch::COMMAND => {
                let instead =
                    "this is a session that runs already: use a configuration with `request: attach`";
                out.respond(&request, Err(Refusal(instead.to_owned()))).await?;
                return Ok(None);
            }
            _ if held.len() < limits::HELD => held.push(request),
            _ => {
                let problem = format!("`attach` with `{TOKEN}` must come first");
                out.respond(&request, Err(Refusal(problem))).await?;
                return Ok(None);
            }
        }
    }
}

fn initialize(request: &IncomingRequest, exposed: &Exposed) -> Answer {
    let said = |name: &str| request.arguments.get(name);
    let is_zero_based = |name: &str| said(name) == Some(&Value::Bool(false));
    if is_zero_based("linesStartAt1") || is_zero_based("columnsStartAt1") {
        return Err(Refusal("only editors that count lines and columns from 1 can attach".to_owned()));
    }
    if said("pathFormat").and_then(Value::as_str) == Some("uri") {
        return Err(Refusal("only editors that name files by their paths can attach".to_owned()));
    }
    body(&Capabilities {
        supports_configuration_done_request: true,
        supports_delayed_stack_trace_loading: true,
        supports_evaluate_for_hovers: true,
        supports_clipboard_context: true,
        supports_exception_info_request: true,
        supports_conditional_breakpoints: exposed.control,
        supports_hit_conditional_breakpoints: exposed.control,
        supports_log_points: exposed.control,
        supports_set_variable: exposed.control,
        ..Capabilities::default()
    })
}

/// The token is compared in constant time, and tells nothing of the session unless it is right.
fn attach(request: &IncomingRequest, exposed: &Exposed) -> Result<OwnedSemaphorePermit, Refusal> {
    let given = request.arguments.get(TOKEN).and_then(Value::as_str);
    if !given.is_some_and(|given| exposed.token.is(given)) {
        let problem = if given.is_some() { "is not that of this session" } else { "is missing" };
        return Err(Refusal(format!(
            "`{TOKEN}` {problem}: put the token that expose_session gave into the `attach` configuration"
        )));
    }
    Arc::clone(&exposed.places).try_acquire_owned().map_err(|_| {
        Refusal(format!("{} editors are attached to this session, which is the limit", limits::EDITORS))
    })
}
