//! The first moment at which something holds.

mod objects;
mod returns;
mod search;

pub(super) use self::objects::types_of as objects_of_types;
use self::search::{ConditionMatch, Search};
use super::properties;
use super::reached::{is_named, not_called, recorded_name};
use super::state::{VALUE, is_definition};
use super::stored;
use super::text::{self, Lines};
use crate::error::{Error, Result};
use crate::memory::{LINE, Memory, MemoryAt, Write};
use crate::predicate::Expression;
use crate::reading::{Call, Code, Event, Recording, is_file};
use crate::streams::stream_of;
use crate::value::{Key, OUTER, Owner, What, Word};

/// What is looked for.
#[derive(Debug)]
pub struct FirstRequest<'a> {
    /// The expression that is to hold.
    pub condition: &'a str,
    /// Only in this function, by its name.
    pub function: Option<&'a str>,
    /// Only in this file.
    pub file: Option<&'a str>,
    /// How often it must have begun to hold.
    pub occurrence: usize,
}

impl FirstRequest<'_> {
    /// Whether it asks about calls of a code.
    fn is_about(&self, code: &Code) -> bool {
        self.function.is_none_or(|name| is_named(code, name))
            && self.file.is_none_or(|file| is_file(&code.path, file))
    }

    /// Refuses what no answer can be about.
    fn check(&self, recording: &Recording) -> Result<()> {
        if self.occurrence == 0 {
            return Err(Error::question("`occurrence` must be 1 or more, not 0"));
        }
        let of_function = |code: &Code| self.function.is_none_or(|name| is_named(code, name));
        let is_in_file = |code: &Code| self.file.is_none_or(|file| is_file(&code.path, file));
        let codes = || recording.codes.values();
        match (self.function, self.file) {
            (_, Some(file)) if !codes().any(is_in_file) => Err(Error::question(recording.no_line_of(file))),
            (Some(name), _) if !codes().any(of_function) => Err(not_called(recording, name)),
            (Some(name), Some(file)) if !codes().any(|code| self.is_about(code)) => {
                Err(Error::question(format!("no function `{name}` of `{file}` was called")))
            }
            _ => Ok(()),
        }
    }

    /// That the condition began to hold, but not so often as it is asked for, and what is not known about that.
    fn only(&self, times: usize, unknown: &str) -> Option<String> {
        let asked = self.occurrence;
        let begins = format!("`{}` begins to hold only", self.condition);
        (times > 0)
            .then(|| format!("{begins} {} in this run, not {asked} times.{unknown}\n", text::times(times)))
    }
}

/// An answer that it did not hold, or not so often, and what is missing in the recording.
fn with_gap(recording: &Recording, text: String) -> Result<String> {
    Ok(match recording.gap()? {
        Some(gap) => text + &gap + "\n",
        None => text,
    })
}

