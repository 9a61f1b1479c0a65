//! What changed between two moments.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::state::{VALUE, is_definition};
use super::text::Lines;
use crate::error::{Error, Result};
use crate::memory::{Memory, MemoryAt, Write};
use crate::reading::{Event, Recording};
use crate::value::{Key, Kind, Owner, Word};

/// Keys that are shown of an order.
const MOST_KEYS: usize = 6;

/// The variables, attributes and items that differ between two moments.
pub fn changes(recording: &Recording, from: &str, to: &str) -> Result<String> {
    let (first, second) = (recording.moment(from)?, recording.moment(to)?);
    if first.id > second.id {
        return Err(Error::question(format!(
            "`{from}` is after `{to}`: events {} and {}",
            first.id, second.id
        )));
    }
    let calls = other_calls(recording, &first, &second)?;
    recording.know_last_write(first.id)?;
    recording.know_last_write(second.id)?;
    let before = MemoryAt { recording, event: first.id };
    let after = MemoryAt { recording, event: second.id };
    let mut lines = Lines::default();
    lines.add(format!("from event {}: {}", first.id, recording.place_text(first.place)));
    lines.add(format!("to event {}: {}", second.id, recording.place_text(second.place)));
    let mut title = None;
    let mut count = 0;
    for call in &calls {
        let changed = call_changes(recording, call, &before, &after)?;
        if !changed.is_empty() {
            lines.add(format!("{} (another call):", call.function));
            count += changed.len();
            for change in changed {
                lines.add(change);
            }
        }
    }
    let mut ordered = HashSet::new();
    let mut names = HashMap::new();
    for write in changed_slots(recording, first.id, second.id)? {
        if calls.iter().any(|call| call.new == write.owner) {
            continue;
        }
        // Most of what is written in a long range is of objects and calls that are not shown, so that is decided first.
        let name = match names.entry(write.owner) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(name_of(recording, write.owner, &before, second.id)?),
        };
        let Some(name) = &*name else { continue };
        let order = match write.key {
            Key::Item(_) if ordered.insert(write.owner) => order_of(recording, write.owner, &before, &after)?,
            _ => None,
        };
        if let Some((old, new)) = order {
            if title.as_ref() != Some(name) {
                lines.add(format!("{name}:"));
                title = Some(name.clone());
            }
            lines.add(format!("  order: {old} → {new}"));
            count += 1;
        }
        let (old, new) = (before.get(write.owner, write.key)?, after.get(write.owner, write.key)?);
        if old == new || is_definition(recording, write.key, new.unwrap_or(Word::Absent))? {
            continue;
        }
        if title.as_ref() != Some(name) {
            lines.add(format!("{name}:"));
            title = Some(name.clone());
        }
        count += 1;
        if lines.is_full() {
            // It is only counted.
            lines.add("");
        } else if let Some(change) = change_line(recording, write.key, (old, &before), (new, &after))? {
            lines.add(change);
        }
    }
    if count == 0 {
        lines.add("nothing that is recorded differs");
    }
    Ok(lines.finish())
}

/// The object, or the function or module, that has slots which were written since `before`; none if the call has ended
/// meanwhile, or if the object is new: what a new one contains is shown where it is kept.
fn name_of(recording: &Recording, owner: Owner, before: &MemoryAt<'_>, event: i64) -> Result<Option<String>> {
    let Some(object) = owner.as_object() else {
        // A call that had ended already was written to by its closures.
        let has_ended = "SELECT 1 FROM calls WHERE id = ? AND owner = ? AND ended < ?";
        if recording.has_row(has_ended, [owner.0 >> 1, owner.0, before.event])? {
            return Ok(recording.code_of(owner)?.map(|code| code.name.to_string()));
        }
        return recording.active_owner(owner, event);
    };
    let is_new = before.all(owner)?.is_empty() || recording.is_unread(object, before)?;
    if is_new { Ok(None) } else { recording.object_name(object).map(Some) }
}

/// The variables of a function in two of its calls.
struct OtherCall {
    function: Rc<str>,
    old: Owner,
    new: Owner,
}

