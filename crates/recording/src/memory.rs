//! What was in variables and objects at a moment.

use std::collections::HashMap;
use std::hash::Hash;

use rusqlite::{Params, Row};

use crate::error::Result;
use crate::reading::{Code, Event, Recording};
use crate::value::{Key, Kind, Owner, Word};

/// The state at some moment.
pub(crate) trait Memory {
    /// A variable, an attribute or an item; none if it is not there.
    fn get(&self, owner: Owner, key: Key) -> Result<Option<Word>>;
    /// All that an owner has, in the order in which it got them.
    fn all(&self, owner: Owner) -> Result<Vec<(Key, Word)>>;
}

/// The state at an event, read from the recording: what was written before.
pub(crate) struct MemoryAt<'a> {
    pub(crate) recording: &'a Recording,
    pub(crate) event: i64,
}

impl Memory for MemoryAt<'_> {
    fn get(&self, owner: Owner, key: Key) -> Result<Option<Word>> {
        let last = "SELECT value FROM writes WHERE owner = ? AND key = ? AND event < ? AND id <= ? \
                    ORDER BY id DESC LIMIT 1";
        let values = [owner.0, key.stored(), self.event, self.recording.last_known_write(self.event)];
        let found = self.recording.row(last, values, |row| row.get(0))?;
        Ok(found.map(Word::of).filter(|word| *word != Word::Absent))
    }

    fn all(&self, owner: Owner) -> Result<Vec<(Key, Word)>> {
        let all = "SELECT key, value FROM writes WHERE owner = ? AND event < ? AND id <= ? ORDER BY id";
        let values = [owner.0, self.event, self.recording.last_known_write(self.event)];
        let read = |row: &Row<'_>| Ok((Key::of(row.get(0)?), Word::of(row.get(1)?)));
        let mut latest = Latest::default();
        self.recording.find_row(all, values, read, |(key, word)| {
            latest.write(key, word);
            Ok(None::<()>)
        })?;
        Ok(latest.into_slots().collect())
    }
}

/// The last value under each key, in the order in which the keys got one.
pub(crate) struct Latest<K> {
    places: HashMap<K, usize>,
    slots: Vec<Option<(K, Word)>>,
}

impl<K> Default for Latest<K> {
    fn default() -> Self {
        Self { places: HashMap::new(), slots: Vec::new() }
    }
}

impl<K: Copy + Eq + Hash> Latest<K> {
    pub(crate) fn write(&mut self, key: K, word: Word) {
        let new = (word != Word::Absent).then_some((key, word));
        let known = self.places.get(&key).and_then(|at| self.slots.get_mut(*at));
        match (known, new) {
            (Some(slot), new) => {
                *slot = new;
                if new.is_none() {
                    self.places.remove(&key);
                }
            }
            (None, None) => {}
            (None, new) => {
                self.places.insert(key, self.slots.len());
                self.slots.push(new);
            }
        }
    }

    pub(crate) fn into_slots(self) -> impl Iterator<Item = (K, Word)> {
        self.slots.into_iter().flatten()
    }
}

/// The state while all writes are replayed in order.
#[derive(Debug, Default)]
pub(crate) struct GrowingMemory {
    values: HashMap<(Owner, Key), Word>,
    /// The keys of each object in insertion order; none unless whole objects are read.
    keys: Option<HashMap<i64, Vec<Key>>>,
}

impl GrowingMemory {
    /// One that can be asked for all that an object has.
    pub(crate) fn of_whole_objects() -> Self {
        Self { keys: Some(HashMap::new()), ..Self::default() }
    }

    /// Takes a write in.
    pub(crate) fn write(&mut self, owner: Owner, key: Key, word: Word) {
        let known = if word == Word::Absent {
            self.values.remove(&(owner, key))
        } else {
            self.values.insert((owner, key), word)
        };
        let (Some(keys), Some(object)) = (&mut self.keys, owner.as_object()) else { return };
        let keys = keys.entry(object).or_default();
        if word != Word::Absent && known.is_none() {
            keys.push(key);
        } else if word == Word::Absent
            && let Some(at) = keys.iter().rposition(|other| *other == key)
        {
            keys.remove(at);
        }
    }
}

