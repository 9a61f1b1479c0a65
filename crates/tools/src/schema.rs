//! JSON Schemas of parameters and answers, in the dialect that all clients understand.
//!
//! Every root is an object, because some clients refuse the whole tool list over one that is not. No type is
//! `null`: optional parameters may be left out. No number has a format that JSON Schema does not know.

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// The schema of a tool's parameters.
pub(crate) fn input<T: JsonSchema>() -> Map<String, Value> {
    root::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The schema of a tool's answer.
pub(crate) fn output<T: JsonSchema>() -> Map<String, Value> {
    root::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn root<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.with_transform(tidy).into_generator().into_root_schema_for::<T>();
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
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Nested {
        x: Option<bool>,
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
        assert_eq!(Value::Object(input::<Sample>()), expected);
    }
}
