//! Redaction in JSON: values by their keys, and the content of texts.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::names::{is_credential, is_environment, is_interpreter, returns_credential};
use super::{KEY, KEY_BEGINS, KEY_ENDS, MARK, Redaction, places};

/// Keys of a name, and those of its value.
const NAMES: [&str; 6] = ["name", "expression", "variable", "key", "path", "evaluateName"];
const VALUES: [&str; 8] = ["value", "result", "oldValue", "newValue", "old", "new", "previous", "text"];
/// The context of a value.
const KEPT: [&str; 5] = ["type", "kind", "name", "expression", "language"];
/// Numbers below this are not secrets.
const SMALL: f64 = 1000.0;

impl Redaction {
    /// Hides what is in a value.
    pub(super) fn hide_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(hidden) = self.text(text) {
                    *text = hidden;
                }
            }
            Value::Array(elements) => self.hide_in_list(elements),
            Value::Object(object) => self.hide_in_object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The words of a command line have their values after them; a private key has one line in each element.
    fn hide_in_list(&self, elements: &mut [Value]) {
        let mut is_awaited = false;
        let mut in_key = false;
        let mut is_variable = false;
        for element in elements {
            let mut is_secret = false;
            if let Value::String(text) = element {
                is_secret = is_awaited && !text.starts_with('-') && !text.is_empty();
                is_awaited = is_option_of_credential(text);
                let begins = text.contains(KEY) && text.contains(KEY_BEGINS);
                // An end that is hidden itself would be none when this is cleaned again.
                let is_last = text.contains(KEY_ENDS) && (!in_key || self.text(text).contains(KEY_ENDS));
                let ends = is_last || text.trim().is_empty();
                is_secret |= in_key && !ends;
                in_key = (in_key || begins) && !ends;
            }
            let is_behind_env = std::mem::replace(&mut is_variable, element == "--env");
            if is_behind_env && let Value::String(text) = element {
                *text = without_value(text);
            } else if is_secret {
                hide_all(element);
            } else {
                self.hide_in(element);
            }
        }
    }

    fn hide_in_object(&self, object: &mut Map<String, Value>) {
        let mut named = NAMES.iter().filter_map(|key| object.get(*key)?.as_str());
        let names_secret = named.any(returns_credential);
        let names_environment = object.get("name").and_then(Value::as_str).is_some_and(is_environment);
        for (key, value) in object.iter_mut() {
            if is_environment(key) {
                hide_environment(value);
            } else if self.names_credential(key)
                || (names_secret || names_environment) && VALUES.contains(&key.as_str())
            {
                self.hide_in(value);
                hide_all(value);
            } else {
                if is_interpreter(key) {
                    self.shorten_interpreter(value);
                }
                self.hide_in(value);
            }
        }
        if object.keys().any(|key| !is_word(key) && matches!(self.text(key), Cow::Owned(_))) {
            *object = std::mem::take(object).into_iter().fold(Map::new(), |mut kept, (key, value)| {
                let mut key = self.text(&key).into_owned();
                while kept.contains_key(&key) {
                    key.push('\'');
                }
                kept.insert(key, value);
                kept
            });
        }
    }

    /// Also by the rest of the key.
    fn names_credential(&self, key: &str) -> bool {
        is_credential(key) || !is_word(key) && is_credential(&self.text(key))
    }

    fn shorten_interpreter(&self, value: &mut Value) {
        if let Value::String(path) = value
            && let Some(short) = places::relative(path, self.folder.as_deref())
        {
            *path = short;
        }
    }
}

/// Whether a word is an option, such as `--api-token` or `--mail.password`, whose value is the next word.
fn is_option_of_credential(word: &str) -> bool {
    let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    let name = word.strip_prefix("--").filter(|name| !name.starts_with('-') && name.bytes().all(is_of_names));
    name.is_some_and(is_credential)
}

/// An environment keeps its names, as an object, as `NAME=VALUE` or as pairs.
fn hide_environment(value: &mut Value) {
    match value {
        Value::Object(object) => {
            let has_name = object.get("name").is_some_and(Value::is_string);
            for (key, value) in object.iter_mut().filter(|(key, _)| !(has_name && *key == "name")) {
                if !(is_more(key) && value.as_str().is_some_and(is_count)) {
                    hide_all(value);
                }
            }
        }
        Value::Array(elements) => {
            for element in elements {
                match element {
                    Value::String(text) if !is_count(text) => *text = without_value(text),
                    other => hide_environment(other),
                }
            }
        }
        Value::String(_) => hide_all(value),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// `NAME=VALUE` with its value hidden.
fn without_value(text: &str) -> String {
    let name = text.split_once('=').map(|(name, _)| name);
    name.map_or_else(|| MARK.to_owned(), |name| format!("{name}={MARK}"))
}

/// Whether a key is a word like those that programs are made of, and nothing else.
fn is_word(key: &str) -> bool {
    key.len() < 24 && key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}

/// Represents the keys that a truncated object has no room for.
fn is_more(key: &str) -> bool {
    key == "..."
}

/// `... +3 more`, as truncated lists end.
fn is_count(text: &str) -> bool {
    let number =
        text.trim_start_matches("... ").strip_prefix('+').and_then(|rest| rest.strip_suffix(" more"));
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Hides every text and each number that may be a secret, whatever it is in.
fn hide_all(value: &mut Value) {
    match value {
        Value::String(text) => {
            let bare = text.trim_matches(['"', '\'', '`', ' ']);
            let is_plain =
                matches!(bare, "" | "None" | "null" | "undefined" | "True" | "False" | "true" | "false")
                    || bare.len() <= 3 && bare == text && bare.bytes().all(|byte| byte.is_ascii_digit());
            if !is_plain && !is_count(text) {
                MARK.clone_into(text);
            }
        }
        Value::Number(number) => {
            if number.as_f64().is_none_or(|number| number.abs() >= SMALL) {
                *value = Value::String(MARK.to_owned());
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(hide_all),
        Value::Object(object) => {
            for (_, value) in object.iter_mut().filter(|(key, _)| !KEPT.contains(&key.as_str())) {
                hide_all(value);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Whether the arguments of a call ask for the value of a credential.
pub(super) fn requests_credential(request: &Value) -> bool {
    match request {
        Value::Object(object) => object.iter().any(|(key, value)| match key.as_str() {
            "expression" | "expressions" | "variable" | "variables" | "evaluate" | "name" | "path" => {
                match value {
                    Value::String(text) => returns_credential(text),
                    Value::Array(texts) => texts.iter().filter_map(Value::as_str).any(returns_credential),
                    _ => false,
                }
            }
            _ => value.is_array() && requests_credential(value),
        }),
        Value::Array(elements) => elements.iter().any(requests_credential),
        _ => false,
    }
}

/// Hides the values in the answer of a call that asked for the value of a credential.
pub(super) fn hide_values(response: &mut Value) {
    match response {
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                if VALUES.contains(&key.as_str()) {
                    hide_all(value);
                } else {
                    hide_values(value);
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(hide_values),
        _ => {}
    }
}
