//! How values compare, and what comes of arithmetic with them.

use std::cmp::Ordering;

use super::evaluate::{Datum, text};

/// The longest string that a multiplication makes, in bytes.
const MOST: usize = 10_000;

#[expect(
    clippy::cast_precision_loss,
    reason = "Python compares exactly; the last digits of huge numbers differ"
)]
pub(super) fn number(datum: &Datum) -> Option<f64> {
    match datum {
        Datum::Bool(value) => Some(f64::from(u8::from(*value))),
        Datum::Integer(number) => Some(*number as f64),
        Datum::Float(number) => Some(*number),
        _ => None,
    }
}

/// How two values compare; none if they are of different kinds.
pub(super) fn order(left: &Datum, right: &Datum) -> Option<Ordering> {
    match (left, right) {
        (Datum::None, Datum::None) | (Datum::Undefined, Datum::Undefined) => Some(Ordering::Equal),
        (Datum::Integer(left), Datum::Integer(right)) => Some(left.cmp(right)),
        (Datum::Text(left, _), Datum::Text(right, _)) => Some(left.cmp(right)),
        (Datum::Object(left), Datum::Object(right)) => (left == right).then_some(Ordering::Equal),
        (Datum::Member(left, ..), Datum::Member(right, ..)) if left == right => Some(Ordering::Equal),
        (Datum::Member(_, _, Some(left)), right) => order(left, right),
        (left, Datum::Member(_, _, Some(right))) => order(left, right),
        (Datum::Other(left), Datum::Other(right)) => (left == right).then_some(Ordering::Equal),
        _ => number(left)?.partial_cmp(&number(right)?),
    }
}

impl Datum {
    /// A string that is known to its end.
    pub(super) fn whole_text(&self) -> Option<&str> {
        match self {
            Self::Text(text, length) if i64::try_from(text.chars().count()) == Ok(*length) => Some(text),
            _ => None,
        }
    }

    /// Whether it is the same value as another one.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        order(self, other) == Some(Ordering::Equal)
    }
}

pub(super) fn arithmetic(left: &Datum, sign: char, right: &Datum) -> Option<Datum> {
    let (left, right) = (left.plain(), right.plain());
    // `True` is a number.
    if let Datum::Bool(value) = left {
        return arithmetic(&Datum::Integer(i64::from(*value)), sign, right);
    }
    if let Datum::Bool(value) = right {
        return arithmetic(left, sign, &Datum::Integer(i64::from(*value)));
    }
    match (left, sign, right) {
        (Datum::Text(..), '+', Datum::Text(..)) => {
            return Some(text(&format!("{}{}", left.whole_text()?, right.whole_text()?)));
        }
        (string @ Datum::Text(..), '*', Datum::Integer(times))
        | (Datum::Integer(times), '*', string @ Datum::Text(..)) => {
            let times = usize::try_from(*times).unwrap_or(0);
            let string = string.whole_text()?;
            return (string.len().saturating_mul(times) <= MOST).then(|| text(&string.repeat(times)));
        }
        _ => {}
    }
    if let (Datum::Integer(left), Datum::Integer(right)) = (left, right) {
        let result = match sign {
            '+' => left.checked_add(*right),
            '-' => left.checked_sub(*right),
            '*' => left.checked_mul(*right),
            '%' => floor_division(*left, *right).and_then(|(_, rest)| rest),
            '|' => floor_division(*left, *right).map(|(quotient, _)| quotient),
            _ => None,
        };
        if result.is_some() || sign == '%' || sign == '|' {
            return result.map(Datum::Integer);
        }
    }
    let (left, right) = (number(left)?, number(right)?);
    let result = match sign {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        _ if right == 0.0 => return None,
        '/' => left / right,
        '|' => (left / right).floor(),
        _ => left - right * (left / right).floor(),
    };
    Some(Datum::Float(result))
}

/// The quotient, rounded down, and the rest.
fn floor_division(left: i64, right: i64) -> Option<(i64, Option<i64>)> {
    let rest = left.checked_rem(right)?;
    let quotient = left.checked_div(right)?;
    let is_off = rest != 0 && (rest < 0) != (right < 0);
    let quotient = if is_off { quotient - 1 } else { quotient };
    Some((quotient, Some(if is_off { rest + right } else { rest })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_that_of_python() {
        let table = [
            (Datum::Integer(-7), '%', Datum::Integer(3), "Integer(2)"),
            (Datum::Bool(true), '+', Datum::Float(0.5), "Float(1.5)"),
            (text("ab"), '+', text("c"), "Text(\"abc\", 3)"),
            (text("ab"), '*', Datum::Integer(2), "Text(\"abab\", 4)"),
            (Datum::Integer(-1), '*', text("ab"), "Text(\"\", 0)"),
        ];
        for (left, sign, right, expected) in table {
            assert_eq!(format!("{:?}", arithmetic(&left, sign, &right).unwrap()), expected, "{left:?}");
        }
        let beginning = Datum::Text("ab".into(), 5_000);
        for (left, sign, right) in [
            (beginning, '+', text("c")),
            (text("ab"), '+', Datum::Integer(1)),
            (text("ab"), '*', Datum::Integer(1 << 40)),
        ] {
            assert!(arithmetic(&left, sign, &right).is_none(), "{left:?}");
        }
    }
}
