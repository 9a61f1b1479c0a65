//! Methods that take one thing out of a container, and statements that fill one.

use super::{Token, closing, is_assignment, parts};

/// The methods that are given a key.
const BY_KEY: [&str; 7] = ["at", "get", "has", "pop", "setdefault", "delete", "__getitem__"];

/// Methods of containers that store what they are given, and make nothing of it.
pub(in crate::ask) const STORING: [&str; 8] =
    ["add", "append", "appendleft", "insert", "push", "set", "setdefault", "unshift"];

/// What a method takes out of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::ask) struct LookUp {
    pub(in crate::ask) method: String,
    /// Where that is: `levels[sku]`, of `levels.get(sku, 0)`.
    pub(in crate::ask) entry: String,
    /// What is read of it: `levels[sku].total`, of `levels.get(sku).total`.
    pub(in crate::ask) path: String,
}

/// What a method takes out of a container with this path. `open` is the bracket after its name.
pub(super) fn look_up(text: &str, tokens: &[Token<'_>], container: &str, open: usize) -> Option<LookUp> {
    let text_at = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let begin = |at: usize| tokens.get(at).map_or(text.len(), |token| token.at.start);
    let end = |at: usize| tokens.get(at).map_or(text.len(), |token| token.at.end);
    let method = text_at(open.checked_sub(1)?);
    let close = closing(tokens, open)?;
    let given = parts(text.get(end(open)..begin(close))?);
    let key = match given.first() {
        Some(key) if BY_KEY.contains(&method) && !key.starts_with(['*', '.']) => *key,
        None if method == "pop" => "-1",
        None if matches!(method, "popleft" | "shift") => "0",
        _ => return None,
    };
    let entry = format!("{container}[{key}]");
    let (mut next, mut last) = (close + 1, end(close));
    loop {
        let is_name = || tokens.get(next + 1).is_some_and(Token::is_name);
        next = match text_at(next) {
            "." | "?." if is_name() && text_at(next + 2) != "(" => next + 2,
            "[" => closing(tokens, next)? + 1,
            _ => break,
        };
        last = end(next - 1);
    }
    let rest = text.get(end(close)..last)?.replace("?.", ".");
    Some(LookUp { method: method.to_owned(), path: entry.clone() + &rest, entry })
}

/// Whether a statement makes a container of others' items, and does not store a value in one.
pub(in crate::ask) fn fills(text: &str) -> bool {
    let tokens = super::tokens(text);
    let text_at = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let stores = |at: usize| {
        let is_to_item = at > 0 && is_assignment(&tokens, at) && text_at(at - 1) == "]";
        let is_method = text_at(at) == "." && STORING.contains(&text_at(at + 1)) && text_at(at + 2) == "(";
        is_to_item && !matches!(text_at(0), "[" | "const" | "let" | "var") || is_method
    };
    !(0..tokens.len()).any(stores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::statement::tokens;

    #[test]
    fn a_method_looks_an_item_up_by_its_key() {
        let table = [
            ("levels.get(sku, 0) + 1", Some("levels[sku]")),
            ("levels.get('ink')?.price * 2", Some("levels['ink'].price")),
            ("levels.get(find(a)[0]).rows[1].total()", Some("levels[find(a)[0]].rows[1]")),
            ("levels.pop()", Some("levels[-1]")),
            ("levels.find(each)", None),
            ("levels.get(*keys)", None),
        ];
        for (text, expected) in table {
            let tokens = tokens(text);
            let found = look_up(text, &tokens, "levels", 3).map(|found| found.path);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_container_is_filled_where_no_item_is_stored() {
        for (text, expected) in [
            ("pairs = list(levels.items())", true),
            ("const [a, b] = [...levels];", true),
            ("row['total'] = sum(prices)", false),
            ("rows.append(len(queue))", false),
        ] {
            assert_eq!(fills(text), expected, "{text}");
        }
    }
}
