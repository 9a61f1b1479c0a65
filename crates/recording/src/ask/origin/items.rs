//! Which items of a container a step used: the one under a key, the one that has its value, those that a comprehension
//! reads. Where that is not known, none is better than another one.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::calls::returned_of;
use super::inputs::{Inputs, MOST_CALLS, OMITTED, Ran, is_common};
use super::{Cause, Returned};
use crate::ask::statement::{self, Comprehension, LookUp, Read};
use crate::ask::writes::writes_to;
use crate::error::Result;
use crate::memory::{Memory, MemoryAt, Write};
use crate::predicate::{Datum, Scope};
use crate::reading::Recording;
use crate::spelling::Spelling;
use crate::value::{Key, Kind, Owner, What, Word};

/// The most values to report behind one that is made of all.
pub(super) const MOST_SUMMED: usize = 3;

/// The most items that are read for a comprehension.
const MOST_ITEMS: usize = 1000;

/// The most calls that are read for what a statement made of their results.
const MOST_RESULTS: i64 = 1000;

/// What comprehensions read of the items that they go through.
pub(super) struct OfItems {
    pub(super) inputs: Inputs,
    /// The number of the newest write among them.
    newest: i64,
    /// It is known which item the value is made of.
    is_one: bool,
}

impl OfItems {
    /// Whether a change of the iterated container belongs to the answer as well: it is what came last.
    pub(super) fn is_before(&self, change: &Write) -> bool {
        !self.is_one && change.id > self.newest
    }
}

impl Recording {
    pub(super) fn is_container(&self, object: i64) -> Result<bool> {
        Ok(matches!(self.object(object)?.kind, Kind::List | Kind::Dictionary | Kind::Set))
    }

    /// What was last written where a method takes something out of a container; none if that is not known, or nothing.
    pub(super) fn looked_up(
        &self,
        item: &LookUp,
        scope: &Scope<'_>,
        until: i64,
    ) -> Result<Option<Vec<Write>>> {
        let Ok(entry) = self.expression(&item.entry) else { return Ok(None) };
        let Some(entry) = scope.slot(&entry)? else { return Ok(None) };
        let Some(object) = entry.0.as_object() else { return Ok(None) };
        if !matches!(self.object(object)?.kind, Kind::List | Kind::Dictionary) {
            return Ok(None);
        }
        if let Ok(path) = self.expression(&item.path)
            && let Some(slot) = scope.slot(&path)?
            && scope.memory.get(slot.0, slot.1)?.is_some()
        {
            return Ok(Some(self.last_write(slot, until)?.into_iter().collect()));
        }
        Ok(Some(self.last_write(entry, until)?.into_iter().collect()))
    }

    /// The item or attribute of an object that has a value: the one of this name, if that has it, or else the only one.
    pub(super) fn item_with(
        &self,
        object: i64,
        word: Word,
        memory: &MemoryAt<'_>,
        name: Option<&str>,
    ) -> Result<Option<(Owner, Key)>> {
        if let Some(name) = name
            && let Some(slot) = self.attribute(object, name, word, memory)?
        {
            return Ok(Some(slot));
        }
        let found = self.items_with(object, word, memory)?;
        // An object is the same wherever it is.
        let is_clear = found.len() == 1 || matches!(word, Word::Object(_));
        Ok(found.first().copied().filter(|_| is_clear))
    }

    /// The items and attributes of an object that have a value, or else those of the pairs and rows in it.
    fn items_with(&self, object: i64, word: Word, memory: &MemoryAt<'_>) -> Result<Vec<(Owner, Key)>> {
        if self.object(object)?.kind == Kind::Opaque
            || matches!(word, Word::None | Word::Bool(_) | Word::Absent)
        {
            return Ok(Vec::new());
        }
        let slots = memory.all(Owner::object(object))?;
        let mut found = slots_with(Owner::object(object), &slots, word);
        if !found.is_empty() {
            return Ok(found);
        }
        for (_, value) in slots.iter().take(MOST_CALLS) {
            if let Word::Object(inner) = value
                && matches!(self.object(*inner)?.kind, Kind::Tuple | Kind::List)
            {
                let owner = Owner::object(*inner);
                found.extend(slots_with(owner, &memory.all(owner)?, word));
            }
        }
        Ok(found)
    }

