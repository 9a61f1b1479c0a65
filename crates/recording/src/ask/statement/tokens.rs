//! The words, signs and texts of a statement.

use std::ops::Range;

/// Words that are no variables.
const KEYWORDS: &str = " and as async assert await break case catch class const continue def delete do elif else except \
    export extends False finally for from function global if import in instanceof is lambda let new None nonlocal not \
    null of or pass raise return static super switch throw True true false try typeof undefined var void while with \
    yield ";

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&format!(" {word} "))
}

/// Whether a token assigns, other than an argument by its name or a default.
pub(super) fn is_assignment(tokens: &[Token<'_>], at: usize) -> bool {
    let sign = tokens.get(at).map_or("", |token| token.text);
    let assigns = sign == "="
        || sign.len() > 1
            && sign.ends_with('=')
            && !matches!(sign, "==" | "===" | "!=" | "!==" | "<=" | ">=");
    assigns && (sign != "=" || depth(tokens, at) == 0)
}

/// How many round or square brackets are open before a token. Braces are blocks as often as not.
fn depth(tokens: &[Token<'_>], at: usize) -> i32 {
    tokens
        .iter()
        .take(at)
        .map(|token| i32::from(matches!(token.text, "(" | "[")) - i32::from(matches!(token.text, ")" | "]")))
        .sum()
}

/// The bracket that is open before a token; empty outside of all.
pub(super) fn bracket_around<'a>(tokens: &[Token<'a>], at: usize) -> &'a str {
    let mut open = 0;
    for token in tokens.iter().take(at).rev() {
        open += token.opens();
        if open > 0 {
            return token.text;
        }
    }
    ""
}

/// The text from a token until the statement or the bracket around it ends.
pub(super) fn from<'a>(text: &'a str, tokens: &[Token<'_>], at: usize) -> &'a str {
    let begin = tokens.get(at).map_or(text.len(), |token| token.at.start);
    let mut open = 0;
    for token in tokens.iter().skip(at) {
        open += token.opens();
        if open < 0 || open == 0 && token.text == ";" {
            return text.get(begin..token.at.start).unwrap_or_default().trim();
        }
    }
    text.get(begin..).unwrap_or_default().trim().trim_end_matches(':')
}

/// The parts between commas that are in no brackets.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut open, mut begin) = (0, 0);
    for token in tokens(text) {
        open += token.opens();
        if open == 0 && token.text == "," {
            found.push(text.get(begin..token.at.start).unwrap_or_default().trim());
            begin = token.at.end;
        }
    }
    found.push(text.get(begin..).unwrap_or_default().trim());
    found.retain(|part| !part.is_empty());
    found
}

/// The token that closes a bracket.
pub(super) fn closing(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut open = 0;
    for (at, token) in tokens.iter().enumerate().skip(at) {
        open += token.opens();
        if open == 0 {
            return Some(at);
        }
    }
    None
}

#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) at: Range<usize>,
}

impl Token<'_> {
    pub(super) fn is_name(&self) -> bool {
        self.text.starts_with(|letter: char| letter.is_alphabetic() || "_$#".contains(letter))
    }

    /// How many brackets it opens: -1 if it closes one.
    pub(super) fn opens(&self) -> i32 {
        match self.text {
            "(" | "[" | "{" => 1,
            ")" | "]" | "}" => -1,
            _ => 0,
        }
    }
}

/// Longer ones first.
const SIGNS: [&str; 30] = [
    "===", "!==", "**=", "//=", "<<=", ">>=", "??=", "&&=", "||=", "...", "==", "!=", "<=", ">=", "=>", "+=",
    "-=", "*=", "/=", "%=", "@=", "&=", "|=", "^=", ":=", "?.", "??", "&&", "||", "**",
];

/// The words and signs of a text. A string is left out, except for the expressions in it.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    collect(text, 0, &mut found);
    found
}

fn collect<'a>(whole: &'a str, offset: usize, found: &mut Vec<Token<'a>>) {
    let mut at = offset;
    while let Some(rest) = whole.get(at..)
        && let Some(first) = rest.chars().next()
    {
        let end = |is_part: &dyn Fn(char) -> bool| rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let is_word = |c: char| c.is_alphanumeric() || "_$#".contains(c);
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let length = if first.is_alphabetic() || "_$#".contains(first) {
            end(&is_word)
        } else if first.is_ascii_digit() {
            end(&|c| c.is_ascii_alphanumeric() || c == '.' || c == '_')
        } else if matches!(first, '\'' | '"' | '`') {
            at += string(whole, at, first, found);
            continue;
        } else {
            SIGNS.iter().find(|sign| rest.starts_with(**sign)).map_or(first.len_utf8(), |sign| sign.len())
        };
        found.push(Token { text: rest.get(..length).unwrap_or_default(), at: at..at + length });
        at += length;
    }
}

/// Reads a string, and returns its length with its quotes. The expressions in it become tokens in brackets.
fn string<'a>(whole: &'a str, at: usize, quote: char, found: &mut Vec<Token<'a>>) -> usize {
    let prefix = found
        .last()
        .filter(|token| token.at.end == at && token.text.len() <= 2)
        .map(|token| token.text.to_ascii_lowercase());
    let is_formatted = prefix.as_deref().is_some_and(|prefix| prefix.contains('f'));
    if prefix.is_some_and(|prefix| prefix.chars().all(|letter| "fbru".contains(letter))) {
        found.pop();
    }
    let rest = whole.get(at..).unwrap_or_default();
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    let marks = if rest.starts_with(&triple) { 3 } else { 1 };
    let close = rest.get(..marks).unwrap_or_default();
    let mut next = marks;
    while let Some(left) = rest.get(next..).filter(|left| !left.is_empty()) {
        if left.starts_with(close) {
            return next + marks;
        }
        let opening = if quote == '`' { "${" } else { "{" };
        if (is_formatted || quote == '`') && left.starts_with(opening) && !left.starts_with("{{") {
            let begin = next + opening.len();
            let length = left.find('}').unwrap_or(left.len());
            let inner = at + begin..at + next + length;
            if let Some(expression) = whole.get(..inner.end) {
                found.push(Token { text: "(", at: inner.start..inner.start });
                collect(expression, inner.start, found);
                found.push(Token { text: ")", at: inner.end..inner.end });
            }
            next += length;
            continue;
        }
        let escaped = left.starts_with('\\');
        next += left.chars().take(1 + usize::from(escaped)).map(char::len_utf8).sum::<usize>();
    }
    rest.len()
}
