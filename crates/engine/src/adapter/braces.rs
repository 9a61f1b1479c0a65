//! The loops of languages with braces, found by their tokens: C, C++, Java, Rust, Go and PHP.
//!
//! A source is not parsed, because what a header declares or a macro expands to is unknown. Where the tokens leave doubt,
//! a loop has an exit, is not certain, or its condition is left out.

mod ends;
mod tokens;

use std::collections::BTreeSet;

use self::tokens::{Kind, php_tokens};
pub(super) use self::tokens::{Token, tokens};
use crate::model::source::{Comparison, Loop};

/// How loops are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// `while (…)`, `for (…; …; …)`, `for (… : …)`, `do … while (…)`.
    C,
    /// Those of C.
    Java,
    /// Those of C, and `foreach (… as …)`.
    Php,
    /// `loop`, `while …`, `for … in …`.
    Rust,
    /// `for`.
    Go,
}

/// Words that are not variables, whichever of these languages it is.
const KEYWORDS: [&str; 62] = [
    "as",
    "auto",
    "await",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "co_await",
    "co_return",
    "co_yield",
    "default",
    "defer",
    "delete",
    "do",
    "double",
    "else",
    "false",
    "float",
    "fn",
    "for",
    "func",
    "go",
    "goto",
    "if",
    "in",
    "int",
    "let",
    "long",
    "loop",
    "map",
    "match",
    "move",
    "mut",
    "new",
    "nil",
    "nullptr",
    "range",
    "ref",
    "return",
    "select",
    "self",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "this",
    "throw",
    "true",
    "typename",
    "unsafe",
    "unsigned",
    "var",
    "void",
    "volatile",
    "while",
    "yield",
    "usize",
    "size_t",
];
/// Operators and literals of C++, Java and PHP. In Rust and Go they are names as any other.
const WORD_OPERATORS: [&str; 5] = ["and", "or", "xor", "instanceof", "null"];
/// Words before a parenthesis that is not a call.
const HEADS: [&str; 9] = ["if", "while", "for", "switch", "match", "return", "sizeof", "in", "range"];
/// Statements that leave a loop, apart from `break`.
const EXITS: [&str; 9] =
    ["return", "goto", "throw", "co_return", "co_await", "co_yield", "await", "yield", "panic"];
const ASSIGNMENTS: [&str; 16] =
    ["=", ":=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "&^=", ".=", "**=", "??="];
/// What can end a program, or reads what another one may change.
const RISKS: [&str; 10] = ["[", ".", "->", "*", "/", "%", "<-", "volatile", "asm", "/="];

/// The loops of a source, outer ones first.
pub(super) fn loops(text: &str, family: Family) -> Vec<Loop> {
    let tokens = if family == Family::Php { php_tokens(text) } else { tokens(text) };
    let source = Source { tokens: &tokens, family };
    let found = (0..tokens.len()).filter_map(|at| source.loop_at(at));
    let mut found: Vec<Loop> = found.collect();
    found.sort_by_key(|found| (found.start, std::cmp::Reverse(found.end)));
    found
}

#[derive(Clone, Copy)]
struct Source<'a> {
    tokens: &'a [Token],
    family: Family,
}

/// The parts of a loop, as ranges of tokens.
struct Parts<'a> {
    /// All between the keyword and the body.
    head: &'a [Token],
    /// What is tested before each iteration; none if nothing is.
    test: Option<&'a [Token]>,
    body: &'a [Token],
    /// What it iterates over; none if it does not.
    over: Option<&'a [Token]>,
    last: usize,
}

impl Family {
    fn is_keyword(self, word: &str) -> bool {
        KEYWORDS.contains(&word)
            || (matches!(self, Self::C | Self::Java | Self::Php) && WORD_OPERATORS.contains(&word))
    }
}

