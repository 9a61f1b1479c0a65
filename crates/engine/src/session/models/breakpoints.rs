//! The model: a list of requests, each with whether it is enabled, and for each process its latest response. An
//! enabled breakpoint with a location is sent to the processes it belongs to, and nowhere else; it is bound if a
//! connected process has bound it since its last change; its number is never reused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::debugger::BindResult;
use crate::model::breakpoint::{AdjustedPosition, Binding, BreakpointTarget, Pending, Request, Rule};
use crate::model::ids::{BreakpointId, TargetId};
use crate::session::breakpoints::{Breakpoints, Change, Relocation};

#[derive(Clone, Debug)]
enum Operation {
    AddLine(u8, u32),
    AddFunction(u8),
    Enable(u32, bool),
    Condition(u32),
    Relocate(u32, u32, bool),
    Remove(u32),
    Settle(u32, u32, bool),
    Hit(u32, u32),
    Failed(u32, u64),
    Left(u32),
    Reset,
}

fn operations() -> impl Strategy<Value = Operation> {
    let (id, target) = (|| 1..9_u32, || 0..3_u32);
    prop_oneof![
        4 => (0..2_u8, 1..4_u32).prop_map(|(file, line)| Operation::AddLine(file, line)),
        2 => (0..2_u8).prop_map(Operation::AddFunction),
        2 => (id(), any::<bool>()).prop_map(|(id, enabled)| Operation::Enable(id, enabled)),
        1 => id().prop_map(Operation::Condition),
        1 => (id(), 1..4_u32, any::<bool>()).prop_map(|(id, line, lost)| Operation::Relocate(id, line, lost)),
        1 => id().prop_map(Operation::Remove),
        4 => (id(), target(), any::<bool>()).prop_map(|(id, target, bound)| Operation::Settle(id, target, bound)),
        3 => (id(), target()).prop_map(|(id, target)| Operation::Hit(id, target)),
        1 => (id(), prop_oneof![1..4_u64, Just(u64::MAX)]).prop_map(|(id, times)| Operation::Failed(id, times)),
        1 => target().prop_map(Operation::Left),
        1 => Just(Operation::Reset),
    ]
}

#[derive(Debug)]
struct Model {
    id: u32,
    /// File and line, or none and the number of a name.
    place: (Option<u8>, u32),
    on: bool,
    lost: bool,
    bound: BTreeMap<u32, bool>,
    hits: u64,
    failures: u64,
}

fn file(number: u8) -> PathBuf {
    Path::new("/src").join(format!("{number}.py"))
}

fn rule(condition: Option<&str>) -> Rule {
    Rule { condition: condition.map(str::to_owned), ..Rule::default() }
}

/// Which are sent where, by the model.
fn wanted(models: &[Model], of: Option<u8>) -> BTreeMap<u32, BTreeSet<u32>> {
    let mut wanted: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for model in models.iter().filter(|model| model.on && !model.lost && model.place.0 == of) {
        wanted.entry(model.place.1).or_default().insert(model.id);
    }
    wanted
}

fn compare(breakpoints: &Breakpoints, models: &[Model]) -> Result<(), TestCaseError> {
    for number in 0..2 {
        let sent = breakpoints.for_source(&file(number));
        let sent: Vec<(u32, BTreeSet<u32>)> =
            sent.iter().map(|one| (one.line, one.rules.iter().map(|rule| rule.id.0).collect())).collect();
        prop_assert_eq!(sent, wanted(models, Some(number)).into_iter().collect::<Vec<_>>());
    }
    let sent = breakpoints.for_functions();
    let sent: Vec<(String, BTreeSet<u32>)> =
        sent.iter().map(|one| (one.name.clone(), one.rules.iter().map(|rule| rule.id.0).collect())).collect();
    let named = wanted(models, None).into_iter().map(|(name, ids)| (format!("f{name}"), ids));
    prop_assert_eq!(sent, named.collect::<Vec<_>>());

    let listed = breakpoints.list(&Pending::Underway);
    prop_assert_eq!(listed.len(), models.len());
    for (listed, model) in listed.iter().zip(models) {
        prop_assert_eq!((listed.id.0, listed.enabled, listed.hits), (model.id, model.on, model.hits));
        prop_assert_eq!(listed.failures.as_ref().map_or(0, |failures| failures.count), model.failures);
        let is_bound = model.on && !model.lost && model.bound.values().any(|bound| *bound);
        prop_assert_eq!(matches!(listed.binding, Binding::Bound { .. }), is_bound, "{:?}", model);
        prop_assert_eq!(matches!(listed.binding, Binding::Pending(Pending::Disabled)), !model.on);
    }
    Ok(())
}

