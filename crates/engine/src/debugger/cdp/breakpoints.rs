//! What is wanted of a thread's breakpoints, what V8 knows of them, and whose they are.
//!
//! V8 binds a breakpoint on a URL when it compiles a script of that URL, before its first statement. So a
//! place in a source becomes breakpoints on the files that it is, or will be, in; see `places`. Each line has a
//! number of its own, under which its rules count.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ::cdp::debugger::{self, Location};
use ::cdp::runtime;

use super::places::{self, Made, Spot};
use super::scripts::Script;
use super::stops::Stop;
use super::{CdpDebugger, columns, frames, functions, lock, renaming, rules, transpiled};
use crate::deadlines;
use crate::debugger::{Event, FunctionBreakpoint, Planted, RuleFor, SourceBreakpoint};
use crate::error::{Error, Result};
use crate::model::ids::BreakpointId;
use crate::source_map::SourceMap;
use crate::sources;

/// All breakpoints of a thread.
#[derive(Debug, Default)]
pub(super) struct Breakpoints(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// The numbers of the places on lines, by the real paths of the sources.
    sources: HashMap<PathBuf, Vec<u64>>,
    /// Functions that are wanted wherever they are.
    functions: Vec<Named>,
    /// By their numbers.
    places: HashMap<u64, Place>,
    /// What V8's names of breakpoints stand for.
    owners: HashMap<String, u64>,
    /// Breakpoints of our own, for steps.
    temporary: HashSet<String>,
    last_number: u64,
    /// The program can talk to us.
    has_binding: bool,
}

/// A function that is wanted by its name.
#[derive(Debug)]
struct Named {
    function: FunctionBreakpoint,
    /// The numbers of the places where functions of that name begin.
    places: Vec<u64>,
}

/// What is wanted at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Breakpoints on the line.
    Line,
    /// Breakpoints on the function that begins there.
    Function,
    /// The stop before the program's first line.
    Entry,
}

/// A place that is wanted.
#[derive(Clone, Debug)]
struct Place {
    what: What,
    /// The real path of the source.
    source: PathBuf,
    /// The scripts that are known to be made of it.
    made: Vec<Made>,
    /// 0-based.
    line: u32,
    /// 0-based, in UTF-16 units.
    column: Option<u32>,
    rules: Vec<RuleFor>,
    /// What V8 knows of it.
    spots: Vec<PlantedSpot>,
    /// What keeps V8 from taking it.
    refused: Option<String>,
    /// The thread has not answered yet.
    is_late: bool,
    /// The columns of the line where V8 has places, 1-based, once it was asked.
    columns: Vec<u32>,
}

#[derive(Clone, Debug)]
struct PlantedSpot {
    spot: Spot,
    /// V8's name for it.
    id: String,
    /// The line and column in the source, 1-based, that it is bound to; none while its script is not loaded.
    bound: Option<(u32, u32)>,
}

/// Whose a pause is.
pub(super) enum Hit {
    /// The user's.
    Users(Vec<BreakpointId>),
    /// The program is about to run its first line.
    Entry,
    /// A step's.
    Temporary,
    /// Nobody's any more, or it is in the wrong place.
    Nobodys,
}

/// Replaces the breakpoints of a source.
pub(super) async fn set_in_source(
    debugger: &CdpDebugger,
    path: &Path,
    wanted: Vec<SourceBreakpoint>,
) -> Result<Vec<Planted>> {
    let source = real(&debugger.0.shared.setup.to_remote(path));
    let made = made_of(debugger, &source, !wanted.is_empty()).await;
    let places = wanted.into_iter().map(|wanted| Place::on_line(&source, &made, wanted)).collect();
    let (numbers, removed) = debugger.0.breakpoints.replace(&source, places);
    remove(debugger, removed).await?;
    plant_all(debugger, &numbers).await?;
    Ok(numbers.into_iter().map(|number| debugger.0.breakpoints.outcome(number)).collect())
}

async fn remove(debugger: &CdpDebugger, ids: Vec<String>) -> Result<()> {
    for breakpoint_id in ids {
        debugger.request(debugger::RemoveBreakpoint { breakpoint_id }).await?;
    }
    Ok(())
}

async fn plant_all(debugger: &CdpDebugger, numbers: &[u64]) -> Result<()> {
    transpiled::look_out(debugger, debugger.0.breakpoints.sources()).await?;
    for number in numbers {
        plant(debugger, *number).await?;
    }
    Ok(())
}

