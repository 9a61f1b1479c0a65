//! Keeps the last events of a run rather than the first.
//!
//! When there are enough more events than are wanted, those before a *cut* are dropped in one transaction. What is left
//! of them is what the events after the cut need: the last value of each variable, attribute and item (the *base*,
//! whose writes have event 0), the calls that had not ended, and the lines at which these calls were and the events with
//! which they were resumed, whose kind is [`EARLIER`] more than it was.

mod base;

use std::collections::{HashMap, HashSet};

use rusqlite::params;

use self::base::{Base, MOST_ATOMS};
use super::Store;
use crate::error::Result;
use crate::value::{EARLIER, What};

/// Events that are dropped at once, at least.
const SLACK: i64 = 1 << 14;

/// Slots of the base up to which all are kept. Beyond, those that no variable leads to are dropped.
const ROOMY: usize = 1_000_000;

/// Events to which a recording that is too large for its limit is cut, at least.
const FEWEST: i64 = 1_000;

/// Bytes of output from before the cut are those of this many writes.
const OUTPUTS: i64 = 20;

/// Which events are kept.
#[derive(Debug)]
pub(super) struct Ring {
    /// How many are wanted.
    last: i64,
    /// The first that there is.
    first: i64,
    /// Slots of the base, and how many there may be before it is searched for what nothing leads to.
    slots: usize,
    most_slots: usize,
    /// How many texts and numbers there may be before it is searched for those that are not used.
    most_atoms: i64,
    /// Fewer than wanted had room.
    is_short: bool,
    /// Something was dropped that may be seen again.
    has_collected: bool,
}

impl Store {
    /// Keeps the last N events.
    pub(crate) fn keeping_last(mut self, last: i64) -> Self {
        self.ring = Some(Ring {
            last: last.max(1),
            first: 1,
            slots: 0,
            most_slots: ROOMY,
            most_atoms: MOST_ATOMS,
            is_short: false,
            has_collected: false,
        });
        self
    }

    /// Events that were dropped so far.
    pub(crate) fn dropped(&self) -> i64 {
        self.ring.as_ref().map_or(0, |ring| ring.first - 1)
    }

    /// Drops what is older than the last events, when it is worth it: now and then, or to get below a size in bytes.
    /// Whether the recording is within that size and can grow once more.
    pub(crate) fn drop_old(&mut self, most_bytes: u64) -> Result<bool> {
        if let Some(ring) = &self.ring {
            let slack = (ring.last / 4).max(SLACK).max(i64::try_from(ring.slots / 2).unwrap_or(i64::MAX));
            if self.counts.events - self.dropped() > ring.last + slack {
                self.keep(ring.last)?;
            }
        }
        while self.size()? + self.growth > most_bytes {
            let kept = self.counts.events - self.dropped();
            if self.ring.is_none() || kept < 2 * FEWEST {
                return Ok(false);
            }
            if let Some(ring) = &mut self.ring {
                ring.is_short = true;
                ring.most_slots = 0;
            }
            self.keep(kept / 2)?;
        }
        Ok(true)
    }

    /// Drops the rest of what is not wanted, at the end of the run. Returns what must be said about it.
    pub(crate) fn drop_rest(&mut self) -> Result<Option<String>> {
        let Some(last) = self.ring.as_ref().map(|ring| ring.last) else { return Ok(None) };
        if self.counts.events - self.dropped() > last {
            self.keep(last)?;
        }
        let Some(ring) = &self.ring else { return Ok(None) };
        let count = |pragma: &str| self.database.query_row(pragma, [], |row| row.get::<_, i64>(0));
        if 2 * count("PRAGMA freelist_count")? > count("PRAGMA page_count")? {
            self.database.execute_batch("VACUUM")?;
        }
        let mut said = Vec::new();
        if ring.is_short && self.counts.events - self.dropped() < last {
            said.push("no more events fit within the size limit".to_owned());
        }
        if ring.has_collected {
            let unknown: i64 = self.database.query_row(
                "SELECT count(DISTINCT value >> 3) FROM writes WHERE value & 7 = 4 AND value >> 3 NOT IN (SELECT id FROM objects)",
                [],
                |row| row.get(0),
            )?;
            if unknown > 0 {
                said.push(format!(
                    "objects dropped with old events while only code that is not recorded held them: {unknown}"
                ));
            }
        }
        Ok((!said.is_empty()).then(|| said.join("; ")))
    }

