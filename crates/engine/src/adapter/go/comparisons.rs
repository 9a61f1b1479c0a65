//! Comparisons with decimal constants: Go rounds a constant to the type of the other side, Delve compares it exactly.

use super::super::plan::{Comparison, Deciding};
use super::expressions::{outside, unwrapped};

/// Operators, and the same with the sides exchanged.
const SIGNS: [(&str, &str); 6] =
    [("==", "=="), ("!=", "!="), ("<=", ">="), (">=", "<="), ("<", ">"), (">", "<")];

/// What has two letters of which the first is an operator's.
const OTHERS: [&str; 3] = ["<<", ">>", "<-"];

/// The comparisons of a value with a constant that may have to be rounded.
pub(super) fn inexact(expression: &str) -> Vec<Comparison> {
    all(expression).into_iter().filter(|comparison| is_inexact(&comparison.constant)).collect()
}

/// A comparison as Delve takes it, by the value of its constant and that of the other side; none if it has no float.
pub(super) fn exact(comparison: &Comparison, constant: &Deciding, other: &Deciding) -> Option<String> {
    let (double, single) = rounded(&constant.text)?;
    let with = |value: &str| format!("{} {} {value}", comparison.other, comparison.sign);
    match other.kind.as_str() {
        // A call is of an unknown type, most likely of the first one.
        "float64" | "interface {}(float64)" | "" => Some(with(&double)),
        "float32" => Some(with(&single)),
        // Of another type, the size is the one for which the text is that of the value: it has no more digits than needed.
        kind if kind.contains('.') && other.text.contains('.') => {
            let (as_double, as_single) = rounded(&other.text)?;
            let is = |value: &str| format!("{} == {value}", comparison.other);
            let sizes = [(is(&as_double), with(&double)), (is(&as_single), with(&single))];
            let [first, second] = sizes.map(|(is, with)| format!("({is} && {with})"));
            Some(format!("({first} || {second})"))
        }
        // Delve takes `1e6` for no integer, and more digits are not those of the constant.
        _ if other.text.parse::<i64>().is_ok() && !double.contains('.') && double.len() < 16 => {
            Some(with(&double))
        }
        _ => None,
    }
}

/// A condition that is true wherever this one is, whatever the types in it; none if there is no such condition.
pub(super) fn weaker(condition: &str) -> Option<String> {
    let found = inexact(condition);
    let is_operator = |letter: char| matches!(letter, '<' | '>' | '=' | '&' | '|');
    let is_nested = |side: &str| outside(side).any(|(_, letter, _)| is_operator(letter));
    let negates = |(at, letter, _): (usize, char, i32)| {
        letter == '!' && condition.get(at..).is_none_or(|rest| !rest.starts_with("!="))
    };
    let is_unclear = outside(condition).any(negates)
        || all(condition).iter().any(|one| is_nested(&one.constant) || is_nested(&one.other));
    if !found.is_empty() && is_unclear {
        return None;
    }
    let mut weaker = condition.to_owned();
    for Comparison { place, other, sign, constant } in found.into_iter().rev() {
        let (double, single) = rounded(&literal(&constant))?;
        weaker.replace_range(place, &format!("({other} {sign} {double} || {other} {sign} {single})"));
    }
    Some(weaker)
}

/// Every comparison, with its constant on the right if it has one.
fn all(expression: &str) -> Vec<Comparison> {
    let letters: Vec<(usize, char, i32)> = outside(expression).collect();
    let (mut found, mut end) = (Vec::new(), 0);
    for (index, &(at, _, depth)) in letters.iter().enumerate() {
        let rest = expression.get(at..).unwrap_or_default();
        if at < end {
            continue;
        }
        if OTHERS.iter().any(|other| rest.starts_with(other)) {
            end = at + 2;
            continue;
        }
        let Some((sign, turned)) = SIGNS.into_iter().find(|(sign, _)| rest.starts_with(sign)) else {
            continue;
        };
        end = at + sign.len();
        let opens = |&&(at, letter, other): &&(usize, char, i32)| {
            let before = expression.get(..=at).unwrap_or_default();
            other == depth
                && (matches!(letter, '(' | '[' | '{' | ',')
                    || ["&&", "||"].iter().any(|sign| before.ends_with(sign)))
        };
        let closes = |&&(at, letter, other): &&(usize, char, i32)| {
            let behind = expression.get(at..).unwrap_or_default();
            other < depth
                || other == depth
                    && (letter == ',' || ["&&", "||"].iter().any(|sign| behind.starts_with(sign)))
        };
        let start = letters.iter().take(index).rev().find(opens).map_or(0, |(at, ..)| at + 1);
        let stop = letters.iter().skip(index).find(closes).map_or(expression.len(), |(at, ..)| *at);
        let [left, right] = [start..at, end..stop].map(|side| expression.get(side).unwrap_or_default());
        let place = at - left.trim_start().len()..end + right.trim_end().len();
        let (left, right) = (left.trim(), right.trim());
        let (other, sign, constant) =
            if is_constant(left) { (right, turned, left) } else { (left, sign, right) };
        let [other, constant] = [other, constant].map(str::to_owned);
        found.push(Comparison { place, other, sign, constant });
    }
    found.retain(|comparison| !is_constant(&comparison.other));
    found
}

