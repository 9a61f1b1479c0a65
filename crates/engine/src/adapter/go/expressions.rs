//! Expressions of Go that Delve refuses, as others for the same value.

use super::super::plan::{Deciding, Other};
use super::delve::NEEDS_CALL;

/// What Delve says of two interfaces that contain nothing, as it compares what they contain.
const EMPTY_INTERFACES: &str = "unimplemented comparison of invalid variables";

/// The functions of `strings` that slices and comparisons can say.
const PARTS: [(&str, &str); 2] = [("strings.HasPrefix(", ":{}"), ("strings.HasSuffix(", "len({text})-{}:")];

/// What to evaluate in place of an expression that Delve has refused with a message; none if nothing is known.
pub(super) fn other(expression: &str, message: &str, deciding: &Deciding) -> Option<Other> {
    // An assignment is a call to Delve.
    if message.ends_with("expected '==', found '='") {
        return Some(Other { expression: format!("call {expression}"), explains: true });
    }
    if let Some(value) = without(message) {
        let (inside, is_negated) = usual(expression);
        let value = value(&inside, deciding)?;
        let expression = if is_negated { format!("!({value})") } else { value };
        return Some(Other { expression, explains: false });
    }
    let (other, explains) = match message {
        // A variable of that name is not the package.
        NEEDS_CALL if !deciding.kind.is_empty() => return None,
        NEEDS_CALL => (without_calls(expression)?, false),
        _ if message.starts_with("no type entry found") => {
            (with_package(expression, package(&deciding.source)), true)
        }
        _ => return None,
    };
    (other != expression).then_some(Other { expression: other, explains })
}

/// Whether a call was an assignment that has been made, though Delve refused it with this message; else the message to show.
/// After a pause, Delve may have selected no goroutine, and fails when it looks for the result of a call there.
pub(super) fn has_run_without_result(call: &str, message: String) -> Result<(), String> {
    if !message.starts_with("Internal Error: runtime error: invalid memory address") {
        return Err(message);
    }
    if is_assignment(call) {
        return Ok(());
    }
    Err("the program has run it, but Delve has lost its result: after this pause, no goroutine is selected; a step selects one"
        .to_owned())
}

fn is_assignment(expression: &str) -> bool {
    let letters: Vec<(usize, char, i32)> = outside(expression).collect();
    let is_sign = |at: usize| letters.get(at).is_some_and(|(_, letter, _)| "=!<>".contains(*letter));
    (1..letters.len())
        .any(|at| matches!(letters.get(at), Some((_, '=', 0))) && !is_sign(at - 1) && !is_sign(at + 1))
}

/// The operands of `||` in a condition, of which one that a map has no key for decides nothing else, and those of `&&` in
/// each.
pub(super) fn operands(expression: &str, message: &str) -> Vec<Vec<String>> {
    let found: Vec<Vec<String>> = parts(unwrapped(expression), "||")
        .into_iter()
        .map(|part| parts(unwrapped(part), "&&").into_iter().map(|part| unwrapped(part).to_owned()).collect())
        .collect();
    let has_several = found.len() > 1 || found.iter().any(|operands: &Vec<String>| operands.len() > 1);
    if without(message).is_some() && has_several { found } else { Vec::new() }
}

/// An expression without the parentheses around all of it.
pub(super) fn unwrapped(expression: &str) -> &str {
    let expression = expression.trim();
    let inside = expression.strip_prefix('(').and_then(closed);
    inside.filter(|(_, rest)| rest.is_empty()).map_or(expression, |(inside, _)| unwrapped(inside))
}

