//! JSON Schemas of parameters and answers, in the dialect that all clients understand.
//!
//! Every root is an object, because some clients refuse the whole tool list over one that is not. No type is
//! `null`: optional parameters may be left out. No number has a format that JSON Schema does not know.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use crate::command_line::WORDS;

/// The schema of a tool's parameters. It is made once, because each call reads its arguments by it.
pub(crate) fn input<T: JsonSchema + 'static>() -> Arc<Map<String, Value>> {
    made_once(TypeId::of::<T>(), SchemaGenerator::into_root_schema_for::<T>)
}

/// A type's schema, by a generator. Everything else here is the same code for all types.
type Make = fn(SchemaGenerator) -> Schema;

fn made_once(of: TypeId, make: Make) -> Arc<Map<String, Value>> {
    type Made = BTreeMap<TypeId, Arc<Map<String, Value>>>;
    static MADE: Mutex<Made> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || Arc::new(root(make, SchemaSettings::draft2020_12().for_deserialize()));
    Arc::clone(made.entry(of).or_insert_with(make))
}

/// Marks an argument that is accepted for clients of other servers, and not listed, so that the list has one name for
/// each thing.
const UNLISTED: &str = "unlisted";

/// The listed schema of a tool's parameters.
pub(crate) fn listed<T: JsonSchema + 'static>() -> Map<String, Value> {
    without_unlisted(&input::<T>())
}

fn without_unlisted(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut schema = schema.clone();
    leave_out_unlisted(&mut schema);
    schema
}

fn leave_out_unlisted(schema: &mut Map<String, Value>) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|_, property| is_listed(property));
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            property.shift_remove(WORDS);
        }
        properties.values_mut().filter_map(Value::as_object_mut).for_each(leave_out_unlisted);
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        leave_out_unlisted(items);
    }
}

/// Whether an argument is listed.
pub(crate) fn is_listed(property: &Value) -> bool {
    property.get(UNLISTED).is_none()
}

/// The schema of a tool's answer.
pub(crate) fn output<T: JsonSchema>() -> Map<String, Value> {
    root(SchemaGenerator::into_root_schema_for::<T>, SchemaSettings::draft2020_12().for_serialize())
}

fn root(make: Make, settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = make(settings.with_transform(tidy).into_generator());
    let Value::Object(mut schema) = schema.to_value() else { return Map::new() };
    schema.shift_remove("title");
    schema.shift_remove("description");
    schema
}

fn tidy(schema: &mut Schema) {
    transform_subschemas(&mut tidy, schema);
    let Some(object) = schema.as_object_mut() else { return };
    object.shift_remove("format");
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = object.get_mut("enum") {
        choices.retain(|choice| !choice.is_null());
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    if object.get("minimum").is_some_and(|minimum| minimum == 0) {
        object.shift_remove("minimum");
    }
    // `Option` of something with a schema of its own.
    if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(only)] = choices.as_mut_slice() {
            let only = std::mem::take(only);
            object.shift_remove("anyOf");
            object.extend(only);
        }
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Sample {
        /// A name.
        name: Option<String>,
        line_count: u32,
        nested: Option<Nested>,
        mode: Option<Mode>,
        /// A choice.
        choice: Option<Mode>,
        any: Option<Vec<u64>>,
        #[schemars(extend("unlisted" = true))]
        other: Option<Mode>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Nested {
        x: Option<bool>,
        #[schemars(extend("unlisted" = true))]
        y: Option<bool>,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[expect(dead_code, reason = "only its schema matters")]
    enum Mode {
        One,
        Two,
    }

    #[test]
    fn schemas_are_plain() {
        let expected = json!({
            "type": "object",
            "properties": {
                "name": { "description": "A name.", "type": "string" },
                "lineCount": { "type": "integer" },
                "nested": { "type": "object", "properties": { "x": { "type": "boolean" } } },
                "mode": { "type": "string", "enum": ["one", "two"] },
                "choice": { "description": "A choice.", "type": "string", "enum": ["one", "two"] },
                "any": { "type": "array", "items": { "type": "integer" } },
            },
            "required": ["lineCount"],
        });
        assert_eq!(Value::Object(listed::<Sample>()), expected);
        let taken = Value::Object(Map::clone(&input::<Sample>()));
        assert_eq!(taken.pointer("/properties/other/enum"), Some(&json!(["one", "two"])));
        assert_eq!(taken.pointer("/properties/nested/properties/y/type"), Some(&json!("boolean")));
    }
}
