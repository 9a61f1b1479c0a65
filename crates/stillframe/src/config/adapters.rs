//! Debug adapters in a configuration file: `[adapters.NAME]`.

use std::path::Path;

use anyhow::bail;
use engine::adapter::ADAPTERS;
use engine::adapter::configured::{Configured, QUIRKS, Reach, VARIABLES};
use engine::sources::meant;
use serde_json::{Map, Value, json};
use toml::de::{DeTable, DeValue};

/// The section that they are below.
pub(super) const SECTION: &str = "adapters";

const KEYS: [&str; 9] =
    ["command", "address", "transport", "about", "extensions", "adapter_id", "launch", "attach", "quirks"];

/// Reads the adapters in a text of TOML that has been parsed before.
pub(super) fn read(text: &str, file: &Path) -> anyhow::Result<Vec<Configured>> {
    let Ok(document) = DeTable::parse(text) else { return Ok(Vec::new()) };
    let shown = file.display();
    let line_of = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    let Some((key, section)) = document.get_ref().iter().find(|(key, _)| key.get_ref() == SECTION) else {
        return Ok(Vec::new());
    };
    let DeValue::Table(adapters) = section.get_ref() else {
        bail!("{shown}:{}: `adapters` is a section; write `[adapters.NAME]`", line_of(key.span().start));
    };
    let mut found = Vec::new();
    for (name, content) in adapters {
        let line = line_of(name.span().start);
        let name = name.get_ref().to_string();
        let DeValue::Table(keys) = content.get_ref() else {
            bail!("{shown}:{line}: `adapters.{name}` is a section; write `[adapters.{name}]`");
        };
        let described = adapter(&name, keys, format!("{shown}:{line}"));
        let described = described.map_err(|(key, problem)| {
            let at = keys.iter().find(|(known, _)| known.get_ref() == key.as_str());
            let line = at.map_or(line, |(key, _)| line_of(key.span().start));
            let key = if key.is_empty() { String::new() } else { format!(".{key}") };
            anyhow::anyhow!("{shown}:{line}: `adapters.{name}{key}` {problem}")
        })?;
        found.push(described);
    }
    Ok(found)
}

/// Refuses names that are taken.
pub(super) fn check(adapters: &[Configured]) -> anyhow::Result<()> {
    for (at, Configured { name, origin, .. }) in adapters.iter().enumerate() {
        let of_name = ADAPTERS
            .iter()
            .find(|known| known.name() == name || known.facts().aliases.contains(&name.as_str()));
        if let Some(known) = of_name {
            let what = if known.name() == name { "the name" } else { "another name" };
            bail!(
                "{origin}: `adapters.{name}` has {what} of the built-in language {}; choose another one",
                known.about()
            );
        }
        if adapters.iter().skip(at + 1).any(|other| other.name == *name) {
            bail!("{origin}: `adapters.{name}` is defined twice");
        }
    }
    Ok(())
}

/// The key that is wrong, and the problem with it.
type Problem = (String, String);