/// A comparison with its constant on the right, without a negation around it, and whether there is one.
fn usual(expression: &str) -> (String, bool) {
    let expression = unwrapped(expression);
    let inside = expression.strip_prefix('!').map(str::trim_start).filter(|inside| inside.starts_with('('));
    let negated = inside.map(unwrapped).filter(|inside| !inside.starts_with('('));
    let plain = negated.unwrap_or(expression);
    let signs = [("==", "=="), ("!=", "!="), ("<=", ">="), (">=", "<="), ("<", ">"), (">", "<")];
    let turned = signs.into_iter().find_map(|(sign, mirrored)| match parts(plain, sign).as_slice() {
        [left, right] if constant_kind(left.trim()).is_some() => {
            Some(format!("{} {mirrored} {}", right.trim(), left.trim()))
        }
        _ => None,
    });
    (turned.unwrap_or_else(|| plain.to_owned()), negated.is_some())
}

/// The operands of an operator that is in no brackets.
pub(super) fn parts<'a>(expression: &'a str, sign: &str) -> Vec<&'a str> {
    let is_sign = |(at, _, depth): &(usize, char, i32)| {
        *depth == 0 && expression.get(*at..).is_some_and(|rest| rest.starts_with(sign))
    };
    let mut found = Vec::new();
    let mut start = 0;
    for (at, _, _) in outside(expression).filter(is_sign) {
        found.extend(expression.get(start..at));
        start = at + sign.len();
    }
    found.extend(expression.get(start..));
    found
}

/// The name on whose type it depends what to evaluate in place of a refused expression.
pub(super) fn deciding_name(expression: &str, message: &str) -> Option<String> {
    if message == NEEDS_CALL {
        return Some("strings".to_owned()).filter(|_| without_calls(expression).is_some());
    }
    let (inside, _) = usual(expression);
    if is_of_interface(message) || message == EMPTY_INTERFACES {
        return compared(&inside).map(|(value, _, _)| value.to_owned());
    }
    let item = is_missing_key(message).then(|| of_a_key(&inside))??;
    Some(item.map.to_owned())
}

/// How to say a comparison without what Delve misses for it, by its message.
fn without(message: &str) -> Option<fn(&str, &Deciding) -> Option<String>> {
    match message {
        _ if is_missing_key(message) => Some(of_a_missing_key),
        _ if is_of_interface(message) => Some(of_an_interface),
        EMPTY_INTERFACES => Some(of_empty_interfaces),
        _ => None,
    }
}

/// Delve does not find groups in a map that has none.
fn is_missing_key(message: &str) -> bool {
    message == "key not found"
        || message.starts_with("could not load swiss map group") && message.ends_with(" is nil")
}

/// `strings.HasPrefix(name, "a")` as `(len(name) >= 1 && name[:1] == "a")`: Delve does not call functions in conditions.
fn without_calls(expression: &str) -> Option<String> {
    let mut rest = expression.to_owned();
    for (function, slice) in PARTS {
        while let Some((before, after)) = split_at_name(&rest, function) {
            let (inside, behind) = closed(after)?;
            let (text, part) = arguments(inside)?;
            let slice = slice.replace("{text}", text).replace("{}", &format!("len({part})"));
            rest = format!("{before}(len({text}) >= len({part}) && ({text})[{slice}] == {part}){behind}");
        }
    }
    Some(rest)
}

/// What is before a name, which neither continues another one nor is quoted, and what is after it.
fn split_at_name<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    outside(text).find_map(|(at, _, _)| {
        let (before, after) = text.split_at(at);
        let continues =
            before.ends_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.'));
        Some((before, after.strip_prefix(name).filter(|_| !continues)?))
    })
}

/// What is before the bracket that closes, and what is after it.
pub(super) fn closed(text: &str) -> Option<(&str, &str)> {
    let end = outside(text).find(|(_, _, depth)| *depth < 0)?.0;
    Some((text.get(..end)?, text.get(end + 1..)?))
}

fn arguments(text: &str) -> Option<(&str, &str)> {
    let comma = outside(text).find(|(_, letter, depth)| *letter == ',' && *depth == 0)?.0;
    Some((text.get(..comma)?.trim(), text.get(comma + 1..)?.trim()))
}

