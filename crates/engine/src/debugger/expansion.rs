//! Expanding variables with one request for each value.

use futures_util::future::join_all;
use tokio::time::Instant;

use super::Debugger;
use crate::model::ids::RawId;
use crate::model::variable::{Children, ExpandedValue, Expansion, Value, Variable};

/// Reads what variables contain, and what that contains, breadth first: all of a level is asked for at once. A value that
/// cannot be read in time is left out.
pub(super) async fn by_requests(
    debugger: &(impl Debugger + ?Sized),
    variables: &Children<RawId>,
    text: usize,
    expansion: Expansion,
) -> Vec<ExpandedValue> {
    let until = Instant::now() + expansion.within;
    let read = async |(parent, variable): (Option<usize>, Variable<RawId>)| {
        let Variable { name, value, .. } = variable;
        let children = if let Some(children) = numbers(&value, expansion.children) {
            children
        } else {
            let reading = debugger.variables(*value.contents()?, expansion.page(), text);
            tokio::time::timeout_at(until, reading).await.ok()?.ok()?
        };
        Some(ExpandedValue { parent, name, children })
    };
    let mut expanded: Vec<ExpandedValue> = Vec::new();
    let mut level: Vec<_> = contents(None, variables).collect();
    for _ in 0..expansion.depth {
        let first = expanded.len();
        level.truncate(expansion.values - first);
        expanded.extend(join_all(level.into_iter().map(read)).await.into_iter().flatten());
        let below = expanded.iter().enumerate().skip(first);
        level = below.flat_map(|(place, value)| contents(Some(place), &value.children)).collect();
    }
    expanded
}

/// The variables that have contents, with whose children they are.
fn contents(
    parent: Option<usize>,
    variables: &Children<RawId>,
) -> impl Iterator<Item = (Option<usize>, Variable<RawId>)> {
    let found = variables.variables.iter().filter(|variable| variable.value.contents().is_some());
    found.map(move |variable| (parent, variable.clone()))
}

/// The first items of a value whose text has all of them, each a number: `{1, 2}`.
fn numbers(value: &Value<RawId>, most: u64) -> Option<Children<RawId>> {
    let items: Vec<&str> = value.text.strip_prefix('{')?.strip_suffix('}')?.split(", ").collect();
    let total = items.len() as u64;
    if value.children != Some(total) || items.iter().any(|item| item.parse::<f64>().is_err()) {
        return None;
    }
    let item = |(index, text)| Variable {
        name: format!("[{index}]"),
        value: Value { text, reference: None, children: None, ..value.clone() },
        special: false,
    };
    let texts = items.into_iter().map(str::to_owned);
    Some(Children { variables: (0..most).zip(texts).map(item).collect(), total, start: 0, hidden: 0 })
}
