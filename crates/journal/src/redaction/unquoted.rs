//! Values without quotes: those of a file of settings, of a command line, of an environment, and not those of code.

use super::assignments::{Name, is_empty};
use super::names::is_credential;

/// What annotations and literals are, and no secrets.
const WORDS_OF_CODE: &[&str] = &[
    "any",
    "async",
    "await",
    "bool",
    "boolean",
    "bytes",
    "char",
    "dict",
    "false",
    "function",
    "int",
    "integer",
    "lambda",
    "list",
    "nan",
    "never",
    "new",
    "nil",
    "none",
    "not",
    "null",
    "number",
    "object",
    "optional",
    "required",
    "self",
    "str",
    "string",
    "this",
    "true",
    "type",
    "undefined",
    "unknown",
    "void",
];
/// Objects that code reads settings from.
const ROOTS: &[&str] = &[
    "args", "config", "context", "ctx", "data", "env", "options", "opts", "os", "process", "props", "req",
    "request", "self", "settings", "state", "sys", "this", "user",
];

/// Longer values, in bytes, are checked once.
const LONG: usize = 200;

/// How long the value is that begins the text, in bytes, when it is one to hide; else how much of it is known to hold
/// nothing.
pub(super) fn length_of(rest: &str, name: &Name<'_>) -> Result<usize, usize> {
    let separator = name.separator.trim_start_matches(['"', '\'', '`', '\\', ']']);
    let is_environment = separator == "=" && name.begins_line && name.is_upper();
    let mut end = run(rest, is_environment);
    // What was hidden inside the value before does not end it.
    while rest.get(end..).is_some_and(|behind| end > 0 && behind.starts_with(super::MARK)) {
        end += super::MARK.len();
        end += run(rest.get(end..).unwrap_or_default(), is_environment);
    }
    let found = rest.get(..end).unwrap_or_default();
    let found = if is_environment { found } else { found.trim_end_matches('.') };
    let behind = rest.get(found.len()..).unwrap_or_default();
    let is_secret = !(is_empty(found)
        || separator.contains("==")
        || separator.starts_with('!')
        || name.text.starts_with("--") && found.starts_with('-')
        || is_harmless(found)
        || !is_environment && is_code(found, behind, separator, name));
    // In what is short there may be another name; what is long must not be read again and again.
    if is_secret { Ok(found.len()) } else { Err(if end > LONG { end } else { 0 }) }
}

/// How far a value goes.
fn run(rest: &str, is_environment: bool) -> usize {
    let ends = |char: char| {
        char.is_whitespace()
            || matches!(char, '"' | '\'' | '`')
            || !is_environment
                && matches!(char, ',' | ';' | '&' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '|')
    };
    let bytes = rest.as_bytes();
    let is_escape = |at: usize| {
        bytes.get(at) == Some(&b'\\')
            && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't' | b'"' | b'\'' | b'\\') | None)
    };
    rest.char_indices().find(|(at, char)| ends(*char) || is_escape(*at)).map_or(rest.len(), |(at, _)| at)
}

/// Short numbers, and words of languages.
fn is_harmless(found: &str) -> bool {
    let is_number =
        found.len() <= 3 && found.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'-');
    let is_shell = found.starts_with('$')
        && found.bytes().skip(1).all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_number || is_shell || WORDS_OF_CODE.binary_search(&found.to_ascii_lowercase().as_str()).is_ok()
}

/// Whether this is an expression or prose rather than a literal value.
fn is_code(found: &str, behind: &str, separator: &str, name: &Name<'_>) -> bool {
    let next = behind.chars().next();
    let line = behind.trim_start_matches([' ', '\t']);
    let is_last = line.is_empty() || line.starts_with(['\n', '\r']);
    let is_spaced = separator != "=" && separator != ":";
    let is_path = !found.is_empty()
        && found
            .split(['.', ':', '?', '!'])
            .all(|part| part.chars().all(|char| char.is_alphanumeric() || char == '_'))
        && !found.starts_with(|char: char| char.is_ascii_digit());
    if found.starts_with('&') && separator.starts_with(':') {
        return true;
    }
    if !is_path {
        return matches!(found.as_bytes(), [b'+' | b'-' | b'*' | b'/' | b'|' | b'%' | b'!' | b'=' | b'~' | b':', ..] if found.len() <= 2);
    }
    if matches!(next, Some('(' | '[')) || next == Some('{') && is_spaced {
        return true;
    }
    let has_digits = found.bytes().any(|byte| byte.is_ascii_digit());
    let first = found.split(['.', '?', '!']).next().unwrap_or_default();
    if found.contains('.')
        && (ROOTS.contains(&first) || is_spaced && !has_digits || is_credential(last_of(found)))
    {
        return true;
    }
    let is_reference = is_credential(last_of(found));
    if is_reference && (matches!(next, Some(',' | ')' | ';' | '}')) || is_last && is_spaced) {
        return true;
    }
    if has_digits {
        return false;
    }
    if separator.trim_end() == ":" {
        // `password: swordfish` in a file of settings, but not `invalid token: expected a word`.
        return !(name.begins_line && is_last);
    }
    is_spaced && !is_last && !name.text.starts_with("--")
}

fn last_of(path: &str) -> &str {
    path.rsplit(['.', ':', '?', '!']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_for_binary_search() {
        assert!(WORDS_OF_CODE.is_sorted());
    }
}
