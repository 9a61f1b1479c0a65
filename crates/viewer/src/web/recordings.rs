//! Recordings of whole runs as timelines.
//!
//! What a recording says comes from what starts the server ([`Recordings`]): the viewer knows neither databases nor
//! languages.

use std::fmt::Debug;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::Value;

use super::WebState;

/// The recordings of a user. Each method may take a while; an error is a text for people.
pub trait Recordings: Debug + Send + Sync {
    /// A list, newest first: `name`, `command` and `end` of each.
    fn list(&self) -> Value;
    /// The calls of each thread between two events; by default of the whole run.
    fn timeline(&self, name: &str, from: Option<i64>, to: Option<i64>) -> Result<Value, String>;
    /// The values of the variables or attributes of a name.
    fn values(&self, name: &str, target: &str) -> Result<Value, String>;
    /// The stack, variables and output at a moment, as a text; without a moment, where the program failed, or at its end.
    fn state(&self, name: &str, at: Option<&str>) -> Result<Value, String>;
}

/// Parameters of the requests.
#[derive(Debug, Deserialize)]
pub(super) struct Part {
    name: String,
    from: Option<i64>,
    to: Option<i64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Target {
    name: String,
    target: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Moment {
    name: String,
    at: Option<String>,
}

pub(super) async fn list(State(site): State<Arc<WebState>>) -> Response {
    answer(&site, |recordings| Ok(recordings.list())).await
}

pub(super) async fn timeline(State(site): State<Arc<WebState>>, Query(part): Query<Part>) -> Response {
    answer(&site, move |recordings| recordings.timeline(&part.name, part.from, part.to)).await
}

pub(super) async fn values(State(site): State<Arc<WebState>>, Query(target): Query<Target>) -> Response {
    answer(&site, move |recordings| recordings.values(&target.name, &target.target)).await
}

pub(super) async fn state(State(site): State<Arc<WebState>>, Query(moment): Query<Moment>) -> Response {
    answer(&site, move |recordings| recordings.state(&moment.name, moment.at.as_deref())).await
}

/// Asks on a thread where it may take its time.
async fn answer(
    site: &WebState,
    question: impl FnOnce(&dyn Recordings) -> Result<Value, String> + Send + 'static,
) -> Response {
    let Some(recordings) = site.recordings.clone() else { return StatusCode::NOT_FOUND.into_response() };
    match tokio::task::spawn_blocking(move || question(&*recordings)).await {
        Ok(Ok(answer)) => Json(answer).into_response(),
        Ok(Err(problem)) => (StatusCode::UNPROCESSABLE_ENTITY, problem).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
