//! The first moment at which something holds.

use super::state::{VALUE, is_definition};
use super::text::Lines;
use crate::error::{Error, Result};
use crate::memory::{COLUMNS, GrowingMemory, Memory, MemoryAt, Write, write_of};
use crate::predicate::{Expression, Scope};
use crate::reading::{Call, Event, Recording, is_file};
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

/// The first moment at which a condition holds in some call, what it looked like before, and what made it so.
pub fn first(recording: &Recording, request: &FirstRequest<'_>) -> Result<String> {
    let search = Search::new(recording, request)?;
    let Some(found) = search.run(request.occurrence.max(1))? else {
        return Ok(search.never());
    };
    answer(recording, request.condition, &found, &search.roots)
}

struct Search<'a> {
    recording: &'a Recording,
    request: &'a FirstRequest<'a>,
    condition: Expression,
    roots: Vec<String>,
}

/// Where it holds.
struct Found {
    /// The last of the writes that made it so.
    write: Write,
    /// The call whose variables it is about.
    call: Call,
}

impl<'a> Search<'a> {
    fn new(recording: &'a Recording, request: &'a FirstRequest<'a>) -> Result<Self> {
        let condition = Expression::parse(request.condition)?;
        let mut roots = Vec::new();
        condition.roots(&mut roots);
        if roots.is_empty() {
            return Err(Error::question(format!("`{}` has no variable in it", request.condition)));
        }
        if let Some(unknown) = roots.iter().find(|name| recording.number(name).is_none()) {
            return Err(Error::question(format!(
                "no variable `{unknown}` was written in the run; check its spelling"
            )));
        }
        Ok(Self { recording, request, condition, roots })
    }

    /// Goes through all writes. Those before one event are looked at together, because a line may write several things.
    fn run(&self, occurrence: usize) -> Result<Option<Found>> {
        let mut memory = GrowingMemory::default();
        let mut holding: Vec<i64> = Vec::new();
        let mut count = 0;
        let mut last: Option<Write> = None;
        let mut statement =
            self.recording.database.prepare(&format!("SELECT {COLUMNS} FROM writes ORDER BY id"))?;
        let mut rows = statement.query([])?;
        loop {
            let write = rows.next()?.map(write_of).transpose()?;
            let is_complete = match (&last, &write) {
                (Some(last), Some(next)) => last.event != next.event,
                (Some(_), None) => true,
                (None, _) => false,
            };
            if let Some(last) = last.filter(|_| is_complete) {
                for call in self.calls_at(&last)? {
                    let holds = self.holds(&call, &memory)?;
                    let held = holding.contains(&call.id);
                    if holds && !held {
                        count += 1;
                        if count == occurrence {
                            return Ok(Some(Found { write: last, call }));
                        }
                        holding.push(call.id);
                    } else if !holds && held {
                        holding.retain(|other| *other != call.id);
                    }
                }
            }
            let Some(write) = write else { return Ok(None) };
            memory.write(write.owner, write.key, write.word);
            last = Some(write);
        }
    }

    /// The calls that a write may concern: those on the stack, innermost first.
    fn calls_at(&self, write: &Write) -> Result<Vec<Call>> {
        let mut event = self.recording.writer(write)?;
        if event.is_before() {
            event = self.recording.event(self.recording.first_event()?)?;
        }
        let mut calls = Vec::new();
        let mut next = event.call;
        while let Some(call) = self.recording.call(next)?
            && calls.len() < 20
        {
            next = call.caller;
            if self.is_wanted(&call) {
                calls.push(call);
            }
        }
        Ok(calls)
    }

    fn is_wanted(&self, call: &Call) -> bool {
        let Some(code) = self.recording.codes.get(&call.code) else { return false };
        let is_function = |name: &str| &*code.name == name || code.name.rsplit('.').next() == Some(name);
        self.request.function.is_none_or(is_function)
            && self.request.file.is_none_or(|file| is_file(&code.path, file))
    }

    fn holds(&self, call: &Call, memory: &GrowingMemory) -> Result<bool> {
        let owners = owners(self.recording, call)?;
        // The first root must be the call's own, so that its callees do not count for it.
        let own = Scope { recording: self.recording, memory, owners: own_and_outer(self.recording, call)? };
        let first = self.roots.first().map(String::as_str).unwrap_or_default();
        if own.name(first)?.is_none() {
            return Ok(false);
        }
        let scope = Scope { recording: self.recording, memory, owners };
        Ok(scope.holds(&self.condition)?.unwrap_or(false))
    }

    fn never(&self) -> String {
        format!(
            "`{}` never holds in this run. Only values within the recording's limits are known, and only in calls that \
             have a variable `{}`.\n",
            self.request.condition,
            self.roots.first().map(String::as_str).unwrap_or_default()
        )
    }
}

/// The variables of a call, and of the calls around a closure, which may have ended.
pub(crate) fn own_and_outer(recording: &Recording, call: &Call) -> Result<Vec<Owner>> {
    let mut owners = vec![call.owner];
    let Some(name) = recording.number(OUTER) else { return Ok(owners) };
    let mut statement =
        recording.database.prepare_cached("SELECT value FROM writes WHERE owner = ? AND key = ? LIMIT 1")?;
    while let Some(owner) = owners.last()
        && owners.len() < 20
    {
        let mut rows = statement.query([owner.0, Key::Name(name).stored()])?;
        let Some(row) = rows.next()? else { break };
        let Word::Integer(outer) = Word::of(row.get(0)?) else { break };
        owners.push(Owner(outer << 1));
    }
    Ok(owners)
}

