//! Paths, here and there: what a client says is rewritten for the other side, and what comes back for this one.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use engine::sources;
use serde_json::Value;

/// A folder there and the same folder here, as `--map THERE=HERE` gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(super) there: String,
    pub(super) here: String,
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('=').filter(|(there, here)| there.starts_with('/') && !here.is_empty());
        let Some((there, here)) = parts else {
            return Err(format!(
                "`{text}` is not THERE=HERE, such as `/app=./src`; THERE is an absolute path"
            ));
        };
        let here = sources::absolute(Path::new(here)).display().to_string();
        Self::new(there, &here)
            .ok_or_else(|| format!("`{text}` maps a root folder; map the folder of the sources"))
    }
}

impl Mapping {
    /// None for a root folder, at which every path begins.
    pub(super) fn new(there: &str, here: &str) -> Option<Self> {
        let [there, here] = [there, here].map(|path| path.trim_end_matches('/').to_owned());
        (!there.is_empty() && !here.is_empty()).then_some(Self { there, here })
    }
}

/// Where something is going.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    There,
    Here,
}

/// All mappings, and where relative paths begin here.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    mappings: Vec<Mapping>,
    folder: PathBuf,
}

/// What is code, or a value of the program: it stays as it is.
const LITERAL: [&str; 16] = [
    "args",
    "children",
    "condition",
    "elements",
    "expression",
    "expressions",
    "fields",
    "logMessage",
    "result",
    "rows",
    "source",
    "statement",
    "stdin",
    "text",
    "value",
    "values",
];

/// Arguments that name a file, which may be relative to the folder here.
const FILES: [&str; 9] =
    ["coreFile", "cwd", "executablePath", "file", "location", "path", "program", "scriptPath", "sourceFile"];

impl Paths {
    /// Of several folders that contain a path, the innermost is meant.
    pub(super) fn new(mut mappings: Vec<Mapping>, folder: PathBuf) -> Self {
        mappings.sort_by_key(|mapping| std::cmp::Reverse(mapping.there.len().max(mapping.here.len())));
        Self { mappings, folder }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.mappings.is_empty()
    }

    /// The mappings in words: `/app there is /home/me/src here`.
    pub(super) fn describe(&self) -> String {
        let each = self.mappings.iter();
        let each = each.map(|mapping| format!("`{}` there is `{}` here", mapping.there, mapping.here));
        each.collect::<Vec<_>>().join(", ")
    }

    /// The folder there that this folder is, if a mapping has it.
    pub(super) fn folder_there(&self) -> Option<String> {
        let here = self.folder.to_str()?;
        match self.text(here, Direction::There) {
            Cow::Owned(there) => Some(there),
            Cow::Borrowed(_) => None,
        }
    }

    /// A text with its paths rewritten.
    pub(super) fn text<'t>(&self, text: &'t str, to: Direction) -> Cow<'t, str> {
        let mut done = String::new();
        // How much of the text is in `done`.
        let mut copied = 0;
        let mut at = 0;
        while let Some(rest) = text.get(at..) {
            let Some(slash) = rest.find('/') else { break };
            at += slash;
            match self.prefix(text, at, to) {
                Some((from, into)) => {
                    done.push_str(text.get(copied..at).unwrap_or_default());
                    done.push_str(into);
                    at += from.len();
                    copied = at;
                }
                None => at += 1,
            }
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        done.push_str(text.get(copied..).unwrap_or_default());
        Cow::Owned(done)
    }

    /// The prefix at this place of a text, and what it becomes.
    fn prefix(&self, text: &str, at: usize, to: Direction) -> Option<(&str, &str)> {
        let (before, rest) = text.split_at_checked(at)?;
        let begins = before.ends_with("file://") || !before.ends_with(is_in_path);
        if !begins {
            return None;
        }
        let sides = self.mappings.iter().map(|mapping| match to {
            Direction::There => (mapping.here.as_str(), mapping.there.as_str()),
            Direction::Here => (mapping.there.as_str(), mapping.here.as_str()),
        });
        let matching = sides.filter(|(from, _)| rest.strip_prefix(from).is_some_and(ends_component));
        matching.max_by_key(|(from, _)| from.len())
    }

    /// Rewrites the strings in some data. Whether any changed.
    pub(super) fn value(&self, value: &mut Value, to: Direction) -> bool {
        match value {
            Value::String(text) => match self.text(text, to) {
                Cow::Owned(mapped) => {
                    *text = mapped;
                    true
                }
                Cow::Borrowed(_) => false,
            },
            Value::Array(items) => items.iter_mut().fold(false, |any, item| self.value(item, to) | any),
            Value::Object(members) => members.iter_mut().fold(false, |any, (name, member)| {
                let is_literal = LITERAL.contains(&name.as_str()) && !is_file(name, member, to);
                (!is_literal && self.value(member, to)) | any
            }),
            _ => false,
        }
    }

    /// Rewrites the arguments of a call. A relative path of a file that is here, and is there too, becomes absolute.
    pub(super) fn arguments(&self, arguments: &mut Value) -> bool {
        let mut any = false;
        if let Value::Object(members) = arguments {
            for (name, member) in members {
                match member {
                    Value::String(text) if FILES.contains(&name.as_str()) => {
                        if let Some(there) = self.relative(text) {
                            *text = there;
                            any = true;
                        }
                    }
                    Value::Array(_) | Value::Object(_) if name != "args" && name != "env" => {
                        any |= self.arguments(member);
                    }
                    _ => {}
                }
            }
        } else if let Value::Array(items) = arguments {
            for item in items {
                any |= self.arguments(item);
            }
        }
        any
    }

    /// A word of a command line, for the other side.
    pub(super) fn word(&self, word: &str) -> String {
        // In the same folder there, a relative path is the same.
        let relative = if self.folder_there().is_some() { None } else { self.relative(word) };
        relative.unwrap_or_else(|| self.text(word, Direction::There).into_owned())
    }

    /// The path there of a relative path here, which may have a line or a function behind it.
    fn relative(&self, text: &str) -> Option<String> {
        let file = text.split_once(':').map_or(text, |(file, _)| file);
        let path = Path::new(file);
        if path.is_absolute() || file.is_empty() {
            return None;
        }
        let absolute = sources::absolute(&self.folder.join(path));
        if !absolute.exists() {
            return None;
        }
        let absolute = format!("{}{}", absolute.to_str()?, text.get(file.len()..)?);
        match self.text(&absolute, Direction::There) {
            Cow::Owned(there) => Some(there),
            Cow::Borrowed(_) => None,
        }
    }
}

