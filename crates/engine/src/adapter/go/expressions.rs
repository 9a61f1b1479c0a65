//! Expressions of Go that Delve refuses, as others for the same value.

use super::delve::NEEDS_CALL;

/// The functions of `strings` that slices and comparisons can say.
const PARTS: [(&str, &str); 2] = [("strings.HasPrefix(", ":{}"), ("strings.HasSuffix(", "len({text})-{}:")];

/// What to evaluate in place of an expression that Delve has refused with a message; none if nothing is known.
pub(super) fn other(expression: &str, message: &str) -> Option<String> {
    // An assignment is a call to Delve.
    if message.ends_with("expected '==', found '='") {
        return Some(format!("call {expression}"));
    }
    let other = match message {
        NEEDS_CALL => without_calls(expression)?,
        "key not found" => of_a_missing_key(expression)?,
        _ if message.starts_with("no type entry found") => with_packages(expression),
        _ => return None,
    };
    (other != expression).then_some(other)
}

/// `strings.HasPrefix(name, "a")` as `(len(name) >= 1 && name[:1] == "a")`: Delve does not call functions in conditions.
fn without_calls(expression: &str) -> Option<String> {
    let mut rest = expression.to_owned();
    for (function, slice) in PARTS {
        while let Some((before, after)) = rest.split_once(function) {
            let (inside, behind) = closed(after)?;
            let (text, part) = arguments(inside)?;
            let slice = slice.replace("{text}", text).replace("{}", &format!("len({part})"));
            rest = format!("{before}(len({text}) >= len({part}) && ({text})[{slice}] == {part}){behind}");
        }
    }
    Some(rest)
}

/// What is in front of the parenthesis that closes, and what is behind it.
fn closed(text: &str) -> Option<(&str, &str)> {
    let end = outside(text).find(|(_, letter, depth)| *letter == ')' && *depth < 0)?.0;
    Some((text.get(..end)?, text.get(end + 1..)?))
}

fn arguments(text: &str) -> Option<(&str, &str)> {
    let comma = outside(text).find(|(_, letter, depth)| *letter == ',' && *depth == 0)?.0;
    Some((text.get(..comma)?.trim(), text.get(comma + 1..)?.trim()))
}

/// The letters outside of quotes, where they are, and how deep in brackets, of which those that close count already.
fn outside(text: &str) -> impl Iterator<Item = (usize, char, i32)> {
    let (mut depth, mut quote, mut escaped) = (0, None, false);
    text.char_indices().filter_map(move |(at, letter)| {
        if let Some(end) = quote {
            quote = (letter != end || escaped).then_some(end);
            escaped = letter == '\\' && !escaped && end != '`';
            return None;
        }
        match letter {
            '"' | '\'' | '`' => quote = Some(letter),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        Some((at, letter, depth))
    })
}

/// `counts["x"] > 2` without that key as `0 > 2`, as Go takes it. Delve has no value of a type that is not there.
fn of_a_missing_key(expression: &str) -> Option<String> {
    let (map, rest) = expression.split_once('[')?;
    let (key, after) = rest.split_once(']')?;
    let is_plain = !key.contains('[')
        && map.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '.'));
    let after = after.trim();
    let sign = ["==", "!=", "<=", ">=", "<", ">"].into_iter().find(|sign| after.starts_with(sign))?;
    let other = after.strip_prefix(sign)?.trim();
    let is_number = other.trim_start_matches('-').chars().all(|digit| digit.is_ascii_digit() || digit == '.');
    let zero = match other {
        "nil" => return is_plain.then(|| (sign == "==").to_string()),
        "true" | "false" => "false",
        _ if other.starts_with('"') && other.ends_with('"') => "\"\"",
        _ if is_number && !other.is_empty() => "0",
        _ => return None,
    };
    is_plain.then(|| format!("{zero} {sign} {other}"))
}

/// `named.(*Item).Price` as `named.(*main.Item).Price`: Delve knows types by their packages only.
fn with_packages(expression: &str) -> String {
    let mut parts = expression.split(".(");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        let name = part.trim_start_matches('*');
        let stars = part.strip_suffix(name).unwrap_or_default();
        let kind = name.split(')').next().unwrap_or_default();
        let is_local =
            !kind.is_empty() && kind.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        format!("{before}.({stars}{}{name}", if is_local { "main." } else { "" })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_expressions_have_others_for_the_same_value() {
        let call = NEEDS_CALL;
        let table = [
            ("x = 5", "1:3: expected '==', found '='", Some("call x = 5")),
            (
                "n > 1 && !strings.HasPrefix(item.Name, \"a, )\")",
                call,
                Some(
                    "n > 1 && !(len(item.Name) >= len(\"a, )\") && (item.Name)[:len(\"a, )\")] == \"a, )\")",
                ),
            ),
            (
                "strings.HasSuffix(names[f(0)], end)",
                call,
                Some("(len(names[f(0)]) >= len(end) && (names[f(0)])[len(names[f(0)])-len(end):] == end)"),
            ),
            ("item.Name() == \"a\"", call, None),
            ("strings.HasPrefix(name", call, None),
            ("items[key] == nil", "key not found", Some("true")),
            ("shop.items[\"x\"] != nil", "key not found", Some("false")),
            ("counts[\"x\"] >= 2", "key not found", Some("0 >= 2")),
            ("names[1] == \"a\"", "key not found", Some("\"\" == \"a\"")),
            ("counts[keys[1]] == 0", "key not found", None),
            ("counts[\"x\"] == n", "key not found", None),
            ("a[1] == 0 || b[2] == 0", "key not found", None),
            ("items[key].Price > 3", "key not found", None),
            ("named.(*Item).Price", "no type entry found, use 'types'", Some("named.(*main.Item).Price")),
            ("named.(shop.Item)", "no type entry found, use 'types'", None),
        ];
        for (expression, message, expected) in table {
            assert_eq!(other(expression, message).as_deref(), expected, "{expression}");
        }
    }
}
