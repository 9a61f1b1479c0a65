//! What containers have: items, pairs, lengths, comprehensions.

use std::cmp::Ordering;

use super::comparing::order;
use super::evaluate::{Datum, Scope, of_literal, text};
use super::{Each, Expression};
use crate::error::Result;
use crate::value::{Key, Kind, Owner};

impl Scope<'_> {
    /// The values of a comprehension. An item for which something has no value has none, and is left out.
    pub(super) fn each(&self, each: &Each) -> Result<Option<Datum>> {
        let Some(over) = self.value(&each.over)? else { return Ok(None) };
        let Some(items) = self.items(&over)? else { return Ok(None) };
        let mut values = Vec::new();
        for item in items {
            let parts =
                if let [_] = each.variables.as_slice() { Some(vec![item]) } else { self.items(&item)? };
            let Some(parts) = parts.filter(|parts| parts.len() >= each.variables.len()) else { continue };
            let named: Vec<_> = each.variables.iter().map(String::as_str).zip(parts).collect();
            values.extend(self.with(&named, &mut |scope| {
                let is_wanted = match &each.filter {
                    Some(filter) => scope.holds(filter)?.unwrap_or(false),
                    None => true,
                };
                if is_wanted { scope.value(&each.value) } else { Ok(None) }
            })?);
        }
        Ok(Some(of_items(values)))
    }

    pub(super) fn length(&self, of: &Datum) -> Result<Option<Datum>> {
        Ok(match of {
            Datum::Text(_, length) => Some(Datum::Integer(*length)),
            Datum::Items(items) => Some(Datum::Integer(wide(items.len()))),
            Datum::Object(number) => {
                self.note_opaque(of)?;
                self.length_of(*number)?.map(|length| self.datum(length)).transpose()?
            }
            _ => None,
        })
    }

    /// A character, or an item of values that are no object of the program.
    pub(super) fn item(&self, of: &Expression, at: &Expression) -> Result<Option<Datum>> {
        let (Some(of), Some(Datum::Integer(at))) = (self.value(of)?, self.value(at)?) else {
            return Ok(None);
        };
        let from_begin = |length: i64| usize::try_from(if at < 0 { length + at } else { at }).ok();
        Ok(match of {
            Datum::Items(items) => from_begin(wide(items.len())).and_then(|at| items.get(at).cloned()),
            Datum::Text(of, length) => {
                let letter = from_begin(length).and_then(|at| of.chars().nth(at));
                letter.map(|letter| text(letter.encode_utf8(&mut [0; 4])))
            }
            _ => None,
        })
    }

    /// A part of a string or of a list. None if it is not known to its end.
    pub(super) fn slice(
        &self,
        of: &Expression,
        ends: &[Option<Box<Expression>>; 2],
    ) -> Result<Option<Datum>> {
        let Some(of) = self.value(of)? else { return Ok(None) };
        let Some(Datum::Integer(length)) = self.length(&of)? else { return Ok(None) };
        let mut bounds = [0, length];
        for (bound, end) in bounds.iter_mut().zip(ends) {
            let Some(end) = end else { continue };
            let Some(Datum::Integer(at)) = self.value(end)? else { return Ok(None) };
            *bound = if at < 0 { length + at } else { at }.clamp(0, length);
        }
        let [from, to] = bounds.map(|bound| usize::try_from(bound).unwrap_or(0));
        let count = to.saturating_sub(from);
        Ok(if let Datum::Text(of, _) = of {
            let part: String = of.chars().skip(from).take(count).collect();
            (part.chars().count() == count).then(|| text(&part))
        } else {
            let part = self.items(&of)?.map(|items| items.into_iter().skip(from).take(count).collect());
            part.filter(|part: &Vec<Datum>| part.len() == count).map(of_items)
        })
    }

    /// What a container has, as Python's `for` goes through it: the keys of a dictionary.
    pub(super) fn items(&self, of: &Datum) -> Result<Option<Vec<Datum>>> {
        if let Datum::Object(number) = of
            && self.recording.object(*number)?.kind == Kind::Dictionary
        {
            return Ok(self.pairs(of)?.map(|pairs| pairs.into_iter().map(|(key, _)| key).collect()));
        }
        Ok(self.pairs(of)?.map(|pairs| pairs.into_iter().map(|(_, item)| item).collect()))
    }

    /// What a container or an object has, with its keys.
    pub(super) fn pairs(&self, of: &Datum) -> Result<Option<Vec<(Datum, Datum)>>> {
        let number = match of {
            Datum::Items(items) => {
                let pairs = (0..).map(Datum::Integer).zip(items.iter().cloned());
                return Ok(Some(pairs.collect()));
            }
            Datum::Object(number) => *number,
            _ => return Ok(None),
        };
        self.note(number);
        let kind = self.recording.object(number)?.kind;
        let mut slots = self.memory.all(Owner::object(number))?;
        match kind {
            Kind::Opaque | Kind::Dropped => return Ok(None),
            Kind::List => slots.sort_by_key(|(key, _)| *key),
            _ => {}
        }
        let mut pairs = Vec::new();
        for (key, word) in slots {
            let key = match key {
                Key::Length => continue,
                // What a class adds to its container is no item.
                Key::Name(_) if matches!(kind, Kind::List | Kind::Dictionary | Kind::Set) => continue,
                Key::Name(name) => text(&self.recording.text(name)),
                Key::Index(index) => Datum::Integer(index),
                Key::Item(key) => of_key(&self.recording.text(key)),
            };
            pairs.push((key, self.datum(word)?));
        }
        Ok(Some(pairs))
    }
}

fn wide(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

pub(super) fn of_items(items: impl IntoIterator<Item = Datum>) -> Datum {
    Datum::Items(items.into_iter().collect())
}

/// A key of a dictionary from its text.
fn of_key(key: &str) -> Datum {
    match Expression::parse(key) {
        Ok(Expression::Literal(literal)) => of_literal(&literal),
        _ => text(key),
    }
}

pub(super) fn distinct(items: Vec<Datum>) -> Vec<Datum> {
    let mut kept: Vec<Datum> = Vec::new();
    for item in items {
        if !kept.iter().any(|other| order(other, &item) == Some(Ordering::Equal)) {
            kept.push(item);
        }
    }
    kept
}

/// The least or the greatest; none if they cannot be compared.
pub(super) fn extreme(items: Vec<Datum>, wanted: Ordering) -> Option<Datum> {
    let mut items = items.into_iter();
    let mut found = items.next()?;
    for item in items {
        if order(&item, &found)? == wanted {
            found = item;
        }
    }
    Some(found)
}

pub(super) fn order_of_items(left: &[Datum], right: &[Datum]) -> Option<Ordering> {
    for (left, right) in left.iter().zip(right) {
        match order(left, right)? {
            Ordering::Equal => {}
            other => return Some(other),
        }
    }
    Some(left.len().cmp(&right.len()))
}
