//! Texts of simple values that came as such. They are the same as the helper's.

use std::fmt::Write as _;

use ::cdp::runtime::RemoteObject;
use serde_json::Value as Json;

use super::rows::ShownValue;

/// A value without a helper's description: a primitive directly, an object with V8's description.
pub(super) fn shown(value: &RemoteObject, limit: usize) -> ShownValue {
    let kind = value.kind.clone();
    if let (true, Some(Json::String(text))) = (kind == "string", &value.value) {
        return string(text, limit);
    }
    let is_null = value.subtype.as_deref() == Some("null");
    let type_name = match (&value.class_name, is_null) {
        (_, true) => "null".to_owned(),
        (Some(class), _) => class.clone(),
        (None, _) => kind,
    };
    let text = match (&value.unserializable_value, &value.value) {
        (Some(text), _) => text.clone(),
        (None, Some(value)) if value.is_number() || value.is_boolean() => number(value),
        _ if is_null => "null".to_owned(),
        _ if value.kind == "undefined" => "undefined".to_owned(),
        _ => value.description.clone().unwrap_or_default().lines().next().unwrap_or_default().to_owned(),
    };
    let (text, is_cut, length) = cut(text, limit);
    let has_children = value.object_id.is_some() && value.kind != "symbol";
    ShownValue { text, type_name, has_children, is_cut, length, ..ShownValue::default() }
}

/// Numbers as JavaScript writes them, which JSON's readers may change: `1e21` becomes `1e+21`.
fn number(value: &Json) -> String {
    match value.as_f64() {
        Some(number) if number.fract() == 0.0 && number.abs() < 1e21 => format!("{number:.0}"),
        Some(number) if number.abs() >= 1e21 || (number != 0.0 && number.abs() < 1e-6) => {
            let text = format!("{number:e}");
            if text.contains("e-") { text } else { text.replace('e', "e+") }
        }
        Some(number) => number.to_string(),
        None => value.to_string(),
    }
}

fn string(text: &str, limit: usize) -> ShownValue {
    let length = Some(text.encode_utf16().count() as u64);
    let (head, is_cut) = head(text, limit);
    let text = if is_cut { format!("{}...", quote(head)) } else { quote(head) };
    ShownValue { text, type_name: "string".to_owned(), is_cut, length, ..ShownValue::default() }
}

/// A text that is cut at a limit in UTF-16 units, whether it was, and how long it was.
fn cut(text: String, limit: usize) -> (String, bool, Option<u64>) {
    match head(&text, limit) {
        (head, true) => (format!("{head}..."), true, Some(text.encode_utf16().count() as u64)),
        _ => (text, false, None),
    }
}

fn head(text: &str, limit: usize) -> (&str, bool) {
    let mut units = 0;
    for (at, letter) in text.char_indices() {
        units += letter.len_utf16();
        if units > limit {
            return (text.get(..at).unwrap_or_default(), true);
        }
    }
    (text, false)
}

/// In the quotes that need the least escaping, as `util.inspect` does it.
fn quote(text: &str) -> String {
    let mark = match (text.contains('\''), text.contains('"'), text.contains('`') || text.contains("${")) {
        (true, false, _) => '"',
        (true, true, false) => '`',
        _ => '\'',
    };
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push(mark);
    for letter in text.chars() {
        match letter {
            '\u{8}' => quoted.push_str("\\b"),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\u{c}' => quoted.push_str("\\f"),
            '\r' => quoted.push_str("\\r"),
            '\\' => quoted.push_str("\\\\"),
            letter if letter == mark => {
                quoted.push('\\');
                quoted.push(letter);
            }
            letter if letter.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\x{:02X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push(mark);
    quoted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_formatted_as_in_javascript() {
        let table = [
            (json!(1), "1"),
            (json!(-1.5), "-1.5"),
            (json!(1e21), "1e+21"),
            (json!(1e20), "100000000000000000000"),
            (json!(1.5e300), "1.5e+300"),
            (json!(1e-7), "1e-7"),
            (json!(0.000_001), "0.000001"),
            (json!(9_007_199_254_740_993_u64), "9007199254740992"),
        ];
        for (value, text) in table {
            assert_eq!(number(&value), text);
        }
    }

    #[test]
    fn strings_are_quoted_and_truncated_like_util_inspect() {
        let table = [
            ("a", 10, "'a'", false),
            ("it's", 10, "\"it's\"", false),
            ("'\"", 10, "`'\"`", false),
            ("'\"`", 10, "'\\'\"`'", false),
            ("a\nb\u{1b}\u{7f}\\", 10, "'a\\nb\\x1B\\x7F\\\\'", false),
            ("abc", 2, "'ab'...", true),
            ("a😀b", 2, "'a'...", true),
            ("a😀b", 3, "'a😀'...", true),
        ];
        for (value, limit, text, is_cut) in table {
            let shown = string(value, limit);
            assert_eq!((shown.text.as_str(), shown.is_cut), (text, is_cut), "{value}");
        }
    }
}