/// Has the program stop before a line of its script, once.
pub(super) async fn set_entry(debugger: &CdpDebugger, script: &Path, line: u32) -> Result<()> {
    let source = real(script);
    let made = made_of(debugger, &source, true).await;
    let wanted = SourceBreakpoint { line, column: None, rules: Vec::new() };
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
        let made = made_of(debugger, &source, true).await;
        for (line, column) in starts {
            numbers.extend(debugger.0.breakpoints.add_function(&wanted, &source, &made, line, column));
        }
    }
    plant_all(debugger, &numbers).await?;
    Ok(numbers)
}

/// Node reports scripts under their real paths.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

async fn made_of(debugger: &CdpDebugger, source: &Path, is_needed: bool) -> Vec<Made> {
    if !is_needed {
        return Vec::new();
    }
    let (connection, source) = (Arc::clone(&debugger.0), source.to_owned());
    let find =
        move || places::made_of(&source, connection.shared.setup.program.as_deref(), &connection.scripts);
    tokio::task::spawn_blocking(find).await.unwrap_or_default()
}

/// Has V8 know a place, unless it does already.
async fn plant(debugger: &CdpDebugger, number: u64) -> Result<()> {
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
async fn set_spots(debugger: &CdpDebugger, number: u64, spots: Vec<Spot>) -> Result<()> {
    let Some((surplus, missing)) = debugger.0.breakpoints.compare(number, spots) else { return Ok(()) };
    for breakpoint_id in surplus {
        debugger.request(debugger::RemoveBreakpoint { breakpoint_id }).await?;
    }
    for spot in missing {
        set_spot(debugger, number, spot).await?;
    }
    Ok(())
}

/// A thread in native code answers when it comes back, and takes the breakpoint up then. It may wait there for
/// another thread, which in turn waits for us, so nobody waits for its answer for long.
async fn set_spot(debugger: &CdpDebugger, number: u64, spot: Spot) -> Result<()> {
    let setting = debugger.clone();
    let task = tokio::spawn(async move {
        let set = send_spot(&setting, number, spot).await;
        if setting.0.breakpoints.is_late(number) {
            for event in setting.0.breakpoints.news(number) {
                // Nobody listens any more when the session is ending.
                let _ = setting.0.events.send(event).await;
            }
        }
        set
    });
    match tokio::time::timeout(deadlines::GOODBYE, task).await {
        Ok(Ok(set)) => set,
        Ok(Err(_)) | Err(_) => {
            debugger.0.breakpoints.wait_for(number);
            Ok(())
        }
    }
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
            debugger.0.breakpoints.planted(number, spot, set.breakpoint_id.clone());
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
    if debugger.0.breakpoints.needs_binding() {
        let binding = runtime::AddBinding { name: rules::BINDING.to_owned(), ..Default::default() };
        debugger.0.client.request(binding, deadlines::LONGEST_WAIT).await?;
    }
    Ok(rules::condition(rules).map(Some))
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
pub(super) async fn resolved(debugger: &CdpDebugger, id: &str, at: &Location) -> Vec<Event> {
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

/// What is left to say of places that were never bound, when the program ends.
pub(super) async fn never_bound(debugger: &CdpDebugger) -> Vec<Event> {
    let mut events = Vec::new();
    for place in debugger.0.breakpoints.unbound() {
        let planted = Planted::NotLoaded(why_not(debugger, &place).await);
        events.extend(
            RuleFor::ids(&place.rules).into_iter().map(|id| Event::Planted { id, planted: planted.clone() }),
        );
    }
    events
}

async fn why_not(debugger: &CdpDebugger, place: &Place) -> String {
    for script in debugger.0.scripts.mapped() {
        let name = place.source.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        match script.map().await {
            Some(Ok(map)) if map.source_of(&place.source).is_some() => {
                if let Some(problem) = places::problem(&place.source, &script, map, place.line) {
                    return format!("`{}` was loaded, but {problem}", script.url);
                }
            }
            Some(Err(problem)) if stem(&script.path) == Path::new(name).file_stem() => {
                return format!("`{}` was loaded, but its source map is of no use: {problem}", script.url);
            }
            _ => {}
        }
    }
    let loaded = debugger.0.scripts.paths();
    if loaded.contains(&place.source) {
        return "its file was loaded, and has no code on or after the line".to_owned();
    }
    let shared = &debugger.0.shared;
    let users = loaded.iter().filter(|path| !shared.adapter.is_internal(path) && **path != shared.setup.hook);
    let names: Vec<String> = users.map(|path| path.display().to_string()).collect();
    sources::not_loaded(&place.source, names)
}

fn stem(path: &Option<PathBuf>) -> Option<&std::ffi::OsStr> {
    path.as_deref().and_then(Path::file_stem)
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
        let encoded: String =
            character.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")).collect();
        let plain = if character.is_ascii() { format!("\\{character}") } else { character.to_string() };
        pattern.push_str(&format!("(?:{plain}|{encoded})"));
    }
    pattern.push_str("(?:[?#].*)?$");
    pattern + &format!("|^stillframe:{number}$")
}

impl Breakpoints {
    /// Takes up what is wanted in a source: the numbers of its places, in order, and V8's names of those that
    /// are not wanted any more. A place that is wanted as before is left alone, and its passes count on.
    fn replace(&self, source: &Path, wanted: Vec<Place>) -> (Vec<u64>, Vec<String>) {
        let mut table = lock(&self.0);
        let before = table.sources.remove(source).unwrap_or_default();
        let mut numbers = Vec::with_capacity(wanted.len());
        for place in wanted {
            let known = before.iter().copied().find(|number| {
                table.places.get(number).is_some_and(|known| known.is_wanted_as(&place))
            });
            numbers.push(known.unwrap_or_else(|| table.add(place)));
        }
        let mut removed = Vec::new();
        for number in before.into_iter().filter(|number| !numbers.contains(number)) {
            removed.extend(table.remove(number));
        }
        if !numbers.is_empty() {
            table.sources.insert(source.to_owned(), numbers.clone());
        }
        (numbers, removed)
    }

    /// Takes up which functions are wanted, and gives V8's names of what is not wanted any more.
    fn replace_functions(&self, wanted: Vec<FunctionBreakpoint>) -> Vec<String> {
        let mut table = lock(&self.0);
        let mut before = std::mem::take(&mut table.functions);
        for function in wanted {
            let known = before.iter().position(|known| known.function == function);
            let named = known.map(|at| before.swap_remove(at));
            table.functions.push(named.unwrap_or_else(|| Named { function, places: Vec::new() }));
        }
        let places = before.into_iter().flat_map(|named| named.places);
        places.flat_map(|number| table.remove(number)).collect()
    }

    /// The functions that are wanted.
    pub(super) fn functions(&self) -> Vec<FunctionBreakpoint> {
        lock(&self.0).functions.iter().map(|named| named.function.clone()).collect()
    }

    fn add(&self, place: Place) -> u64 {
        lock(&self.0).add(place)
    }

    /// Takes up where a function begins, 0-based; none when that is known already.
    fn add_function(
        &self,
        wanted: &FunctionBreakpoint,
        source: &Path,
        made: &[Made],
        line: u32,
        column: u32,
    ) -> Option<u64> {
        let mut table = lock(&self.0);
        let place = Place {
            what: What::Function,
            source: source.to_owned(),
            made: made.to_vec(),
            line,
            column: Some(column),
            rules: wanted.rules.clone(),
            spots: Vec::new(),
            refused: None,
            is_late: false,
            columns: Vec::new(),
        };
        let at = table.functions.iter().position(|named| named.function == *wanted)?;
        let known = table.functions.get(at)?.places.iter().filter_map(|number| table.places.get(number));
        if known.into_iter().any(|known| known.is_wanted_as(&place)) {
            return None;
        }
        let number = table.add(place);
        table.functions.get_mut(at)?.places.push(number);
        Some(number)
    }

    /// What became of the functions that are wanted, in their order.
    fn function_outcomes(&self) -> Vec<Planted> {
        let table = lock(&self.0);
        let outcome = |named: &Named| {
            let places = named.places.iter().filter_map(|number| table.places.get(number));
            let bound = places.map(Place::outcome).find(|outcome| matches!(outcome, Planted::Bound { .. }));
            bound.unwrap_or_else(|| {
                Planted::NotLoaded(format!(
                    "the program has loaded no function `{}` of its own so far, and stops when one is entered",
                    named.function.name
                ))
            })
        };
        table.functions.iter().map(outcome).collect()
    }

    /// The sources in which something is wanted.
    fn sources(&self) -> Vec<PathBuf> {
        let table = lock(&self.0);
        let mut sources: Vec<PathBuf> = table.places.values().map(|place| place.source.clone()).collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    fn place(&self, number: u64) -> Option<Place> {
        lock(&self.0).places.get(&number).cloned()
    }

    /// What to remove and what to set to make the spots of a place these.
    fn compare(&self, number: u64, spots: Vec<Spot>) -> Option<(Vec<String>, Vec<Spot>)> {
        let mut table = lock(&self.0);
        let place = table.places.get_mut(&number)?;
        let surplus: Vec<String> = place
            .spots
            .extract_if(.., |planted| !spots.contains(&planted.spot))
            .map(|planted| planted.id)
            .collect();
        let is_known = |spot: &Spot| place.spots.iter().any(|planted| planted.spot == *spot);
        let missing = spots.into_iter().filter(|spot| !is_known(spot)).collect();
        for id in &surplus {
            table.owners.remove(id);
        }
        Some((surplus, missing))
    }

    fn planted(&self, number: u64, spot: Spot, id: String) {
        let mut table = lock(&self.0);
        table.owners.insert(id.clone(), number);
        if let Some(place) = table.places.get_mut(&number) {
            place.refused = None;
            place.spots.push(PlantedSpot { spot, id, bound: None });
        }
    }

    fn refuse(&self, number: u64, problem: String) {
        if let Some(place) = lock(&self.0).places.get_mut(&number) {
            place.refused = Some(problem);
        }
    }

    /// The thread takes it up when it comes back from native code.
    fn wait_for(&self, number: u64) {
        if let Some(place) = lock(&self.0).places.get_mut(&number) {
            place.is_late = true;
        }
    }

    /// Whether somebody has been told that the thread has not answered yet.
    fn is_late(&self, number: u64) -> bool {
        let mut table = lock(&self.0);
        table.places.get_mut(&number).is_some_and(|place| std::mem::take(&mut place.is_late))
    }

    /// True once.
    fn needs_binding(&self) -> bool {
        !std::mem::replace(&mut lock(&self.0).has_binding, true)
    }

    fn owner(&self, id: &str) -> Option<(u64, Spot)> {
        let table = lock(&self.0);
        let number = *table.owners.get(id)?;
        let planted = table.places.get(&number)?.spots.iter().find(|planted| planted.id == id)?;
        Some((number, planted.spot.clone()))
    }

    fn knows_columns(&self, number: u64, columns: Vec<u32>) {
        if let Some(place) = lock(&self.0).places.get_mut(&number) {
            place.columns = columns.into_iter().map(|column| column.saturating_add(1)).collect();
        }
    }

    fn bound(&self, id: &str, at: (u32, u32)) {
        let mut table = lock(&self.0);
        let Some(&number) = table.owners.get(id) else { return };
        let place = table.places.get_mut(&number);
        if let Some(planted) = place.and_then(|place| place.spots.iter_mut().find(|planted| planted.id == id))
        {
            planted.bound = Some(at);
        }
    }

    fn outcome(&self, number: u64) -> Planted {
        lock(&self.0)
            .places
            .get(&number)
            .map_or_else(|| Planted::Refused("it was removed meanwhile".to_owned()), Place::outcome)
    }

    /// What is known of a place, for each breakpoint there.
    fn news(&self, number: u64) -> Vec<Event> {
        let Some(place) = self.place(number) else { return Vec::new() };
        let planted = place.outcome();
        let ids = RuleFor::ids(&place.rules).into_iter();
        ids.map(|id| Event::Planted { id, planted: planted.clone() }).collect()
    }

    /// The sources with places that are not bound, and whether a script is known that is made of them.
    fn unbound_sources(&self) -> Vec<(PathBuf, bool)> {
        let table = lock(&self.0);
        let unbound = table.places.values().filter(|place| !place.is_bound());
        let mut sources: Vec<(PathBuf, bool)> =
            unbound.map(|place| (place.source.clone(), !place.made.is_empty())).collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// The places on lines that are not bound.
    fn unbound(&self) -> Vec<Place> {
        let table = lock(&self.0);
        let is_open = |place: &&Place| {
            place.what == What::Line && !place.is_bound() && place.refused.is_none()
        };
        table.places.values().filter(is_open).cloned().collect()
    }

    /// Notes that a script is made of a source, and gives the numbers of the source's places.
    fn made(&self, source: &Path, script: &Path, map: &Arc<SourceMap>) -> Vec<u64> {
        let mut table = lock(&self.0);
        let mut numbers = Vec::new();
        for (number, place) in table.places.iter_mut().filter(|(_, place)| place.source == source) {
            numbers.push(*number);
            if script != source {
                place.made.retain(|made| made.path != script);
                place.made.push(Made { path: script.to_owned(), map: Arc::clone(map) });
            }
        }
        numbers
    }

    pub(super) fn add_temporary(&self, id: String) {
        lock(&self.0).temporary.insert(id);
    }

    pub(super) fn remove_temporary(&self, id: &str) {
        lock(&self.0).temporary.remove(id);
    }

    /// Whose a pause at these is. `told` are those that the program named, because they have rules.
    pub(super) async fn hit(
        &self,
        debugger: &CdpDebugger,
        hits: &[String],
        told: Vec<BreakpointId>,
        stop: &Stop,
    ) -> Hit {
        let mut users = told;
        let mut is_users = !users.is_empty();
        let mut is_entry = false;
        for (number, spot) in hits.iter().filter_map(|id| self.owner(id)) {
            if is_misplaced(debugger, &spot, stop).await {
                continue;
            }
            let Some(place) = self.place(number) else { continue };
            is_entry |= place.what == What::Entry;
            is_users |= place.what != What::Entry;
            if rules::are_plain(&place.rules) {
                users.extend(RuleFor::ids(&place.rules));
            }
        }
        users.sort_unstable();
        users.dedup();
        let table = lock(&self.0);
        match is_users {
            true => Hit::Users(users),
            false if is_entry => Hit::Entry,
            false if hits.iter().any(|id| table.temporary.contains(id)) => Hit::Temporary,
            false => Hit::Nobodys,
        }
    }
}

/// A breakpoint that was meant for a source as it is, in a script that was transpiled from it and could not be
/// looked at before it ran.
async fn is_misplaced(debugger: &CdpDebugger, spot: &Spot, stop: &Stop) -> bool {
    let Some(frame) = stop.frames.first().filter(|_| !spot.is_mapped) else { return false };
    let Some(script) = debugger.0.scripts.get(&frame.location.script_id) else { return false };
    let Some(Ok(map)) = script.map().await else { return false };
    let Some(path) = &script.path else { return false };
    !retarget(debugger, path, path, map).await.is_empty()
}

impl Table {
    fn add(&mut self, place: Place) -> u64 {
        self.last_number += 1;
        self.places.insert(self.last_number, place);
        self.last_number
    }

    fn remove(&mut self, number: u64) -> Vec<String> {
        let spots = self.places.remove(&number).map(|place| place.spots).unwrap_or_default();
        let ids: Vec<String> = spots.into_iter().map(|planted| planted.id).collect();
        for id in &ids {
            self.owners.remove(id);
        }
        ids
    }
}

impl Place {
    fn on_line(source: &Path, made: &[Made], wanted: SourceBreakpoint) -> Self {
        Self {
            what: What::Line,
            source: source.to_owned(),
            made: made.to_vec(),
            line: wanted.line.saturating_sub(1),
            column: wanted.column.map(|column| column.saturating_sub(1)),
            rules: wanted.rules,
            spots: Vec::new(),
            refused: None,
            is_late: false,
            columns: Vec::new(),
        }
    }

    fn is_wanted_as(&self, other: &Self) -> bool {
        (self.line, self.column, &self.rules) == (other.line, other.column, &other.rules)
    }

    fn is_bound(&self) -> bool {
        self.spots.iter().any(|planted| planted.bound.is_some())
    }

    fn outcome(&self) -> Planted {
        if let Some(problem) = &self.refused {
            return Planted::Refused(problem.clone());
        }
        // Copies of the line that V8 moved elsewhere do not speak for it.
        let wanted = self.line.saturating_add(1);
        let asked = self.column.map(|column| column.saturating_add(1));
        let bound = self.spots.iter().filter_map(|planted| planted.bound);
        let distance =
            |(line, column): &(u32, u32)| (line.abs_diff(wanted), asked.map(|asked| asked.abs_diff(*column)));
        match bound.min_by_key(distance) {
            // Functions are wanted by their names, and may begin on several lines.
            Some(_) if self.what != What::Line => {
                Planted::Bound { line: None, column: None, columns: Vec::new() }
            }
            Some((line, column)) => {
                let is_moved = asked.is_some_and(|asked| asked != column);
                let columns = if is_moved { self.columns.clone() } else { Vec::new() };
                Planted::Bound { line: Some(line), column: Some(column), columns }
            }
            None if self.is_late => Planted::NotLoaded(
                "the thread is in native code, and takes it up as soon as that returns".to_owned(),
            ),
            None => Planted::NotLoaded("its file is not loaded yet; it binds when the program loads it".to_owned()),
        }
    }
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
