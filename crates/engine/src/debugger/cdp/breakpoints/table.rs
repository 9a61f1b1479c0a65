//! The requested breakpoints of a thread, and their state in V8. This module sends nothing.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::super::functions::FunctionStart;
use super::super::insertions::RecordedPlace;
use super::super::places::{CompiledScript, ScriptSpot};
use super::super::recording;
use crate::debugger::{BindResult, Event, FunctionBreakpoint, RuleFor, SourceBreakpoint};
use crate::lock::lock;
use crate::model::breakpoint::FunctionLocation;
use crate::model::ids::BreakpointId;
use crate::source_map::SourceMap;
use crate::sources;

/// All breakpoints of a thread.
#[derive(Debug, Default)]
pub(super) struct BreakpointTable(Mutex<Targets>);

#[derive(Debug, Default)]
struct Targets {
    /// The numbers of the places on lines, by the real paths of the sources.
    sources: HashMap<PathBuf, Vec<u64>>,
    /// Functions that are requested by name alone.
    functions: Vec<WantedFunction>,
    /// By their numbers.
    places: HashMap<u64, BreakpointTarget>,
    /// What V8's breakpoint IDs belong to.
    owners: HashMap<String, u64>,
    /// Internal breakpoints for steps.
    temporary: HashSet<String>,
    /// V8's breakpoint on the first line of a text without a file, until it is hit.
    entry: Option<String>,
    /// The breakpoints of the stop before the first line, once it has ended.
    spent: HashSet<String>,
    /// Breakpoints that V8 removes as soon as the thread resumes.
    leaving: Vec<String>,
    last_number: u64,
}

/// A function that is requested by name.
#[derive(Debug)]
struct WantedFunction {
    function: FunctionBreakpoint,
    /// The numbers of the places where functions of that name begin.
    places: Vec<u64>,
}

/// The requests for a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TargetKind {
    /// Breakpoints on the line.
    Line,
    /// Breakpoints on the function that begins there.
    Function,
    /// The stop before the program's first line.
    Entry,
}

