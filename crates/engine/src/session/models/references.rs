//! The model: a list of everything that ever received a number, with the stop at which it did. The number of an entry
//! is its index in the list. It is valid for as long as the stop lasts.

use proptest::prelude::*;

use crate::error::Error;
use crate::model::ids::{RawId, Reference, TargetId};
use crate::session::references::{Kind, References, Referent};

#[derive(Clone, Debug)]
enum Operation {
    Number(Kind, Referent),
    Find(Kind, u64),
    Retire,
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Frame), Just(Kind::Value)]
}

fn operations() -> impl Strategy<Value = Operation> {
    let referent = (0..3_u32, -1..3_i64)
        .prop_map(|(target, raw)| Referent { target: TargetId(target), raw: RawId(raw) });
    prop_oneof![
        4 => (kinds(), referent).prop_map(|(kind, referent)| Operation::Number(kind, referent)),
        4 => (kinds(), prop_oneof![0..30_u64, Just(u64::MAX)]).prop_map(|(kind, number)| Operation::Find(kind, number)),
        1 => Just(Operation::Retire),
    ]
}

proptest! {
    #[test]
    fn references_keep_their_meaning(operations in prop::collection::vec(operations(), 1..80)) {
        let mut references = References::new();
        let mut given: Vec<(usize, Kind, Referent)> = Vec::new();
        let mut stop = 0;
        for operation in operations {
            match operation {
                Operation::Number(kind, referent) => {
                    let known = given.iter().position(|one| *one == (stop, kind, referent));
                    let place = known.unwrap_or(given.len());
                    if known.is_none() {
                        given.push((stop, kind, referent));
                    }
                    prop_assert_eq!(references.number(kind, referent), Reference(place as u64 + 1));
                }
                Operation::Find(kind, number) => {
                    let entry = number.checked_sub(1).and_then(|place| given.get(usize::try_from(place).ok()?));
                    let found = references.find(kind, Reference(number));
                    match entry {
                        Some((then, ..)) if *then < stop => prop_assert!(matches!(found, Err(Error::Stale { .. })), "{found:?}"),
                        Some((_, of, referent)) if *of == kind => prop_assert_eq!(found, Ok(*referent)),
                        Some(_) => prop_assert!(matches!(found, Err(Error::WrongReference { .. })), "{found:?}"),
                        None => prop_assert!(matches!(found, Err(Error::NoReference { .. })), "{found:?}"),
                    }
                }
                Operation::Retire => {
                    references.retire();
                    stop += 1;
                }
            }
        }
    }
}
