//! The numbers that agents use for frames and values.
//!
//! One counter serves the whole life of a session, so a number is never used twice: one from an earlier stop
//! is recognised as that, and a frame is never taken for a value.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::model::ids::{RawId, Reference, TargetId};

/// What a number refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Frame,
    Value,
}

impl Kind {
    /// In the words of the tools.
    fn as_str(self) -> &'static str {
        match self {
            Self::Frame => "frameId",
            Self::Value => "variablesReference",
        }
    }
}

/// A frame or value of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Referent {
    pub(super) target: TargetId,
    pub(super) raw: RawId,
}

#[derive(Debug)]
pub(super) struct References {
    next: u64,
    /// Numbers below this one belong to earlier stops.
    first_live: u64,
    live: HashMap<Reference, (Kind, Referent)>,
    known: HashMap<(Kind, Referent), Reference>,
}

impl References {
    pub(super) fn new() -> Self {
        Self { next: 1, first_live: 1, live: HashMap::new(), known: HashMap::new() }
    }

    /// The number for a frame or value; the same one each time within a stop.
    pub(super) fn number(&mut self, kind: Kind, referent: Referent) -> Reference {
        let next = &mut self.next;
        let live = &mut self.live;
        *self.known.entry((kind, referent)).or_insert_with(|| {
            let number = Reference(*next);
            *next += 1;
            live.insert(number, (kind, referent));
            number
        })
    }

    /// What a number refers to.
    pub(super) fn find(&self, wanted: Kind, number: Reference) -> Result<Referent> {
        match self.live.get(&number) {
            Some((kind, referent)) if *kind == wanted => Ok(*referent),
            Some((kind, _)) => {
                Err(Error::WrongReference { wanted: wanted.as_str(), found: kind.as_str(), number })
            }
            None if number.0 > 0 && number.0 < self.first_live => {
                Err(Error::Stale { wanted: wanted.as_str(), number })
            }
            None => Err(Error::NoReference { wanted: wanted.as_str(), number }),
        }
    }

    /// The program runs: every number becomes one of an earlier stop.
    pub(super) fn retire(&mut self) {
        self.first_live = self.next;
        self.live.clear();
        self.known.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Referent = Referent { target: TargetId::PROGRAM, raw: RawId(7) };

    #[test]
    fn references_are_valid_for_their_kind_and_stop() {
        let mut references = References::new();
        let frame = references.number(Kind::Frame, FRAME);
        let value = references.number(Kind::Value, FRAME);
        assert_ne!(frame, value);
        assert_eq!(references.number(Kind::Frame, FRAME), frame, "asking again gives the same number");
        assert_eq!(references.find(Kind::Frame, frame), Ok(FRAME));
        assert_eq!(references.find(Kind::Value, frame).unwrap_err().code(), "reference_not_found");
        assert_eq!(references.find(Kind::Value, Reference(99)).unwrap_err().code(), "reference_not_found");
        assert_eq!(references.find(Kind::Value, Reference(0)).unwrap_err().code(), "reference_not_found");

        references.retire();
        assert_eq!(references.find(Kind::Frame, frame).unwrap_err().code(), "stale_reference");
        let again = references.number(Kind::Frame, FRAME);
        assert!(again > value, "numbers are never used twice");
        assert_eq!(references.find(Kind::Frame, again), Ok(FRAME));
    }
}
