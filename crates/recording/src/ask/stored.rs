//! Where an attribute is stored that its object does not have under its own name: by the setter of a property, by a
//! descriptor, or by `__setattr__`.

use crate::ask::statement;
use crate::error::Result;
use crate::memory::{COLUMNS, Memory, MemoryAt, Write, write_of};
use crate::predicate::Expression;
use crate::reading::{Call, Recording};
use crate::value::{Key, Owner, Word};

/// The most calls that are tried, newest first.
const MOST_CALLS: i64 = 500;

/// A call that assigned an attribute of an object.
struct Assignment {
    object: i64,
    /// What was assigned.
    word: Word,
    /// The last of what it wrote to objects: to that one, if it did.
    write: Write,
}

/// Where the attribute of an object is stored that was last assigned before an event.
pub(super) fn slot(
    recording: &Recording,
    object: i64,
    name: &str,
    before: i64,
) -> Result<Option<(Owner, Key)>> {
    let mut found = Vec::new();
    assignments(recording, name, before, |assignment| {
        let is_it = assignment.object == object;
        if is_it {
            found.push((assignment.write.owner, assignment.write.key));
        }
        is_it
    })?;
    Ok(found.pop())
}

/// An attribute in a condition that setters store.
pub(super) struct Stored {
    name: String,
    /// The object that it was last assigned to, and the write that this led to.
    last: (i64, Write),
    /// Under which name the same object has it; none if it is not always stored as it is assigned, or elsewhere.
    other: Option<String>,
}

/// The attributes in a condition that setters store.
pub(super) fn attributes(recording: &Recording, condition: &Expression) -> Result<Vec<Stored>> {
    let mut found = Vec::new();
    if let Expression::Attribute(_, name) = condition {
        found.extend(attribute(recording, name)?);
    }
    for part in condition.parts() {
        found.extend(attributes(recording, part)?);
    }
    Ok(found)
}

fn attribute(recording: &Recording, name: &str) -> Result<Option<Stored>> {
    let (mut last, mut keys) = (None, Vec::new());
    assignments(recording, name, i64::MAX, |Assignment { object, word, write }| {
        last.get_or_insert((object, write));
        let is_same = write.owner.as_object() == Some(object) && write.word == word;
        keys.push(is_same.then_some(write.key));
        !is_same
    })?;
    let Some(last) = last else { return Ok(None) };
    let key = keys
        .first()
        .copied()
        .flatten()
        .filter(|key| matches!(key, Key::Name(_)) && keys.iter().all(|other| *other == Some(*key)));
    let other = key.map(|key| recording.key_text(key)).filter(|other| other != name);
    Ok(Some(Stored { name: name.to_owned(), last, other }))
}

/// A condition about the attributes that are stored as they are assigned, under another name of the same object, with
/// both names of one of them; none if there is no such attribute in it.
pub(super) fn condition(condition: &Expression, stored: &[Stored]) -> Option<(Expression, String, String)> {
    let (name, other) = stored.iter().find_map(|stored| Some((&stored.name, stored.other.as_ref()?)))?;
    let renamed = condition.replaced(&|part| match part {
        Expression::Attribute(of, same) if same == name => {
            Some(Expression::Attribute(of.clone(), other.clone()))
        }
        _ => None,
    });
    Some((renamed, name.clone(), other.clone()))
}

/// That an attribute in a condition is stored in some other way, by which it cannot be asked about.
pub(super) fn note(recording: &Recording, stored: &[Stored]) -> Result<Option<String>> {
    for Stored { name, last: (assigned, Write { owner, key, .. }), .. } in stored {
        if let Some(object) = owner.as_object()
            && (object != *assigned || recording.key_text(*key) != *name)
        {
            let slot = recording.slot_text(object, *key)?;
            return Ok(Some(format!("`{name}` is stored elsewhere, such as in `{slot}`: ask what wrote it")));
        }
    }
    Ok(None)
}

/// Calls that assigned an attribute of this name before an event, newest first, until one is enough.
fn assignments(
    recording: &Recording,
    name: &str,
    before: i64,
    mut is_enough: impl FnMut(Assignment) -> bool,
) -> Result<()> {
    let last = |code: i64| recording.codes.get(&code).and_then(|code| code.name.rsplit('.').next());
    let is_setter =
        |code: i64| last(code).is_some_and(|last| last == name || matches!(last, "__set__" | "__setattr__"));
    let codes: Vec<String> =
        recording.codes.keys().filter(|code| is_setter(**code)).map(i64::to_string).collect();
    let mut statement = recording.database.prepare(&format!(
        "SELECT id, entered, ended FROM calls WHERE code IN ({}) AND entered < ? ORDER BY id DESC LIMIT ?",
        codes.join(",")
    ))?;
    let calls = statement.query_map([before, MOST_CALLS], |row| {
        Ok((row.get(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<i64>>(2)?))
    })?;
    for call in calls {
        let (id, entered, ended): (i64, _, _) = call?;
        let Some(call) = recording.call(id)? else { continue };
        let ended = ended.filter(|ended| *ended > 0).unwrap_or(i64::MAX).min(before);
        let role = last(call.code).unwrap_or_default();
        if let Some((object, word)) = assigned(recording, &call, entered, role, name)?
            && let Some(write) = last_write(recording, id, (entered, ended), object)?
            && is_enough(Assignment { object, word, write })
        {
            break;
        }
    }
    Ok(())
}

/// The object whose attribute a call assigns, and what it assigns to it; none if it does not.
fn assigned(
    recording: &Recording,
    call: &Call,
    entered: i64,
    role: &str,
    name: &str,
) -> Result<Option<(i64, Word)>> {
    let memory = MemoryAt { recording, event: entered + 1 };
    let mut given = Vec::new();
    for key in recording.parameters(call)? {
        given.push(memory.get(call.owner, key)?.unwrap_or(Word::Absent));
    }
    Ok(match (role, given.as_slice()) {
        ("__set__", [_, Word::Object(object), word]) => {
            let text = call.caller_place.and_then(|place| recording.place(place));
            let text = text.map(|(code, line)| recording.source(code, line));
            let is_named = text.is_some_and(|text| statement::names(text).contains(&name));
            is_named.then_some((*object, *word))
        }
        ("__setattr__", [Word::Object(object), Word::Atom(atom), word]) => {
            (recording.atom(*atom)?.text == name).then_some((*object, *word))
        }
        (role, [Word::Object(object), word]) if role == name => Some((*object, *word)),
        _ => None,
    })
}

/// The last write of a call to an object between two events: to this one, if there is one.
fn last_write(
    recording: &Recording,
    call: i64,
    (from, until): (i64, i64),
    object: i64,
) -> Result<Option<Write>> {
    let first = recording.first_write_at(from)?;
    let mut statement = recording.database.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM writes WHERE id >= ? AND event <= ? AND owner & 1 = 1 AND key & 3 <> 3 ORDER BY id LIMIT 200"
    ))?;
    let mut found: Option<Write> = None;
    for write in statement.query_map([first, until], write_of)? {
        let write = write?;
        let is_its = write.owner == Owner::object(object);
        let is_better = is_its || found.is_none_or(|found| found.owner != Owner::object(object));
        if is_better && recording.writer(&write)?.call == call {
            found = Some(write);
        }
    }
    Ok(found)
}
