//! Values after the names of credentials in a text: `password = 'x'`, `"apiKey": "x"`, `--token x`, `PASSWORD=x`.
//!
//! An expression finds candidates for such names and the text up to their value; the rest is parsed by hand.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::marked;
use super::names::is_credential;
use super::unquoted::length_of;

/// A name or the end of one, and what leads from it to its value.
const NAMED: &str = r#"(?x-u)
    (?i: passw(?:or)?d | passphrase | passcode | pwd | secret | credential | authorization | cookie | token
       | connection[\ _-]?string | conn_?str
       | (?:access|account|api|auth|client|encryption|private|secret|session|signing)\ key | key )
    [A-Za-z0-9_-]*
    (?:
        \??: [\ ]? [A-Za-z_][A-Za-z0-9_.\[\]]* [\ ]+ = [\ ]*
      | (?: \\* ["'`] )? \]? [\ \t]* (?:is)? (?: !==? | ===? | => | := | = | : ) [\ \t]*
      | \\* ["'`] \s* , \s* \\* ["'`]? (?i:value) \\* ["'`]? \s* [:=] \s*
      | [\ \t]+
    )"#;

static CANDIDATES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(NAMED).ok());

/// A variable of an environment on a command line, alone or as a word in quotes.
static VARIABLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#""--env[ =][A-Za-z0-9_]+=([^"]+)"|--env[ =]["']?[A-Za-z0-9_]+=(?:"([^"]+)"|([^\s"']+))"#)
        .ok()
});

/// How long a name is at most, in bytes.
const LONGEST_NAME: usize = 80;

/// A name in a text, and how it leads to its value.
pub(super) struct Name<'t> {
    /// The name.
    pub(super) text: &'t str,
    /// The text between it and the value, such as `=`; quotes that close the name are part of it.
    pub(super) separator: &'t str,
    /// Nothing but spaces and a dash precedes it in its line.
    pub(super) begins_line: bool,
}

impl Name<'_> {
    /// As variables of an environment are written.
    pub(super) fn is_upper(&self) -> bool {
        !self.text.bytes().any(|byte| byte.is_ascii_lowercase())
    }

    fn is_option(&self) -> bool {
        self.text.starts_with("--")
    }

    /// The rest of the line belongs to it, as in the head of an HTTP message.
    fn is_header(&self) -> bool {
        let name = self.text.trim_start_matches('-').to_ascii_lowercase();
        self.separator.trim() == ":" && (name.ends_with("authorization") || name.ends_with("cookie"))
    }
}

/// The text without such values; none where there are none.
pub(super) fn hide(text: &str) -> Option<String> {
    let variables = hide_variables(text);
    let secrets = named(variables.as_deref().unwrap_or(text));
    if secrets.is_empty() {
        return variables;
    }
    let secrets = secrets.into_iter().map(|(_, secret)| secret).collect();
    Some(marked(variables.as_deref().unwrap_or(text), secrets))
}

/// The text without those values that a rule of names and values takes for secrets, and how many there were.
pub(super) fn hide_if(
    text: &str,
    is_secret: impl Fn(&str, ValueForm, &str) -> bool,
) -> Option<(String, usize)> {
    let hides = |name: &str, secret: &Range<usize>| {
        let form = match text.get(..secret.start).and_then(|before| before.chars().next_back()) {
            Some('{' | '[' | '(') => ValueForm::Container,
            Some('"' | '\'' | '`') => ValueForm::Quoted,
            _ => ValueForm::Bare,
        };
        text.get(secret.clone()).is_some_and(|value| is_secret(name, form, value))
    };
    let secrets = named(text).into_iter().filter(|(name, secret)| hides(name, secret));
    let secrets: Vec<Range<usize>> = secrets.map(|(_, secret)| secret).collect();
    let count = secrets.len();
    (count > 0).then(|| (marked(text, secrets), count))
}

/// What a value in a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueForm {
    /// The text inside quotes.
    Quoted,
    /// Without quotes.
    Bare,
    /// The text inside brackets.
    Container,
}

fn hide_variables(text: &str) -> Option<String> {
    if !text.contains("--env") {
        return None;
    }
    let found = VARIABLE.as_ref()?.captures_iter(text);
    let secrets = found.filter_map(|found| Some(found.iter().skip(1).flatten().next()?.range())).collect();
    Some(marked(text, secrets)).filter(|hidden| hidden != text)
}

/// The names of credentials in a text, and where their values are.
fn named(text: &str) -> Vec<(&str, Range<usize>)> {
    let mut secrets = Vec::new();
    let Some(candidates) = CANDIDATES.as_ref() else { return secrets };
    let mut from = 0;
    while let Some(found) = candidates.find_at(text, from) {
        // A name must not begin inside a value that is hidden.
        let name = name(text, from, found.range());
        from = found.end();
        let Some(name) = name else { continue };
        match value(text, found.end(), &name) {
            Ok(value) => {
                from = value.end.max(from);
                secrets.push((name.text, value));
            }
            Err(end) => from = end.max(from),
        }
    }
    secrets
}

/// The name that a match ends, when it is a credential's.
fn name(text: &str, from: usize, found: Range<usize>) -> Option<Name<'_>> {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let bytes = text.as_bytes();
    let earliest = from.max(found.start.saturating_sub(LONGEST_NAME));
    let before = bytes.get(earliest..found.start)?;
    let mut start = found.start - before.iter().rev().take_while(|byte| is_of_name(**byte)).count();
    let matched = text.get(found.clone())?;
    let length = matched.bytes().take_while(|byte| is_of_name(*byte) || *byte == b' ').count();
    let spaced = matched.get(..length)?.trim_end_matches(' ');
    let spaced = spaced.strip_suffix(" is").unwrap_or(spaced);
    // An escape that is written out is not part of the name after it.
    let is_escaped = start.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'\\');
    if is_escaped && matches!(bytes.get(start), Some(b'n' | b't' | b'r')) && start < found.start {
        start += 1;
    }
    let end = found.start + spaced.len();
    let whole = text.get(start..end)?;
    let name =
        Name { text: whole, separator: text.get(end..found.end)?, begins_line: begins_line(text, start) };
    let is_led = !name.separator.trim().is_empty() || name.is_option();
    (is_led && is_credential(whole.trim_start_matches('-'))).then_some(name)
}