fn adapter(name: &str, keys: &DeTable<'_>, origin: String) -> Result<Configured, Problem> {
    let wrong = |key: &str, problem: &str| (key.to_owned(), problem.to_owned());
    if let Some((key, _)) = keys.iter().find(|(key, _)| !KEYS.contains(&key.get_ref().as_ref())) {
        let key = key.get_ref().to_string();
        let advice = match meant(&key, KEYS.into_iter()) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("settings: {}", KEYS.join(", ")),
        };
        return Err((key, format!("is not a setting of an adapter; {advice}")));
    }
    let value =
        |key: &str| keys.iter().find(|(known, _)| known.get_ref() == key).map(|(_, value)| value.get_ref());
    let text = |key: &str| match value(key) {
        None => Ok(None),
        Some(DeValue::String(text)) => Ok(Some(text.to_string())),
        Some(_) => Err(wrong(key, "must be a string")),
    };
    let list = |key: &str| match value(key) {
        None => Ok(None),
        Some(DeValue::Array(items)) => {
            let items = items.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
            items
                .collect::<Option<Vec<String>>>()
                .map(Some)
                .ok_or_else(|| wrong(key, "must be a list of strings"))
        }
        Some(_) => Err(wrong(key, "must be a list of strings, such as [\"lldb-dap\"]")),
    };
    let template = |key: &str| match value(key) {
        None => Ok(None),
        Some(DeValue::Table(fields)) => Ok(Some(object(fields))),
        Some(_) => Err(wrong(key, "must be a table of the request's arguments")),
    };
    let command = list("command")?;
    if command.as_ref().is_some_and(Vec::is_empty) {
        return Err(wrong("command", "is empty; give a program and its arguments"));
    }
    let transport = text("transport")?;
    let reach = match (command, text("address")?, transport.as_deref()) {
        (Some(command), None, None | Some("stdio")) => Reach::Stdio(command),
        (Some(command), None, Some("tcp")) => {
            let says = |word: &String| word.contains("${port}") || word.contains("${address}");
            if !command.iter().any(says) {
                return Err(wrong(
                    "command",
                    "needs `${port}` or `${address}`, because `transport` is \"tcp\"",
                ));
            }
            Reach::Tcp(command)
        }
        (None, Some(address), None | Some("tcp")) => {
            let (host, port) =
                address.rsplit_once(':').ok_or_else(|| wrong("address", "must be \"HOST:PORT\""))?;
            let port =
                port.parse().map_err(|_| wrong("address", "must be \"HOST:PORT\", with a numeric port"))?;
            Reach::Address { host: host.to_owned(), port }
        }
        (Some(_), Some(_), _) => return Err(wrong("address", "cannot be combined with `command`")),
        (None, None, _) => return Err(wrong("", "needs `command` or `address`")),
        (_, _, Some(_)) => return Err(wrong("transport", "must be \"stdio\" or \"tcp\"")),
    };
    let quirks = list("quirks")?.unwrap_or_default();
    if let Some(unknown) = quirks.iter().find(|quirk| QUIRKS.iter().all(|(known, _)| known != quirk)) {
        let known: Vec<&str> = QUIRKS.iter().map(|(name, _)| *name).collect();
        return Err((
            "quirks".to_owned(),
            format!("does not allow `{unknown}`; allowed: {}", known.join(", ")),
        ));
    }
    let (launch, attach) = (template("launch")?, template("attach")?);
    for (key, fields, known) in [("launch", &launch, VARIABLES.0), ("attach", &attach, VARIABLES.1)] {
        let unknown = fields.iter().flat_map(Map::values).find_map(|value| unknown_variable(value, known));
        if let Some(unknown) = unknown {
            return Err((
                key.to_owned(),
                format!("has no variable `{unknown}`; variables: {}", known.join(", ")),
            ));
        }
    }
    if launch.is_none() && attach.is_none() {
        return Err(wrong("", "needs `launch` or `attach`: the arguments of that request"));
    }
    Ok(Configured {
        name: name.to_owned(),
        about: text("about")?.unwrap_or_else(|| name.to_owned()),
        extensions: list("extensions")?.unwrap_or_default(),
        reach,
        adapter_id: text("adapter_id")?.unwrap_or_else(|| name.to_owned()),
        launch,
        attach,
        quirks,
        origin,
    })
}

/// A variable in a template that has no value.
fn unknown_variable(template: &Value, known: &[&str]) -> Option<String> {
    match template {
        Value::String(text) => {
            let variables = text.match_indices("${").filter_map(|(at, _)| {
                let variable = text.get(at..)?;
                variable.get(..=variable.find('}')?)
            });
            variables.map(str::to_owned).find(|variable| !known.contains(&variable.as_str()))
        }
        Value::Array(items) => items.iter().find_map(|item| unknown_variable(item, known)),
        Value::Object(fields) => fields.values().find_map(|value| unknown_variable(value, known)),
        _ => None,
    }
}

fn object(fields: &DeTable<'_>) -> Map<String, Value> {
    fields.iter().map(|(key, value)| (key.get_ref().to_string(), json_of(value.get_ref()))).collect()
}

