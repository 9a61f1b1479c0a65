//! `stillframe config`: effective settings and their sources.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Value as Json, json};

use super::table;
use super::{SettingSource, SettingValue, Settings, Value};
use crate::terminal::{self, FAINT, HEADING, NAME, WARN, fit, styled, truncate_start};

/// The columns of names and of values.
const COLUMNS: (usize, usize) = (18, 22);

/// Prints every setting.
pub(crate) fn run(settings: &Settings, as_json: bool) -> anyhow::Result<ExitCode> {
    let text =
        if as_json { serde_json::to_string_pretty(&to_json(settings))? + "\n" } else { to_text(settings) };
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn to_text(settings: &Settings) -> String {
    let mut text = String::new();
    for file in &settings.files {
        let _ = writeln!(text, "read {}", truncate_start(&file.display().to_string(), 75));
    }
    if settings.files.is_empty() {
        let _ = writeln!(text, "{}", styled(FAINT, "no configuration file was read"));
    }
    let mut last = "";
    for given in &settings.all {
        let (section, key) = given.name.split_once('.').unwrap_or(("", given.name));
        if section != last {
            let _ = writeln!(text, "\n{}", styled(HEADING, format_args!("[{section}]")));
            last = section;
        }
        line(&mut text, key, given);
    }
    text
}

fn line(text: &mut String, key: &str, given: &SettingValue) {
    let unit = table::named(given.name).and_then(|setting| setting.bound()).map_or("", |bound| bound.unit);
    let value = match &given.value {
        Value::List(items) if items.is_empty() && given.name == "safety.programs" => "(none)".to_owned(),
        Value::List(items) if items.is_empty() => "(no restriction)".to_owned(),
        Value::List(items) => format!("{} given", items.len()),
        Value::Number(number) => format!("{number} {unit}"),
        value => value.to_string(),
    };
    let (name, room) = COLUMNS;
    // A long path has a line of its own.
    let is_long = value.chars().count() > room;
    let shown = if is_long { String::new() } else { fit(&value, room) };
    let padding = " ".repeat(room.saturating_sub(shown.chars().count()));
    let style = if given.origin == SettingSource::Default { FAINT } else { WARN };
    let origin = truncate_start(&given.origin.to_string(), terminal::WIDTH - name - room - 4);
    let _ = writeln!(
        text,
        "  {} {shown}{padding} {}",
        styled(NAME, format_args!("{key:name$}")),
        styled(style, origin)
    );
    match &given.value {
        Value::List(items) => items.iter().for_each(|item| text.push_str(&terminal::wrapped(item, "      "))),
        value if is_long => text.push_str(&terminal::wrapped(&value.to_string(), "      ")),
        _ => {}
    }
}

fn to_json(settings: &Settings) -> Json {
    let one = |given: &SettingValue| {
        let setting = table::named(given.name);
        let value = match &given.value {
            Value::Number(number) => json!(number),
            Value::Flag(flag) => json!(flag),
            Value::Text(text) => json!(text),
            Value::List(items) => json!(items),
        };
        json!({
            "name": given.name,
            "value": value,
            "from": given.origin.to_string(),
            "takes": setting.map(|setting| setting.takes()),
            "about": setting.map(|setting| setting.about),
        })
    };
    json!({ "files": settings.files, "settings": settings.all.iter().map(one).collect::<Vec<_>>() })
}