/// The letters outside of quotes, with the quotes that open, where they are, and how deep in brackets, of which those that
/// close count already.
pub(super) fn outside(text: &str) -> impl Iterator<Item = (usize, char, i32)> {
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
fn of_a_missing_key(expression: &str, map: &Deciding) -> Option<String> {
    let Item { sign, other, is_length, is_inverted, .. } = of_a_key(expression)?;
    let is_number = other.trim_start_matches('-').chars().all(|digit| digit.is_ascii_digit() || digit == '.');
    let zero = match other {
        "nil" if !is_length => return Some((sign == "==").to_string()),
        "" if item_kind(map)? == "bool" => return Some(is_inverted.to_string()),
        _ if is_inverted => return None,
        _ if is_number && !other.is_empty() && is_length => "0",
        _ if is_length => return None,
        _ if is_literal(other, '"') => "\"\"",
        "true" | "false" => "false",
        _ if is_number && !other.is_empty() => "0",
        _ => return None,
    };
    // An interface that contains nothing equals no value.
    if !is_length && item_kind(map)?.starts_with("interface {") {
        return matches!(sign, "==" | "!=").then(|| (sign == "!=").to_string());
    }
    Some(format!("{zero} {sign} {other}"))
}

/// One item of a map, or its length, and what it is compared with, if it is.
struct Item<'a> {
    map: &'a str,
    sign: &'a str,
    other: &'a str,
    is_length: bool,
    is_inverted: bool,
}

fn of_a_key(expression: &str) -> Option<Item<'_>> {
    let (map, rest) = expression.split_once('[')?;
    let map = map.trim();
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.');
    let (key, after) = closed(rest)?;
    let after = after.trim();
    let (length, plain) = (map.strip_prefix("len("), map.strip_prefix('!'));
    let after = if length.is_some() { after.strip_prefix(')')?.trim() } else { after };
    let (is_length, is_inverted) = (length.is_some(), plain.is_some());
    let map = length.or(plain).unwrap_or(map).trim();
    // The key that is missing may be that of another map.
    if key.contains('[') || !map.chars().all(is_name) {
        return None;
    }
    if after.is_empty() {
        return (!is_length).then_some(Item { map, sign: "", other: "", is_length, is_inverted });
    }
    let sign = ["==", "!=", "<=", ">=", "<", ">"].into_iter().find(|sign| after.starts_with(sign))?;
    let other = after.strip_prefix(sign)?.trim();
    Some(Item { map, sign, other, is_length, is_inverted })
}

/// Delve compares no interface with a constant.
fn is_of_interface(message: &str) -> bool {
    message.starts_with("can not convert ") && message.ends_with(" constant to interface {}")
}

/// `meta["n"] == 1`, where that has an interface, as `meta["n"].(int) == 1`, or as false if what it has is of another type
/// or it has nothing.
fn of_an_interface(expression: &str, value: &Deciding) -> Option<String> {
    let (left, sign, right) = compared(expression)?;
    let kind = constant_kind(right)?;
    let is_nothing = value.text == "interface {} nil";
    let held = if is_nothing { "" } else { value.kind.strip_prefix("interface {}(")?.strip_suffix(')')? };
    Some(if held == kind { format!("{left}.({kind}) {sign} {right}") } else { (sign == "!=").to_string() })
}

/// Whether `err == expected` where neither contains anything, by the value of the first.
fn of_empty_interfaces(expression: &str, value: &Deciding) -> Option<String> {
    let (_, sign, _) = compared(expression)?;
    value.text.ends_with(" nil").then(|| (sign == "==").to_string())
}

