//! Writes records into the database of a recording.
//!
//! An *event* is a line, the begin or end of a call, or an exception; events are numbered in their order. A *write* is a
//! change of a variable, an attribute or an item, and has the number of the last event before it: the state at an event
//! is what was written before. `since` is how many events before that the line began that made the write; its bitwise
//! complement if the program did not write, but a variable is visible again that another one of the same name hid.

mod ring;
mod schema;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, OptionalExtension, params};

use self::ring::Ring;
pub(crate) use self::schema::{finish, read_back};
use crate::error::Result;
use crate::redacted::{MARK, Redactor, without_shapes};
use crate::value::{Key, What, Word};
use crate::wire::Record;

/// Characters of output that are kept of a run.
const MOST_OUTPUT: usize = 1 << 20;

/// What is written of a run.
#[derive(Debug)]
pub(crate) struct Store {
    database: Connection,
    began: Instant,
    /// The calls that have begun and not ended.
    calls: HashMap<u64, ActiveCall>,
    redactor: Redactor,
    texts: HashMap<i64, String>,
    /// Values that no write has used yet: type, flags and text.
    waiting: HashMap<i64, (i64, i64, String)>,
    /// Lines and functions that have not been reached.
    places: HashMap<i64, (i64, i64)>,
    codes: HashMap<i64, (i64, i64, i64)>,
    files: HashSet<i64>,
    output: usize,
    /// Bytes that the indexes of all that was written would have.
    indexed: u64,
    /// By how many bytes the recording grew at most in one transaction.
    growth: u64,
    /// The last events are kept rather than the first.
    ring: Option<Ring>,
    pub(crate) counts: Counts,
    /// Why something is missing, if something is.
    pub(crate) gap: Option<String>,
}

/// Where a call is.
#[derive(Clone, Copy, Debug)]
struct ActiveCall {
    /// The number of the line that it is at; 0 before the first.
    place: i64,
    /// The event of that line.
    event: i64,
}

/// How much was written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) events: i64,
    pub(crate) writes: i64,
}

/// A 64-bit word as `SQLite` stores it.
fn stored(word: u64) -> i64 {
    i64::from_le_bytes(word.to_le_bytes())
}

/// The bytes of an entry of an index, as `SQLite` stores whole numbers.
fn entry_size(numbers: &[i64]) -> u64 {
    // The place in the page, the size of the entry, that of its header, and in this the type of each number.
    let around = 4 + numbers.len() as u64;
    let size = |number: &i64| match 65 - number.unsigned_abs().leading_zeros() {
        bits @ ..=32 => u64::from(bits.div_ceil(8)),
        33..=48 => 6,
        _ => 8,
    };
    around + numbers.iter().map(size).sum::<u64>()
}

