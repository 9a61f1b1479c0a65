//! Who wrote a variable, an attribute or an item.

use std::collections::{BTreeMap, HashMap};

use rusqlite::Row;

use super::first::write_text;
use super::inside::{changed_text, last_change};
use super::target::{Target, TargetRequest};
use super::text::Lines;
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryAt, Write};
use crate::predicate::{Datum, Scope};
use crate::reading::{Event, Recording, list};
use crate::spelling::Spelling;
use crate::stack::base_name;
use crate::text::is_table;
use crate::value::{Key, Kind, Owner, What, Word};

/// That an outer variable had its value where a call of a closure begins.
const EARLIER: &str = ": an outer variable, which other calls wrote before";

/// The writes to a target until a moment, newest first, and those to the contents of the object in it.
pub fn writes(recording: &Recording, request: &TargetRequest<'_>) -> Result<String> {
    let target = Target::find(recording, request.target, request.at)?;
    let (event, owner, key) = (target.event, target.owner, target.key);
    let memory = MemoryAt { recording, event };
    let value = memory.get(owner, key)?;
    let mut lines = Lines::default();
    let shown = value
        .map_or_else(|| Ok("not there".to_owned()), |word| recording.value_text(word, &memory, 2, 200))?;
    target.introduce(recording, &shown, &mut lines)?;
    if let Some(Word::Object(number)) = value {
        let names = aliases(recording, number, (owner, key), &memory)?;
        if !names.is_empty() {
            lines.add(format!("the same object is {}", names.join(", ")));
        }
        if let Some(cut) = cut_text(recording, number, &memory)? {
            lines.add(format!(
                "only {cut}, so that changes of others are missing: record again with a higher `items`"
            ));
        }
        if let Some(unread) = unread_text(recording, number, &memory)? {
            lines.add(unread);
        }
    }
    let mut found = changes_with_outer(recording, (owner, key), event, request.limit)?;
    let newest = found.first().copied();
    // What a tuple contains is written once, and shown with it.
    if let Some(Word::Object(number)) = value
        && recording.object(number)?.kind != Kind::Tuple
    {
        let mut inside = changes_to(recording, Owner::object(number), None, event, request.limit)?;
        // The first text of a value that is only text is the value itself.
        for write in std::mem::take(&mut inside) {
            let is_text = write.key == Key::Name(0) && recording.before(&write)?.is_none();
            if !is_text && !write.is_mark() {
                inside.push(write);
            }
        }
        found.extend(inside);
        for part in parts_of(recording, number, &memory)? {
            found.extend(changes_to(recording, part, None, event, request.limit)?);
        }
    }
    let found = with_inner(recording, found)?;
    let total = found.len();
    // Objects in it may have changed since, which are no targets of these writes.
    if let Some(Word::Object(number)) = value
        && let Some(change) = last_change(recording, number, &memory)?
        && found.iter().all(|write| write.id < change.id)
    {
        lines.add(changed_text(recording, &change)?);
    }
    lines.add("written, newest first:");
    for write in found.iter().take(request.limit) {
        let line = recording.writer(write)?;
        let change = write_text(recording, write, &line)?;
        if line.is_before() {
            lines.add(format!("before event {}: {change}", recording.first_event()?));
            continue;
        }
        let rest = if recording.is_outer(write)? { EARLIER } else { "" };
        lines.add(format!("event {}: {change} by {}{rest}", line.id, recording.writer_text(&line)?));
        if let Some(callers) = recording.stack_text(&line, &recording.stack(&line)?)? {
            lines.add(format!("  {callers}"));
        }
        if newest.is_some_and(|newest| newest.id == write.id)
            && let (again, Some(first)) = runs_without_change(recording, &line, write.owner, event)?
        {
            let times = if again == 1 { "once more" } else { &format!("{again} more times") };
            lines.add(format!("  this line ran {times}, first at event {first}, and left the same value"));
        }
    }
    if total > request.limit {
        lines.add(format!("... and {} earlier writes", total - request.limit));
    }
    Ok(lines.finish())
}

/// The rows of an array, or the columns of a table, which only it has.
fn parts_of(recording: &Recording, number: i64, memory: &MemoryAt<'_>) -> Result<Vec<Owner>> {
    if !is_table(&recording.object(number)?.type_name) {
        return Ok(Vec::new());
    }
    let slots = memory.all(Owner::object(number))?.into_iter();
    let parts = slots.filter(|(key, _)| !matches!(key, Key::Name(_)));
    Ok(parts.filter_map(|(_, word)| word.as_object().map(Owner::object)).collect())
}

/// That nothing is recorded of what an object contains.
pub(super) fn unread_text(
    recording: &Recording,
    number: i64,
    memory: &MemoryAt<'_>,
) -> Result<Option<String>> {
    let is_unread = recording.is_unread(number, memory)?;
    let name = is_unread.then(|| recording.object_name(number)).transpose()?;
    Ok(name.map(|name| {
        format!(
            "the contents of `{name}` are not recorded, because it is too deep in other objects: record again with a higher \
             `depth`"
        )
    }))
}