/// A requested location.
#[derive(Clone, Debug)]
pub(super) struct BreakpointTarget {
    pub(super) kind: TargetKind,
    /// The real path of the source.
    pub(super) source: PathBuf,
    /// The scripts that are known to be made of it.
    pub(super) made: Vec<CompiledScript>,
    /// 0-based.
    pub(super) line: u32,
    /// 0-based, in UTF-16 units.
    pub(super) column: Option<u32>,
    /// The line with the name of the function that begins here, 1-based.
    pub(super) declared: Option<u32>,
    pub(super) rules: Vec<RuleFor>,
    /// Its state in V8.
    pub(super) spots: Vec<V8Breakpoint>,
    /// What keeps V8 from taking it.
    pub(super) refused: Option<String>,
    /// The thread has not answered yet.
    pub(super) is_late: bool,
    /// The columns of the line where V8 has places, 1-based, once it was asked.
    pub(super) columns: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct V8Breakpoint {
    pub(super) spot: ScriptSpot,
    /// V8's name for it.
    pub(super) id: String,
    /// The line and column in the source, 1-based, that it is bound to; none while its script is not loaded.
    pub(super) bound: Option<(u32, u32)>,
}

impl BreakpointTable {
    /// Updates the requests for a source: returns the numbers of its locations, in order, and V8's IDs of those no
    /// longer requested. An unchanged location is left alone, and its hit count continues.
    pub(super) fn replace(&self, source: &Path, wanted: Vec<BreakpointTarget>) -> (Vec<u64>, Vec<String>) {
        let mut table = lock(&self.0);
        let before = table.sources.remove(source).unwrap_or_default();
        let mut numbers = Vec::with_capacity(wanted.len());
        for place in wanted {
            let known = before
                .iter()
                .copied()
                .find(|number| table.places.get(number).is_some_and(|known| known.is_same_request(&place)));
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

    /// Updates the requested functions, and returns V8's IDs of those no longer requested.
    pub(super) fn replace_functions(&self, wanted: Vec<FunctionBreakpoint>) -> Vec<String> {
        let mut table = lock(&self.0);
        let mut before = std::mem::take(&mut table.functions);
        for function in wanted {
            let known = before.iter().position(|known| known.function == function);
            let named = known.map(|at| before.swap_remove(at));
            table.functions.push(named.unwrap_or_else(|| WantedFunction { function, places: Vec::new() }));
        }
        let places = before.into_iter().flat_map(|named| named.places);
        places.flat_map(|number| table.remove(number)).collect()
    }

    /// The requested functions.
    pub(super) fn functions(&self) -> Vec<FunctionBreakpoint> {
        lock(&self.0).functions.iter().map(|named| named.function.clone()).collect()
    }

    pub(super) fn add(&self, place: BreakpointTarget) -> u64 {
        lock(&self.0).add(place)
    }

    /// Records where a function begins; none if that is already known.
    pub(super) fn add_function(
        &self,
        wanted: &FunctionBreakpoint,
        source: &Path,
        made: &[CompiledScript],
        start: FunctionStart,
    ) -> Option<u64> {
        let mut table = lock(&self.0);
        let (position, rules) = ((start.line, Some(start.column)), wanted.rules.clone());
        let place = BreakpointTarget {
            kind: TargetKind::Function,
            declared: Some(start.declared),
            ..BreakpointTarget::new(source, made, position, rules)
        };
        let at = table.functions.iter().position(|named| named.function == *wanted)?;
        let known = table.functions.get(at)?.places.iter().filter_map(|number| table.places.get(number));
        if known.into_iter().any(|known| known.is_same_request(&place)) {
            return None;
        }
        let number = table.add(place);
        table.functions.get_mut(at)?.places.push(number);
        Some(number)
    }

    /// The results for the requested functions, in order.
    pub(super) fn function_outcomes(&self) -> Vec<BindResult> {
        let table = lock(&self.0);
        table.functions.iter().map(|named| table.function_outcome(named)).collect()
    }

    /// The result for a requested function: it may begin at several locations.
    fn of_function(&self, number: u64) -> Option<BindResult> {
        let table = lock(&self.0);
        let named = table.functions.iter().find(|named| named.places.contains(&number))?;
        Some(table.function_outcome(named))
    }

    /// The functions that are nowhere so far.
    pub(super) fn functions_nowhere(&self) -> Vec<FunctionBreakpoint> {
        let table = lock(&self.0);
        let nowhere = table.functions.iter().filter(|named| named.places.is_empty());
        nowhere.map(|named| named.function.clone()).collect()
    }

    /// What is recorded in a source.
    pub(super) fn recorded(&self, source: &Path) -> Vec<BreakpointId> {
        let table = lock(&self.0);
        let places = table.places.values().filter(|place| place.source == source);
        let rules = places.flat_map(|place| &place.rules);
        rules.filter(|rule| rule.rule.record.is_some()).map(|rule| rule.id).collect()
    }

    /// The locations that only record, in every script that contains them.
    pub(super) fn only_recorded(&self) -> Vec<RecordedPlace> {
        let table = lock(&self.0);
        let is_it = |place: &&BreakpointTarget| {
            place.kind == TargetKind::Line && recording::only_records(&place.rules)
        };
        let mut recorded = Vec::new();
        for place in table.places.values().filter(is_it) {
            recorded.extend(place.spots.iter().map(|bound_spot| {
                RecordedPlace {
                    path: bound_spot.spot.path.clone(),
                    line: bound_spot.spot.line,
                    column: Some(bound_spot.spot.column)
                        .filter(|_| bound_spot.spot.is_mapped || place.column.is_some()),
                    rules: place.rules.clone(),
                }
            }));
        }
        recorded.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
        recorded
    }

    /// V8's IDs of a location that only records this. The location stays bound.
    pub(super) fn release(&self, id: BreakpointId) -> Vec<String> {
        let table = lock(&self.0);
        let is_its = |place: &&BreakpointTarget| matches!(place.rules.as_slice(), [only] if only.id == id);
        let places = table.places.values().filter(is_its);
        places.flat_map(|place| &place.spots).map(|bound_spot| bound_spot.id.clone()).collect()
    }

    /// The sources with requests.
    pub(super) fn sources(&self) -> Vec<PathBuf> {
        let table = lock(&self.0);
        let mut sources: Vec<PathBuf> = table.places.values().map(|place| place.source.clone()).collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// Whether a source has requests.
    pub(super) fn is_wanted(&self, path: &Path) -> bool {
        lock(&self.0).places.values().any(|place| place.source == path)
    }

    pub(super) fn place(&self, number: u64) -> Option<BreakpointTarget> {
        lock(&self.0).places.get(&number).cloned()
    }

    /// What to remove and what to set to make the spots of a place these.
    pub(super) fn compare(
        &self,
        number: u64,
        spots: Vec<ScriptSpot>,
    ) -> Option<(Vec<String>, Vec<ScriptSpot>)> {
        let mut table = lock(&self.0);
        let place = table.places.get_mut(&number)?;
        let surplus: Vec<String> = place
            .spots
            .extract_if(.., |bound_spot| !spots.contains(&bound_spot.spot))
            .map(|bound_spot| bound_spot.id)
            .collect();
        let is_known = |spot: &ScriptSpot| place.spots.iter().any(|bound_spot| bound_spot.spot == *spot);
        let missing = spots.into_iter().filter(|spot| !is_known(spot)).collect();
        for id in &surplus {
            table.owners.remove(id);
        }
        Some((surplus, missing))
    }

    /// V8 has bound a spot. False if its location is no longer requested.
    pub(super) fn add_breakpoint(&self, number: u64, spot: ScriptSpot, id: String) -> bool {
        let mut table = lock(&self.0);
        let Some(place) = table.places.get_mut(&number) else { return false };
        place.refused = None;
        place.spots.push(V8Breakpoint { spot, id: id.clone(), bound: None });
        table.owners.insert(id, number);
        true
    }

    /// Ends the stop before the first line. V8 keeps its breakpoint: were the last one of a function taken away
    /// while it is suspended there, V8 would not see others in it before the function's next call.
    pub(super) fn end_entry_stop(&self) {
        let mut table = lock(&self.0);
        let entries = table.places.iter().filter(|(_, place)| place.kind == TargetKind::Entry);
        let numbers: Vec<u64> = entries.map(|(number, _)| *number).collect();
        for number in numbers {
            let ids = table.remove(number);
            table.spent.extend(ids);
        }
        let entry = table.entry.take();
        table.spent.extend(entry);
    }

    /// Notes V8's breakpoint on the first line of a text without a file.
    pub(super) fn set_entry_stop(&self, id: String) {
        lock(&self.0).entry = Some(id);
    }

    /// Whether one of these is such a breakpoint.
    pub(super) fn has_entry_stop(&self, ids: &[String]) -> bool {
        lock(&self.0).entry.as_ref().is_some_and(|id| ids.contains(id))
    }

    /// Makes V8 remove some when the thread resumes.
    pub(super) fn remove_on_resume(&self, ids: Vec<String>) {
        lock(&self.0).leaving.extend(ids);
    }

    /// What V8 is to forget now.
    pub(super) fn take_removals(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.0).leaving)
    }

    /// Whether one of these was that of the stop before the first line.
    pub(super) fn was_entry_stop(&self, ids: &[String]) -> bool {
        let table = lock(&self.0);
        ids.iter().any(|id| table.spent.contains(id))
    }

    pub(super) fn refuse(&self, number: u64, problem: String) {
        if let Some(place) = lock(&self.0).places.get_mut(&number) {
            place.refused = Some(problem);
        }
    }

    /// The thread takes it up when it comes back from native code.
    pub(super) fn wait_for(&self, number: u64) {
        if let Some(place) = lock(&self.0).places.get_mut(&number) {
            place.is_late = true;
        }
    }

    /// Whether it was reported that the thread has not responded yet.
    pub(super) fn is_late(&self, number: u64) -> bool {
        let mut table = lock(&self.0);
        table.places.get_mut(&number).is_some_and(|place| std::mem::take(&mut place.is_late))
    }

    pub(super) fn owner(&self, id: &str) -> Option<(u64, ScriptSpot)> {
        let table = lock(&self.0);
        let number = *table.owners.get(id)?;
        let bound_spot = table.places.get(&number)?.spots.iter().find(|bound_spot| bound_spot.id == id)?;
        Some((number, bound_spot.spot.clone()))
    }

    pub(super) fn set_columns(&self, number: u64, columns: Vec<u32>) {
        if let Some(place) = lock(&self.0).places.get_mut(&number) {
            place.columns = columns.into_iter().map(|column| column.saturating_add(1)).collect();
        }
    }

    pub(super) fn bound(&self, id: &str, at: (u32, u32)) {
        let mut table = lock(&self.0);
        let Some(&number) = table.owners.get(id) else { return };
        let Some(place) = table.places.get_mut(&number) else { return };
        if let Some(bound_spot) = place.spots.iter_mut().find(|bound_spot| bound_spot.id == id) {
            bound_spot.bound = Some(at);
            place.refused = None;
        }
    }

    /// V8 bound a spot in the wrong place: the spot is dropped, and if the location has no other bound spot, this is
    /// the reason.
    pub(super) fn mark_unbound(&self, id: &str, problem: &str) {
        let mut table = lock(&self.0);
        let Some(number) = table.owners.remove(id) else { return };
        let Some(place) = table.places.get_mut(&number) else { return };
        place.spots.retain(|bound_spot| bound_spot.id != id);
        if !place.is_bound() {
            place.refused = Some(problem.to_owned());
        }
    }

    /// Whether a breakpoint is nowhere, because V8 has not taken it or has bound it where it does not belong.
    pub(super) fn is_refused(&self, id: BreakpointId) -> bool {
        let table = lock(&self.0);
        let mut its =
            table.places.values().filter(|place| RuleFor::ids(&place.rules).contains(&id)).peekable();
        its.peek().is_some() && its.all(|place| place.refused.is_some())
    }

    pub(super) fn outcome(&self, number: u64) -> BindResult {
        lock(&self.0).places.get(&number).map_or_else(
            || BindResult::Refused("it was removed meanwhile".to_owned()),
            BreakpointTarget::outcome,
        )
    }

    /// The state of a location, for each breakpoint there.
    pub(super) fn news(&self, number: u64) -> Vec<Event> {
        let Some(place) = self.place(number) else { return Vec::new() };
        let result = self.of_function(number).unwrap_or_else(|| place.outcome());
        let ids = RuleFor::ids(&place.rules).into_iter();
        ids.map(|id| Event::BindResult { id, result: result.clone() }).collect()
    }

    /// The sources with places that are not bound, and whether a script is known that is made of them.
    pub(super) fn unbound_sources(&self) -> Vec<(PathBuf, bool)> {
        let table = lock(&self.0);
        let unbound = table.places.values().filter(|place| !place.is_bound());
        let mut sources: Vec<(PathBuf, bool)> =
            unbound.map(|place| (place.source.clone(), !place.made.is_empty())).collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// The places on lines that are not bound.
    pub(super) fn unbound(&self) -> Vec<BreakpointTarget> {
        let table = lock(&self.0);
        let is_open = |place: &&BreakpointTarget| {
            place.kind == TargetKind::Line && !place.is_bound() && place.refused.is_none()
        };
        table.places.values().filter(is_open).cloned().collect()
    }

    /// Notes that a script is made of a source, and returns the numbers of the source's places.
    pub(super) fn made(&self, source: &Path, script: &Path, map: &Arc<SourceMap>) -> Vec<u64> {
        let mut table = lock(&self.0);
        let mut numbers = Vec::new();
        for (number, place) in table.places.iter_mut().filter(|(_, place)| place.source == source) {
            numbers.push(*number);
            if script != source {
                place.made.retain(|made| made.path != script);
                place.made.push(CompiledScript { path: script.to_owned(), map: Arc::clone(map) });
            }
        }
        numbers
    }

    /// Whether one of these is a step's.
    pub(super) fn has_temporary(&self, ids: &[String]) -> bool {
        let table = lock(&self.0);
        ids.iter().any(|id| table.temporary.contains(id))
    }

    pub(super) fn add_temporary(&self, id: String) {
        lock(&self.0).temporary.insert(id);
    }

    pub(super) fn remove_temporary(&self, id: &str) {
        lock(&self.0).temporary.remove(id);
    }
}

impl Targets {
    /// The first place that is bound speaks for all.
    fn function_outcome(&self, named: &WantedFunction) -> BindResult {
        let places = named.places.iter().filter_map(|number| self.places.get(number));
        let bound =
            places.map(BreakpointTarget::outcome).find(|outcome| matches!(outcome, BindResult::Bound { .. }));
        bound.unwrap_or_else(|| {
            let name = &named.function.name;
            let known = format!("the program has not loaded a function `{name}` yet");
            BindResult::NotLoaded(if named.places.is_empty() && name.contains('.') {
                format!(
                    "{known}; it binds when one loads, or when the program pauses where `{name}` is a \
                     function"
                )
            } else {
                format!("{known}; it stops when one is entered")
            })
        })
    }

    fn add(&mut self, place: BreakpointTarget) -> u64 {
        self.last_number += 1;
        self.places.insert(self.last_number, place);
        self.last_number
    }

    fn remove(&mut self, number: u64) -> Vec<String> {
        let spots = self.places.remove(&number).map(|place| place.spots).unwrap_or_default();
        let ids: Vec<String> = spots.into_iter().map(|bound_spot| bound_spot.id).collect();
        for id in &ids {
            self.owners.remove(id);
        }
        ids
    }
}

impl BreakpointTarget {
    pub(super) fn on_line(source: &Path, made: &[CompiledScript], wanted: SourceBreakpoint) -> Self {
        let column = wanted.column.map(|column| column.saturating_sub(1));
        Self::new(source, made, (wanted.line.saturating_sub(1), column), wanted.rules)
    }

    fn new(
        source: &Path,
        made: &[CompiledScript],
        (line, column): (u32, Option<u32>),
        rules: Vec<RuleFor>,
    ) -> Self {
        Self {
            kind: TargetKind::Line,
            source: source.to_owned(),
            made: made.to_vec(),
            line,
            column,
            declared: None,
            rules,
            spots: Vec::new(),
            refused: None,
            is_late: false,
            columns: Vec::new(),
        }
    }

    pub(super) fn is_same_request(&self, other: &Self) -> bool {
        (&self.source, self.line, self.column, &self.rules)
            == (&other.source, other.line, other.column, &other.rules)
    }

    pub(super) fn is_bound(&self) -> bool {
        self.spots.iter().any(|bound_spot| bound_spot.bound.is_some())
    }

    pub(super) fn outcome(&self) -> BindResult {
        if let Some(problem) = &self.refused {
            return BindResult::Refused(problem.clone());
        }
        // Copies of the line that V8 moved elsewhere do not speak for it.
        let wanted = self.line.saturating_add(1);
        let asked = self.column.map(|column| column.saturating_add(1));
        let bound = self.spots.iter().filter_map(|bound_spot| bound_spot.bound);
        let distance =
            |(line, column): &(u32, u32)| (line.abs_diff(wanted), asked.map(|asked| asked.abs_diff(*column)));
        match bound.min_by_key(distance) {
            Some(_) if self.kind == TargetKind::Entry => BindResult::on(None),
            Some((line, _)) if self.kind == TargetKind::Function => {
                let function = FunctionLocation { file: self.source.clone(), declared: self.declared };
                BindResult::in_function(function, Some(line))
            }
            Some((line, column)) => {
                let is_moved = asked.is_some_and(|asked| asked != column);
                let columns = if is_moved { self.columns.clone() } else { Vec::new() };
                BindResult::Bound {
                    line: Some(line),
                    column: Some(column),
                    columns,
                    function: None,
                    warning: None,
                }
            }
            None if self.is_late => {
                BindResult::NotLoaded("the thread is in native code; it binds when that returns".to_owned())
            }
            None => BindResult::NotLoaded(sources::NOT_LOADED_YET.to_owned()),
        }
    }
}
