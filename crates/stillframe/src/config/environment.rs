//! What is set in the environment. A variable that is empty counts as one that is not set.

use std::ffi::OsString;

use anyhow::{anyhow, bail};
use clap::builder::{BoolishValueParser, TypedValueParser as _};

use super::table::{self, Kind, Setting};
use super::{SettingSource, SettingValue, Value};

/// The variable that says which file is read.
pub(super) const CONFIG: &str = "STILLFRAME_CONFIG";
/// The variable that sets limits.
const LIMITS: &str = "STILLFRAME_LIMITS";
/// What separates paths.
pub(super) const PATHS: char = if cfg!(windows) { ';' } else { ':' };

/// A variable of this process; none when it is not set, or empty.
pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// What these variables set.
pub(super) fn given(variable: impl Fn(&str) -> Option<OsString>) -> anyhow::Result<Vec<SettingValue>> {
    let text = |name: &'static str| match variable(name).map(OsString::into_string) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => bail!("{name}: value is not UTF-8"),
    };
    let mut given = Vec::new();
    for limit in text(LIMITS)?.iter().flat_map(|limits| limits.split(',')) {
        let origin = SettingSource::Environment(LIMITS);
        let (name, value) = table::read_limit(limit).map_err(|problem| anyhow!("{origin}: {problem}"))?;
        given.push(SettingValue { name, value, origin });
    }
    for setting in table::all() {
        let Some(variable) = setting.variable else { continue };
        let Some(text) = text(variable)? else { continue };
        let origin = SettingSource::Environment(variable);
        let value = value_of(&setting, &text).and_then(|value| setting.checked(value, None));
        let value = value.map_err(|problem| anyhow!("{origin}: {problem}"))?;
        given.push(SettingValue { name: setting.name, value, origin });
    }
    Ok(given)
}

fn value_of(setting: &Setting, text: &str) -> Result<Value, String> {
    let list = |separator: char| Value::List(text.split(separator).map(str::to_owned).collect());
    Ok(match setting.kind {
        Kind::Flag => Value::Flag(flag(text).ok_or_else(|| setting.wrong(text))?),
        Kind::Paths => list(PATHS),
        Kind::Languages => list(','),
        Kind::Bound | Kind::Toolset | Kind::File => Value::Text(text.to_owned()),
    })
}

/// Yes or no, in one of the usual words.
pub(super) fn flag(text: &str) -> Option<bool> {
    BoolishValueParser::new().parse_ref(&clap::Command::default(), None, text.as_ref()).ok()
}
