//! Requested breakpoints and where they are bound: two lists, and the pure rules between them.
//!
//! A breakpoint that was set before its code is loaded, or before there is a program at all, is the ordinary case, bound
//! nowhere yet. Several breakpoints on one line share one place, because debuggers keep only one for each line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::debugger::{BindResult, DataBreakpoint, FunctionBreakpoint, RuleFor, SourceBreakpoint};
use crate::model::breakpoint::{
    AdjustedPosition, Binding, Breakpoint, BreakpointFate, BreakpointTarget, Failures, Pending, Request, Rule,
};
use crate::model::ids::{BreakpointId, TargetId};
use crate::recording::Record;

/// Why data is no longer watched after its process has ended.
const LOST_DATA: &str =
    "its process has ended; stop the program where the value is in scope, and set it again";

/// All breakpoints of a session.
#[derive(Debug, Default)]
pub(crate) struct Breakpoints {
    entries: Vec<Entry>,
    last_id: u32,
}

#[derive(Debug)]
struct Entry {
    id: BreakpointId,
    request: Request,
    enabled: bool,
    /// Where to bind it, as far as that is not where it was requested.
    planned: AdjustedPosition,
    /// Why it is set nowhere: its place is gone, as after an edit.
    lost: Option<String>,
    /// Where each process has bound it, or why not.
    bindings: BTreeMap<TargetId, BindResult>,
    /// The same for processes of this run that are gone.
    left: BTreeMap<TargetId, BindResult>,
    hits: u64,
    failures: Option<Failures>,
}

/// A change to a breakpoint; `None` leaves a part unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// On or off.
    pub enabled: Option<bool>,
    /// A new rule.
    pub rule: Option<Rule>,
}

/// Where a breakpoint on a line belongs now, as after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The line that is asked for.
    pub line: u32,
    /// Where to bind it, as far as that is another place.
    pub planned: AdjustedPosition,
    /// Why it can be set nowhere.
    pub lost: Option<String>,
}

/// A part of the breakpoints that a debugger replaces as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Group {
    /// Those of one file.
    Source(PathBuf),
    /// Those on function names.
    Functions,
    /// Those on data.
    Data,
}

impl Breakpoints {
    /// Adds one; `planned` is where to bind it, if that differs from where it was requested.
    pub(crate) fn add(&mut self, request: Request, planned: AdjustedPosition) -> BreakpointId {
        self.last_id += 1;
        let id = BreakpointId(self.last_id);
        self.entries.push(Entry {
            id,
            request,
            enabled: true,
            planned,
            lost: None,
            bindings: BTreeMap::new(),
            left: BTreeMap::new(),
            hits: 0,
            failures: None,
        });
        id
    }

    /// Changes one. Returns the group to bind again, or nothing if there is no such breakpoint.
    pub(crate) fn change(&mut self, id: BreakpointId, change: Change) -> Option<Group> {
        let entry = self.find(id)?;
        if let Some(rule) = change.rule {
            entry.request.rule = rule;
            entry.failures = None;
        }
        entry.enabled = change.enabled.unwrap_or(entry.enabled);
        entry.bindings.clear();
        entry.left.clear();
        Some(entry.group())
    }

    /// Moves a breakpoint to where it belongs now. It is set there at the next start.
    pub(crate) fn relocate(&mut self, id: BreakpointId, to: Relocation) {
        if let Some(entry) = self.find(id)
            && let BreakpointTarget::Line { line, .. } = &mut entry.request.place
        {
            *line = to.line;
            entry.planned = to.planned;
            entry.lost = to.lost;
        }
    }

    /// Removes those that `which` picks, and returns the groups to bind again.
    pub(crate) fn remove(
        &mut self,
        which: impl Fn(BreakpointId, &BreakpointTarget) -> bool,
    ) -> (Vec<BreakpointId>, Vec<Group>) {
        let removed: Vec<Entry> =
            self.entries.extract_if(.., |entry| which(entry.id, &entry.request.place)).collect();
        let mut groups: Vec<Group> = removed.iter().map(Entry::group).collect();
        groups.sort();
        groups.dedup();
        (removed.iter().map(|entry| entry.id).collect(), groups)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.entries.len()
    }

