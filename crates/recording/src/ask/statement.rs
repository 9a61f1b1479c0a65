//! What a statement computes a value from, as its text says.
//!
//! This reads Python and JavaScript by their words and brackets only. What it misses is missing in an answer; what it
//! finds is looked up in the recording, so that a wrong guess finds nothing.

mod functions;
mod heads;
mod lines;
mod literals;
mod lookups;
mod loops;
mod sending;
mod tokens;
mod types;

use std::ops::Range;

pub(super) use self::functions::{Function, Part, function_of, without_functions};
pub(super) use self::heads::{captures, has_default, has_parameter, subject};
pub(super) use self::lines::statement_at;
pub(super) use self::literals::{
    WrittenPart, assigned_item, entry_of, inside, is_whole, item_of, listed_item, part_of, property_of,
    spread_of, target_of,
};
pub(super) use self::lookups::{LookUp, STORING, fills};
pub(super) use self::loops::{Comprehension, comprehended, comprehensions_by_line, loop_step, reads_of_head};
use self::loops::{gone_through, loop_body};
pub(super) use self::sending::{assigns, calls_in_order, delegates, is_sent, sent, spreads, stored};
use self::tokens::{Token, bracket_around, closing, from, is_assignment, is_keyword, parts, tokens};
use crate::spelling::Spelling;

/// A variable, an attribute or an item that an expression reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// `self.prices[name]`.
    pub(super) path: String,
    /// It is what a method is called on.
    pub(super) is_receiver: bool,
    pub(super) item: Option<LookUp>,
}

/// Where a value in a statement comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value<'a> {
    /// The expression, or the whole statement if it is not known which part is it.
    pub(super) text: &'a str,
    /// It adds to what was there before.
    pub(super) is_compound: bool,
    /// The value is an item of the expression's.
    pub(super) is_item: bool,
    /// It stands after the head of a loop, or after other statements, on the same line.
    pub(super) is_late: bool,
}

impl<'a> Value<'a> {
    /// That of a whole expression.
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, is_compound: false, is_item: false, is_late: false }
    }
}

/// The value that a statement gives to a name or an item.
pub(super) fn value_of<'a>(text: &'a str, name: &str) -> Value<'a> {
    let tokens = tokens(text);
    let whole = Value::of(text);
    let first = tokens.iter().find(|token| token.text != "async").map_or("", |token| token.text);
    if let Some(body) = loop_body(text, &tokens, name) {
        return Value { is_late: true, ..value_of(body, name) };
    }
    if let Some(over) = gone_through(text, &tokens) {
        return Value { text: over, is_item: true, ..whole };
    }
    if first == "with"
        && let Some(at) = tokens.iter().position(|token| token.text == "as")
    {
        let (begin, end) = (tokens.first().map_or(0, |token| token.at.end), tokens.get(at));
        let end = end.map_or(text.len(), |end| end.at.start);
        return Value { text: text.get(begin..end).unwrap_or(text).trim(), ..whole };
    }
    // The assignment to this name, or else the last one.
    let assigns: Vec<usize> = (0..tokens.len()).filter(|at| is_assignment(&tokens, *at)).collect();
    let to_name = assigns
        .iter()
        .find(|at| at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|token| token.text == name));
    if to_name.is_none()
        && let Some(value) = named_argument(text, &tokens, name)
    {
        return Value { text: value, ..whole };
    }
    let given = tokens.iter().position(|token| matches!(token.text, "return" | "yield" | "=>"));
    let Some(at) = to_name.or(assigns.last()).copied().filter(|_| !name.is_empty() || given.is_none()) else {
        return given.map_or(whole.clone(), |begin| {
            let is_late = tokens.iter().take(begin).any(|token| token.text == ";");
            Value { text: from(text, &tokens, begin + 1), is_late, ..whole }
        });
    };
    let is_compound = tokens.get(at).is_some_and(|token| token.text.len() > 1 && token.text != ":=");
    let mut value = from(text, &tokens, at + 1);
    if let Some(last) = assigns.last().filter(|last| **last > at) {
        // `let a = 1, b = 2`, or `a = b = 1`
        let first = parts(value).first().copied().unwrap_or_default();
        value = if first.contains('=') { from(text, &tokens, last + 1) } else { first };
    }
    // `a, b = 1, 2`
    let targets = parts(text.get(..tokens.get(at).map_or(0, |token| token.at.start)).unwrap_or_default());
    let values = parts(value);
    if to_name.is_none() || targets.len() > 1 {
        let which = targets.iter().position(|target| target.trim_end().ends_with(name));
        if targets.len() == values.len()
            && let Some(value) = which.and_then(|at| values.get(at))
        {
            return Value { text: value.trim(), is_compound, ..whole };
        }
    }
    Value { text: value, is_compound, is_item: targets.len() > 1 && values.len() == 1, ..whole }
}