    /// Writes of the events that are kept.
    pub(crate) fn kept_writes(&self) -> Result<i64> {
        let first = self.dropped() + 1;
        Ok(self.database.query_row(
            "SELECT count(*) FROM writes WHERE event >= ? OR ? = 1",
            [first, first],
            |row| row.get(0),
        )?)
    }

    /// Keeps the last N events.
    fn keep(&mut self, last: i64) -> Result<()> {
        let cut = self.counts.events - last + 1;
        self.database.execute_batch("BEGIN")?;
        let done = self.cut(cut);
        match done {
            Ok(()) => self.database.execute_batch("COMMIT")?,
            Err(_) => {
                // An error that has ended the transaction leaves nothing to roll back.
                let _ = self.database.execute_batch("ROLLBACK");
            }
        }
        done
    }

    /// Drops the events before one.
    fn cut(&mut self, cut: i64) -> Result<()> {
        let lines = self.lines_at(cut)?;
        self.drop_events(cut, &lines)?;
        self.insert(
            "DELETE FROM calls WHERE ended < ? AND code NOT IN \
             (SELECT codes.id FROM codes JOIN texts ON texts.id = codes.name WHERE texts.text = '<module>')",
            [cut],
        )?;
        let mut base = Base::read(&self.database, cut)?;
        let Some(ring) = &mut self.ring else { return Ok(()) };
        if base.len() > ring.most_slots {
            ring.has_collected |= base.collect(&self.database, cut)?;
            ring.most_slots = ROOMY.max(2 * base.len());
        }
        ring.slots = base.len();
        base.write(&self.database, cut)?;
        ring.most_atoms = Base::drop_atoms(&self.database, ring.most_atoms)?;
        ring.first = cut;
        self.insert("DELETE FROM clock WHERE event < (SELECT max(event) FROM clock WHERE event < ?)", [cut])?;
        self.drop_output(cut)
    }

    /// The line at which each call was that was active before an event, or the event with which it began, and the one with
    /// which it was resumed last.
    fn lines_at(&self, cut: i64) -> Result<HashSet<i64>> {
        let mut statement = self
            .database
            .prepare_cached("SELECT id FROM calls WHERE entered < ?1 AND (ended IS NULL OR ended >= ?1)")?;
        let active = statement.query_map([cut], |row| row.get(0))?;
        let active: HashSet<i64> = active.collect::<rusqlite::Result<_>>()?;
        let mut statement = self.database.prepare_cached(
            "SELECT id, call, kind FROM events WHERE id < ? AND kind & 7 IN (?, ?, ?) ORDER BY id",
        )?;
        let mut rows =
            statement.query(params![cut, What::Line.stored(), What::Call.stored(), What::Resume.stored()])?;
        let mut lines: HashMap<(i64, bool), i64> = HashMap::new();
        while let Some(row) = rows.next()? {
            let call = row.get(1)?;
            if active.contains(&call) {
                lines.insert((call, What::of(row.get(2)?) == What::Resume), row.get(0)?);
            }
        }
        Ok(lines.into_values().collect())
    }

    fn drop_events(&self, cut: i64, but: &HashSet<i64>) -> Result<()> {
        self.database.execute_batch(
            "CREATE TEMP TABLE IF NOT EXISTS kept (id INTEGER PRIMARY KEY); DELETE FROM kept;",
        )?;
        for id in but {
            self.insert("INSERT INTO kept VALUES (?)", [id])?;
        }
        self.insert("DELETE FROM events WHERE id < ? AND id NOT IN (SELECT id FROM kept)", [cut])?;
        self.insert("UPDATE events SET kind = kind + ?1 WHERE id < ?2 AND kind < ?1", [EARLIER, cut])?;
        // What the writes of the base refer to.
        self.insert("INSERT OR REPLACE INTO events VALUES (0, ?, 0, NULL, NULL)", [EARLIER])
    }

    /// Drops output, but for its end.
    fn drop_output(&mut self, cut: i64) -> Result<()> {
        self.insert(
            "DELETE FROM output WHERE event < ?1 AND rowid NOT IN \
             (SELECT rowid FROM output WHERE event < ?1 ORDER BY rowid DESC LIMIT ?2)",
            [cut, OUTPUTS],
        )?;
        let length: i64 =
            self.database
                .query_row("SELECT coalesce(sum(length(text)), 0) FROM output", [], |row| row.get(0))?;
        self.output = usize::try_from(length).unwrap_or_default();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Memory, MemoryAt};
    use crate::reading::Recording;
    use crate::store::read_back;
    use crate::value::{Key, Owner, Word};
    use crate::wire::Record;

