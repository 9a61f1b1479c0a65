//! Evaluates expressions over recorded values.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use super::comparing::{arithmetic, order};
use super::containers::{distinct, extreme, numbered, of_items, order_of_items, sorted};
use super::javascript;
use super::opaque::{Notes, is_of_date, known_by_text};
use super::{Comparison, Expression, Function, Literal, range};
use crate::ask::owners;
use crate::error::Result;
use crate::memory::Memory;
use crate::reading::{Call, Recording};
use crate::spelling::Spelling;
use crate::value::{Key, Kind, Owner, VALUE, Word};

/// What an expression came to.
#[derive(Clone, Debug)]
pub(crate) enum Datum {
    None,
    Undefined,
    Bool(bool),
    Integer(i64),
    Float(f64),
    /// A string, and its length, which is greater if only the beginning is known.
    Text(Rc<str>, i64),
    Object(i64),
    /// Several values that are no object of the program.
    Items(Rc<[Datum]>),
    /// A member of an enumeration, such as `State.NEW`, its value as text, and the string or number that it is, if it is one.
    Member(Rc<str>, Rc<str>, Option<Rc<Datum>>),
    /// Something that can only be compared with itself.
    Other(Word),
}

impl Datum {
    /// The name of its type; empty if it is not known without the recording.
    pub(crate) fn type_name(&self, spelling: Spelling) -> &'static str {
        match self {
            Self::None => spelling.none_type(),
            Self::Undefined => "undefined",
            Self::Bool(_) => spelling.bool_type(),
            Self::Integer(_) => spelling.integer(),
            Self::Float(_) => spelling.float(),
            Self::Text(..) => spelling.string(),
            Self::Items(_) => spelling.list_type(),
            Self::Object(_) | Self::Member(..) | Self::Other(_) => "",
        }
    }

    /// The string or number that a member of an enumeration is, if it is one; any other value itself.
    pub(crate) fn plain(&self) -> &Self {
        if let Self::Member(_, _, Some(plain)) = self { plain } else { self }
    }

    /// A number, a string and the like as text; none of anything else.
    pub(crate) fn simple_text(&self, spelling: Spelling) -> Option<String> {
        Some(match self {
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => format!("{number:?}"),
            Self::Bool(value) => spelling.bool(*value).to_owned(),
            Self::None => spelling.none().to_owned(),
            Self::Undefined => "undefined".to_owned(),
            Self::Text(text, _) => spelling.quoted(text),
            _ => return None,
        })
    }
}

/// Where names are looked up.
#[derive(Clone)]
pub(crate) struct Scope<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) memory: &'a dyn Memory,
    /// The variables: of a call, then of its module.
    owners: Rc<[Owner]>,
    /// The variables of comprehensions, innermost first.
    bound: Option<&'a Bound<'a>>,
    pub(super) notes: Option<&'a RefCell<Notes>>,
}

