//! Functions that a statement has: what their parameters are, and what they run when they are called.

use std::ops::Range;

use super::literals::inside;
use super::{Token, closing, from, has_word, is_keyword, parts, tokens};

/// What stands before parentheses and a block without being a function.
const HEADS: [&str; 6] = ["if", "for", "while", "switch", "catch", "with"];

/// Tokens of the type that a function may be said to return.
const MOST_OF_TYPE: usize = 12;

/// A function in a text, by its braces or its arrow.
#[derive(Clone, Debug)]
pub(in crate::ask) struct Function<'a> {
    /// Its parameters.
    head: &'a str,
    /// What it runs.
    pub(in crate::ask) body: &'a str,
    at: Range<usize>,
    is_arrow: bool,
}

/// Where an argument gets its value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ask) struct Taken<'a> {
    pub(in crate::ask) position: usize,
    pub(in crate::ask) part: Part<'a>,
    pub(in crate::ask) has_default: bool,
}

/// What is taken of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ask) enum Part<'a> {
    All,
    Property(&'a str),
    Item(usize),
}

/// The function in a text that has these parameters: the `nth` one that begins on its first line, if so many begin there.
pub(in crate::ask) fn function_of<'a>(
    text: &'a str,
    parameters: &[String],
    nth: usize,
    of: usize,
) -> Option<Function<'a>> {
    let mut found = functions(text);
    found.sort_by_key(|function| function.at.start);
    let first = text.find('\n').unwrap_or(text.len());
    if found.iter().filter(|function| function.at.start < first).count() == of
        && let Some(function) = found.get(nth).filter(|function| function.takes(parameters))
    {
        return Some(function.clone());
    }
    found.into_iter().find(|function| function.takes(parameters))
}

/// A text without what its functions run.
pub(in crate::ask) fn without_functions(text: &str) -> String {
    let mut found = functions(text);
    found.sort_by_key(|function| function.at.start);
    let (mut rest, mut from) = (String::new(), 0);
    for function in found.iter().filter(|function| !function.body.is_empty()) {
        if let Some(before) = text.get(from..function.at.start) {
            rest.push_str(before);
            rest.push_str(if function.is_arrow { "0" } else { "()" });
            from = function.at.end;
        }
    }
    rest + text.get(from..).unwrap_or_default()
}

impl<'a> Function<'a> {
    /// Whether these are its parameters, each with all the variables that it takes apart.
    fn takes(&self, parameters: &[String]) -> bool {
        let written = parts(self.head);
        let names = tokens(self.head);
        let mut names = names.iter().map(|token| token.text);
        written.len() <= parameters.len()
            && written.is_empty() == parameters.is_empty()
            && parameters.iter().all(|parameter| names.any(|name| name == parameter))
    }

    /// How one of its variables gets its value when it is called.
    pub(in crate::ask) fn taken(&self, name: &str) -> Option<Taken<'a>> {
        let parts = parts(self.head);
        let position = parts.iter().position(|part| has_word(part, name))?;
        let written = *parts.get(position)?;
        let all = tokens(written);
        let at = all.iter().rposition(|token| token.text == name)?;
        let text_at = |at: Option<usize>| at.and_then(|at| all.get(at)).map_or("", |token| token.text);
        let next = text_at(Some(at + 1));
        let part = match text_at(Some(0)) {
            "{" if text_at(at.checked_sub(1)) == ":" => {
                Part::Property(at.checked_sub(2).and_then(|at| all.get(at)).map_or("", |token| token.text))
            }
            "{" => Part::Property(all.get(at).map_or("", |token| token.text)),
            "[" => {
                let items = inside(written, ["[", "]"]).unwrap_or_default();
                Part::Item(items.iter().position(|item| has_word(item, name)).unwrap_or(0))
            }
            _ => Part::All,
        };
        let has_default = next == "=" || part == Part::All && all.iter().any(|token| token.text == "=");
        Some(Taken { position, part, has_default })
    }
}

/// All functions of a text. Those in a function come after it.
fn functions(text: &str) -> Vec<Function<'_>> {
    let tokens = tokens(text);
    let function = |at: usize| match tokens.get(at)?.text {
        "=>" => arrow(text, &tokens, at),
        "(" => with_braces(text, &tokens, at),
        _ => None,
    };
    (0..tokens.len()).filter_map(function).collect()
}

