//! Expressions that are watched over stops.

use engine::session::watches::{Watch, WatchValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::answer::StatusAnswer;
use super::report::{no_value, seen};
use crate::ops::watches::{self, Watched};
use crate::{Context, Effects, Tool, ToolError};

/// Watches an expression.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerAddWatch {
    /// default: the only open session
    session_id: Option<String>,
    expression: String,
}

/// A watched expression.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WatchData {
    watch_id: String,
    expression: String,
    /// Value in the selected frame; absent if unknown.
    value: Json,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    type_name: Option<String>,
    /// Whether it has a value there: false for an unknown name, and while the program runs.
    in_scope: bool,
    /// The error it raised, or a timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Changed since the last stop where it had a value.
    changed: bool,
    /// Value at that stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_value: Option<Json>,
    /// Whether it had a value before.
    #[serde(skip_serializing_if = "Option::is_none")]
    old_in_scope: Option<bool>,
    /// Current value.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_value: Option<Json>,
}

impl WatchData {
    fn new(watched: &Watched) -> Self {
        let Watched { watch, seen: now } = watched;
        let (value, type_name) = match now {
            Some(WatchValue::Value { type_name, .. }) => (now.as_ref().map(seen), Some(type_name.clone())),
            _ => (None, None),
        };
        let change = watch.change().filter(|change| Some(&change.new) == now.as_ref());
        Self {
            watch_id: watch.id.to_string(),
            expression: watch.expression.clone(),
            in_scope: matches!(now, Some(WatchValue::Value { .. } | WatchValue::Failed(_))),
            value: value.unwrap_or_default(),
            type_name,
            error: match now {
                Some(WatchValue::Failed(error)) => Some(error.clone()),
                _ => None,
            },
            changed: change.is_some(),
            old_value: change.as_ref().map(|change| seen(&change.old)),
            old_in_scope: change.as_ref().and_then(|change| no_value(&change.old)),
            new_value: change.as_ref().map(|change| seen(&change.new)),
        }
    }
}

impl Tool for DebuggerAddWatch {
    type Answer = StatusAnswer<WatchData>;
    const NAME: &'static str = "debugger_add_watch";
    const TITLE: &'static str = "Add watch";
    const DESCRIPTION: &'static str =
        "Watch an expression: every stop reports a change of its value, old and new.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<WatchData>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let watched = watches::add(&session, &self.expression).await?;
        Ok(StatusAnswer(WatchData::new(&watched)))
    }
}

/// Removes a watch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerRemoveWatch {
    session_id: Option<String>,
    /// watch-1
    watch_id: String,
}

/// The removed watch.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WatchRemoved {
    watch_id: String,
    expression: String,
    removed: bool,
}

impl Tool for DebuggerRemoveWatch {
    type Answer = StatusAnswer<WatchRemoved>;
    const NAME: &'static str = "debugger_remove_watch";
    const TITLE: &'static str = "Remove watch";
    const DESCRIPTION: &'static str = "Remove a watch.";
    const EFFECTS: Effects = Effects::ENDS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<WatchRemoved>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let Watch { id, expression, .. } = watches::remove(&session, &self.watch_id)?;
        Ok(StatusAnswer(WatchRemoved { watch_id: id.to_string(), expression, removed: true }))
    }
}

/// Lists what is watched.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DebuggerGetWatches {
    session_id: Option<String>,
}

/// What is watched.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WatchList {
    watches: Vec<WatchData>,
}

impl Tool for DebuggerGetWatches {
    type Answer = StatusAnswer<WatchList>;
    const NAME: &'static str = "debugger_get_watches";
    const TITLE: &'static str = "Get watches";
    const DESCRIPTION: &'static str = "List watches with their current and previous values.";
    const EFFECTS: Effects = Effects::RUNS;

    async fn call(self, context: &Context) -> Result<StatusAnswer<WatchList>, ToolError> {
        let session = context.session(self.session_id.as_deref())?;
        let watched = watches::look(&session).await?;
        Ok(StatusAnswer(WatchList { watches: watched.iter().map(WatchData::new).collect() }))
    }
}
