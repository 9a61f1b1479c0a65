//! Loops whose head and body are on one line, and those that count.

use std::ops::RangeInclusive;

use super::{Read, Token, Value, closing, from, has_word, is_assignment, names, parts, tokens, value_of};

/// What follows the head of a `for` on the same line, if it gives the name its value and not the head.
pub(super) fn loop_body<'a>(text: &'a str, tokens: &[Token<'_>], name: &str) -> Option<&'a str> {
    let close = end_of_head(tokens)?;
    if is_of_head(tokens, close, name) {
        return None;
    }
    text.get(tokens.get(close)?.at.end..).map(str::trim).filter(|body| *body != "{")
}

/// Whether a part of the body of a `for` on one line reads a variable that only its head gives a value.
pub(in crate::ask) fn reads_of_head(text: &str, part: &str) -> bool {
    let tokens = tokens(text);
    end_of_head(&tokens).is_some_and(|close| names(part).iter().any(|name| is_of_head(&tokens, close, name)))
}

/// What a `for` iterates over; none if it counts.
pub(super) fn gone_through<'a>(text: &'a str, tokens: &[Token<'_>]) -> Option<&'a str> {
    let is_loop = tokens.iter().find(|token| token.text != "async").is_some_and(|token| token.text == "for");
    let end = end_of_head(tokens).filter(|_| is_loop);
    let head = end.and_then(|end| tokens.get(..end)).unwrap_or(tokens);
    let begin = head.iter().position(|token| matches!(token.text, "in" | "of"))?;
    let length = end.and_then(|end| tokens.get(end)).map_or(text.len(), |end| end.at.start);
    is_loop.then(|| from(text.get(..length).unwrap_or(text), head, begin + 1))
}

/// The last token of the head of a `for` with something after it: the parenthesis, or the colon of Python.
fn end_of_head(tokens: &[Token<'_>]) -> Option<usize> {
    tokens.first().filter(|token| token.text == "for")?;
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.text == text);
    let close = (1..=2).find(|at| is(*at, "(")).and_then(|open| closing(tokens, open));
    let mut end = close.filter(|close| !is(close + 1, "in") && !is(close + 1, ",")).unwrap_or(0);
    if end == 0 {
        while !is(end, ":") {
            end = closing(tokens, end).unwrap_or(end) + 1;
            tokens.get(end)?;
        }
    }
    (end + 1 < tokens.len()).then_some(end)
}

/// Whether the head of a loop has a name, and its body does not assign to it.
fn is_of_head(tokens: &[Token<'_>], close: usize, name: &str) -> bool {
    let is_name = |at: usize| tokens.get(at).is_some_and(|token| token.text == name);
    let is_assigned = |at: usize| is_assignment(tokens, at) && is_name(at - 1);
    name != "]" && (0..close).any(is_name) && !(close + 2..tokens.len()).any(is_assigned)
}

/// What the head of a loop that counts, as `for (let i = 0; i < most; i++)`, gives a variable first, or in each round;
/// none if it does not.
pub(in crate::ask) fn loop_step<'a>(text: &'a str, name: &str, is_first: bool) -> Option<Value<'a>> {
    let tokens = tokens(text);
    let open = tokens.iter().position(|token| token.text == "(").filter(|open| *open == 1)?;
    let is_loop = tokens.first()?.text == "for" && loop_body(text, &tokens, name).is_none();
    let close = closing(&tokens, open).filter(|_| is_loop)?;
    let ends = |at: &usize| tokens.get(*at).is_some_and(|token| token.text == ";");
    let ends: Vec<usize> = (open..close).filter(ends).collect();
    let [first, second] = ends.as_slice() else { return None };
    let begin = if is_first { open + 1 } else { second + 1 };
    let end = if is_first { *first } else { close };
    let whole = text.get(tokens.get(begin)?.at.start..tokens.get(end)?.at.start)?.trim();
    let begins = |part: &&str| names(part).first() == Some(&name);
    let part = if is_first { whole } else { parts(whole).into_iter().find(begins)? };
    let value = value_of(part, name);
    let is_assigned = value.text.len() < part.len();
    let step = if is_assigned { value } else { Value { text: "1", is_compound: true, ..Value::of(part) } };
    has_word(part, name).then_some(step)
}

/// A `for` in an expression, with the variables that are its own.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::ask) struct Comprehension<'a> {
    pub(in crate::ask) variables: Vec<&'a str>,
    /// What is iterated over.
    pub(in crate::ask) over: &'a str,
    /// What must hold for an item.
    pub(in crate::ask) filter: Option<&'a str>,
}

/// The comprehensions in an expression.
pub(in crate::ask) fn comprehended(text: &str) -> Vec<Comprehension<'_>> {
    let tokens = tokens(text);
    (1..tokens.len()).filter_map(|at| comprehension(text, &tokens, at)).collect()
}

/// The comprehensions in a statement, each with the lines of the bracket that it is in, from 0. A `for` that is in none
/// is that of a loop.
pub(in crate::ask) fn comprehensions_by_line(text: &str) -> Vec<(RangeInclusive<usize>, Comprehension<'_>)> {
    let tokens = tokens(text);
    let line = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count();
    let line_of = |at: usize| tokens.get(at).map_or(0, |token| line(token.at.start));
    let bracketed = |at: usize| {
        let comprehension = comprehension(text, &tokens, at)?;
        let open = (0..at).rev().find(|open| opens_before(&tokens, *open, at))?;
        let close = closing(&tokens, open).unwrap_or(tokens.len());
        Some((line_of(open)..=line_of(close - 1), comprehension))
    };
    (1..tokens.len()).filter_map(bracketed).collect()
}