proptest! {
    #[test]
    fn bound_breakpoints_match_requested_ones(operations in prop::collection::vec(operations(), 1..60)) {
        let mut breakpoints = Breakpoints::default();
        let mut models: Vec<Model> = Vec::new();
        let mut last = 0;
        for operation in operations {
            let mut added = |breakpoints: &mut Breakpoints, request: Request, place| {
                last += 1;
                let id = breakpoints.add(request, AdjustedPosition::default()).0;
                models.push(Model { id, place, on: true, lost: false, bound: BTreeMap::new(), hits: 0, failures: 0 });
                id == last
            };
            match operation {
                Operation::AddLine(number, line) => {
                    let place = BreakpointTarget::Line { path: file(number), line, column: None, anchor: None };
                    let request = Request { place, rule: Rule::default() };
                    prop_assert!(added(&mut breakpoints, request, (Some(number), line)));
                }
                Operation::AddFunction(number) => {
                    let request = Request { place: BreakpointTarget::Function { name: format!("f{number}") }, rule: Rule::default() };
                    prop_assert!(added(&mut breakpoints, request, (None, number.into())));
                }
                Operation::Enable(id, enabled) => {
                    let change = Change { enabled: Some(enabled), rule: None };
                    let known = models.iter_mut().find(|model| model.id == id);
                    prop_assert_eq!(breakpoints.change(BreakpointId(id), change).is_some(), known.is_some());
                    if let Some(model) = known {
                        model.on = enabled;
                        model.bound.clear();
                    }
                }
                Operation::Condition(id) => {
                    breakpoints.change(BreakpointId(id), Change { enabled: None, rule: Some(rule(Some("x"))) });
                    if let Some(model) = models.iter_mut().find(|model| model.id == id) {
                        model.bound.clear();
                        model.failures = 0;
                    }
                }
                Operation::Relocate(id, line, lost) => {
                    let reason = lost.then(|| "the statement is gone".to_owned());
                    let to = Relocation { line, planned: AdjustedPosition::default(), lost: reason };
                    breakpoints.relocate(BreakpointId(id), to);
                    if let Some(model) = models.iter_mut().find(|model| model.id == id && model.place.0.is_some()) {
                        model.place.1 = line;
                        model.lost = lost;
                    }
                }
                Operation::Remove(id) => {
                    let (removed, groups) = breakpoints.remove(|one, _| one.0 == id);
                    let before = models.len();
                    models.retain(|model| model.id != id);
                    prop_assert_eq!((removed.len(), groups.len()), (before - models.len(), before - models.len()));
                }
                Operation::Settle(id, target, bound) => {
                    let sent = if bound { BindResult::on(Some(1)) } else { BindResult::NotLoaded("not yet".to_owned()) };
                    breakpoints.settle(TargetId(target), [(BreakpointId(id), sent)]);
                    if let Some(model) = models.iter_mut().find(|model| model.id == id) {
                        model.bound.insert(target, bound);
                    }
                }
                Operation::Hit(id, target) => {
                    breakpoints.hit(TargetId(target), BreakpointId(id));
                    if let Some(model) = models.iter_mut().find(|model| model.id == id) {
                        model.hits += 1;
                        model.bound.insert(target, true);
                    }
                }
                Operation::Failed(id, times) => {
                    breakpoints.failed(BreakpointId(id), "no".to_owned(), times);
                    if let Some(model) = models.iter_mut().find(|model| model.id == id) {
                        model.failures = model.failures.saturating_add(times);
                    }
                }
                Operation::Left(target) => {
                    breakpoints.left(TargetId(target));
                    for model in &mut models {
                        model.bound.remove(&target);
                    }
                }
                Operation::Reset => {
                    breakpoints.reset();
                    for model in &mut models {
                        (model.hits, model.failures) = (0, 0);
                        model.bound.clear();
                    }
                }
            }
            compare(&breakpoints, &models)?;
        }
    }
}
