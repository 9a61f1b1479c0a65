//! Where JavaScript takes values otherwise than Python: arithmetic, comparisons of different kinds, and
//! what is not there, which is `undefined`.

use std::cmp::Ordering;

use super::comparing::{self, number};
use super::containers::wide;
use super::evaluate::{Datum, Scope, is_nothing, text};
use super::{Comparison, Expression};
use crate::error::Result;
use crate::spelling::Spelling;
use crate::value::{Kind, Word};

/// What `Number()` makes of a value; none of an object.
pub(super) fn to_number(value: &Datum) -> Option<f64> {
    match value {
        Datum::None => Some(0.0),
        Datum::Undefined => Some(f64::NAN),
        Datum::Text(text, _) if text.trim().is_empty() => Some(0.0),
        Datum::Text(text, _) => Some(text.trim().parse().unwrap_or(f64::NAN)),
        _ => number(value),
    }
}

/// Whether exceptions have a property that is not recorded.
fn is_of_errors(name: &str) -> bool {
    matches!(name, "name" | "stack")
}

pub(super) fn arithmetic(left: &Datum, sign: char, right: &Datum) -> Option<Datum> {
    if sign == '+' && (matches!(left, Datum::Text(..)) || matches!(right, Datum::Text(..))) {
        return Some(text(&format!("{}{}", to_text(left)?, to_text(right)?)));
    }
    if let (Datum::Integer(left), Datum::Integer(right), '%') = (left, right, sign)
        && *right != 0
    {
        return left.checked_rem(*right).map(Datum::Integer);
    }
    if let (Datum::Integer(_), Datum::Integer(_), '+' | '-' | '*') = (left, right, sign) {
        return comparing::arithmetic(left, sign, right);
    }
    let (left, right) = (to_number(left)?, to_number(right)?);
    Some(Datum::Float(match sign {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        '/' => left / right,
        '%' => left % right,
        _ => (left / right).floor(),
    }))
}

/// A value as it is joined to a string; none of an object, and of a string that is not known to its end.
fn to_text(value: &Datum) -> Option<String> {
    match value {
        Datum::Text(..) => value.whole_text().map(str::to_owned),
        // A number without a fraction is written without one.
        Datum::Float(number) => Some(number.to_string()),
        simple => simple.simple_text(Spelling::JavaScript),
    }
}

/// Whether two values compare so where Python's answer is another one; none where it is the same.
pub(super) fn compare(left: &Datum, comparison: Comparison, right: &Datum) -> Option<bool> {
    let is_number = |value: &Datum| matches!(value, Datum::Integer(_) | Datum::Float(_));
    let is_simple = |value: &Datum| is_number(value) || matches!(value, Datum::Bool(_) | Datum::Text(..));
    let is_mixed = !(is_number(left) && is_number(right))
        && std::mem::discriminant(left) != std::mem::discriminant(right);
    if !is_mixed || !(is_simple(left) || is_nothing(left)) || !(is_simple(right) || is_nothing(right)) {
        return None;
    }
    let order = || to_number(left)?.partial_cmp(&to_number(right)?);
    Some(match comparison {
        Comparison::Is => false,
        Comparison::IsNot => true,
        // Nothing equals only nothing.
        Comparison::Equal | Comparison::NotEqual if is_nothing(left) || is_nothing(right) => return None,
        Comparison::Equal => order() == Some(Ordering::Equal),
        Comparison::NotEqual => order() != Some(Ordering::Equal),
        Comparison::Less => order().is_some_and(Ordering::is_lt),
        Comparison::LessOrEqual => order().is_some_and(Ordering::is_le),
        Comparison::Greater => order().is_some_and(Ordering::is_gt),
        Comparison::GreaterOrEqual => order().is_some_and(Ordering::is_ge),
        _ => return None,
    })
}

