//! What is wanted of a thread's breakpoints, what V8 knows of them, and whose they are.
//!
//! A place in a source becomes breakpoints on the files that it is, or will be, in; see `places`. Each place has
//! a number of its own. Reading order: `table` (what is wanted and known), this file (what changes it),
//! `planting` (how V8 hears of it), `hits` (whose a pause is), `unbound` (what came to nothing).

mod hits;
mod planting;
mod table;
mod unbound;

use std::path::Path;
use std::sync::Arc;

use ::cdp::debugger;
use futures_util::future;

use self::planting::{plant, set_spots};
use self::table::{Place, What};
use super::places::{self, Made, Spot, real};
use super::scripts::Script;
use super::{CdpDebugger, functions, insertions, lock, recording, transpiled};
use crate::debugger::{Event, FunctionBreakpoint, Planted, SourceBreakpoint};
use crate::error::Result;
use crate::model::ids::BreakpointId;
use crate::source_map::SourceMap;

pub(super) use self::hits::{Hit, hit};
pub(super) use self::planting::resolved;
pub(super) use self::table::Breakpoints;
pub(super) use self::unbound::never_bound;

/// Replaces the breakpoints of a source.
pub(super) async fn set_in_source(
    debugger: &CdpDebugger,
    path: &Path,
    wanted: Vec<SourceBreakpoint>,
) -> Result<Vec<Planted>> {
    let source = real(&debugger.0.shared.setup.to_remote(path));
    let made = if wanted.is_empty() { Vec::new() } else { made_of(debugger, &source).await };
    let places = wanted.into_iter().map(|wanted| Place::on_line(&source, &made, wanted)).collect();
    let recorded = debugger.0.breakpoints.recorded(&source);
    let (numbers, removed) = debugger.0.breakpoints.replace(&source, places);
    remove(debugger, removed).await?;
    end_recording(debugger, &source, recorded).await;
    plant_all(debugger, &numbers).await?;
    Ok(numbers.into_iter().map(|number| debugger.0.breakpoints.outcome(number)).collect())
}

/// Ends what is not to be recorded any more.
async fn end_recording(debugger: &CdpDebugger, source: &Path, before: Vec<BreakpointId>) {
    let now = debugger.0.breakpoints.recorded(source);
    let over: Vec<BreakpointId> = before.into_iter().filter(|id| !now.contains(id)).collect();
    if !over.is_empty() {
        recording::end(debugger, &over).await;
    }
}

/// A statement in the source records a place: V8 need not ask its condition any more.
pub(super) async fn inlined(debugger: &CdpDebugger, id: BreakpointId) {
    if let Err(error) = remove(debugger, debugger.0.breakpoints.release(id)).await {
        tracing::debug!(%error, "a breakpoint that is not needed stays");
    }
}

/// Has V8 forget some. While the thread is suspended, that waits until it is let go on: were the last one of a
/// function taken away while it is suspended there, V8 would pass over the next place in it that is set then.
pub(super) async fn remove(debugger: &CdpDebugger, ids: Vec<String>) -> Result<()> {
    if lock(&debugger.0.stop).is_some() {
        debugger.0.breakpoints.leave_later(ids);
        return Ok(());
    }
    forget(debugger, ids).await
}

/// The thread is let go on: V8 forgets what was removed meanwhile.
pub(super) async fn forget_removed(debugger: &CdpDebugger) {
    // One that V8 does not know any more is gone.
    let _ = forget(debugger, debugger.0.breakpoints.take_leaving()).await;
}

/// Has V8 forget some, each whatever becomes of the others.
async fn forget(debugger: &CdpDebugger, ids: Vec<String>) -> Result<()> {
    let forget = |breakpoint_id| debugger.request(debugger::RemoveBreakpoint { breakpoint_id });
    let answers = future::join_all(ids.into_iter().map(forget)).await;
    answers.into_iter().try_for_each(|answer| answer.map(|_| ()))
}

async fn plant_all(debugger: &CdpDebugger, numbers: &[u64]) -> Result<()> {
    transpiled::look_out(debugger, debugger.0.breakpoints.sources()).await;
    for number in numbers {
        plant(debugger, *number).await?;
    }
    insertions::look_out(debugger, debugger.0.breakpoints.only_recorded()).await;
    Ok(())
}

