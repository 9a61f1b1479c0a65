//! The entry of a server, as each host writes it.

use std::collections::BTreeMap;

use engine::adapter::{Host as _, Machine};
use serde_json::{Map, Value, json};

/// What the server is called.
pub(crate) const NAME: &str = "stillframe";
/// The argument that starts the server; what follows it in an entry is the user's.
const SERVE: &str = "serve";
/// Programs that run a package by its name.
const RUNNERS: [&str; 5] = ["bunx", "npx", "pipx", "pnpx", "uvx"];

/// How a host writes an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `command` and `args`.
    Plain,
    /// The same, and the kind of the connection.
    Typed,
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
        let words = [given.launcher, options.before, &[SERVE.to_owned()], options.after].concat();
        let (program, args) =
            words.split_first().map_or(("", &[][..]), |(program, args)| (program.as_str(), args));
        let (start, defaults) = match self {
            Self::Plain => (json!({ "command": program, "args": args }), json!({})),
            Self::Typed => (json!({ "command": program, "args": args }), json!({ "type": "stdio" })),
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
        self.entry(Start::of(&self.command(entry).words).launcher, None)
    }

    /// What an entry is if its command is not known to be stillframe and its options: a container, a shell, another
    /// machine. With another launcher, it would lose what the user has put there.
    pub(crate) fn other_launcher(self, entry: &Value, launcher: &[String]) -> Option<String> {
        let words = self.command(entry).words;
        let start = Start::of(&words);
        let is_replaceable = start.is_known || start.launcher == Start::of(launcher).launcher;
        (!is_replaceable).then(|| format!("started by another command (`{}`)", words.join(" ")))
    }

    /// What an entry starts.
    pub(crate) fn command(self, entry: &Value) -> ServerCommand {
        let (program, environment) = match self {
            Self::Goose => ("cmd", "envs"),
            Self::Opencode => ("command", "environment"),
            Self::Plain | Self::Typed | Self::Zed => ("command", "env"),
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

/// The command of stillframe that some words start, if that is another one than `serve`.
pub(crate) fn other_command(words: &[String]) -> Option<&str> {
    let launcher = launcher_length(words)?;
    let next = words.get(launcher).filter(|word| !word.starts_with('-') && *word != SERVE)?;
    (!is_stillframe(next)).then_some(next)
}

/// The parts of a command that starts the server.
#[derive(Clone, Copy)]
struct Start<'w> {
    /// What starts stillframe.
    launcher: &'w [String],
    /// Options before `serve`.
    before: &'w [String],
    /// Options after it.
    after: &'w [String],
    /// The launcher is nothing else than stillframe.
    is_known: bool,
}

impl<'w> Start<'w> {
    fn of(words: &'w [String]) -> Self {
        let serve = words.iter().position(|word| word == SERVE);
        let (head, rest) = words.split_at(serve.unwrap_or(words.len()));
        let after = rest.get(1..).unwrap_or_default();
        let known =
            launcher_length(head).filter(|end| head.get(*end).is_none_or(|word| word.starts_with('-')));
        let (launcher, before) = head.split_at(known.unwrap_or(head.len()));
        // A program with `serve` behind it is stillframe under another name.
        let is_known = known.is_some() || words.is_empty() || head.len() == 1 && serve.is_some();
        Self { launcher, before, after, is_known }
    }

    fn has_options(&self) -> bool {
        !self.before.is_empty() || !self.after.is_empty()
    }
}

/// How many words start stillframe: its program, or what runs its package.
fn launcher_length(words: &[String]) -> Option<usize> {
    let (program, rest) = words.split_first()?;
    if is_stillframe(program) {
        return Some(1);
    }
    let options = rest.iter().take_while(|word| word.starts_with('-')).count();
    let is_run =
        RUNNERS.contains(&program_name(program)) && rest.get(options).is_some_and(|word| is_stillframe(word));
    is_run.then_some(options + 2)
}

/// Whether this is the program or the package, which may have a version: `stillframe@1.0`.
fn is_stillframe(word: &str) -> bool {
    program_name(word).split(['@', '=']).next() == Some(NAME)
}

/// The name of a program, without its folder and what Windows adds.
fn program_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    [".exe", ".cmd"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
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

    const SHAPES: [Shape; 5] = [Shape::Plain, Shape::Typed, Shape::Opencode, Shape::Zed, Shape::Goose];

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
            ("uvx --from stillframe stillframe serve", None),
            ("stillframe doctor", None),
            ("/opt/wrapper", None),
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
                assert_eq!(shape.other_launcher(&entry, &new).is_none(), kept.is_some(), "{command}");
                assert_eq!(shape.other_launcher(&entry, &words(command)), None, "{command}");
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
    fn another_command_than_serve_is_found() {
        let table = [
            ("stillframe doctor", Some("doctor")),
            ("npx -y stillframe record", Some("record")),
            ("stillframe serve --read-only", None),
            ("stillframe --read-only serve", None),
            ("stillframe", None),
            ("uvx --from stillframe stillframe", None),
            ("sf doctor", None),
        ];
        for (command, expected) in table {
            assert_eq!(other_command(&words(command)), expected, "{command}");
        }
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
