//! The variables of a frame that a report shows.

use super::DapDebugger;
use super::values::{scopes, variables};
use crate::debugger::expansion;
use crate::error::{Error, Result};
use crate::model::ids::RawId;
use crate::model::stack::{Scope, ScopeKind};
use crate::model::variable::{Children, ExpandedLocals, Expansion, Page};

pub(super) async fn locals(
    debugger: &DapDebugger,
    frame: RawId,
    page: Page,
    text: usize,
    expansion: Expansion,
) -> Result<ExpandedLocals<RawId>> {
    let scopes = scopes(debugger, frame).await?;
    let mut local = scopes.into_iter().filter(|scope| scope.kind == ScopeKind::Locals);
    let first =
        local.next().ok_or_else(|| Error::Unsupported("this frame has no local variables".to_owned()))?;
    let (scope, variables) = match local.next() {
        Some(rest) if first.name.eq_ignore_ascii_case("arguments") => {
            let both = both(debugger, &first, &rest, page, text).await?;
            (rest.name, both)
        }
        _ => (first.name, variables(debugger, first.reference, page, text).await?),
    };
    let values = expansion::by_requests(debugger, &variables, text, expansion).await;
    Ok(ExpandedLocals { scope, variables, values })
}

/// GDB keeps arguments in a separate scope.
async fn both(
    debugger: &DapDebugger,
    arguments: &Scope<RawId>,
    locals: &Scope<RawId>,
    page: Page,
    text: usize,
) -> Result<Children<RawId>> {
    let mut found = variables(debugger, arguments.reference, page, text).await?;
    let shown = found.variables.len() as u64;
    let start = page.start.saturating_sub(found.total);
    let rest = Page { start, count: page.count - shown.min(page.count), ..page };
    let rest = variables(debugger, locals.reference, rest, text).await?;
    found.total += rest.total;
    found.hidden += rest.hidden;
    found.variables.extend(rest.variables);
    Ok(found)
}
