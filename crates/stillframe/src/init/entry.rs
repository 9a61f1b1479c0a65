//! The entry of a server, as each host writes it.

use std::collections::BTreeMap;

use engine::adapter::{Host as _, Machine};
use serde_json::{Map, Value, json};

use super::start::{Launcher, SERVE, Start};

/// What the server is called.
pub(crate) const NAME: &str = "stillframe";

/// How a host writes an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `command` and `args`.
    Plain,
    /// The same, and the kind of the connection.
    Typed,
    /// The same, and which of the server's tools are offered.
    Copilot,
    /// The command and its arguments in one list.
    Opencode,
    Zed,
    Goose,
}

/// What a host starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerCommand {
    /// The program and its arguments.
    pub(crate) words: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    /// The host has it switched off.
    pub(crate) is_disabled: bool,
}

impl Shape {
    /// The entry for a server that these words start. What an existing entry has beside the command stays: an
    /// environment, permissions, and the options of the server unless the words have some.
    pub(crate) fn entry(self, launcher: &[String], existing: Option<&Value>) -> Map<String, Value> {
        let before = existing.map(|entry| self.command(entry).words).unwrap_or_default();
        let (before, given) = (Start::of(&before), Start::of(launcher));
        let options = if given.has_options() { &given } else { &before };
        let words = [given.words, options.before, &[SERVE.to_owned()], options.after].concat();
        let (program, args) =
            words.split_first().map_or(("", &[][..]), |(program, args)| (program.as_str(), args));
        let (start, defaults) = match self {
            Self::Plain => (json!({ "command": program, "args": args }), json!({})),
            Self::Typed => (json!({ "command": program, "args": args }), json!({ "type": "stdio" })),
            Self::Copilot => {
                (json!({ "command": program, "args": args }), json!({ "type": "local", "tools": ["*"] }))
            }
            Self::Opencode => (json!({ "command": words }), json!({ "type": "local", "enabled": true })),
            Self::Zed => (json!({ "command": program, "args": args }), json!({ "source": "custom" })),
            Self::Goose => (
                json!({ "cmd": program, "args": args }),
                json!({
                    "name": NAME,
                    "description": "Debug running programs",
                    "type": "stdio",
                    "enabled": true,
                    "timeout": 300,
                }),
            ),
        };
        let mut entry = existing.and_then(Value::as_object).cloned().unwrap_or_default();
        for (key, value) in defaults.as_object().cloned().unwrap_or_default() {
            entry.entry(key).or_insert(value);
        }
        entry.extend(start.as_object().cloned().unwrap_or_default());
        if self == Self::Opencode {
            // They are in `command` now; opencode accepts no such key.
            entry.shift_remove("args");
        }
        entry
    }

    /// The entry as `init` writes it where there is none, for the server that an entry starts.
    pub(crate) fn without_additions(self, entry: &Value) -> Map<String, Value> {
        self.entry(Start::of(&self.command(entry).words).words, None)
    }

    /// What an entry is if its command is not known to be stillframe and its options. With another launcher, it would lose
    /// what the user has put there.
    pub(crate) fn other_launcher(
        self,
        entry: &Value,
        launcher: &[String],
        is_stillframe: impl FnOnce(&str) -> bool,
    ) -> Option<String> {
        let words = self.command(entry).words;
        let start = Start::of(&words);
        let is_ours = match start.launcher {
            Launcher::Stillframe | Launcher::Runner => true,
            Launcher::Renamed => words.first().is_some_and(|program| is_stillframe(program)),
            Launcher::Other => false,
        };
        let is_replaceable = words.is_empty() || is_ours || start.words == Start::of(launcher).words;
        let what = "a command that does not start the server as `init` would";
        (!is_replaceable).then(|| format!("{what} (`{}`)", words.join(" ")))
    }

    /// What an entry starts.
    pub(crate) fn command(self, entry: &Value) -> ServerCommand {
        let (program, environment) = match self {
            Self::Goose => ("cmd", "envs"),
            Self::Opencode => ("command", "environment"),
            Self::Plain | Self::Typed | Self::Copilot | Self::Zed => ("command", "env"),
        };
        let words = [entry.get(program), entry.get("args")].into_iter().flatten().flat_map(strings).collect();
        let pairs = entry.get(environment).and_then(Value::as_object).into_iter().flatten();
        let env = pairs.map(|(name, value)| (name.clone(), strings(value).concat())).collect();
        let has = |key, flag| entry.get(key) == Some(&Value::Bool(flag));
        let is_disabled = has("disabled", true) || has("enabled", false);
        ServerCommand { words, env, is_disabled }
    }
}

/// What an entry is if the host does not start its server; none if the host does.
pub(crate) fn remote(entry: &Value) -> Option<String> {
    let text = |key| entry.get(key).and_then(Value::as_str);
    let url = ["url", "serverUrl", "httpUrl", "uri"].into_iter().find_map(text);
    match (text("type"), url) {
        (Some("stdio" | "local"), _) | (None, None) => None,
        (_, Some(url)) => Some(format!("an HTTP server ({url})")),
        (Some(kind), None) => Some(format!("a server of the type `{kind}`")),
    }
}

