//! What TypeScript says of types in an expression, which changes no value.

use std::ops::Range;

use super::tokens::{Token, is_keyword, tokens};

/// Signs before which a type ends.
const ENDS: [&str; 21] = [
    ",", ";", "?", ":", "=", "==", "===", "!=", "!==", "&&", "||", "??", "+", "-", "*", "/", "%", "<=", ">=",
    "**", "^",
];

/// A statement without `!` after values, and without `as Type` and `satisfies Type`.
pub(super) fn without_types(text: &str) -> String {
    let tokens = tokens(text);
    let text_at = |at: usize| tokens.get(at).map_or("", |token| token.text);
    if matches!(text_at(0), "import" | "export") {
        return text.to_owned();
    }
    let mut left_out: Vec<Range<usize>> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let is_in_type = left_out.iter().any(|range| range.contains(&token.at.start));
        if is_in_type || !follows_value(text, &tokens, at) {
            continue;
        }
        match token.text {
            "!" => left_out.push(token.at.clone()),
            "as" | "satisfies" => {
                let (end, next) = end_of_type(text, &tokens, at + 1);
                if next == at + 1 {
                    continue;
                }
                // The brackets around it, where they hold no more than a path.
                if let Some(open) = open_before_path(&tokens, at).filter(|_| text_at(next) == ")") {
                    left_out.extend([open, next].iter().filter_map(|at| Some(tokens.get(*at)?.at.clone())));
                }
                left_out.push(text.get(..token.at.start).unwrap_or_default().trim_end().len()..end);
            }
            _ => {}
        }
    }
    left_out.sort_by_key(|range| range.start);
    let mut kept = String::with_capacity(text.len());
    let mut done = 0;
    for range in left_out {
        kept.push_str(text.get(done..range.start).unwrap_or_default());
        done = range.end;
    }
    kept + text.get(done..).unwrap_or_default()
}

/// Whether a sign is directly after a value, or a word after one.
fn follows_value(text: &str, tokens: &[Token<'_>], at: usize) -> bool {
    let Some(token) = tokens.get(at) else { return false };
    let is_name = at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|before| {
        before.at.end == token.at.start && is_keyword(before.text)
            || matches!(before.text, "." | "?." | "const" | "let" | "var" | "return")
    });
    let before = text.get(..token.at.start).unwrap_or_default();
    let before = if token.is_name() { before.trim_end().trim_end_matches('!') } else { before };
    let is_value = |last: char| last.is_alphanumeric() || ")]}'\"`_$".contains(last);
    !is_name && before.chars().next_back().is_some_and(is_value)
}

/// Where the type ends that begins at a token, and the token after it.
fn end_of_type(text: &str, tokens: &[Token<'_>], begin: usize) -> (usize, usize) {
    let mut open = 0;
    let mut at = begin;
    while let Some(token) = tokens.get(at) {
        let is_shift = open == 0 && text.get(token.at.start..).is_some_and(|rest| rest.starts_with("<<"));
        let (is_angle, is_closed) = (token.text == "<" && !is_shift, token.text == ">");
        let between = tokens.get(at - 1).and_then(|before| text.get(before.at.end..token.at.start));
        let is_next_line = at > begin && between.is_some_and(|between| between.contains('\n'));
        let is_operator = ENDS.contains(&token.text) || is_shift || matches!(token.text, "in" | "instanceof");
        let ends = is_operator || is_next_line && !matches!(token.text, "|" | "&");
        open += token.opens() + i32::from(is_angle) - i32::from(is_closed);
        if open < 0 || open == 0 && !is_closed && token.opens() == 0 && ends {
            break;
        }
        at += 1;
    }
    let end = tokens.get(at).map_or(text.len(), |token| token.at.start);
    (text.get(..end).unwrap_or_default().trim_end().len(), at)
}

/// The round bracket, that of no call, between which and a token there is a path: names, and what is in brackets.
fn open_before_path(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let mut closed = 0;
    for (before, token) in tokens.iter().enumerate().take(at).rev() {
        closed -= token.opens();
        if closed < 0 {
            let callee = before.checked_sub(1).and_then(|callee| tokens.get(callee));
            let is_call = callee.is_some_and(|callee| {
                matches!(callee.text, ")" | "]") || callee.is_name() && !is_keyword(callee.text)
            });
            return (token.text == "(" && !is_call && before + 1 < at).then_some(before);
        }
        let is_part = token.opens() != 0
            || matches!(token.text, "." | "?." | "!")
            || token.is_name() && !is_keyword(token.text);
        if closed == 0 && !is_part {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_left_out_of_expressions() {
        let table = [
            ("const a = hist[0]![0]!.n;", "const a = hist[0][0].n;"),
            ("const b = m.get('k')!.n;", "const b = m.get('k').n;"),
            ("const c = (m.get('k') as Box).n;", "const c = m.get('k').n;"),
            ("(rows satisfies Box[])[0].n", "rows[0].n"),
            ("(rows[0]! as unknown as Map<string, Box[]>).size", "rows[0].size"),
            ("f(a as string, b as 'x' | 'y')", "f(a, b)"),
            ("(a + b as number) * 2", "(a + b) * 2"),
            ("f((x) => {\n  const a = x as T\n  g(a)\n})", "f((x) => {\n  const a = x\n  g(a)\n})"),
            ("const ok = (a as number) === 1 ? b! : c", "const ok = a === 1 ? b : c"),
            ("const c = b as number ** 2 ^ a as number", "const c = b ** 2 ^ a"),
            ("f(a as number << 2, b as number >> 1, c as Map<T, U<V>> in d)", "f(a << 2, b >> 1, c in d)"),
            ("if (a as any instanceof B) b()", "if (a instanceof B) b()"),
        ];
        for (text, expected) in table {
            assert_eq!(without_types(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_type_is_kept() {
        for text in [
            "if (a !== b && !c) return !d;",
            "import { a as b } from 'c'",
            "const as = row.as + rows['as'];",
            "x = !y; [!a, !(b)]",
            "'a! as b'",
            "return as;",
            "return as.count + as",
            "let a = as * as",
        ] {
            assert_eq!(without_types(text), text);
        }
    }
}
