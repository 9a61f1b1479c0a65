//! JSON with comments, edited in place.

use anyhow::{Context, bail};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value, json};

use super::format::EntryPath;

/// What hosts accept: comments and trailing commas, and nothing else that JSON has not.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn read(text: &str) -> anyhow::Result<Value> {
    let root = parse(text)?;
    let value = root.to_serde_value();
    Ok(if root.value().is_none() { json!({}) } else { value.context("this is not JSON")? })
}

fn parse(text: &str) -> anyhow::Result<CstRootNode> {
    CstRootNode::parse(text, &OPTIONS).map_err(|error| {
        anyhow::anyhow!(
            "line {}, column {}: {}",
            error.line_display(),
            error.column_display(),
            lowercase(&error.kind().to_string())
        )
    })
}

fn lowercase(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

pub(super) fn set(text: &str, at: EntryPath<'_>, entry: &Map<String, Value>) -> anyhow::Result<String> {
    let root = parse(text)?;
    let Some(object) = root.object_value_or_create() else { bail!("this is not a JSON object") };
    let section = section_of(&object, at.section)?;
    match section.get(at.name) {
        None => {
            section.append(at.name, input(&Value::Object(entry.clone())));
        }
        Some(existing) => match existing.object_value() {
            None => existing.set_value(input(&Value::Object(entry.clone()))),
            Some(object) => merge(&object, entry),
        },
    }
    let after = root.to_string();
    // Programs often write no last line break, and none is added.
    Ok(if after.ends_with('\n') || !text.trim().is_empty() { after } else { after + "\n" })
}

/// The object of the servers; one that is null is replaced.
fn section_of(object: &CstObject, name: &str) -> anyhow::Result<CstObject> {
    let is_null =
        object.get(name).and_then(|section| section.to_serde_value()).is_some_and(|value| value.is_null());
    let section =
        if is_null { Some(object.object_value_or_set(name)) } else { object.object_value_or_create(name) };
    section.with_context(|| format!("`{name}` is not a table of servers"))
}

/// Changes the values that differ, so that comments between them stay, and removes what the entry does not have.
fn merge(object: &CstObject, entry: &Map<String, Value>) {
    for property in object.properties() {
        let name = property.name().and_then(|name| name.decoded_value().ok());
        if name.is_some_and(|name| !entry.contains_key(&name)) {
            property.remove();
        }
    }
    for (key, value) in entry {
        match object.get(key) {
            None => {
                object.append(key, input(value));
            }
            Some(property) => {
                let before = property.value().and_then(|value| value.to_serde_value());
                if before.as_ref() != Some(value) {
                    property.set_value(input(value));
                }
            }
        }
    }
}

pub(super) fn unset(text: &str, at: EntryPath<'_>) -> anyhow::Result<String> {
    let root = parse(text)?;
    let section = root.object_value().and_then(|object| object.get(at.section));
    let servers = section.as_ref().and_then(CstObjectProp::object_value);
    if let (Some(section), Some(servers)) = (section, servers) {
        if let Some(entry) = servers.get(at.name) {
            entry.remove();
        }
        let has_comments = servers.children().iter().any(CstNode::is_comment);
        if servers.properties().is_empty() && !has_comments {
            section.remove();
        }
    }
    Ok(root.to_string())
}

/// Removes what these keys lead to, if it is there.
pub(super) fn without(text: &str, keys: &[&str]) -> anyhow::Result<String> {
    let root = parse(text)?;
    if let Some((last, above)) = keys.split_last() {
        let object = above.iter().try_fold(root.object_value(), |object, key| {
            object.map(|object| object.get(key).and_then(|property| property.object_value()))
        });
        if let Some(property) = object.flatten().and_then(|object| object.get(last)) {
            property.remove();
        }
    }
    Ok(root.to_string())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(pairs) => {
            CstInputValue::Object(pairs.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