/// A variable of a comprehension.
struct Bound<'a> {
    name: &'a str,
    value: Datum,
    outer: Option<&'a Bound<'a>>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(recording: &'a Recording, memory: &'a dyn Memory, owners: Rc<[Owner]>) -> Self {
        Self { recording, memory, owners, bound: None, notes: None }
    }

    /// Of the variables of a call and of what is around it.
    pub(crate) fn of(recording: &'a Recording, memory: &'a dyn Memory, call: &Call) -> Result<Self> {
        Ok(Self::new(recording, memory, owners(recording, call)?.into()))
    }

    /// The same, with notes of what is read.
    pub(crate) fn noting(self, notes: &'a RefCell<Notes>) -> Self {
        Self { notes: Some(notes), ..self }
    }

    pub(super) fn note(&self, object: i64) {
        if let Some(notes) = self.notes {
            notes.borrow_mut().read.insert(object);
        }
    }

    pub(super) fn length_of(&self, object: i64) -> Result<Option<Word>> {
        self.note(object);
        self.memory.get(Owner::object(object), Key::Length)
    }

    /// Does something with some more variables.
    pub(super) fn with<T>(
        &self,
        named: &[(&str, Datum)],
        then: &mut impl FnMut(&Scope<'_>) -> Result<T>,
    ) -> Result<T> {
        let [(name, value), rest @ ..] = named else { return then(self) };
        let bound = Bound { name, value: value.clone(), outer: self.bound };
        Scope { bound: Some(&bound), ..self.clone() }.with(rest, then)
    }

    /// Where the variable of a name is kept, and its value; none if there is no such variable.
    fn variable(&self, name: &str) -> Result<Option<((Owner, Key), Word)>> {
        let Some(key) = self.recording.number(name).map(Key::Name) else { return Ok(None) };
        for owner in self.owners.iter() {
            if let Some(word) = self.memory.get(*owner, key)? {
                return Ok(Some(((*owner, key), word)));
            }
        }
        Ok(None)
    }

    /// How many variables of comprehensions and methods there are.
    pub(super) fn depth(&self) -> usize {
        std::iter::successors(self.bound, |bound| bound.outer).count()
    }

    fn bound(&self, name: &str) -> Option<&Datum> {
        let mut next = self.bound;
        while let Some(bound) = next {
            if bound.name == name {
                return Some(&bound.value);
            }
            next = bound.outer;
        }
        None
    }

    /// Whether the expression holds; none if something in it has no value.
    pub(crate) fn holds(&self, expression: &Expression) -> Result<Option<bool>> {
        Ok(self.value(expression)?.map(|value| self.is_true(&value)).transpose()?.flatten())
    }

    /// The smallest part of an expression without a value, as it is written; none if that is not a name or an attribute.
    pub(crate) fn missing_part(&self, expression: &Expression) -> Result<Option<String>> {
        // What a comprehension computes has other values for each item.
        let parts = match expression {
            Expression::Each(each) => vec![&each.over],
            other => other.parts(),
        };
        for part in parts {
            if self.value(part)?.is_none() {
                return self.missing_part(part);
            }
        }
        Ok(expression.path().map(|path| format!("`{path}`")))
    }

    /// The value of an expression; none if something in it has none.
    pub(crate) fn value(&self, expression: &Expression) -> Result<Option<Datum>> {
        Ok(match expression {
            Expression::Literal(Literal::Word(word)) => Some(self.datum(*word)?),
            Expression::Literal(literal) => Some(of_literal(literal)),
            // Each return is asked about by itself.
            Expression::Returned(_) => None,
            Expression::Name(name) if self.bound(name).is_some() => self.bound(name).cloned(),
            Expression::Name(_) | Expression::Attribute(..) | Expression::Item(..) => {
                match self.word(expression)? {
                    Some(word) => Some(self.datum(word)?),
                    None => self.without_word(expression)?,
                }
            }
            Expression::Slice(of, ends) => self.slice(of, ends)?,
            Expression::Of(function, of) => self.result_of(*function, of)?,
            Expression::List(items) => {
                let items: Result<Vec<Option<Datum>>> = items.iter().map(|item| self.value(item)).collect();
                items?.into_iter().collect::<Option<_>>().map(Datum::Items)
            }
            Expression::Each(each) => {
                let values = self.each(each)?.map(|values| values.into_iter().collect::<Option<_>>());
                values.flatten().map(Datum::Items)
            }
            Expression::And(left, right) => {
                let Some(left) = self.value(left)? else { return Ok(None) };
                match self.is_true(&left)? {
                    Some(true) => self.value(right)?,
                    Some(false) => Some(left),
                    None => None,
                }
            }
            Expression::Or(left, right) => match self.value(left)? {
                Some(left) if self.is_true(&left)? == Some(true) => Some(left),
                _ => self.value(right)?,
            },
            Expression::Arithmetic(left, sign, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                left.zip(right).and_then(|(left, right)| self.arithmetic(&left, *sign, &right))
            }
            Expression::Comparison(first, rest) => return self.comparison(first, rest),
        })
    }

    /// The value of an attribute or item that is kept nowhere under its name.
    fn without_word(&self, expression: &Expression) -> Result<Option<Datum>> {
        match expression {
            Expression::Attribute(of, name) if name == "length" || name == "size" => self.length_as(of, name),
            Expression::Attribute(of, name) => {
                let of_python = self.of_enumeration(of, name)?;
                let found = if of_python.is_none() { self.of_date(of, name)? } else { of_python };
                if found.is_some() || !self.is_javascript() {
                    return Ok(found);
                }
                let inherited = self.prototype(of, name)?;
                if inherited.is_some() { Ok(inherited) } else { self.missing(of, &text(name)) }
            }
            Expression::Item(of, at) => {
                let mut found = self.item(of, at)?;
                if found.is_none()
                    && self.is_javascript()
                    && let Some(at) = self.value(at)?
                {
                    found = self.missing(of, &at)?;
                }
                if found.is_none() {
                    self.note_beyond(of, at)?;
                }
                Ok(found)
            }
            _ => Ok(None),
        }
    }

    /// What a function makes of an expression.
    fn result_of(&self, function: Function, of: &Expression) -> Result<Option<Datum>> {
        if function == Function::Class {
            return self.class(of);
        }
        if let Function::Least | Function::Greatest = function
            && let Some(found) = self.extreme_of(function, of)?
        {
            return Ok(Some(found));
        }
        if let (Function::Any | Function::All, Expression::Each(each)) = (function, of) {
            let Some(items) = self.each(each)? else { return Ok(None) };
            return self.is_any(function == Function::Any, items, of);
        }
        match (function, of) {
            (Function::Get, Expression::List(parts)) => return self.get(parts),
            (Function::Zip, Expression::List(parts)) => return self.zipped(parts),
            _ => {}
        }
        let Some(value) = self.value(of)? else { return Ok(None) };
        let value = value.plain().clone();
        Ok(match function {
            Function::Class | Function::Get | Function::Zip => None,
            Function::TypeOf => match value {
                Datum::Object(number) if self.recording.object(number)?.kind.is_named() => {
                    Some(text("function"))
                }
                Datum::None | Datum::Object(_) | Datum::Items(_) => Some(text("object")),
                _ => self.class(of)?,
            },
            Function::Not => self.is_true(&value)?.map(|is_true| Datum::Bool(!is_true)),
            Function::Negative => match value {
                Datum::Integer(number) => number.checked_neg().map(Datum::Integer),
                Datum::Float(number) => Some(Datum::Float(-number)),
                _ => None,
            },
            Function::Number => match value {
                Datum::Integer(_) => Some(value),
                _ if self.is_javascript() => javascript::to_number(&value).map(Datum::Float),
                Datum::Text(text, _) => text.trim().parse().ok().map(Datum::Float),
                other => Some(other),
            },
            Function::Absolute => match value {
                Datum::Integer(number) => number.checked_abs().map(Datum::Integer),
                Datum::Float(number) => Some(Datum::Float(number.abs())),
                _ => None,
            },
            Function::IsNan => self.is_nan(&value)?,
            Function::IsNumberNan => {
                Some(Datum::Bool(matches!(value, Datum::Float(number) if number.is_nan())))
            }
            Function::IsInfinite => self.of_each(&value, |each| match each {
                Datum::Float(number) => Some(number.is_infinite()),
                Datum::Integer(_) => Some(false),
                _ => None,
            })?,
            Function::Elements => self.elements(&value)?.map(of_items),
            Function::Lower | Function::Upper | Function::Trim => match value {
                Datum::Text(of, _) if function == Function::Lower => Some(text(&of.to_lowercase())),
                Datum::Text(of, _) if function == Function::Upper => Some(text(&of.to_uppercase())),
                Datum::Text(of, _) => Some(text(of.trim())),
                _ => None,
            },
            Function::Keyed | Function::Sequence => self.is_of_kind(function, &value)?.then_some(value),
            Function::Keys | Function::Values | Function::Pairs if self.lacks_keys(&value)? => None,
            Function::Length if matches!(of, Expression::Each(_)) && self.is_cut(of)? => None,
            Function::Length => self.length(&value)?,
            Function::Items => self.items(&value)?.map(of_items),
            Function::Sorted => self.items(&value)?.and_then(sorted).map(of_items),
            Function::Numbered => self.items(&value)?.map(numbered),
            Function::Range => range::items(&value)?,
            Function::Distinct => self.items(&value)?.map(|items| of_items(distinct(items))),
            Function::Keys => {
                self.pairs(&value)?.map(|pairs| of_items(pairs.into_iter().map(|(key, _)| key)))
            }
            Function::Values => {
                self.pairs(&value)?.map(|pairs| of_items(pairs.into_iter().map(|(_, value)| value)))
            }
            Function::Pairs => self
                .pairs(&value)?
                .map(|pairs| of_items(pairs.into_iter().map(|(key, value)| of_items([key, value])))),
            Function::Sum | Function::Least | Function::Greatest if self.is_cut(of)? => None,
            Function::Sum => self.items(&value)?.and_then(|items| {
                items.iter().try_fold(Datum::Integer(0), |sum, item| self.arithmetic(&sum, '+', item))
            }),
            Function::Least => self.items(&value)?.and_then(|items| extreme(items, Ordering::Less)),
            Function::Greatest => self.items(&value)?.and_then(|items| extreme(items, Ordering::Greater)),
            Function::Any | Function::All => {
                let Some(items) = self.items(&value)? else { return Ok(None) };
                self.is_any(function == Function::Any, items.into_iter().map(Some).collect(), of)?
            }
        })
    }

    /// The name of the class of a value; none if something in it has none.
    pub(super) fn class(&self, expression: &Expression) -> Result<Option<Datum>> {
        let name = match (self.word(expression)?, self.value(expression)?) {
            (Some(word), _) | (None, Some(Datum::Other(word))) => self.recording.type_name(word)?,
            (None, Some(Datum::Object(number))) => self.recording.type_name(Word::Object(number))?,
            (None, Some(value)) => value.type_name(self.recording.spelling).to_owned(),
            (None, None) => return Ok(None),
        };
        Ok(Some(text(&name)))
    }

    /// Where an expression is kept: the owner and the key.
    pub(crate) fn slot(&self, expression: &Expression) -> Result<Option<(Owner, Key)>> {
        match expression {
            Expression::Name(name) if self.bound(name).is_some() => Ok(None),
            Expression::Name(name) => Ok(self.variable(name)?.map(|(slot, _)| slot)),
            Expression::Attribute(of, name) => {
                let of = match self.word(of)? {
                    // A string and a member with attributes are objects here.
                    Some(Word::Object(number)) => Some(Datum::Object(number)),
                    Some(word @ Word::Atom(_)) => Some(Datum::Other(word)),
                    _ => self.value(of)?,
                };
                let Some(of) = of else { return Ok(None) };
                if !is_of_date(name) {
                    self.note_unknown(&of)?;
                }
                let Some(name) = self.recording.number(name) else { return Ok(None) };
                self.attribute(&of, Key::Name(name))
            }
            Expression::Item(of, key) => {
                if let Some(of_item) = self.by_two_keys(of, key)? {
                    return self.slot(&of_item);
                }
                let Some(of) = self.value(of)? else { return Ok(None) };
                self.note_unknown(&of)?;
                let Datum::Object(number) = of else { return Ok(None) };
                self.note(number);
                let Some(key) = self.value(key)? else { return Ok(None) };
                let number = self.container_of(number, &key)?;
                match self.key(number, &key)? {
                    // A property in JavaScript, which may be inherited.
                    Some(key @ Key::Name(_)) => self.attribute(&Datum::Object(number), key),
                    key => Ok(key.map(|key| (Owner::object(number), key))),
                }
            }
            _ => expression.looked_up().map_or(Ok(None), |item| self.slot(item)),
        }
    }

    /// Where an attribute is kept: with the value itself, or with a class from which it is inherited.
    fn attribute(&self, of: &Datum, key: Key) -> Result<Option<(Owner, Key)>> {
        let word = match of {
            Datum::Object(number) => Word::Object(*number),
            Datum::Other(word) => *word,
            _ => return Ok(None),
        };
        let Some(own) = self.recording.attributes_of(word)? else { return Ok(None) };
        if let Datum::Object(number) = of
            && self.memory.get(own, key)?.is_none()
        {
            for class in std::iter::once(*number).chain(self.recording.inherited(*number)?) {
                if self.memory.get(Owner::object(class), key)?.is_some() {
                    return Ok(Some((Owner::object(class), key)));
                }
                if let Some(body) = self.recording.method_with_attributes(class, key, self.memory)? {
                    return Ok(Some((body, key)));
                }
            }
        }
        Ok(Some((own, key)))
    }

    pub(crate) fn key(&self, object: i64, key: &Datum) -> Result<Option<Key>> {
        let kind = self.recording.object(object)?.kind;
        let text = match key {
            Datum::Integer(index) if matches!(kind, Kind::List | Kind::Tuple) => {
                let length = self.memory.get(Owner::object(object), Key::Length)?;
                let length = if let Some(Word::Integer(length)) = length { length } else { 0 };
                let index = if *index < 0 { length + index } else { *index };
                let by_index = Key::Index(index);
                // The items of a named tuple have names.
                let may_be_named = kind == Kind::Tuple && index < length;
                if may_be_named && self.memory.get(Owner::object(object), by_index)?.is_none() {
                    return Ok(Some(self.recording.nth_attribute(object, index)?.unwrap_or(by_index)));
                }
                return Ok(Some(by_index));
            }
            // Where attributes are items as well.
            Datum::Text(text, _) if kind == Kind::Instance => {
                return Ok(self.recording.number(text).map(Key::Name));
            }
            Datum::Integer(number) if kind == Kind::Instance => {
                return Ok(self.recording.number(&number.to_string()).map(Key::Name));
            }
            other => self.text_of_key(object, other)?,
        };
        let by_text = text.and_then(|text| self.recording.number(&text)).map(Key::Item);
        if let Some(key) = by_text
            && self.memory.get(Owner::object(object), key)?.is_some()
        {
            return Ok(Some(key));
        }
        Ok(self.equal_key(object, key)?.or(by_text))
    }

    fn word(&self, expression: &Expression) -> Result<Option<Word>> {
        match expression {
            Expression::Name(name) if self.bound(name).is_none() => {
                return Ok(self.variable(name)?.map(|(_, word)| word));
            }
            Expression::Literal(Literal::Word(word)) => return Ok(Some(*word)),
            _ => {}
        }
        let Some((owner, key)) = self.slot(expression)? else { return Ok(None) };
        self.memory.get(owner, key)
    }

    pub(crate) fn datum(&self, word: Word) -> Result<Datum> {
        Ok(match word {
            Word::Integer(number) => Datum::Integer(number),
            Word::None => Datum::None,
            Word::Undefined => Datum::Undefined,
            Word::Bool(value) => Datum::Bool(value),
            Word::Object(number) => self.by_text(number)?.unwrap_or(Datum::Object(number)),
            Word::Absent => Datum::Other(word),
            Word::Atom(number) => {
                let atom = self.recording.atom(number)?;
                match (atom.string, &*atom.type_name) {
                    (Some(length), _) => Datum::Text(Rc::from(atom.text.as_str()), length),
                    (None, "float" | "int" | "number") => {
                        atom.text.parse().map_or(Datum::Other(word), Datum::Float)
                    }
                    (None, type_name) => match self.member(&atom.text, type_name)? {
                        Some(member) => member,
                        None => known_by_text(type_name, &atom.text).unwrap_or(Datum::Other(word)),
                    },
                }
            }
        })
    }

    /// What an object is whose class derives from a string or a number, or what its text says of it, if nothing else is known.
    fn by_text(&self, number: i64) -> Result<Option<Datum>> {
        let object = self.recording.object(number)?;
        if object.kind == Kind::Instance {
            let Some(value) = self.recording.number(VALUE) else { return Ok(None) };
            let value = self.memory.get(Owner::object(number), Key::Name(value))?;
            return value.map(|value| self.datum(value)).transpose();
        }
        if object.kind != Kind::Opaque {
            return Ok(None);
        }
        self.note(number);
        let Some(Word::Atom(text)) = self.memory.get(Owner::object(number), Key::Name(0))? else {
            return Ok(None);
        };
        Ok(known_by_text(&object.type_name, &self.recording.atom(text)?.text))
    }

    fn arithmetic(&self, left: &Datum, sign: char, right: &Datum) -> Option<Datum> {
        let of = if self.is_javascript() { javascript::arithmetic } else { arithmetic };
        of(left, sign, right)
    }

    fn comparison(&self, first: &Expression, rest: &[(Comparison, Expression)]) -> Result<Option<Datum>> {
        let Some(mut left) = self.value(first)? else { return Ok(None) };
        if let [(is_in @ (Comparison::In | Comparison::NotIn), Expression::Of(Function::Range, of))] = rest {
            return self.in_range(&left, *is_in, of);
        }
        for (comparison, right) in rest {
            let Some(right) = self.value(right)? else { return Ok(None) };
            match self.compare(&left, *comparison, &right)? {
                Some(true) => left = right,
                other => return Ok(other.map(Datum::Bool)),
            }
        }
        Ok(Some(Datum::Bool(true)))
    }

    pub(super) fn compare(
        &self,
        left: &Datum,
        comparison: Comparison,
        right: &Datum,
    ) -> Result<Option<bool>> {
        if self.is_javascript()
            && let Some(is_so) = javascript::compare(left, comparison, right)
        {
            return Ok(Some(is_so));
        }
        let order = match (left, right) {
            // A list of the program, and one that the condition has in it.
            (Datum::Items(_), _) | (_, Datum::Items(_))
                if !matches!(comparison, Comparison::In | Comparison::NotIn) =>
            {
                if self.is_unread(left)? || self.is_unread(right)? {
                    return Ok(None);
                }
                let (left, right) = (self.items(left)?, self.items(right)?);
                left.zip(right).and_then(|(left, right)| order_of_items(&left, &right))
            }
            _ => order(left, right),
        };
        if order.is_none() && !is_nothing(left) && !is_nothing(right) {
            self.note_opaque(left)?;
            self.note_opaque(right)?;
            self.note_unknown_members(left, comparison, right);
        }
        Ok(match comparison {
            // JavaScript's two kinds of nothing are equal, but not the same.
            Comparison::Equal if is_nothing(left) && is_nothing(right) => Some(true),
            Comparison::NotEqual if is_nothing(left) && is_nothing(right) => Some(false),
            Comparison::Is | Comparison::IsNot if self.differ_in_type(left, right) => {
                Some(comparison == Comparison::IsNot)
            }
            Comparison::Equal | Comparison::Is => Some(order == Some(Ordering::Equal)),
            Comparison::NotEqual | Comparison::IsNot => Some(order != Some(Ordering::Equal)),
            Comparison::Less => order.map(Ordering::is_lt),
            Comparison::LessOrEqual => order.map(Ordering::is_le),
            Comparison::Greater => order.map(Ordering::is_gt),
            Comparison::GreaterOrEqual => order.map(Ordering::is_ge),
            Comparison::BeginsWith => text_has(left.plain(), right, |text, part| text.starts_with(part)),
            Comparison::EndsWith if self.is_cut_text(left) => None,
            Comparison::EndsWith => text_has(left.plain(), right, |text, part| text.ends_with(part)),
            Comparison::In => self.is_in(left, right)?,
            Comparison::NotIn => self.is_in(left, right)?.map(|is_in| !is_in),
        })
    }
}

fn text_has(text: &Datum, part: &Datum, has: fn(&str, &str) -> bool) -> Option<bool> {
    match (text, part) {
        (Datum::Text(text, _), Datum::Text(part, _)) => Some(has(text, part)),
        _ => None,
    }
}

pub(super) fn is_nothing(datum: &Datum) -> bool {
    matches!(datum, Datum::None | Datum::Undefined)
}

pub(super) fn of_literal(literal: &Literal) -> Datum {
    match literal {
        Literal::None => Datum::None,
        Literal::Undefined => Datum::Undefined,
        Literal::Bool(value) => Datum::Bool(*value),
        Literal::Integer(number) => Datum::Integer(*number),
        Literal::Float(number) => Datum::Float(*number),
        Literal::Text(literal) => text(literal),
        Literal::Word(word) => Datum::Other(*word),
    }
}

pub(super) fn text(text: &str) -> Datum {
    Datum::Text(Rc::from(text), i64::try_from(text.chars().count()).unwrap_or(0))
}