impl Memory for GrowingMemory {
    fn get(&self, owner: Owner, key: Key) -> Result<Option<Word>> {
        Ok(self.values.get(&(owner, key)).copied())
    }

    fn all(&self, owner: Owner) -> Result<Vec<(Key, Word)>> {
        let keys = self.keys.as_ref().zip(owner.as_object()).and_then(|(keys, object)| keys.get(&object));
        let value = |key: &Key| Some((*key, *self.values.get(&(owner, *key))?));
        Ok(keys.into_iter().flatten().filter_map(value).collect())
    }
}

/// One write of a recording.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    /// Its number, in the order of writes.
    pub(crate) id: i64,
    /// The last event before it.
    pub(crate) event: i64,
    /// The event of the line that made it.
    pub(crate) line: i64,
    /// The line has not written it: another variable of the same name hid this one.
    pub(crate) is_shown_again: bool,
    pub(crate) owner: Owner,
    pub(crate) key: Key,
    pub(crate) word: Word,
}

/// The columns that [`write_of`] reads.
pub(crate) const COLUMNS: &str = "id, event, since, owner, key, value";

/// The event of the line that made a write, as [`Write::line`], in the terms of its columns.
pub(crate) const LINE: &str = "event - max(since, ~since)";

pub(crate) fn write_of(row: &Row<'_>) -> rusqlite::Result<Write> {
    let (event, since): (i64, i64) = (row.get(1)?, row.get(2)?);
    Ok(Write {
        id: row.get(0)?,
        event,
        line: event - since.max(!since),
        is_shown_again: since < 0,
        owner: Owner(row.get(3)?),
        key: Key::of(row.get(4)?),
        word: Word::of(row.get(5)?),
    })
}

impl Write {
    /// Whether it only says that the contents of an object are not recorded, or are from then on.
    pub(crate) fn is_mark(&self) -> bool {
        self.key == Key::Length && !matches!(self.word, Word::Integer(_))
    }
}

impl Recording {
    /// The writes that a statement selects, from what follows `FROM writes` in it.
    pub(crate) fn writes(&self, rest: &str, values: impl Params) -> Result<Vec<Write>> {
        self.rows(&format!("SELECT {COLUMNS} FROM writes {rest}"), values, write_of)
    }

    /// The first of them of which something is made; the others are not read.
    pub(crate) fn find_write<F>(
        &self,
        rest: &str,
        values: impl Params,
        find: impl FnMut(Write) -> Result<Option<F>>,
    ) -> Result<Option<F>> {
        self.find_row(&format!("SELECT {COLUMNS} FROM writes {rest}"), values, write_of, find)
    }

    /// Whether nothing is recorded of what an object contains, because it was first seen too deep in another one. The
    /// recorders write a length of each container that they read, and mark other objects that they do not.
    pub(crate) fn is_unread(&self, object: i64, memory: &dyn Memory) -> Result<bool> {
        let length = || memory.get(Owner::object(object), Key::Length);
        Ok(match self.object(object)?.kind {
            Kind::List | Kind::Dictionary | Kind::Set | Kind::Tuple => length()?.is_none(),
            Kind::Instance => length()?.is_some(),
            _ => false,
        })
    }

    /// Finds the last write before an event, so that all questions about that moment are answered without those after it.
    pub(crate) fn know_last_write(&self, event: i64) -> Result<()> {
        let last = "SELECT id FROM writes WHERE event < ? ORDER BY id DESC LIMIT 1";
        let last = self.row(last, [event], |row| row.get(0))?.unwrap_or(0);
        self.last_writes.borrow_mut().insert(event, last);
        Ok(())
    }

    fn last_known_write(&self, event: i64) -> i64 {
        self.last_writes.borrow().get(&event).copied().unwrap_or(i64::MAX)
    }