fn json_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Boolean(flag) => json!(flag),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            i64::from_str_radix(&digits, number.radix())
                .map_or_else(|_| json!(digits), |number| json!(number))
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Value::Null, |number| json!(number)),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| json_of(item.get_ref())).collect()),
        DeValue::Table(fields) => Value::Object(object(fields)),
        DeValue::Datetime(date) => json!(date.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "[adapters.kotlin]\ncommand = [\"kotlin-dap\", \"--port\", \"${port}\"]\ntransport = \"tcp\"\nextensions = [\"kt\"]\nquirks = [\"writes_crlf\"]\n\n[adapters.kotlin.launch]\nprogram = \"${program}\"\ndepth = 3\n";

    #[test]
    fn a_configured_adapter_is_read_completely() {
        let read = read(WHOLE, Path::new("f.toml")).unwrap();
        let [kotlin] = read.as_slice() else { panic!("{read:?}") };
        assert_eq!((kotlin.name.as_str(), kotlin.about.as_str()), ("kotlin", "kotlin"));
        assert!(matches!(&kotlin.reach, Reach::Tcp(command) if command.len() == 3));
        assert_eq!(
            Value::Object(kotlin.launch.clone().unwrap()),
            json!({ "program": "${program}", "depth": 3 })
        );
        assert!(check(&read).is_ok());
    }

    #[test]
    fn errors_name_the_key_and_line() {
        let table = [
            (
                "[adapters.x]\ncomand = []\n",
                "f.toml:2: `adapters.x.comand` is not a setting of an adapter; did you mean `command`?",
            ),
            ("[adapters.x]\ncommand = \"a\"\n", "f.toml:2: `adapters.x.command` must be a list of strings"),
            (
                "[adapters.x]\ncommand = [\"a\"]\ntransport = \"udp\"\n",
                "f.toml:3: `adapters.x.transport` must be",
            ),
            (
                "[adapters.x]\ncommand = [\"a\"]\ntransport = \"tcp\"\n",
                "f.toml:2: `adapters.x.command` needs `${port}`",
            ),
            ("[adapters.x]\naddress = \"here\"\n", "f.toml:2: `adapters.x.address` must be \"HOST:PORT\""),
            ("[adapters.x]\ncommand = [\"a\"]\n", "f.toml:1: `adapters.x` needs `launch` or `attach`"),
            ("[adapters.x]\nabout = \"a\"\n", "f.toml:1: `adapters.x` needs `command` or `address`"),
            (
                "[adapters.x]\ncommand = [\"a\"]\nquirks = [\"odd\"]\n",
                "f.toml:3: `adapters.x.quirks` does not allow `odd`; allowed: no_initialized_event",
            ),
            (
                "[adapters.x]\ncommand = [\"a\"]\n[adapters.x.launch]\nin = [{ file = \"run ${programm}\" }]\n",
                "f.toml:3: `adapters.x.launch` has no variable `${programm}`; variables: ${program}, ${args}",
            ),
            (
                "[adapters.x]\ncommand = [\"a\"]\nattach.pid = \"${program}\"\n",
                "f.toml:3: `adapters.x.attach` has no variable `${program}`; variables: ${host}, ${port}",
            ),
            ("[adapters]\nx = 1\n", "f.toml:2: `adapters.x` is a section"),
            ("adapters = 1\n", "f.toml:1: `adapters` is a section"),
        ];
        for (text, expected) in table {
            let problem = read(text, Path::new("f.toml")).unwrap_err().to_string();
            assert!(problem.starts_with(expected), "{problem}");
        }
        for (name, expected) in [
            ("python", "`adapters.python` has the name of the built-in language Python;"),
            ("delve", "`adapters.delve` has another name of the built-in language Go;"),
        ] {
            let taken = WHOLE.replace("kotlin]", &format!("{name}]")).replace("kotlin.", &format!("{name}."));
            let read = read(&taken, Path::new("f.toml")).unwrap();
            let problem = check(&read).unwrap_err().to_string();
            assert!(problem.contains(expected), "{problem}");
        }
    }
}
