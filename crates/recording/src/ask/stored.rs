//! Where an attribute is stored that its object does not have under its own name: by the setter of a property, by a
//! descriptor, or by `__setattr__`.

use std::collections::{HashMap, HashSet};

use rusqlite::Row;

use super::first::objects_of_types;
use super::statement;
use crate::error::Result;
use crate::memory::{Memory, MemoryAt, Write};
use crate::predicate::{Datum, Expression, Scope};
use crate::reading::{Call, Code, Recording, list};
use crate::value::{Key, Owner, Word};

/// The most calls that are tried, newest first.
const MOST_CALLS: i64 = 500;

/// The most assignments that are compared to find where an attribute is stored.
const MOST_COMPARED: usize = 50;

/// A call that assigned an attribute of an object.
struct Assignment {
    object: i64,
    /// What it wrote to objects that fits best as what stores the attribute.
    write: Write,
    fit: Fit,
}

/// How well a write fits as the one that stores an assigned value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// It is to the object itself.
    is_own: bool,
    /// It is of this value.
    is_as_given: bool,
    /// Its name contains that of the attribute.
    is_named: bool,
}

impl Fit {
    fn is_likely(self) -> bool {
        self.is_own || self.is_as_given
    }

    fn is_certain(self) -> bool {
        self.is_own && self.is_as_given
    }
}

/// Where the attribute of an object is stored that was last assigned before an event.
pub(super) fn slot(
    recording: &Recording,
    object: i64,
    name: &str,
    before: i64,
) -> Result<Option<(Owner, Key)>> {
    let mut best: Option<Assignment> = None;
    let mut compared = 0;
    assignments(recording, name, before, |assignment| {
        if assignment.object != object {
            return false;
        }
        // One that assigned an equal value has only written something else.
        let fit = assignment.fit;
        if best.as_ref().is_none_or(|best| fit > best.fit) {
            best = Some(assignment);
        }
        compared += 1;
        fit.is_certain() || compared == MOST_COMPARED
    })?;
    Ok(best.map(|best| (best.write.owner, best.write.key)))
}

/// The object that an expression means, whose attributes may be stored in such a way, too.
pub(super) fn object(scope: &Scope<'_>, expression: &Expression, before: i64) -> Result<Option<i64>> {
    if let Some(Datum::Object(object)) = scope.value(expression)? {
        return Ok(Some(object));
    }
    if let Expression::Attribute(of, name) = expression
        && let Some(of) = object(scope, of, before)?
        && let Some((owner, key)) = slot(scope.recording, of, name, before)?
        && let Some(Word::Object(object)) = scope.memory.get(owner, key)?
    {
        return Ok(Some(object));
    }
    Ok(None)
}

/// An attribute in a condition that setters store.
pub(super) struct Stored {
    name: String,
    /// The object that it was last assigned to, and the write that this led to.
    last: (i64, Write),
    /// Under which name the same object has it; none if that is not always the same, or elsewhere.
    other: Option<String>,
    /// It has always been stored as it was assigned.
    is_same: bool,
}

/// The attributes in a condition that setters store.
pub(super) fn attributes(recording: &Recording, condition: &Expression) -> Result<Vec<Stored>> {
    let mut found = Vec::new();
    if let Expression::Attribute(of, name) = condition {
        // Classes may store attributes of one name in different ways.
        let objects = match &**of {
            Expression::Name(variable) => objects_of_types(recording, variable)?,
            _ => None,
        };
        found.extend(attribute(recording, name, objects.as_ref())?);
    }
    for part in condition.parts() {
        found.extend(attributes(recording, part)?);
    }
    Ok(found)
}

/// The same for an attribute of any of these objects, or of any at all.
fn attribute(recording: &Recording, name: &str, of: Option<&HashSet<i64>>) -> Result<Option<Stored>> {
    let (mut last, mut key, mut is_same) = (None, None, true);
    assignments(recording, name, i64::MAX, |assignment| {
        let Assignment { object, write, fit } = assignment;
        if of.is_some_and(|of| !of.contains(&object)) {
            return false;
        }
        last.get_or_insert((object, write));
        if !fit.is_likely() {
            return false;
        }
        is_same &= fit.is_as_given;
        // What else a setter writes has names of its own.
        let is_own = fit.is_own && (fit.is_as_given || fit.is_named) && matches!(write.key, Key::Name(_));
        let found = is_own.then_some(write.key);
        let is_other = *key.get_or_insert(found) != found;
        if is_other {
            key = Some(None);
        }
        is_other
    })?;
    let Some(last) = last else { return Ok(None) };
    let other = key.flatten().map(|key| recording.key_text(key)).filter(|other| other != name);
    Ok(Some(Stored { name: name.to_owned(), last, other, is_same }))
}

/// A condition about the attributes that are stored under other names of the same objects, and what to say of that; none if
/// there is no such attribute in it.
pub(super) fn condition(condition: &Expression, stored: &[Stored]) -> Option<(Expression, String)> {
    let (mut names, mut notes) = (HashMap::new(), Vec::new());
    for Stored { name, other, is_same, .. } in stored {
        if let Some(other) = other
            && names.insert(name.clone(), other.clone()).is_none()
        {
            let but = if *is_same { "" } else { ", not always as it was assigned" };
            notes.push(format!("`{name}` is stored as `{other}`{but}"));
        }
    }
    (!names.is_empty()).then(|| (condition.renamed(&names), notes.join("\n")))
}