    /// The number of the first write at or after an event.
    pub(crate) fn first_write_at(&self, event: i64) -> Result<i64> {
        let ends =
            "SELECT coalesce((SELECT min(id) FROM writes), 1), coalesce((SELECT max(id) FROM writes), 0)";
        let (first, last): (i64, i64) =
            self.database.query_row(ends, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut statement = self.database.prepare_cached("SELECT event FROM writes WHERE id = ?")?;
        // Writes are numbered without gaps, nearly in the order of their events.
        let (mut low, mut high) = (first, last + 1);
        while low < high {
            let middle = i64::midpoint(low, high);
            let at: i64 = statement.query_row([middle], |row| row.get(0))?;
            if at < event { low = middle + 1 } else { high = middle }
        }
        // Arguments may be after what was written since their call began.
        let earlier = "SELECT min(id) FROM writes WHERE id BETWEEN ?1 - 10000 AND ?1 AND event >= ?2";
        let found: Option<i64> = self.row(earlier, [low, event], |row| row.get(0))?.flatten();
        Ok(found.unwrap_or(low))
    }

    /// The event of the line, or of the call, that made a write.
    pub(crate) fn writer(&self, write: &Write) -> Result<Event> {
        match self.find_event(write.line)? {
            Some(event) => Ok(event),
            // It was made before the first event.
            None => self.event(self.first_event()?),
        }
    }

    /// What was there before a write; none if nothing was.
    pub(crate) fn before(&self, write: &Write) -> Result<Option<Word>> {
        let last = "SELECT value FROM writes WHERE owner = ? AND key = ? AND id < ? ORDER BY id DESC LIMIT 1";
        let found = self.row(last, [write.owner.0, write.key.stored(), write.id], |row| row.get(0))?;
        Ok(found.map(Word::of).filter(|word| *word != Word::Absent))
    }

    /// Whether a write only takes an item out that the next one puts after the others of its container.
    pub(crate) fn is_moved_later(&self, write: &Write) -> Result<bool> {
        let is_removed = write.word == Word::Absent && matches!(write.key, Key::Item(_));
        Ok(is_removed && self.is_next(write, write.id + 1)?)
    }

    /// Whether a write puts an item after the others of its container that was there with the same value.
    pub(crate) fn is_move(&self, write: &Write) -> Result<bool> {
        if !matches!(write.key, Key::Item(_))
            || write.word == Word::Absent
            || !self.is_next(write, write.id - 1)?
        {
            return Ok(false);
        }
        let removed = Write { id: write.id - 1, ..*write };
        Ok(self.before(&removed)? == Some(write.word))
    }

    /// Whether another write is one of the same line to the same slot, and one of both takes it out.
    fn is_next(&self, write: &Write, other: i64) -> Result<bool> {
        let slot = [other, write.owner.0, write.key.stored(), write.event];
        let of_slot = "SELECT value FROM writes WHERE id = ? AND owner = ? AND key = ? AND event = ?";
        let value = self.row(of_slot, slot, |row| row.get(0))?;
        let is_absent = |word: Word| word == Word::Absent;
        Ok(value.is_some_and(|value| is_absent(Word::of(value)) != is_absent(write.word)))
    }

    /// The function whose variables an owner is, if its call was active at an event.
    pub(crate) fn active_owner(&self, owner: Owner, event: i64) -> Result<Option<String>> {
        let active = "SELECT code FROM calls WHERE id = ? AND owner = ? AND entered <= ? AND (ended IS NULL OR ended >= ?)";
        let code = self.row(active, [owner.0 >> 1, owner.0, event, event], |row| row.get(0))?;
        // Variables of a module stay.
        let code = match code.map(|code: i64| self.codes.get(&code)) {
            Some(code) => code,
            None => self.code_of(owner)?.filter(|code| code.is_module()),
        };
        Ok(code.map(|code| code.name.to_string()))
    }

    /// The function, or the module, whose variables an owner is; none in a forked process, which has not called its modules.
    pub(crate) fn code_of(&self, owner: Owner) -> Result<Option<&Code>> {
        let own = "SELECT code FROM calls WHERE id = ? AND owner = ?";
        let code = match self.row(own, [owner.0 >> 1, owner.0], |row| row.get(0))? {
            // There is no index for this.
            None => {
                self.row("SELECT code FROM calls WHERE owner = ? LIMIT 1", [owner.0], |row| row.get(0))?
            }
            own => own,
        };
        Ok(code.and_then(|code: i64| self.codes.get(&code)))
    }
}