    /// The names of a module and of two variables.
    const MODULE: u64 = 1;
    const CURRENT: u64 = 2;
    const KEPT: u64 = 3;

    fn reference(object: u64) -> u64 {
        object << 3 | 4
    }

    fn write(name: u64, owner: u64, value: u64) -> Record {
        Record::Write { key: name << 2, owner, by: 1, value, is_shown_again: false }
    }

    /// A module that makes an object in each line, and lets go of the one before.
    fn lines(from: u64, to: u64) -> Vec<Record> {
        let line = |number: u64| {
            [
                Record::Line { call: 1, place: 1 },
                Record::Object { id: number, type_name: MODULE, kind: 5, prototype: 0 },
                write(CURRENT, 2, reference(number)),
                write(CURRENT, number << 1 | 1, number << 3 | 1),
            ]
        };
        (from..to).flat_map(line).collect()
    }

    fn begun() -> Vec<Record> {
        let text = |id: u64, text: &str| Record::Text { id, text: text.to_owned() };
        let mut records = vec![
            text(MODULE, "<module>"),
            text(CURRENT, "current"),
            text(KEPT, "kept"),
            Record::Code { id: 1, file: CURRENT, name: MODULE, line: 1 },
            Record::Place { id: 1, code: 1, line: 1 },
            Record::Enter { call: 1, code: 1, owner: 2, thread: 1, caller: 0, is_forked: false },
        ];
        records.extend(lines(1, 2));
        records.push(write(KEPT, 2, reference(1)));
        records
    }

    fn ring(store: &mut Store) -> &mut Ring {
        store.ring.as_mut().unwrap()
    }

    #[test]
    fn what_variables_lead_to_stays_and_the_rest_goes_when_there_is_much() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recording.sqlite");
        let mut store = Store::new(&path).unwrap().keeping_last(20);
        store.write(begun()).unwrap();
        store.write(lines(2, 100)).unwrap();
        store.keep(20).unwrap();
        // The module's two variables, and an attribute of each object.
        assert_eq!((store.dropped(), ring(&mut store).slots), (80, 81));
        ring(&mut store).most_slots = 10;
        store.write(lines(100, 200)).unwrap();
        store.keep(20).unwrap();
        assert_eq!((store.dropped(), ring(&mut store).slots), (180, 4));
        assert_eq!(store.drop_rest().unwrap(), None);
        // Something brings an object back.
        let again = write(CURRENT, 2, reference(50));
        store
            .write(vec![Record::Line { call: 1, place: 1 }, again, Record::Line { call: 1, place: 1 }])
            .unwrap();
        let said = store.drop_rest().unwrap().unwrap();
        assert!(said.ends_with("held them: 1"), "{said}");
        store.finish(&[]).unwrap();

        let recording = Recording::new(read_back(&path).unwrap()).unwrap();
        let memory = MemoryAt { recording: &recording, event: recording.last_event().unwrap() };
        let shown = |name: u64| {
            let name = Key::Name(i64::try_from(name).unwrap());
            let word = memory.get(Owner(2), name).unwrap().unwrap_or(Word::Absent);
            recording.value_text(word, &memory, 1, 100).unwrap()
        };
        assert_eq!(
            (shown(CURRENT), shown(KEPT)),
            ("<dropped object #50>".to_owned(), "<module>(current=1)".to_owned())
        );
        assert_eq!(recording.first_event().unwrap(), memory.event - 19);
    }

    #[test]
    fn a_recording_that_is_cut_again_and_again_does_not_grow() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::new(&folder.path().join("recording.sqlite")).unwrap().keeping_last(100);
        ring(&mut store).most_slots = 100;
        store.write(begun()).unwrap();
        let mut sizes = Vec::new();
        for part in 0..20 {
            store.write(lines(2 + part * 4_000, 2 + (part + 1) * 4_000)).unwrap();
            ring(&mut store).most_slots = 100;
            assert!(store.drop_old(u64::MAX).unwrap());
            sizes.push(store.size().unwrap());
        }
        let (early, late) = sizes.split_at(10);
        assert!(late.iter().max() < early.iter().map(|size| 2 * size).max().as_ref(), "{sizes:?}");
        assert_eq!(store.counts.events - store.dropped(), 100);
        assert!(!store.drop_old(1).unwrap(), "100 events are not cut to get below a size");
    }
}
