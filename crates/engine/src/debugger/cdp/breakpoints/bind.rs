//! Having V8 know a place.
//!
//! V8 binds a breakpoint on a URL when it compiles a script of that URL, before its first statement.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::cdp::debugger::{self, Location};

use super::super::places::{self, ScriptSpot};
use super::super::scripts::{Script, position};
use super::super::{columns, renaming, rules};
use super::binder::BreakpointBinder;
use super::table::{BreakpointTarget, TargetKind, V8Breakpoint};
use crate::deadlines;
use crate::debugger::{Event, RuleFor};
use crate::error::{Error, Result};
use crate::javascript::ScriptOutline;
use crate::source_map::SourceMap;

/// Why a breakpoint is nowhere although its line holds code.
const LEFT_OUT: &str = "V8 has not compiled this line; it skips functions that nothing references";

impl BreakpointBinder {
    /// Has V8 know a place, unless it does already.
    pub(super) async fn bind_place(&self, number: u64) -> Result<()> {
        let is_new = |place: &BreakpointTarget| place.spots.is_empty() && place.refused.is_none();
        let place = self.table.place(number).filter(is_new);
        let Some(place) = place else { return Ok(()) };
        let mut spots = places::spots(&place.source, &place.made, place.line, place.column);
        if let Some((script, map)) = self.transpiled_itself(&place.source).await {
            spots.retain(|spot| spot.is_mapped);
            spots.extend(places::mapped(&place.source, &script, &map, place.line, place.column));
        }
        if place.column.is_some() {
            let paths: Vec<PathBuf> = spots.iter().map(|spot| spot.path.clone()).collect();
            let newest =
                |path: &PathBuf| self.sources.scripts.newest(|script| script.path.as_ref() == Some(path));
            for script in paths.iter().filter_map(newest) {
                let last = self.last_spots(number, &place, &script).await;
                if !last.is_empty() {
                    spots.retain(|spot| Some(&spot.path) != script.path.as_ref());
                    spots.extend(last);
                }
            }
        }
        self.set_spots(number, spots).await
    }

    /// V8 takes the first place from a column on, and goes to another line when there is none. Then these are
    /// meant: the last place on the line, in a script that is loaded, with its copies.
    async fn last_spots(&self, number: u64, place: &BreakpointTarget, script: &Script) -> Vec<ScriptSpot> {
        // V8 moves on from the beginning of a function by itself.
        let wanted = place.column.filter(|_| place.kind == TargetKind::Line);
        let (Some(wanted), Some(path)) = (wanted, &script.path) else { return Vec::new() };
        let found = columns::of_line(&self.v8, script, &place.source, place.line).await;
        let columns: Vec<u32> = found.iter().map(|at| at.column).collect();
        let last = columns.last().copied().filter(|last| *last < wanted);
        self.table.set_columns(number, columns);
        let is_mapped = script.is_mapped();
        let taken = found.into_iter().filter(|at| Some(at.column) == last);
        let spot = |at: columns::CodeStart| {
            let (line, column) = at.generated;
            ScriptSpot { path: path.clone(), line, column, is_mapped }
        };
        taken.map(spot).collect()
    }

    /// The newest script of the source's own name that a compiler made on the fly.
    async fn transpiled_itself(&self, source: &Path) -> Option<(PathBuf, Arc<SourceMap>)> {
        let is_it = |script: &Script| script.is_mapped() && script.path.as_deref() == Some(source);
        let newest = self.sources.scripts.newest(is_it)?;
        let map = Arc::clone(newest.map_to(source).await?.ok()?);
        map.source_of(source)?;
        Some((newest.path.clone()?, map))
    }

    async fn map_at(&self, place: &BreakpointTarget, spot: &ScriptSpot) -> Option<Arc<SourceMap>> {
        if let Some(made) = place.made.iter().find(|made| made.path == spot.path) {
            return Some(Arc::clone(&made.map));
        }
        self.transpiled_itself(&place.source).await.map(|(_, map)| map)
    }

