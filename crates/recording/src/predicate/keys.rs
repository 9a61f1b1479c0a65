//! The texts by which items of dictionaries and members of sets are known.

use super::evaluate::{Datum, Scope};
use crate::error::Result;
use crate::value::{Key, Kind, Owner, Word};

impl Scope<'_> {
    /// The text of a key in a container; none if it cannot be told.
    pub(super) fn text_of_key(&self, container: i64, key: &Datum) -> Result<Option<String>> {
        Ok(match key {
            Datum::Object(number) => match self.recording.object(*number)?.kind {
                Kind::Tuple => self.text_of_tuple(container, key)?,
                Kind::Class => {
                    let end = format!(".{}'>", self.recording.object(*number)?.type_name);
                    self.known_key(container, |text| text.starts_with("<class '") && text.ends_with(&end))?
                }
                // As the recorders name one that is no other as a key.
                _ => Some(self.recording.object_name(*number)?),
            },
            Datum::Items(_) => self.text_of_tuple(container, key)?,
            Datum::Member(member, value) if !value.is_empty() => Some(format!("<{member}: {value}>")),
            Datum::Member(member, _) => {
                let begin = format!("<{member}: ");
                self.known_key(container, |text| text.starts_with(&begin))?
            }
            Datum::Other(Word::Atom(atom)) => Some(self.recording.atom(*atom)?.text.clone()),
            simple => simple.simple_text(self.recording.spelling),
        })
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

    /// A tuple as Python writes it.
    fn text_of_tuple(&self, container: i64, tuple: &Datum) -> Result<Option<String>> {
        let Some(items) = self.items(tuple)? else { return Ok(None) };
        let mut texts = Vec::new();
        for item in &items {
            let Some(text) = self.text_of_key(container, item)? else { return Ok(None) };
            texts.push(text);
        }
        Ok(Some(match texts.as_slice() {
            [only] => format!("({only},)"),
            several => format!("({})", several.join(", ")),
        }))
    }

    /// A key that the container has.
    fn known_key(&self, container: i64, is_it: impl Fn(&str) -> bool) -> Result<Option<String>> {
        for (key, _) in self.memory.all(Owner::object(container))? {
            if let Key::Item(text) = key {
                let text = self.recording.text(text);
                if is_it(&text) {
                    return Ok(Some(text.to_string()));
                }
            }
        }
        Ok(None)
    }
}
