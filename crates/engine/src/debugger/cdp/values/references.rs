//! The meaning of the numbers of scopes and values.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value as Json;

use super::frame::Frame;
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::ids::RawId;

/// Something with children.
#[derive(Clone, Debug)]
pub(super) enum Expandable {
    /// A scope of a frame, by its place in the chain.
    Scope(Arc<Frame>, usize),
    /// A value.
    Value(ValuePath),
}

/// The way to a value: an object that the debugger holds, and steps from there, which the helper takes.
#[derive(Clone, Debug)]
pub(super) struct ValuePath {
    pub(super) root: Arc<str>,
    pub(super) steps: Vec<Json>,
    /// Where an expression about it is evaluated.
    pub(super) frame: Option<Arc<Frame>>,
}

impl ValuePath {
    pub(super) fn of(root: &str, frame: Option<&Arc<Frame>>) -> Self {
        Self { root: root.into(), steps: Vec::new(), frame: frame.cloned() }
    }

    /// One step further.
    pub(super) fn then(&self, step: Json) -> Self {
        let mut place = self.clone();
        place.steps.push(step);
        place
    }
}

/// No number is given twice, so one from an earlier stop is known to be gone.
#[derive(Debug, Default)]
pub(super) struct ValueReferences {
    last: AtomicI64,
    held: Mutex<HashMap<RawId, Expandable>>,
}

impl ValueReferences {
    pub(super) fn hold(&self, held: Expandable) -> RawId {
        let id = RawId(self.last.fetch_add(1, Ordering::Relaxed) + 1);
        lock(&self.held).insert(id, held);
        id
    }

    pub(super) fn find(&self, id: RawId) -> Result<Expandable> {
        lock(&self.held).get(&id).cloned().ok_or_else(|| Error::Refused("the value is gone".to_owned()))
    }

    pub(super) fn clear(&self) {
        lock(&self.held).clear();
    }
}