/// The type that a constant has in an interface; none for another expression.
fn constant_kind(text: &str) -> Option<&'static str> {
    let digits = text.trim_start_matches('-');
    let has_prefix = ["0x", "0X", "0b", "0B", "0o", "0O"].iter().any(|prefix| digits.starts_with(prefix));
    let is_whole = digits.chars().all(|digit| digit.is_ascii_digit() || digit == '_');
    match text {
        "true" | "false" => Some("bool"),
        _ if is_literal(text, '"') => Some("string"),
        _ if is_literal(text, '\'') => Some("int32"),
        _ if !digits.starts_with(|digit: char| digit.is_ascii_digit()) => None,
        _ if is_whole
            || has_prefix && digits.chars().all(|digit| digit.is_alphanumeric() || digit == '_') =>
        {
            Some("int")
        }
        _ => digits.parse::<f64>().is_ok().then_some("float64"),
    }
}

/// The sides of an expression that only compares whether they are equal, and its sign.
fn compared(expression: &str) -> Option<(&str, &'static str, &str)> {
    ["==", "!="].into_iter().find_map(|sign| match parts(expression, sign).as_slice() {
        [left, right] => Some((left.trim(), sign, right.trim())),
        _ => None,
    })
}

/// Whether it is one text in quotes, rather than an expression that begins and ends with one.
fn is_literal(text: &str, quote: char) -> bool {
    text.len() > 1 && text.starts_with(quote) && text.ends_with(quote) && outside(text).count() == 1
}

/// The type of the items of a map; of one with a name, what its first item looks like.
fn item_kind(map: &Deciding) -> Option<&str> {
    if let Some(key) = map.kind.strip_prefix("map[") {
        return closed(key).map(|(_, items)| items);
    }
    let items = map.text.strip_prefix(&map.kind)?.trim_start().strip_prefix('[')?;
    let colon = outside(items).find(|(_, letter, depth)| *letter == ':' && *depth == 0)?.0;
    let item = items.get(colon + 1..)?.trim_start();
    match item.chars().next()? {
        '"' => Some("string"),
        '-' | '0'..='9' => Some("int"),
        't' | 'f' if ["true", "false"].iter().any(|word| item.starts_with(word)) => Some("bool"),
        'i' if item.starts_with("interface {") => Some(item),
        _ => None,
    }
}

/// `named.(*Item).Price` as `named.(*main.Item).Price`: Delve knows types by their packages only.
fn with_package(expression: &str, package: &str) -> String {
    let mut parts = expression.split(".(");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |before, part| {
        let name = part.trim_start_matches('*');
        let stars = part.strip_suffix(name).unwrap_or_default();
        let kind = name.split(')').next().unwrap_or_default();
        let is_local =
            !kind.is_empty() && kind.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        let package = if is_local { format!("{package}.") } else { String::new() };
        format!("{before}.({stars}{package}{name}")
    })
}

