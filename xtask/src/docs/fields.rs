//! The fields of a JSON Schema as rows of a table.

use serde_json::{Map, Value};

/// A field, or a field of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// `name`, `outer.name`, `list[].name` or `map.*.name`.
    pub(super) name: String,
    /// The type, for readers.
    pub(super) kind: String,
    /// It is always there, within its object.
    pub(super) required: bool,
    pub(super) about: String,
}

/// The fields of an object and of what it contains, each after the one it belongs to.
pub(super) fn of(schema: &Map<String, Value>) -> Vec<Field> {
    inside(schema, "")
}

/// The fields that can be reached from a value at some place.
fn inside(schema: &Map<String, Value>, place: &str) -> Vec<Field> {
    let mut fields = Vec::new();
    for (name, value) in object(schema, "properties").into_iter().flatten() {
        let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.is_some_and(|names| names.iter().any(|found| found == name));
        fields.push(Field { name: place.clone(), kind: kind(value), required, about: about(value) });
        fields.extend(value.as_object().into_iter().flat_map(|value| inside(value, &place)));
    }
    if let Some(items) = object(schema, "items") {
        fields.extend(inside(items, &format!("{place}[]")));
    }
    if let Some(values) = object(schema, "additionalProperties") {
        fields.extend(inside(values, &format!("{place}.*")));
    }
    for part in list(schema, "allOf").iter().filter_map(Value::as_object) {
        fields.extend(inside(part, place));
    }
    let choices = choices(schema).iter().filter_map(Value::as_object).map(|choice| inside(choice, place));
    fields.extend(choices.reduce(either).unwrap_or_default());
    fields
}

/// The fields of an object that has one form or another.
fn either(mut one: Vec<Field>, other: Vec<Field>) -> Vec<Field> {
    for field in &mut one {
        match other.iter().find(|found| found.name == field.name) {
            Some(same) => {
                field.required &= same.required;
                if !field.kind.split(" or ").any(|kind| kind == same.kind) {
                    field.kind = format!("{} or {}", field.kind, same.kind);
                }
            }
            None => field.required = false,
        }
    }
    for field in other {
        if !one.iter().any(|found| found.name == field.name) {
            one.push(Field { required: false, ..field });
        }
    }
    one
}

fn kind(value: &Value) -> String {
    let Some(schema) = value.as_object() else { return "any".to_owned() };
    if let Some(only) = schema.get("const") {
        return literal(only);
    }
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        return name.rsplit('/').next().unwrap_or(name).to_owned();
    }
    let values = list(schema, "enum").iter().filter(|value| !value.is_null());
    let words = join(values.map(literal));
    if !words.is_empty() {
        return words;
    }
    let words = join(choices(schema).iter().map(kind));
    if !words.is_empty() {
        return words;
    }
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(only)) => vec![only],
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        _ => vec!["any"],
    };
    join(types.into_iter().map(|word| with_parts(word, schema)))
}

/// The name of a type with what it contains and between which limits it is.
fn with_parts(word: &str, schema: &Map<String, Value>) -> String {
    let limit = |name| schema.get(name).map(Value::to_string);
    match word {
        "array" => match schema.get("items") {
            Some(items) => format!("array of {}", kind(items)),
            None => word.to_owned(),
        },
        "object" if !schema.contains_key("properties") => match object(schema, "additionalProperties") {
            Some(values) => format!("map of {}", kind(&Value::Object(values.clone()))),
            None => word.to_owned(),
        },
        "integer" | "number" => match (limit("minimum"), limit("maximum")) {
            (Some(low), Some(high)) => format!("{word} from {low} to {high}"),
            (Some(low), None) => format!("{word} from {low}"),
            (None, Some(high)) => format!("{word} up to {high}"),
            (None, None) => word.to_owned(),
        },
        _ => word.to_owned(),
    }
}