/// Has the program stop at a line of its script, and a column where that is needed, once.
pub(super) async fn set_entry(
    debugger: &CdpDebugger,
    script: &Path,
    (line, column): (u32, Option<u32>),
) -> Result<()> {
    let source = real(script);
    let made = made_of(debugger, &source).await;
    let wanted = SourceBreakpoint { line, column, rules: Vec::new() };
    let place = Place { what: What::Entry, ..Place::on_line(&source, &made, wanted) };
    let number = debugger.0.breakpoints.add(place);
    plant_all(debugger, &[number]).await
}

/// Whether something is wanted in a source of this path.
pub(super) fn is_wanted(debugger: &CdpDebugger, path: &Path) -> bool {
    debugger.0.breakpoints.sources().iter().any(|source| source == path)
}

/// Replaces the breakpoints on functions.
pub(super) async fn set_on_functions(
    debugger: &CdpDebugger,
    wanted: Vec<FunctionBreakpoint>,
) -> Result<Vec<Planted>> {
    let removed = debugger.0.breakpoints.replace_functions(wanted);
    remove(debugger, removed).await?;
    if !debugger.0.breakpoints.functions().is_empty() {
        for path in functions::candidates(debugger).await {
            look_into(debugger, &path).await?;
        }
    }
    Ok(debugger.0.breakpoints.function_outcomes())
}

/// Plants the functions that are wanted and stand in a file.
async fn look_into(debugger: &CdpDebugger, path: &Path) -> Result<Vec<u64>> {
    let source = real(path);
    let names = debugger.0.breakpoints.functions();
    let mut numbers = Vec::new();
    for (wanted, starts) in functions::find(debugger, &source, names).await {
        let made = made_of(debugger, &source).await;
        for (line, column) in starts {
            numbers.extend(debugger.0.breakpoints.add_function(&wanted, &source, &made, line, column));
        }
    }
    // Most files hold none of them, and nothing need be sent for those.
    if !numbers.is_empty() {
        plant_all(debugger, &numbers).await?;
    }
    Ok(numbers)
}

async fn made_of(debugger: &CdpDebugger, source: &Path) -> Vec<Made> {
    let (connection, source) = (Arc::clone(&debugger.0), source.to_owned());
    let find = move || {
        let shared = &connection.shared;
        let program = shared.setup.program.as_deref();
        places::made_of(&source, program, &connection.scripts, &shared.policy.safety)
    };
    tokio::task::spawn_blocking(find).await.unwrap_or_default()
}

/// A script was loaded. One that a compiler made may hold what is wanted and was not on disk before.
pub(super) async fn loaded(debugger: &CdpDebugger, script: &Arc<Script>) -> Vec<Event> {
    let Some(path) = &script.path else { return Vec::new() };
    let mut changed = Vec::new();
    if !debugger.0.breakpoints.functions().is_empty() && !debugger.0.shared.adapter.is_internal(path) {
        changed.extend(look_into(debugger, path).await.unwrap_or_default());
    }
    if !script.is_mapped() {
        return changed.into_iter().flat_map(|number| debugger.0.breakpoints.news(number)).collect();
    }
    for (source, is_found) in debugger.0.breakpoints.unbound_sources() {
        let is_itself = source == *path;
        let name = source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !is_itself
            && (is_found || debugger.0.shared.adapter.is_internal(path) || !script.may_mention(name).await)
        {
            continue;
        }
        if let Some(Ok(map)) = script.map().await {
            changed.extend(retarget(debugger, &source, path, map).await);
        }
    }
    changed.into_iter().flat_map(|number| debugger.0.breakpoints.news(number)).collect()
}

/// A script is about to run that a compiler made of a source: the source's places are where its map says.
pub(super) async fn retarget(
    debugger: &CdpDebugger,
    source: &Path,
    script: &Path,
    map: &Arc<SourceMap>,
) -> Vec<u64> {
    if map.source_of(source).is_none() {
        return Vec::new();
    }
    let numbers = debugger.0.breakpoints.made(source, script, map);
    for &number in &numbers {
        let Some(place) = debugger.0.breakpoints.place(number) else { continue };
        let mut spots: Vec<Spot> = place.spots.iter().map(|planted| planted.spot.clone()).collect();
        spots.retain(|spot| spot.path != script);
        spots.extend(places::mapped(source, script, map, place.line, place.column));
        if let Err(error) = set_spots(debugger, number, spots).await {
            tracing::warn!(%error, "a breakpoint could not be planted in transpiled code");
        }
    }
    numbers
}
