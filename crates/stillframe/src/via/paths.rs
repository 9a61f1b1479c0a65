//! Paths, here and there: what a client says is rewritten for the other side, and what comes back for this one.

mod missing;
mod stack;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use engine::{adapter, sources};
use serde_json::{Map, Value};

use super::mapping::{Mapping, Origin};

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
    /// The folders of mappings there as they are without links, which is how programs name them. Known once connected.
    resolved: OnceLock<Vec<Mapping>>,
    origin: Origin,
    folder: PathBuf,
    /// The other machine, in messages.
    machine: String,
}

/// How a string of an answer is rewritten. One under another name stays as it is: it may be code, or the program's.
#[derive(Clone, Copy)]
enum Rewritten {
    /// It is a path, or has one in it: a command, the name of a test.
    Path,
    /// It is in our words, each path of which is rewritten, except in what they repeat of the program's.
    Words,
    /// It is made of our words and of the program's: a path is rewritten where a line number follows it.
    Places,
}

const PATHS: [&str; 18] = [
    "boundFile",
    "command",
    "coreFile",
    "cwd",
    "defaultExecutable",
    "executablePath",
    "file",
    "files",
    "interpreter",
    "location",
    "missing",
    "path",
    "program",
    "scriptPath",
    "similar",
    "sourceFile",
    "test",
    "until",
];
const WORDS: [&str; 10] = [
    "data",
    "instructions",
    "note",
    "notes",
    "notice",
    "outdated",
    "problem",
    "reason",
    "warning",
    "warnings",
];
const PLACES: [&str; 7] = ["at", "calls", "evidence", "formattedAnalysis", "formattedReport", STACK, "what"];
/// The stack of an exception, which begins with its type and message (V8) or ends with them.
const STACK: &str = "stack";
/// Our words where an answer begins. Further inside, they are those of an exception or of a debugger.
const SENTENCES: [&str; 2] = ["error", "message"];
/// Where answers begin inside others.
const ANSWERS: [&str; 4] = ["context", "data", "request", "response"];
/// Errors that repeat what the program or its language said.
const REPEATED: [&str; 2] = ["bad_expression", "evaluation_failed"];

/// Arguments that name a file, or a place in one. It may be relative to the folder here.
const FILES: [&str; 18] = [
    "at",
    "breakpoint",
    "breakpoints",
    "coreFile",
    "cwd",
    "executablePath",
    "file",
    "from",
    "location",
    "path",
    "points",
    "program",
    "scriptPath",
    "sourceFile",
    "stdinFile",
    "target",
    "to",
    "until",
];
/// Arguments that the program gets. What is relative in them is for the program.
const PASSED: [&str; 3] = ["args", "env", "runtimeArgs"];

impl Paths {
    /// Of several folders that contain a path, the innermost applies, and of several mappings of that the first.
    pub(super) fn new(mappings: Vec<Mapping>, folder: PathBuf) -> Self {
        Self { mappings, folder, ..Self::default() }
    }

    /// The same on this machine.
    pub(super) fn on(self, machine: &impl fmt::Display, origin: Origin) -> Self {
        Self { machine: machine.to_string(), origin, ..self }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.mappings.is_empty()
    }