/// The address of a server that a host reaches over HTTP, and the headers that it sends; none for the older transport,
/// which begins differently.
pub(crate) fn address(entry: &Value) -> Option<(String, Vec<(String, String)>)> {
    let text = |key| entry.get(key).and_then(Value::as_str);
    let url = ["url", "serverUrl", "httpUrl", "uri"].into_iter().find_map(text)?;
    let pairs =
        ["headers", "http_headers"].into_iter().filter_map(|key| entry.get(key)?.as_object()).flatten();
    let mut headers: Vec<_> = pairs.map(|(name, value)| (name.clone(), strings(value).concat())).collect();
    if let Some(token) = text("bearer_token_env_var").and_then(|name| Machine.env(name)) {
        headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
    }
    (text("type") != Some("sse")).then(|| (url.to_owned(), headers))
}

/// A text, or the texts of a list.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Bool(flag) => vec![flag.to_string()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Null | Value::Object(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [Shape; 6] =
        [Shape::Plain, Shape::Typed, Shape::Copilot, Shape::Opencode, Shape::Zed, Shape::Goose];

    #[test]
    fn an_entry_starts_what_it_was_made_for() {
        for shape in SHAPES {
            let entry = Value::Object(shape.entry(&["npx".to_owned(), "-y".to_owned()], None));
            assert_eq!(shape.command(&entry).words, ["npx", "-y", "serve"], "{entry}");
        }
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_stay_wherever_they_are_and_other_launchers_do() {
        let table = [
            (
                "stillframe --read-only --allow-root /srv serve --toolset quick",
                Some("--read-only --allow-root /srv serve --toolset quick"),
            ),
            ("/old/stillframe.exe serve", Some("serve")),
            ("stillframe", Some("serve")),
            (
                "npx -y stillframe@0.1.0 --no-redact serve --toolset all",
                Some("--no-redact serve --toolset all"),
            ),
            ("uvx stillframe --read-only", Some("--read-only serve")),
            ("/opt/sf serve --read-only", Some("serve --read-only")),
            ("docker run -i --rm -v /x:/work stillframe", None),
            ("ssh box stillframe serve", None),
            ("sh -c exec\u{a0}stillframe\u{a0}serve", None),
            ("env A=1 stillframe serve", None),
            (
                "cmd /c npx -y stillframe --read-only serve --toolset quick",
                Some("--read-only serve --toolset quick"),
            ),
            ("sudo serve", None),
            ("stillframe doctor", None),
            ("/opt/wrapper", None),
            ("/opt/wrapper serve", None),
        ];
        let new = words("/new/stillframe");
        for shape in SHAPES {
            for (command, kept) in table {
                let entry = if shape == Shape::Opencode {
                    json!({ "command": words(command) })
                } else {
                    let program = if shape == Shape::Goose { "cmd" } else { "command" };
                    json!({ program: words(command)[0], "args": words(command)[1..] })
                };
                let other = |new: &[String]| shape.other_launcher(&entry, new, |name| name == "/opt/sf");
                assert_eq!(other(&new).is_none(), kept.is_some(), "{command}");
                assert_eq!(other(&words(command)), None, "{command}");
                if let Some(kept) = kept {
                    let written = Value::Object(shape.entry(&new, Some(&entry)));
                    assert_eq!(shape.command(&written).words.join(" "), format!("/new/stillframe {kept}"));
                }
            }
        }
    }

    #[test]
    fn options_that_are_given_replace_all_others() {
        let entry = Value::Object(Shape::Plain.entry(&words("stillframe --read-only serve"), None));
        let written = Value::Object(Shape::Plain.entry(&words("sf serve --toolset quick"), Some(&entry)));
        assert_eq!(Shape::Plain.command(&written).words.join(" "), "sf serve --toolset quick");
    }

    #[test]
    fn the_users_options_environment_and_switches_stay() {
        for shape in SHAPES {
            let first = shape.entry(&["old".to_owned()], None);
            let mut edited = serde_json::to_string(&first).unwrap();
            edited = edited.replace("\"serve\"", "\"serve\", \"--toolset\", \"quick\"");
            edited = edited.replacen(
                '{',
                r#"{"env": {"A": "1"}, "envs": {"A": "1"}, "environment": {"A": "1"}, "#,
                1,
            );
            edited = edited.replace(r#""enabled":true"#, r#""enabled":false"#);
            let edited: Value = serde_json::from_str(&edited).unwrap();
            let again = Value::Object(shape.entry(&["/new/stillframe".to_owned()], Some(&edited)));
            let command = shape.command(&again);
            assert_eq!(command.words, ["/new/stillframe", "serve", "--toolset", "quick"], "{again}");
            assert_eq!(command.env.get("A").map(String::as_str), Some("1"), "{again}");
            let has_switch = matches!(shape, Shape::Opencode | Shape::Goose);
            assert_eq!(command.is_disabled, has_switch, "{again}");
        }
    }
}