    /// The state of all of them. `pending` is the reason for those that no process has yet.
    pub(crate) fn list(&self, pending: &Pending) -> Vec<Breakpoint> {
        self.entries.iter().map(|entry| entry.view(pending)).collect()
    }

    /// The state of one.
    pub(crate) fn get(&self, id: BreakpointId, pending: &Pending) -> Option<Breakpoint> {
        self.entries.iter().find(|entry| entry.id == id).map(|entry| entry.view(pending))
    }

    pub(crate) fn group_of(&self, id: BreakpointId) -> Option<Group> {
        self.entries.iter().find(|entry| entry.id == id).map(Entry::group)
    }

    /// Every group with something to bind.
    pub(crate) fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> =
            self.entries.iter().filter(|entry| entry.is_active()).map(Entry::group).collect();
        groups.sort();
        groups.dedup();
        groups
    }

    /// What to bind in a file, one place for each line and column.
    pub(crate) fn for_source(&self, path: &Path) -> Vec<SourceBreakpoint> {
        let mut places: BTreeMap<(u32, Option<u32>), Vec<RuleFor>> = BTreeMap::new();
        for entry in self.active(&Group::Source(path.to_owned())) {
            if let Some(place) = entry.bind_position() {
                places.entry(place).or_default().push(entry.rule());
            }
        }
        let to_send = |((line, column), rules)| SourceBreakpoint { line, column, rules };
        places.into_iter().map(to_send).collect()
    }

    /// What to bind on function names, one place for each name.
    pub(crate) fn for_functions(&self) -> Vec<FunctionBreakpoint> {
        let mut names: BTreeMap<&str, Vec<RuleFor>> = BTreeMap::new();
        for entry in self.active(&Group::Functions) {
            if let BreakpointTarget::Function { name } = &entry.request.place {
                names.entry(name).or_default().push(entry.rule());
            }
        }
        names.into_iter().map(|(name, rules)| FunctionBreakpoint { name: name.to_owned(), rules }).collect()
    }

    /// What to watch in a process, with what is disabled there.
    pub(crate) fn for_data(&self, target: TargetId) -> Vec<DataBreakpoint> {
        let to_send = |entry: &Entry| match &entry.request.place {
            BreakpointTarget::Data(data) if data.target == target => Some(DataBreakpoint {
                data_id: data.data_id.clone(),
                expression: data.expression.clone(),
                access: data.access,
                rule: entry.rule(),
                enabled: entry.enabled,
            }),
            _ => None,
        };
        self.entries.iter().filter(|entry| entry.lost.is_none()).filter_map(to_send).collect()
    }

    /// What a process answered about the breakpoints that were sent to it. Its file may have been loaded since.
    pub(crate) fn answered(&mut self, target: TargetId, outcomes: Vec<(BreakpointId, BindResult)>) {
        for (id, result) in outcomes {
            let is_waiting = matches!(result, BindResult::NotLoaded(_));
            let known = self.find(id).and_then(|entry| entry.bindings.get(&target));
            if !(is_waiting && matches!(known, Some(BindResult::Bound { .. }))) {
                self.settle(target, [(id, result)]);
            }
        }
    }

    /// What became of breakpoints in a process.
    pub(crate) fn settle(
        &mut self,
        target: TargetId,
        outcomes: impl IntoIterator<Item = (BreakpointId, BindResult)>,
    ) {
        for (id, result) in outcomes {
            if let Some(entry) = self.find(id) {
                entry.bindings.insert(target, result);
            }
        }
    }

    /// What a process reported about a breakpoint that it had bound. Storage that is gone does not come back.
    pub(crate) fn reported(&mut self, target: TargetId, id: BreakpointId, result: BindResult) {
        if let Some(entry) = self.find(id)
            && let (BreakpointTarget::Data(_), BindResult::Refused(reason)) = (&entry.request.place, &result)
        {
            entry.lost = Some(reason.clone());
        }
        self.settle(target, [(id, result)]);
    }

    /// A process is gone, and what was bound there with it.
    pub(crate) fn left(&mut self, target: TargetId) {
        for entry in &mut self.entries {
            let binding = entry.bindings.remove(&target);
            entry.left.extend(binding.map(|binding| (target, binding)));
            if let BreakpointTarget::Data(data) = &entry.request.place
                && data.target == target
            {
                entry.lost.get_or_insert_with(|| LOST_DATA.to_owned());
            }
        }
    }

    /// Another run begins.
    pub(crate) fn reset(&mut self) {
        for entry in &mut self.entries {
            entry.bindings.clear();
            entry.left.clear();
            entry.hits = 0;
            entry.failures = None;
            if matches!(entry.request.place, BreakpointTarget::Data(_)) {
                entry.lost.get_or_insert_with(|| LOST_DATA.to_owned());
            }
        }
    }

    /// One stopped a process, or logged. So it is bound there, whatever was known before.
    pub(crate) fn hit(&mut self, target: TargetId, id: BreakpointId) {
        if let Some(entry) = self.find(id) {
            entry.hits += 1;
            let binding = entry.bindings.entry(target).or_insert(BindResult::on(None));
            if let BindResult::NotLoaded(_) = binding {
                *binding = BindResult::on(None);
            }
        }
    }

    /// The condition or log message of one failed this many more times.
    pub(crate) fn failed(&mut self, id: BreakpointId, message: String, times: u64) {
        if let Some(entry) = self.find(id) {
            let before = entry.failures.as_ref().map_or(0, |failures| failures.count);
            let count = before.saturating_add(times);
            entry.failures = Some(Failures { count, message });
        }
    }

    /// What is recorded at one.
    pub(crate) fn record(&self, id: BreakpointId) -> Option<&Record> {
        self.entries.iter().find(|entry| entry.id == id)?.request.rule.record.as_ref()
    }

    fn find(&mut self, id: BreakpointId) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.id == id)
    }

    fn active(&self, group: &Group) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.is_active() && entry.group() == *group)
    }
}