/// That not all items of a container are recorded.
pub(super) fn cut_text(recording: &Recording, number: i64, memory: &MemoryAt<'_>) -> Result<Option<String>> {
    let is_container = matches!(recording.object(number)?.kind, Kind::List | Kind::Dictionary | Kind::Set);
    if !is_container || is_table(&recording.object(number)?.type_name) {
        return Ok(None);
    }
    let Some(Word::Integer(length)) = memory.get(Owner::object(number), Key::Length)? else {
        return Ok(None);
    };
    let slots = memory.all(Owner::object(number))?;
    let count = slots.iter().filter(|(key, _)| matches!(key, Key::Index(_) | Key::Item(_))).count();
    let is_cut = i64::try_from(count).is_ok_and(|count| count < length);
    Ok(is_cut.then(|| format!("{count} of its {length} items are recorded")))
}

/// The same writes, newest first: what functions inside wrote instead of the line that waited for them, and what moved in a
/// container once.
fn with_inner(recording: &Recording, writes: Vec<Write>) -> Result<Vec<Write>> {
    let mut found = Vec::new();
    for write in writes {
        let inner = recording.writes_of_inner(&write)?;
        if !inner.is_empty() {
            found.extend(inner);
        } else if !recording.is_moved_later(&write)? {
            found.push(write);
        }
    }
    found.sort_by_key(|write| std::cmp::Reverse(write.id));
    Ok(found)
}

/// The last writes to an owner before an event, newest first: not those to another variable of the same name that hid
/// this one.
pub(super) fn writes_to(
    recording: &Recording,
    owner: Owner,
    key: Option<Key>,
    until: i64,
    limit: usize,
) -> Result<Vec<Write>> {
    last_writes(recording, owner, key, until, limit, "")
}

/// Those of them that wrote another value than what was there.
pub(super) fn changes_to(
    recording: &Recording,
    owner: Owner,
    key: Option<Key>,
    until: i64,
    limit: usize,
) -> Result<Vec<Write>> {
    let is_other = "AND value IS NOT (SELECT value FROM writes AS old WHERE old.owner = ?1 AND old.key = writes.key \
                    AND old.id < writes.id ORDER BY old.id DESC LIMIT 1)";
    last_writes(recording, owner, key, until, limit, is_other)
}

/// Whether a write put another object there that has the same text, which says all of it, as that of a fraction does.
fn is_of_equal_text(recording: &Recording, write: &Write) -> Result<bool> {
    let (Word::Object(new), Some(Word::Object(old))) = (write.word, recording.before(write)?) else {
        return Ok(false);
    };
    let (object, before) = (recording.object(new)?, recording.object(old)?);
    if object.kind != Kind::Opaque || before.kind != Kind::Opaque || object.type_name != before.type_name {
        return Ok(false);
    }
    let memory = MemoryAt { recording, event: write.event + 1 };
    let is_known = !matches!(
        Scope::new(recording, &memory, std::rc::Rc::default()).datum(write.word)?,
        Datum::Object(_)
    );
    let text = |object| {
        Ok::<_, Error>(match memory.get(Owner::object(object), Key::Name(0))? {
            Some(Word::Atom(text)) => Some(recording.atom(text)?),
            _ => None,
        })
    };
    Ok(is_known && text(new)?.zip(text(old)?).is_some_and(|(new, old)| new.text == old.text))
}

fn last_writes(
    recording: &Recording,
    owner: Owner,
    key: Option<Key>,
    until: i64,
    limit: usize,
    which: &str,
) -> Result<Vec<Write>> {
    let most = limit.saturating_add(100);
    // The length is left out: what changed it was written as well, unless that is beyond the recorded items.
    let of_key = match key {
        Some(_) => "key = ?2 AND key & 3 <> 3",
        None => {
            "(key & 3 <> 3 OR value >= ?4 AND NOT EXISTS (SELECT 1 FROM writes AS other \
             WHERE other.owner = ?1 AND other.event = writes.event AND other.key & 3 <> 3))"
        }
    };
    let last = format!("WHERE owner = ?1 AND event < ?3 AND {of_key} {which} ORDER BY id DESC LIMIT ?5");
    let long = Word::Integer(recording.most_items()).stored();
    // Those of equal values are left out, and of JavaScript those to variables that hid others.
    let is_all = !which.is_empty() || recording.spelling == Spelling::JavaScript;
    let read = if is_all { -1 } else { i64::try_from(most).unwrap_or(-1) };
    let mut found = Vec::new();
    // What is visible again, until what wrote that is found.
    let mut shown = None;
    recording.find_write(&last, (owner.0, key.map(Key::stored), until, long, read), |write| {
        if !which.is_empty() && is_of_equal_text(recording, &write)? {
            return Ok(None);
        }
        if write.is_shown_again {
            shown.get_or_insert(write.word);
        } else if shown.is_none_or(|shown| shown == write.word) {
            shown = None;
            found.push(write);
        }
        Ok((found.len() == most).then_some(()))
    })?;
    Ok(found)
}