/// Whether a token opens a bracket that another one is in.
fn opens_before(tokens: &[Token<'_>], open: usize, at: usize) -> bool {
    tokens.get(open..at).is_some_and(|between| {
        between.first().is_some_and(|first| first.opens() > 0)
            && between.iter().map(Token::opens).sum::<i32>() > 0
    })
}

/// The comprehension whose `for` a token is.
fn comprehension<'a>(text: &'a str, tokens: &[Token<'_>], at: usize) -> Option<Comprehension<'a>> {
    tokens.get(at).filter(|token| token.text == "for")?;
    let rest = tokens.get(at + 1..).unwrap_or_default();
    let middle = rest.iter().position(|token| token.text == "in")?;
    let (over, end) = clause(text, tokens, at + middle + 2);
    let is_filtered = tokens.get(end).is_some_and(|token| token.text == "if");
    let filter = is_filtered.then(|| clause(text, tokens, end + 1).0);
    let variables = rest.iter().take(middle).filter(|token| token.is_name());
    let variables = variables.filter_map(|token| text.get(token.at.clone())).collect();
    Some(Comprehension { variables, over, filter })
}

/// What stands from a token to the next clause of a comprehension or to its end, and where that is.
fn clause<'a>(text: &'a str, tokens: &[Token<'_>], begin: usize) -> (&'a str, usize) {
    let mut open = 0;
    let ends = |token: &Token<'_>| {
        open += token.opens();
        open < 0 || open == 0 && matches!(token.text, "if" | "for" | "async" | ",")
    };
    let rest = tokens.get(begin..).unwrap_or_default();
    let end = begin + rest.iter().position(ends).unwrap_or(rest.len());
    let at = |token: usize| tokens.get(token).map_or(text.len(), |token| token.at.start);
    (text.get(at(begin)..at(end)).unwrap_or_default().trim(), end)
}

impl Read {
    /// Whether it begins at a variable.
    pub(in crate::ask) fn is_of(&self, variable: &str) -> bool {
        let rest = self.path.strip_prefix(variable);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comprehension_has_variables_of_its_own() {
        let text = "{job.name: left for job, left in zip(jobs, rest) if left} | dict(each for each in more)";
        let jobs =
            Comprehension { variables: vec!["job", "left"], over: "zip(jobs, rest)", filter: Some("left") };
        let more = Comprehension { variables: vec!["each"], over: "more", filter: None };
        assert_eq!(comprehended(text), [jobs, more]);
        assert_eq!(comprehended("for each in more:"), []);
    }

    #[test]
    fn a_comprehension_has_the_lines_of_its_bracket() {
        let text = "best = max(\n    [\n        left\n        for left in jobs\n    ],\n    key=len,\n)";
        let found = comprehensions_by_line(text);
        let [(lines, jobs)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((lines.clone(), jobs.over), (1..=3, "jobs"));
        assert_eq!(comprehensions_by_line("async for each in jobs:").len(), 0);
        assert_eq!(comprehensions_by_line("for each in sorted(n for n in jobs):").len(), 1);
    }

    #[test]
    fn a_loop_on_one_line_has_a_head_and_a_body() {
        let body = |text, name| loop_body(text, &tokens(text), name);
        assert_eq!(body("for (const x of xs) last = f(x);", "last"), Some("last = f(x);"));
        assert_eq!(body("for a, b in {1: 2}.items(): last = a", "last"), Some("last = a"));
        assert_eq!(body("for (a, b) in pairs: last = a", "last"), Some("last = a"));
        assert_eq!(body("for (const x of xs) last = f(x);", "x"), None);
        assert_eq!(body("for x in xs:", "last"), None);
        for (text, part, expected) in [
            ("for (const [name, price] of rows) add(name, price);", "price", true),
            ("for (const x of xs) total = add(total, x);", "total", false),
            ("for x in xs: keep(x + 1)", "x + 1", true),
            ("for x in xs: keep(y)", "y", false),
            ("keep(x)", "x", false),
        ] {
            assert_eq!(reads_of_head(text, part), expected, "{text}");
        }
        assert_eq!(value_of("for price in prices: last = keep(price)", "price").text, "prices");
        let counting = "for (let i = 0; i < n; i++) if (k in seen) last = k;";
        assert_eq!(gone_through(counting, &tokens(counting)), None);
    }

    #[test]
    fn a_loop_that_counts_gives_its_variable_a_first_value_and_steps() {
        let text = "for (let i = start, n = 2; i < most; i += by, n++) total += i;";
        let step =
            |name, is_first| loop_step(text, name, is_first).map(|value| (value.text, value.is_compound));
        assert_eq!(step("i", true), Some(("start", false)));
        assert_eq!(step("i", false), Some(("by", true)));
        assert_eq!(step("n", true), Some(("2", false)));
        assert_eq!(step("total", false), None);
        let counted = loop_step("for (let i = 0; i < n; i++) {", "i", false);
        assert_eq!(counted.map(|value| (value.text, value.is_compound)), Some(("1", true)));
    }
}