/// The calls at the later moment that began since, each with that of the same function which the same one made, or such a
/// pair did, at the earlier moment.
fn other_calls(recording: &Recording, first: &Event, second: &Event) -> Result<Vec<OtherCall>> {
    let mut found = Vec::new();
    let (first, second) = (recording.stack(first)?, recording.stack(second)?);
    for (old, new) in first.into_iter().rev().zip(second.into_iter().rev()) {
        if old.call.id == new.call.id {
            continue;
        }
        let Some(code) = recording.codes.get(&new.call.code).filter(|_| old.call.code == new.call.code)
        else {
            break;
        };
        let (old, new) = (old.call.owner, new.call.owner);
        found.push(OtherCall { function: Rc::clone(&code.name), old, new });
    }
    Ok(found)
}

/// How the variables of a call differ from those of the other one.
fn call_changes(
    recording: &Recording,
    call: &OtherCall,
    before: &MemoryAt<'_>,
    after: &MemoryAt<'_>,
) -> Result<Vec<String>> {
    let mut keys = Vec::new();
    for (key, word) in before.all(call.old)?.into_iter().chain(after.all(call.new)?) {
        if !keys.contains(&key) && !is_definition(recording, key, word)? {
            keys.push(key);
        }
    }
    let mut found = Vec::new();
    for key in keys {
        let (old, new) = (before.get(call.old, key)?, after.get(call.new, key)?);
        if old != new {
            found.extend(change_line(recording, key, (old, before), (new, after))?);
        }
    }
    Ok(found)
}

/// `  total: 3 → -5`; none if there is nothing at either moment.
fn change_line(
    recording: &Recording,
    key: Key,
    (old, before): (Option<Word>, &MemoryAt<'_>),
    (new, after): (Option<Word>, &MemoryAt<'_>),
) -> Result<Option<String>> {
    let shown = |word: Option<Word>, memory: &MemoryAt<'_>| {
        word.map(|word| recording.value_text(word, memory, 2, VALUE)).transpose()
    };
    let key = recording.key_text(key);
    Ok(match (shown(old, before)?, shown(new, after)?) {
        (Some(old), Some(new)) => Some(format!("  {key}: {old} → {new}")),
        (None, Some(new)) => Some(format!("  {key} added: {new}")),
        (Some(old), None) => Some(format!("  {key} removed: {old}")),
        (None, None) => None,
    })
}

/// The order of the items of a dictionary at two moments, if those that are there at both have another one.
fn order_of(
    recording: &Recording,
    owner: Owner,
    before: &MemoryAt<'_>,
    after: &MemoryAt<'_>,
) -> Result<Option<(String, String)>> {
    let Some(object) = owner.as_object() else { return Ok(None) };
    if recording.object(object)?.kind != Kind::Dictionary {
        return Ok(None);
    }
    let keys = |memory: &MemoryAt<'_>| -> Result<Vec<Key>> {
        Ok(memory
            .all(owner)?
            .into_iter()
            .map(|(key, _)| key)
            .filter(|key| matches!(key, Key::Item(_)))
            .collect())
    };
    let (old, new) = (keys(before)?, keys(after)?);
    let (is_old, is_new): (HashSet<Key>, HashSet<Key>) =
        (old.iter().copied().collect(), new.iter().copied().collect());
    let stayed = |keys: Vec<Key>| {
        keys.into_iter().filter(|key| is_old.contains(key) && is_new.contains(key)).collect()
    };
    let (old, new): (Vec<Key>, Vec<Key>) = (stayed(old), stayed(new));
    // Only from where they differ.
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let text = |keys: &[Key]| {
        let text =
            |key: &Key| recording.key_text(*key).trim_start_matches('[').trim_end_matches(']').to_owned();
        let shown: Vec<String> = keys.iter().skip(same).take(MOST_KEYS).map(text).collect();
        let more = if keys.len() > same + MOST_KEYS { ", ..." } else { "" };
        shown.join(", ") + more
    };
    Ok((same < old.len()).then(|| (text(&old), text(&new))))
}

/// One write of each slot that was written from an event on, until another.
fn changed_slots(recording: &Recording, from: i64, to: i64) -> Result<Vec<Write>> {
    let first = recording.first_write_at(from)?;
    let mut slots: HashMap<(Owner, Key), Write> = HashMap::new();
    recording.find_write("WHERE id >= ? AND event < ? ORDER BY id", [first, to], |write| {
        slots.entry((write.owner, write.key)).or_insert(write);
        Ok(None::<()>)
    })?;
    let mut slots: Vec<Write> = slots.into_values().collect();
    slots.sort_by_key(|write| (write.owner.as_object().is_some(), write.owner, write.id));
    Ok(slots)
}