    /// The item or attribute of this name, if it has a value.
    pub(super) fn attribute(
        &self,
        object: i64,
        name: &str,
        word: Word,
        memory: &MemoryAt<'_>,
    ) -> Result<Option<(Owner, Key)>> {
        if name.is_empty() {
            return Ok(None);
        }
        // An object of properties may be made of a map, and a map of an object.
        let as_item = |name: &str| {
            if name.starts_with('[') {
                name.to_owned()
            } else {
                format!("[{}]", self.spelling.string_as_key(name))
            }
        };
        let (owner, name) = (Owner::object(object), as_item(name));
        let is_it = |(key, value): &(Key, Word)| *value == word && as_item(&self.key_text(*key)) == name;
        Ok(memory.all(owner)?.into_iter().find(is_it).map(|(key, _)| (owner, key)))
    }

    /// The item of a container that a step took: where it made pairs of keys and values, that of the key beside it; where it
    /// made a list of a dictionary, the one at the same place.
    fn entry(
        &self,
        ran: &Ran<'_>,
        object: i64,
        (scope, memory): (&Scope<'_>, &MemoryAt<'_>),
    ) -> Result<Option<(Owner, Key)>> {
        let kind = self.object(object)?.kind;
        if !matches!(kind, Kind::Dictionary | Kind::List | Kind::Instance) {
            return Ok(None);
        }
        let after = MemoryAt { recording: self, event: ran.until + 1 };
        let pair = match (ran.word, ran.key) {
            _ if kind == Kind::List => None,
            (Word::Object(pair), _) => Some(Owner::object(pair)),
            (_, Some((owner, Key::Index(0 | 1)))) => Some(owner),
            _ => None,
        };
        if let Some(pair) = pair
            && self.is_pair(pair, &after)?
            && let Some(key) = after.get(pair, Key::Index(0))?
            && let Some(word) = after.get(pair, Key::Index(1))?
            && let Some(found) = item_under(object, key, word, (scope, memory))?
        {
            return Ok(Some(found));
        }
        let Some((_, Key::Index(index))) = ran.key.filter(|_| kind == Kind::Dictionary) else {
            return Ok(None);
        };
        let slots = memory.all(Owner::object(object))?;
        let mut items = slots.into_iter().filter(|(key, _)| matches!(key, Key::Item(_)));
        let nth = usize::try_from(index).ok().and_then(|index| items.nth(index));
        Ok(nth.filter(|(_, word)| *word == ran.word).map(|(key, _)| (Owner::object(object), key)))
    }

    /// The item of a container that a step used, if that is known, and whether it has not the value of several.
    pub(super) fn item_used(
        &self,
        ran: &Ran<'_>,
        object: i64,
        own: &str,
        (scope, memory): (&Scope<'_>, &MemoryAt<'_>),
    ) -> Result<(Option<(Owner, Key)>, bool)> {
        let found = match self.entry(ran, object, (scope, memory))? {
            None => self.item_with(object, ran.word, memory, Some(own))?,
            found => found,
        };
        if found.is_some() || self.items_with(object, ran.word, memory)?.is_empty() {
            return Ok((found, true));
        }
        // Another variable of the head of a loop may say the key.
        let after = MemoryAt { recording: self, event: ran.until + 1 };
        let names = if ran.value.is_item { statement::names(ran.whole) } else { Vec::new() };
        for name in names {
            let other = self.number(name).map(|name| after.get(ran.call.owner, Key::Name(name)));
            if let Some(key) = other.transpose()?.flatten()
                && let Some(found) = item_under(object, key, ran.word, (scope, memory))?
            {
                return Ok((Some(found), true));
            }
        }
        Ok((None, false))
    }

    fn is_pair(&self, owner: Owner, memory: &MemoryAt<'_>) -> Result<bool> {
        let Some(object) = owner.as_object() else { return Ok(false) };
        let is_list = matches!(self.object(object)?.kind, Kind::List | Kind::Tuple);
        Ok(is_list && memory.get(owner, Key::Length)? == Some(Word::Integer(2)))
    }

