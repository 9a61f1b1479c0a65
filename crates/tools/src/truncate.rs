//! Answers contain only visible text, within the size limit.

use std::borrow::Cow;

use journal::visible::visible;
pub use journal::visible::{show_in_data, show_in_text};
use serde_json::Value;

use crate::Reply;

/// The key under which an answer with data says that it was cut.
const KEY: &str = "cut";
/// Room for that, and for the braces and commas around what is cut, in bytes.
const ROOM: usize = 1_000;
/// How often an answer is looked through for what is largest.
const LOOKS: usize = 200;

/// The text with at most this many characters, and `...` in place of the others.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((at, _)) => Cow::Owned(format!("{}...", text.get(..at).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// Whether there is anything to show, found without a copy.
fn is_visible(data: &Value) -> bool {
    let is_seen = |text: &str| matches!(visible(text), Cow::Borrowed(_));
    match data {
        Value::String(text) => is_seen(text),
        Value::Array(items) => items.iter().all(is_visible),
        Value::Object(fields) => fields.iter().all(|(name, value)| is_seen(name) && is_visible(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

impl Reply {
    /// The reply with every character visible. If it already is, it is unchanged, byte for byte.
    #[must_use]
    pub(crate) fn visible(mut self) -> Self {
        let is_same = self.is_its_data();
        if let Some(data) = self.structured.as_mut().filter(|data| !is_visible(data)) {
            show_in_data(data);
            if is_same {
                self.text = data.to_string();
            }
        }
        if !is_same {
            show_in_text(&mut self.text);
        }
        self
    }

    /// Whether its text is its data as JSON. Where it is not, it is one of its own, such as an error.
    pub(crate) fn is_its_data(&self) -> bool {
        self.structured.is_some() && self.text.starts_with('{')
    }

    /// The reply within this many bytes. What is longer loses most where it is largest, and says so.
    #[must_use]
    pub(crate) fn within(mut self, most: usize) -> Self {
        let is_same = self.is_its_data();
        if let Some(data) = &mut self.structured {
            let size = if is_same { self.text.len() } else { size_of(data) };
            if size > most {
                cut(data, most.saturating_sub(ROOM));
                if let Value::Object(fields) = data {
                    fields.insert(KEY.to_owned(), note(size, most).into());
                }
                if is_same {
                    self.text = data.to_string();
                }
            }
        }
        if !is_same && self.text.len() > most {
            let size = self.text.len();
            let end = self.text.floor_char_boundary(most.saturating_sub(ROOM));
            self.text.truncate(end);
            self.text.push('\n');
            self.text.push_str(KEY);
            self.text.push_str(": ");
            self.text.push_str(&note(size, most));
        }
        self
    }
}

/// That an answer was cut, and how to get the rest.
fn note(size: usize, most: usize) -> String {
    format!(
        "the answer had {size} bytes, the limit is {most}: its largest parts were cut; ask for less at a \
         time (limits, maxLength, count, start, maxHits), or have `answer` raised under `[limits]` in the \
         user's stillframe.toml"
    )
}

/// How long data is as JSON, in bytes.
pub(crate) fn size_of(data: &Value) -> usize {
    match data {
        Value::Null => 4,
        Value::Bool(_) => 5,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => written(text),
        Value::Array(items) => 2 + items.iter().map(|item| size_of(item) + 1).sum::<usize>(),
        Value::Object(fields) => {
            2 + fields.iter().map(|(name, value)| written(name) + size_of(value) + 2).sum::<usize>()
        }
    }
}

/// How long a string is as JSON.
fn written(text: &str) -> usize {
    2 + text.bytes().map(width).sum::<usize>()
}

/// How long a byte of a string is as JSON.
fn width(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\t' | b'\r' => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

/// Cuts lists and texts where most is, until the rest is short enough. Nothing changes its type, and no field is
/// taken away, so that what the answer's schema promises still holds.
pub(crate) fn cut(data: &mut Value, most: usize) {
    for _ in 0..LOOKS {
        let size = size_of(data);
        if size <= most || !cut_largest(data, size - most) {
            return;
        }
    }
}

/// Takes about this many bytes from the end of the list or the text that holds most. Whether that was possible.
fn cut_largest(data: &mut Value, excess: usize) -> bool {
    match data {
        Value::String(text) => {
            if text.len() < 64 {
                return false;
            }
            let (mut keep, mut taken) = (text.len(), 0);
            for byte in text.bytes().rev() {
                if taken >= excess + 4 {
                    break;
                }
                (keep, taken) = (keep - 1, taken + width(byte));
            }
            text.truncate(text.floor_char_boundary(keep));
            text.push_str("...");
            true
        }
        Value::Array(items) => {
            let whole: usize = items.iter().map(size_of).sum();
            let Some(largest) = items.iter_mut().max_by_key(|item| size_of(item)) else { return false };
            // One item that holds most of the list is looked into, unless there is nothing to cut in it.
            if size_of(largest) * 2 > whole && cut_largest(largest, excess) {
                return true;
            }
            let mut left = excess;
            while left > 0
                && let Some(last) = items.pop()
            {
                left = left.saturating_sub(size_of(&last) + 1);
            }
            true
        }
        Value::Object(fields) => {
            let mut values: Vec<&mut Value> = fields.values_mut().collect();
            values.sort_by_cached_key(|value| std::cmp::Reverse(size_of(value)));
            values.into_iter().take(3).any(|value| cut_largest(value, excess))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(text: &str, structured: Option<Value>) -> Reply {
        Reply { text: text.to_owned(), structured, is_error: false }
    }

    #[test]
    fn invisible_characters_are_escaped_in_texts_values_and_names() {
        let data = json!({ "a\u{202e}": ["x\u{1b}[0;31m!\u{1b}[2J"], "plain": "grüße" });
        let shown = reply(&data.to_string(), Some(data)).visible();
        let expected = json!({ "a\\u{202e}": ["x!\\x1b[2J"], "plain": "grüße" });
        assert_eq!(shown, reply(&expected.to_string(), Some(expected)));
        assert_eq!(reply("a\u{7}", None).visible().text, "a\\x07");
    }

    #[test]
    fn visible_text_is_unchanged() {
        for plain in [reply("{ \"a\":  1 }", Some(json!({ "a": 1 }))), reply("a\tb\r\n", None)] {
            assert_eq!(plain.clone().visible(), plain);
            assert_eq!(plain.clone().within(1_000_000), plain);
        }
    }

    #[test]
    fn oversized_answer_is_truncated_at_its_longest_part() {
        let rows: Vec<Value> = (0..5_000).map(|row| json!({ "row": row, "text": "x".repeat(20) })).collect();
        let table = [
            json!({ "success": true, "rows": rows, "name": "n" }),
            json!({ "success": true, "output": "line\n".repeat(50_000) }),
            json!({ "success": true, "rows": [{ "cells": ["y".repeat(200_000)] }], "count": 1 }),
            json!({ "success": true, "a": "z".repeat(90_000), "b": "\u{1}".repeat(90_000) }),
        ];
        for data in table {
            let most = 20_000;
            let told = reply(&data.to_string(), Some(data.clone())).within(most);
            assert!(told.text.len() <= most, "{}", told.text.len());
            assert!(told.text.len() > most / 4, "{}", told.text.len());
            let cut = told.structured.unwrap();
            assert_eq!(serde_json::from_str::<Value>(&told.text).unwrap(), cut);
            assert!(cut["cut"].as_str().unwrap().contains("`answer`"));
            for (name, value) in data.as_object().unwrap() {
                assert_eq!(value.is_array(), cut[name].is_array(), "{name}");
                assert_eq!(value.is_string(), cut[name].is_string(), "{name}");
            }
        }
        let told = reply(&"x".repeat(50_000), None).within(20_000);
        assert!(told.text.len() <= 20_000 && told.text.contains("\ncut: the answer had 50000 bytes"));
    }
}
