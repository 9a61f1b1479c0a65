//! TOML, edited in place.

use anyhow::Context;
use serde_json::{Map, Value, json};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike};

use super::format::EntryPath;

pub(super) fn read(text: &str) -> anyhow::Result<Value> {
    Ok(of_table(parse(text)?.as_table()))
}

fn parse(text: &str) -> anyhow::Result<DocumentMut> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|char| *char != '\n').count() + 1;
        anyhow::anyhow!("line {line}, column {column}: {}", error.message().trim().replace('\n', ", "))
    })
}

fn of_table(table: &dyn TableLike) -> Value {
    table.iter().map(|(key, item)| (key.to_owned(), of_item(item))).collect::<Map<_, _>>().into()
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| of_table(table)).collect::<Vec<_>>().into(),
    }
}

fn of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => json!(text.value()),
        toml_edit::Value::Integer(number) => json!(number.value()),
        toml_edit::Value::Float(number) => json!(number.value()),
        toml_edit::Value::Boolean(flag) => json!(flag.value()),
        toml_edit::Value::Datetime(time) => json!({ "datetime": time.value().to_string() }),
        toml_edit::Value::Array(items) => items.iter().map(of_value).collect::<Vec<_>>().into(),
        toml_edit::Value::InlineTable(table) => of_table(table),
    }
}

pub(super) fn set(text: &str, at: EntryPath<'_>, entry: &Map<String, Value>) -> anyhow::Result<String> {
    let mut document = parse(text)?;
    let root = document.as_table_mut();
    let is_first = root.is_empty();
    let section = root.entry(at.section).or_insert_with(|| {
        // `[mcp_servers]` alone would say nothing.
        let mut section = Table::new();
        section.set_implicit(true);
        Item::Table(section)
    });
    let is_inline = section.is_inline_table();
    let section = section.as_table_like_mut().context("the section is not a table")?;
    match section.get_mut(at.name).and_then(Item::as_table_like_mut) {
        Some(table) => merge(table, entry),
        None if is_inline => {
            section.insert(at.name, to_item(&Value::Object(entry.clone())));
        }
        None => {
            let mut table = Table::new();
            merge(&mut table, entry);
            if !is_first {
                table.decor_mut().set_prefix("\n");
            }
            section.insert(at.name, Item::Table(table));
        }
    }
    Ok(document.to_string())
}

/// Changes the values that differ, so that comments between them stay.
fn merge(table: &mut dyn TableLike, entry: &Map<String, Value>) {
    for (key, value) in entry {
        if table.get(key).map(of_item).as_ref() == Some(value) {
            continue;
        }
        let mut item = to_item(value);
        let before = table.get(key).and_then(Item::as_value).map(|value| value.decor().clone());
        if let (Some(value), Some(decor)) = (item.as_value_mut(), before) {
            *value.decor_mut() = decor;
        }
        match table.get_mut(key) {
            Some(existing) => *existing = item,
            None => {
                table.insert(key, item);
            }
        }
    }
}

pub(super) fn unset(text: &str, at: EntryPath<'_>) -> anyhow::Result<String> {
    let mut document = parse(text)?;
    let root = document.as_table_mut();
    let Some(section) = root.get_mut(at.section) else { return Ok(text.to_owned()) };
    // `init` writes no line for the section alone.
    let is_written = section.as_table().is_none_or(|table| !table.is_implicit());
    if let Some(section) = section.as_table_like_mut() {
        section.remove(at.name);
        if section.is_empty() && !is_written {
            root.remove(at.section);
        }
    }
    Ok(document.to_string())
}

fn to_item(value: &Value) -> Item {
    Item::Value(to_value(value))
}

fn to_value(value: &Value) -> toml_edit::Value {
    match value {
        // TOML has no null; no entry has one.
        Value::Null => "".into(),
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64().unwrap_or_default().into(),
        },
        Value::String(text) => text.into(),
        Value::Array(items) => items.iter().map(to_value).collect::<Array>().into(),
        Value::Object(pairs) => {
            pairs.iter().map(|(key, value)| (key, to_value(value))).collect::<InlineTable>().into()
        }
    }
}