/// Arguments on the way there are paths also where an answer has a value under this name.
fn is_file(name: &str, member: &Value, to: Direction) -> bool {
    to == Direction::There && name == "args" || name == "source" && member.is_object()
}

/// Whether a path before this place could contain this character.
fn is_in_path(char: char) -> bool {
    char.is_alphanumeric() || "_-./~\\".contains(char)
}

/// Whether a component of a path ends where this begins.
fn ends_component(rest: &str) -> bool {
    let mut rest = rest.chars();
    match rest.next() {
        // The end of a sentence, and not of a name such as `app.old`.
        Some('.') => !rest.next().is_some_and(|next| is_in_path(next) && next != '/'),
        Some('/') | None => true,
        Some(next) => !is_in_path(next),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths() -> Paths {
        let mappings = ["/app=/home/me/src", "/app/vendor=/opt/vendor", "/srv/lib=/home/me/lib"];
        Paths::new(mappings.map(|mapping| mapping.parse().unwrap()).to_vec(), "/home/me/src/web".into())
    }

    #[test]
    fn only_whole_components_of_paths_are_rewritten() {
        let table = [
            ("/app/main.py", "/home/me/src/main.py"),
            ("/app", "/home/me/src"),
            (
                "Paused at /app/main.py:12 in f (/app/a b)",
                "Paused at /home/me/src/main.py:12 in f (/home/me/src/a b)",
            ),
            ("File \"/app/main.py\", line 3", "File \"/home/me/src/main.py\", line 3"),
            ("file:///app/main.js:1", "file:///home/me/src/main.js:1"),
            ("A=/app:/srv/lib", "A=/home/me/src:/home/me/lib"),
            ("in /app.", "in /home/me/src."),
            ("/app/vendor/x.py", "/opt/vendor/x.py"),
            (
                "/app-old/x /apple /app.old /x/app /x//app ./app ~/app",
                "/app-old/x /apple /app.old /x/app /x//app ./app ~/app",
            ),
            ("http://host/app", "http://host/app"),
            ("", ""),
            ("ünïcode /app/ü", "ünïcode /home/me/src/ü"),
        ];
        for (there, here) in table {
            assert_eq!(paths().text(there, Direction::Here), here);
            assert_eq!(paths().text(here, Direction::There), there);
        }
    }

    #[test]
    fn values_of_the_program_and_code_stay() {
        let mut answer = json!({
            "message": "Paused at /app/main.py:1",
            "location": { "file": "/app/main.py" },
            "source": "> 1 | open('/app/x')",
            "locals": [{ "name": "path", "value": "'/app/data'" }],
            "lines": [1, true, null],
        });
        assert!(paths().value(&mut answer, Direction::Here));
        let expected = json!({
            "message": "Paused at /home/me/src/main.py:1",
            "location": { "file": "/home/me/src/main.py" },
            "source": "> 1 | open('/app/x')",
            "locals": [{ "name": "path", "value": "'/app/data'" }],
            "lines": [1, true, null],
        });
        assert_eq!(answer, expected);
        assert!(!paths().value(&mut json!({ "value": "/app/x", "n": 1 }), Direction::Here));
        let mut call = json!({ "args": ["/home/me/src/in.txt"], "expression": "f('/home/me/src/x')" });
        assert!(paths().value(&mut call, Direction::There));
        assert_eq!(call, json!({ "args": ["/app/in.txt"], "expression": "f('/home/me/src/x')" }));
    }

    #[test]
    fn a_relative_path_of_a_file_here_is_the_file_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/main.py"), "").unwrap();
        let here = folder.path().join("src");
        let mapping = Mapping::new("/app/", here.to_str().unwrap()).unwrap();
        let paths = Paths::new(vec![mapping.clone()], folder.path().to_owned());
        let mut call = json!({
            "file": "src/main.py", "location": "src/main.py:12", "program": "python3", "name": "src/main.py",
            "args": ["src/main.py"], "breakpoints": [{ "file": "./src/main.py" }],
        });
        assert!(paths.arguments(&mut call));
        let expected = json!({
            "file": "/app/main.py", "location": "/app/main.py:12", "program": "python3", "name": "src/main.py",
            "args": ["src/main.py"], "breakpoints": [{ "file": "/app/main.py" }],
        });
        assert_eq!(call, expected);
        assert_eq!(paths.folder_there(), None);
        assert_eq!(Paths::new(vec![mapping], here).folder_there().as_deref(), Some("/app"));
    }

    #[test]
    fn a_mapping_needs_two_folders() {
        for wrong in ["/app", "app=/src", "/app=", "=/src", "/=/src", "/app=/"] {
            assert!(wrong.parse::<Mapping>().is_err(), "{wrong}");
        }
        let mapping: Mapping = "/app/=src/".parse().unwrap();
        let here = std::env::current_dir().unwrap().join("src").display().to_string();
        assert_eq!(mapping, Mapping { there: "/app".to_owned(), here });
    }
}
