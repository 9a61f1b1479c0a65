//! Credentials are redacted before they are stored.

use std::collections::{HashMap, HashSet};

use journal::redaction::{self, NamedValue};

/// What is stored instead of a value that is a credential by its name.
pub(crate) const MARK: &str = "[redacted]";

/// Which texts are credentials. A value is written before its name is known, and so waits until it is used.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    names: HashMap<i64, Option<NamedValue>>,
    secrets: HashSet<i64>,
}

impl Redactor {
    /// Learns a name.
    pub(crate) fn name(&mut self, id: i64, text: &str) {
        self.names.insert(id, NamedValue::of(text.trim_matches('\'')));
    }

    /// Whether a value of this type and text is a credential under this name, or was under another one.
    pub(crate) fn is_secret(&mut self, atom: i64, name: Option<i64>, type_name: &str, text: &str) -> bool {
        let named = name.and_then(|name| self.names.get(&name)).copied().flatten();
        if named.is_some_and(|named| named.hides(Some(type_name), &format!("{text:?}"))) {
            self.secrets.insert(atom);
        }
        self.secrets.contains(&atom)
    }

    /// Whether the name may be that of a credential.
    pub(crate) fn is_suspicious(&self, name: i64) -> bool {
        self.names.get(&name).is_some_and(Option::is_some)
    }
}

/// A text without what has the shape of a credential.
pub(crate) fn without_shapes(mut text: String) -> String {
    redaction::hide_in_text(&mut text);
    text
}