fn begins_line(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let tail: String = before.chars().rev().take(LONGEST_NAME).take_while(|char| *char != '\n').collect();
    let is_short = tail.chars().count() < LONGEST_NAME;
    let rest = tail.trim_matches([' ', '\t', '-', '"', '\'', '{', '#']);
    is_short
        && (rest.is_empty()
            || rest.ends_with("n\\") && rest.len() == tail.trim_start().len()
            || rest == "tropxe")
}

/// Where the value is that begins here, when there is something to hide; else up to where there is nothing.
fn value(text: &str, at: usize, name: &Name<'_>) -> Result<Range<usize>, usize> {
    let rest = text.get(at..).unwrap_or_default();
    let part = |range: Range<usize>| rest.get(range).unwrap_or_default();
    let prefix = rest.bytes().take_while(|byte| matches!(byte, b'b' | b'f' | b'r' | b'u')).take(2).count();
    if let Some(inner) = quoted(rest, prefix).or_else(|| quoted(rest, 0)) {
        let start = inner.start + scheme(part(inner.clone()));
        let is_secret = !is_empty(part(start..inner.end));
        return if is_secret { Ok(at + start..at + inner.end) } else { Err(at + inner.end) };
    }
    if name.is_header() {
        let end = rest.find(['\n', '\r', '"', '\'', '`', '\\']).unwrap_or(rest.len());
        let found = part(0..end).trim_end();
        let start = scheme(found);
        let is_call = found.ends_with([')', ';', '{'])
            || !found.bytes().any(|byte| byte.is_ascii_digit() || byte == b'=');
        let is_secret = !is_call && !is_empty(part(start..found.len()));
        return if is_secret { Ok(at + start..at + found.len()) } else { Err(at + end) };
    }
    if name.separator.starts_with(['"', '\'', '\\', '`']) && rest.starts_with(['{', '[', '(']) {
        let end = if rest.starts_with(super::MARK) { 0 } else { bracketed(rest) };
        return if end > 2 { Ok(at + 1..at + end) } else { Err(at) };
    }
    length_of(rest, name).map(|length| at..at + length).map_err(|length| at + length)
}

/// How long the word is by which a header says how it authorizes.
fn scheme(value: &str) -> usize {
    let schemes = ["bearer ", "basic ", "token ", "digest ", "negotiate ", "apikey ", "bot "];
    let begins =
        |scheme: &&&str| value.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme));
    schemes.iter().find(begins).map_or(0, |scheme| scheme.len())
}

/// Nothing, one of our marks, or a placeholder.
pub(super) fn is_empty(secret: &str) -> bool {
    let inner = secret.trim();
    let placeholder = inner.starts_with(['{', '<']) && inner.ends_with(['}', '>'])
        || inner.starts_with("${") && inner.ends_with('}')
        || inner.len() == 2 && inner.starts_with('%');
    inner.is_empty()
        || inner == super::MARK
        || placeholder && !inner.contains([' ', ':', ','])
        || inner.bytes().all(|byte| matches!(byte, b'*' | b'.'))
        || matches!(inner, "None" | "null" | "undefined" | "True" | "False" | "true" | "false")
}

/// Where the text inside the quotes is that begin after a prefix of this many letters. Without an end it goes as far as
/// the text or, of one line, as the line.
fn quoted(rest: &str, prefix: usize) -> Option<Range<usize>> {
    let behind = rest.get(prefix..)?;
    let escapes = behind.bytes().take_while(|byte| *byte == b'\\').count();
    let quote = *behind.as_bytes().get(escapes)?;
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let single = behind.get(..=escapes)?;
    let triple = behind
        .get(escapes..escapes + 3)
        .filter(|three| escapes == 0 && three.bytes().all(|byte| byte == quote));
    let opening = triple.unwrap_or(single);
    let start = prefix + opening.len();
    let inside = rest.get(start..)?;
    let length = closing(inside, opening, escapes).unwrap_or_else(|| {
        let may_go_on = triple.is_some() || quote == b'`';
        let line = if may_go_on { inside } else { inside.split('\n').next().unwrap_or(inside) };
        uncut(line).len()
    });
    Some(start..start + length)
}

fn closing(inside: &str, opening: &str, escapes: usize) -> Option<usize> {
    let is_one_line = opening.len() == escapes + 1 && !opening.ends_with('`');
    let bytes = inside.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if bytes.get(at..)?.starts_with(opening.as_bytes()) {
            return Some(at);
        }
        match byte {
            b'\n' if is_one_line => return None,
            // What is escaped does not close; where the quotes are escaped themselves, deeper escapes do not.
            b'\\' => {
                let run = bytes.get(at..)?.iter().take_while(|byte| **byte == b'\\').count();
                at += if run > escapes || escapes == 0 { (run + 1) & !1 } else { run };
            }
            _ => at += 1,
        }
    }
    None
}

/// Without the mark of a text that was cut.
fn uncut(text: &str) -> &str {
    let marks = ["... (truncated)", "...", "…"];
    marks.iter().find_map(|mark| text.strip_suffix(mark)).unwrap_or(text)
}

/// Where the last bracket is that closes what begins with one; the end of a text that was cut.
fn bracketed(rest: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    uncut(rest).len()
}
