//! The state at a moment.

use super::first::own_and_outer;
use super::text::Lines;
use crate::error::Result;
use crate::memory::{Memory, MemoryAt};
use crate::reading::{Event, Recording};
use crate::value::{Key, Owner, What, Word};

/// Characters of a value.
pub(super) const VALUE: usize = 160;

/// What is known at a moment: where the program was, the stack, variables, and the last output.
pub fn state(recording: &Recording, at: Option<&str>) -> Result<String> {
    let event = recording.moment_or_last(at)?;
    let mut lines = Lines::default();
    lines.add(headline(recording, &event)?);
    let frames = recording.stack(&event)?;
    if let Some(callers) = recording.stack_text(&event, &frames)? {
        lines.add(callers);
    }
    let memory = MemoryAt { recording, event: event.with_arguments().id };
    let mut shown: Vec<Owner> = frames.iter().map(|frame| frame.call.owner).collect();
    for (at, frame) in frames.iter().enumerate() {
        if lines.is_full() {
            break;
        }
        if at > 0 {
            lines.add(format!("{}:", recording.frame_text(frame)));
        }
        for line in variables(recording, frame.call.owner, &memory)? {
            lines.add(format!("  {line}"));
        }
        for owner in own_and_outer(recording, &frame.call)? {
            if !shown.contains(&owner) {
                shown.push(owner);
                outer_variables(recording, owner, &memory)?.into_iter().for_each(|line| lines.add(line));
            }
        }
    }
    if event.id == recording.last_event()? {
        recording.waiting()?.into_iter().for_each(|waits| lines.add(waits));
    }
    if let Some(output) = output(recording, event.id)? {
        lines.add(format!("output so far ends: {output}"));
    }
    Ok(lines.finish())
}

/// The variables of a call around a closure, under its name.
fn outer_variables(recording: &Recording, owner: Owner, memory: &dyn Memory) -> Result<Vec<String>> {
    let variables = variables(recording, owner, memory)?;
    let of = recording.code_of(owner)?.map_or("<module>", |code| &code.name);
    let heading = (!variables.is_empty()).then(|| format!("variables of {of}:"));
    Ok(heading.into_iter().chain(variables.into_iter().map(|line| format!("  {line}"))).collect())
}

/// `event 12, before shop.py:4 in add: ...`.
pub(super) fn headline(recording: &Recording, event: &Event) -> Result<String> {
    let place = recording.place_text(event.place);
    let memory = MemoryAt { recording, event: event.id };
    let value =
        event.value.map(|value| recording.value_text(Word::of(value), &memory, 1, VALUE)).transpose()?;
    let value = value.unwrap_or_default();
    let number = event.id;
    Ok(match event.what {
        What::Line => format!("event {number}, before {place}"),
        What::Call => {
            let frames = recording.stack(event)?;
            let frame = frames.first().map(|frame| recording.frame_text(frame)).unwrap_or_default();
            format!("event {number}, a call begins: {frame}")
        }
        What::Return => format!("event {number}, return of {value} from {place}"),
        What::Unwind => format!("event {number}, an exception leaves {place}"),
        What::Throw => format!("event {number}, {} at {place}", exception(recording, event)?),
        What::Yield => format!("event {number}, yield of {value} from {place}"),
        What::Resume => format!("event {number}, a generator resumes after {place}"),
    })
}

/// `ValueError: the message`.
pub(crate) fn exception(recording: &Recording, event: &Event) -> Result<String> {
    let Some(Word::Atom(atom)) = event.value.map(Word::of) else { return Ok("an exception".to_owned()) };
    let atom = recording.atom(atom)?;
    Ok(if atom.text.is_empty() {
        atom.type_name.to_string()
    } else {
        format!("{}: {}", atom.type_name, atom.text)
    })
}

/// The variables of a call, one a line. Functions, classes and modules are left out.
pub(super) fn variables(recording: &Recording, of: Owner, memory: &dyn Memory) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for (key, word) in memory.all(of)? {
        if is_definition(recording, key, word)? {
            continue;
        }
        let value = recording.value_text(word, memory, 3, VALUE)?;
        lines.push(format!("{} = {value}", recording.key_text(key)));
    }
    Ok(lines)
}

/// Whether a variable is a function, a class, a module or Python's own.
pub(crate) fn is_definition(recording: &Recording, key: Key, word: Word) -> Result<bool> {
    let name = recording.key_text(key);
    if name.starts_with("__") && name.ends_with("__") {
        return Ok(true);
    }
    let atom = match word {
        Word::Atom(atom) => recording.atom(atom)?,
        Word::Object(object) => return Ok(recording.object(object)?.kind.is_named()),
        _ => return Ok(false),
    };
    Ok(atom.string.is_none()
        && ["<function ", "<class ", "<module "].iter().any(|is| atom.text.starts_with(is)))
}

/// Whether a variable holds what `def`, `class` or `import` made under its name.
pub(super) fn is_declared(recording: &Recording, name: &str, word: Word) -> Result<bool> {
    let atom = match word {
        Word::Atom(atom) => recording.atom(atom)?,
        Word::Object(object) => {
            let object = recording.object(object)?;
            return Ok(object.kind.is_named() && object.type_name.rsplit('.').next() == Some(name));
        }
        _ => return Ok(false),
    };
    let declared = ["<function ", "<class '", "<module '"].iter().find_map(|is| atom.text.strip_prefix(is));
    let declared = declared.map(|rest| rest.trim_end_matches(['>', '\'']));
    Ok(atom.string.is_none() && declared.and_then(|path| path.rsplit('.').next()) == Some(name))
}

/// The end of what was written before an event.
fn output(recording: &Recording, event: i64) -> Result<Option<String>> {
    let last = "SELECT text FROM output WHERE event < ? ORDER BY rowid DESC LIMIT 20";
    let mut parts: Vec<String> = recording.rows(last, [event], |row| row.get(0))?;
    parts.reverse();
    let text = parts.concat();
    let text = text.trim_end();
    let from = text.ceil_char_boundary(text.len().saturating_sub(300));
    Ok(text.get(from..).filter(|end| !end.is_empty()).map(|end| format!("{end:?}")))
}
