//! What containers have: items, pairs, lengths, comprehensions.

use std::cmp::Ordering;
use std::rc::Rc;

use super::comparing::order;
use super::evaluate::{Datum, Scope, of_literal, text};
use super::{Comparison, Each, Expression, Function};
use crate::error::Result;
use crate::spelling::Spelling;
use crate::text::is_table;
use crate::value::{Key, Kind, Owner, Word};

/// The most dictionaries of a `ChainMap` that are looked into.
const MOST_MAPS: i64 = 100;

impl Scope<'_> {
    /// The values of a comprehension; none for an item for which something has no value.
    pub(super) fn each(&self, each: &Each) -> Result<Option<Vec<Option<Datum>>>> {
        let Some(over) = self.recorded(&each.over)? else { return Ok(None) };
        let variables: Vec<&str> = each.variables.iter().map(String::as_str).collect();
        let values = self.go_through(&over, &variables, &mut |scope| {
            let is_wanted = match &each.filter {
                Some(filter) => scope.holds(filter)?,
                None => Some(true),
            };
            Ok(match is_wanted {
                Some(true) => Some(scope.value(&each.value)?),
                Some(false) => None,
                None => Some(None),
            })
        })?;
        Ok(values.map(|values| values.into_iter().filter_map(|value| value.unwrap_or(Some(None))).collect()))
    }

    /// Does something for each item of a container, with the variables that the item is taken apart into; nothing for
    /// one that cannot be.
    pub(crate) fn go_through<T>(
        &self,
        over: &Datum,
        variables: &[&str],
        then: &mut dyn FnMut(&Scope<'_>) -> Result<T>,
    ) -> Result<Option<Vec<Option<T>>>> {
        let Some(items) = self.items(over)? else { return Ok(None) };
        let mut found = Vec::new();
        for item in items {
            let parts = if let [_] = variables { Some(vec![item]) } else { self.items(&item)? };
            found.push(match parts.filter(|parts| parts.len() >= variables.len()) {
                Some(parts) => {
                    let named: Vec<_> = variables.iter().copied().zip(parts).collect();
                    Some(self.with(&named, &mut |scope| then(scope))?)
                }
                None => None,
            });
        }
        Ok(Some(found))
    }

    /// Whether any item is true, or else all are. None if that depends on one that has no value, or is not recorded.
    pub(super) fn is_any(
        &self,
        is_any: bool,
        items: Vec<Option<Datum>>,
        of: &Expression,
    ) -> Result<Option<Datum>> {
        let mut is_known = true;
        for item in items {
            match item {
                Some(item) => match self.is_true(&item)? {
                    Some(is_true) if is_true == is_any => return Ok(Some(Datum::Bool(is_any))),
                    Some(_) => {}
                    None => is_known = false,
                },
                None => is_known = false,
            }
        }
        Ok((is_known && !self.is_cut(of)?).then_some(Datum::Bool(!is_any)))
    }

    pub(super) fn length(&self, of: &Datum) -> Result<Option<Datum>> {
        Ok(match of {
            Datum::Text(_, length) => Some(Datum::Integer(*length)),
            Datum::Items(items) => Some(Datum::Integer(wide(items.len()))),
            Datum::Object(number) => {
                self.note_unknown(of)?;
                if let Some(method) = self.recording.method_of(*number, &["__len__"])? {
                    let Some((name, expression)) = self.followed(&method, *number) else { return Ok(None) };
                    let length = self.with(&[(name, of.clone())], &mut |scope| scope.value(&expression))?;
                    if length.is_none() {
                        self.note_method(&method);
                    }
                    return Ok(length);
                }
                let length = match (self.rows_of(*number)?, self.length_of(*number)?) {
                    (None, None) => {
                        self.kept_in(*number)?.map(|kept| self.length_of(kept)).transpose()?.flatten()
                    }
                    (rows, length) => rows.or(length),
                };
                // Other objects may have a mark in its place.
                let length = length.filter(|length| matches!(length, Word::Integer(_)));
                length.map(|length| self.datum(length)).transpose()?
            }
            _ => None,
        })
    }

    /// Whether a value has the method that a function is for: `has` or `includes`.
    pub(super) fn is_of_kind(&self, function: Function, value: &Datum) -> Result<bool> {
        let is_keyed = match value {
            Datum::Text(..) | Datum::Items(_) => false,
            Datum::Object(number) => match self.recording.object(*number)?.kind {
                Kind::Dictionary | Kind::Set => true,
                Kind::List | Kind::Tuple => false,
                _ => {
                    self.note_opaque(value)?;
                    return Ok(false);
                }
            },
            _ => return Ok(false),
        };
        Ok(is_keyed == (function == Function::Keyed))
    }

    /// Whether a value of Python has no methods `keys`, `values` and `items`.
    pub(super) fn lacks_keys(&self, value: &Datum) -> Result<bool> {
        Ok(match value {
            _ if self.is_javascript() => false,
            Datum::Items(_) => true,
            Datum::Object(number) => {
                let object = self.recording.object(*number)?;
                matches!(object.kind, Kind::List | Kind::Tuple | Kind::Set) && !is_table(&object.type_name)
            }
            _ => false,
        })
    }

    fn is_among(&self, item: &Datum, others: impl IntoIterator<Item = Datum>) -> Result<Option<bool>> {
        let same = if self.is_javascript() { Comparison::Is } else { Comparison::Equal };
        for other in others {
            if self.compare(item, same, &other)? == Some(true) {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    pub(super) fn is_in(&self, item: &Datum, container: &Datum) -> Result<Option<bool>> {
        match (item, container) {
            (Datum::Text(part, _), Datum::Text(text, _)) => {
                let is_part = text.contains(&**part);
                Ok((is_part || !self.is_cut_text(container)).then_some(is_part))
            }
            (_, Datum::Items(items)) => self.is_among(item, items.iter().cloned()),
            (_, Datum::Object(number)) => {
                self.note(*number);
                let number = self.container_of(*number, item)?;
                let is_in = if matches!(self.recording.object(number)?.kind, Kind::List | Kind::Tuple) {
                    let Some(items) = self.items(&Datum::Object(number))? else { return Ok(None) };
                    self.is_among(item, items)?
                } else {
                    match self.key(number, item)? {
                        Some(key) if self.memory.get(Owner::object(number), key)?.is_some() => Some(true),
                        // The recorder has named it so, by its identity.
                        Some(_) if matches!(item, Datum::Object(_)) => Some(false),
                        _ if self.is_member(number, item)? => Some(true),
                        _ => (!self.may_equal_a_key(number, item)?).then_some(false),
                    }
                };
                let is_known = is_in != Some(false) || !self.is_cut_object(number)?;
                Ok(is_in.filter(|_| is_known))
            }
            _ => Ok(None),
        }
    }

    /// Whether not all items of the container that an expression iterates over are recorded. Notes it if so.
    pub(super) fn is_cut(&self, over: &Expression) -> Result<bool> {
        match over {
            Expression::Each(each) => self.is_cut(&each.over),
            Expression::Of(Function::Zip, of) => {
                let are_cut: Result<Vec<bool>> =
                    of.parts().into_iter().map(|part| self.is_cut(part)).collect();
                Ok(are_cut?.contains(&true))
            }
            Expression::Of(function, of) if function.reads_whole_objects() => self.is_cut(of),
            Expression::Slice(of, ends) => Ok(self.part(of, ends)?.is_some_and(|(_, is_whole)| !is_whole)),
            _ => match self.value(over)? {
                Some(Datum::Object(number)) => self.is_cut_object(self.kept_in(number)?.unwrap_or(number)),
                _ => Ok(false),
            },
        }
    }

    /// Whether what a dictionary does not have is not there, rather than beyond what is recorded.
    pub(super) fn has_all_keys(&self, dictionary: i64) -> Result<bool> {
        let length = self.length_of(dictionary)?;
        Ok(matches!(length, Some(Word::Integer(length)) if length < self.recording.most_items()))
    }

    /// What `get` gives: the item, or else the other value. `undefined` in JavaScript, where an item that is missing has a
    /// value.
    pub(super) fn get(&self, parts: &[Expression]) -> Result<Option<Datum>> {
        let [item @ Expression::Item(of, key), otherwise @ ..] = parts else { return Ok(None) };
        let found = self.value(item)?;
        if found.is_some() {
            return Ok(found);
        }
        let (Some(Datum::Object(number)), Some(key)) = (self.value(of)?, self.value(key)?) else {
            return Ok(None);
        };
        let is_missing = self.recording.object(number)?.kind == Kind::Dictionary
            && !matches!(key, Datum::Object(_))
            && self.has_all_keys(number)?;
        match otherwise {
            _ if !is_missing => Ok(None),
            [otherwise] => self.value(otherwise),
            _ => Ok(Some(Datum::None)),
        }
    }

    pub(super) fn is_cut_object(&self, number: i64) -> Result<bool> {
        let Some(Word::Integer(length)) = self.length_of(number)? else {
            return self.is_unread(&Datum::Object(number));
        };
        let Some(pairs) = self.pairs(&Datum::Object(number))? else { return Ok(false) };
        let is_cut = wide(pairs.len()) < length;
        if is_cut {
            self.note_cut(number)?;
        }
        Ok(is_cut)
    }

    /// The same for a string.
    pub(super) fn is_cut_text(&self, value: &Datum) -> bool {
        let is_cut = matches!(value, Datum::Text(text, length) if wide(text.chars().count()) < *length);
        if let Some(notes) = self.notes.filter(|_| is_cut) {
            notes.borrow_mut().cut.insert(Rc::from(self.recording.spelling.string()));
        }
        is_cut
    }

    /// The container in which an object keeps the item of a key: a `UserDict`, a `UserList` and the like have one.
    pub(super) fn container_of(&self, object: i64, key: &Datum) -> Result<i64> {
        let Some(kept) = self.kept_in(object)? else {
            let kept = match self.map_with(object, key)? {
                None => self.got_from(object)?,
                found => found,
            };
            return Ok(kept.unwrap_or(object));
        };
        let is_attribute = match self.key(object, key)? {
            Some(attribute) => self.memory.get(Owner::object(object), attribute)?.is_some(),
            None => false,
        };
        Ok(if is_attribute { object } else { kept })
    }

    /// The container from which the program's own `__getitem__` gets items.
    fn got_from(&self, object: i64) -> Result<Option<i64>> {
        let of = self.recording.object(object)?;
        if self.is_javascript() || of.kind != Kind::Instance {
            return Ok(None);
        }
        self.object_in(object, self.recording.kept_name(&of.type_name).map(Key::Name))
    }

    /// The object that another one has under a key.
    fn object_in(&self, object: i64, key: Option<Key>) -> Result<Option<i64>> {
        let word = key.map(|key| self.memory.get(Owner::object(object), key)).transpose()?.flatten();
        Ok(word.and_then(Word::as_object).inspect(|object| self.note(*object)))
    }

    /// The first dictionary of a `ChainMap` that has a key, or else the one that gets it.
    fn map_with(&self, object: i64, key: &Datum) -> Result<Option<i64>> {
        if &*self.recording.object(object)?.type_name != "ChainMap" {
            return Ok(None);
        }
        let maps = self.object_in(object, self.recording.number("maps").map(Key::Name))?;
        let Some(maps) = maps else { return Ok(None) };
        let mut first = None;
        for at in 0..MOST_MAPS {
            let Some(map) = self.object_in(maps, Some(Key::Index(at)))? else { break };
            first = first.or(Some(map));
            if let Some(key) = self.key(map, key)?
                && self.memory.get(Owner::object(map), key)?.is_some()
            {
                return Ok(Some(map));
            }
        }
        Ok(first)
    }

    /// The container in which an object of Python's own `collections` keeps its items.
    fn kept_in(&self, object: i64) -> Result<Option<i64>> {
        if self.recording.spelling != Spelling::Python
            || self.recording.object(object)?.kind != Kind::Instance
        {
            return Ok(None);
        }
        let data = self.object_in(object, self.recording.number("data").map(Key::Name))?;
        let Some(data) = data else { return Ok(None) };
        let kind = self.recording.object(data)?.kind;
        Ok(matches!(kind, Kind::List | Kind::Dictionary).then_some(data))
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
        Ok(self.part(of, ends)?.and_then(|(part, is_whole)| is_whole.then_some(part)))
    }

    /// The value of an iterated expression; of a part of a container, what is recorded of it.
    fn recorded(&self, over: &Expression) -> Result<Option<Datum>> {
        match over {
            Expression::Slice(of, ends) => Ok(self.part(of, ends)?.map(|(part, _)| part)),
            _ => self.value(over),
        }
    }

    /// What is recorded of a part of a string or of a list, and whether that is all of it. Notes it if not.
    fn part(&self, of: &Expression, ends: &[Option<Box<Expression>>; 2]) -> Result<Option<(Datum, bool)>> {
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
        let (part, known) = if let Datum::Text(of, _) = &of {
            let part: String = of.chars().skip(from).take(count).collect();
            (text(&part), part.chars().count())
        } else {
            let Some(items) = self.items(&of)? else { return Ok(None) };
            let part: Vec<Datum> = items.into_iter().skip(from).take(count).collect();
            let known = part.len();
            (of_items(part), known)
        };
        let is_whole = known == count;
        if !is_whole
            && !self.is_cut_text(&of)
            && let Datum::Object(number) = of
        {
            self.is_cut_object(self.kept_in(number)?.unwrap_or(number))?;
        }
        Ok(Some((part, is_whole)))
    }

    /// What a container has, as Python's `for` iterates over it: the keys of a dictionary.
    pub(super) fn items(&self, of: &Datum) -> Result<Option<Vec<Datum>>> {
        if let Datum::Object(number) = of
            && let number = self.kept_in(*number)?.unwrap_or(*number)
            && self.recording.object(number)?.kind == Kind::Dictionary
        {
            return Ok(self.pairs(of)?.map(|pairs| pairs.into_iter().map(|(key, _)| key).collect()));
        }
        Ok(self.pairs(of)?.map(|pairs| pairs.into_iter().map(|(_, item)| item).collect()))
    }

    /// The items of several containers beside each other, as far as the shortest one goes.
    pub(super) fn zipped(&self, containers: &[Expression]) -> Result<Option<Datum>> {
        let mut columns = Vec::new();
        for container in containers {
            let Some(container) = self.recorded(container)? else { return Ok(None) };
            let Some(items) = self.items(&container)? else { return Ok(None) };
            columns.push(items.into_iter());
        }
        let mut row = || columns.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>();
        let rows = std::iter::from_fn(|| row().filter(|row| !row.is_empty()).map(of_items));
        Ok(Some(of_items(rows)))
    }

    /// Keeps the items of a tuple, which come before the attributes that its class adds. Only those of a named tuple have
    /// names.
    fn keep_items(&self, tuple: i64, slots: &mut Vec<(Key, Word)>) -> Result<()> {
        let is_indexed = slots.iter().any(|(key, _)| matches!(key, Key::Index(_)));
        slots.retain(|(key, _)| *key != Key::Length && !(is_indexed && matches!(key, Key::Name(_))));
        if let Some(Word::Integer(length)) = self.length_of(tuple)? {
            slots.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        }
        Ok(())
    }

    /// What a container or an object has, with its keys.
    pub(super) fn pairs(&self, of: &Datum) -> Result<Option<Vec<(Datum, Datum)>>> {
        let number = match of {
            Datum::Items(items) => {
                let pairs = (0..).map(Datum::Integer).zip(items.iter().cloned());
                return Ok(Some(pairs.collect()));
            }
            Datum::Object(number) => self.kept_in(*number)?.unwrap_or(*number),
            _ => return Ok(None),
        };
        self.note(number);
        let kind = self.recording.object(number)?.kind;
        if self.is_unread(&Datum::Object(number))? {
            return Ok(None);
        }
        let mut slots = self.memory.all(Owner::object(number))?;
        match kind {
            Kind::Opaque | Kind::Dropped => return Ok(None),
            Kind::Tuple => self.keep_items(number, &mut slots)?,
            Kind::List => slots.sort_by_key(|(key, _)| *key),
            _ => {}
        }
        let mut pairs = Vec::new();
        for (key, word) in slots {
            let key = match key {
                Key::Length => continue,
                // What a class adds to its container is not an item.
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

pub(super) fn wide(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

pub(super) fn of_items(items: impl IntoIterator<Item = Datum>) -> Datum {
    Datum::Items(items.into_iter().collect())
}

pub(super) fn numbered(items: Vec<Datum>) -> Datum {
    of_items((0..).zip(items).map(|(number, item)| of_items([Datum::Integer(number), item])))
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

/// In ascending order; none if they cannot be compared.
pub(super) fn sorted(mut items: Vec<Datum>) -> Option<Vec<Datum>> {
    let mut is_known = true;
    items.sort_by(|left, right| {
        order(left, right).unwrap_or_else(|| {
            is_known = false;
            Ordering::Equal
        })
    });
    is_known.then_some(items)
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