    /// Makes the spots of a place these.
    pub(super) async fn set_spots(&self, number: u64, spots: Vec<ScriptSpot>) -> Result<()> {
        let Some((surplus, missing)) = self.table.compare(number, spots) else { return Ok(()) };
        for spot in missing {
            self.set_spot(number, spot).await?;
        }
        // Not before: were the last one of a function taken away first, V8 would pass over the next one in it.
        self.remove(surplus).await
    }

    /// A thread in native code responds when it returns, and binds the breakpoint then. It may be waiting for another
    /// thread, which in turn waits for us, so no one waits long for its response.
    async fn set_spot(&self, number: u64, spot: ScriptSpot) -> Result<()> {
        let setting = self.clone();
        let mut task = tokio::spawn(async move {
            let set = setting.send_spot(number, spot).await;
            if setting.table.is_late(number) {
                for event in setting.table.news(number) {
                    // The receiver is gone when the session is ending.
                    let _ = setting.events.send(event).await;
                }
            }
            set
        });
        // One that is suspended, or has not begun, answers however busy the machine is.
        let is_running = self.run.is_running();
        let patience = if is_running { deadlines::GOODBYE } else { deadlines::CONNECT };
        if let Ok(done) = tokio::time::timeout(patience, &mut task).await {
            return done.unwrap_or(Err(Error::Lost));
        }
        self.table.wait_for(number);
        if task.is_finished() {
            // It has just responded, so the change needs no event.
            self.table.is_late(number);
        }
        Ok(())
    }

