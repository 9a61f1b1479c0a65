//! Expressions whose changes are in every stop report.
//!
//! A change is between two stops: the value of an expression now against its value at the last stop where it had one.
//! A name that does not exist at a stop has no value and no change: the watch waits until the program is back in its
//! scope.

use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

use super::Session;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::ids::Reference;
use crate::model::variable::Value;

/// How many characters of a value are compared and reported.
const TEXT: usize = 500;
/// The displayed value of an expression that takes too long.
const LATE: &str = "(takes too long)";
/// The displayed value of an expression that has never had one.
const NOWHERE: &str = "(not in scope)";
/// The names of languages' errors for an unknown name.
const NO_NAME: [&str; 3] = ["NameError", "UnboundLocalError", "ReferenceError"];

/// The watched expressions of a session. They outlive its programs.
#[derive(Debug, Default)]
pub struct Watches(Mutex<List>);

#[derive(Debug, Default)]
struct List {
    watches: Vec<Watch>,
    /// Counts them, so that no id is given twice.
    last: u32,
}

/// A watched expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Its name.
    pub id: WatchId,
    /// The expression.
    pub expression: String,
    /// Its value at the stop before, if it had one.
    pub before: Option<WatchValue>,
    /// Its value at the latest evaluation; none before the first.
    pub now: Option<WatchValue>,
    /// The stop that `now` is of.
    epoch: u64,
}

/// A watch's ID for the session's user, shown as `watch-1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatchId(pub u32);

impl fmt::Display for WatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "watch-{}", self.0)
    }
}

/// The result of evaluating a watched expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchValue {
    /// It had a value.
    Value {
        /// The language's text for it.
        text: String,
        /// The name of its type.
        type_name: String,
        /// `text` is not all of it.
        cut: bool,
    },
    /// It raised, or took too long; the text says how.
    Failed(String),
    /// A name in it does not exist where the program stopped.
    NotInScope,
}

/// As reported in a change.
impl fmt::Display for WatchValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value { text, .. } | Self::Failed(text) => text,
            Self::NotInScope => NOWHERE,
        })
    }
}

impl WatchValue {
    /// The result of an evaluation; none if that says nothing about the expression.
    fn of(value: &Result<Value<Reference>>) -> Option<Self> {
        Some(match value {
            Ok(value) => {
                Self::Value { text: value.text.clone(), type_name: value.type_name.clone(), cut: value.cut }
            }
            Err(Error::UnknownName(_)) => Self::NotInScope,
            Err(Error::Raised { type_name, .. }) if NO_NAME.contains(&type_name.as_str()) => Self::NotInScope,
            Err(Error::Raised { message, .. }) => Self::Failed(message.clone()),
            Err(_) => return None,
        })
    }
}

/// A watched expression whose value has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Whose.
    pub id: WatchId,
    /// The expression.
    pub expression: String,
    /// What it was before.
    pub old: WatchValue,
    /// What it is now.
    pub new: WatchValue,
}

impl Watch {
    /// The change between the latest evaluation and the one before, if any.
    pub fn change(&self) -> Option<Changed> {
        let (old, new) = (self.before.clone()?, self.now.clone()?);
        if old == new || new == WatchValue::NotInScope {
            return None;
        }
        Some(Changed { id: self.id, expression: self.expression.clone(), old, new })
    }

    /// Records its value at a stop.
    fn note(&mut self, epoch: u64, new: WatchValue) {
        if epoch != self.epoch {
            self.epoch = epoch;
            // Out of scope is not a value; the previous value is compared on return.
            let last = self.now.take();
            if self.before.is_none() || last.as_ref().is_some_and(|last| *last != WatchValue::NotInScope) {
                self.before = last;
            }
        }
        self.now = Some(new);
    }
}

impl Watches {
    /// Watches an expression from now on. None when there are too many.
    #[must_use]
    pub fn add(&self, expression: &str, most: u64) -> Option<WatchId> {
        let mut list = lock(&self.0);
        if let Some(known) = list.watches.iter().find(|watch| watch.expression == expression) {
            return Some(known.id);
        }
        if list.watches.len() as u64 >= most {
            return None;
        }
        list.last += 1;
        let (id, expression) = (WatchId(list.last), expression.to_owned());
        list.watches.push(Watch { id, expression, before: None, now: None, epoch: 0 });
        Some(id)
    }

    /// Removes a watch.
    pub fn remove(&self, expression: &str) {
        lock(&self.0).watches.retain(|watch| watch.expression != expression);
    }

    /// The same by its name. None if there is no such watch.
    pub fn remove_id(&self, id: &str) -> Option<Watch> {
        lock(&self.0).watches.extract_if(.., |watch| watch.id.to_string() == id).next()
    }

    /// All of them, in the order in which they were added.
    pub fn list(&self) -> Vec<Watch> {
        lock(&self.0).watches.clone()
    }

    /// Stores the value of an expression at a stop, and reports whether it has changed.
    pub(super) fn note(&self, id: WatchId, epoch: u64, new: WatchValue) -> Option<Changed> {
        let mut list = lock(&self.0);
        let watch = list.watches.iter_mut().find(|watch| watch.id == id)?;
        watch.note(epoch, new);
        watch.change()
    }
}

