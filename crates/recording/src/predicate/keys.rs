//! The texts by which items of dictionaries and members of sets are known.

use super::evaluate::{Datum, Scope};
use crate::error::Result;
use crate::value::{Key, Kind, Owner, Word};

/// A piece of the text of a key.
enum Piece {
    Text(String),
    /// What comes before this character, of which only the end is known.
    Until(char, String),
}

impl Scope<'_> {
    /// The text of a key in a container; none if it cannot be told.
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

    /// Adds the text of a key. Whether it can be told.
    fn add_pieces(&self, key: &Datum, pieces: &mut Vec<Piece>) -> Result<bool> {
        let text = match key {
            Datum::Object(number) => match self.recording.object(*number)?.kind {
                Kind::Tuple => return self.add_tuple(key, pieces),
                Kind::Class => {
                    let name = format!(".{}", self.recording.object(*number)?.type_name);
                    pieces.extend([Piece::Text("<class '".to_owned()), Piece::Until('\'', name)]);
                    Some("'>".to_owned())
                }
                // As the recorders name one that is no other as a key.
                _ => Some(self.recording.object_name(*number)?),
            },
            Datum::Items(_) => return self.add_tuple(key, pieces),
            Datum::Member(member, value) if !value.is_empty() => Some(format!("<{member}: {value}>")),
            Datum::Member(member, _) => {
                let begin = format!("<{member}: ");
                pieces.extend([Piece::Text(begin), Piece::Until('>', String::new())]);
                Some(">".to_owned())
            }
            Datum::Other(Word::Atom(atom)) => Some(self.recording.atom(*atom)?.text.clone()),
            simple => simple.simple_text(self.recording.spelling),
        };
        let is_known = text.is_some();
        pieces.extend(text.map(Piece::Text));
        Ok(is_known)
    }

    /// Whether the text of an object does not say if it is among the keys of a container: those of Python may be equal to it.
    pub(super) fn may_equal_a_key(&self, item: &Datum) -> bool {
        matches!(item, Datum::Object(_)) && !self.is_javascript()
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

    /// A key that the container has.
    fn known_key(&self, container: i64, pieces: &[Piece]) -> Result<Option<String>> {
        for (key, _) in self.memory.all(Owner::object(container))? {
            if let Key::Item(text) = key {
                let text = self.recording.text(text);
                if fits(&text, pieces) {
                    return Ok(Some(text.to_string()));
                }
            }
        }
        Ok(None)
    }
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
