//! Redacts credentials by their shape and by their name, environments, and home folders.
//!
//! In the journal ([`Redaction::clean`]), everything with the name of a credential is redacted. Answers
//! ([`hide_in_answer`]) are for debugging, so there the value matters, too ([`NamedValue`]).

mod answers;
mod assignments;
mod names;
mod places;
mod shapes;
mod tree;
mod unquoted;
mod values;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

pub use self::answers::{VALUES, hide_in_answer, hide_in_text, text_for_answer};
use self::places::Home;
pub use self::values::NamedValue;

/// The replacement for redacted text.
pub const MARK: &str = "[redacted]";

/// The beginnings of the lines around a private key, and the label of the first.
pub(crate) const KEY_BEGINS: &str = "-----BEGIN ";
pub(crate) const KEY_ENDS: &str = "-----END ";
pub(crate) const KEY: &str = "PRIVATE KEY";

/// The shapes that are known: the name of each rule, and what it matches.
pub fn rules() -> impl Iterator<Item = (&'static str, &'static str)> {
    shapes::rules()
}

/// A text without what has the shape of a credential, such as a key of a cloud provider.
pub fn shapes(text: &str) -> Cow<'_, str> {
    shapes::hide(text).map_or(Cow::Borrowed(text), |(hidden, _)| Cow::Owned(hidden))
}

/// Redacts everything in a text with the shape of a credential, and returns how many there were.
pub fn hide_shapes(text: &mut String) -> usize {
    let Some((hidden, count)) = shapes::hide(text) else { return 0 };
    *text = hidden;
    count
}

/// The same for every text in a value, also for keys.
pub fn hide_shapes_in(value: &mut Value) -> usize {
    match value {
        Value::String(text) => hide_shapes(text),
        Value::Array(elements) => elements.iter_mut().map(hide_shapes_in).sum(),
        Value::Object(object) => {
            let mut count = object.values_mut().map(hide_shapes_in).sum();
            if object.keys().any(|key| shapes::hide(key).is_some()) {
                *object = std::mem::take(object)
                    .into_iter()
                    .map(|(mut key, value)| {
                        count += hide_shapes(&mut key);
                        (key, value)
                    })
                    .collect();
            }
            count
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// This many calls that asked for a credential are remembered until they are answered.
const ASKED: usize = 256;

/// The rules of one machine and user, for the journal. Clones remember the same calls.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    home: Option<Home>,
    folder: Option<PathBuf>,
    /// The ids of calls that ask for the value of a credential.
    asked: Arc<Mutex<VecDeque<String>>>,
}

impl Redaction {
    /// With the user's home and the current folder.
    pub fn local() -> Self {
        Self::of(std::env::home_dir(), std::env::current_dir().ok())
    }

    pub(crate) fn of(home: Option<PathBuf>, folder: Option<PathBuf>) -> Self {
        Self { home: home.and_then(|home| Home::new(&home)), folder, asked: Arc::default() }
    }

    /// Redacts an entry of the journal, or anything of the same form.
    ///
    /// Keys keep their places and lists their lengths. Cleaning twice is the same as cleaning once.
    pub fn clean(&self, entry: &mut Value) {
        self.hide_answer(entry);
        self.hide_in(entry);
    }

    /// A text without credentials, and with the user's home as `~`.
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut hidden = assignments::hide(text).map_or(Cow::Borrowed(text), Cow::Owned);
        if let Some((next, _)) = shapes::hide(&hidden) {
            hidden = Cow::Owned(next);
        }
        if let Some(next) = self.home.as_ref().and_then(|home| home.shorten(&hidden)) {
            hidden = Cow::Owned(next);
        }
        hidden
    }

    /// An answer may not repeat the request, so the entry of the call is remembered until then.
    fn hide_answer(&self, entry: &mut Value) {
        let Some(call) = entry.get("callId").and_then(Value::as_str).map(str::to_owned) else { return };
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if entry.get("request").is_some_and(tree::requests_credential) {
            if asked.len() == ASKED {
                asked.pop_front();
            }
            asked.push_back(call);
        } else if let Some(response) = entry.get_mut("response") {
            let at = asked.iter().position(|id| *id == call);
            let was_asked = at.and_then(|at| asked.remove(at)).is_some();
            // Some answers repeat it, such as those of the command line.
            if was_asked || tree::requests_credential(response) {
                tree::hide_values(response);
            }
        }
    }
}

/// A text with the mark in these places, which are in order.
fn marked(text: &str, secrets: Vec<Range<usize>>) -> String {
    let mut hidden = String::with_capacity(text.len());
    let mut from = 0;
    for secret in secrets.into_iter().filter(|secret| !secret.is_empty()) {
        hidden.push_str(text.get(from..secret.start).unwrap_or_default());
        hidden.push_str(MARK);
        from = secret.end;
    }
    hidden.push_str(text.get(from..).unwrap_or_default());
    hidden
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod tests;
