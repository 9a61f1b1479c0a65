//! `/health`: whether the server runs, and for clients also how much it holds.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, HeaderMap};
use axum::response::IntoResponse;
use engine::process::guardian;
use serde_json::{Value, json};

use super::HttpState;
use super::answers::{Refusal, json_answer};

/// What `/health` says. Everything that is counted is back where it was once all clients are gone.
pub(super) async fn health(
    State(site): State<Arc<HttpState>>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, Refusal> {
    let owner = site.access.owner(&headers);
    let knows_token = owner.is_ok();
    // A token may be left out, but not be wrong.
    if headers.contains_key(AUTHORIZATION) {
        owner?;
    }
    let is_ending = site.ending.is_cancelled();
    let (status, word) =
        if is_ending { (StatusCode::SERVICE_UNAVAILABLE, "ending") } else { (StatusCode::OK, "ok") };
    let mut body = json!({ "status": word });
    if knows_token && let Value::Object(body) = &mut body {
        let all = site.clients.all();
        let debug_sessions: usize = all.iter().map(|client| client.context.sessions.count()).sum();
        body.insert("version".into(), env!("CARGO_PKG_VERSION").into());
        body.insert("uptimeSeconds".into(), site.started.elapsed().as_secs().into());
        body.insert("clients".into(), all.len().into());
        body.insert("debugSessions".into(), debug_sessions.into());
        body.insert("processes".into(), guardian::watched().into());
        body.insert("tasks".into(), tokio::runtime::Handle::current().metrics().num_alive_tasks().into());
    }
    Ok(json_answer(status, body))
}
