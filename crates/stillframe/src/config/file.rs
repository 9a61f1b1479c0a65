//! Reading one file.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use engine::sources::{self, distance};
use toml::de::{DeTable, DeValue};

use super::table::{self, Kind, Setting};
use super::{Given, Origin, Value};

/// More than anybody writes, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// Reads a file: what it sets, with the lines.
pub(super) fn read(file: &Path, is_project: bool) -> anyhow::Result<Vec<Given>> {
    let shown = file.display();
    let size = std::fs::metadata(file).with_context(|| format!("`{shown}` cannot be read"))?.len();
    if size > LARGEST {
        bail!("`{shown}` has {size} bytes, and may have {LARGEST}");
    }
    let text = sources::read_text(file).with_context(|| format!("`{shown}` cannot be read"))?;
    parse(&text, file, is_project)
}

/// Reads the text of a file.
pub(super) fn parse(text: &str, file: &Path, is_project: bool) -> anyhow::Result<Vec<Given>> {
    let shown = file.display();
    let line_of = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    let document = match DeTable::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let line = error.span().map_or(1, |span| line_of(span.start));
            bail!("{shown}:{line}: {}", error.message());
        }
    };
    let mut given = Vec::new();
    for (section, content) in document.get_ref() {
        let line = line_of(section.span().start);
        let section = section.get_ref().as_ref();
        let DeValue::Table(keys) = content.get_ref() else {
            bail!("{shown}:{line}: {}", unknown(section));
        };
        if keys.is_empty() && !table::all().any(|setting| setting.section() == section) {
            bail!("{shown}:{line}: {}", unknown(section));
        }
        for (key, value) in keys {
            let line = line_of(key.span().start);
            let name = format!("{section}.{}", key.get_ref());
            let Some(setting) = table::named(&name) else { bail!("{shown}:{line}: {}", unknown(&name)) };
            let value = value_of(&setting, value.get_ref(), file)
                .and_then(|value| setting.check(&value).map(|()| value))
                .map_err(|problem| anyhow::anyhow!("{shown}:{line}: {problem}"))?;
            let file = file.to_owned();
            let origin =
                if is_project { Origin::Project { file, line } } else { Origin::User { file, line } };
            given.push(Given { name: setting.name, value, origin });
        }
    }
    Ok(given)
}

/// A setting that there is not, and the one that is most like it.
fn unknown(name: &str) -> String {
    let near = table::all().map(|setting| setting.name).min_by_key(|known| distance(known, name));
    match near {
        Some(near) if name.contains('.') => format!("there is no setting `{name}`; did you mean `{near}`?"),
        _ => format!("there is no section `{name}`; the sections are: limits, safety, serve, journal"),
    }
}

fn value_of(setting: &Setting, value: &DeValue<'_>, file: &Path) -> Result<Value, String> {
    let wrong = || format!("`{}` takes {}", setting.name, setting.takes());
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
        (Kind::Toolset, DeValue::String(text)) => Value::Text(text.as_ref().to_owned()),
        (Kind::File, DeValue::String(text)) if text.as_ref() == "off" => Value::Text("off".to_owned()),
        (Kind::File, DeValue::String(text)) => Value::Text(beside(file, text).display().to_string()),
        (Kind::Paths, DeValue::Array(items)) => {
            let paths = strings(items)?;
            Value::List(paths.iter().map(|path| beside(file, path).display().to_string()).collect())
        }
        (Kind::Languages, DeValue::Array(items)) => Value::List(strings(items)?),
        _ => return Err(wrong()),
    })
}

/// A path in a file is of the folder that the file is in.
fn beside(file: &Path, path: &str) -> PathBuf {
    let folder = sources::absolute(file).parent().map(Path::to_owned).unwrap_or_default();
    sources::absolute(&folder.join(path))
}
