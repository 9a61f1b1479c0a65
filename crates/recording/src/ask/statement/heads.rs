//! The first lines of functions, and those of `match` and its cases.

use super::{Token, is_assignment, tokens};

/// Whether a function's first line gives a parameter a default.
pub(in crate::ask) fn has_default(text: &str, name: &str) -> bool {
    let tokens = tokens(text);
    let Some(at) = parameter(&tokens, name) else { return false };
    let mut open = 0;
    for token in tokens.iter().skip(at + 1) {
        match token.text {
            "=" if open == 0 => return true,
            "," if open == 0 => return false,
            _ => open += token.opens(),
        }
        if open < 0 {
            return false;
        }
    }
    false
}

/// Where a name is that of a parameter.
fn parameter(tokens: &[Token<'_>], name: &str) -> Option<usize> {
    let is_before = |text: &str| matches!(text, "(" | "," | "*" | "**" | "..." | "lambda" | "{" | "[");
    let is_it = |at: &usize| {
        tokens.get(*at).is_some_and(|token| token.text == name)
            && tokens.get(at - 1).is_some_and(|token| is_before(token.text))
    };
    (1..tokens.len()).find(is_it)
}

/// Whether a function's first line, or a `lambda` in it, has a parameter; none if there is neither.
pub(in crate::ask) fn has_parameter(text: &str, name: &str) -> Option<bool> {
    let tokens = tokens(text);
    let begins = |at: &usize| matches!(tokens.get(*at).map(|token| token.text), Some("def" | "lambda"));
    let head = tokens.get((0..tokens.len()).find(begins)?..)?;
    let mut open = 0;
    let ends = |token: &Token<'_>| {
        open += token.opens();
        open == 0 && token.text == ":"
    };
    let end = head.iter().position(ends).unwrap_or(head.len());
    Some(parameter(head.get(..end)?, name).is_some())
}

/// What a `match` compares, which names in the patterns of its cases are parts of.
pub(in crate::ask) fn subject(text: &str) -> Option<&str> {
    let tokens = tokens(text);
    let [first, .., last] = tokens.as_slice() else { return None };
    let is_match =
        first.text == "match" && last.text == ":" && !(1..tokens.len()).any(|at| is_assignment(&tokens, at));
    text.get(first.at.end..last.at.start).map(str::trim).filter(|subject| is_match && !subject.is_empty())
}

/// Whether a name in a statement is one that the pattern of a case captures.
pub(in crate::ask) fn captures(text: &str, name: &str) -> bool {
    let tokens = tokens(text);
    let assigns = |at: usize| {
        is_assignment(&tokens, at) && at > 0 && tokens.get(at - 1).is_some_and(|token| token.text == name)
    };
    tokens.first().is_some_and(|token| token.text == "case") && !(0..tokens.len()).any(assigns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_their_defaults_are_in_the_first_line() {
        let table = [
            ("def ship(self, weight: float, zone='eu', *rest, **more):", "zone", Some(true), true),
            ("def ship(self, weight: float, zone='eu', *rest, **more):", "weight", Some(true), false),
            ("def ship(weight: Dict[str, int] = {}):", "weight", Some(true), true),
            ("def ship(zone=eu, *rest):", "eu", Some(false), false),
            ("def ship(zone=eu, *rest):", "rest", Some(true), false),
            ("return sorted(rows, key=lambda row: row[place])", "row", Some(true), false),
            ("return sorted(rows, key=lambda row: row[place])", "place", Some(false), false),
            ("function ship(weight, zone = 'eu') {", "zone", None, true),
        ];
        for (text, name, is_one, has) in table {
            assert_eq!(has_parameter(text, name), is_one, "{text} {name}");
            assert_eq!(has_default(text, name), has, "{text} {name}");
        }
    }

    #[test]
    fn a_case_captures_parts_of_what_its_match_compares() {
        assert_eq!(subject("match read(line), 3:"), Some("read(line), 3"));
        assert_eq!(subject("match = re.match(line)"), None);
        assert_eq!(subject("match: int = 3"), None);
        assert!(captures("case {'n': n, **rest}:", "n"));
        assert!(!captures("case 3: n = 4", "n"));
        assert!(!captures("price = n", "price"));
    }
}
