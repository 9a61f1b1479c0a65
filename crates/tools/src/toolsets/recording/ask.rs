//! Questions.

use recording::ask::{self, FirstRequest, TargetRequest};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::ops::recordings;
use crate::{Context, Effects, Text, Tool, ToolError};

/// When was something first true?
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindFirst {
    /// Such as `total < 0`, `len(self.items) > 10`, `user is None`, `isinstance(total, str)`, `'x' not in cache`,
    /// `any(row.units < 0 for row in rows)`, `sum(accounts.values()) != 300`, or `Cart.total() < 0` about what a function
    /// returned.
    condition: String,
    /// Only in this function.
    function: Option<String>,
    /// Only in this file.
    file: Option<String>,
    /// 2 for the second time it becomes true, and so on.
    occurrence: Option<usize>,
    /// Name of the recording; default: the newest.
    recording: Option<String>,
}

impl Tool for FindFirst {
    type Answer = Text;
    const NAME: &'static str = "find_first";
    const TITLE: &'static str = "First moment";
    const DESCRIPTION: &'static str = "Find the first moment at which a condition on variables holds: the line that made it so, the stack, and variables before and after.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        let Self { condition, function, file, occurrence, recording } = self;
        let question = move |recording: &recording::Recording| {
            let (function, file) = (function.as_deref(), file.as_deref());
            let occurrence = occurrence.unwrap_or(1);
            ask::first(recording, &FirstRequest { condition: &condition, function, file, occurrence })
        };
        recordings::ask(context, recording, question).await.map(Text)
    }
}

/// What wrote this?
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindWrites {
    /// Variable, attribute or item, such as `cart.items` or `self.cache['k']`.
    target: String,
    /// Show writes before this moment, at which the target must be in scope; default: the last such moment.
    at: Option<String>,
    /// Maximum number of writes, default 10.
    limit: Option<usize>,
    /// Name of the recording; default: the newest.
    recording: Option<String>,
}

impl Tool for FindWrites {
    type Answer = Text;
    const NAME: &'static str = "find_writes";
    const TITLE: &'static str = "Find writes";
    const DESCRIPTION: &'static str = "Find what wrote a variable, an attribute or an item, or changed the object in it under any name: line, stack, old → new, newest first.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        let Self { target, at, limit, recording } = self;
        let question = move |recording: &recording::Recording| {
            let limit = limit.unwrap_or(10).max(1);
            ask::writes(recording, &TargetRequest { target: &target, at: at.as_deref(), limit })
        };
        recordings::ask(context, recording, question).await.map(Text)
    }
}

/// Where does it come from?
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindOrigin {
    /// Variable, attribute or item, such as `total` or `self.cache['k']`.
    target: String,
    /// Moment at which the target has the value and is in scope; default: the last such moment.
    at: Option<String>,
    /// Maximum number of steps, default 16.
    limit: Option<usize>,
    /// Name of the recording; default: the newest.
    recording: Option<String>,
}

impl Tool for FindOrigin {
    type Answer = Text;
    const NAME: &'static str = "find_origin";
    const TITLE: &'static str = "Origin of a value";
    const DESCRIPTION: &'static str = "Explain why a variable, an attribute or an item has its value: the tree of assignments, arguments and returns that it was computed from.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        let Self { target, at, limit, recording } = self;
        let question = move |recording: &recording::Recording| {
            let limit = limit.unwrap_or(16).max(1);
            ask::origin(recording, &TargetRequest { target: &target, at: at.as_deref(), limit })
        };
        recordings::ask(context, recording, question).await.map(Text)
    }
}

/// What was there?
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StateAt {
    /// Moment: `FILE:LINE`, `FILE:LINE#HIT`, number of an event, `exception` or `end`; default: the exception if the program failed, otherwise the end.
    at: Option<String>,
    /// Name of the recording; default: the newest.
    recording: Option<String>,
}

impl Tool for StateAt {
    type Answer = Text;
    const NAME: &'static str = "state_at";
    const TITLE: &'static str = "State at a moment";
    const DESCRIPTION: &'static str =
        "Show the stack, the variables of each frame and the output so far, as of a moment.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        let Self { at, recording } = self;
        recordings::ask(context, recording, move |recording| ask::state(recording, at.as_deref()))
            .await
            .map(Text)
    }
}

/// What changed?
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompareMoments {
    /// Earlier moment.
    from: String,
    /// Later moment.
    to: String,
    /// Name of the recording; default: the newest.
    recording: Option<String>,
}

impl Tool for CompareMoments {
    type Answer = Text;
    const NAME: &'static str = "compare_moments";
    const TITLE: &'static str = "Compare moments";
    const DESCRIPTION: &'static str =
        "Show which variables, attributes and items differ between two moments: added, removed, old → new.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        let Self { from, to, recording } = self;
        recordings::ask(context, recording, move |recording| ask::changes(recording, &from, &to))
            .await
            .map(Text)
    }
}

/// How often?
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CountHits {
    /// `FILE:LINE`, a file, `FILE:FUNCTION`, or the name of a function.
    target: String,
    /// Name of the recording; default: the newest.
    recording: Option<String>,
}

impl Tool for CountHits {
    type Answer = Text;
    const NAME: &'static str = "count_hits";
    const TITLE: &'static str = "Count hits";
    const DESCRIPTION: &'static str = "Count how often a line, the lines of a file or a function were reached; for a function, with which arguments and how it ended.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        let Self { target, recording } = self;
        recordings::ask(context, recording, move |recording| ask::reached(recording, &target)).await.map(Text)
    }
}

/// Where do they part?
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CompareRuns {
    /// Name of a recording, such as that of a passing run.
    first: String,
    /// Name of another one.
    second: String,
}

impl Tool for CompareRuns {
    type Answer = Text;
    const NAME: &'static str = "compare_runs";
    const TITLE: &'static str = "Compare runs";
    const DESCRIPTION: &'static str = "Find where two recordings diverge: the first different value and the first different step, with both states.";
    const EFFECTS: Effects = Effects::NONE;

    async fn call(self, context: &Context) -> Result<Text, ToolError> {
        recordings::compare(context, self.first, self.second).await.map(Text)
    }
}