/// What a call gives for a parameter by its name, or a literal object for a property, if that is all that the statement
/// says of the name.
fn named_argument<'a>(text: &'a str, tokens: &[Token<'_>], name: &str) -> Option<&'a str> {
    let text_at = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let is_it = |at: &usize| {
        let before = if *at == 0 { "" } else { text_at(at - 1) };
        let is_short = || matches!(text_at(at + 1), "," | "}") && bracket_around(tokens, *at) == "{";
        text_at(*at) == name
            && matches!(before, "(" | "," | "{")
            // After it, an assignment takes an object apart.
            && !(*at..tokens.len()).any(|at| is_assignment(tokens, at))
            && (matches!(text_at(at + 1), "=" | ":") || is_short())
    };
    let mut found = (0..tokens.len()).filter(is_it);
    let (Some(at), None) = (found.next(), found.next()) else { return None };
    if matches!(text_at(at + 1), "," | "}") {
        return text.get(tokens.get(at)?.at.clone());
    }
    parts(from(text, tokens, at + 2)).first().copied()
}

/// What a statement assigns to an attribute of this name; all of it if the attribute is computed from what it was.
pub(super) fn assigned<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let tokens = tokens(text);
    let is_it = |at: usize| {
        let names = at.checked_sub(2).and_then(|at| tokens.get(at..at + 2));
        names.is_some_and(|names| matches!(names, [dot, last] if dot.text == "." && last.text == name))
            && is_assignment(&tokens, at)
    };
    (0..tokens.len())
        .any(is_it)
        .then(|| value_of(text, name))
        .map(|value| if value.is_compound { text } else { value.text })
}

/// Whether a word stands in a statement.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    tokens(text).iter().any(|token| token.text == word)
}

/// What an expression reads, in the order of its text.
pub(super) fn reads(text: &str, spelling: Spelling) -> Vec<Read> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        if let Some(read) = read_at(text, &tokens, at).filter(|_| !is_key(&tokens, at, spelling))
            && !found.contains(&read)
        {
            found.push(read);
        }
    }
    found
}

/// What the only call of a statement calls: a name, or `]` for an item of something.
pub(super) fn only_called(text: &str) -> Option<&str> {
    let tokens = tokens(text);
    let is_call = |pair: &&[Token<'_>]| matches!(pair, [callee, open] if open.text == "(" && (callee.text == "]" || callee.is_name() && !is_keyword(callee.text)));
    let mut calls = tokens.windows(2).filter(is_call);
    let only = calls.next()?.first()?.at.clone();
    calls.next().is_none().then(|| text.get(only)).flatten()
}

/// All names in an expression.
pub(super) fn names(text: &str) -> Vec<&str> {
    tokens(text).iter().filter(|token| token.is_name()).map(|token| token.text).collect()
}

/// Whether an expression asks how many items there are, or where one is.
pub(super) fn counts(text: &str) -> bool {
    let tokens = tokens(text);
    let is_it = |pair: &[Token<'_>]| match pair {
        [dot, name] if matches!(dot.text, "." | "?.") => {
            matches!(name.text, "length" | "size" | "count" | "index" | "indexOf")
        }
        [name, open] => name.text == "len" && open.text == "(",
        _ => false,
    };
    tokens.windows(2).any(is_it)
}

/// The functions that an expression calls, by their last name.
pub(super) fn calls(text: &str) -> Vec<&str> {
    let tokens = tokens(text);
    let is_call = |pair: &[Token<'_>]| matches!(pair, [name, open] if name.is_name() && !is_keyword(name.text) && open.text == "(");
    tokens
        .windows(2)
        .filter(|pair| is_call(pair))
        .filter_map(|pair| pair.first())
        .map(|name| name.text)
        .collect()
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter<'a> {
    pub(super) name: &'a str,
    /// Among those that a call gives by position.
    pub(super) position: usize,
}

/// The argument that a call gives for a parameter: the call of that function that ends as the `nth` one.
///
/// None if there is no such call; an empty text if it does not give the argument.
pub(super) fn argument<'a>(
    text: &'a str,
    function: &str,
    parameter: Parameter<'_>,
    nth: usize,
) -> Option<&'a str> {
    let tokens = tokens(text);
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in 0..tokens.len() {
        let is_call = tokens.get(at).is_some_and(|token| token.text == function)
            && tokens.get(at + 1).is_some_and(|token| token.text == "(");
        if is_call && let Some(close) = closing(&tokens, at + 1) {
            let begin = tokens.get(at + 1).map_or(0, |token| token.at.end);
            found.push(begin..tokens.get(close).map_or(text.len(), |token| token.at.start));
        }
    }
    found.sort_by_key(|range| range.end);
    // One that stands there once may run several times.
    let is_repeated = tokens.iter().any(|token| matches!(token.text, "for" | "while" | "=>" | "lambda"));
    let range = found.get(if is_repeated { nth % found.len().max(1) } else { nth })?.clone();
    let given = parts(text.get(range).unwrap_or_default());
    let by_name = |part: &&'a str| {
        let (name, value) = part.split_once('=')?;
        (name.trim() == parameter.name && !value.starts_with(['=', '>'])).then_some(value.trim())
    };
    if let Some(value) = given.iter().find_map(by_name) {
        return Some(value);
    }
    let at_position = given.get(parameter.position).map(|part| part.trim());
    let is_positional = |part: &&str| !part.starts_with('*') && !part.starts_with("...") && !is_named(part);
    if given.iter().take(parameter.position + 1).any(|part| part.trim().starts_with(['*', '.'])) {
        return None;
    }
    Some(at_position.filter(is_positional).unwrap_or_default())
}