    /// The last write to the attribute of this name of the items of a container, if only one of them has the value.
    pub(super) fn attribute_of_items(
        &self,
        container: i64,
        name: &str,
        word: Word,
        memory: &MemoryAt<'_>,
    ) -> Result<Option<Write>> {
        if is_common(word) {
            return Ok(None);
        }
        let mut found = HashSet::new();
        for (_, item) in memory.all(Owner::object(container))?.into_iter().take(MOST_ITEMS) {
            if let Word::Object(item) = item {
                found.extend(self.attribute(item, name, word, memory)?);
            }
        }
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some(slot), None) => self.last_write(slot, memory.event),
            _ => Ok(None),
        }
    }

    /// The last writes to items that a container has, newest first.
    pub(super) fn changes_of(&self, object: i64, memory: &MemoryAt<'_>, most: usize) -> Result<Vec<Write>> {
        let owner = Owner::object(object);
        let mut found = writes_to(self, owner, None, memory.event, most)?;
        if most > 1 {
            let slots = memory.all(owner)?;
            let mut seen = HashSet::new();
            found.retain(|write| {
                !is_common(write.word) && slots.contains(&(write.key, write.word)) && seen.insert(write.key)
            });
        }
        found.truncate(most);
        Ok(found)
    }

    /// The comprehensions in an expression, whose variables are not those of its function.
    pub(super) fn comprehended<'t>(&self, ran: &Ran<'t>) -> Vec<Comprehension<'t>> {
        match self.spelling {
            Spelling::Python => statement::comprehended(ran.value.text),
            Spelling::JavaScript => Vec::new(),
        }
    }

    /// What was last written to the attributes and items that comprehensions read of what they go through: of the item
    /// that the value is made of, if that is known, or else the newest.
    pub(super) fn inputs_of_items(
        &self,
        ran: &Ran<'_>,
        reads: &[Read],
        all: &[Comprehension<'_>],
        (scope, memory): (&Scope<'_>, &MemoryAt<'_>),
    ) -> Result<Option<OfItems>> {
        let mut found: Vec<(usize, Word, Write)> = Vec::new();
        let mut count = 0;
        for (at, last) in all.iter().enumerate() {
            let own: Vec<_> = reads
                .iter()
                .filter(|read| last.variables.iter().any(|name| read.is_of(name) && read.path != *name))
                .filter_map(|read| self.expression(&read.path).ok())
                .collect();
            count = 0;
            go_through(scope, &levels(all, at), &mut |scope| {
                count += 1;
                for read in own.iter().filter(|_| count <= MOST_ITEMS) {
                    if let Some(slot) = scope.slot(read)?
                        && let Some(word) = memory.get(slot.0, slot.1)?
                        && let Some(write) = self.last_write(slot, memory.event)?
                    {
                        found.push((count - 1, word, write));
                    }
                }
                Ok(())
            })?;
        }
        let nth = self.position(ran)?.filter(|(_, of)| all.len() == 1 && *of == count);
        let is_at = |(at, ..): &(usize, Word, Write)| nth.is_some_and(|(nth, _)| *at == nth);
        let is_it = |(_, word, _): &(usize, Word, Write)| *word == ran.word && !is_common(ran.word);
        let is_one = found.iter().any(|each| is_at(each) || is_it(each));
        if found.iter().any(is_at) {
            found.retain(is_at);
        } else if is_one {
            found.retain(is_it);
        }
        found.sort_by_key(|(_, _, write)| Reverse(write.id));
        found.dedup_by_key(|(_, _, write)| write.id);
        let Some((_, _, first)) = found.first() else { return Ok(None) };
        let newest = first.id;
        let mut inputs: Inputs = found.iter().map(|(_, _, write)| (Cause::Write(*write), 1)).collect();
        for (_, distance) in inputs.iter_mut().skip(MOST_SUMMED) {
            *distance = OMITTED;
        }
        Ok(Some(OfItems { inputs, newest, is_one }))
    }

    /// The position of what a step wrote among the items of a container, and how many there are. Of an attribute, that of
    /// its object.
    fn position(&self, ran: &Ran<'_>) -> Result<Option<(usize, usize)>> {
        let Some((owner, key)) = ran.key.filter(|_| ran.into.is_some()) else { return Ok(None) };
        let (owner, key) = if let Key::Name(_) = key {
            let object = Word::Object(ran.into.unwrap_or_default()).stored();
            let found = self.row(
                "SELECT owner, key FROM writes WHERE value = ? AND event = ? AND owner & 1 = 1 AND key & 3 IN (1, 2) LIMIT 1",
                [object, ran.until],
                |row| Ok((Owner(row.get(0)?), Key::of(row.get(1)?))),
            )?;
            let Some(found) = found else { return Ok(None) };
            found
        } else {
            (owner, key)
        };
        let after = MemoryAt { recording: self, event: ran.until + 1 };
        let mut slots = after.all(owner)?;
        slots.retain(|(key, _)| matches!(key, Key::Index(_) | Key::Item(_)));
        if let Key::Index(_) = key {
            slots.sort_by_key(|(key, _)| *key);
        }
        let at = slots.iter().position(|(other, _)| *other == key);
        Ok(at.map(|at| (at, slots.len())))
    }

    /// The call whose result is an item of what a statement made, though others made it: `Promise.all()`,
    /// `executor.map()`. It has the same position, if as many calls of that function were begun as there are items; other
    /// threads begin them in any order.
    pub(super) fn result_in(&self, ran: &Ran<'_>) -> Result<Option<Returned>> {
        if ran.value.is_compound || is_common(ran.word) || !statement::fills(ran.whole) {
            return Ok(None);
        }
        let Some((nth, count)) = self.position(ran)? else { return Ok(None) };
        let text = self.find_event(ran.from)?.and_then(|event| self.statement_of(&event)).unwrap_or_default();
        let names = statement::names(&text);
        let calls = "SELECT calls.id, calls.code, ends.id, ends.value, calls.thread IS own.thread FROM events \
                     JOIN calls ON calls.id = events.call JOIN calls AS own ON own.id = ?6 JOIN events AS ends ON ends.id = calls.ended \
                     WHERE events.id > ?1 AND events.id <= ?2 AND events.kind = ?3 AND ends.kind = ?4 AND ends.id <= ?2 \
                     ORDER BY events.id LIMIT ?5";
        let kinds = (What::Call.stored(), What::Return.stored());
        let values = [ran.from, ran.until + 1, kinds.0, kinds.1, MOST_RESULTS, ran.call.id];
        let mut made: Vec<(Returned, bool)> =
            self.rows(calls, values, |row| Ok((returned_of(row)?, row.get(4)?)))?;
        made.retain(|(returned, _)| names.contains(&self.name_called(returned)));
        let is_ordered = made.iter().all(|(_, is_own_thread)| *is_own_thread);
        let made: Vec<Returned> = made.into_iter().map(|(returned, _)| returned).collect();
        let codes: HashSet<i64> = made.iter().map(|returned| returned.code).collect();
        let of = |code: i64| made.iter().filter(move |returned| returned.code == code);
        let at_position = codes
            .into_iter()
            .filter(|code| is_ordered && of(*code).count() == count)
            .filter_map(|code| of(code).nth(nth))
            .filter(|returned| returned.word == ran.word)
            .max_by_key(|returned| returned.event);
        let mut equal = made.iter().filter(|returned| returned.word == ran.word);
        Ok(match (at_position, equal.next(), equal.next()) {
            (Some(found), ..) | (None, Some(found), None) => Some(*found),
            _ => None,
        })
    }
}