/// The first moment at which a condition holds in some call, what it looked like before, and what made it so.
pub fn first(recording: &Recording, request: &FirstRequest<'_>) -> Result<String> {
    let function = request.function.map(|name| recorded_name(recording, name));
    let request = &FirstRequest { function, ..*request };
    let occurrence = request.occurrence;
    let condition = recording.expression(request.condition)?;
    request.check(recording)?;
    let mut count = 0;
    if let Some(function) = returns::function(&condition)? {
        if let Some(event) = returns::search(recording, request, (&condition, None), &function, &mut count)? {
            return returns::answer(recording, request.condition, &event);
        }
        let never =
            || format!("`{}` never holds in this run where `{function}` returns.\n", request.condition);
        return with_gap(recording, request.only(count, "").unwrap_or_else(never));
    }
    let mut search = Search::new(recording, request, condition)?;
    let (mut found, mut given) = (search.run(occurrence)?, String::new());
    if found.is_none()
        && let Some((condition, note)) = search.with_lacking()?
    {
        (search, given) = (Search::new(recording, request, condition)?, note);
        found = search.run(occurrence)?;
    }
    if let Some(found) = found {
        return Ok(given + &answer(recording, request.condition, &found, &search.roots)?);
    }
    if request.function.is_none()
        && request.file.is_none()
        && let Some((variable, names)) = search.attributes()
    {
        let found = objects::search(recording, &search.condition, (variable, names), occurrence, &mut count)?;
        if let Some(found) = found {
            return objects::answer(recording, request, (variable, search.count), &found);
        }
    }
    if let Some(only) = request.only(search.count.max(count), &search.unknown()) {
        return with_gap(recording, only);
    }
    let within = request.function.map(|_| recording.codes_where(|code| request.is_about(code)));
    let within = within.as_deref();
    let computed = properties::condition(recording, &search.condition, within)?;
    if let Some((condition, of)) = returns::of_property(recording, &search.condition)?
        && let Some(function) = returns::function(&condition)?
    {
        // Rather where it is known that it is about that object.
        for unknown in [false, true] {
            let of = of.as_ref().map(|of| (of, unknown));
            count = 0;
            if let Some(event) = returns::search(recording, request, (&condition, of), &function, &mut count)?
            {
                let before = before_read(recording, request, computed, &event)?;
                return Ok(before + &returns::answer(recording, request.condition, &event)?);
            }
        }
        if let Some(only) = request.only(count, "") {
            return with_gap(recording, only);
        }
    }
    let stored = stored::attributes(recording, &search.condition)?;
    let is_computed = computed.is_some();
    let mut text = given + &search.never();
    if let Some((condition, names)) = stored::condition(&search.condition, &stored).or(computed) {
        let mut search = Search::new(recording, request, condition)?;
        let found = search.run(occurrence)?;
        text = match &found {
            Some(found) => answer(recording, request.condition, found, &search.roots)?,
            None => request.only(search.count, &search.unknown()).unwrap_or_else(|| search.never()),
        };
        text = format!("{names}\n{text}");
        if found.is_some() {
            return Ok(text);
        }
        if search.count > 0 {
            return with_gap(recording, text);
        }
    }
    let unread = if is_computed { None } else { properties::note(recording, &search.condition, within)? };
    let notes = [stored::note(recording, &stored)?, unread, recording.gap()?].into_iter().flatten();
    Ok(notes.fold(text, |text, note| text + &note + "\n"))
}

/// That a condition held before the program read the property that it is about, if it did.
fn before_read(
    recording: &Recording,
    request: &FirstRequest<'_>,
    computed: Option<(Expression, String)>,
    read: &Event,
) -> Result<String> {
    let Some((condition, names)) = computed else { return Ok(String::new()) };
    let found = Search::new(recording, request, condition)?.run(request.occurrence)?;
    let line = found.map(|found| recording.writer(&found.write)).transpose()?;
    let Some(line) = line.filter(|line| line.id < read.id) else { return Ok(String::new()) };
    let place = recording.writer_text(&line)?;
    Ok(format!("{names}: it held before that was read, after {place} (event {})\n", line.id))
}

/// The variables of a call, and of the calls around a closure, which may have ended.
pub(crate) fn own_and_outer(recording: &Recording, call: &Call) -> Result<Vec<Owner>> {
    let mut owners = vec![call.owner];
    let Some(name) = recording.number(OUTER) else { return Ok(owners) };
    let outer = "SELECT value FROM writes WHERE owner = ? AND key = ? LIMIT 1";
    while let Some(owner) = owners.last()
        && owners.len() < 20
        && let Some(outer) = recording.row(outer, [owner.0, Key::Name(name).stored()], |row| row.get(0))?
        && let Word::Integer(outer) = Word::of(outer)
    {
        owners.push(Owner(outer << 1));
    }
    Ok(owners)
}

/// Where the names of a call are looked up: in its variables, then in its module's.
pub(crate) fn owners(recording: &Recording, call: &Call) -> Result<Vec<Owner>> {
    let mut owners = own_and_outer(recording, call)?;
    if let Some(code) = recording.codes.get(&call.code) {
        let stream = stream_of(call.id);
        owners.extend(recording.forked_module_of(code.file, stream)?);
        owners.extend(recording.module_of(code.file, stream)?);
    }
    owners.dedup();
    Ok(owners)
}

