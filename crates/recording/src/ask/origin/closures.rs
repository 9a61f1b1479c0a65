//! Variables of the function around a closure. A call in Python has a copy of each, which is written where it begins.

use super::Cause;
use super::arguments::OUTER_VARIABLE;
use super::inputs::{Inputs, MOST_EVENTS};
use crate::ask::statement;
use crate::error::Result;
use crate::memory::{Memory, MemoryAt, Write};
use crate::reading::{Call, Recording, list};
use crate::value::{Key, What, Word};

/// The most calls of the function around a closure that are compared with it.
const MOST_CALLS: usize = 100;

impl Recording {
    /// What gave an outer variable the value with which a call begins.
    pub(super) fn inputs_of_outer(&self, write: &Write, call: &Call) -> Result<Inputs> {
        let Some(code) = self.codes.get(&call.code) else { return Ok(Vec::new()) };
        let Some((outer, _)) = code.name.rsplit_once(".<locals>.") else { return Ok(Vec::new()) };
        let same = "WHERE id < ? AND id > ? AND key = ? AND value = ? AND owner & 1 = 0 ORDER BY id DESC";
        let values = [write.id, write.id - MOST_EVENTS, write.key.stored(), write.word.stored()];
        let found = self.find_write(same, values, |other| {
            let writer = self.writer(&other)?;
            let Some(by) = self.call(writer.call)? else { return Ok(None) };
            let Some(of) = self.codes.get(&by.code).filter(|of| of.file == code.file) else {
                return Ok(None);
            };
            let is_inside = of.name.strip_prefix(outer).is_some_and(|rest| rest.starts_with(".<locals>."));
            let is_it = (&*of.name == outer || is_inside && writer.what == What::Line)
                && self.may_share(call, &by, write.key)?;
            Ok(is_it.then_some((Cause::Write(other), 1)))
        })?;
        Ok(found.into_iter().collect())
    }

    /// Whether a write is that of an outer variable where a call begins.
    pub(in crate::ask) fn is_outer(&self, write: &Write) -> Result<bool> {
        let line = self.writer(write)?;
        Ok(line.what == What::Call
            && write.owner.as_object().is_none()
            && self.role_of(write, &line)? == OUTER_VARIABLE)
    }

    /// The write by another call that gave an outer variable the value with which a call begins; none if it is not
    /// certain which one that is.
    pub(in crate::ask) fn outer_write(&self, write: &Write) -> Result<Option<Write>> {
        let Some(call) = self.call(self.writer(write)?.call)? else { return Ok(None) };
        if !self.is_outer(write)? || !self.has_one_outer(&call, write.key)? {
            return Ok(None);
        }
        Ok(match self.inputs_of_outer(write, &call)?.first() {
            Some((Cause::Write(other), _)) => Some(*other),
            _ => None,
        })
    }

    /// Whether only one call of the function around that of a call can be the one with its outer variables.
    fn has_one_outer(&self, call: &Call, key: Key) -> Result<bool> {
        let Some(code) = self.codes.get(&call.code) else { return Ok(false) };
        let Some((outer, _)) = code.name.rsplit_once(".<locals>.") else { return Ok(false) };
        let of = list(&self.codes_where(|other| other.file == code.file && &*other.name == outer));
        let calls = format!("SELECT id FROM calls WHERE code IN ({of}) LIMIT {MOST_CALLS}");
        let ids: Vec<i64> = self.rows(&calls, [], |row| row.get(0))?;
        let mut count = 0;
        for id in &ids {
            if let Some(other) = self.call(*id)? {
                count += usize::from(self.may_share(call, &other, key)?);
            }
        }
        Ok(count == 1 && ids.len() < MOST_CALLS)
    }

    /// Whether another call may have the same outer variables as one: those that are objects or functions, other than this
    /// one, are the same as where the other began, or ended.
    fn may_share(&self, call: &Call, other: &Call, but: Key) -> Result<bool> {
        let Some(code) = self.codes.get(&call.code) else { return Ok(false) };
        let (_, head) = self.head_of(code);
        let (begin, other_begin) = (self.memory_at_begin(call)?, self.memory_at_begin(other)?);
        let other_end = MemoryAt { recording: self, event: i64::MAX };
        for key in self.parameters(call)? {
            let Key::Name(name) = key else { continue };
            if key == but || statement::has_parameter(&head, &self.text(name)) != Some(false) {
                continue;
            }
            let Some(word) = begin.get(call.owner, key)?.filter(|word| self.has_identity(*word)) else {
                continue;
            };
            let others = [other_begin.get(other.owner, key)?, other_end.get(other.owner, key)?];
            if others.iter().any(Option::is_some) && !others.contains(&Some(word)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn memory_at_begin(&self, call: &Call) -> Result<MemoryAt<'_>> {
        let entered: Option<i64> =
            self.row("SELECT entered FROM calls WHERE id = ?", [call.id], |row| row.get(0))?;
        Ok(MemoryAt { recording: self, event: entered.unwrap_or_default() + 1 })
    }

    /// Whether a value is an object, or a function.
    fn has_identity(&self, word: Word) -> bool {
        match word {
            Word::Object(_) => true,
            Word::Atom(atom) => {
                self.atom(atom).is_ok_and(|atom| atom.string.is_none() && atom.text.starts_with('<'))
            }
            _ => false,
        }
    }
}
