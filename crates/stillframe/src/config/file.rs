//! Reading one file.

use std::path::Path;

use anyhow::{Context, bail};
use engine::adapter::configured::Configured;
use engine::sources::{self, meant};
use toml::de::{DeTable, DeValue};

use super::adapters;
use super::table::{self, Kind, Setting};
use super::{SettingSource, SettingValue, Value};

/// More than anybody writes, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// Reads a file: what it sets, with the lines.
pub(super) fn read(file: &Path, is_project: bool) -> anyhow::Result<(Vec<SettingValue>, Vec<Configured>)> {
    let shown = file.display();
    let size = std::fs::metadata(file).with_context(|| format!("cannot read `{shown}`"))?.len();
    if size > LARGEST {
        bail!("`{shown}` has {size} bytes, the limit is {LARGEST}");
    }
    let bytes = std::fs::read(file).with_context(|| format!("cannot read `{shown}`"))?;
    match str::from_utf8(&bytes) {
        Ok(text) => Ok((parse(text, file, is_project)?, adapters::read(text, file)?)),
        Err(error) => {
            let before = bytes.iter().take(error.valid_up_to());
            let line = before.filter(|byte| **byte == b'\n').count() + 1;
            bail!("{shown}:{line}: this is not UTF-8");
        }
    }
}

/// Reads the text of a file.
pub(super) fn parse(text: &str, file: &Path, is_project: bool) -> anyhow::Result<Vec<SettingValue>> {
    let shown = file.display();
    let line_of = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let line = error.span().map_or(1, |span| line_of(span.start));
            let meant = error.span().and_then(|span| text.get(span)).unwrap_or_default().trim();
            let at = if meant.is_empty() { String::new() } else { format!(" at `{meant}`") };
            bail!("{shown}:{line}: {}{at}", error.message());
        }
    };
    // A path in a file is of the folder that the file is in.
    let folder = sources::absolute(file).parent().map(Path::to_owned).unwrap_or_default();
    let mut given = Vec::new();
    for (section, content) in document.get_ref() {
        if section.get_ref() == adapters::SECTION {
            continue;
        }
        let line = line_of(section.span().start);
        let section = section.get_ref().as_ref();
        let DeValue::Table(keys) = content.get_ref() else {
            bail!("{shown}:{line}: {}", outside(section));
        };
        if keys.is_empty() && !table::all().any(|setting| setting.section() == section) {
            bail!("{shown}:{line}: {}", unknown(section));
        }
        for (key, value) in keys {
            let line = line_of(key.span().start);
            let name = format!("{section}.{}", key.get_ref());
            let Some(setting) = table::named(&name) else { bail!("{shown}:{line}: {}", unknown(&name)) };
            let value = value_of(&setting, value.get_ref())
                .and_then(|value| setting.checked(value, Some(&folder)))
                .map_err(|problem| anyhow::anyhow!("{shown}:{line}: {problem}"))?;
            let file = file.to_owned();
            let origin = if is_project {
                SettingSource::Project { file, line }
            } else {
                SettingSource::User { file, line }
            };
            given.push(SettingValue { name: setting.name, value, origin });
        }
    }
    Ok(given)
}

/// A value in place of a section.
fn outside(name: &str) -> String {
    if table::all().any(|setting| setting.section() == name) {
        return format!("`{name}` is a section; write `[{name}]`, and its settings below");
    }
    let end = format!(".{name}");
    match table::all().find(|setting| setting.name == name || setting.name.ends_with(&end)) {
        Some(setting) => format!("`{name}` is outside a section; move it below `[{}]`", setting.section()),
        None => unknown(name),
    }
}

/// A setting that there is not, and the one that is most like it.
fn unknown(name: &str) -> String {
    match meant(name, table::all().map(|setting| setting.name)) {
        Some(meant) if name.contains('.') => format!("unknown setting `{name}`; did you mean `{meant}`?"),
        None if name.contains('.') => format!("unknown setting `{name}`; `stillframe config` lists them"),
        _ => format!("unknown section `{name}`; sections: limits, safety, serve, journal, adapters"),
    }
}

fn value_of(setting: &Setting, value: &DeValue<'_>) -> Result<Value, String> {
    let wrong = || format!("`{}` must be {}", setting.name, setting.takes());
    let strings = |items: &toml::de::DeArray<'_>| {
        let text = |item: &toml::Spanned<DeValue<'_>>| item.get_ref().as_str().map(str::to_owned);
        items.iter().map(text).collect::<Option<Vec<String>>>().ok_or_else(wrong)
    };
    Ok(match (setting.kind, value) {
        (Kind::Bound, DeValue::Integer(number)) => {
            let digits = number.as_str().replace('_', "");
            Value::Number(u64::from_str_radix(&digits, number.radix()).map_err(|_| wrong())?)
        }
        (Kind::Flag, DeValue::Boolean(flag)) => Value::Flag(*flag),
        (Kind::Toolset | Kind::File, DeValue::String(text)) => Value::Text(text.as_ref().to_owned()),
        (Kind::Paths | Kind::Languages, DeValue::Array(items)) => Value::List(strings(items)?),
        _ => return Err(wrong()),
    })
}