fn answer(
    recording: &Recording,
    condition: &str,
    found: &ConditionMatch,
    roots: &[String],
) -> Result<String> {
    let mut line = recording.writer(&found.write)?;
    let is_before = line.is_before();
    if is_before {
        line = recording.event(recording.first_event()?)?;
    }
    let mut lines = Lines::default();
    let place = recording.place_text(line.place);
    let frames = recording.stack(&line)?;
    if is_before {
        let place = recording.writer_text(&line)?;
        lines.add(format!(
            "`{condition}` holds already where the recording begins: {place} (event {})",
            line.id
        ));
    } else if line.what == What::Call {
        let frame = recording.writer_text(&line)?;
        lines.add(format!("`{condition}` first holds when a call begins: {frame} (event {})", line.id));
        let caller = frames.get(1).and_then(|frame| frame.place);
        lines.add(format!("called by {}", recording.place_text(caller)));
    } else {
        lines.add(format!("`{condition}` first holds after {place} (event {})", line.id));
    }
    if let Some(callers) = recording.stack_text(&line, &frames)? {
        lines.add(callers);
    }
    // A forked process has not called its modules.
    let of = recording.code_of(found.owner)?.map_or("<module>", |code| &code.name);
    if line.call != found.call.id || found.owner != found.call.owner {
        lines.add(format!("it is about variables of {of}"));
    }
    if !is_before {
        lines.add("written there:");
    }
    let writes = writes_of(recording, &line, found.write.event)?;
    for write in &writes {
        let is_left_out = write.is_mark()
            || is_part_of_new(recording, write, &writes)?
            || is_definition(recording, write.key, write.word)?
            || recording.is_moved_later(write)?;
        if !is_left_out {
            lines.add(format!("  {}", write_text(recording, write, &line)?));
        }
    }
    let before = MemoryAt { recording, event: line.id };
    let after = MemoryAt { recording, event: line.id.max(found.write.event + 1) };
    lines.add(format!("variables of {of} then:"));
    let mut slots = after.all(found.owner)?;
    slots.sort_by_key(|(key, _)| !roots.contains(&recording.key_text(*key)));
    for (key, word) in slots {
        let name = recording.key_text(key);
        if is_definition(recording, key, word)? {
            if roots.contains(&name)
                && let Some(owner) = recording.attributes_of(word)?
            {
                lines.add(format!("  {}", recording.members_text(&name, owner, &after, VALUE)?));
            }
            continue;
        }
        let now = recording.value_text(word, &after, 3, VALUE)?;
        let old = before.get(found.owner, key)?;
        let old = old.map(|old| recording.value_text(old, &before, 3, VALUE)).transpose()?;
        let was = old.filter(|old| *old != now).map(|old| format!("   (before: {old})")).unwrap_or_default();
        lines.add(format!("  {name} = {now}{was}"));
    }
    Ok(lines.finish())
}

/// Whether a write only fills an object that a later one of them shows whole.
fn is_part_of_new(recording: &Recording, write: &Write, all: &[Write]) -> Result<bool> {
    let Some(object) = write.owner.as_object() else { return Ok(false) };
    let is_given = |other: &Write| other.id > write.id && other.word == Word::Object(object);
    let Some(first) = all.first().filter(|_| all.iter().any(is_given)) else { return Ok(false) };
    let earlier = "SELECT 1 FROM writes WHERE owner = ? AND id < ? LIMIT 1";
    Ok(!recording.has_row(earlier, [write.owner.0, first.id])?)
}

fn writes_of(recording: &Recording, line: &Event, until: i64) -> Result<Vec<Write>> {
    let from = recording.first_write_at(line.id)?;
    let of_line = format!("WHERE id >= ? AND event <= ? AND {LINE} = ? AND since >= 0 ORDER BY id LIMIT 20");
    recording.writes(&of_line, [from, until, line.id])
}

/// `total: 3 → -5`.
pub(super) fn write_text(recording: &Recording, write: &Write, line: &Event) -> Result<String> {
    change_text(recording, write, line, VALUE)
}

/// The same, with values of at most this many characters.
pub(super) fn change_text(recording: &Recording, write: &Write, line: &Event, most: usize) -> Result<String> {
    let after = MemoryAt { recording, event: write.event + 1 };
    let old = recording.before(write)?;
    let memory = MemoryAt { recording, event: line.id };
    let old = old.map(|old| recording.value_text(old, &memory, 2, most)).transpose()?;
    let new = recording.value_text(write.word, &after, 2, most)?;
    let name = match write.owner.as_object() {
        None => recording.key_text(write.key),
        // Only its text is known, which has no name.
        Some(object) if write.key == Key::Name(0) => recording.object_name(object)?,
        Some(object) => recording.slot_text(object, write.key)?,
    };
    Ok(match old {
        None if recording.is_move(write)? => format!("{name}: {new}, moved to the end"),
        Some(old) => format!("{name}: {old} → {new}"),
        None => format!("{name} = {new}"),
    })
}
