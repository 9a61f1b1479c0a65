//! How long things may be in a journal, as the specification of its format says: texts of 200 characters, the
//! first five elements of a list, the first five keys of an object.
//!
//! The arguments and answers of tools keep all their own keys; what is in them is cut.

use serde_json::{Map, Value};

/// How many characters of a text are kept.
const TEXT: usize = 200;
/// How many elements and keys are kept.
const PARTS: usize = 5;
/// How many keys an argument list or an answer keeps. No tool has as many.
const KEYS: usize = 60;
/// How deep things are nested. What is deeper is left out.
const DEPTH: usize = 12;
/// After a text that was cut.
const CUT: &str = "... (truncated)";

/// A text, cut.
pub fn text(text: &str) -> String {
    // A text has at most as many characters as bytes.
    let end = if text.len() > TEXT { text.char_indices().nth(TEXT) } else { None };
    match end {
        Some((end, _)) => format!("{}{CUT}", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Whether a text was cut.
pub fn is_cut(text: &str) -> bool {
    text.ends_with(CUT)
}

/// Two texts in one; nothing when that would be too long, or the first was cut.
pub fn joined(first: &str, second: &str) -> Option<String> {
    let fits = !is_cut(first) && first.chars().count() + second.chars().count() <= TEXT;
    fits.then(|| format!("{first}{second}"))
}

/// The arguments or the answer of a tool, cut.
pub fn request(object: &Map<String, Value>) -> Map<String, Value> {
    object_of(object, KEYS, DEPTH)
}

/// A value, cut.
pub fn value(value: &Value) -> Value {
    nested(value, DEPTH)
}

fn nested(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(whole) => Value::String(text(whole)),
        Value::Array(_) | Value::Object(_) if depth == 0 => Value::String(CUT.trim_start().to_owned()),
        Value::Array(elements) => {
            let mut kept: Vec<Value> =
                elements.iter().take(PARTS).map(|element| nested(element, depth - 1)).collect();
            if elements.len() > PARTS {
                kept.push(Value::String(more(elements.len() - PARTS)));
            }
            Value::Array(kept)
        }
        Value::Object(object) => Value::Object(object_of(object, PARTS, depth - 1)),
        other => other.clone(),
    }
}

fn object_of(object: &Map<String, Value>, keys: usize, depth: usize) -> Map<String, Value> {
    let mut kept: Map<String, Value> =
        object.iter().take(keys).map(|(key, value)| (text(key), nested(value, depth))).collect();
    if object.len() > keys {
        kept.insert("...".to_owned(), Value::String(format!("+{} more", object.len() - keys)));
    }
    kept
}

fn more(count: usize) -> String {
    format!("... +{count} more")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_lists_and_objects_are_truncated_as_specified() {
        let long = "é".repeat(201);
        let cut = format!("{}... (truncated)", "é".repeat(200));
        let cases = [
            (json!("é".repeat(200)), json!("é".repeat(200))),
            (json!(long), json!(cut)),
            (json!([1, 2, 3, 4, 5]), json!([1, 2, 3, 4, 5])),
            (json!([1, 2, 3, 4, 5, 6, 7]), json!([1, 2, 3, 4, 5, "... +2 more"])),
            (
                json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}),
                json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "...": "+1 more"}),
            ),
            (json!({"a": [long]}), json!({"a": [cut]})),
            (json!(null), json!(null)),
        ];
        for (whole, expected) in cases {
            assert_eq!(value(&whole), expected);
        }
    }

    #[test]
    fn tool_arguments_keep_their_keys() {
        let all: Map<String, Value> = (0..9).map(|key| (key.to_string(), json!(vec![key; 9]))).collect();
        let kept = request(&all);
        assert_eq!(kept.len(), 9);
        assert_eq!(kept["8"], json!([8, 8, 8, 8, 8, "... +4 more"]));
    }

    #[test]
    fn deeply_nested_values_are_omitted() {
        let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
        assert!(value(&deep).to_string().len() < 100);
    }
}
