//! Where two runs part.

use super::state::{VALUE, headline};
use super::text::Lines;
use crate::error::{Error, Result};
use crate::memory::{COLUMNS, MemoryAt, Write, write_of};
use crate::reading::{Event, Recording, event_of};
use crate::value::{Key, Kind, What, Word};

/// The first value and the first step in which two runs differ.
///
/// Steps are compared by function and by the text of the line, so that lines that moved between two versions of a
/// program are the same.
pub fn diverged(one: &Recording, other: &Recording) -> Result<String> {
    if one.first_event()? > 1 || other.first_event()? > 1 {
        return Err(Error::question(
            "a recording of the last events has no beginning to compare; record both runs without `last`",
        ));
    }
    let mut lines = Lines::default();
    let flow = first_step(one, other)?;
    let values = first_value(one, other, flow.as_ref().map(|(first, _)| first.id))?;
    if let Some((first, second)) = &values {
        lines.add("first different value:");
        lines.add(format!("  first run:  {}", value_line(one, first)?));
        lines.add(format!("  second run: {}", value_line(other, second)?));
    } else {
        lines.add("no recorded value differs before the runs diverge");
    }
    match &flow {
        None => lines.add("both runs take the same steps as far as both are recorded"),
        Some((first, second)) => {
            lines.add("first different step:");
            if let Some(decides) = line_before(one, first)? {
                lines.add(format!("  after the same:  {}", one.place_text(Some(decides))));
            }
            for (name, recording, event) in [("first run: ", one, first), ("second run:", other, second)] {
                lines.add(format!("  {name} {}", headline(recording, event)?));
                let frames = recording.stack(event)?;
                if let Some(callers) = recording.callers_text(&frames) {
                    lines.add(format!("    {callers}"));
                }
                let memory = MemoryAt { recording, event: event.id };
                if let Some(frame) = frames.first() {
                    for line in super::state::variables(recording, frame, &memory)?.iter().take(6) {
                        lines.add(format!("    {line}"));
                    }
                }
            }
        }
    }
    Ok(lines.finish())
}

/// The line that ran before an event: of its call, or of the caller if the call begins.
fn line_before(recording: &Recording, event: &Event) -> Result<Option<i64>> {
    if event.what == What::Call {
        return Ok(recording.stack(event)?.get(1).and_then(|frame| frame.place));
    }
    let Some(call) = recording.call(event.call)? else { return Ok(None) };
    let line = recording.find_event(recording.line_before(&call, event.id)?)?;
    Ok(line.and_then(|line| line.place))
}

/// The first two events of the main thread that are different steps. Where one run is longer, its next event is
/// compared with the last one of the other.
fn first_step(one: &Recording, other: &Recording) -> Result<Option<(Event, Event)>> {
    const EVENTS: &str = "SELECT events.id, kind, call, place, value FROM events \
                          JOIN calls ON calls.id = events.call WHERE calls.thread = 1 ORDER BY events.id";
    let (mut first, mut second) = (one.database.prepare(EVENTS)?, other.database.prepare(EVENTS)?);
    let (mut first, mut second) = (first.query([])?, second.query([])?);
    let mut last: Option<(Event, Event)> = None;
    loop {
        let pair = (first.next()?.map(event_of).transpose()?, second.next()?.map(event_of).transpose()?);
        match pair {
            (Some(first), Some(second)) => {
                if step(one, &first)? != step(other, &second)? {
                    return Ok(Some((first, second)));
                }
                last = Some((first, second));
            }
            (None, None) => return Ok(None),
            (Some(first), None) => return Ok(last.map(|(_, second)| (first, second))),
            (None, Some(second)) => return Ok(last.map(|(first, _)| (first, second))),
        }
    }
}

/// What a step is, apart from values and line numbers.
fn step(recording: &Recording, event: &Event) -> Result<(What, String, String)> {
    let place = event.place.and_then(|place| recording.place(place));
    Ok(if let Some((code, line)) = place {
        (event.what, code.name.to_string(), recording.source(code, line).to_owned())
    } else {
        let code = recording.call(event.call)?.and_then(|call| recording.codes.get(&call.code).cloned());
        (event.what, code.map(|code| code.name.to_string()).unwrap_or_default(), String::new())
    })
}

/// The first two writes that differ, before an event of the first run.
fn first_value(one: &Recording, other: &Recording, until: Option<i64>) -> Result<Option<(Write, Write)>> {
    let writes = format!("SELECT {COLUMNS} FROM writes ORDER BY id");
    let (mut first, mut second) = (one.database.prepare(&writes)?, other.database.prepare(&writes)?);
    let (mut first, mut second) = (first.query([])?, second.query([])?);
    while let (Some(first), Some(second)) = (next_write(one, &mut first)?, next_write(other, &mut second)?) {
        if until.is_some_and(|until| first.event >= until) {
            return Ok(None);
        }
        if shown(one, &first)? != shown(other, &second)? {
            return Ok(Some((first, second)));
        }
    }
    Ok(None)
}

/// The next write that can be compared. The order of a set's members is another one in each process.
fn next_write(recording: &Recording, rows: &mut rusqlite::Rows<'_>) -> Result<Option<Write>> {
    while let Some(row) = rows.next()? {
        let write = write_of(row)?;
        let is_member = match write.owner.as_object() {
            Some(object) => write.key != Key::Length && recording.object(object)?.kind == Kind::Set,
            None => false,
        };
        if !is_member {
            return Ok(Some(write));
        }
    }
    Ok(None)
}

/// What a write is, apart from the numbers of objects.
fn shown(recording: &Recording, write: &Write) -> Result<(String, String)> {
    let value = match write.word {
        Word::Object(number) => recording.object(number)?.type_name.to_string(),
        word => recording.value_text(word, &crate::memory::GrowingMemory::default(), 0, VALUE)?,
    };
    // Where objects are in memory makes no difference.
    let value = if value.contains(" at 0x") { String::new() } else { value };
    Ok((recording.key_text(write.key), value))
}

fn value_line(recording: &Recording, write: &Write) -> Result<String> {
    let line = recording.writer(write)?;
    let text = super::first::write_text(recording, write, &line)?;
    Ok(format!("{text} by {} (event {})", recording.writer_text(&line)?, line.id))
}
