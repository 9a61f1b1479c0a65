//! Letting an editor in: it says hello, and shows the token in the arguments of `attach`.

use std::sync::Arc;

use dap::server::RequestReader;
use dap::{Capabilities, IncomingRequest, Request};
use serde_json::{Value, json};
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep_until};

use crate::endpoint::Exposed;
use crate::limits;
use crate::outgoing::{Answer, EditorGone, Outgoing, Refusal, body};

/// The argument of `attach` that has the token.
const TOKEN: &str = "mirrorToken";

/// An editor that was let in.
pub(crate) struct AdmittedEditor {
    /// What it has asked for before it was; it is answered now.
    pub(crate) held: Vec<IncomingRequest>,
    /// Its place among those that may be attached.
    pub(crate) _place: OwnedSemaphorePermit,
}

/// Answers until it is known whether the client may come in; none when it may not, or has gone.
///
/// `initialized` invites an editor to send its breakpoints, so it comes after `attach`. Some scripts wait for it before
/// they attach, and get it after a moment; what else a client sends before its token is answered after it.
pub(crate) async fn admit(
    requests: &mut RequestReader<OwnedReadHalf>,
    out: &mut Outgoing,
    exposed: &Exposed,
) -> Result<Option<AdmittedEditor>, EditorGone> {
    let mut held = Vec::new();
    let mut invitation = InitializedEvent::None;
    loop {
        let request = tokio::select! {
            request = requests.next() => request,
            () = invitation.is_due() => {
                invitation.send(out).await?;
                continue;
            }
        };
        let request = match request {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(None),
            Err(error) => {
                tracing::debug!(%error, "disconnected a client without a token");
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
                invitation = InitializedEvent::Due(Instant::now() + limits::INVITATION);
            }
            dap::Attach::COMMAND => {
                let admitted = attach(&request, exposed);
                let (answer, admitted) = match admitted {
                    Ok(place) => (Ok(json!({})), Some(AdmittedEditor { held, _place: place })),
                    Err(refusal) => (Err(refusal), None),
                };
                out.respond(&request, answer).await?;
                if admitted.is_some() {
                    invitation.send(out).await?;
                }
                return Ok(admitted);
            }
            dap::Disconnect::COMMAND => {
                out.respond(&request, Ok(json!({}))).await?;
                return Ok(None);
            }
            dap::Launch::COMMAND => {
                let instead = "this session is already running: use a configuration with `request: attach`";
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

/// When to send a client the event that it may send its breakpoints.
enum InitializedEvent {
    /// It has not asked, or has been notified.
    None,
    Due(Instant),
}

impl InitializedEvent {
    async fn is_due(&self) {
        match self {
            Self::Due(at) => sleep_until(*at).await,
            Self::None => std::future::pending().await,
        }
    }

    async fn send(&mut self, out: &mut Outgoing) -> Result<(), EditorGone> {
        match std::mem::replace(self, Self::None) {
            Self::Due(_) => out.event("initialized", &json!({})).await,
            Self::None => Ok(()),
        }
    }
}

fn initialize(request: &IncomingRequest, exposed: &Exposed) -> Answer {
    request.check_positions()?;
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

/// The token is compared in constant time, and the response reveals nothing about the session unless it is right.
fn attach(request: &IncomingRequest, exposed: &Exposed) -> Result<OwnedSemaphorePermit, Refusal> {
    let given = request.arguments.get(TOKEN).and_then(Value::as_str);
    if !given.is_some_and(|given| exposed.token.is(given)) {
        let problem = if given.is_some() { "does not belong to this session" } else { "is missing" };
        return Err(Refusal(format!(
            "`{TOKEN}` {problem}: put the token from expose_session into the `attach` configuration"
        )));
    }
    Arc::clone(&exposed.places).try_acquire_owned().map_err(|_| {
        Refusal(format!("{} editors are attached to this session, which is the limit", limits::EDITORS))
    })
}