impl Session {
    /// Evaluates the watches in a frame. Returns those that changed, and how many were skipped for lack of time.
    pub async fn changed_watches(&self, frame: Reference) -> (Vec<Changed>, usize) {
        let until = Instant::now() + deadlines::WATCHES;
        let watches = self.watches().list();
        let mut changed = Vec::new();
        for (done, watch) in watches.iter().enumerate() {
            let left = until.saturating_duration_since(Instant::now());
            if left < deadlines::WATCH {
                return (changed, watches.len() - done);
            }
            let seen = self.evaluate_untracked(frame, &watch.expression).await;
            changed.extend(seen.and_then(|seen| self.watches().note(watch.id, self.epoch(), seen)));
        }
        (changed, 0)
    }

    /// The value of an expression in a frame, without recording it.
    pub async fn evaluate_untracked(&self, frame: Reference, expression: &str) -> Option<WatchValue> {
        match self.evaluate(frame, expression.to_owned(), deadlines::WATCH, TEXT, false).await {
            Err(Error::Deadline { .. }) => Some(WatchValue::Failed(LATE.to_owned())),
            value => WatchValue::of(&value),
        }
    }

    /// Watches an expression from now on, without evaluating it yet.
    pub fn watch_later(&self, expression: &str) -> Result<WatchId> {
        let bounds = &self.policy().bounds;
        self.watches().add(expression, bounds.watches).ok_or_else(|| {
            bounds.reached("watches", format!("{} expressions are already watched", bounds.watches))
        })
    }

    /// Evaluates an expression, and watches it from now on, also when it raises: it may have a value later.
    pub async fn watch_expression(
        &self,
        frame: Reference,
        expression: &str,
        deadline: Duration,
    ) -> Result<Value<Reference>> {
        let id = self.watch_later(expression)?;
        let value = self.evaluate(frame, expression.to_owned(), deadline, TEXT, false).await;
        match WatchValue::of(&value) {
            Some(seen) => drop(self.watches().note(id, self.epoch(), seen)),
            None => self.watches().remove(expression),
        }
        value
    }

    /// The number of the stop that the program is at; 0 when it is at none.
    fn epoch(&self) -> u64 {
        self.execution().stop().map_or(0, |stop| stop.epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> WatchValue {
        WatchValue::Value { text: text.to_owned(), type_name: "number".to_owned(), cut: false }
    }

    /// The reported changes if an expression has these values at consecutive stops.
    fn reported_changes(seen: &[WatchValue]) -> Vec<String> {
        let watches = Watches::default();
        let id = watches.add("x", 20).unwrap();
        let changes = (1..).zip(seen).filter_map(|(epoch, seen)| watches.note(id, epoch, seen.clone()));
        changes.map(|Changed { old, new, .. }| format!("{old} -> {new}")).collect()
    }

    #[test]
    fn only_changes_are_reported() {
        use WatchValue::NotInScope as No;
        let failed = || WatchValue::Failed("TypeError".to_owned());
        let table: [(&[WatchValue], &[&str]); 7] = [
            (&[value("1")], &[]),
            (&[value("1"), value("1"), value("2")], &["1 -> 2"]),
            (&[value("1"), No, No, value("1")], &[]),
            (&[value("1"), No, value("2"), No, value("2")], &["1 -> 2"]),
            (&[No, No, value("1"), No, value("1")], &["(not in scope) -> 1"]),
            (&[failed(), failed(), value("1")], &["TypeError -> 1"]),
            (&[No, No], &[]),
        ];
        for (seen, expected) in table {
            assert_eq!(reported_changes(seen), expected, "{seen:?}");
        }
    }

    #[test]
    fn changes_within_a_stop_are_relative_to_the_stop_before() {
        let watches = Watches::default();
        let id = watches.add("x", 20).unwrap();
        assert_eq!(watches.add("x", 20), Some(id), "it is one watch");
        assert_eq!(watches.note(id, 1, value("1")), None);
        assert_eq!(watches.note(id, 1, value("2")), None, "a value of this stop is no value before");
        assert_eq!(watches.note(id, 2, value("3")).map(|changed| changed.old), Some(value("2")));
        assert_eq!(watches.note(id, 2, value("3")).map(|changed| changed.old), Some(value("2")));
        assert_eq!(watches.remove_id("watch-1").map(|watch| watch.expression), Some("x".to_owned()));
        assert_eq!(watches.note(id, 3, value("4")), None, "it is watched no more");
        assert_eq!(watches.add("x", 20), Some(WatchId(2)), "no id is given twice");
    }

    #[test]
    fn the_number_of_watches_is_limited() {
        let watches = Watches::default();
        assert!((0..20).all(|number| watches.add(&number.to_string(), 20).is_some()));
        assert_eq!(watches.add("one more", 20), None);
        assert_eq!(watches.add("0", 20), Some(WatchId(1)), "one that is there already is no more");
    }
}