/// `name=value`.
fn is_named(part: &str) -> bool {
    let tokens = tokens(part);
    tokens.first().is_some_and(Token::is_name) && tokens.get(1).is_some_and(|token| token.text == "=")
}

fn read_at(text: &str, tokens: &[Token<'_>], at: usize) -> Option<Read> {
    let token = tokens.get(at).filter(|token| token.is_name() && !is_keyword(token.text))?;
    let text_at = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let before = if at == 0 { "" } else { text_at(at - 1) };
    let is_argument_name = text_at(at + 1) == "=" && matches!(before, "(" | ",");
    if matches!(before, "." | "?.") || is_argument_name {
        return None;
    }
    // From here on: `.name` and `[...]`.
    let (mut end, mut next, mut without_last) = (token.at.end, at + 1, None);
    loop {
        match text_at(next) {
            "." | "?." if tokens.get(next + 1).is_some_and(Token::is_name) => {
                without_last = Some(end);
                end = tokens.get(next + 1).map_or(end, |token| token.at.end);
                next += 2;
            }
            "[" => {
                let close = closing(tokens, next)?;
                without_last = None;
                end = tokens.get(close).map_or(end, |token| token.at.end);
                next = close + 1;
            }
            "(" => {
                let path = text.get(token.at.start..without_last?)?.replace("?.", ".");
                let item = lookups::look_up(text, tokens, &path, next);
                return Some(Read { path, is_receiver: true, item });
            }
            _ => break,
        }
    }
    let path = text.get(token.at.start..end)?.replace("?.", ".");
    Some(Read { path, is_receiver: false, item: None })
}

/// Whether a name is that of a property, as in `{ total: 1 }`: in some languages it is a variable, whose value is the key.
fn is_key(tokens: &[Token<'_>], at: usize, spelling: Spelling) -> bool {
    let text_at = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let before = at.checked_sub(1).map_or("", text_at);
    spelling.has_plain_keys() && matches!(before, "{" | ",") && text_at(at + 1) == ":"
}

/// Whether an expression says the value itself: it reads nothing and calls nothing.
pub(super) fn is_literal(text: &str, spelling: Spelling) -> bool {
    let tokens = tokens(text);
    let is_plain = |at: usize, token: &Token<'_>| {
        token.text != "(" && (!token.is_name() || is_constant(token.text) || is_key(&tokens, at, spelling))
    };
    tokens.iter().enumerate().all(|(at, token)| is_plain(at, token))
}

fn is_constant(word: &str) -> bool {
    matches!(word, "None" | "True" | "False" | "null" | "true" | "false" | "undefined")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_a_name_is_the_expression_that_is_assigned_to_it() {
        let table = [
            ("total = price * count", "total", "price * count"),
            ("total += item.total()", "total", "item.total()"),
            ("a = b = start", "a", "start"),
            ("low, high = first, last", "high", "last"),
            ("name, price = row", "price", "row"),
            ("self.prices[name] = price", "[name]", "price"),
            ("for name, price in rows:", "price", "rows"),
            ("for (const item of this.items) {", "item", "this.items"),
            ("with open(path) as file:", "file", "open(path)"),
            ("const { a, b } = options;", "b", "options"),
            ("let low = 0, high = items.length - 1;", "high", "items.length - 1"),
            ("let low = 0, high = items.length - 1;", "low", "0"),
            ("if (ready) { total = next; }", "total", "next"),
            ("while (n := next(numbers)):", "n", "next(numbers)"),
            ("return total - discount", "", "total - discount"),
            ("let r = 1; r *= i; return r;", "", "r"),
            ("items.append(found)", "[3]", "items.append(found)"),
            ("found = find(key=name, most=3)", "found", "find(key=name, most=3)"),
            ("rows.append(Row(name, price=old.price * 2))", "price", "old.price * 2"),
            ("yield { name, price: row[1] * 2, };", "price", "row[1] * 2"),
            ("yield { name, price: row[1] };", "name", "name"),
            ("call(name, other)", "name", "call(name, other)"),
            ("for await (const { name } of rows) total += name;", "total", "name"),
            ("for await (const { name } of rows) totals.set(name, 1);", "]", "totals.set(name, 1);"),
            ("for await (const { name } of rows) totals.set(name, 1);", "name", "rows"),
        ];
        for (text, name, expected) in table {
            assert_eq!(value_of(text, name).text, expected, "{text}");
        }
    }

    #[test]
    fn what_an_expression_reads_are_paths() {
        let table = [
            ("price * self.count - 3", vec!["price", "self.count"]),
            ("grid[y + 1][x].value", vec!["grid[y + 1][x].value", "y", "x"]),
            ("names.get(key, default)", vec!["names", "key", "default"]),
            ("f'{left:>3} of {right}' + 'no {name}'", vec!["left", "right"]),
            ("`${order.id}: ${total}`", vec!["order.id", "total"]),
            ("find(key=name)", vec!["name"]),
            ("user?.address.city", vec!["user.address.city"]),
            ("[x * rate for x in prices if x is not None]", vec!["x", "rate", "prices"]),
        ];
        for (text, expected) in table {
            let found = reads(text, Spelling::Python).into_iter().map(|read| read.path);
            assert_eq!(found.collect::<Vec<_>>(), expected, "{text}");
        }
        let keys = "{ total: count, rest: { name: [total] }, a: b ? c : d }";
        let found = reads(keys, Spelling::JavaScript).into_iter().map(|read| read.path);
        assert_eq!(found.collect::<Vec<_>>(), ["count", "total", "b", "c", "d"]);
    }

    #[test]
    fn a_literal_reads_and_calls_nothing() {
        for text in ["-1", "'a'", "[1, [None]]", "{ total: 1, 'b': true }", ""] {
            assert!(is_literal(text, Spelling::JavaScript), "{text}");
        }
        for text in ["x", "[count()]", "`a ${b}`", "{ total }"] {
            assert!(!is_literal(text, Spelling::JavaScript), "{text}");
        }
        assert!(!is_literal("{total: 1}", Spelling::Python));
    }

    #[test]
    fn what_an_expression_calls_are_functions() {
        let table = [
            ("total(find(a), b.count())", vec!["total", "find", "count"]),
            ("return ()", vec![]),
            ("if (!(a in (b))) { c() }", vec!["c"]),
        ];
        for (text, expected) in table {
            assert_eq!(calls(text), expected, "{text}");
        }
    }

    #[test]
    fn an_argument_is_given_by_position_or_name() {
        let price = Parameter { name: "price", position: 1 };
        let table = [
            ("add(pen, 2 * cost)", Some("2 * cost")),
            ("add(pen, price=cost)", Some("cost")),
            ("add(pen)", Some("")),
            ("add(*row)", None),
            ("[add(pen, each) for each in costs]", Some("each")),
            ("map(each, rows)", None),
            ("cart.add(find('a, b'), lookup(x, y))", Some("lookup(x, y)")),
        ];
        for (text, expected) in table {
            assert_eq!(argument(text, "add", price, 0), expected, "{text}");
        }
        let nested = "add(1, add(2, 3))";
        assert_eq!(argument(nested, "add", price, 0), Some("3"));
        assert_eq!(argument(nested, "add", price, 1), Some("add(2, 3)"));
        assert_eq!(argument(nested, "add", price, 2), None);
        assert_eq!(argument("[add(1, each) for each in costs]", "add", price, 2), Some("each"));
    }
}
