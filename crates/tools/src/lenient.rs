//! Other shapes in which models write what an argument takes, by its schema and its name.

use std::path::Path;

use engine::adapter;
use serde_json::{Map, Value, json};

use crate::LocationArg;
use crate::shell::{self, Token};

/// The same value in the form of the schema if the intention is clear; otherwise unchanged.
pub(crate) fn reshaped(schema: &Value, value: Value, path: &str) -> Value {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let name = path.rsplit('.').next().unwrap_or_default();
    let other = match (kind, &value) {
        ("array", Value::String(text)) => list(schema.get("items"), name, text),
        ("array", Value::Object(fields)) => {
            let is_item = properties(schema.get("items")).is_some_and(|known| has_any(known, fields));
            is_item.then(|| json!([value]))
        }
        ("object", Value::String(text)) => place(schema, text),
        _ => None,
    };
    other.unwrap_or(value)
}

fn properties(schema: Option<&Value>) -> Option<&Map<String, Value>> {
    schema?.get("properties")?.as_object()
}

fn has_any(known: &Map<String, Value>, fields: &Map<String, Value>) -> bool {
    fields.keys().any(|name| known.contains_key(name))
}

/// One text for a list: its only item, or several names.
fn list(items: Option<&Value>, name: &str, text: &str) -> Option<Value> {
    if text.trim().is_empty() || text.trim_start().starts_with(['[', '{']) {
        return None;
    }
    let takes = items?.get("type")?.as_str()?;
    match takes {
        "string" if name == "names" => names(text).or_else(|| Some(json!([text]))),
        "string" => Some(json!([text])),
        "object" => Some(json!([place(items?, text)?])),
        _ => None,
    }
}

/// `total, items` or `total items`; a name with a space in it is in quotes. None if these are no plain names.
fn names(text: &str) -> Option<Value> {
    let name = |token: Token| Some(token.literal()?.trim_end_matches(',').to_owned());
    let names: Option<Vec<String>> = shell::tokens(text)?.into_iter().map(name).collect();
    names.filter(|names| !names.is_empty()).map(|names| json!(names))
}

/// `cart.py:42`, `cart.py:Cart.total` or `Cart.total`, where an object has `file` and `line`.
fn place(schema: &Value, text: &str) -> Option<Value> {
    let known = properties(Some(schema))?;
    if !known.contains_key("file") || !known.contains_key("line") {
        return None;
    }
    let LocationArg { file, line, column, function } = text.trim().parse().ok()?;
    let is_alone = line.is_none() && function.is_none();
    let mut fields = Map::new();
    if !is_alone || is_file(&file) {
        fields.insert("file".to_owned(), json!(file));
    } else if let Ok(line) = text.trim().parse::<u32>() {
        fields.insert("line".to_owned(), line.into());
    }
    let function = function.or_else(|| (fields.is_empty() && is_name(text)).then(|| text.trim().to_owned()));
    fields.extend(line.map(|line| ("line".to_owned(), line.into())));
    fields.extend(column.map(|column| ("column".to_owned(), column.into())));
    fields.extend(function.map(|function| ("function".to_owned(), function.into())));
    (!fields.is_empty() && fields.keys().all(|name| known.contains_key(name)))
        .then_some(Value::Object(fields))
}

fn is_file(path: &Path) -> bool {
    path.components().count() > 1 || adapter::by_extension(path).is_some() || path.is_file()
}

fn is_name(text: &str) -> bool {
    let text = text.trim();
    let is_part = |letter: char| letter.is_alphanumeric() || "_.$#".contains(letter);
    !text.is_empty() && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_can_be_strings() {
        let words = json!({ "type": "array", "items": { "type": "string" } });
        let places = json!({ "type": "array", "items": { "type": "object", "properties": {
            "file": {}, "line": {}, "column": {}, "function": {} } } });
        let table = [
            (&words, "expressions", json!("[1"), json!("[1")),
            (&words, "names", json!("total, items"), json!(["total", "items"])),
            (&words, "names", json!("total 'a key'"), json!(["total", "a key"])),
            (&words, "names", json!("$this"), json!(["$this"])),
            (&words, "names", json!("#size"), json!(["#size"])),
            (&words, "expressions", json!("len(a, b)"), json!(["len(a, b)"])),
            (&places, "until", json!("a.py:42"), json!([{ "file": "a.py", "line": 42 }])),
            (&places, "until", json!({ "line": 3 }), json!([{ "line": 3 }])),
            (&places, "until", json!({ "zebra": 3 }), json!({ "zebra": 3 })),
            (&places, "until", json!("a b"), json!("a b")),
        ];
        for (schema, name, value, expected) in table {
            assert_eq!(reshaped(schema, value.clone(), name), expected, "{name} {value}");
        }
    }

    #[test]
    fn a_location_can_be_a_string() {
        let schema = json!({ "type": "object", "properties": {
            "file": {}, "line": {}, "column": {}, "function": {} } });
        let table = [
            ("cart.py:42", json!({ "file": "cart.py", "line": 42 })),
            ("src/a.ts:4:7", json!({ "file": "src/a.ts", "line": 4, "column": 7 })),
            ("cart.py:Cart.total", json!({ "file": "cart.py", "function": "Cart.total" })),
            ("Cart.total", json!({ "function": "Cart.total" })),
            ("cart.py", json!({ "file": "cart.py" })),
            ("42", json!({ "line": 42 })),
        ];
        for (text, expected) in table {
            assert_eq!(reshaped(&schema, json!(text), "until[0]"), expected, "{text}");
        }
        let without_function = json!({ "type": "object", "properties": { "file": {}, "line": {} } });
        assert_eq!(reshaped(&without_function, json!("Cart.total"), "points[0]"), json!("Cart.total"));
    }
}
