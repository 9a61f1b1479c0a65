//! Whose a pause at a breakpoint is.

use super::super::places::ScriptSpot;
use super::super::stop::V8Stop;
use super::super::{frames, rules};
use super::binder::BreakpointBinder;
use super::table::{BreakpointTarget, TargetKind};
use crate::debugger::RuleFor;
use crate::error::Result;
use crate::model::ids::BreakpointId;

/// Whose a pause is.
pub(in super::super) enum Hit {
    /// The user's.
    Users(Vec<BreakpointId>),
    /// The program is about to run its first line.
    Entry,
    /// A step's.
    Temporary,
    /// The program has reached its first line again.
    Spent,
    /// It no longer belongs to a breakpoint, or it is in the wrong place.
    Nobodys,
}

impl BreakpointBinder {
    /// Whose a pause at these is. `named` are those that the program named, because they have rules.
    pub(in super::super) async fn hit(
        &self,
        hits: &[String],
        named: Vec<BreakpointId>,
        stop: &V8Stop,
    ) -> Hit {
        let breakpoints = &self.table;
        let mut users = named.clone();
        users.retain(|id| !breakpoints.is_refused(*id));
        let mut is_users = !users.is_empty();
        let mut is_entry = breakpoints.has_entry_stop(hits);
        for (number, spot) in hits.iter().filter_map(|id| breakpoints.owner(id)) {
            if self.is_misplaced(number, &spot, stop).await {
                continue;
            }
            let Some(place) = breakpoints.place(number) else { continue };
            let is_undecided = !rules::are_plain(&place.rules)
                && place.kind != TargetKind::Entry
                && !RuleFor::ids(&place.rules).iter().any(|id| named.contains(id));
            if is_undecided {
                match self.enter(stop, &place.rules).await {
                    Ok(true) => users.extend(RuleFor::ids(&place.rules)),
                    Ok(false) => continue,
                    Err(error) => {
                        tracing::warn!(%error, "cannot check the hit count of a breakpoint");
                        continue;
                    }
                }
            }
            is_entry |= place.kind == TargetKind::Entry;
            is_users |= place.kind != TargetKind::Entry;
            if rules::are_plain(&place.rules) {
                users.extend(RuleFor::ids(&place.rules));
            }
        }
        if is_entry {
            breakpoints.end_entry_stop();
        }
        users.sort_unstable();
        users.dedup();
        if is_users {
            Hit::Users(users)
        } else if is_entry {
            Hit::Entry
        } else if breakpoints.has_temporary(hits) {
            Hit::Temporary
        } else if breakpoints.was_entry_stop(hits) {
            Hit::Spent
        } else {
            Hit::Nobodys
        }
    }

    /// Asks the program again, in a global object that could not decide.
    async fn enter(&self, stop: &V8Stop, rules: &[RuleFor]) -> Result<bool> {
        let frame = frames::frame(stop, &self.sources.scripts, stop.id_of(0)).await?;
        self.binding.enter(&frame, rules).await
    }

    /// A breakpoint for a source file as loaded, in a script that was transpiled from it and could not be read before
    /// it ran. It may still be in the right place.
    async fn is_misplaced(&self, number: u64, spot: &ScriptSpot, stop: &V8Stop) -> bool {
        let Some(frame) = stop.frames.first().filter(|_| !spot.is_mapped) else { return false };
        let Some(script) = self.sources.scripts.get(&frame.location.script_id) else { return false };
        let Some(path) = &script.path else { return false };
        let Some(Ok(map)) = script.map_to(path).await else { return false };
        if self.retarget(path, path, map).await.is_empty() {
            return false;
        }
        let place = self.table.place(number);
        let location = self.sources.location(&frame.location).await;
        let is_here = |place: BreakpointTarget| {
            location.is_some_and(|location| location.line == place.line.saturating_add(1))
        };
        !place.is_some_and(is_here)
    }
}
