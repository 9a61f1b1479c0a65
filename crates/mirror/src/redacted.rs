//! An editor sees what an agent sees: likely credentials are redacted, and invisible characters escaped.

use journal::redaction::{self, NamedValue};
use journal::visible::show_in_data;
use serde_json::Value;

/// Cleans a body. `asked` is the name or the expression that it is the value of.
pub(crate) fn clean(content: &mut Value, asked: Option<&str>, shows_credentials: bool) {
    // Before the rest, because a character in between would hide a credential.
    show_in_data(content);
    if shows_credentials {
        return;
    }
    if let (Some(named), Value::Object(object)) = (asked.and_then(NamedValue::of), &mut *content) {
        named.hide_values(object);
    }
    redaction::hide_in_answer(content);
}

/// The same for a text that is otherwise shown unchanged: output, which may have colours, and sources.
pub(crate) fn clean_text(mut text: String, shows_credentials: bool) -> String {
    if !shows_credentials {
        redaction::hide_in_text(&mut text);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn credentials_are_redacted_by_name_and_shape() {
        let key = format!("ghp_{}", "a1".repeat(18));
        let table = [
            (
                json!({ "variables": [{ "name": "password", "value": "'x'", "type": "str", "variablesReference": 0 }] }),
                None,
                json!({ "variables": [{ "name": "password", "value": "[redacted]", "type": "str", "variablesReference": 0 }] }),
            ),
            (
                json!({ "result": "'x'", "type": "str" }),
                Some("config['password']"),
                json!({ "result": "[redacted]", "type": "str" }),
            ),
            (
                json!({ "result": "'x'", "type": "str" }),
                Some("name"),
                json!({ "result": "'x'", "type": "str" }),
            ),
            (
                json!({ "reason": "exception", "text": key }),
                None,
                json!({ "reason": "exception", "text": "[redacted]" }),
            ),
            (json!({ "value": "a\u{1b}[31mb\u{202e}" }), None, json!({ "value": "ab\\u{202e}" })),
        ];
        for (content, asked, expected) in table {
            let mut cleaned = content.clone();
            clean(&mut cleaned, asked, false);
            assert_eq!(cleaned, expected, "{content}");
        }
        let mut shown = json!({ "result": "'x'", "type": "str" });
        clean(&mut shown, Some("password"), true);
        assert_eq!(shown["result"], "'x'");
        assert_eq!(clean_text(format!("\u{1b}[31m{key}"), false), "\u{1b}[31m[redacted]");
    }
}
