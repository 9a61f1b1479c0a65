//! Credentials are hidden in answers before they leave: whatever has the shape of one.

use journal::redaction;
use serde_json::Value;

use crate::Reply;

/// The key under which an answer with data says that something was hidden.
const KEY: &str = "hidden";

/// That so many values were hidden, and how to see them.
fn hidden_note(count: usize) -> String {
    match count {
        1 => "1 value that looks like a credential (start with --no-redact to see it)".to_owned(),
        _ => format!("{count} values that look like credentials (start with --no-redact to see them)"),
    }
}

/// Hides them in the data of an answer, which says so under `hidden`; how many there were.
pub fn hide_in_data(data: &mut Value) -> usize {
    let count = redaction::hide_shapes_in(data);
    if count > 0
        && let Value::Object(object) = data
    {
        object.insert(KEY.to_owned(), hidden_note(count).into());
    }
    count
}

/// Hides them in a text for a person or a model, which says so in a line at its end; how many there were.
pub fn hide_in_text(text: &mut String) -> usize {
    let count = redaction::hide_shapes(text);
    if count > 0 {
        say_hidden(text, count);
    }
    count
}

/// Puts a last line that says how many values were hidden.
pub fn say_hidden(text: &mut String, count: usize) {
    if !text.ends_with('\n') && !text.is_empty() {
        text.push('\n');
    }
    text.push_str(KEY);
    text.push_str(": ");
    text.push_str(&hidden_note(count));
}

impl Reply {
    /// The reply without credentials. One in which there are none stays as it is, byte for byte.
    #[must_use]
    pub(crate) fn without_credentials(mut self) -> Self {
        let Some(data) = &mut self.structured else {
            hide_in_text(&mut self.text);
            return self;
        };
        // Where the text is not the data as JSON, it is one of its own, such as an error.
        let is_same = self.text.starts_with('{');
        if hide_in_data(data) > 0 && is_same {
            self.text = data.to_string();
        } else if !is_same {
            redaction::hide_shapes(&mut self.text);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn token() -> String {
        format!("ghp_{}", "a1".repeat(18))
    }

    fn reply(text: &str, structured: Option<Value>) -> Reply {
        Reply { text: text.to_owned(), structured, is_error: false }
    }

    #[test]
    fn an_answer_says_once_that_something_was_hidden() {
        let data = json!({ "success": true, "result": token(), "output": token() });
        let told = reply(&data.to_string(), Some(data)).without_credentials();
        let expected = json!({
            "success": true,
            "result": "[redacted]",
            "output": "[redacted]",
            "hidden": "2 values that look like credentials (start with --no-redact to see them)",
        });
        assert_eq!(told, reply(&expected.to_string(), Some(expected)));
        let told = reply(&format!("a = {}", token()), None).without_credentials();
        let line = "hidden: 1 value that looks like a credential (start with --no-redact to see it)";
        assert_eq!(told.text, format!("a = [redacted]\n{line}"));
    }

    #[test]
    fn an_answer_without_credentials_stays_as_it_is() {
        for plain in [
            reply("a = 1", None),
            reply("{ \"a\":  1 }", Some(json!({ "a": 1 }))),
            reply("", Some(json!({}))),
        ] {
            assert_eq!(plain.clone().without_credentials(), plain);
        }
    }

    #[test]
    fn a_text_beside_data_is_its_own() {
        let told =
            reply(&format!("failed: {}", token()), Some(json!({ "error": token() }))).without_credentials();
        assert_eq!(told.text, "failed: [redacted]");
        assert_eq!(told.structured.unwrap()["error"], "[redacted]");
    }
}
