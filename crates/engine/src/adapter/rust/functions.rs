//! The functions that a source of Rust has outside of macros, found by their tokens.
//!
//! LLDB knows a generic function only by a name with its types, such as `pick<u8>`.

use super::braces::{Token, closing, tokens};
use crate::model::source::Function;

/// The functions of a source, with the modules and types around them in front: `shop::Cart::add`.
pub(super) fn functions(text: &str) -> Vec<Function> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    // The names of what is around a token, with where each ends.
    let mut around: Vec<(String, usize)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        around.retain(|(_, end)| *end > at);
        let Some(name) = tokens.get(at + 1).filter(|next| token.is_name() && next.is_name()) else {
            if token.is("impl") {
                around.extend(implemented(&tokens, at));
            }
            continue;
        };
        match token.text.as_str() {
            "mod" | "trait" => {
                around.extend(body(&tokens, at + 2).map(|(_, end)| (name.text.clone(), end)));
            }
            "impl" => around.extend(implemented(&tokens, at)),
            "fn" => {
                let Some((open, end)) = body(&tokens, at + 2) else { continue };
                let path: Vec<&str> =
                    around.iter().map(|(name, _)| name.as_str()).chain([name.text.as_str()]).collect();
                let line = |at: usize| tokens.get(at).map_or(name.line, |token| token.line);
                found.push(Function {
                    name: path.join("::"),
                    start: token.line,
                    header: name.line,
                    body: line(first_statement(&tokens, open + 1)),
                    body_column: 1,
                    end: line(end),
                });
                around.push((name.text.clone(), end));
            }
            _ => {}
        }
    }
    found
}

/// Where the first statement of a body is. Items before it are other code, and so is what is derived for them.
fn first_statement(tokens: &[Token], from: usize) -> usize {
    let mut at = from;
    while let Some(token) = tokens.get(at) {
        let end = match token.text.as_str() {
            "#" => closing(tokens, at + 1),
            "enum" | "struct" | "union" | "trait" | "impl" | "fn" | "mod" => {
                let ends = |at: &usize| tokens.get(*at).is_some_and(|token| token.is(";"));
                body(tokens, at + 1).map(|(_, end)| end).or_else(|| (at..tokens.len()).find(ends))
            }
            "const" | "static" | "type" | "use" => {
                (at..tokens.len()).find(|at| tokens.get(*at).is_some_and(|token| token.is(";")))
            }
            _ => None,
        };
        let Some(end) = end else { break };
        at = end + 1;
    }
    at
}

/// The type of an `impl`, without its arguments, and where it ends.
fn implemented(tokens: &[Token], at: usize) -> Option<(String, usize)> {
    let (open, end) = body(tokens, at + 1)?;
    let head = tokens.get(at + 1..open)?;
    let of = head.iter().position(|token| token.is("for")).map_or(0, |at| at + 1);
    let mut depth = 0_i32;
    let mut name = None;
    for token in head.get(of..)? {
        match token.text.as_str() {
            "<" => depth += 1,
            ">" => depth -= 1,
            "where" if depth == 0 => break,
            _ if depth == 0 && token.is_name() && !token.text.starts_with('\'') => {
                name = Some(token.text.clone());
            }
            _ => {}
        }
    }
    name.map(|name| (name, end))
}

/// The braces of a body that begins after a head; none if a semicolon is there instead.
fn body(tokens: &[Token], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        match tokens.get(at)?.text.as_str() {
            "{" => return Some((at, closing(tokens, at)?)),
            "(" | "[" => at = closing(tokens, at)?,
            ";" | "}" => return None,
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_with_what_is_around_them() {
        let text = "\
mod shop {
    impl<'a, T: Copy> Cart<'a, T> where T: Ord {
        pub fn add(&mut self, price: [u8; 3]) -> Option<T> {
            // comment

            let sum = 1;
            fn inner() {}
            None
        }
    }
    trait Shown { fn show(&self); fn twice(&self) -> u8 { 2 } }
}

impl<F> fmt::Display for Wide<F>
where
    F: Fn(&str) -> u8,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result
    {
        write!(f, \"fn no() {{}}\")
    }
}

const fn plain<const N: usize>() -> [u8; N] {
    #[derive(Clone)]
    enum Mode {
        Fast,
    }
    const ALL: usize = 3;
    [0; N]
}
";
        let found: Vec<(String, u32, u32, u32)> =
            functions(text).into_iter().map(|one| (one.name, one.header, one.body, one.end)).collect();
        let expected = [
            ("shop::Cart::add", 3, 6, 9),
            ("shop::Cart::add::inner", 7, 7, 7),
            ("shop::Shown::twice", 11, 11, 11),
            ("Wide::fmt", 18, 20, 21),
            ("plain", 24, 30, 31),
        ];
        assert_eq!(found, expected.map(|(name, header, body, end)| (name.to_owned(), header, body, end)));
    }
}
