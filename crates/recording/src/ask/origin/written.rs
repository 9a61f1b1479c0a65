//! Which part of a statement gave an item or an attribute that it wrote.

use crate::ask::statement;
use crate::ask::writes::writes_to;
use crate::error::Result;
use crate::memory::{Memory, MemoryAt, Write};
use crate::reading::{Event, Recording};
use crate::value::{Key, Kind, Word};

impl Recording {
    /// The expression for what was written, where a list, a dictionary or an object is written out; none if that is not
    /// known. `value` is the expression that the statement in `text` assigns, which ran at `line`.
    pub(super) fn part_written<'t>(
        &self,
        write: &Write,
        line: &Event,
        text: &'t str,
        value: &'t str,
    ) -> Result<Option<&'t str>> {
        Ok(match write.key {
            Key::Index(index) => {
                let Ok(at) = usize::try_from(index) else { return Ok(None) };
                let item = statement::item_of(value, at).or_else(|| statement::assigned_item(text, at));
                let count = self.length_of_tuple(write)?;
                let is_new = self.is_new(write, line)?;
                let listed = || is_new.then(|| statement::listed_item(text, at)).flatten();
                item.or_else(|| statement::part_of(value, at, count?)).or_else(listed)
            }
            Key::Item(key) if self.is_new(write, line)? => {
                statement::entry_of(text, self.text(key).trim_matches(['\'', '"']))
            }
            Key::Name(name) if write.owner.as_object().is_some() => {
                let name = self.text(name);
                let is_quoted =
                    name.contains(|letter: char| !(letter.is_alphanumeric() || "_$#".contains(letter)));
                let entry = is_quoted.then(|| statement::entry_of(text, &name)).flatten();
                entry.or_else(|| statement::spread_of(value))
            }
            _ => None,
        })
    }

    /// Whether the object that was written to was not there before a line, so that the line may be what writes it out.
    fn is_new(&self, write: &Write, line: &Event) -> Result<bool> {
        Ok(writes_to(self, write.owner, None, line.id, 1)?.is_empty())
    }

    /// The length of the tuple that was written to; none if it was something else.
    fn length_of_tuple(&self, write: &Write) -> Result<Option<usize>> {
        let Some(object) = write.owner.as_object() else { return Ok(None) };
        if self.object(object)?.kind != Kind::Tuple {
            return Ok(None);
        }
        let memory = MemoryAt { recording: self, event: write.event + 1 };
        Ok(match memory.get(write.owner, Key::Length)? {
            Some(Word::Integer(length)) => usize::try_from(length).ok(),
            _ => None,
        })
    }
}
