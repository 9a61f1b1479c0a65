//! Whose a pause at a breakpoint is.

use super::super::places::Spot;
use super::super::stops::Stop;
use super::super::{CdpDebugger, binding, frames, rules};
use super::retarget;
use super::table::{Place, What};
use crate::debugger::RuleFor;
use crate::model::ids::BreakpointId;

/// Whose a pause is.
pub(in super::super) enum Hit {
    /// The user's.
    Users(Vec<BreakpointId>),
    /// The program is about to run its first line.
    Entry,
    /// A step's.
    Temporary,
    /// The program has come by its first line again.
    Spent,
    /// Nobody's any more, or it is in the wrong place.
    Nobodys,
}

/// Whose a pause at these is. `told` are those that the program named, because they have rules.
pub(in super::super) async fn hit(
    debugger: &CdpDebugger,
    hits: &[String],
    told: Vec<BreakpointId>,
    stop: &Stop,
) -> Hit {
    let breakpoints = &debugger.0.breakpoints;
    let mut users = told.clone();
    let mut is_users = !users.is_empty();
    let mut is_entry = false;
    for (number, spot) in hits.iter().filter_map(|id| breakpoints.owner(id)) {
        if is_misplaced(debugger, number, &spot, stop).await {
            continue;
        }
        let Some(place) = breakpoints.place(number) else { continue };
        let is_undecided = !rules::are_plain(&place.rules)
            && place.what != What::Entry
            && !RuleFor::ids(&place.rules).iter().any(|id| told.contains(id));
        if is_undecided {
            match binding::enter(debugger, stop, &place.rules).await {
                Ok(true) => users.extend(RuleFor::ids(&place.rules)),
                Ok(false) => continue,
                Err(error) => {
                    tracing::warn!(%error, "a pass could not be decided on");
                    continue;
                }
            }
        }
        is_entry |= place.what == What::Entry;
        is_users |= place.what != What::Entry;
        if rules::are_plain(&place.rules) {
            users.extend(RuleFor::ids(&place.rules));
        }
    }
    if is_entry {
        breakpoints.spend_entry();
    }
    users.sort_unstable();
    users.dedup();
    if is_users {
        Hit::Users(users)
    } else if is_entry {
        Hit::Entry
    } else if breakpoints.has_temporary(hits) {
        Hit::Temporary
    } else if breakpoints.has_spent(hits) {
        Hit::Spent
    } else {
        Hit::Nobodys
    }
}

/// A breakpoint that was meant for a source as it is, in a script that was transpiled from it and could not be
/// looked at before it ran. It may be in the right place all the same.
async fn is_misplaced(debugger: &CdpDebugger, number: u64, spot: &Spot, stop: &Stop) -> bool {
    let Some(frame) = stop.frames.first().filter(|_| !spot.is_mapped) else { return false };
    let Some(script) = debugger.0.scripts.get(&frame.location.script_id) else { return false };
    let Some(Ok(map)) = script.map().await else { return false };
    let Some(path) = &script.path else { return false };
    if retarget(debugger, path, path, map).await.is_empty() {
        return false;
    }
    let place = debugger.0.breakpoints.place(number);
    let location = frames::location(debugger, &frame.location).await;
    let is_here =
        |place: Place| location.is_some_and(|location| location.line == place.line.saturating_add(1));
    !place.is_some_and(is_here)
}
