//! The state before the first event that is kept, as writes.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use crate::error::Result;
use crate::memory::Latest;
use crate::value::{Key, Kind, OUTER, Owner, Word};

/// Strings, numbers and tuples of each type that a recorder knows by their value: it does not write them again. The
/// recorders know 50,000 of each.
const KNOWN: i64 = 60_000;

/// Values that are only text, beyond which those that are not used are dropped.
pub(super) const MOST_ATOMS: i64 = 500_000;

/// What each owner has, in the order in which it got it.
pub(super) struct Base {
    slots: Vec<Slot>,
    /// The variable of a closure that has the number of the call around it.
    outer: Option<i64>,
}

struct Slot {
    owner: Owner,
    key: Key,
    word: Word,
}

impl Base {
    /// Of the writes before an event. The variables of calls that have ended are left out, unless closures may have
    /// them.
    pub(super) fn read(database: &Connection, cut: i64) -> Result<Self> {
        let outer: Option<i64> =
            database.query_row("SELECT max(id) FROM texts WHERE text = ?", [OUTER], |row| row.get(0))?;
        let calls = calls(database)?;
        let mut statement =
            database.prepare_cached("SELECT owner, key, value FROM writes WHERE event < ? ORDER BY id")?;
        let mut rows = statement.query([cut])?;
        let mut latest = Latest::default();
        while let Some(row) = rows.next()? {
            let owner: i64 = row.get(0)?;
            if owner & 1 == 1 || outer.is_some() || calls.contains(&owner) {
                latest.write((Owner(owner), Key::of(row.get(1)?)), Word::of(row.get(2)?));
            }
        }
        let slots = latest.into_slots().map(|((owner, key), word)| Slot { owner, key, word });
        Ok(Self { slots: slots.collect(), outer })
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Replaces the writes before an event by these.
    pub(super) fn write(&self, database: &Connection, cut: i64) -> Result<()> {
        let kept: i64 = database.query_row(
            "SELECT coalesce((SELECT min(id) FROM writes WHERE event >= ?), (SELECT coalesce(max(id), 0) + 1 FROM writes))",
            [cut],
            |row| row.get(0),
        )?;
        database.prepare_cached("DELETE FROM writes WHERE id < ?")?.execute([kept])?;
        // Writes are numbered without gaps.
        let first = kept - i64::try_from(self.slots.len()).unwrap_or_default();
        let mut statement = database.prepare_cached("INSERT INTO writes VALUES (?, 0, 0, ?, ?, ?)")?;
        for (id, Slot { owner, key, word }) in (first..).zip(&self.slots) {
            statement.execute([id, owner.0, key.stored(), word.stored()])?;
        }
        Ok(())
    }

    /// Drops what no variable of a call or a module leads to, and no event that is kept. Whether there was something.
    ///
    /// Objects that only code holds which is not recorded, and variables of closures that have not been called since, go
    /// with it, so that this is done only when there is much of it.
    pub(super) fn collect(&mut self, database: &Connection, cut: i64) -> Result<bool> {
        let reached = self.reach(database, cut)?;
        let before = self.slots.len();
        let mut dropped: HashSet<i64> = HashSet::new();
        self.slots.retain(|slot| {
            let stays = reached.contains(&slot.owner);
            if !stays {
                dropped.extend(slot.owner.as_object());
            }
            stays
        });
        let mut statement = database.prepare_cached("DELETE FROM objects WHERE id = ?")?;
        for object in &dropped {
            statement.execute([object])?;
        }
        Ok(self.slots.len() < before)
    }

    /// Drops texts and numbers that are no longer used and that a recorder would write again, once there are more than
    /// this many. How many there may be before the next time.
    pub(super) fn drop_atoms(database: &Connection, most: i64) -> Result<i64> {
        let count = || database.query_row("SELECT count(*) FROM atoms", [], |row| row.get::<_, i64>(0));
        if count()? <= most {
            return Ok(most);
        }
        database.execute_batch(
            "CREATE TEMP TABLE IF NOT EXISTS used (id INTEGER PRIMARY KEY); DELETE FROM used;",
        )?;
        for table in ["events", "writes"] {
            let used =
                format!("INSERT OR IGNORE INTO used SELECT value >> 3 FROM {table} WHERE value & 7 = 3");
            database.execute(&used, [])?;
        }
        // Functions, classes and modules are known for good.
        database.execute(
            "DELETE FROM atoms WHERE id NOT IN (SELECT id FROM used) AND text NOT LIKE '<%' AND id IN \
             (SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY type, id >> 26 ORDER BY id DESC) AS age FROM atoms) \
             WHERE age > ?)",
            [KNOWN],
        )?;
        Ok(MOST_ATOMS.max(2 * count()?))
    }

    /// What calls, modules, and kept events and writes lead to.
    fn reach(&self, database: &Connection, cut: i64) -> Result<HashSet<Owner>> {
        let mut next: HashMap<Owner, Vec<Owner>> = HashMap::new();
        for slot in &self.slots {
            next.entry(slot.owner).or_default().extend(self.led_to(slot.key, slot.word));
        }
        let mut statement = database.prepare("SELECT id, prototype FROM objects WHERE prototype > 0")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (object, prototype) = (Owner::object(row.get(0)?), Owner::object(row.get(1)?));
            next.entry(object).or_default().push(prototype);
        }
        let mut waiting: Vec<Owner> = calls(database)?.into_iter().map(Owner).collect();
        let mut statement =
            database.prepare_cached("SELECT owner, key, value FROM writes WHERE event >= ?")?;
        let mut rows = statement.query([cut])?;
        while let Some(row) = rows.next()? {
            waiting.push(Owner(row.get(0)?));
            waiting.extend(self.led_to(Key::of(row.get(1)?), Word::of(row.get(2)?)));
        }
        let objects = [
            "SELECT value >> 3 FROM events WHERE value & 7 = 4".to_owned(),
            format!(
                "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY id >> 26 ORDER BY id DESC) AS age FROM objects \
                 WHERE kind = {}) WHERE age <= {KNOWN}",
                Kind::TUPLE
            ),
        ];
        for objects in objects {
            let mut statement = database.prepare(&objects)?;
            let found = statement.query_map([], |row| Ok(Owner::object(row.get(0)?)))?;
            waiting.extend(found.collect::<rusqlite::Result<Vec<_>>>()?);
        }
        let mut reached = HashSet::new();
        while let Some(owner) = waiting.pop() {
            if reached.insert(owner) {
                waiting.extend(next.get(&owner).into_iter().flatten());
            }
        }
        Ok(reached)
    }

    /// The object in a slot, or the call around a closure.
    fn led_to(&self, key: Key, word: Word) -> Option<Owner> {
        match (word, key) {
            (Word::Object(object), _) => Some(Owner::object(object)),
            (Word::Integer(call), Key::Name(name)) if Some(name) == self.outer => Some(Owner(call << 1)),
            _ => None,
        }
    }
}

/// The owners of the variables of calls that are kept.
fn calls(database: &Connection) -> Result<HashSet<i64>> {
    let mut statement = database.prepare_cached("SELECT owner FROM calls")?;
    let owners = statement.query_map([], |row| row.get(0))?;
    Ok(owners.collect::<rusqlite::Result<_>>()?)
}