/// The item of an object under a key, if that has a value.
fn item_under(
    object: i64,
    key: Word,
    word: Word,
    (scope, memory): (&Scope<'_>, &MemoryAt<'_>),
) -> Result<Option<(Owner, Key)>> {
    let Some(key) = scope.key(object, &scope.datum(key)?)? else { return Ok(None) };
    let owner = Owner::object(object);
    Ok((memory.get(owner, key)? == Some(word)).then_some((owner, key)))
}

/// The slots that have a value.
fn slots_with(owner: Owner, slots: &[(Key, Word)], word: Word) -> Vec<(Owner, Key)> {
    let is_it = |(key, value): &&(Key, Word)| *value == word && *key != Key::Length;
    slots.iter().filter(is_it).map(|(key, _)| (owner, *key)).collect()
}

/// A comprehension, after those before it whose variables say what it iterates over.
fn levels<'a, 't>(all: &'a [Comprehension<'t>], at: usize) -> Vec<&'a Comprehension<'t>> {
    let Some(last) = all.get(at) else { return Vec::new() };
    let names = statement::names(last.over);
    let is_over = |at: &usize| {
        all.get(*at).is_some_and(|other| other.variables.iter().any(|name| names.contains(name)))
    };
    let mut found = (0..at).rev().find(is_over).map(|outer| levels(all, outer)).unwrap_or_default();
    found.push(last);
    found
}

/// Does something for each item of the innermost of these comprehensions that its filter lets through.
fn go_through(
    scope: &Scope<'_>,
    levels: &[&Comprehension<'_>],
    then: &mut dyn FnMut(&Scope<'_>) -> Result<()>,
) -> Result<()> {
    let [first, rest @ ..] = levels else { return then(scope) };
    let recording = scope.recording;
    let Some(over) = value_of(scope, first.over)? else { return Ok(()) };
    let filter = first.filter.and_then(|filter| recording.expression(filter).ok());
    scope.go_through(&over, &first.variables, &mut |scope| {
        let is_wanted = match &filter {
            Some(filter) => scope.holds(filter)?,
            None => None,
        };
        if is_wanted == Some(false) { Ok(()) } else { go_through(scope, rest, then) }
    })?;
    Ok(())
}

fn value_of(scope: &Scope<'_>, text: &str) -> Result<Option<Datum>> {
    match scope.recording.expression(text) {
        Ok(expression) => scope.value(&expression),
        Err(_) => Ok(None),
    }
}