impl Scope<'_> {
    pub(super) fn is_javascript(&self) -> bool {
        self.recording.spelling == Spelling::JavaScript
    }

    /// Whether two values are of different types, so that they are not the same one in Python.
    pub(super) fn differ_in_type(&self, left: &Datum, right: &Datum) -> bool {
        !self.is_javascript() && std::mem::discriminant(left) != std::mem::discriminant(right)
    }

    /// The attribute `length` or `size` of a value that does not keep it: in JavaScript, strings and arrays have the one, maps
    /// and sets the other.
    pub(super) fn length_as(&self, of: &Expression, name: &str) -> Result<Option<Datum>> {
        let Some(value) = self.value(of)? else { return Ok(None) };
        if !self.is_javascript() {
            return self.length(&value);
        }
        let own = match &value {
            Datum::Text(..) | Datum::Items(_) => "length",
            Datum::Object(number) => match self.recording.object(*number)?.kind {
                Kind::List => "length",
                Kind::Dictionary | Kind::Set => "size",
                Kind::Instance => return self.missing(of, &text(name)),
                _ => return self.length(&value),
            },
            Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) => "",
            _ => return Ok(None),
        };
        if own == name {
            return self.length(&value);
        }
        Ok((!self.recording.may_be_inherited(name)).then_some(Datum::Undefined))
    }

    /// Whether a value is not a number, or each of an array is not.
    pub(super) fn is_nan(&self, value: &Datum) -> Result<Option<Datum>> {
        if self.is_javascript() && !matches!(value, Datum::Object(_) | Datum::Items(_)) {
            return Ok(to_number(value).map(|number| Datum::Bool(number.is_nan())));
        }
        self.of_each(value, |each| match each {
            Datum::Float(number) => Some(number.is_nan()),
            Datum::Integer(_) => Some(false),
            _ => None,
        })
    }

    /// What an attribute or an item is that a value does not have: `undefined`. None if it may have it: by a getter, in
    /// a class, or beyond what is recorded.
    pub(super) fn missing(&self, of: &Expression, at: &Datum) -> Result<Option<Datum>> {
        let of = self.value(of)?;
        let is_beyond = |length: i64| matches!(at, Datum::Integer(at) if *at >= length);
        let is_missing = match &of {
            Some(Datum::Text(_, length)) => is_beyond(*length),
            Some(Datum::Items(items)) => is_beyond(wide(items.len())),
            Some(Datum::Object(number)) => {
                let length = match self.length_of(*number)? {
                    Some(Word::Integer(length)) => Some(length),
                    _ => None,
                };
                let object = self.recording.object(*number)?;
                match (object.kind, at) {
                    (Kind::Instance, Datum::Text(name, _)) => {
                        !(is_of_errors(name) && object.type_name.ends_with("Error"))
                            && self.has_all_attributes(*number)?
                            && self.has_all_inherited(*number)?
                            && !self.recording.may_be_inherited(name)
                    }
                    (Kind::List, _) => length.is_some_and(is_beyond),
                    (Kind::Dictionary, Datum::Object(_)) => false,
                    (Kind::Dictionary, _) => self.has_all_keys(*number)?,
                    _ => false,
                }
            }
            _ => false,
        };
        Ok(is_missing.then_some(Datum::Undefined))
    }

    /// What instances of a function or a class inherit from, as in `Shop.prototype`.
    pub(super) fn prototype(&self, of: &Expression, name: &str) -> Result<Option<Datum>> {
        if name != "prototype" {
            return Ok(None);
        }
        let found = match (self.value(of)?, of) {
            (Some(Datum::Object(number)), _) => {
                let object = self.recording.object(number)?;
                let class = Some(object.type_name).filter(|_| object.kind.is_named());
                class.map(|class| self.recording.prototype_of(&class)).transpose()?.flatten()
            }
            // A declaration of a function writes no variable.
            (None, Expression::Name(class)) => self.recording.prototype_of(class)?,
            _ => None,
        };
        Ok(found.map(Datum::Object))
    }

    /// Whether all that an object inherits from is recorded, but for methods.
    fn has_all_inherited(&self, object: i64) -> Result<bool> {
        for prototype in self.recording.inherited(object)? {
            let has_all = self.recording.object(prototype)?.kind == Kind::Instance
                && self.recording.count_of_attributes(prototype)? < self.recording.most_items();
            if !has_all {
                self.note_cut(object)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether all that an object has is recorded.
    fn has_all_attributes(&self, object: i64) -> Result<bool> {
        if self.is_unread(&Datum::Object(object))? {
            return Ok(false);
        }
        let has_all = self.recording.count_of_attributes(object)? < self.recording.most_items();
        if !has_all {
            self.note_cut(object)?;
        }
        Ok(has_all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_that_of_javascript() {
        let table = [
            (Datum::Integer(-7), '%', Datum::Integer(3), "Integer(-1)"),
            (Datum::Integer(5), '%', Datum::Integer(0), "Float(NaN)"),
            (Datum::Integer(5), '/', Datum::Integer(0), "Float(inf)"),
            (Datum::Integer(5), '+', text("2"), "Text(\"52\", 2)"),
            (Datum::Float(2.0), '+', text("x"), "Text(\"2x\", 2)"),
            (text("3"), '*', text("10"), "Float(30.0)"),
            (Datum::Undefined, '+', Datum::Integer(1), "Float(NaN)"),
            (Datum::None, '+', Datum::Bool(true), "Float(1.0)"),
        ];
        for (left, sign, right, expected) in table {
            assert_eq!(format!("{:?}", arithmetic(&left, sign, &right).unwrap()), expected, "{left:?}");
        }
        assert!(arithmetic(&Datum::Object(1), '+', &Datum::Integer(1)).is_none());
    }

    #[test]
    fn values_of_different_kinds_compare_as_numbers() {
        let table = [
            (Datum::Integer(3), Comparison::Equal, text("3"), Some(true)),
            (Datum::Integer(3), Comparison::Is, text("3"), Some(false)),
            (Datum::Bool(true), Comparison::Is, Datum::Integer(1), Some(false)),
            (text("10"), Comparison::Greater, Datum::Integer(9), Some(true)),
            (Datum::None, Comparison::GreaterOrEqual, Datum::Integer(0), Some(true)),
            (Datum::None, Comparison::Equal, Datum::Integer(0), None),
            (Datum::Undefined, Comparison::Less, Datum::Integer(1), Some(false)),
            (Datum::Integer(1), Comparison::Is, Datum::Float(1.0), None),
            (text("a"), Comparison::Less, text("b"), None),
        ];
        for (left, comparison, right, expected) in table {
            assert_eq!(compare(&left, comparison, &right), expected, "{left:?} {comparison:?} {right:?}");
        }
    }
}