/// The last changes of a slot before an event, newest first. A call of Python has a copy of an outer variable, so that what
/// wrote it before is found in other calls.
fn changes_with_outer(
    recording: &Recording,
    (owner, key): (Owner, Key),
    until: i64,
    limit: usize,
) -> Result<Vec<Write>> {
    let mut found = changes_to(recording, owner, Some(key), until, limit)?;
    while found.len() <= limit
        && let Some(last) = found.last()
        && let Some(other) = recording.outer_write(last)?
    {
        found.pop();
        let earlier = changes_to(recording, other.owner, Some(key), other.event + 1, limit)?;
        found.extend(earlier.into_iter().filter(|write| write.id <= other.id));
    }
    Ok(found)
}

/// How often the line of the last write to an owner ran again before a moment, and first when: what it wrote then was
/// what was there. Only in functions that have the owner, or what has it.
fn runs_without_change(
    recording: &Recording,
    line: &Event,
    owner: Owner,
    until: i64,
) -> Result<(usize, Option<i64>)> {
    let Some(place) = line.place.filter(|_| line.what == What::Line) else { return Ok((0, None)) };
    let runs = "SELECT events.id, calls.owner FROM events JOIN calls ON calls.id = events.call \
                WHERE events.place = ? AND events.kind = 0 AND events.id > ? AND events.id < ? LIMIT 1000";
    let direct = holders(recording, owner.as_object())?;
    let indirect = holders(recording, direct.keys().filter_map(|holder| holder.as_object()))?;
    let (mut count, mut first) = (0, None);
    for (event, frame) in
        recording.rows(runs, [place, line.id, until], |row| Ok((row.get(0)?, Owner(row.get(1)?))))?
    {
        let memory = MemoryAt { recording, event };
        let mut has = frame == owner || !held_by(frame, &direct, &memory)?.is_empty();
        for middle in if has { Vec::new() } else { held_by(frame, &indirect, &memory)? } {
            has |= !held_by(middle, &direct, &memory)?.is_empty();
        }
        if has {
            count += 1;
            first = first.or(Some(event));
        }
    }
    Ok((count, first))
}

/// What ever had some objects, with where it had which of them.
type Holders = HashMap<Owner, BTreeMap<Key, Vec<Word>>>;

fn holders(recording: &Recording, objects: impl IntoIterator<Item = i64>) -> Result<Holders> {
    let words: Vec<i64> =
        objects.into_iter().take(50_000).map(|object| Word::Object(object).stored()).collect();
    let slots = format!("SELECT DISTINCT owner, key, value FROM writes WHERE value IN ({})", list(&words));
    let read = |row: &Row<'_>| Ok((Owner(row.get(0)?), Key::of(row.get(1)?), Word::of(row.get(2)?)));
    let mut found = Holders::new();
    for (owner, key, word) in recording.rows(&slots, [], read)? {
        found.entry(owner).or_default().entry(key).or_default().push(word);
    }
    Ok(found)
}

/// Which of these objects an owner has at a moment.
fn held_by(owner: Owner, holders: &Holders, memory: &MemoryAt<'_>) -> Result<Vec<Owner>> {
    let mut found = Vec::new();
    // A loop's variable has had many, of which it has one.
    for (key, words) in holders.get(&owner).into_iter().flatten().take(100) {
        let word = memory.get(owner, *key)?.filter(|word| words.contains(word));
        found.extend(word.and_then(Word::as_object).map(Owner::object));
    }
    Ok(found)
}

/// Other names of an object at a moment, with the lines that gave it these names.
fn aliases(
    recording: &Recording,
    object: i64,
    but: (Owner, Key),
    memory: &MemoryAt<'_>,
) -> Result<Vec<String>> {
    let slots = "SELECT DISTINCT owner, key FROM writes WHERE value = ? AND event < ? LIMIT 200";
    let slots = recording.rows(slots, [Word::Object(object).stored(), memory.event], |row| {
        Ok((Owner(row.get(0)?), Key::of(row.get(1)?)))
    })?;
    let mut names = Vec::new();
    for slot in slots.into_iter().filter(|slot| *slot != but) {
        if memory.get(slot.0, slot.1)? != Some(Word::Object(object)) {
            continue;
        }
        let name = match slot.0.as_object() {
            Some(other) => format!("`{}`", recording.slot_text(other, slot.1)?),
            None => match recording.active_owner(slot.0, memory.event)? {
                Some(function) => format!("`{}` in {function}", recording.key_text(slot.1)),
                None => continue,
            },
        };
        if names.iter().all(|known: &String| !known.starts_with(&name)) && names.len() < 5 {
            let place = match writes_to(recording, slot.0, Some(slot.1), memory.event, 1)?.first() {
                Some(write) => recording.place(recording.writer(write)?.place),
                None => None,
            };
            let place = place.map(|(code, line)| format!(" ({}:{line})", base_name(&code.path)));
            names.push(name + &place.unwrap_or_default());
        }
    }
    Ok(names)
}
