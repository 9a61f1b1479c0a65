//! A row for each event and each write, in the order in which they happened.

use std::io::Write;

use super::VALUE;
use crate::ask::exception;
use crate::clock::Clock;
use crate::error::Result;
use crate::memory::{COLUMNS, MemoryAt, Write as Written, write_of};
use crate::reading::{Event, Recording, event_of};
use crate::value::{What, Word};

/// The columns, and whether they have texts.
pub(super) const SCHEMA: [(&str, bool); 11] = [
    ("event", false),
    ("what", true),
    ("milliseconds", false),
    ("thread", false),
    ("call", false),
    ("function", true),
    ("file", true),
    ("line", false),
    ("owner", true),
    ("name", true),
    ("value", true),
];

/// What is in a column of a row. An empty text counts as a missing value.
#[derive(Clone, Copy)]
pub(super) enum Cell<'t> {
    Number(Option<i64>),
    Text(&'t str),
}

/// Takes a row.
type Rows<'r> = dyn FnMut(&[Cell<'_>; 11]) -> Result<()> + 'r;

/// Writes the rows as RFC 4180 has them.
pub(super) fn write_csv(recording: &Recording, out: &mut dyn Write) -> Result<()> {
    write!(out, "{}\r\n", SCHEMA.map(|(name, _)| name).join(","))?;
    each_row(recording, &mut |row| {
        for (at, cell) in row.iter().enumerate() {
            let separator = if at == 0 { "" } else { "," };
            match cell {
                Cell::Number(number) => {
                    let number = number.map(|number| number.to_string());
                    write!(out, "{separator}{}", number.unwrap_or_default())?;
                }
                Cell::Text(text) if text.contains([',', '"', '\n', '\r']) => {
                    write!(out, "{separator}\"{}\"", text.replace('"', "\"\""))?;
                }
                Cell::Text(text) => write!(out, "{separator}{text}")?,
            }
        }
        Ok(write!(out, "\r\n")?)
    })
}

/// Goes through the rows.
pub(super) fn each_row(recording: &Recording, out: &mut Rows<'_>) -> Result<()> {
    let table = Table { recording, clock: recording.clock()? };
    let mut events = recording
        .database
        .prepare("SELECT id, kind, call, place, value FROM events WHERE kind < 8 ORDER BY id")?;
    let mut writes = recording.database.prepare(&format!("SELECT {COLUMNS} FROM writes ORDER BY id"))?;
    let (mut events, mut writes) = (events.query([])?, writes.query([])?);
    let mut write = writes.next()?.map(write_of).transpose()?;
    while let Some(row) = events.next()? {
        let event = event_of(row)?;
        while let Some(next) = write.filter(|write| write.event < event.id) {
            table.written(&next, out)?;
            write = writes.next()?.map(write_of).transpose()?;
        }
        table.event(&event, out)?;
    }
    while let Some(next) = write {
        table.written(&next, out)?;
        write = writes.next()?.map(write_of).transpose()?;
    }
    Ok(())
}

struct Table<'a> {
    recording: &'a Recording,
    clock: Clock,
}

impl Table<'_> {
    fn event(&self, event: &Event, out: &mut Rows<'_>) -> Result<()> {
        let what = match event.what {
            What::Line => "line",
            What::Call => "call",
            What::Return => "return",
            What::Unwind => "unwind",
            What::Throw => "throw",
            What::Yield => "yield",
            What::Resume => "resume",
        };
        let value = match (event.what, event.value) {
            (What::Throw, _) => exception(self.recording, event)?,
            (What::Resume | What::Unwind, _) | (_, None) => String::new(),
            (_, Some(value)) => self.value(Word::of(value), event.id)?,
        };
        self.row(what, event, ["", "", &value], out)
    }

    fn written(&self, write: &Written, out: &mut Rows<'_>) -> Result<()> {
        let recording = self.recording;
        if write.is_shown_again {
            return Ok(());
        }
        let owner = match write.owner.as_object() {
            Some(object) => recording.object_name(object)?,
            None => format!("call {}", write.owner.0 >> 1),
        };
        let value = match write.word {
            Word::Absent => String::new(),
            word => self.value(word, write.event)?,
        };
        let line = recording.writer(write)?;
        let what = if write.word == Word::Absent { "delete" } else { "write" };
        self.row(what, &line, [&owner, &recording.key_text(write.key), &value], out)
    }

    /// A value. What objects contain is in rows of its own.
    fn value(&self, word: Word, event: i64) -> Result<String> {
        self.recording.value_text(word, &MemoryAt { recording: self.recording, event }, 0, VALUE)
    }

    fn row(&self, what: &str, event: &Event, last: [&str; 3], out: &mut Rows<'_>) -> Result<()> {
        let recording = self.recording;
        let call = recording.call(event.call)?;
        let of_call = call.as_ref().and_then(|call| recording.codes.get(&call.code));
        let place = recording.place(event.place);
        let (code, line) =
            place.map_or((of_call, of_call.map(|code| code.line)), |(code, line)| (Some(code), Some(line)));
        let number = |number| Cell::Number(Some(number));
        let [owner, name, value] = last.map(Cell::Text);
        out(&[
            number(event.id),
            Cell::Text(what),
            number(self.clock.at(event.id) / 1000),
            number(recording.thread_of(event)?),
            number(event.call),
            Cell::Text(code.map_or("", |code| &code.name)),
            Cell::Text(code.map_or("", |code| &code.path)),
            Cell::Number(line),
            owner,
            name,
            value,
        ])
    }
}
