//! The result of a trigger.

use engine::model::stop::End;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ops::trigger::{Response, TriggerProgress};

/// The result of a trigger.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TriggerReport {
    /// `waiting` (the program does not listen yet), `pending` (no response yet), `done` or `failed`.
    pub state: String,
    /// URL of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Status code of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Body of the response, possibly truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The body is truncated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Exit code of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Output of the command, possibly only its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Error, if there is no response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl From<TriggerProgress> for TriggerReport {
    fn from(triggered: TriggerProgress) -> Self {
        let state = |state: &str| Self { state: state.to_owned(), ..Self::default() };
        match triggered {
            TriggerProgress::Waiting => state("waiting"),
            TriggerProgress::Pending => state("pending"),
            TriggerProgress::Answered(Response { url, status, body, is_cut }) => Self {
                url: Some(url),
                status: Some(status),
                body: Some(body),
                truncated: is_cut,
                ..state("done")
            },
            TriggerProgress::Ended { end, output } => {
                let error = (!matches!(end, End::Exited(_))).then(|| format!("the command {end}"));
                let exit_code = end.exit_code();
                Self { exit_code, output: Some(output), error, ..state("done") }
            }
            TriggerProgress::Failed(problem) => Self { error: Some(problem), ..state("failed") },
        }
    }
}
