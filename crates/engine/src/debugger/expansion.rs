//! Expanding variables with one request for each value.

use futures_util::future::join_all;
use tokio::time::Instant;

use super::Debugger;
use crate::model::ids::RawId;
use crate::model::variable::{Children, ExpandedValue, Expansion, Variable};

/// Reads what variables contain, and what that contains, breadth first: all of a level is asked for at once. A value that
/// cannot be read in time is left out.
pub(super) async fn by_requests(
    debugger: &(impl Debugger + ?Sized),
    variables: &Children<RawId>,
    text: usize,
    expansion: Expansion,
) -> Vec<ExpandedValue> {
    let until = Instant::now() + expansion.within;
    let read = async |(parent, name, value)| {
        let reading = debugger.variables(value, expansion.page(), text);
        let children = tokio::time::timeout_at(until, reading).await.ok()?.ok()?;
        Some(ExpandedValue { parent, name, children })
    };
    let mut expanded: Vec<ExpandedValue> = Vec::new();
    let mut level = contents(None, variables);
    for _ in 0..expansion.depth {
        let first = expanded.len();
        level.truncate(expansion.values - first);
        expanded.extend(join_all(level.into_iter().map(read)).await.into_iter().flatten());
        let below = expanded.iter().enumerate().skip(first);
        level = below.flat_map(|(place, value)| contents(Some(place), &value.children)).collect();
    }
    expanded
}

/// The variables that have contents: whose children they are, their names, and what their children are requested with.
fn contents(parent: Option<usize>, variables: &Children<RawId>) -> Vec<(Option<usize>, String, RawId)> {
    let found =
        |variable: &Variable<RawId>| Some((parent, variable.name.clone(), *variable.value.contents()?));
    variables.variables.iter().filter_map(found).collect()
}
