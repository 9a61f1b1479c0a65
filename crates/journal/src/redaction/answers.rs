//! Credentials in answers: by their names where the value's type agrees, and by their shapes.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::values::{NamedValue, is_secret_in_text};
use super::{MARK, assignments, hide_shapes, hide_shapes_in};

/// Keys whose value is a name.
const NAMES: [&str; 5] = ["name", "expression", "variable", "key", "evaluateName"];
/// Keys under which its value does.
pub const VALUES: [&str; 11] = [
    "value",
    "result",
    "oldValue",
    "newValue",
    "old",
    "new",
    "previous",
    "preview",
    "first",
    "last",
    "returnValue",
];
/// What the caller has written, and names.
const KEPT: [&str; 12] = [
    "expression",
    "expressions",
    "condition",
    "logMessage",
    "name",
    "type",
    "kind",
    "file",
    "path",
    "program",
    "command",
    "uri",
];

/// Hides credentials in the data of an answer, and counts them.
pub fn hide_in_answer(data: &mut Value) -> usize {
    hide_names(data) + hide_shapes_in(data)
}

/// The same in a text.
pub fn hide_in_text(text: &mut String) -> usize {
    hide_assigned(text) + hide_shapes(text)
}

/// A text for an answer.
pub fn text_for_answer(text: &str) -> Cow<'_, str> {
    let mut hidden = text.to_owned();
    if hide_in_text(&mut hidden) > 0 { Cow::Owned(hidden) } else { Cow::Borrowed(text) }
}

impl NamedValue {
    /// Redacts a value that answers this name, and counts it. Without a type, its text decides what it is.
    pub fn hide(self, type_name: Option<&str>, value: &mut Value) -> usize {
        match value {
            Value::String(text) if self.hides(type_name, text) => {
                MARK.clone_into(text);
                1
            }
            Value::Object(object) if VALUES.iter().any(|key| object.contains_key(*key)) => {
                self.hide_values(object)
            }
            Value::Array(elements) if self.is_certain() => {
                elements.iter_mut().map(|element| self.hide(None, element)).sum()
            }
            Value::Object(object) if self.is_certain() => {
                let values = object.iter_mut().filter(|(key, _)| !KEPT.contains(&key.as_str()));
                values.map(|(_, value)| self.hide(None, value)).sum()
            }
            value => hide_names(value),
        }
    }

    /// Hides the values of an object that says what this name came to: `{"result": "'x'", "type": "str"}`.
    pub fn hide_values(self, object: &mut Map<String, Value>) -> usize {
        let type_name = object.get("type").and_then(Value::as_str).map(str::to_owned);
        let values = object.iter_mut().filter(|(key, _)| VALUES.contains(&key.as_str()));
        values.map(|(_, value)| self.hide(type_name.as_deref(), value)).sum()
    }
}

/// Hides what has the name of a credential.
fn hide_names(data: &mut Value) -> usize {
    match data {
        Value::String(text) => hide_assigned(text),
        Value::Array(elements) => elements.iter_mut().map(hide_names).sum(),
        Value::Object(object) => hide_in_object(object),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn hide_in_object(object: &mut Map<String, Value>) -> usize {
    let named = NAMES.iter().find_map(|key| NamedValue::of(object.get(*key)?.as_str()?));
    let mut count = named.map_or(0, |named| named.hide_values(object));
    for (key, value) in object.iter_mut().filter(|(key, _)| !KEPT.contains(&key.as_str())) {
        count += match NamedValue::of(key) {
            Some(named) => named.hide(None, value),
            None => hide_names(value),
        };
    }
    count
}

fn hide_assigned(text: &mut String) -> usize {
    let Some((hidden, count)) = assignments::hide_if(text, is_secret_in_text) else { return 0 };
    *text = hidden;
    count
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::corpus;
    use super::*;

    #[test]
    fn values_are_redacted_by_adjacent_names() {
        let table = [
            (
                json!({"locals": [{"name": "password", "value": "'x'", "type": "str"}, {"name": "a", "value": "'x'", "type": "str"}]}),
                json!({"locals": [{"name": "password", "value": MARK, "type": "str"}, {"name": "a", "value": "'x'", "type": "str"}]}),
                1,
            ),
            (
                json!({"name": "config", "value": "{'db': {'user': 'a', 'password': 'x'}}", "type": "dict"}),
                json!({"name": "config", "value": "{'db': {'user': 'a', 'password': '[redacted]'}}", "type": "dict"}),
                1,
            ),
            (
                json!({"expression": "S['password']", "result": "'x'"}),
                json!({"expression": "S['password']", "result": MARK}),
                1,
            ),
            (
                json!({"expression": "x == 'password = \"y\"'", "value": "False"}),
                json!({"expression": "x == 'password = \"y\"'", "value": "False"}),
                0,
            ),
            (
                json!({"type": "object", "value": {"db": {"password": "x", "port": 1, "token": "id"}}}),
                json!({"type": "object", "value": {"db": {"password": MARK, "port": 1, "token": "id"}}}),
                1,
            ),
            (
                json!({"expression": "credentials", "value": {"value": "{…}", "type": "Object", "objectId": "obj-1"}}),
                json!({"expression": "credentials", "value": {"value": "{…}", "type": "Object", "objectId": "obj-1"}}),
                0,
            ),
            (
                json!({"name": "password", "first": "'a'", "last": "'b'"}),
                json!({"name": "password", "first": MARK, "last": MARK}),
                2,
            ),
            (
                json!({"password": 5, "secret": true, "api_key": null, "passwords": ["x", 1]}),
                json!({"password": 5, "secret": true, "api_key": null, "passwords": [MARK, 1]}),
                1,
            ),
            (
                json!({"name": "test_password", "message": "1 != 2", "line": 3}),
                json!({"name": "test_password", "message": "1 != 2", "line": 3}),
                0,
            ),
        ];
        for (mut data, expected, count) in table {
            assert_eq!(hide_in_answer(&mut data), count, "{data}");
            assert_eq!(data, expected);
            assert_eq!(hide_in_answer(&mut data), 0, "hidden twice: {data}");
        }
    }

    #[test]
    fn ordinary_program_text_is_kept() {
        for text in corpus::negatives() {
            assert_eq!(text_for_answer(text), text);
        }
        for text in
            ["token = 'return'", "{'token': '+'}", "password: 12345678", "{'secret': [1, 2]}", "tokens: 5"]
        {
            assert_eq!(text_for_answer(text), text);
        }
    }

    #[test]
    fn values_of_certain_names_in_texts_are_redacted() {
        let is_ambiguous = |before: &str| {
            let before = before.to_ascii_lowercase();
            ["token", "access key", "api key"].iter().any(|name| before.contains(name))
        };
        for (before, secret, after) in corpus::named().filter(|(before, ..)| !is_ambiguous(before)) {
            let hidden = text_for_answer(&format!("{before}{secret}{after}")).into_owned();
            assert_eq!(hidden, format!("{before}{MARK}{after}"));
        }
    }

    /// Hundreds of variables, each with a long value.
    #[test]
    fn many_variables_are_scanned_quickly() {
        let long = "{'name': 'ann', 'values': [1, 2, 3], 'path': '/a/b/c'}, ".repeat(20);
        let one = |number: u32| json!({"name": format!("v{number}"), "value": long, "type": "dict"});
        let mut data = json!({"locals": (0..500).map(one).collect::<Vec<_>>()});
        let began = std::time::Instant::now();
        assert_eq!(hide_in_answer(&mut data), 0);
        println!("{} bytes in {:?}", data.to_string().len(), began.elapsed());
    }
}