    /// The mappings in words: `/app there is /home/me/src here`.
    pub(super) fn describe(&self) -> String {
        let each = self.mappings.iter();
        let each = each.map(|Mapping { there, here }| {
            if there == here {
                format!("`{there}` on both")
            } else {
                format!("`{there}` there is `{here}` here")
            }
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// The folder there that this folder is, if a mapping has it.
    pub(super) fn folder_there(&self) -> Option<String> {
        let here = self.folder.to_str()?;
        owned(self.text(here, Direction::There))
    }

    /// A text with its paths rewritten.
    pub(super) fn text<'t>(&self, text: &'t str, to: Direction) -> Cow<'t, str> {
        self.rewritten(text, to, |_| true)
    }

    /// A text with those of its paths rewritten whose rest is as it should be.
    fn rewritten<'t>(&self, text: &'t str, to: Direction, is_meant: impl Fn(&str) -> bool) -> Cow<'t, str> {
        let mut done = String::new();
        // How much of the text is in `done`.
        let mut copied = 0;
        let mut at = 0;
        while let Some(rest) = text.get(at..) {
            let Some(slash) = rest.find('/') else { break };
            at += slash;
            let prefix = self.prefix(text, at, to);
            match prefix.filter(|(from, _)| text.get(at + from.len()..).is_some_and(&is_meant)) {
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
        let resolved = self.resolved.get().into_iter().flatten().filter(|_| to == Direction::Here);
        let sides = self.mappings.iter().chain(resolved).map(|mapping| match to {
            Direction::There => (mapping.here.as_str(), mapping.there.as_str()),
            Direction::Here => (mapping.there.as_str(), mapping.here.as_str()),
        });
        let matching = sides.filter(|(from, _)| rest.strip_prefix(from).is_some_and(ends_component));
        // The last of several that are equally long would win.
        matching.rev().max_by_key(|(from, _)| from.len())
    }

    /// Rewrites an answer from there. Whether anything changed.
    pub(super) fn answer(&self, answer: &mut Value) -> bool {
        let mut literals = Vec::new();
        self.literals(answer, true, &mut literals);
        self.answered(answer, true, &literals)
    }

    fn answered(&self, value: &mut Value, begins: bool, literals: &[String]) -> bool {
        let Value::Object(members) = value else { return self.items(value, None, literals) };
        let repeats = repeats(members);
        let message = members.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
        members.iter_mut().fold(false, |any, (name, member)| {
            let changed = if member.is_object() {
                self.answered(member, begins && ANSWERS.contains(&name.as_str()), literals)
            } else if let (STACK, Value::String(text)) = (name.as_str(), &mut *member) {
                let places = |text: &str| self.places(text);
                let mapped = match stack::message_in(text, &message) {
                    Some(kept) => beside(text, kept, &places, &places),
                    None => places(text),
                };
                mapped.map(|mapped| *text = mapped).is_some()
            } else {
                self.items(member, rewritten(name, begins, repeats), literals)
            };
            changed | any
        })
    }

    /// Rewrites a string, or those of a list.
    fn items(&self, value: &mut Value, rewritten: Option<Rewritten>, literals: &[String]) -> bool {
        match value {
            Value::String(text) => {
                let mapped = match rewritten {
                    Some(Rewritten::Path) => owned(self.text(text, Direction::Here)),
                    Some(Rewritten::Words) => around(text, literals, &|text| owned(self.words(text))),
                    Some(Rewritten::Places) => self.places(text),
                    None => None,
                };
                mapped.map(|mapped| *text = mapped).is_some()
            }
            Value::Array(items) => {
                items.iter_mut().fold(false, |any, item| self.items(item, rewritten, literals) | any)
            }
            Value::Object(_) => self.answered(value, false, literals),
            _ => false,
        }
    }

    /// Collects what stays as it is although it says a path: a message may repeat it.
    fn literals(&self, value: &Value, begins: bool, found: &mut Vec<String>) {
        let Value::Object(members) = value else { return self.literal_items(value, None, found) };
        let repeats = repeats(members);
        for (name, member) in members {
            if member.is_object() {
                self.literals(member, begins && ANSWERS.contains(&name.as_str()), found);
            } else {
                self.literal_items(member, rewritten(name, begins, repeats), found);
            }
        }
    }

    fn literal_items(&self, value: &Value, rewritten: Option<Rewritten>, found: &mut Vec<String>) {
        match value {
            Value::String(text) if rewritten.is_none() => {
                if matches!(self.text(text, Direction::Here), Cow::Owned(_)) {
                    found.push(text.clone());
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.literal_items(item, rewritten, found)),
            Value::Object(_) => self.literals(value, false, found),
            _ => {}
        }
    }

    /// A text from there in which only paths with a line are rewritten. None if there are none.
    pub(super) fn places(&self, text: &str) -> Option<String> {
        owned(self.rewritten(text, Direction::Here, |rest| {
            // The path ends at the first character that would be quoted or is none of a name.
            rest.find(['\n', '"', '\'', '`', ':', '(', ')'])
                .is_some_and(|end| rest.get(end..).is_some_and(has_line))
        }))
    }

    /// Rewrites the arguments of a call. A relative path of a file that is here, and is there too, becomes absolute.
    pub(super) fn arguments(&self, arguments: &mut Value) -> bool {
        let Value::Object(members) = arguments else { return false };
        // With a folder of its own, a command is relative to that.
        let is_here = !members.contains_key("cwd") && self.folder_there().is_none();
        members.iter_mut().fold(false, |any, (name, member)| {
            let name = name.as_str();
            let changed = if name == "command" {
                strings(member, &mut |text| Some(self.command(text, is_here)).filter(|new| new != text))
            } else if PASSED.contains(&name) {
                strings(member, &mut |text| owned(self.text(text, Direction::There)))
            } else {
                self.argument(member, FILES.contains(&name))
            };
            changed | any
        })
    }

    fn argument(&self, value: &mut Value, is_file: bool) -> bool {
        match value {
            Value::String(text) if is_file => {
                let is_absolute = text.starts_with('/') || text.starts_with("file:");
                let mapped =
                    if is_absolute { owned(self.text(text, Direction::There)) } else { self.relative(text) };
                mapped.map(|mapped| *text = mapped).is_some()
            }
            Value::Array(items) => {
                items.iter_mut().fold(false, |any, item| self.argument(item, is_file) | any)
            }
            Value::Object(_) => self.arguments(value),
            _ => false,
        }
    }

    /// A command line, or a word of one.
    fn command(&self, text: &str, is_here: bool) -> String {
        let words = text.split_inclusive(char::is_whitespace).map(|word| {
            let name = word.trim_end();
            let relative = self.relative(name).filter(|_| is_here);
            let mapped = relative.map_or_else(|| self.text(name, Direction::There), Cow::Owned);
            format!("{mapped}{}", word.get(name.len()..).unwrap_or_default())
        });
        words.collect()
    }

    /// A word of one of our commands, for the other side: a source is named in full, wherever the command starts.
    pub(super) fn place(&self, word: &str) -> String {
        let file = word.split_once(':').map_or(word, |(file, _)| file);
        let is_source = adapter::by_extension(Path::new(file)).is_some();
        let named = if is_source { self.relative(word) } else { None };
        named.unwrap_or_else(|| self.word(word))
    }

    /// A word of a command line, for the other side.
    pub(super) fn word(&self, word: &str) -> String {
        // In the same folder there, a relative path is the same.
        let relative = if self.folder_there().is_some() { None } else { self.relative(word) };
        relative.unwrap_or_else(|| self.text(word, Direction::There).into_owned())
    }

    /// The path there of a relative path here, which may have a line or a function after it.
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
        owned(self.text(&absolute, Direction::There))
    }
}

/// A text from there, which may repeat what stays as it is, with the rest of it rewritten. None if nothing changes.
fn around(text: &str, literals: &[String], rewrite: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let place = |literal: &String| {
        let mut places = text.match_indices(literal.as_str()).map(|(at, _)| (at, at + literal.len()));
        // A path that continues or has a line is not the value, even if the program has one that begins so.
        places.find(|(_, end)| text.get(*end..).is_some_and(is_repeated))
    };
    let literals_here = literals.iter().filter(|literal| !literal.is_empty());
    let Some((at, end)) = literals_here.filter_map(place).min() else { return rewrite(text) };
    beside(text, at..end, rewrite, &|rest| around(rest, literals, rewrite))
}

/// A text with what is before and behind a part of it rewritten. None if nothing changes.
fn beside(
    text: &str,
    kept: Range<usize>,
    rewrite_before: &dyn Fn(&str) -> Option<String>,
    rewrite_after: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let (before, after) = (text.get(..kept.start)?, text.get(kept.end..)?);
    let (new_before, new_after) = (rewrite_before(before), rewrite_after(after));
    if new_before.is_none() && new_after.is_none() {
        return None;
    }
    let (before, after) = (new_before.as_deref().unwrap_or(before), new_after.as_deref().unwrap_or(after));
    Some(format!("{before}{}{after}", text.get(kept)?))
}

/// How the string under a name is rewritten, or those of a list.
fn rewritten(name: &str, begins: bool, repeats: bool) -> Option<Rewritten> {
    match name {
        _ if SENTENCES.contains(&name) => (begins && !repeats).then_some(Rewritten::Words),
        _ if PATHS.contains(&name) => Some(Rewritten::Path),
        _ if WORDS.contains(&name) => Some(Rewritten::Words),
        _ if PLACES.contains(&name) => Some(Rewritten::Places),
        _ => None,
    }
}

/// Whether paths are rewritten under a name, wherever it is in an answer.
pub(super) fn is_rewritten(name: &str) -> bool {
    rewritten(name, false, false).is_some()
}

/// Whether an answer is an error that is not in our words.
fn repeats(answer: &Map<String, Value>) -> bool {
    answer.get("code").and_then(Value::as_str).is_some_and(|code| REPEATED.contains(&code))
}

/// Whether a path that ends here has a line: `a.py:3`, `"a.py", line 3`, `a.php(3)`.
fn has_line(rest: &str) -> bool {
    let begins = [":", "(", "\", line "];
    let number = begins.iter().find_map(|begin| rest.strip_prefix(begin));
    number.is_some_and(|number| number.starts_with(|char: char| char.is_ascii_digit()))
}

/// Whether a value ends where this begins.
fn is_repeated(rest: &str) -> bool {
    ends_component(rest) && !rest.starts_with('/') && !has_line(rest)
}

fn owned(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Owned(text) => Some(text),
        Cow::Borrowed(_) => None,
    }
}

