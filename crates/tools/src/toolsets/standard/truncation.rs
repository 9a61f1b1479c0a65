//! That variables are not shown in full, as clients of mcp-debugger read it.

use engine::model::ids::Reference;
use engine::model::variable::Children;
use schemars::JsonSchema;
use serde::Serialize;
/// Omitted data.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Truncation {
    /// Number of variables in later pages.
    omitted_count: u64,
    /// Number of variables with truncated text.
    value_truncated_count: usize,
    /// How to include them.
    notice: String,
}

impl Truncation {
    /// Of a page; none where it is all there is.
    pub(super) fn of(children: &Children<Reference>, next_start: Option<u64>) -> Option<Self> {
        let omitted_count = next_start.map_or(0, |next| children.total.saturating_sub(next));
        let value_truncated_count = children.variables.iter().filter(|variable| variable.value.cut).count();
        let ways = [
            (omitted_count > 0)
                .then(|| format!("{omitted_count} more: pass `nextStart` as `start`, or give `names`")),
            (value_truncated_count > 0)
                .then(|| format!("{value_truncated_count} values are truncated: raise `maxLength`")),
        ];
        let ways: Vec<String> = ways.into_iter().flatten().collect();
        (!ways.is_empty()).then(|| Self { omitted_count, value_truncated_count, notice: ways.join("; ") })
    }
}
