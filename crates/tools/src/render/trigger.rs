//! What came of a trigger.

use engine::model::stop::End;
use schemars::JsonSchema;
use serde::Serialize;

use crate::ops::trigger::{Response, TriggerProgress};

/// What came of a trigger.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TriggerReport {
    /// `waiting` (the program does not listen yet), `pending` (nothing came back yet), `done` or `failed`.
    pub state: String,
    /// Where the request went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The status code of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The body of the response, or its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The body is longer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The exit code of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What the command wrote, or the end of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Why nothing came back.
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
