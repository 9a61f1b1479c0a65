//! Changing one entry of a file, whatever its format, and nothing else.

use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value, json};

use super::{json, toml, yaml};

/// What some editors write before a text.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// The format of a host's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Comments and trailing commas are allowed.
    Json,
    Toml,
    Yaml,
}

/// Edits a text without its byte order mark and with plain line ends, and puts both back.
fn edited(text: &str, edit: impl FnOnce(&str) -> anyhow::Result<String>) -> anyhow::Result<String> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mark = text.strip_suffix(body).unwrap_or_default();
    let breaks = body.matches("\r\n").count();
    if breaks == 0 || breaks < body.matches('\n').count() {
        return Ok(format!("{mark}{}", edit(body)?));
    }
    let edited = edit(&body.replace("\r\n", "\n"))?;
    Ok(format!("{mark}{}", edited.replace('\n', "\r\n")))
}

/// Where the entry is: the key of the section and its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryPath<'a> {
    pub(crate) section: &'a str,
    pub(crate) name: &'a str,
}

impl Format {
    /// Everything in a file.
    pub(crate) fn read(self, text: &str) -> anyhow::Result<Value> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        match self {
            Self::Json => json::read(text),
            Self::Toml => toml::read(text),
            Self::Yaml => yaml::read(text),
        }
    }

    /// The entry in a file, if it has one.
    pub(crate) fn entry(self, text: &str, at: EntryPath<'_>) -> anyhow::Result<Option<Value>> {
        Ok(self.read(text)?.get(at.section).and_then(|section| section.get(at.name)).cloned())
    }

    /// The text with this entry.
    pub(crate) fn set(
        self,
        text: &str,
        at: EntryPath<'_>,
        entry: &Map<String, Value>,
    ) -> anyhow::Result<String> {
        let before = self.read(text)?;
        let section = before.get(at.section).unwrap_or(&Value::Null);
        let is_usable = section.is_null() || section.is_object();
        ensure!(before.is_object(), "the file is not an object or a table of settings");
        ensure!(is_usable, "`{}` is not a table of servers", at.section);
        let after = edited(text, |text| match self {
            Self::Json => json::set(text, at, entry),
            Self::Toml => toml::set(text, at, entry),
            Self::Yaml => yaml::set(text, at, entry),
        })?;
        let mut expected = before;
        if let Some(root) = expected.as_object_mut() {
            let section = root.entry(at.section).or_insert(Value::Null);
            if section.is_null() {
                *section = json!({});
            }
            if let Some(section) = section.as_object_mut() {
                section.insert(at.name.to_owned(), Value::Object(entry.clone()));
            }
        }
        self.checked(after, &expected)
    }

    /// The text without the entry. A section that is then empty goes too, unless it has comments or `init` would not
    /// have written it so.
    pub(crate) fn unset(self, text: &str, at: EntryPath<'_>) -> anyhow::Result<String> {
        let mut expected = self.read(text)?;
        let after = edited(text, |text| match self {
            Self::Json => json::unset(text, at),
            Self::Toml => toml::unset(text, at),
            Self::Yaml => yaml::unset(text, at),
        })?;
        let has_section = self.read(&after).is_ok_and(|after| after.get(at.section).is_some());
        if let Some(section) = expected.get_mut(at.section).and_then(Value::as_object_mut) {
            section.shift_remove(at.name);
            if section.is_empty()
                && !has_section
                && let Some(root) = expected.as_object_mut()
            {
                root.shift_remove(at.section);
            }
        }
        self.checked(after, &expected)
    }

    /// The text without what these keys lead to. What is around it stays.
    pub(crate) fn without(self, text: &str, keys: &[&str]) -> anyhow::Result<String> {
        let mut expected = self.read(text)?;
        if let Some((last, above)) = keys.split_last()
            && let Some(object) = above.iter().try_fold(&mut expected, |value, key| value.get_mut(*key))
            && let Some(object) = object.as_object_mut()
        {
            object.shift_remove(*last);
        }
        let after = edited(text, |text| match self {
            Self::Json => json::without(text, keys),
            Self::Toml | Self::Yaml => bail!("this file cannot be edited automatically"),
        })?;
        self.checked(after, &expected)
    }

    /// An edit goes through only if the text then has exactly what it should have.
    fn checked(self, after: String, expected: &Value) -> anyhow::Result<String> {
        let found = self.read(&after).context("this file cannot be edited automatically")?;
        ensure!(found == *expected, "this file cannot be edited automatically; a key may be in it twice");
        Ok(after)
    }

    /// A file with only this entry.
    pub(crate) fn alone(self, at: EntryPath<'_>, entry: &Map<String, Value>) -> anyhow::Result<String> {
        self.set("", at, entry)
    }
}