/// `(price, count) => price * count`
fn arrow<'a>(text: &'a str, tokens: &[Token<'a>], at: usize) -> Option<Function<'a>> {
    let text_at = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let last = at.checked_sub(1)?;
    let is_type = |close: &usize| text_at(*close) == ")" && text_at(close + 1) == ":";
    let close = if text_at(last) == ")" {
        Some(last)
    } else {
        (at.saturating_sub(MOST_OF_TYPE)..last).rev().find(is_type)
    };
    let open = close.and_then(|close| (0..close).rev().find(|open| closing(tokens, *open) == Some(close)));
    let head = match (open, close) {
        (Some(open), Some(close)) => tokens.get(open)?.at.end..tokens.get(close)?.at.start,
        _ => tokens.get(last)?.at.clone(),
    };
    let begin = tokens.get(open.unwrap_or(last))?.at.start;
    let (body, end) = if text_at(at + 1) == "{" {
        block(text, tokens, at + 1)?
    } else {
        let body = parts(from(text, tokens, at + 1)).first().copied().unwrap_or_default();
        (body, tokens.get(at + 1)?.at.start + body.len())
    };
    Some(Function { head: text.get(head)?, body, at: begin..end, is_arrow: true })
}

/// `total(items) { ... }`, with `function` before it or without.
fn with_braces<'a>(text: &'a str, tokens: &[Token<'a>], open: usize) -> Option<Function<'a>> {
    let text_at = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let before = open.checked_sub(1).and_then(|at| tokens.get(at))?;
    let is_named = before.is_name() && (before.text == "function" || !is_keyword(before.text))
        || matches!(before.text, "]" | "*");
    let close = closing(tokens, open).filter(|_| is_named && !HEADS.contains(&before.text))?;
    let brace = match text_at(close + 1) {
        "{" => close + 1,
        ":" => (close + 2..tokens.len().min(close + MOST_OF_TYPE))
            .take_while(|at| !matches!(text_at(*at), ";" | "=>" | "," | ")"))
            .find(|at| text_at(*at) == "{")?,
        _ => return None,
    };
    let (body, end) = block(text, tokens, brace)?;
    let head = text.get(tokens.get(open)?.at.end..tokens.get(close)?.at.start)?;
    Some(Function { head, body, at: tokens.get(open)?.at.start..end, is_arrow: false })
}

/// What is in braces, and where they end; to the end of the text if they do not.
fn block<'a>(text: &'a str, tokens: &[Token<'_>], open: usize) -> Option<(&'a str, usize)> {
    let begin = tokens.get(open)?.at.end;
    let close = closing(tokens, open).and_then(|close| tokens.get(close));
    let inner = begin..close.map_or(text.len(), |close| close.at.start);
    Some((text.get(inner)?.trim(), close.map_or(text.len(), |close| close.at.end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &str) -> Vec<String> {
        names.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_a_call_runs_of_a_line_is_the_body_of_its_function() {
        let table = [
            ("const sum = q.map((o) => o.total).reduce((a, b) => a + b, 0);", "a b", "a + b"),
            ("const sum = q.map(o => o.total, 1);", "o", "o.total"),
            (
                "total({ price, count: n = 1 }, rate) { return price * n; }",
                "price n rate",
                "return price * n;",
            ),
            ("if (ready) { later(() => { done = true; }); }", "", "done = true;"),
            ("const f = (a: number, b?: string): Map<string, A> => a + 1;", "a b", "a + 1"),
            ("function half(n: number): number { return n / 2; }", "n", "return n / 2;"),
        ];
        for (text, parameters, expected) in table {
            let found = function_of(text, &named(parameters), 0, 1);
            assert_eq!(found.map(|function| function.body), Some(expected), "{text}");
        }
        let twice = "a.filter((x) => x > 1).map((x) => x * 2)";
        let second = function_of(twice, &named("x"), 1, 2);
        assert_eq!(second.map(|function| function.body), Some("x * 2"));
        let inner = function_of("each(() => { a = { now: () => b }; });", &[], 1, 2);
        assert_eq!(inner.map(|function| function.body), Some("b"));
        assert!(function_of("if (a) { b(); }", &named("a"), 0, 1).is_none());
    }

    #[test]
    fn what_a_function_runs_is_no_part_of_the_statement_around_it() {
        let table = [
            ("const sum = q.map((o) => o.total + 1).pop();", "const sum = q.map(0).pop();"),
            ("const acc = { n: total, get v() { return this.n; } };", "const acc = { n: total, get v() };"),
            ("for (const a of b) { c(a); }", "for (const a of b) { c(a); }"),
        ];
        for (text, expected) in table {
            assert_eq!(without_functions(text), expected);
        }
    }

    #[test]
    fn a_parameter_takes_a_value_or_a_part_of_it() {
        let text = "function scale({ width, depth: d = 2 }, factor = 1, [a, b], ...rest) {}";
        let function = function_of(text, &named("width d factor a b rest"), 0, 1).unwrap();
        let table = [
            ("width", 0, Part::Property("width"), false),
            ("d", 0, Part::Property("depth"), true),
            ("factor", 1, Part::All, true),
            ("b", 2, Part::Item(1), false),
            ("rest", 3, Part::All, false),
        ];
        for (name, position, part, has_default) in table {
            assert_eq!(function.taken(name), Some(Taken { position, part, has_default }), "{name}");
        }
    }
}
