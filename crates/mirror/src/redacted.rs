//! What an editor is shown is what an agent is: likely credentials are hidden, and every character is in sight.

use journal::redaction::{self, Named};
use journal::visible::show_in_data;
use serde_json::Value;

/// Cleans a body. `asked` is the name or the expression that it is the value of.
pub(crate) fn clean(content: &mut Value, asked: Option<&str>, shows_credentials: bool) {
    // Before the rest, because a character in between would hide a credential.
    show_in_data(content);
    if shows_credentials {
        return;
    }
    if let (Some(named), Value::Object(object)) = (asked.and_then(Named::of), &mut *content) {
        named.hide_values(object);
    }
    redaction::hide_in_answer(content);
}

/// The same for a text that is shown as it is otherwise: output, which may have colours, and sources.
pub(crate) fn clean_text(mut text: String, shows_credentials: bool) -> String {
    if !shows_credentials {
        redaction::hide_in_text(&mut text);
    }
    text
}