    async fn send_spot(&self, number: u64, spot: ScriptSpot) -> Result<()> {
        let Some(place) = self.table.place(number) else { return Ok(()) };
        let map = self.map_at(&place, &spot).await;
        let rules = renaming::of_rules(&self.sources, &place.rules, &spot, map).await;
        let condition = match self.condition(&rules).await? {
            Ok(condition) => condition,
            Err(problem) => {
                self.table.refuse(number, problem);
                return Ok(());
            }
        };
        let set = debugger::SetBreakpointByUrl {
            line_number: i32::try_from(spot.line).unwrap_or(i32::MAX),
            column_number: Some(i32::try_from(spot.column).unwrap_or(i32::MAX)),
            url: None,
            url_regex: Some(url_pattern(&spot, number)),
            condition,
        };
        match self.v8.request_within(deadlines::LONGEST_WAIT, set).await.map_err(Error::from) {
            Ok(set) => {
                if !self.table.add_breakpoint(number, spot, set.breakpoint_id.clone()) {
                    let breakpoint_id = set.breakpoint_id;
                    return self.v8.request(debugger::RemoveBreakpoint { breakpoint_id }).await.map(|_| ());
                }
                for location in set.locations {
                    self.bind(&set.breakpoint_id, &location).await;
                }
                Ok(())
            }
            Err(Error::Refused(message)) => {
                self.table.refuse(number, format!("V8 rejected it: {message}"));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// The condition that V8 evaluates; none if it stops at each hit.
    async fn condition(&self, rules: &[RuleFor]) -> Result<std::result::Result<Option<String>, String>> {
        if rules.is_empty() || rules::are_plain(rules) {
            return Ok(Ok(None));
        }
        if rules.iter().any(|rule| rule.rule.record.is_some()) {
            self.binding.bind_recorder().await?;
        } else {
            self.binding.bind_program().await?;
        }
        Ok(rules::condition(rules, self.thread.name()).map(Some))
    }

    /// V8 has given a breakpoint a place.
    async fn bind(&self, id: &str, at: &Location) -> Option<u64> {
        let (number, spot) = self.table.owner(id)?;
        let is_exact = position(at) == (spot.line, spot.column);
        let place = self.table.place(number)?;
        let wanted = place.line.saturating_add(1);
        // The script may lead to a file that is not the source: what that was compiled from, or the script itself.
        let source = self.sources.program.setup.to_local(&place.source);
        let location = self.sources.location(at).await.filter(|location| location.source.is_file(&source));
        let is_on_line = location.as_ref().is_some_and(|location| location.line == wanted);
        if !is_exact
            && place.kind != TargetKind::Entry
            && self.is_in_other_function(&spot, at, is_on_line).await
        {
            self.table.mark_unbound(id, LEFT_OUT);
            // V8 no longer knows it.
            let _ = self.remove(vec![id.to_owned()]).await;
            return Some(number);
        }
        let bound = match location {
            Some(location) if location.line == wanted || !(spot.is_mapped && is_exact) => {
                (location.line, location.column)
            }
            None if !spot.is_mapped => {
                let (line, column) = position(at);
                (line.saturating_add(1), column.saturating_add(1))
            }
            // Minified code of several lines is one statement, which is the right place for each of them.
            _ => (wanted, place.column.unwrap_or(0).saturating_add(1)),
        };
        self.table.bound(id, bound);
        Some(number)
    }

    /// V8 moves on to the next code that it has. If it has left out a whole function, this is in another function,
    /// which only the source text shows.
    async fn is_in_other_function(&self, spot: &ScriptSpot, at: &Location, is_on_line: bool) -> bool {
        let Some(script) = self.sources.scripts.get(&at.script_id) else { return false };
        let wanted = script.in_text((spot.line, spot.column));
        let share = move |outline: &ScriptOutline, at| outline.share_function(wanted, at, is_on_line);
        script.at_outline(at, share).await == Some(false)
    }

    /// A breakpoint that was set before its script was loaded has a place now.
    pub(in super::super) async fn resolved(&self, id: &str, at: &Location) -> Vec<Event> {
        match self.bind(id, at).await {
            Some(number) => {
                self.settle_column(number, &at.script_id).await;
                self.table.news(number)
            }
            None => Vec::new(),
        }
    }

    /// A place with a column has come to be on another line: use the last place on its own line.
    async fn settle_column(&self, number: u64, script_id: &str) {
        let place = self.table.place(number).filter(|place| place.kind == TargetKind::Line);
        let Some(place) = place else { return };
        let Some(script) = self.sources.scripts.get(script_id) else { return };
        let line = place.line.saturating_add(1);
        let is_on_line = |bound_spot: &V8Breakpoint| bound_spot.bound.is_some_and(|(bound, _)| bound == line);
        if place.column.is_none() || place.spots.iter().any(is_on_line) {
            return;
        }
        let last = self.last_spots(number, &place, &script).await;
        if last.is_empty() {
            return;
        }
        let spots = place.spots.into_iter().map(|bound_spot| bound_spot.spot);
        let others = spots.filter(|spot| Some(&spot.path) != script.path.as_ref());
        if let Err(error) = self.set_spots(number, others.chain(last).collect()).await {
            tracing::warn!(%error, "cannot move a breakpoint back to its line");
        }
    }
}

/// A regular expression for the URLs under which Node loads a file: with or without `file:`, with special
/// characters encoded or not, with or without a query.
///
/// V8 rejects a second breakpoint for the same line, column and expression, so the number of its location makes each
/// one different. So does a map, because a compiler may leave a line where it is in the source: the mapped spot is set
/// before the other one is removed.
fn url_pattern(spot: &ScriptSpot, number: u64) -> String {
    let mut pattern = String::from("^(?:file://)?");
    for character in spot.path.to_string_lossy().chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '/' | '_' | '-') {
            pattern.push(character);
            continue;
        }
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).bytes();
        let encoded = bytes.map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
        let plain = if character.is_ascii() { format!("\\{character}") } else { character.to_string() };
        pattern.extend(["(?:", plain.as_str(), "|", encoded.as_str(), ")"]);
    }
    pattern.push_str("(?:[?#].*)?$");
    let kind = if spot.is_mapped { "mapped:" } else { "" };
    pattern + &format!("|^stillframe:{kind}{number}$")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn urls_match_in_any_notation() {
        let path = PathBuf::from("/a b/é-1.js");
        let pattern = url_pattern(&ScriptSpot { path, line: 0, column: 0, is_mapped: false }, 7);
        let expected = r"^(?:file://)?/a(?:\ |%20)b/(?:é|%C3%A9)-1(?:\.|%2E)js(?:[?#].*)?$|^stillframe:7$";
        assert_eq!(pattern, expected);
    }
}
