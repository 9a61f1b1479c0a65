//! Names of the source in expressions, where the running script has others.

/// An expression with variables under other names. Texts in quotes, names after a dot and keys are left as they
/// are; `{ name }` becomes `{ name: other }`.
pub(in super::super) fn renamed<'a>(expression: &str, other: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut renamed = String::with_capacity(expression.len());
    let mut rest = expression;
    let mut before = ' ';
    let mut brackets = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (token, after) = rest.split_at(token_length(rest, first));
        let next = after.trim_start().chars().next().unwrap_or(' ');
        // A property keeps its name; a private one, such as `#count`, does not.
        let may_change = before != '.' || renamed.ends_with("...") || first == '#';
        match other(token).filter(|_| may_change) {
            Some(name) if brackets.last() == Some(&'{') && matches!(before, '{' | ',') => match next {
                ':' => renamed.push_str(token),
                ',' | '}' => renamed.extend([token, ": ", name]),
                _ => renamed.push_str(name),
            },
            found => renamed.push_str(found.unwrap_or(token)),
        }
        match first {
            // A part of a template is not an object.
            '{' if before == '$' => brackets.push('('),
            '{' | '(' | '[' => brackets.push(first),
            '}' | ')' | ']' => drop(brackets.pop()),
            _ => {}
        }
        if brackets.last() == Some(&'(') && first == '{' {
            before = '(';
        } else if !first.is_whitespace() {
            before = token.chars().next_back().unwrap_or(' ');
        }
        rest = after;
    }
    renamed
}

/// Whether a variable of that name is in an expression.
pub(super) fn mentions(expression: &str, name: &str) -> bool {
    expression.contains(name) && renamed(expression, |other| (other == name).then_some("\0")).contains('\0')
}

fn token_length(text: &str, first: char) -> usize {
    match first {
        '\'' | '"' => quoted_length(text, first),
        '#' => text.find(|c| !is_part_of_name(c) && c != '#').unwrap_or(text.len()),
        letter if is_part_of_name(letter) => text.find(|c| !is_part_of_name(c)).unwrap_or(text.len()),
        letter => letter.len_utf8(),
    }
}

/// Whether a letter may be in a name.
pub(in super::super) fn is_part_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$')
}

fn quoted_length(text: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if letter == mark => return at + letter.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_are_mentioned() {
        for (expression, expected) in [
            ("total + 1", true),
            ("f({ total })", true),
            ("subtotal + a.total", false),
            ("eval('total')", false),
        ] {
            assert_eq!(mentions(expression, "total"), expected, "{expression}");
        }
    }

    #[test]
    fn references_to_a_name_are_found() {
        let table = [
            ("total + 1", "t + 1"),
            ("a.total + total.total", "a.total + t.total"),
            ("'total' + \"total\" + total", "'total' + \"total\" + t"),
            ("f({total: total})", "f({total: t})"),
            ("({ total, x, e })", "({ total: t, x, e: total })"),
            ("f(a, total, e)", "f(a, t, total)"),
            ("x ? total : 1", "x ? t : 1"),
            ("[...total]", "[...t]"),
            ("subtotal + total_2 + `${total}`", "subtotal + total_2 + `${t}`"),
            ("'it\\'s total", "'it\\'s total"),
            ("total = total * 2", "t = t * 2"),
            ("this.#total + a.#count", "this.#total + a.#c"),
        ];
        let other = |name: &str| match name {
            "total" => Some("t"),
            "e" => Some("total"),
            "#count" => Some("#c"),
            _ => None,
        };
        for (expression, expected) in table {
            assert_eq!(renamed(expression, other), expected);
        }
    }
}
