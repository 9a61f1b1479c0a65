//! Having V8 know a place.
//!
//! V8 binds a breakpoint on a URL when it compiles a script of that URL, before its first statement.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::cdp::debugger::{self, Location};

use super::super::places::{self, Spot};
use super::super::scripts::Script;
use super::super::{CdpDebugger, binding, columns, frames, renaming, rules};
use super::remove;
use super::table::{Place, PlantedSpot, What};
use crate::deadlines;
use crate::debugger::{Event, RuleFor};
use crate::error::{Error, Result};
use crate::source_map::SourceMap;

/// Has V8 know a place, unless it does already.
pub(super) async fn plant(debugger: &CdpDebugger, number: u64) -> Result<()> {
    let place = debugger.0.breakpoints.place(number).filter(|place| place.spots.is_empty());
    let Some(place) = place else { return Ok(()) };
    let mut spots = places::spots(&place.source, &place.made, place.line, place.column);
    if let Some((script, map)) = transpiled_itself(debugger, &place.source).await {
        spots.retain(|spot| spot.is_mapped);
        spots.extend(places::mapped(&place.source, &script, &map, place.line, place.column));
    }
    if place.column.is_some() {
        let paths: Vec<PathBuf> = spots.iter().map(|spot| spot.path.clone()).collect();
        let newest = |path: &PathBuf| debugger.0.scripts.newest(|script| script.path.as_ref() == Some(path));
        for script in paths.iter().filter_map(newest) {
            let last = last_spots(debugger, number, &place, &script).await;
            if !last.is_empty() {
                spots.retain(|spot| Some(&spot.path) != script.path.as_ref());
                spots.extend(last);
            }
        }
    }
    set_spots(debugger, number, spots).await
}

/// V8 takes the first place from a column on, and goes to another line when there is none. Then these are
/// meant: the last place on the line, in a script that is loaded, with its copies.
async fn last_spots(debugger: &CdpDebugger, number: u64, place: &Place, script: &Script) -> Vec<Spot> {
    // Where a function begins is known, and V8 goes on from there by itself.
    let wanted = place.column.filter(|_| place.what == What::Line);
    let (Some(wanted), Some(path)) = (wanted, &script.path) else { return Vec::new() };
    let found = columns::of_line(debugger, script, &place.source, place.line).await;
    let columns: Vec<u32> = found.iter().map(|at| at.column).collect();
    let last = columns.last().copied().filter(|last| *last < wanted);
    debugger.0.breakpoints.knows_columns(number, columns);
    let is_mapped = script.is_mapped();
    let taken = found.into_iter().filter(|at| Some(at.column) == last);
    let spot = |at: columns::Begin| {
        let (line, column) = at.generated;
        Spot { path: path.clone(), line, column, is_mapped }
    };
    taken.map(spot).collect()
}

/// The newest script of the source's own name that a compiler made on the fly.
async fn transpiled_itself(debugger: &CdpDebugger, source: &Path) -> Option<(PathBuf, Arc<SourceMap>)> {
    let is_it = |script: &Script| script.is_mapped() && script.path.as_deref() == Some(source);
    let newest = debugger.0.scripts.newest(is_it)?;
    let map = Arc::clone(newest.map().await?.ok()?);
    map.source_of(source)?;
    Some((newest.path.clone()?, map))
}

/// The map of the script that a spot is in.
async fn map_at(debugger: &CdpDebugger, place: &Place, spot: &Spot) -> Option<Arc<SourceMap>> {
    if let Some(made) = place.made.iter().find(|made| made.path == spot.path) {
        return Some(Arc::clone(&made.map));
    }
    transpiled_itself(debugger, &place.source).await.map(|(_, map)| map)
}

/// Makes the spots of a place these.
pub(super) async fn set_spots(debugger: &CdpDebugger, number: u64, spots: Vec<Spot>) -> Result<()> {
    let Some((surplus, missing)) = debugger.0.breakpoints.compare(number, spots) else { return Ok(()) };
    remove(debugger, surplus).await?;
    for spot in missing {
        set_spot(debugger, number, spot).await?;
    }
    Ok(())
}

/// A thread in native code answers when it comes back, and takes the breakpoint up then. It may wait there for
/// another thread, which in turn waits for us, so nobody waits for its answer for long.
async fn set_spot(debugger: &CdpDebugger, number: u64, spot: Spot) -> Result<()> {
    let setting = debugger.clone();
    let mut task = tokio::spawn(async move {
        let set = send_spot(&setting, number, spot).await;
        if setting.0.breakpoints.is_late(number) {
            for event in setting.0.breakpoints.news(number) {
                // Nobody listens any more when the session is ending.
                let _ = setting.0.events.send(event).await;
            }
        }
        set
    });
    // One that is suspended, or has not begun, answers however busy the machine is.
    let is_running = *debugger.0.is_running.borrow();
    let patience = if is_running { deadlines::GOODBYE } else { deadlines::CONNECT };
    if let Ok(done) = tokio::time::timeout(patience, &mut task).await {
        return done.unwrap_or(Err(Error::Lost));
    }
    debugger.0.breakpoints.wait_for(number);
    if task.is_finished() {
        // It has answered this moment, and nobody is told of it any more.
        debugger.0.breakpoints.is_late(number);
    }
    Ok(())
}

