//! Names of the source in expressions, where the running script has others.

/// An expression with every use of a variable under another name. Texts in quotes and names after a dot, or
/// before a colon, are left as they are.
pub(super) fn renamed(expression: &str, from: &str, to: &str) -> String {
    let mut renamed = String::with_capacity(expression.len());
    let mut rest = expression;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '"' => quoted_length(rest, first),
            letter if is_part(letter) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            letter => letter.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        let is_member = before == '.' && !renamed.ends_with("...");
        let is_key = after.trim_start().starts_with(':') && matches!(before, '{' | ',');
        renamed.push_str(if token == from && !is_member && !is_key { to } else { token });
        if !token.trim().is_empty() {
            before = token.chars().next_back().unwrap_or(' ');
        }
        rest = after;
    }
    renamed
}

/// The name in `x is not defined`.
pub(super) fn undefined_name(message: &str) -> Option<&str> {
    message.strip_prefix("ReferenceError: ")?.strip_suffix(" is not defined")
}

fn is_part(letter: char) -> bool {
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
    fn uses_of_a_name_are_found() {
        let table = [
            ("total + 1", "t + 1"),
            ("a.total + total.total", "a.total + t.total"),
            ("'total' + \"total\" + total", "'total' + \"total\" + t"),
            ("f({total: total})", "f({total: t})"),
            ("x ? total : 1", "x ? t : 1"),
            ("[...total]", "[...t]"),
            ("subtotal + total_2 + `${total}`", "subtotal + total_2 + `${t}`"),
            ("'it\\'s total", "'it\\'s total"),
            ("total = total * 2", "t = t * 2"),
        ];
        for (expression, expected) in table {
            assert_eq!(renamed(expression, "total", "t"), expected);
        }
    }

    #[test]
    fn the_undefined_name_is_read_from_the_message() {
        assert_eq!(undefined_name("ReferenceError: total is not defined"), Some("total"));
        assert_eq!(undefined_name("ReferenceError: Cannot access 'x' before initialization"), None);
    }
}
