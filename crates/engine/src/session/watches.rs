//! Expressions whose changes every stop report tells.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::Session;
use crate::deadlines;
use crate::error::{Error, Result};
use crate::model::ids::Reference;
use crate::model::variable::Value;

/// How many there may be: each costs a round trip at every stop.
pub const MOST: usize = 20;
/// How many characters of a value are compared and told.
const TEXT: usize = 500;
/// Stands for the value of an expression that takes too long.
const LATE: &str = "(takes too long)";

/// The watched expressions of a session. They outlive its programs.
#[derive(Debug, Default)]
pub struct Watches(Mutex<Vec<Watch>>);

#[derive(Clone, Debug)]
struct Watch {
    expression: String,
    /// What it was the last time; nothing before the first time.
    last: Option<String>,
}

/// A watched expression whose value has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The expression.
    pub expression: String,
    /// What it was when it was looked at last, as text.
    pub old: String,
    /// What it is now.
    pub new: String,
}

impl Watches {
    /// Watches an expression from now on. False when there are too many.
    #[must_use]
    pub fn add(&self, expression: &str) -> bool {
        let mut watches = self.lock();
        if watches.iter().any(|watch| watch.expression == expression) {
            return true;
        }
        let fits = watches.len() < MOST;
        if fits {
            watches.push(Watch { expression: expression.to_owned(), last: None });
        }
        fits
    }

    /// Watches it no more.
    pub fn remove(&self, expression: &str) {
        self.lock().retain(|watch| watch.expression != expression);
    }

    fn expressions(&self) -> Vec<String> {
        self.lock().iter().map(|watch| watch.expression.clone()).collect()
    }

    /// Takes down what an expression is now, and tells when it was something else before.
    fn note(&self, expression: &str, new: String) -> Option<Changed> {
        let mut watches = self.lock();
        let watch = watches.iter_mut().find(|watch| watch.expression == expression)?;
        let old = watch.last.replace(new.clone()).filter(|old| *old != new)?;
        Some(Changed { expression: expression.to_owned(), old, new })
    }

    /// Nothing panics while the lock is held, so a poisoned one is as good.
    fn lock(&self) -> MutexGuard<'_, Vec<Watch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Looks at the watched expressions in a frame. The changed ones, and how many there was no time for.
    pub async fn changed_watches(&self, frame: Reference) -> (Vec<Changed>, usize) {
        let until = Instant::now() + deadlines::WATCHES;
        let expressions = self.watches().expressions();
        let mut changed = Vec::new();
        for (done, expression) in expressions.iter().enumerate() {
            let left = until.saturating_duration_since(Instant::now());
            if left < deadlines::WATCH {
                return (changed, expressions.len() - done);
            }
            let value = self.evaluate(frame, expression.clone(), deadlines::WATCH, TEXT, false).await;
            let text = match &value {
                Err(Error::Deadline { .. }) => Some(LATE.to_owned()),
                value => text(value),
            };
            changed.extend(text.and_then(|text| self.watches().note(expression, text)));
        }
        (changed, 0)
    }

    /// Evaluates an expression, and watches it from now on, also when it raises: it may have a value later.
    pub async fn watch_expression(
        &self,
        frame: Reference,
        expression: &str,
        deadline: Duration,
    ) -> Result<Value<Reference>> {
        if !self.watches().add(expression) {
            let problem = format!("{MOST} expressions are watched, which is the most there may be");
            return Err(Error::Refused(problem));
        }
        let value = self.evaluate(frame, expression.to_owned(), deadline, TEXT, false).await;
        match text(&value) {
            Some(text) => drop(self.watches().note(expression, text)),
            None => self.watches().remove(expression),
        }
        value
    }
}

/// What counts as the value of an expression; nothing where it cannot be told.
fn text(value: &Result<Value<Reference>>) -> Option<String> {
    match value {
        Ok(value) => Some(value.text.clone()),
        Err(Error::Raised { message, .. }) => Some(message.clone()),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_change_is_told() {
        let watches = Watches::default();
        assert!(watches.add("x") && watches.add("x"));
        assert_eq!(watches.expressions(), ["x"]);
        assert_eq!(watches.note("x", "1".to_owned()), None, "the first value is no change");
        assert_eq!(watches.note("x", "1".to_owned()), None);
        let changed = Changed { expression: "x".to_owned(), old: "1".to_owned(), new: "2".to_owned() };
        assert_eq!(watches.note("x", "2".to_owned()), Some(changed));
        watches.remove("x");
        assert_eq!(watches.note("x", "3".to_owned()), None, "it is watched no more");
    }

    #[test]
    fn there_is_a_largest_number_of_them() {
        let watches = Watches::default();
        assert!((0..MOST).all(|number| watches.add(&number.to_string())));
        assert!(!watches.add("one more"));
        assert!(watches.add("0"), "one that is there already is no more");
    }
}