impl<'a> Source<'a> {
    fn get(&self, at: usize) -> Option<&'a Token> {
        self.tokens.get(at)
    }

    fn is(&self, at: usize, text: &str) -> bool {
        self.get(at).is_some_and(|token| token.is(text))
    }

    fn slice(&self, from: usize, to: usize) -> &'a [Token] {
        self.tokens.get(from..to).unwrap_or_default()
    }

    /// The loop whose keyword is at an index.
    fn loop_at(&self, at: usize) -> Option<Loop> {
        let token = self.get(at).filter(|token| token.is_name())?;
        let parts = match (self.family, token.text.as_str()) {
            (Family::C | Family::Java | Family::Php, "while") => self.while_of_c(at)?,
            (Family::C | Family::Java | Family::Php, "for") => self.for_of_c(at)?,
            (Family::C | Family::Java | Family::Php, "do") => self.do_of_c(at)?,
            (Family::Php, "foreach") => self.foreach_of_php(at)?,
            (Family::Rust, "loop" | "while" | "for") => self.loop_of_rust(at)?,
            (Family::Go, "for") => self.for_of_go(at)?,
            _ => return None,
        };
        let last = self.get(parts.last)?.line;
        let found = describe(self.family, &parts, (token.line, last));
        // Without the name of an item, nothing shows whether it progresses.
        (!found.goes_through || !found.variables.is_empty()).then_some(found)
    }

    fn while_of_c(&self, at: usize) -> Option<Parts<'a>> {
        let close = self.closing(at + 1)?;
        let last = self.statement_end(close + 1)?;
        if close + 1 == last && self.is(last, ";") && self.ends_do(at) {
            return None;
        }
        let head = self.slice(at + 2, close);
        Some(Parts { head, test: Some(head), body: self.slice(close + 1, last + 1), over: None, last })
    }

    /// Whether a `while` is that of `do … while`.
    fn ends_do(&self, at: usize) -> bool {
        (0..at).any(|begin| {
            self.is(begin, "do") && self.statement_end(begin + 1).is_some_and(|end| end + 1 == at)
        })
    }

    fn do_of_c(&self, at: usize) -> Option<Parts<'a>> {
        let end = self.statement_end(at + 1)?;
        let close = self.is(end + 1, "while").then(|| self.closing(end + 2)).flatten()?;
        let head = self.slice(end + 3, close);
        Some(Parts { head, test: Some(head), body: self.slice(at + 1, end + 1), over: None, last: close })
    }

    fn for_of_c(&self, at: usize) -> Option<Parts<'a>> {
        let close = self.closing(at + 1)?;
        let last = self.statement_end(close + 1)?;
        let (head, body) = (self.slice(at + 2, close), self.slice(close + 1, last + 1));
        if let [_, test, _] = split(head, ";").as_slice() {
            let test = Some(*test).filter(|test| !test.is_empty());
            return Some(Parts { head, test, body, over: None, last });
        }
        let colon = head.iter().position(|token| token.is(":"))?;
        let item = head.get(..colon)?;
        // The types before a name may have parameters.
        let name = item.last().filter(|token| token.is_name()).map(std::slice::from_ref);
        let over = head.get(colon + 1..);
        Some(Parts { head: name.unwrap_or(item), test: None, body, over, last })
    }

    fn foreach_of_php(&self, at: usize) -> Option<Parts<'a>> {
        let close = self.closing(at + 1)?;
        let last = self.statement_end(close + 1)?;
        let head = self.slice(at + 2, close);
        let split = head.iter().position(|token| token.is("as"))?;
        let (over, body) = (head.get(..split), self.slice(close + 1, last + 1));
        Some(Parts { head: head.get(split + 1..)?, test: None, body, over, last })
    }

    fn loop_of_rust(&self, at: usize) -> Option<Parts<'a>> {
        // `impl Trait for Type {` and `for<'a>` are other things.
        let open = self.opening(at + 1)?;
        let last = self.closing(open)?;
        let (head, body) = (self.slice(at + 1, open), self.slice(open, last + 1));
        let is_while = self.is(at, "while");
        if self.is(at, "for") {
            let split = head.iter().position(|token| token.is("in"))?;
            let over = head.get(split + 1..);
            return Some(Parts { head: head.get(..split)?, test: None, body, over, last });
        }
        if !is_while && !head.is_empty() {
            return None;
        }
        Some(Parts { head, test: is_while.then_some(head), body, over: None, last })
    }

    fn for_of_go(&self, at: usize) -> Option<Parts<'a>> {
        let open = self.opening(at + 1)?;
        let last = self.closing(open)?;
        let (head, body) = (self.slice(at + 1, open), self.slice(open, last + 1));
        if let Some(range) = head.iter().position(|token| token.is("range")) {
            let over = head.get(range + 1..);
            return Some(Parts { head: head.get(..range)?, test: None, body, over, last });
        }
        let parts = split(head, ";");
        let test = match parts.as_slice() {
            [test] | [_, test, _] => Some(*test).filter(|test| !test.is_empty()),
            _ => return None,
        };
        Some(Parts { head, test, body, over: None, last })
    }

    /// The brace that begins a body: the first one outside of parentheses.
    fn opening(&self, from: usize) -> Option<usize> {
        let mut at = from;
        while let Some(token) = self.get(at) {
            match token.text.as_str() {
                "{" => return Some(at),
                "(" | "[" => at = self.closing(at)?,
                "}" | ";" if self.family != Family::Go => return None,
                "}" => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    fn closing(&self, open: usize) -> Option<usize> {
        closing(self.tokens, open)
    }

    /// The last token of a statement of C.
    fn statement_end(&self, from: usize) -> Option<usize> {
        let token = self.get(from)?;
        match token.text.as_str() {
            "{" => self.closing(from),
            // `while (…): … endwhile`
            ":" if self.family == Family::Php => None,
            "if" | "while" | "for" | "foreach" | "switch" => {
                let open = from + 1 + usize::from(self.is(from + 1, "constexpr"));
                let end = self.statement_end(self.closing(open)? + 1)?;
                if token.is("if") && self.is(end + 1, "else") {
                    self.statement_end(end + 2)
                } else {
                    Some(end)
                }
            }
            "do" => {
                let end = self.statement_end(from + 1)?;
                Some(self.closing(end + 2)? + 1)
            }
            _ => {
                let mut at = from;
                while !self.is(at, ";") {
                    at = if ["(", "[", "{"].iter().any(|open| self.is(at, open)) {
                        self.closing(at)?
                    } else {
                        at
                    };
                    at += 1;
                    self.get(at)?;
                }
                Some(at)
            }
        }
    }
}

/// What closes the bracket at an index.
pub(super) fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for at in open..tokens.len() {
        match tokens.get(at)?.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return (at > open).then_some(at);
        }
    }
    None
}

