//! Looks for the moment at which a condition begins to hold for an object that no variable of the name holds then.
//!
//! `lot.units < 0` is asked about the lots of a list, too, which the program may change by another name.

use std::collections::HashSet;
use std::rc::Rc;

use super::super::state::VALUE;
use super::super::text::{Lines, times};
use super::{FirstRequest, write_text, writes_of};
use crate::error::Result;
use crate::memory::{COLUMNS, GrowingMemory, Memory, MemoryAt, Write, write_of};
use crate::predicate::{Expression, Scope};
use crate::reading::Recording;
use crate::value::{Key, Owner};

/// An object for which it holds.
pub(super) struct ObjectMatch {
    /// The last of the writes that made it so.
    write: Write,
    object: i64,
}

/// The first object for which a condition on attributes of `variable` holds. `names` are those in it, and `count` is then how
/// often it has begun to hold.
pub(super) fn search(
    recording: &Recording,
    condition: &Expression,
    (variable, names): (&str, &HashSet<i64>),
    occurrence: usize,
    count: &mut usize,
) -> Result<Option<ObjectMatch>> {
    let types = types_of(recording, variable)?;
    let mut memory = GrowingMemory::default();
    let mut holding = HashSet::new();
    let mut written: Vec<Write> = Vec::new();
    let mut statement = recording.database.prepare(&format!("SELECT {COLUMNS} FROM writes ORDER BY id"))?;
    let mut rows = statement.query([])?;
    loop {
        let write = rows.next()?.map(write_of).transpose()?;
        let is_complete =
            written.first().is_some_and(|first| write.is_none_or(|next| next.event != first.event));
        if is_complete {
            for write in std::mem::take(&mut written) {
                let Some(object) = write.owner.as_object() else { continue };
                let Some(asked) = condition.about(variable, object) else { continue };
                let scope = Scope::new(recording, &memory, Rc::default());
                if !scope.holds(&asked)?.unwrap_or(false) {
                    holding.remove(&object);
                } else if holding.insert(object) {
                    *count += 1;
                    if *count == occurrence {
                        return Ok(Some(ObjectMatch { write, object }));
                    }
                }
            }
        }
        let Some(write) = write else { return Ok(None) };
        memory.write(write.owner, write.key, write.word);
        if let (Some(object), Key::Name(name)) = (write.owner.as_object(), write.key)
            && names.contains(&name)
            && types.as_ref().is_none_or(|types| types.contains(&object))
        {
            written.push(write);
        }
    }
}

/// The objects of the types that a variable ever held; none if it held no object.
pub(in crate::ask) fn types_of(recording: &Recording, variable: &str) -> Result<Option<HashSet<i64>>> {
    let Some(name) = recording.number(variable) else { return Ok(None) };
    let of_types = "SELECT id FROM objects WHERE type IN (SELECT objects.type FROM writes JOIN objects \
                    ON objects.id = value >> 3 WHERE key = ? AND owner & 1 = 0 AND value & 7 = 4)";
    let objects = recording.rows(of_types, [Key::Name(name).stored()], |row| row.get(0))?;
    Ok((!objects.is_empty()).then(|| objects.into_iter().collect()))
}

/// `held` is how often it has begun to hold for the variable, which was not often enough.
pub(super) fn answer(
    recording: &Recording,
    request: &FirstRequest<'_>,
    (variable, held): (&str, usize),
    found: &ObjectMatch,
) -> Result<String> {
    let FirstRequest { condition, occurrence, .. } = request;
    let line = recording.writer(&found.write)?;
    let mut lines = Lines::default();
    let whose = if held == 0 {
        format!("holds for no variable `{variable}` while it is there, but for another object: first after")
    } else {
        let times = times(held);
        format!(
            "begins to hold only {times} for a variable `{variable}` while it is there; for any object, occurrence \
             {occurrence} is after"
        )
    };
    let writer = recording.writer_text(&line)?;
    lines.add(format!("`{condition}` {whose} {writer} (event {})", line.id));
    if let Some(callers) = recording.stack_text(&line, &recording.stack(&line)?)? {
        lines.add(callers);
    }
    lines.add("written there:");
    for write in writes_of(recording, &line, found.write.event)? {
        if !write.is_mark() {
            lines.add(format!("  {}", write_text(recording, &write, &line)?));
        }
    }
    let after = MemoryAt { recording, event: line.id.max(found.write.event + 1) };
    lines.add(format!("{} then:", recording.object_name(found.object)?));
    for (key, word) in after.all(Owner::object(found.object))? {
        if key != Key::Length {
            lines.add(format!(
                "  {} = {}",
                recording.key_text(key),
                recording.value_text(word, &after, 2, VALUE)?
            ));
        }
    }
    Ok(lines.finish())
}
