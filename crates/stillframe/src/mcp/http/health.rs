//! How the server is: for everybody whether it serves, for clients also how much it holds.

use std::time::Instant;

use engine::process::guardian;
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use super::answers::{Body, json_answer};
use super::clients::Clients;

/// What `/health` says. Everything that is counted is back where it was once all clients are gone.
pub(super) fn answer(
    is_ending: bool,
    knows_token: bool,
    started: Instant,
    clients: &Clients,
) -> Response<Body> {
    let (status, word) =
        if is_ending { (StatusCode::SERVICE_UNAVAILABLE, "ending") } else { (StatusCode::OK, "ok") };
    let mut body = json!({ "status": word });
    if knows_token && let Value::Object(body) = &mut body {
        let all = clients.all();
        let debug_sessions: usize = all.iter().map(|client| client.context.sessions.count()).sum();
        body.insert("version".into(), env!("CARGO_PKG_VERSION").into());
        body.insert("uptimeSeconds".into(), started.elapsed().as_secs().into());
        body.insert("clients".into(), all.len().into());
        body.insert("debugSessions".into(), debug_sessions.into());
        body.insert("processes".into(), guardian::watched().into());
        body.insert("tasks".into(), tokio::runtime::Handle::current().metrics().num_alive_tasks().into());
    }
    json_answer(status, &body)
}
