//! Command lines and lists of arguments in calls: each may be one text or a list of words.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

use crate::ToolError;
use crate::shell::{self, Token};

/// Marks both in the schema that arguments are read by. It is not listed: the list shows one shape of each.
pub(crate) const WORDS: &str = "words";

/// A command line, as typed or as its words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum CommandLine {
    /// As typed.
    Typed(String),
    /// Its words.
    Words(Vec<String>),
}

/// The arguments of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ArgumentList(pub Vec<String>);

impl CommandLine {
    /// In one text, as a person would type it.
    pub fn typed(&self) -> String {
        match self {
            Self::Typed(text) => text.clone(),
            Self::Words(words) => words.iter().map(|word| shell::quoted(word)).collect::<Vec<_>>().join(" "),
        }
    }

    /// Its words. `next` is what to do about a text that needs a shell.
    pub fn words(&self, next: &str) -> Result<Vec<String>, ToolError> {
        match self {
            Self::Words(words) => Ok(words.clone()),
            Self::Typed(text) => split(text, next),
        }
    }
}

impl From<&str> for CommandLine {
    fn from(text: &str) -> Self {
        Self::Typed(text.to_owned())
    }
}

impl JsonSchema for CommandLine {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "CommandLine".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", WORDS: true })
    }
}

impl JsonSchema for ArgumentList {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ArgumentList".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": { "type": "string" }, WORDS: true })
    }
}

/// What a call gives for one of these, in the shape that it is read from; none if it has no such shape.
pub(crate) fn reshaped(kind: &str, value: &Value) -> Option<Value> {
    match value {
        Value::Array(words) => listed(kind, words),
        Value::String(text) if text.trim_start().starts_with('[') => {
            let words: Option<Vec<Value>> = serde_json::from_str(text).ok();
            words.and_then(|words| listed(kind, &words)).or_else(|| (kind == "string").then(|| value.clone()))
        }
        Value::String(_) if kind == "string" => Some(value.clone()),
        Value::String(text) => {
            shell::tokens(text)?.into_iter().map(|token| token.literal().map(Value::from)).collect()
        }
        Value::Number(_) | Value::Bool(_) if kind == "string" => Some(value.to_string().into()),
        _ => None,
    }
}

/// A list of words. A command begins with a name, not with a number.
fn listed(kind: &str, words: &[Value]) -> Option<Value> {
    let is_named = words.first().is_some_and(Value::is_string);
    if kind == "string" && !is_named {
        return None;
    }
    let word = |word: &Value| match word {
        Value::String(_) => Some(word.clone()),
        Value::Number(_) | Value::Bool(_) => Some(word.to_string().into()),
        _ => None,
    };
    words.iter().map(word).collect()
}

/// Why a text for a list of arguments has no words of its own, and what to do; none if it has.
pub(crate) fn problem(text: &str) -> Option<String> {
    let Some(tokens) = shell::tokens(text) else { return Some("a quote is not closed".to_owned()) };
    let next = "no shell runs here; pass a list of strings";
    tokens.into_iter().find_map(|token| match token {
        Token::Word(word) if word.is_expanded => {
            Some(format!("a shell would expand `{}`; {next}", word.value))
        }
        Token::Word(_) => None,
        Token::Operator { .. } => Some(format!("it has several commands or a redirection; {next}")),
    })
}

/// The words of a command in one text. `next` is what to do about one that needs a shell.
fn split(command: &str, next: &str) -> Result<Vec<String>, ToolError> {
    let problem = |problem: &str| ToolError::argument("command", problem).and(next);
    let tokens = shell::tokens(command).ok_or_else(|| problem("has an unclosed quote"))?;
    if let [Token::Word(change), Token::Word(folder), Token::Operator { redirects: false }, ..] =
        tokens.as_slice()
        && change.value == "cd"
    {
        let folder = &folder.value;
        let rest = command.split_once("&&").map_or("the command", |(_, rest)| rest.trim());
        return Err(ToolError::argument("command", "changes the folder, but no shell runs here")
            .and(&format!("give `cwd`: \"{folder}\" and `command`: \"{rest}\"")));
    }
    let word = |token: Token| match token {
        Token::Word(word) if !word.is_expanded => Ok(word.value),
        Token::Word(word) => {
            Err(problem(&format!("needs a shell to expand `{}`, unless it is in single quotes", word.value)))
        }
        Token::Operator { .. } => Err(problem("needs a shell: it has several commands or a redirection")),
    };
    tokens.into_iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_and_lists_are_read_alike() {
        let table = [
            ("string", json!("pytest -x"), Some(json!("pytest -x"))),
            ("string", json!(["pytest", "-k", "a b"]), Some(json!(["pytest", "-k", "a b"]))),
            ("string", json!(["pytest", "-n", 4]), Some(json!(["pytest", "-n", "4"]))),
            ("string", json!(r#"["pytest", "-x"]"#), Some(json!(["pytest", "-x"]))),
            ("string", json!("[ -f a ]"), Some(json!("[ -f a ]"))),
            ("string", json!([7]), None),
            ("string", json!([]), None),
            ("string", json!([["pytest"]]), None),
            ("string", json!({}), None),
            ("array", json!("-k 'a b' x"), Some(json!(["-k", "a b", "x"]))),
            ("array", json!(r#"["-k", "a b", 1]"#), Some(json!(["-k", "a b", "1"]))),
            ("array", json!(["-k", 1, true]), Some(json!(["-k", "1", "true"]))),
            ("array", json!(""), Some(json!([]))),
            ("array", json!([]), Some(json!([]))),
            ("array", json!("$HOME"), None),
            ("array", json!("a | b"), None),
            ("array", json!("'a"), None),
            ("array", json!("[1"), None),
            ("array", json!([["a"]]), None),
            ("array", json!(7), None),
        ];
        for (kind, value, expected) in table {
            assert_eq!(reshaped(kind, &value), expected, "{kind} {value}");
        }
    }

    #[test]
    fn words_are_typed_with_the_quotes_that_they_need() {
        let words = CommandLine::Words(vec!["pytest".to_owned(), "-k".to_owned(), "a b".to_owned()]);
        assert_eq!(words.typed(), "pytest -k 'a b'");
        assert_eq!(words.words("").unwrap(), CommandLine::from("pytest -k 'a b'").words("").unwrap());
    }

    #[test]
    fn a_text_without_words_of_its_own_has_a_problem() {
        let table = [
            ("a b", None),
            ("'a", Some("a quote is not closed")),
            ("x $HOME", Some("a shell would expand `$HOME`; no shell runs here; pass a list of strings")),
            (
                "a | b",
                Some("it has several commands or a redirection; no shell runs here; pass a list of strings"),
            ),
        ];
        for (text, expected) in table {
            assert_eq!(problem(text).as_deref(), expected, "{text}");
        }
    }
}
