//! Texts with credentials in them.

use journal::redaction::{MARK, Redaction, hide_shapes_in, shapes};
use serde_json::Value;

/// Inputs are also repeated to this many bytes, so that a rule that takes more than linear time exceeds the time
/// limit of the target.
const LONG: usize = 64 * 1024;

/// A text, or JSON.
///
/// Hiding twice is hiding once; keys and lists keep their places; nothing is hidden without a mark.
pub fn redaction(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let hidden = shapes(&text);
    assert_eq!(shapes(&hidden), hidden, "shapes");
    if hidden != text {
        assert!(hidden.contains(MARK), "{hidden:?}");
    }
    let value = serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.clone().into_owned()));
    let redaction = Redaction::default();
    let mut once = value.clone();
    redaction.clean(&mut once);
    same_form(&value, &once);
    let mut twice = once.clone();
    redaction.clean(&mut twice);
    assert_eq!(once, twice, "clean");
    hide_shapes_in(&mut once);
    assert_eq!(once, twice, "what is clean has no shapes");

    if !text.is_empty() {
        let long = text.repeat(LONG / text.len() + 1);
        redaction.clean(&mut Value::String(long));
    }
}

fn same_form(one: &Value, other: &Value) {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            assert_eq!(one.len(), other.len());
            one.iter().zip(other).for_each(|(one, other)| same_form(one, other));
        }
        (Value::Object(one), Value::Object(other)) => {
            assert!(other.len() <= one.len());
        }
        _ => {}
    }
}