/// What a schema says of itself, or of the elements of its list.
fn about(value: &Value) -> String {
    let description = |value: &Value| value.get("description").and_then(Value::as_str).map(str::to_owned);
    let text = description(value).or_else(|| description(value.get("items")?)).unwrap_or_default();
    match value.get("default") {
        Some(default) => format!("{text} (default {})", literal(default)).trim_start().to_owned(),
        None => text,
    }
}

/// A value as code, text without quotes.
fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        value => format!("`{value}`"),
    }
}

/// The words without repetition.
fn join(words: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for word in words {
        if !all.contains(&word) {
            all.push(word);
        }
    }
    all.join(" or ")
}

fn choices(schema: &Map<String, Value>) -> &[Value] {
    let any = list(schema, "anyOf");
    if any.is_empty() { list(schema, "oneOf") } else { any }
}

fn list<'a>(schema: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    schema.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn object<'a>(schema: &'a Map<String, Value>, name: &str) -> Option<&'a Map<String, Value>> {
    schema.get(name).and_then(Value::as_object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_are_named_in_words() {
        let cases = [
            (json!({ "type": "string" }), "string"),
            (json!({ "type": ["string", "integer"] }), "string or integer"),
            (json!({ "type": "integer", "minimum": 1, "maximum": 65535 }), "integer from 1 to 65535"),
            (json!({ "type": "integer", "maximum": 65535 }), "integer up to 65535"),
            (json!({ "type": "string", "enum": ["a", "b", null] }), "`a` or `b`"),
            (json!({ "const": 1 }), "`1`"),
            (json!({ "type": "array", "items": { "type": "integer" } }), "array of integer"),
            (json!({ "type": "array" }), "array"),
            (json!({ "type": "object", "additionalProperties": { "type": "string" } }), "map of string"),
            (json!({ "type": "object", "additionalProperties": false }), "object"),
            (json!({ "anyOf": [{ "type": "string" }, { "type": "boolean" }] }), "string or boolean"),
            (json!({ "$ref": "#/$defs/Node" }), "Node"),
            (json!(true), "any"),
            (json!({}), "any"),
        ];
        for (schema, expected) in cases {
            assert_eq!(kind(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn nested_fields_follow_their_field() {
        let schema = json!({
            "properties": {
                "place": {
                    "type": "object",
                    "description": "Where.",
                    "properties": { "line": { "type": "integer", "default": 1 } },
                    "required": ["line"],
                },
                "frames": {
                    "type": "array",
                    "items": { "type": "object", "description": "A frame.", "properties": { "id": {} } },
                },
                "env": {
                    "type": "object",
                    "additionalProperties": { "type": "object", "properties": { "value": {} } },
                },
            },
            "required": ["place"],
        });
        let expected = [
            ("place", "object", true, "Where."),
            ("place.line", "integer", true, "(default `1`)"),
            ("frames", "array of object", false, "A frame."),
            ("frames[].id", "any", false, ""),
            ("env", "map of object", false, ""),
            ("env.*.value", "any", false, ""),
        ];
        check(&schema, &expected);
    }

    #[test]
    fn a_choice_of_objects_is_one_object_with_all_fields() {
        let schema = json!({
            "oneOf": [
                {
                    "properties": { "do": { "const": "set" }, "line": { "type": "integer" } },
                    "required": ["do", "line"],
                },
                {
                    "properties": { "do": { "const": "go" }, "wait": { "type": "boolean" } },
                    "required": ["do", "wait"],
                },
                { "properties": { "do": { "const": "end" } }, "required": ["do"] },
            ],
        });
        let expected = [
            ("do", "`set` or `go` or `end`", true, ""),
            ("line", "integer", false, ""),
            ("wait", "boolean", false, ""),
        ];
        check(&schema, &expected);
    }

    fn check(schema: &Value, expected: &[(&str, &str, bool, &str)]) {
        let found = of(schema.as_object().unwrap());
        let found: Vec<_> = found
            .iter()
            .map(|field| (field.name.as_str(), field.kind.as_str(), field.required, field.about.as_str()))
            .collect();
        assert_eq!(found, expected);
    }
}
