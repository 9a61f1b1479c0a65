//! What the numbers stand for that scopes and values have.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;

use super::frame::Frame;
use crate::error::{Error, Result};
use crate::model::ids::RawId;

/// Something with children.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// A scope of a frame, by its place in the chain.
    Scope(Arc<Frame>, usize),
    /// A value.
    Value(Place),
}

/// The way to a value: an object that the debugger holds, and steps from there, which the helper takes.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) root: Arc<str>,
    pub(super) steps: Vec<Json>,
    /// Where an expression about it is evaluated.
    pub(super) frame: Option<Arc<Frame>>,
}

impl Place {
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
pub(super) struct References {
    last: AtomicI64,
    held: Mutex<HashMap<RawId, Held>>,
}

impl References {
    pub(super) fn hold(&self, held: Held) -> RawId {
        let id = RawId(self.last.fetch_add(1, Ordering::Relaxed) + 1);
        self.lock().insert(id, held);
        id
    }

    pub(super) fn find(&self, id: RawId) -> Result<Held> {
        self.lock().get(&id).cloned().ok_or_else(|| Error::Refused("the value is gone".to_owned()))
    }

    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RawId, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