/// That an attribute in a condition is stored in some other way, by which it cannot be asked about.
pub(super) fn note(recording: &Recording, stored: &[Stored]) -> Result<Option<String>> {
    for Stored { name, last: (assigned, Write { owner, key, .. }), other, .. } in stored {
        if let (Some(object), None) = (owner.as_object(), other)
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
    let names = names_of_descriptors(recording)?;
    let is_setter = |last: &str| last == name || matches!(last, "__set__" | "__setattr__");
    let setters: HashSet<i64> =
        recording.codes_where(|code| is_setter(code.last_name())).into_iter().collect();
    let calls = format!(
        "SELECT id, entered, ended FROM calls WHERE code IN ({}) AND entered < ? ORDER BY id DESC LIMIT ?",
        list(&setters)
    );
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get::<_, Option<i64>>(2)?));
    recording.find_row(&calls, [before, MOST_CALLS], read, |(id, entered, ended)| {
        let Some(call) = recording.call(id)? else { return Ok(None) };
        let ended = ended.filter(|ended| *ended > 0).unwrap_or(i64::MAX).min(before);
        let role = recording.codes.get(&call.code).map_or("", Code::last_name);
        let is_last = if let Some((object, word)) = assigned(recording, &call, entered, (role, name), &names)?
            && let Some((write, fit)) =
                best_write(recording, (id, &setters), (entered, ended), (object, name, word))?
        {
            is_enough(Assignment { object, write, fit })
        } else {
            false
        };
        Ok(is_last.then_some(()))
    })?;
    Ok(())
}

/// The object whose attribute a call assigns, and what it assigns to it; none if it does not.
fn assigned(
    recording: &Recording,
    call: &Call,
    entered: i64,
    (role, name): (&str, &str),
    names: &HashMap<i64, HashSet<String>>,
) -> Result<Option<(i64, Word)>> {
    let given = given(recording, call, entered)?;
    Ok(match (role, given.as_slice()) {
        ("__set__", [descriptor, Word::Object(object), word]) => {
            let known = descriptor.as_object().and_then(|descriptor| names.get(&descriptor));
            let is_named = known.map_or_else(
                || {
                    let line = recording.place(call.caller_place);
                    let text = line.map(|(code, line)| recording.source(code, line)).unwrap_or_default();
                    statement::assigned(text, name).is_some()
                },
                |known| known.contains(name),
            );
            is_named.then_some((*object, *word))
        }
        ("__setattr__", [Word::Object(object), Word::Atom(atom), word]) => {
            (recording.atom(*atom)?.text == name).then_some((*object, *word))
        }
        (role, [Word::Object(object), word]) if role == name => Some((*object, *word)),
        _ => None,
    })
}

/// The names under which classes have descriptors, which `__set_name__` gets, by the objects that these are.
fn names_of_descriptors(recording: &Recording) -> Result<HashMap<i64, HashSet<String>>> {
    let codes = list(&recording.codes_where(|code| code.last_name() == "__set_name__"));
    let calls = format!("SELECT id, entered FROM calls WHERE code IN ({codes}) LIMIT {MOST_CALLS}");
    let mut names: HashMap<i64, HashSet<String>> = HashMap::new();
    for (id, entered) in recording.rows(&calls, [], |row| Ok((row.get(0)?, row.get(1)?)))? {
        let Some(call) = recording.call(id)? else { continue };
        if let [Word::Object(descriptor), _, Word::Atom(name)] = given(recording, &call, entered)?.as_slice()
        {
            names.entry(*descriptor).or_default().insert(recording.atom(*name)?.text.clone());
        }
    }
    Ok(names)
}

/// The values of a call's arguments.
fn given(recording: &Recording, call: &Call, entered: i64) -> Result<Vec<Word>> {
    let memory = MemoryAt { recording, event: entered + 1 };
    let parameters = recording.parameters(call)?.into_iter();
    parameters.map(|key| Ok(memory.get(call.owner, key)?.unwrap_or(Word::Absent))).collect()
}

/// What a call wrote to objects between two events that fits best as what stores an attribute, the last if several do; or
/// what setters wrote that it called, as those of a property call `__setattr__`.
fn best_write(
    recording: &Recording,
    (call, setters): (i64, &HashSet<i64>),
    (from, until): (i64, i64),
    (object, name, word): (i64, &str, Word),
) -> Result<Option<(Write, Fit)>> {
    let first = recording.first_write_at(from)?;
    let writes = "WHERE id >= ? AND event <= ? AND owner & 1 = 1 AND key & 3 <> 3 ORDER BY id LIMIT 200";
    let mut found: Option<(Write, Fit)> = None;
    for write in recording.writes(writes, [first, until])? {
        let fit = Fit {
            is_own: write.owner == Owner::object(object),
            is_as_given: write.word == word,
            is_named: recording.key_text(write.key).contains(name),
        };
        if found.is_some_and(|(_, best)| fit < best) {
            continue;
        }
        let writer = recording.writer(&write)?.call;
        // What setters of other objects write is only known to store the attribute if it is the same value.
        if writer == call || fit.is_likely() && is_within(recording, writer, (call, setters))? {
            found = Some((write, fit));
        }
    }
    Ok(found)
}

/// Whether a setter was called by a call, or by setters that it called.
fn is_within(recording: &Recording, writer: i64, (call, setters): (i64, &HashSet<i64>)) -> Result<bool> {
    let mut next = writer;
    while next > call
        && let Some(inner) = recording.call(next)?
        && setters.contains(&inner.code)
    {
        next = inner.caller;
    }
    Ok(next == call)
}