impl Entry {
    fn group(&self) -> Group {
        match &self.request.place {
            BreakpointTarget::Line { path, .. } => Group::Source(path.clone()),
            BreakpointTarget::Function { .. } => Group::Functions,
            BreakpointTarget::Data(_) => Group::Data,
        }
    }

    /// The line and the column to bind it at. What begins at the first column is the first code on the line.
    fn bind_position(&self) -> Option<(u32, Option<u32>)> {
        let BreakpointTarget::Line { line, column, .. } = &self.request.place else { return None };
        match self.planned.line {
            Some(line) => Some((line, None)),
            None => Some((*line, self.planned.column.or(*column).filter(|column| *column > 1))),
        }
    }

    /// It is to be set.
    fn is_active(&self) -> bool {
        self.enabled && self.lost.is_none()
    }

    fn rule(&self) -> RuleFor {
        let function = self.request.place.function().map(str::to_owned);
        RuleFor { id: self.id, rule: self.request.rule.clone(), function }
    }

    /// It is bound when any process has bound it. Else the first process speaks for all.
    fn binding(&self, pending: &Pending) -> Binding {
        if !self.enabled {
            return Binding::Pending(Pending::Disabled);
        }
        if let Some(reason) = &self.lost {
            return Binding::Refused(reason.clone());
        }
        match of_all(&self.bindings) {
            Some(BindResult::Bound { line, column, columns, function, warning }) => Binding::Bound {
                line: *line,
                column: *column,
                columns: columns.clone(),
                function: function.clone(),
                warning: warning.clone(),
            },
            Some(BindResult::NotLoaded(reason)) => Binding::Pending(Pending::NotLoaded(reason.clone())),
            Some(BindResult::Refused(reason)) => Binding::Refused(reason.clone()),
            None => Binding::Pending(pending.clone()),
        }
    }

