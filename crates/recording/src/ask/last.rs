//! The last moments at which variables of a name exist.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use rusqlite::Row;

use super::target::MOST_TRIED;
use crate::error::Result;
use crate::memory::Write;
use crate::reading::Recording;
use crate::value::{Key, OUTER, Owner, Word};

/// The moments after which something of this name may no longer exist, latest first: the ends of the calls that see such
/// a variable, and where one of them or an attribute was written last. Of variables, only those count that held an object
/// with this attribute, if any object had it.
pub(super) fn last_moments(recording: &Recording, name: i64, attribute: Option<i64>) -> Result<Vec<i64>> {
    let objects = attribute.map(|attribute| objects_with(recording, attribute)).transpose()?;
    let (owners, writes) = owners_of(recording, name, &objects.unwrap_or_default())?;
    let mut moments = ends_of(recording, &owners)?;
    // A variable of a closure may be written after the call ended that it belongs to.
    moments.extend(writes.iter().rev().take(MOST_TRIED).map(|event| event + 1));
    let first = recording.first_event()?;
    moments.retain(|moment| *moment >= first);
    moments.sort_unstable_by_key(|moment| Reverse(*moment));
    moments.dedup();
    Ok(moments)
}

/// The objects that had an attribute.
fn objects_with(recording: &Recording, attribute: i64) -> Result<HashSet<i64>> {
    let mut objects = HashSet::new();
    recording.find_write("WHERE key = ? ORDER BY id", [Key::Name(attribute).stored()], |write| {
        objects.extend(write.owner.as_object());
        Ok(None::<()>)
    })?;
    Ok(objects)
}

/// What the variables of this name belong to, and the calls of functions inside those; and the events of all writes. With
/// `objects`, only of those that held one of them.
fn owners_of(recording: &Recording, name: i64, objects: &HashSet<i64>) -> Result<(HashSet<Owner>, Vec<i64>)> {
    let outer = recording.number(OUTER).map(Key::Name);
    let (mut owners, mut events) = (HashSet::new(), Vec::new());
    let keys = [Key::Name(name).stored(), outer.unwrap_or(Key::Name(name)).stored()];
    recording.find_write("WHERE key IN (?, ?) ORDER BY id", keys, |write| {
        let Write { event, owner, key, word, .. } = write;
        let is_inside = Some(key) == outer
            && matches!(word, Word::Integer(around) if owners.contains(&Owner(around << 1)));
        let is_one = objects.is_empty() || matches!(word, Word::Object(number) if objects.contains(&number));
        let is_named = key == Key::Name(name) && is_one;
        if is_named {
            events.push(event);
        }
        if owner.as_object().is_none() && (is_inside || is_named) {
            owners.insert(owner);
        }
        Ok(None::<()>)
    })?;
    Ok((owners, events))
}

/// Where the calls end whose variables these owners are, at most this many as are tried.
fn ends_of(recording: &Recording, owners: &HashSet<Owner>) -> Result<Vec<i64>> {
    let mut ends = Vec::new();
    let mut is_any_open = false;
    let read = |row: &Row<'_>| Ok((Owner(row.get(0)?), row.get::<_, Option<i64>>(1)?));
    recording.find_row("SELECT owner, ended FROM calls", [], read, |(owner, ended)| {
        if owners.contains(&owner) {
            is_any_open |= ended.is_none_or(|ended| ended == 0);
            ends.extend(ended.filter(|ended| *ended > 0));
        }
        Ok(None::<()>)
    })?;
    if is_any_open {
        ends.push(recording.last_event()?);
        ends.extend(last_events_of_open(recording, owners)?);
    }
    ends.sort_unstable_by_key(|end| Reverse(*end));
    ends.dedup();
    ends.truncate(MOST_TRIED);
    Ok(ends)
}

/// The last events of the calls that have not ended whose variables these owners are, and of all threads in which calls
/// have not ended. A generator that is suspended is on no other stack than that of its own last event.
fn last_events_of_open(recording: &Recording, owners: &HashSet<Owner>) -> Result<Vec<i64>> {
    let (mut own, mut threads) = (Vec::new(), HashMap::new());
    let open = "SELECT calls.owner, calls.thread, max(events.id) FROM events JOIN calls ON calls.id = events.call \
                WHERE coalesce(calls.ended, 0) = 0 GROUP BY calls.id";
    let read = |row: &Row<'_>| Ok((Owner(row.get(0)?), row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
    for (owner, thread, event) in recording.rows(open, [], read)? {
        let last = threads.entry(thread).or_insert(event);
        *last = event.max(*last);
        if owners.contains(&owner) {
            own.push(event);
        }
    }
    own.extend(threads.into_values());
    Ok(own)
}