impl Store {
    /// Makes the database.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        Ok(Self {
            database: schema::create(path)?,
            began: Instant::now(),
            calls: HashMap::new(),
            redactor: Redactor::default(),
            texts: HashMap::new(),
            waiting: HashMap::new(),
            places: HashMap::new(),
            codes: HashMap::new(),
            files: HashSet::new(),
            output: 0,
            indexed: 0,
            growth: 0,
            ring: None,
            counts: Counts::default(),
            gap: None,
        })
    }

    /// Writes some records as one transaction. If that fails, none of them is written, and nothing more can be.
    pub(crate) fn write(&mut self, records: Vec<Record>) -> Result<()> {
        let (before, size) = (self.counts, self.size()?);
        let written = self.write_all(records);
        if written.is_err() {
            self.counts = before;
            // An error that has ended the transaction leaves nothing to roll back.
            let _ = self.database.execute_batch("ROLLBACK");
            return written;
        }
        self.growth = self.growth.max(self.size()?.saturating_sub(size));
        Ok(())
    }

    fn write_all(&mut self, records: Vec<Record>) -> Result<()> {
        self.database.execute_batch("BEGIN")?;
        for record in records {
            self.record(record)?;
        }
        let time = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.insert("INSERT INTO clock VALUES (?, ?)", params![self.counts.events, time])?;
        self.database.execute_batch("COMMIT")?;
        Ok(())
    }

    /// The bytes of the database so far, with those of its indexes, which are made at the end.
    pub(crate) fn size(&self) -> Result<u64> {
        let pages: i64 = self.database.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        let free: i64 = self.database.query_row("PRAGMA freelist_count", [], |row| row.get(0))?;
        let size: i64 = self.database.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let tables = (pages - free).saturating_mul(size).unsigned_abs();
        let all = self.counts.writes.max(1).unsigned_abs();
        Ok(tables + self.indexed.saturating_mul(self.stored_writes()?.unsigned_abs()) / all)
    }

    /// How many writes there are, of which old ones may have been dropped. They are numbered without gaps.
    fn stored_writes(&self) -> Result<i64> {
        let count = "SELECT coalesce((SELECT max(id) FROM writes) - (SELECT min(id) FROM writes) + 1, 0)";
        Ok(self.database.prepare_cached(count)?.query_row([], |row| row.get(0))?)
    }

    /// Completes the database, so that it is one file.
    pub(crate) fn finish(self, facts: &[(&str, String)]) -> Result<()> {
        schema::set_facts(&self.database, facts)?;
        finish(&self.database)
    }

    /// Writes facts about the run, which are there even if the run is never completed.
    pub(crate) fn set_facts(&self, facts: &[(&str, String)]) -> Result<()> {
        schema::set_facts(&self.database, facts)
    }

    fn insert(&self, statement: &str, values: impl rusqlite::Params) -> Result<()> {
        self.database.prepare_cached(statement)?.execute(values)?;
        Ok(())
    }

    fn record(&mut self, record: Record) -> Result<()> {
        match record {
            Record::Line { call, place } => {
                if let Some((code, line)) = self.places.remove(&stored(place)) {
                    self.insert(
                        "INSERT OR REPLACE INTO places VALUES (?, ?, ?)",
                        params![stored(place), code, line],
                    )?;
                }
                let event = self.event(What::Line, call, Some(stored(place)), None)?;
                self.calls.insert(call, ActiveCall { place: stored(place), event });
            }
            Record::Write { key, owner, by, value, is_shown_again } => {
                self.change(key, (owner, by), value, is_shown_again)?;
            }
            Record::Enter { call, code, owner, thread, caller, is_forked } => {
                if let Some((file, name, line)) = self.codes.remove(&stored(code)) {
                    self.source(file)?;
                    let values = params![stored(code), file, name, line];
                    self.insert("INSERT OR REPLACE INTO codes VALUES (?, ?, ?, ?)", values)?;
                }
                let place = self.calls.get(&caller).map(|caller| caller.place);
                let begun = is_forked.then(|| Word::Integer(1).stored());
                let event = self.event(What::Call, call, None, begun)?;
                self.insert(
                    "INSERT INTO calls (id, code, owner, caller, caller_place, thread, entered) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    params![stored(call), stored(code), stored(owner), stored(caller), place, stored(thread), event],
                )?;
                self.calls.insert(call, ActiveCall { place: 0, event });
            }
            Record::Leave { call, value } => self.leave(What::Return, call, Some(stored(value)))?,
            Record::Unwind { call } => self.leave(What::Unwind, call, None)?,
            Record::Pass { call, since } => {
                self.leave(What::Unwind, call, Some(Word::Integer(stored(since)).stored()))?;
            }
            Record::Throw { call, value } => self.event_at(What::Throw, call, Some(stored(value)))?,
            Record::Suspend { call, value } => self.event_at(What::Yield, call, Some(stored(value)))?,
            Record::Resume { call, caller } => {
                self.event_at(What::Resume, call, Some(Word::Integer(stored(caller)).stored()))?;
            }
            Record::Thread { id, name } => {
                self.insert(
                    "INSERT OR REPLACE INTO threads VALUES (?, ?)",
                    params![stored(id), stored(name)],
                )?;
            }
            Record::Text { id, text } => {
                self.redactor.name(stored(id), &text);
                let text = without_shapes(text);
                self.insert("INSERT OR REPLACE INTO texts VALUES (?, ?)", params![stored(id), text])?;
                self.texts.insert(stored(id), text);
            }
            Record::Object { id, type_name, kind, prototype } => self.insert(
                "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?)",
                params![stored(id), stored(type_name), stored(kind), stored(prototype)],
            )?,
            Record::Atom { id, type_name, flags, text } => {
                self.waiting.insert(stored(id), (stored(type_name), stored(flags), text));
            }
            Record::Code { id, file, name, line } => {
                self.codes.insert(stored(id), (stored(file), stored(name), stored(line)));
            }
            Record::Place { id, code, line } => {
                self.places.insert(stored(id), (stored(code), stored(line)));
            }
            Record::Output { stream, call, text } => self.output(stored(stream), stored(call), text)?,
            Record::Gap { text } => {
                self.gap.get_or_insert(text);
            }
        }
        Ok(())
    }

    /// Writes an event and returns its number.
    fn event(&mut self, what: What, call: u64, place: Option<i64>, value: Option<i64>) -> Result<i64> {
        if let Some(Word::Atom(atom)) = value.map(Word::of) {
            self.use_atom(atom, None)?;
        }
        self.counts.events += 1;
        let event = self.counts.events;
        if what == What::Resume {
            self.indexed += entry_size(&[stored(call), event]);
        }
        let values = params![event, what.stored(), stored(call), place, value];
        self.insert("INSERT INTO events VALUES (?, ?, ?, ?, ?)", values)?;
        Ok(event)
    }

    /// The same, where the call is.
    fn event_at(&mut self, what: What, call: u64, value: Option<i64>) -> Result<()> {
        let place = self.calls.get(&call).map(|call| call.place);
        self.event(what, call, place, value).map(drop)
    }

    fn leave(&mut self, what: What, call: u64, value: Option<i64>) -> Result<()> {
        self.event_at(what, call, value)?;
        self.calls.remove(&call);
        self.insert("UPDATE calls SET ended = ? WHERE id = ?", params![self.counts.events, stored(call)])
    }

    fn change(&mut self, key: u64, (owner, by): (u64, u64), value: u64, is_shown_again: bool) -> Result<()> {
        let name = match Key::of(stored(key)) {
            Key::Name(name) | Key::Item(name) => Some(name),
            Key::Index(_) | Key::Length => None,
        };
        if let Word::Atom(atom) = Word::of(stored(value)) {
            self.use_atom(atom, name)?;
        }
        let call = self.calls.get(&by).copied();
        let event = match call {
            // Its arguments belong to its begin, whatever other threads and processes have done since.
            Some(ActiveCall { place: 0, event }) => event,
            _ => self.counts.events,
        };
        let since = call.map_or(0, |call| event - call.event);
        let since = if is_shown_again { !since } else { since };
        self.counts.writes += 1;
        self.indexed += entry_size(&[stored(owner), stored(key), self.counts.writes]);
        let values = params![event, since, stored(owner), stored(key), stored(value)];
        self.insert("INSERT INTO writes (event, since, owner, key, value) VALUES (?, ?, ?, ?, ?)", values)
    }

    /// A value is used, under a name or not. It is stored at its first use, redacted if the name says so.
    fn use_atom(&mut self, atom: i64, name: Option<i64>) -> Result<()> {
        let is_suspicious = name.is_some_and(|name| self.redactor.is_suspicious(name));
        if let Some((type_name, flags, text)) = self.waiting.remove(&atom) {
            let kind = self.texts.get(&type_name).map_or("", String::as_str);
            let is_secret = self.redactor.is_secret(atom, name, kind, &text);
            let text = if is_secret { MARK.to_owned() } else { without_shapes(text) };
            return self
                .insert("INSERT INTO atoms VALUES (?, ?, ?, ?)", params![atom, type_name, flags, text]);
        }
        if !is_suspicious {
            return Ok(());
        }
        // It was stored under a harmless name.
        let stored: Option<(String, String)> = self
            .database
            .prepare_cached(
                "SELECT texts.text, atoms.text FROM atoms JOIN texts ON texts.id = type WHERE atoms.id = ?",
            )?
            .query_row([atom], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((kind, text)) = stored else { return Ok(()) };
        if self.redactor.is_secret(atom, name, &kind, &text) {
            self.insert("UPDATE atoms SET text = ? WHERE id = ?", params![MARK, atom])?;
        }
        Ok(())
    }

    /// Stores the text of a source file, because it may be changed after the run.
    fn source(&mut self, file: i64) -> Result<()> {
        if !self.files.insert(file) {
            return Ok(());
        }
        let path = self.texts.get(&file).map(String::as_str).unwrap_or_default();
        let text = std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = without_shapes(text.unwrap_or_default());
        self.insert("INSERT INTO files VALUES (?, ?, ?)", params![file, path, text])
    }

    fn output(&mut self, stream: i64, call: i64, text: String) -> Result<()> {
        if self.output > MOST_OUTPUT && self.ring.is_none() {
            return Ok(());
        }
        self.output += text.len();
        let text = without_shapes(text);
        let values = params![self.counts.events, call, stream, text];
        self.insert("INSERT INTO output VALUES (?, ?, ?, ?)", values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_before_the_disk_is_full_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recording.sqlite");
        let mut store = Store::new(&path).unwrap();
        store.write(vec![Record::Throw { call: 1, value: 0 }; 10]).unwrap();
        store.database.execute_batch("PRAGMA max_page_count = 1").unwrap();
        let error = store.write(vec![Record::Throw { call: 1, value: 0 }; 100_000]).unwrap_err();
        assert!(error.to_string().starts_with("no space is left on the disk"), "{error}");
        assert_eq!(store.counts.events, 10);
        store.database.execute_batch("PRAGMA max_page_count = 100000").unwrap();
        store.finish(&[]).unwrap();
        let written: i64 =
            read_back(&path).unwrap().query_row("SELECT count(*) FROM events", [], |row| row.get(0)).unwrap();
        assert_eq!(written, 10);
    }

    #[test]
    fn the_size_of_a_recording_has_room_for_its_indexes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recording.sqlite");
        let mut store = Store::new(&path).unwrap();
        let records = (1..60_000).flat_map(|call| {
            let write =
                |key| Record::Write { key, owner: call << 1, by: call, value: 1, is_shown_again: false };
            let resume = Record::Resume { call, caller: 1 };
            [
                Record::Enter { call, code: 1, owner: call << 1, thread: 1, caller: 1, is_forked: false },
                write(1 << 2),
                resume,
                write(2 << 2),
            ]
        });
        store.write(records.collect()).unwrap();
        let expected = store.size().unwrap();
        store.finish(&[]).unwrap();
        let size = path.metadata().unwrap().len();
        assert!(size.abs_diff(expected) < size / 50, "{size}, not {expected}");
    }

    #[test]
    fn arguments_belong_to_the_begin_of_their_call() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::new(&folder.path().join("recording.sqlite")).unwrap();
        let enter = |call| {
            let (code, owner, thread) = (1, call << 1, call);
            Record::Enter { call, code, owner, thread, caller: 0, is_forked: false }
        };
        let write =
            Record::Write { key: 1 << 2, owner: 1 << 1, by: 1, value: 6 << 3 | 1, is_shown_again: false };
        // Another process begins a call in between.
        store.write(vec![enter(1), enter(2), write]).unwrap();
        let read = "SELECT event, since FROM writes";
        let written: (i64, i64) =
            store.database.query_row(read, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(written, (1, 0));
    }
}
