//! The texts by which items of dictionaries and members of sets are known.

use std::cmp::Ordering;
use std::rc::Rc;

use super::comparing::order;
use super::containers::order_of_items;
use super::evaluate::{Datum, Scope};
use super::opaque::known_by_text;
use crate::error::Result;
use crate::value::{Key, Kind, Owner, Word};

/// A piece of the text of a key.
enum Piece {
    Text(String),
    /// What comes before this character, of which only the end is known.
    Until(char, String),
}

impl Scope<'_> {
    /// The text of a key in a container; none if it is not known.
    pub(super) fn text_of_key(&self, container: i64, key: &Datum) -> Result<Option<String>> {
        let mut pieces = Vec::new();
        if !self.add_pieces(key, &mut pieces)? {
            return Ok(None);
        }
        let known = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            Piece::Until(..) => None,
        });
        match known.collect::<Option<String>>() {
            Some(text) => Ok(Some(text)),
            None => self.known_key(container, &pieces),
        }
    }

    /// Adds the text of a key. Whether it is known.
    fn add_pieces(&self, key: &Datum, pieces: &mut Vec<Piece>) -> Result<bool> {
        let text = match key {
            Datum::Object(number) => match self.recording.object(*number)?.kind {
                // A named tuple is written with its names.
                Kind::Tuple if &*self.recording.object(*number)?.type_name != "tuple" => None,
                Kind::Tuple => return self.add_tuple(key, pieces),
                kind if kind.is_named() && self.is_javascript() => {
                    Some(format!("function {}", self.recording.object(*number)?.type_name))
                }
                Kind::Class => {
                    let name = format!(".{}", self.recording.object(*number)?.type_name);
                    pieces.extend([Piece::Text("<class '".to_owned()), Piece::Until('\'', name)]);
                    Some("'>".to_owned())
                }
                // As the recorders name one that is identified by itself as a key.
                _ => Some(self.recording.object_name(*number)?),
            },
            Datum::Items(_) => return self.add_tuple(key, pieces),
            Datum::Member(member, value, _) if !value.is_empty() => Some(format!("<{member}: {value}>")),
            Datum::Member(member, ..) => {
                let begin = format!("<{member}: ");
                pieces.extend([Piece::Text(begin), Piece::Until('>', String::new())]);
                Some(">".to_owned())
            }
            Datum::Other(Word::Atom(atom)) => Some(self.recording.atom(*atom)?.text.clone()),
            Datum::Text(text, _) => Some(self.recording.spelling.string_as_key(text)),
            Datum::Float(number) => Some(self.recording.spelling.number_as_key(*number)),
            simple => simple.simple_text(self.recording.spelling),
        };
        let is_known = text.is_some();
        pieces.extend(text.map(Piece::Text));
        Ok(is_known)
    }

    /// Whether a container may have a key that equals a value, though its text is another one. Notes it if so.
    pub(super) fn may_equal_a_key(&self, container: i64, item: &Datum) -> Result<bool> {
        let text = self.text_of_key(container, item)?;
        let may_equal = match item {
            // Those of Python may have an `__eq__`.
            Datum::Object(_) => !self.is_javascript(),
            Datum::Items(items) => items.iter().any(|item| matches!(item, Datum::Object(_))),
            // Members of an enumeration may equal their value.
            Datum::Member(_, value, _) => self.has_key(container, |key| key == &**value)?,
            // Dates and symbols are taken for their texts.
            Datum::Text(text, _) if self.is_javascript() => {
                self.has_key(container, |key| key.starts_with("Date #") || **text == format!("[{key}]"))?
            }
            _ => self.has_key(container, |key| {
                let value = key.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')?.split_once(": "));
                value.is_some_and(|(_, value)| Some(value) == text.as_deref())
            })?,
        };
        if let (true, Some(notes)) = (may_equal, self.notes) {
            let name = match item {
                Datum::Object(number) => self.recording.object(*number)?.type_name,
                other => Rc::from(other.type_name(self.recording.spelling)),
            };
            notes.borrow_mut().opaque.insert(name);
        }
        Ok(may_equal)
    }

    fn has_key(&self, container: i64, is_it: impl Fn(&str) -> bool) -> Result<bool> {
        Ok(self.keys_of(container)?.iter().any(|(_, text)| is_it(text)))
    }

    /// The keys of a container with their texts.
    fn keys_of(&self, container: i64) -> Result<Vec<(Key, Rc<str>)>> {
        let all = self.memory.all(Owner::object(container))?.into_iter();
        let text =
            |key| if let Key::Item(text) = key { Some((key, self.recording.text(text))) } else { None };
        Ok(all.filter_map(|(key, _)| text(key)).collect())
    }

    /// The key of a container whose text says that it equals a value: `Decimal('1.50')`, `datetime.date(2026, 3, 1)`,
    /// `10n`, a number that is too large for 64 bits. None if there are several.
    pub(super) fn equal_key(&self, container: i64, value: &Datum) -> Result<Option<Key>> {
        if !matches!(value, Datum::Integer(_) | Datum::Float(_) | Datum::Items(_)) {
            return Ok(None);
        }
        let mut found = None;
        for (key, text) in self.keys_of(container)? {
            let is_equal = of_key(&text).is_some_and(|key| are_equal(&key, value));
            if is_equal && found.replace(key).is_some() {
                return Ok(None);
            }
        }
        Ok(found)
    }

    /// Whether a set has this very object.
    pub(super) fn is_member(&self, set: i64, item: &Datum) -> Result<bool> {
        let Datum::Object(object) = item else { return Ok(false) };
        Ok(self.memory.all(Owner::object(set))?.iter().any(|(_, word)| *word == Word::Object(*object)))
    }

    /// Adds a tuple as Python writes it.
    fn add_tuple(&self, tuple: &Datum, pieces: &mut Vec<Piece>) -> Result<bool> {
        let Some(items) = self.items(tuple)? else { return Ok(false) };
        pieces.push(Piece::Text("(".to_owned()));
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                pieces.push(Piece::Text(", ".to_owned()));
            }
            if !self.add_pieces(item, pieces)? {
                return Ok(false);
            }
        }
        pieces.push(Piece::Text(if items.len() == 1 { ",)" } else { ")" }.to_owned()));
        Ok(true)
    }

    fn known_key(&self, container: i64, pieces: &[Piece]) -> Result<Option<String>> {
        let keys = self.keys_of(container)?;
        Ok(keys.iter().find(|(_, text)| fits(text, pieces)).map(|(_, text)| text.to_string()))
    }
}

fn are_equal(one: &Datum, other: &Datum) -> bool {
    let order = match (one, other) {
        (Datum::Items(one), Datum::Items(other)) => order_of_items(one, other),
        _ => order(one, other),
    };
    order == Some(Ordering::Equal)
}

/// The value of a key by its text, unless it is a string, tuple or object.
fn of_key(text: &str) -> Option<Datum> {
    let type_name = text.split_once('(').map(|(name, _)| name.rsplit('.').next().unwrap_or(name));
    known_by_text(type_name.unwrap_or(if text.ends_with('n') { "bigint" } else { "" }), text)
}

fn fits(text: &str, pieces: &[Piece]) -> bool {
    let rest = pieces.iter().try_fold(text, |rest, piece| match piece {
        Piece::Text(text) => rest.strip_prefix(text.as_str()),
        Piece::Until(end, name) => {
            rest.find(*end).filter(|at| rest[..*at].ends_with(name.as_str())).map(|at| &rest[at..])
        }
    });
    rest == Some("")
}