/// Whether an expression consists of decimal numbers.
fn is_constant(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_digit() || "._eE+-*/() ".contains(letter);
    let is_name = text
        .split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '.'))
        .any(|word| word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_'));
    text.chars().all(is_part) && text.contains(|letter: char| letter.is_ascii_digit()) && !is_name
}

/// Whether rounding to some size may change a constant.
fn is_inexact(text: &str) -> bool {
    let is_float = text.contains(['.', 'e', 'E', '/']);
    let is_same = rounded(&literal(text)).is_some_and(|(_, single)| single == literal(text));
    is_constant(text) && is_float && !is_same
}

/// A number without the parentheses around it and what the program does not need.
fn literal(text: &str) -> String {
    let text = unwrapped(text);
    let digits = text.trim_start_matches(['-', '+', ' ']);
    let is_negative = text.strip_suffix(digits).is_some_and(|signs| signs.matches('-').count() % 2 == 1);
    let digits = unwrapped(digits).replace('_', "");
    let digits = if digits.contains(['e', 'E']) { digits.as_str() } else { trimmed(&digits) };
    format!("{}{digits}", if is_negative { "-" } else { "" })
}

/// A number as its nearest `float64` and its nearest `float32`, with all of their digits.
fn rounded(text: &str) -> Option<(String, String)> {
    // The smallest number has this many digits.
    let digits = |value: f64| value.is_finite().then(|| trimmed(&format!("{value:.1074}")).to_owned());
    Some((digits(text.parse().ok()?)?, digits(f64::from(text.parse::<f32>().ok()?))?))
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_rounded_to_the_type_that_they_are_compared_with() {
        let (double, single) =
            ("0.1000000000000000055511151231257827021181583404541015625", "0.100000001490116119384765625");
        let table = [
            ("item.Price == 0.1", "float64", "0.3", format!("item.Price == {double}")),
            ("1e-1 >= m[\"a>b\"]", "float64", "0.3", format!("m[\"a>b\"] <= {double}")),
            ("x < -(0.1)", "float32", "0.3", format!("x < -{single}")),
            ("n == 0.1", "int", "3", String::new()),
            ("n == 1e6", "int", "3", "n == 1000000".to_owned()),
            (
                "x == 0.1",
                "main.Rate",
                "0.5",
                format!("((x == 0.5 && x == {double}) || (x == 0.5 && x == {single}))"),
            ),
        ];
        for (expression, kind, text, expected) in table {
            let comparison = inexact(expression).pop().unwrap();
            let constant = Deciding {
                kind: "float64".to_owned(),
                text: literal(&comparison.constant),
                ..Deciding::default()
            };
            let other = Deciding { kind: kind.to_owned(), text: text.to_owned(), ..Deciding::default() };
            assert_eq!(exact(&comparison, &constant, &other).unwrap_or_default(), expected, "{expression}");
        }
    }

    #[test]
    fn only_what_may_be_rounded_is_compared_in_another_way() {
        for same in
            ["x == 2.5", "x == -1_000.50", "0.1 == 0.10", "n > 10", "x == e", "n << 0.1", "s == \"0.1 == x\""]
        {
            assert_eq!((inexact(same), weaker(same).as_deref()), (Vec::new(), Some(same)), "{same}");
        }
        let single = "0.20000000298023223876953125";
        let double = "0.200000000000000011102230246251565404236316680908203125";
        let either = format!("n > 1 && ((x > {double} || x > {single}) || s == \"!\")");
        assert_eq!(weaker("n > 1 && (x > 0.2 || s == \"!\")"), Some(either));
        for unclear in ["!(x == 0.2)", "(x > 0.2) == is_large", "x > 1.0/3"] {
            assert_eq!((inexact(unclear).len(), weaker(unclear)), (1, None), "{unclear}");
        }
    }
}