/// Splits tokens at a sign outside of brackets.
fn split<'a>(tokens: &'a [Token], sign: &str) -> Vec<&'a [Token]> {
    let (mut depth, mut from, mut parts) = (0_i32, 0, Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ if depth == 0 && token.is(sign) => {
                parts.push(tokens.get(from..at).unwrap_or_default());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(tokens.get(from..).unwrap_or_default());
    parts
}

fn describe(family: Family, parts: &Parts<'_>, (start, end): (u32, u32)) -> Loop {
    let Parts { head, test, body, over, .. } = *parts;
    let is_always = test.is_none_or(is_true) && over.is_none();
    let has_exit = leaves(family, body);
    let all = || head.iter().chain(body);
    let calls =
        has_call(head) || has_call(body) || (matches!(family, Family::C | Family::Java) && iterates(body));
    // An overflow of Rust panics.
    let is_risky = |token: &Token| {
        RISKS.iter().any(|risk| token.is(risk))
            || (family == Family::Rust && matches!(token.text.as_str(), "+" | "-" | "+=" | "-="))
    };
    let assigned: BTreeSet<String> =
        assigned(family, head).into_iter().chain(assigned(family, body)).collect();
    Loop {
        start,
        end,
        goes_through: over.is_some(),
        end_known: over.and_then(|over| ends::end_known(family, head, over)),
        has_exit,
        is_endless: is_always && !has_exit,
        // A program in PHP may have a time limit.
        is_certain: family != Family::Php && is_always && !has_exit && !calls && !all().any(is_risky),
        is_closed: !calls
            && !all().any(|token| ["[", ".", "->", "*", "<-"].iter().any(|sign| token.is(sign))),
        condition: test.filter(|_| !is_always).map(comparisons).unwrap_or_default(),
        variables: if is_always && test.is_some() { Vec::new() } else { names(family, head) },
        assigned: assigned.into_iter().collect(),
    }
}

fn is_true(test: &[Token]) -> bool {
    match test {
        [one] => {
            one.is("true")
                || (one.kind == Kind::Number && one.text.chars().any(|digit| ('1'..='9').contains(&digit)))
        }
        [not, zero] => not.is("!") && (zero.is("0") || zero.is("false")),
        _ => false,
    }
}

/// Whether a statement leaves the loop that has this body.
fn leaves(family: Family, body: &[Token]) -> bool {
    // Where the things end that a `break` leaves.
    let mut inner: Vec<usize> = Vec::new();
    let source = Source { tokens: body, family };
    for (at, token) in body.iter().enumerate() {
        inner.retain(|end| *end > at);
        let next = body.get(at + 1);
        let takes_break = match family {
            Family::C | Family::Java | Family::Php => {
                matches!(token.text.as_str(), "while" | "for" | "foreach" | "do" | "switch")
            }
            Family::Rust => matches!(token.text.as_str(), "while" | "for" | "loop"),
            Family::Go => matches!(token.text.as_str(), "for" | "switch" | "select"),
        };
        if takes_break && token.is_name() {
            let end = match family {
                Family::C | Family::Java | Family::Php => source.statement_end(at),
                Family::Rust | Family::Go => source.opening(at + 1).and_then(|open| source.closing(open)),
            };
            inner.extend(end);
        } else if token.is("break") || token.is("continue") {
            let is_labelled =
                next.is_some_and(|next| next.is_name() && next.line == token.line && !next.is("case"));
            let is_within = is_labelled && next.is_some_and(|label| defines(body, &label.text));
            // `break 2` of PHP.
            let levels = next
                .filter(|next| family == Family::Php && next.kind == Kind::Number)
                .and_then(|next| next.text.parse().ok());
            let levels: usize = levels.unwrap_or(1);
            let is_beyond = if token.is("break") { inner.len() < levels } else { inner.len() + 1 < levels };
            if (is_labelled && !is_within) || (!is_labelled && is_beyond) {
                return true;
            }
        } else if (token.is_name() && EXITS.contains(&token.text.as_str()))
            || (family == Family::Rust && token.is("?"))
            || (family == Family::Php && (token.is("exit") || token.is("die")))
        {
            return true;
        }
    }
    false
}

/// Whether a label is set in the body of a loop.
fn defines(body: &[Token], label: &str) -> bool {
    body.windows(2).any(|pair| matches!(pair, [name, colon] if name.text == label && colon.is(":")))
}

fn has_call(tokens: &[Token]) -> bool {
    let is_call = |pair: &[Token]| match pair {
        [name, next] if name.is_name() => {
            (next.is("(") && !HEADS.contains(&name.text.as_str())) || (next.is("!") && !next.is_apart)
        }
        [before, open] => open.is("(") && matches!(before.text.as_str(), ")" | "]" | "}" | ">"),
        _ => false,
    };
    tokens.windows(2).any(is_call)
}

/// Whether `for (… : …)` is in a body: it calls an iterator.
fn iterates(body: &[Token]) -> bool {
    let heads = (0..body.len()).filter(|at| body.get(*at).is_some_and(|token| token.is("for")));
    heads
        .filter_map(|at| body.get(at + 1..closing(body, at + 1)?))
        .any(|head| !head.iter().any(|token| token.is(";")))
}

/// The comparisons that are all needed; none if a part of the test cannot be evaluated without a call.
fn comparisons(test: &[Token]) -> Vec<Comparison> {
    const SIGNS: [&str; 8] = ["<", "<=", ">", ">=", "==", "!=", "===", "!=="];
    const OTHERS: [&str; 12] =
        ["=", "++", "--", "?", "let", "||", ":=", "and", "or", "xor", "instanceof", "??"];
    let is_plain = |token: &Token| !OTHERS.iter().any(|sign| token.is(sign));
    if has_call(test) || !test.iter().all(is_plain) {
        return Vec::new();
    }
    let comparison = |part: &[Token]| {
        let sign = part.iter().position(|token| SIGNS.iter().any(|sign| token.is(sign)));
        match (sign, part) {
            (Some(at), _) => Some(Comparison {
                left: text(part.get(..at)?)?,
                operator: part.get(at)?.text.clone(),
                right: text(part.get(at + 1..)?)?,
            }),
            (None, [not, rest @ ..]) if not.is("!") => {
                Some(Comparison { left: text(rest)?, operator: "==".to_owned(), right: "0".to_owned() })
            }
            (None, _) => {
                Some(Comparison { left: text(part)?, operator: "!=".to_owned(), right: "0".to_owned() })
            }
        }
    };
    let parts = split(test, "&&").into_iter().map(comparison);
    parts.collect::<Option<Vec<_>>>().unwrap_or_default()
}

/// Tokens as they were written.
fn text(tokens: &[Token]) -> Option<String> {
    let mut text = String::new();
    for token in tokens {
        if token.is_apart && !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&token.text);
    }
    (!text.is_empty()).then_some(text)
}