async fn send_spot(debugger: &CdpDebugger, number: u64, spot: Spot) -> Result<()> {
    let Some(place) = debugger.0.breakpoints.place(number) else { return Ok(()) };
    let map = map_at(debugger, &place, &spot).await;
    let rules = renaming::of_rules(debugger, &place.rules, &spot, map).await;
    let condition = match condition(debugger, &rules).await? {
        Ok(condition) => condition,
        Err(problem) => {
            debugger.0.breakpoints.refuse(number, problem);
            return Ok(());
        }
    };
    let set = debugger::SetBreakpointByUrl {
        line_number: i32::try_from(spot.line).unwrap_or(i32::MAX),
        column_number: Some(i32::try_from(spot.column).unwrap_or(i32::MAX)),
        url: None,
        url_regex: Some(url_pattern(&spot.path, number)),
        condition,
    };
    match debugger.0.client.request(set, deadlines::LONGEST_WAIT).await.map_err(Error::from) {
        Ok(set) => {
            if !debugger.0.breakpoints.planted(number, spot, set.breakpoint_id.clone()) {
                let breakpoint_id = set.breakpoint_id;
                return debugger.request(debugger::RemoveBreakpoint { breakpoint_id }).await.map(|_| ());
            }
            for location in set.locations {
                bind(debugger, &set.breakpoint_id, &location).await;
            }
            Ok(())
        }
        Err(Error::Refused(message)) => {
            debugger.0.breakpoints.refuse(number, format!("V8 does not take it: {message}"));
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// The condition that V8 evaluates; none where it stops at every pass.
async fn condition(
    debugger: &CdpDebugger,
    rules: &[RuleFor],
) -> Result<std::result::Result<Option<String>, String>> {
    if rules.is_empty() || rules::are_plain(rules) {
        return Ok(Ok(None));
    }
    if rules.iter().any(|rule| rule.rule.record.is_some()) {
        binding::bind_recorder(debugger).await?;
    } else {
        binding::bind_program(debugger).await?;
    }
    Ok(rules::condition(rules, debugger.0.kind.thread()).map(Some))
}

/// V8 has given a breakpoint a place.
async fn bind(debugger: &CdpDebugger, id: &str, at: &Location) -> Option<u64> {
    let (number, spot) = debugger.0.breakpoints.owner(id)?;
    let is_exact = frames::position(at) == (spot.line, spot.column);
    let place = debugger.0.breakpoints.place(number)?;
    let wanted = place.line.saturating_add(1);
    let bound = match frames::location(debugger, at).await {
        Some(location) if location.line == wanted || !(spot.is_mapped && is_exact) => {
            (location.line, location.column)
        }
        // Minified code of several lines is one statement, which is the right place for each of them.
        _ => (wanted, place.column.unwrap_or(0).saturating_add(1)),
    };
    debugger.0.breakpoints.bound(id, bound);
    Some(number)
}

/// A breakpoint that was set before its script was loaded has a place now.
pub(in super::super) async fn resolved(debugger: &CdpDebugger, id: &str, at: &Location) -> Vec<Event> {
    match bind(debugger, id, at).await {
        Some(number) => {
            settle_column(debugger, number, &at.script_id).await;
            debugger.0.breakpoints.news(number)
        }
        None => Vec::new(),
    }
}

/// A place with a column has come to be on another line: the last place on its own line is meant.
async fn settle_column(debugger: &CdpDebugger, number: u64, script_id: &str) {
    let place = debugger.0.breakpoints.place(number).filter(|place| place.what == What::Line);
    let Some(place) = place else { return };
    let Some(script) = debugger.0.scripts.get(script_id) else { return };
    let line = place.line.saturating_add(1);
    let is_on_line = |planted: &PlantedSpot| planted.bound.is_some_and(|(bound, _)| bound == line);
    if place.column.is_none() || place.spots.iter().any(is_on_line) {
        return;
    }
    let last = last_spots(debugger, number, &place, &script).await;
    if last.is_empty() {
        return;
    }
    let spots = place.spots.into_iter().map(|planted| planted.spot);
    let others = spots.filter(|spot| Some(&spot.path) != script.path.as_ref());
    if let Err(error) = set_spots(debugger, number, others.chain(last).collect()).await {
        tracing::warn!(%error, "a breakpoint could not be moved back to its line");
    }
}

/// A regular expression for the URLs under which Node loads a file: with or without `file:`, with special
/// characters encoded or not, with or without a query.
///
/// V8 takes no second breakpoint for the same line, column and expression, so the number of its place makes
/// each a different one.
fn url_pattern(path: &Path, number: u64) -> String {
    let mut pattern = String::from("^(?:file://)?");
    for character in path.to_string_lossy().chars() {
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
    pattern + &format!("|^stillframe:{number}$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_match_whatever_way_they_are_written() {
        let pattern = url_pattern(Path::new("/a b/é-1.js"), 7);
        let expected = r"^(?:file://)?/a(?:\ |%20)b/(?:é|%C3%A9)-1(?:\.|%2E)js(?:[?#].*)?$|^stillframe:7$";
        assert_eq!(pattern, expected);
    }
}
