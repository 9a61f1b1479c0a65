//! What models write as the arguments of tools.

use serde_json::{Map, Value};
use tools::Entry;
use tools::toolsets::TOOLSETS;

/// A complaint is for a model to read: it fits into a few lines, however long what was wrong.
const LONGEST: usize = 2 * 1024;

/// The first two bytes choose a tool, the rest is JSON.
///
/// A refusal has the same message each time, which names the argument. Accepted arguments are also accepted with
/// numbers as text, and with `null` for omitted ones.
pub fn arguments(data: &[u8]) {
    let Some((&[high, low], json)) = data.split_first_chunk() else { return };
    let entries: Vec<&Entry> = TOOLSETS.iter().flat_map(|toolset| toolset.tools).collect();
    let Some(entry) = entries.get(usize::from(u16::from_be_bytes([high, low])) % entries.len()) else {
        return;
    };
    let Ok(Value::Object(arguments)) = serde_json::from_slice(json) else { return };
    let schema = (entry.input)();
    match entry.check(arguments.clone()) {
        Ok(()) => {
            let sloppy = sloppy(&schema, arguments);
            let shown = Value::Object(sloppy.clone());
            if let Err(error) = entry.check(sloppy) {
                panic!("{} {shown}: {}", entry.name, error.message);
            }
        }
        Err(error) => {
            let message = &error.message;
            assert_eq!(error.code, "invalid_arguments", "{message}");
            assert!(message.starts_with('`') && message.len() < LONGEST, "{}: {message}", entry.name);
            assert_eq!(entry.check(arguments).map_err(|again| again.message), Err(message.clone()));
        }
    }
}

/// The same as a sloppy model would write it.
fn sloppy(schema: &Map<String, Value>, arguments: Map<String, Value>) -> Map<String, Value> {
    let known = schema.get("properties").and_then(Value::as_object);
    let type_of = |name: &str| known?.get(name)?.get("type")?.as_str();
    let as_text = |name: &str, value: Value| match (&value, type_of(name)) {
        (Value::Number(_) | Value::Bool(_), Some("integer" | "number" | "boolean")) => {
            Value::String(format!(" {value}"))
        }
        _ => value,
    };
    let mut sloppy: Map<String, Value> =
        arguments.into_iter().map(|(name, value)| (name.clone(), as_text(&name, value))).collect();
    for name in known.into_iter().flat_map(Map::keys) {
        if !sloppy.contains_key(name) {
            sloppy.insert(name.clone(), Value::Null);
        }
    }
    sloppy
}