/// Where the names of a call are looked up: in its variables, then in its module's.
pub(crate) fn owners(recording: &Recording, call: &Call) -> Result<Vec<Owner>> {
    let mut owners = own_and_outer(recording, call)?;
    let Some(code) = recording.codes.get(&call.code) else { return Ok(owners) };
    let mut statement = recording.database.prepare_cached(
        "SELECT calls.owner FROM calls JOIN codes ON codes.id = calls.code JOIN texts ON texts.id = codes.name \
         WHERE codes.file = ? AND texts.text = '<module>' LIMIT 1",
    )?;
    let mut rows = statement.query([code.file])?;
    if let Some(row) = rows.next()? {
        owners.push(Owner(row.get(0)?));
    }
    owners.dedup();
    Ok(owners)
}

fn answer(recording: &Recording, condition: &str, found: &Found, roots: &[String]) -> Result<String> {
    let mut line = recording.writer(&found.write)?;
    let is_before = line.is_before();
    if is_before {
        line = recording.event(recording.first_event()?)?;
    }
    let mut lines = Lines::default();
    let place = recording.place_text(line.place);
    if is_before {
        let place = recording.writer_text(&line)?;
        lines.add(format!(
            "`{condition}` holds already where the recording begins: {place} (event {})",
            line.id
        ));
    } else if line.what == What::Call {
        let frame = recording.writer_text(&line)?;
        let frames = recording.stack(&line)?;
        lines.add(format!("`{condition}` first holds when a call begins: {frame} (event {})", line.id));
        let caller = frames.get(1).and_then(|frame| frame.place);
        lines.add(format!("called by {}", recording.place_text(caller)));
    } else {
        lines.add(format!("`{condition}` first holds after {place} (event {})", line.id));
    }
    let frames = recording.stack(&line)?;
    if let Some(callers) = recording.callers_text(&frames) {
        lines.add(callers);
    }
    if line.call != found.call.id {
        let code =
            recording.codes.get(&found.call.code).map(|code| code.name.to_string()).unwrap_or_default();
        lines.add(format!("it is about variables of {code}"));
    }
    if !is_before {
        lines.add("written there:");
    }
    for write in writes_of(recording, &line, found.write.event)? {
        if !is_definition(recording, write.key, write.word)? {
            lines.add(format!("  {}", write_text(recording, &write, &line)?));
        }
    }
    let before = MemoryAt { recording, event: line.id };
    let after = MemoryAt { recording, event: line.id.max(found.write.event + 1) };
    lines.add(format!(
        "variables of {} then:",
        recording.codes.get(&found.call.code).map_or("?", |code| &code.name)
    ));
    let mut slots = after.all(found.call.owner)?;
    slots.sort_by_key(|(key, _)| !roots.contains(&recording.key_text(*key)));
    for (key, word) in slots {
        if is_definition(recording, key, word)? {
            continue;
        }
        let now = recording.value_text(word, &after, 3, VALUE)?;
        let old = before.get(found.call.owner, key)?;
        let old = old.map(|old| recording.value_text(old, &before, 3, VALUE)).transpose()?;
        let was = old.filter(|old| *old != now).map(|old| format!("   (before: {old})")).unwrap_or_default();
        lines.add(format!("  {} = {now}{was}", recording.key_text(key)));
    }
    Ok(lines.finish())
}

/// The writes of a line, until an event.
fn writes_of(recording: &Recording, line: &Event, until: i64) -> Result<Vec<Write>> {
    let from = recording.first_write_at(line.id)?;
    let mut statement = recording.database.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM writes WHERE id >= ? AND event <= ? AND event - since = ? ORDER BY id LIMIT 20"
    ))?;
    let rows = statement.query_map([from, until, line.id], write_of)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// `total: 3 → -5`.
pub(super) fn write_text(recording: &Recording, write: &Write, line: &Event) -> Result<String> {
    change_text(recording, write, line, VALUE)
}

/// The same, with values of at most so many characters.
pub(super) fn change_text(recording: &Recording, write: &Write, line: &Event, most: usize) -> Result<String> {
    let after = MemoryAt { recording, event: write.event + 1 };
    let old = recording.before(write)?;
    let memory = MemoryAt { recording, event: line.id };
    let old = old.map(|old| recording.value_text(old, &memory, 2, most)).transpose()?;
    let new = recording.value_text(write.word, &after, 2, most)?;
    let key = recording.key_text(write.key);
    let name = match write.owner.as_object() {
        None => key,
        // Only its text is known, which has no name.
        Some(object) if write.key == Key::Name(0) => {
            format!("{} #{object}", recording.object(object)?.type_name)
        }
        Some(object) => {
            let kind = recording.object(object)?.type_name;
            let dot = if key.starts_with('[') { "" } else { "." };
            format!("{kind} #{object}{dot}{key}")
        }
    };
    Ok(match old {
        Some(old) => format!("{name}: {old} → {new}"),
        None => format!("{name} = {new}"),
    })
}