    /// What the processes that are gone had made of it.
    fn fate(&self) -> BreakpointFate {
        match of_all(&self.left) {
            // A line of a function that was found by name says nothing without its file.
            Some(BindResult::Bound { line, column, function, .. }) => {
                BreakpointFate::Bound(line.filter(|_| function.is_none()).map(|line| (line, *column)))
            }
            Some(BindResult::NotLoaded(reason)) => BreakpointFate::Unbound(reason.clone()),
            Some(BindResult::Refused(reason)) => BreakpointFate::Refused(reason.clone()),
            None => BreakpointFate::Unknown,
        }
    }

    fn view(&self, pending: &Pending) -> Breakpoint {
        Breakpoint {
            id: self.id,
            place: self.request.place.clone(),
            rule: self.request.rule.clone(),
            enabled: self.enabled,
            planned: self.planned.clone(),
            binding: self.binding(pending),
            fate: self.fate(),
            hits: self.hits,
            failures: self.failures.clone(),
        }
    }
}

/// One process that has bound it speaks for all, or else the first one.
fn of_all(made: &BTreeMap<TargetId, BindResult>) -> Option<&BindResult> {
    let bound = made.values().find(|result| matches!(result, BindResult::Bound { .. }));
    bound.or_else(|| made.values().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/src/a.py";
    const PROGRAM: TargetId = TargetId::PROGRAM;

    fn at(line: u32, condition: &str) -> Request {
        let condition = (!condition.is_empty()).then(|| condition.to_owned());
        Request {
            place: BreakpointTarget::Line { path: FILE.into(), line, column: None, anchor: None },
            rule: Rule { condition, ..Rule::default() },
        }
    }

    fn on(name: &str) -> Request {
        Request { place: BreakpointTarget::Function { name: name.to_owned() }, rule: Rule::default() }
    }

    /// `line: ids` for every place in the file.
    fn requested(breakpoints: &Breakpoints) -> Vec<String> {
        let places = breakpoints.for_source(Path::new(FILE));
        let ids = |place: &SourceBreakpoint| {
            place.rules.iter().map(|rule| rule.id.to_string()).collect::<Vec<_>>().join(",")
        };
        places.iter().map(|place| format!("{}: {}", place.line, ids(place))).collect()
    }

    #[test]
    fn breakpoints_on_one_line_share_a_location() {
        let mut breakpoints = Breakpoints::default();
        breakpoints.add(at(7, "x > 1"), AdjustedPosition::default());
        breakpoints.add(at(3, ""), AdjustedPosition::default());
        breakpoints.add(at(6, ""), AdjustedPosition { line: Some(7), ..AdjustedPosition::default() });
        assert_eq!(requested(&breakpoints), ["3: bp-2", "7: bp-1,bp-3"]);
    }

    #[test]
    fn each_column_is_a_location_and_the_first_one_is_the_line() {
        let mut breakpoints = Breakpoints::default();
        let at_column = |column| Request {
            place: BreakpointTarget::Line { path: FILE.into(), line: 7, column, anchor: None },
            rule: Rule::default(),
        };
        let moved =
            AdjustedPosition { column: Some(12), columns: vec![3, 12], ..AdjustedPosition::default() };
        let other_line = AdjustedPosition { line: Some(8), ..AdjustedPosition::default() };
        breakpoints.add(at_column(Some(12)), AdjustedPosition::default());
        breakpoints.add(at_column(None), AdjustedPosition::default());
        breakpoints.add(at_column(Some(1)), AdjustedPosition::default());
        let id = breakpoints.add(at_column(Some(11)), moved);
        breakpoints.add(at_column(Some(5)), other_line);
        let places = breakpoints.for_source(Path::new(FILE));
        let shown: Vec<_> =
            places.iter().map(|it| (it.line, it.column, RuleFor::ids(&it.rules).len())).collect();
        assert_eq!(shown, [(7, None, 2), (7, Some(12), 2), (8, None, 1)]);

        let view = breakpoints.get(id, &Pending::Underway).unwrap();
        assert_eq!((view.column(), view.columns()), (Some(12), [3, 12].as_slice()));
        let bound = BindResult::Bound {
            line: Some(7),
            column: Some(13),
            columns: vec![4, 13],
            function: None,
            warning: None,
        };
        breakpoints.settle(PROGRAM, [(id, bound)]);
        let view = breakpoints.get(id, &Pending::Underway).unwrap();
        assert_eq!(
            (view.column(), view.columns()),
            (Some(13), [4, 13].as_slice()),
            "the debugger knows better"
        );
    }

    #[test]
    fn breakpoint_outcomes_are_known_until_the_next_run() {
        let waiting = BindResult::NotLoaded("not loaded".to_owned());
        let child = TargetId(1);
        let table = [
            (vec![], BreakpointFate::Unknown),
            (vec![(PROGRAM, BindResult::on(None))], BreakpointFate::Bound(None)),
            (vec![(PROGRAM, waiting.clone())], BreakpointFate::Unbound("not loaded".to_owned())),
            (
                vec![(PROGRAM, waiting), (child, BindResult::on(Some(7)))],
                BreakpointFate::Bound(Some((7, None))),
            ),
        ];
        for (outcomes, expected) in table {
            let mut breakpoints = Breakpoints::default();
            let id = breakpoints.add(at(7, ""), AdjustedPosition::default());
            for (target, result) in outcomes.clone() {
                breakpoints.settle(target, [(id, result)]);
                breakpoints.left(target);
            }
            assert_eq!(breakpoints.get(id, &Pending::NotStarted).unwrap().fate, expected, "{outcomes:?}");
            breakpoints.reset();
            assert_eq!(breakpoints.get(id, &Pending::NotStarted).unwrap().fate, BreakpointFate::Unknown);
        }
    }

    #[test]
    fn disabled_breakpoint_is_kept_but_not_bound() {
        let mut breakpoints = Breakpoints::default();
        let id = breakpoints.add(at(7, ""), AdjustedPosition::default());
        let off = Change { enabled: Some(false), rule: None };
        assert_eq!(breakpoints.change(id, off), Some(Group::Source(FILE.into())));
        assert!(requested(&breakpoints).is_empty());
        assert!(breakpoints.groups().is_empty());
        let kept = breakpoints.get(id, &Pending::Underway).unwrap();
        assert_eq!(kept.binding, Binding::Pending(Pending::Disabled));
        breakpoints.change(id, Change { enabled: Some(true), rule: None });
        assert_eq!(requested(&breakpoints), ["7: bp-1"]);
    }

    #[test]
    fn a_breakpoint_without_its_line_is_kept_with_the_reason_until_the_line_returns() {
        let mut breakpoints = Breakpoints::default();
        let id = breakpoints.add(at(7, ""), AdjustedPosition::default());
        let lost = Some("no code".to_owned());
        breakpoints.relocate(id, Relocation { line: 7, planned: AdjustedPosition::default(), lost });
        assert!(requested(&breakpoints).is_empty() && breakpoints.groups().is_empty());
        assert_eq!(
            breakpoints.get(id, &Pending::Underway).unwrap().binding,
            Binding::Refused("no code".to_owned())
        );
        let planned = AdjustedPosition { line: Some(9), ..AdjustedPosition::default() };
        breakpoints.relocate(id, Relocation { line: 8, planned, lost: None });
        assert_eq!(requested(&breakpoints), ["9: bp-1"]);
        assert_eq!(breakpoints.get(id, &Pending::Underway).unwrap().requested_line(), Some(8));
    }

    #[test]
    fn binding_combines_the_results_of_all_processes() {
        let bound = BindResult::on(Some(8));
        let is_bound = Binding::Bound {
            line: Some(8),
            column: None,
            columns: Vec::new(),
            function: None,
            warning: None,
        };
        let waiting = BindResult::NotLoaded("not loaded".to_owned());
        let refused = BindResult::Refused("no code".to_owned());
        let child = TargetId(1);
        let table = [
            (vec![], Binding::Pending(Pending::Underway)),
            (vec![(PROGRAM, bound.clone())], is_bound.clone()),
            (vec![(PROGRAM, refused.clone())], Binding::Refused("no code".to_owned())),
            (vec![(PROGRAM, waiting.clone()), (child, bound)], is_bound.clone()),
            (
                vec![(PROGRAM, waiting), (child, refused)],
                Binding::Pending(Pending::NotLoaded("not loaded".to_owned())),
            ),
        ];
        for (outcomes, expected) in table {
            let mut breakpoints = Breakpoints::default();
            let id = breakpoints.add(at(7, ""), AdjustedPosition::default());
            for (target, result) in outcomes.clone() {
                breakpoints.settle(target, [(id, result)]);
            }
            assert_eq!(breakpoints.get(id, &Pending::Underway).unwrap().binding, expected, "{outcomes:?}");
        }
    }

    #[test]
    fn a_location_loaded_before_the_reply_stays_bound() {
        let mut breakpoints = Breakpoints::default();
        let id = breakpoints.add(at(7, ""), AdjustedPosition::default());
        let waiting = BindResult::NotLoaded("not loaded".to_owned());
        breakpoints.settle(PROGRAM, [(id, BindResult::on(Some(7)))]);
        breakpoints.answered(PROGRAM, vec![(id, waiting.clone())]);
        assert!(breakpoints.get(id, &Pending::Underway).unwrap().is_verified());
        breakpoints.settle(PROGRAM, [(id, waiting)]);
        assert!(!breakpoints.get(id, &Pending::Underway).unwrap().is_verified(), "the program says so");
    }

    #[test]
    fn removing_reports_groups_to_send_again() {
        let mut breakpoints = Breakpoints::default();
        let first = breakpoints.add(at(7, ""), AdjustedPosition::default());
        let second = breakpoints.add(at(9, ""), AdjustedPosition::default());
        let function = breakpoints.add(on("f"), AdjustedPosition::default());
        assert_eq!(breakpoints.groups(), [Group::Source(FILE.into()), Group::Functions]);
        let (ids, groups) = breakpoints.remove(|id, _| id == first);
        assert_eq!((ids, groups), (vec![first], vec![Group::Source(FILE.into())]));
        assert_eq!(breakpoints.for_functions().len(), 1);
        let (ids, groups) = breakpoints.remove(|_, _| true);
        assert_eq!(ids, [second, function]);
        assert_eq!(groups, [Group::Source(FILE.into()), Group::Functions]);
        assert!(breakpoints.list(&Pending::Underway).is_empty());
        assert_eq!(
            breakpoints.add(on("g"), AdjustedPosition::default()).to_string(),
            "bp-4",
            "ids are never used twice"
        );
    }

    #[test]
    fn hits_and_failures_are_counted_until_the_next_run() {
        let mut breakpoints = Breakpoints::default();
        let id = breakpoints.add(at(7, "x >"), AdjustedPosition::default());
        breakpoints.hit(TargetId::PROGRAM, id);
        breakpoints.failed(id, "first".to_owned(), 1);
        breakpoints.failed(id, "second".to_owned(), 4);
        let seen = breakpoints.get(id, &Pending::Underway).unwrap();
        assert_eq!(
            (seen.hits, seen.failures),
            (1, Some(Failures { count: 5, message: "second".to_owned() }))
        );
        breakpoints.reset();
        let seen = breakpoints.get(id, &Pending::Underway).unwrap();
        assert_eq!((seen.hits, seen.failures), (0, None));
    }
}
