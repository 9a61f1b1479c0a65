//! A line as an entry, also where it is not quite of the format: written by another program, with a key twice, with
//! a time as text, without what has a meaning only here.

use journal::Entry;
use journal::entry::Location;
use serde_json::{Map, Value, json};

/// Reads a line; one that says no time is of the time `otherwise`, in milliseconds since 1970. None when it is of a kind that is not known, or cannot be understood.
pub(super) fn entry(line: &[u8], otherwise: i64) -> Option<Entry> {
    let text = String::from_utf8_lossy(line);
    let mut object: Map<String, Value> = match serde_json::from_str(&text) {
        Ok(object) => object,
        Err(_) => serde_json::from_str(&without_lone_surrogates(&text)).ok()?,
    };
    let timestamp = timestamp(&object).unwrap_or(otherwise);
    let time = jiff::Timestamp::from_millisecond(timestamp).ok()?;
    object.insert("timestamp".to_owned(), json!(timestamp));
    object.insert("time".to_owned(), json!(format!("{time:.3}")));
    fix_object(&mut object);
    serde_json::from_value(Value::Object(object)).ok()
}

/// In milliseconds since 1970. Of a key that is there twice, the parser keeps the last.
fn timestamp(object: &Map<String, Value>) -> Option<i64> {
    let of = |key: &str| match object.get(key)? {
        Value::String(text) => text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond),
        number => whole(number),
    };
    of("timestamp").or_else(|| of("time"))
}

fn whole(number: &Value) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the fraction is not needed")]
    number.as_i64().or_else(|| number.as_f64().map(|number| number as i64))
}

/// What a member must be.
#[derive(Clone, Copy)]
enum Form {
    Text,
    /// A text that may be missing.
    OptionalText,
    /// A number, 0 where there is none.
    Number,
    OptionalNumber,
    Object,
    True,
    Place,
    Places,
    Source,
    Variables,
}

/// What members must be, whatever entry they are in. Those that begin with a kind are of that kind only.
const FORMS: [(&str, &str, Form); 35] = [
    ("", "namespace", Form::Text),
    ("", "sessionId", Form::OptionalText),
    ("", "sessionName", Form::OptionalText),
    ("tool:call", "tool", Form::Text),
    ("tool:call", "callId", Form::Text),
    ("tool:call", "request", Form::Object),
    ("tool:response", "tool", Form::Text),
    ("tool:response", "callId", Form::Text),
    ("tool:response", "success", Form::True),
    ("tool:response", "response", Form::Object),
    ("tool:error", "tool", Form::Text),
    ("tool:error", "callId", Form::Text),
    ("tool:error", "error", Form::Text),
    ("debug:state", "program", Form::OptionalText),
    ("debug:state", "reason", Form::OptionalText),
    ("debug:state", "location", Form::Place),
    ("debug:state", "threadId", Form::OptionalNumber),
    ("debug:state", "description", Form::OptionalText),
    ("debug:state", "stack", Form::Places),
    ("debug:state", "source", Form::Source),
    ("debug:breakpoint", "breakpointId", Form::Text),
    ("debug:breakpoint", "file", Form::Text),
    ("debug:breakpoint", "line", Form::Number),
    ("debug:breakpoint", "function", Form::OptionalText),
    ("debug:breakpoint", "condition", Form::OptionalText),
    ("debug:breakpoint", "logMessage", Form::OptionalText),
    ("debug:variables", "frameId", Form::OptionalNumber),
    ("debug:variables", "scope", Form::OptionalText),
    ("debug:variables", "variablesReference", Form::OptionalNumber),
    ("debug:variables", "variables", Form::Variables),
    ("session:created", "language", Form::Text),
    ("session:created", "executablePath", Form::OptionalText),
    ("session:created", "server", Form::OptionalNumber),
    ("session:closed", "duration", Form::Number),
    ("debug:output", "category", Form::Text),
];

fn fix_object(object: &mut Map<String, Value>) {
    let message = object.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
    for (kind, key, form) in FORMS {
        if kind.is_empty() || kind == message {
            fix_member(object, key, form);
        }
    }
    let level = object.get("level").and_then(Value::as_str);
    if !level.is_some_and(|level| matches!(level, "debug" | "info" | "warn" | "error")) {
        object.insert("level".to_owned(), json!("info"));
    }
    match message.as_str() {
        "debug:output" => {
            fix_member(object, "output", Form::Text);
            fix_member(object, "omitted", Form::Number);
        }
        "debug:breakpoint" => {
            let is_verified = object.get("verified") == Some(&Value::Bool(true));
            object.insert("verified".to_owned(), json!(is_verified));
        }
        "debug:variables" => {
            let count = object.get("variables").and_then(Value::as_array).map_or(0, Vec::len);
            let told = object.get("variableCount").and_then(whole).and_then(|told| u64::try_from(told).ok());
            object.insert("variableCount".to_owned(), json!(told.unwrap_or(count as u64)));
        }
        "journal:dropped" => fix_member(object, "count", Form::Number),
        _ => {}
    }
}

fn fix_member(object: &mut Map<String, Value>, key: &str, form: Form) {
    let value = object.get_mut(key).map(Value::take).filter(|value| !value.is_null());
    let most = if matches!(key, "line" | "threadId" | "server") { i64::from(u32::MAX) } else { i64::MAX };
    let number = |value: &Value| whole(value).filter(|number| (0..=most).contains(number));
    let mended = match form {
        Form::Text => Some(json!(value.map(text).unwrap_or_default())),
        Form::OptionalText => value.map(text).map(Value::String),
        Form::Number => Some(json!(value.as_ref().and_then(number).unwrap_or(0))),
        Form::OptionalNumber => value.as_ref().and_then(number).map(Value::from),
        Form::Object => Some(match value {
            Some(Value::Object(inner)) => Value::Object(inner),
            Some(other) => json!({ "value": other }),
            None => json!({}),
        }),
        Form::True => Some(json!(value != Some(Value::Bool(false)))),
        Form::Place => value.and_then(place),
        Form::Places => Some(Value::Array(elements(value).filter_map(place).collect())),
        Form::Source => value
            .filter(|value| serde_json::from_value::<journal::entry::SourceWindow>(value.clone()).is_ok()),
        Form::Variables => Some(Value::Array(elements(value).filter_map(variable).collect())),
    };
    match mended {
        Some(value) => object.insert(key.to_owned(), value),
        None => object.shift_remove(key),
    };
}

fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn elements(value: Option<Value>) -> impl Iterator<Item = Value> {
    let elements = if let Some(Value::Array(elements)) = value { elements } else { Vec::new() };
    elements.into_iter()
}

/// A place, if it says where it is.
fn place(mut value: Value) -> Option<Value> {
    let object = value.as_object_mut()?;
    fix_member(object, "function", Form::Text);
    fix_member(object, "frameId", Form::OptionalNumber);
    serde_json::from_value::<Location>(value.clone()).is_ok().then_some(value)
}

fn variable(mut value: Value) -> Option<Value> {
    let object = value.as_object_mut()?;
    for key in ["name", "type", "value"] {
        fix_member(object, key, Form::Text);
    }
    fix_member(object, "variablesReference", Form::OptionalNumber);
    Some(value)
}

/// Halves of a UTF-16 surrogate pair, left where a text was cut between the two, are not characters.
fn without_lone_surrogates(text: &str) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                whole.push('\u{fffd}');
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            _ => escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end),
        };
        let (escape, behind) = escape.split_at(length);
        whole.push_str(escape);
        rest = behind;
    }
    whole + rest
}

#[cfg(test)]
mod tests;
