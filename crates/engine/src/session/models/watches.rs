//! The model: for each watch, all that it was ever found to be, with the number of the stop. It is compared with the
//! last that it was found to be at the latest stop before this one where it was in scope; where it never was, with
//! that it was not.

use proptest::prelude::*;

use crate::session::watches::{WatchId, WatchValue, Watches};

/// How many there may be.
const MOST: usize = 20;

#[derive(Clone, Debug)]
enum Operation {
    Add(usize),
    Remove(usize),
    RemoveId(u32),
    /// Found to be this, at this stop or a later one.
    Note(u32, bool, WatchValue),
}

fn operations() -> impl Strategy<Value = Operation> {
    let seen = prop_oneof![
        Just(WatchValue::NotInScope),
        Just(WatchValue::Failed("TypeError".to_owned())),
        (0..3_u8).prop_map(|value| WatchValue::Value {
            text: value.to_string(),
            type_name: "int".to_owned(),
            cut: false
        }),
    ];
    prop_oneof![
        3 => (0..MOST + 3).prop_map(Operation::Add),
        1 => (0..MOST + 3).prop_map(Operation::Remove),
        1 => (0..40_u32).prop_map(Operation::RemoveId),
        8 => (1..8_u32, any::<bool>(), seen).prop_map(|(id, later, seen)| Operation::Note(id, later, seen)),
    ]
}

struct Model {
    id: u32,
    expression: String,
    history: Vec<(u64, WatchValue)>,
}

impl Model {
    /// What it is compared with at a stop.
    fn before(&self, stop: u64) -> Option<WatchValue> {
        let mut last_of_stops: Vec<&(u64, WatchValue)> = Vec::new();
        for one in self.history.iter().filter(|(then, _)| *then < stop) {
            last_of_stops.pop_if(|last| last.0 == one.0);
            last_of_stops.push(one);
        }
        let in_scope = last_of_stops.iter().rev().find(|(_, seen)| *seen != WatchValue::NotInScope);
        in_scope.or(last_of_stops.last()).map(|(_, seen)| seen.clone())
    }
}

proptest! {
    #[test]
    fn changes_are_relative_to_the_stop_before(operations in prop::collection::vec(operations(), 1..80)) {
        let watches = Watches::default();
        let mut models: Vec<Model> = Vec::new();
        let (mut last, mut stop) = (0, 1);
        for operation in operations {
            match operation {
                Operation::Add(number) => {
                    let expression = format!("x{number}");
                    let known = models.iter().find(|model| model.expression == expression).map(|model| model.id);
                    let expected = known.or_else(|| (models.len() < MOST).then_some(last + 1));
                    prop_assert_eq!(watches.add(&expression, MOST as u64), expected.map(WatchId));
                    if known.is_none() && let Some(id) = expected {
                        last = id;
                        models.push(Model { id, expression, history: Vec::new() });
                    }
                }
                Operation::Remove(number) => {
                    let expression = format!("x{number}");
                    watches.remove(&expression);
                    models.retain(|model| model.expression != expression);
                }
                Operation::RemoveId(id) => {
                    let removed = watches.remove_id(&format!("watch-{id}")).map(|watch| watch.expression);
                    let at = models.iter().position(|model| model.id == id);
                    prop_assert_eq!(removed, at.map(|at| models.remove(at).expression));
                }
                Operation::Note(id, later, seen) => {
                    stop += u64::from(later);
                    let reported_changes = watches.note(WatchId(id), stop, seen.clone());
                    let Some(model) = models.iter_mut().find(|model| model.id == id) else {
                        prop_assert_eq!(reported_changes, None);
                        continue;
                    };
                    let before = model.before(stop).filter(|before| *before != seen && seen != WatchValue::NotInScope);
                    prop_assert_eq!(reported_changes.map(|change| change.old), before);
                    model.history.push((stop, seen));
                }
            }
            let listed: Vec<String> = watches.list().into_iter().map(|watch| watch.expression).collect();
            prop_assert_eq!(listed, models.iter().map(|model| model.expression.clone()).collect::<Vec<_>>());
        }
    }
}