/// The names of variables.
fn names(family: Family, tokens: &[Token]) -> Vec<String> {
    let is_variable = |at: usize, token: &Token| {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let next = tokens.get(at + 1);
        let is_member = before.is_some_and(|before| [".", "->", "::"].iter().any(|sign| before.is(sign)));
        let is_other =
            next.is_some_and(|next| ["(", "::", "!", "<"].iter().any(|sign| next.is(sign)) && !next.is_apart);
        // `size_t at`: a type.
        let is_type = next.is_some_and(|next| next.is_name() && !family.is_keyword(&next.text));
        // `Iterator<String> it`
        let is_argument = before.is_some_and(|before| before.is("<") || before.is(","))
            && next.is_some_and(|next| next.is(">") || (next.is(",") && before.is_some_and(|at| at.is("<"))));
        let is_constant = !token.text.chars().any(char::is_lowercase);
        token.is_name()
            && !family.is_keyword(&token.text)
            && !(is_member
                || is_other
                || is_type
                || is_argument
                || is_constant
                || token.text.starts_with(['_', '\'']))
    };
    let found = tokens.iter().enumerate().filter(|(at, token)| is_variable(*at, token));
    let names: BTreeSet<String> = found.map(|(_, token)| token.text.clone()).collect();
    names.into_iter().collect()
}

/// The names that are assigned to, or whose address is taken.
fn assigned(family: Family, tokens: &[Token]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let name = |at: Option<usize>| at.and_then(|at| tokens.get(at)).filter(|token| token.is_name());
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1);
        if ASSIGNMENTS.iter().any(|sign| token.is(sign)) {
            // `a, b = b, a`
            let mut at = before;
            while let Some(token) = name(at) {
                found.insert(token.text.clone());
                let comma = at
                    .and_then(|at| at.checked_sub(1))
                    .filter(|at| tokens.get(*at).is_some_and(|token| token.is(",")));
                at = comma.and_then(|at| at.checked_sub(1));
            }
        } else if token.is("++") || token.is("--") {
            found.extend(name(before).or_else(|| name(Some(at + 1))).map(|token| token.text.clone()));
        } else if token.is("&")
            && before.is_none_or(|before| {
                tokens.get(before).is_some_and(|token| token.kind == Kind::Sign && !token.is(")"))
            })
        {
            let next = name(Some(at + 1)).filter(|next| !next.is("mut")).or_else(|| name(Some(at + 2)));
            found.extend(next.map(|token| token.text.clone()));
        }
    }
    found.retain(|name| !family.is_keyword(name));
    found
}

#[cfg(test)]
mod tests;
