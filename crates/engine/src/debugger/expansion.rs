//! Expanding variables with one request for each value.

use tokio::time::Instant;

use super::Debugger;
use crate::model::ids::RawId;
use crate::model::variable::{Children, ExpandedValue, Expansion, Variable};

/// Reads what variables contain, and what that contains, breadth first. A value that cannot be read is left out.
pub(super) async fn by_requests(
    debugger: &(impl Debugger + ?Sized),
    variables: &Children<RawId>,
    text: usize,
    expansion: Expansion,
) -> Vec<ExpandedValue> {
    let until = Instant::now() + expansion.within;
    let mut expanded: Vec<ExpandedValue> = Vec::new();
    let mut level = contents(None, variables);
    for _ in 0..expansion.depth {
        let first = expanded.len();
        for (parent, name, value) in level {
            if expanded.len() >= expansion.values {
                return expanded;
            }
            let reading = debugger.variables(value, expansion.page(), text);
            match tokio::time::timeout_at(until, reading).await {
                Ok(Ok(children)) => expanded.push(ExpandedValue { parent, name, children }),
                Ok(Err(_)) => {}
                Err(_) => return expanded,
            }
        }
        let below = expanded.iter().enumerate().skip(first);
        level = below.flat_map(|(place, value)| contents(Some(place), &value.children)).collect();
    }
    expanded
}

/// The variables that have contents: whose children they are, their names, and what their children are asked for with.
fn contents(parent: Option<usize>, variables: &Children<RawId>) -> Vec<(Option<usize>, String, RawId)> {
    let found =
        |variable: &Variable<RawId>| Some((parent, variable.name.clone(), *variable.value.contents()?));
    variables.variables.iter().filter_map(found).collect()
}
