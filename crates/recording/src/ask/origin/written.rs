//! Which part of a statement gave an item or an attribute that it wrote.

use crate::ask::statement::{self, WrittenPart};
use crate::ask::writes::writes_to;
use crate::error::Result;
use crate::memory::{Memory, MemoryAt, Write};
use crate::predicate::Scope;
use crate::reading::{Call, Event, Recording};
use crate::value::{Key, Kind, Word};

impl Recording {
    /// The expression for what was written, where a list, a dictionary or an object is written out; none if that is not
    /// known. `value` is the expression that the statement in `text` assigns, which ran at `line` of a call.
    pub(super) fn part_written<'t>(
        &self,
        write: &Write,
        (call, line): (&Call, &Event),
        text: &'t str,
        value: &'t str,
    ) -> Result<Option<&'t str>> {
        let gives = |part: Option<WrittenPart<'t>>| match part {
            Some(part) if self.gives(write, (call, line), part)? => Ok(Some(part.text)),
            _ => Ok(None),
        };
        match write.key {
            Key::Index(index) => {
                let Ok(at) = usize::try_from(index) else { return Ok(None) };
                let item = statement::item_of(value, at).or_else(|| statement::assigned_item(text, at));
                let count = self.length_of_tuple(write)?;
                match item.or_else(|| statement::part_of(value, at, count?)) {
                    Some(item) => {
                        let is_other = self.has_value(write, (call, line), item)? == Some(false);
                        Ok(Some(item).filter(|_| !is_other))
                    }
                    None => gives(statement::listed_item(text, at)),
                }
            }
            Key::Item(key) => gives(statement::entry_of(text, self.text(key).trim_matches(['\'', '"']))),
            Key::Name(name) if write.owner.as_object().is_some() => {
                let name = self.text(name);
                let is_quoted =
                    name.contains(|letter: char| !(letter.is_alphanumeric() || "_$#".contains(letter)));
                let entry = is_quoted.then(|| statement::entry_of(text, &name)).flatten();
                Ok(gives(entry)?.or_else(|| statement::spread_of(value)))
            }
            _ => Ok(None),
        }
    }

    /// Whether a part of a statement gave what was written: it has that value, or cannot be evaluated and belongs to what the
    /// statement has made.
    fn gives(&self, write: &Write, at: (&Call, &Event), part: WrittenPart<'_>) -> Result<bool> {
        if let Some(has_value) = self.has_value(write, at, part.text)? {
            return Ok(has_value);
        }
        Ok(part.is_given && writes_to(self, write.owner, None, at.1.id, 1)?.is_empty())
    }

    /// Whether an expression had the value that was written, before its line ran; none if that is not known.
    fn has_value(&self, write: &Write, (call, line): (&Call, &Event), text: &str) -> Result<Option<bool>> {
        let Ok(expression) = self.expression(text) else { return Ok(None) };
        let memory = MemoryAt { recording: self, event: line.id.max(1) };
        let scope = Scope::of(self, &memory, call)?;
        let Some(found) = scope.value(&expression)? else { return Ok(None) };
        Ok(Some(scope.datum(write.word)?.is_same(&found)))
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