/// Rewrites each string of some data. Whether any changed.
fn strings(value: &mut Value, rewrite: &mut impl FnMut(&str) -> Option<String>) -> bool {
    match value {
        Value::String(text) => rewrite(text).map(|new| *text = new).is_some(),
        Value::Array(items) => items.iter_mut().fold(false, |any, item| strings(item, rewrite) | any),
        Value::Object(members) => members.values_mut().fold(false, |any, item| strings(item, rewrite) | any),
        _ => false,
    }
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
        let message = "Paused at /app/main.py:1 in f (exception E: /app/x:3 is gone)";
        let gone = "/app/x:3 is gone";
        let stack = "  File \"/app/main.py\", line 1\n    open('/app/x')\nE: /app/x:3 is gone";
        let mut answer = json!({
            "message": message,
            "location": { "file": "/app/main.py" },
            "source": "> 1 | open('/app/x')",
            "exception": { "type": "E", "message": gone, "stack": stack },
            "locals": [{ "name": "path", "value": "'/app/data'" }],
            "changed": [{ "name": "path", "old": "'/app/a'", "new": "'/app/b'" }],
            "notes": ["see /app/lib"],
            "lines": [1, true, null],
            "anything": { "new": ["/app/x.py:3", "/app", "/app/main.py"] },
        });
        let mut expected = answer.clone();
        expected["message"] = json!(message.replace("/app/main.py", "/home/me/src/main.py"));
        expected["location"]["file"] = json!("/home/me/src/main.py");
        expected["exception"]["stack"] = json!(stack.replace("/app/main.py", "/home/me/src/main.py"));
        expected["notes"] = json!(["see /home/me/src/lib"]);
        assert!(paths().answer(&mut answer));
        assert_eq!(answer, expected);
        assert!(!paths().answer(&mut json!({ "value": "/app/x", "n": 1 })));
        let mut raised = json!({ "success": false, "code": "evaluation_failed", "error": "no /app/x" });
        assert!(!paths().answer(&mut raised));
        let mut call = json!({ "args": ["/home/me/src/in.txt"], "expression": "f('/home/me/src/x')" });
        assert!(paths().arguments(&mut call));
        assert_eq!(call, json!({ "args": ["/app/in.txt"], "expression": "f('/home/me/src/x')" }));
    }

    #[test]
    fn of_mixed_texts_only_places_are_rewritten() {
        let table = [
            ("f at /app/a.py:3", "f at /home/me/src/a.py:3"),
            ("at f (file:///app/a.js:3:1)", "at f (file:///home/me/src/a.js:3:1)"),
            ("#0 /app/a b.php(3): f('/app/x')", "#0 /home/me/src/a b.php(3): f('/app/x')"),
            ("path = '/app/a.py'; /app/x: gone", "path = '/app/a.py'; /app/x: gone"),
        ];
        for (there, here) in table {
            assert_eq!(paths().places(there).as_deref().unwrap_or(there), here);
        }
    }

    #[test]
    fn a_source_on_our_command_line_is_named_in_full() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("main.py"), "").unwrap();
        std::fs::write(folder.path().join("total"), "").unwrap();
        let mapping = Mapping::new("/app", folder.path().to_str().unwrap()).unwrap();
        let paths = Paths::new(vec![mapping], folder.path().to_owned());
        for (word, expected) in [("main.py:3", "/app/main.py:3"), ("total", "total"), ("none.py", "none.py")]
        {
            assert_eq!(paths.place(word), expected);
        }
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
            "args": ["src/main.py"], "breakpoints": [{ "file": "./src/main.py" }], "until": ["src/main.py:3"],
            "command": "python3 src/main.py::f",
        });
        assert!(paths.arguments(&mut call));
        let expected = json!({
            "file": "/app/main.py", "location": "/app/main.py:12", "program": "python3", "name": "src/main.py",
            "args": ["src/main.py"], "breakpoints": [{ "file": "/app/main.py" }], "until": ["/app/main.py:3"],
            "command": "python3 /app/main.py::f",
        });
        assert_eq!(call, expected);
        assert_eq!(paths.folder_there(), None);
        assert_eq!(Paths::new(vec![mapping], here).folder_there().as_deref(), Some("/app"));
    }
}
