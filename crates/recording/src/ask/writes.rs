//! Who wrote a variable, an attribute or an item.

use super::first::{owners, write_text};
use super::text::Lines;
use crate::error::{Error, Result};
use crate::memory::{COLUMNS, Memory, MemoryAt, Write, write_of};
use crate::predicate::{Expression, Scope};
use crate::reading::{Call, Recording};
use crate::stack::{Frame, base_name};
use crate::value::{Key, Owner, Word};

/// What is asked about.
#[derive(Debug)]
pub struct WritesRequest<'a> {
    /// A variable, an attribute or an item, such as `self.cache['k']`.
    pub target: &'a str,
    /// The moment before which it was written.
    pub at: &'a str,
    /// The most writes to report.
    pub limit: usize,
}

/// The writes to a target until a moment, newest first, and those to the contents of the object in it.
pub fn writes(recording: &Recording, request: &WritesRequest<'_>) -> Result<String> {
    let target = Expression::parse(request.target)?;
    let event = recording.moment(request.at)?;
    let memory = MemoryAt { recording, event: event.id };
    let frames = recording.stack(&event)?;
    let (frame, (owner, key)) = find(recording, &target, &frames, &memory, request.target, request.at)?;
    let value = memory.get(owner, key)?;
    let mut lines = Lines::default();
    let shown = value
        .map_or_else(|| Ok("not there".to_owned()), |word| recording.value_text(word, &memory, 2, 200))?;
    lines.add(format!(
        "`{}` is {shown} at event {} ({})",
        request.target,
        event.id,
        recording.frame_text(frame)
    ));
    if let Some(Word::Object(number)) = value {
        let names = aliases(recording, number, (owner, key), &memory)?;
        if !names.is_empty() {
            lines.add(format!("the same object is {}", names.join(", ")));
        }
    }
    let mut found = writes_to(recording, owner, Some(key), event.id, request.limit)?;
    if let Some(Word::Object(number)) = value {
        found.extend(writes_to(recording, Owner::object(number), None, event.id, request.limit)?);
    }
    found.sort_by_key(|write| std::cmp::Reverse(write.id));
    let total = found.len();
    lines.add("written, newest first:");
    for write in found.iter().take(request.limit) {
        let line = recording.writer(write)?;
        let change = write_text(recording, write, &line)?;
        if line.is_before() {
            lines.add(format!("before event {}: {change}", recording.first_event()?));
            continue;
        }
        let frames = recording.stack(&line)?;
        lines.add(format!("event {}: {change} by {}", line.id, recording.writer_text(&line)?));
        if let Some(callers) = recording.callers_text(&frames) {
            lines.add(format!("  {callers}"));
        }
    }
    if total > request.limit {
        lines.add(format!("... and {} earlier writes", total - request.limit));
    }
    Ok(lines.finish())
}

/// The innermost frame that knows the target, and where the target is kept.
pub(super) fn find<'a>(
    recording: &Recording,
    target: &Expression,
    frames: &'a [Frame],
    memory: &MemoryAt<'_>,
    text: &str,
    at: &str,
) -> Result<(&'a Frame, (Owner, Key))> {
    for frame in frames {
        let scope = Scope { recording, memory, owners: owners(recording, &frame.call)? };
        if let Some(slot) = scope.slot(target)? {
            return Ok((frame, slot));
        }
    }
    let mut names = Vec::new();
    target.roots(&mut names);
    let known =
        frames.first().map(|frame| known(recording, &frame.call, memory)).transpose()?.unwrap_or_default();
    let root = names.first().map(String::as_str).unwrap_or_default();
    let elsewhere = elsewhere(recording, root)?;
    let frame = frames.first().map(|frame| recording.frame_text(frame)).unwrap_or_default();
    Err(Error::question(format!("no `{text}` at `{at}` ({frame}); variables there: {known}{elsewhere}")))
}

/// The names of a call's variables.
fn known(recording: &Recording, call: &Call, memory: &MemoryAt<'_>) -> Result<String> {
    let names: Vec<String> =
        memory.all(call.owner)?.into_iter().take(20).map(|(key, _)| recording.key_text(key)).collect();
    Ok(if names.is_empty() { "none".to_owned() } else { names.join(", ") })
}

/// Where a variable of that name was last written.
fn elsewhere(recording: &Recording, name: &str) -> Result<String> {
    let Some(number) = recording.number(name) else { return Ok(String::new()) };
    let mut statement = recording.database.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM writes WHERE key = ? AND owner & 1 = 0 ORDER BY id DESC LIMIT 1"
    ))?;
    let mut rows = statement.query([Key::Name(number).stored()])?;
    let Some(row) = rows.next()? else { return Ok(String::new()) };
    let write = write_of(row)?;
    let line = recording.writer(&write)?;
    let place = recording.place_text(line.place);
    Ok(format!(
        "; a variable `{name}` was last written at event {}: {place}; give `at` a moment after it",
        line.id
    ))
}

/// The last writes to an owner before an event, newest first.
pub(super) fn writes_to(
    recording: &Recording,
    owner: Owner,
    key: Option<Key>,
    until: i64,
    limit: usize,
) -> Result<Vec<Write>> {
    let most = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(100);
    let any = key.is_none();
    let key = key.map_or(0, Key::stored);
    // The length is left out: what changed it was written as well.
    let mut statement = recording.database.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM writes WHERE owner = ?1 AND (?2 OR key = ?3) AND key & 3 <> 3 AND event < ?4 \
         ORDER BY id DESC LIMIT ?5"
    ))?;
    let rows = statement.query_map(rusqlite::params![owner.0, any, key, until, most], write_of)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Other names of an object at a moment, with the lines that gave it these names.
fn aliases(
    recording: &Recording,
    object: i64,
    but: (Owner, Key),
    memory: &MemoryAt<'_>,
) -> Result<Vec<String>> {
    let mut statement = recording
        .database
        .prepare_cached("SELECT DISTINCT owner, key FROM writes WHERE value = ? AND event < ? LIMIT 200")?;
    let slots = statement
        .query_map([object << 3 | 4, memory.event], |row| Ok((Owner(row.get(0)?), Key::of(row.get(1)?))))?;
    let slots: Vec<(Owner, Key)> = slots.collect::<rusqlite::Result<_>>()?;
    let mut names = Vec::new();
    for slot in slots.into_iter().filter(|slot| *slot != but) {
        if memory.get(slot.0, slot.1)? != Some(Word::Object(object)) {
            continue;
        }
        let key = recording.key_text(slot.1);
        let name = match slot.0.as_object() {
            Some(other) => {
                let dot = if key.starts_with('[') { "" } else { "." };
                format!("`{} #{other}{dot}{key}`", recording.object(other)?.type_name)
            }
            None => match recording.active_owner(slot.0, memory.event)? {
                Some(function) => format!("`{key}` in {function}"),
                None => continue,
            },
        };
        if names.iter().all(|known: &String| !known.starts_with(&name)) && names.len() < 5 {
            let place = match writes_to(recording, slot.0, Some(slot.1), memory.event, 1)?.first() {
                Some(write) => recording.writer(write)?.place.and_then(|place| recording.place(place)),
                None => None,
            };
            let place = place.map(|(code, line)| format!(" ({}:{line})", base_name(&code.path)));
            names.push(name + &place.unwrap_or_default());
        }
    }
    Ok(names)
}