fn package(source: &str) -> &str {
    let named = source.lines().find_map(|line| line.strip_prefix("package "));
    let name = named.and_then(|rest| rest.split_whitespace().next()).unwrap_or("main");
    name.trim_end_matches(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_result_is_no_error_of_an_assignment() {
        let lost = "Internal Error: runtime error: invalid memory address or nil pointer dereference";
        for call in ["call limit = 8", "call item.Name = \"a == b\"", "call counts[f(1)]=2"] {
            assert_eq!(has_run_without_result(call, lost.to_owned()), Ok(()), "{call}");
            assert_eq!(has_run_without_result(call, "nope".to_owned()), Err("nope".to_owned()), "{call}");
        }
        for call in ["call f(1)", "call f(1) == 2", "call f(a != b)", "call f(\"x = y\") >= 1"] {
            let message = has_run_without_result(call, lost.to_owned()).unwrap_err();
            assert!(message.contains("a step selects one"), "{call}: {message}");
        }
    }

    #[test]
    fn refused_expressions_have_others_for_the_same_value() {
        let (call, missing, nil) =
            (NEEDS_CALL, "key not found", "could not load swiss map group ctrl:  is nil");
        let (counts, names, anything) = ("map[string]int", "map[int]string", "map[[2]int]interface {}");
        let constant = "can not convert 1 constant to interface {}";
        let untyped = "no type entry found, use 'types'";
        let table = [
            ("x = 5", "1:3: expected '==', found '='", "", Some("call x = 5")),
            (
                "n > 1 && !strings.HasPrefix(item.Name, \"a, )\")",
                call,
                "",
                Some(
                    "n > 1 && !(len(item.Name) >= len(\"a, )\") && (item.Name)[:len(\"a, )\")] == \"a, )\")",
                ),
            ),
            (
                "strings.HasSuffix(names[f(0)], end)",
                call,
                "",
                Some("(len(names[f(0)]) >= len(end) && (names[f(0)])[len(names[f(0)])-len(end):] == end)"),
            ),
            ("strings.HasSuffix(name, end)", call, "main.Texts", None),
            ("mystrings.HasPrefix(name, end)", call, "", None),
            ("name == \"strings.HasPrefix(a, b)\" && f()", call, "", None),
            ("item.Name() == \"a\"", call, "", None),
            ("strings.HasPrefix(name", call, "", None),
            ("items[key] == nil", missing, "map[string]*main.Item", Some("true")),
            ("shop.items[\"x\"] != nil", missing, anything, Some("false")),
            ("counts[\"x\"] >= 2", missing, counts, Some("0 >= 2")),
            ("counts[\"x\"] == 0", nil, counts, Some("0 == 0")),
            ("names[1] == \"a\"", missing, names, Some("\"\" == \"a\"")),
            ("names[1] == \"\" || names[2] == \"a\"", missing, names, None),
            ("any[\"x\"] == \"\"", missing, anything, Some("false")),
            ("any[\"x\"] != 0", missing, anything, Some("true")),
            ("any[\"x\"] == 0", missing, "", None),
            ("any[\"x\"] == -1", constant, "interface {}(int)", Some("any[\"x\"].(int) == -1")),
            ("any[\"x\"] != \"a\"", constant, "interface {}(int)", Some("true")),
            ("any[\"x\"] == n", constant, "interface {}(int)", None),
            ("0x1f == any[\"x\"]", constant, "interface {}(int)", Some("any[\"x\"].(int) == 0x1f")),
            ("!(any[\"x\"] == 'x')", constant, "interface {}(int)", Some("!(false)")),
            ("any[\"x\"] == 1", constant, "interface {}", None),
            ("err == want", EMPTY_INTERFACES, "error nil", Some("true")),
            ("!(err != want)", EMPTY_INTERFACES, "error nil", Some("!(false)")),
            ("err == want", EMPTY_INTERFACES, "main.Pair {}", None),
            ("2 < counts[\"x\"]", missing, counts, Some("0 > 2")),
            ("counts[keys[1]] == 0", missing, counts, None),
            ("counts[\"x\"] == n", missing, counts, None),
            ("a[1] == 0 || b[2] == 0", missing, counts, None),
            ("items[key].Price > 3", missing, counts, None),
            ("!seen[\"x\"]", missing, "map[string]bool", Some("true")),
            ("counts[\"x\"]", missing, counts, None),
            ("len(header[\"x\"]) > 0", missing, "http.Header", Some("0 > 0")),
            ("header[\"x\"] == 0", missing, "http.Header", None),
            ("named.(*Item).Price", untyped, "", Some("named.(*shop.Item).Price")),
            ("named.(other.Item)", untyped, "", None),
        ];
        for (expression, message, deciding, expected) in table {
            let source = "// Package shop sells.\npackage shop // as its folder\n".to_owned();
            let text = if message == EMPTY_INTERFACES { deciding } else { "" }.to_owned();
            let deciding = Deciding { kind: deciding.to_owned(), text, source };
            let other = other(expression, message, &deciding).map(|other| other.expression);
            assert_eq!(other.as_deref(), expected, "{expression}");
        }
    }
}
