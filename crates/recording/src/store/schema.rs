//! The tables of a recording.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, params};

use crate::error::Result;

/// The version of the tables.
pub(crate) const VERSION: &str = "1";

/// How often it is tried to make one file of a recording that another process has open, and how long it waits between.
const TRIES: usize = 300;
const PAUSE: Duration = Duration::from_millis(10);

/// Values are encoded as `value.rs` reads them. The views are for people who open the file with other tools.
const TABLES: &str = "
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT);
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT, text TEXT);
CREATE TABLE codes (id INTEGER PRIMARY KEY, file INTEGER, name INTEGER, line INTEGER);
CREATE TABLE places (id INTEGER PRIMARY KEY, code INTEGER, line INTEGER);
CREATE TABLE threads (id INTEGER PRIMARY KEY, name INTEGER);
CREATE TABLE calls (id INTEGER PRIMARY KEY, code INTEGER, owner INTEGER, caller INTEGER, caller_place INTEGER,
                    thread INTEGER, entered INTEGER, ended INTEGER);
CREATE TABLE events (id INTEGER PRIMARY KEY, kind INTEGER, call INTEGER, place INTEGER, value INTEGER);
CREATE TABLE writes (id INTEGER PRIMARY KEY, event INTEGER, since INTEGER, owner INTEGER, key INTEGER, value INTEGER);
CREATE TABLE objects (id INTEGER PRIMARY KEY, type INTEGER, kind INTEGER, prototype INTEGER);
CREATE TABLE atoms (id INTEGER PRIMARY KEY, type INTEGER, flags INTEGER, text TEXT);
CREATE TABLE output (event INTEGER, call INTEGER, stream INTEGER, text TEXT);
CREATE TABLE clock (event INTEGER, milliseconds INTEGER);
CREATE VIEW lines AS
    SELECT events.id AS event, files.path AS file, places.line AS line, texts.text AS function, events.call AS call
    FROM events JOIN places ON places.id = events.place JOIN codes ON codes.id = places.code
    JOIN files ON files.id = codes.file JOIN texts ON texts.id = codes.name WHERE events.kind = 0;
CREATE VIEW variables AS
    SELECT writes.event AS event, calls.id AS call, names.text AS name,
           CASE value & 7 WHEN 1 THEN value >> 3 WHEN 3 THEN atoms.text WHEN 4 THEN 'object ' || (value >> 3)
           ELSE CASE value >> 3 WHEN 0 THEN 'none' WHEN 1 THEN 'true' WHEN 2 THEN 'false' WHEN 4 THEN 'undefined' END END AS value
    FROM writes JOIN calls ON calls.owner = writes.owner JOIN texts AS names ON names.id = writes.key >> 2
    LEFT JOIN atoms ON writes.value & 7 = 3 AND atoms.id = writes.value >> 3 WHERE writes.key & 3 = 0;
";

const INDEXES: &str = "
CREATE INDEX IF NOT EXISTS writes_of_owner ON writes (owner, key);
CREATE INDEX IF NOT EXISTS resumptions ON events (call) WHERE kind IN (6, 14);
";

/// Makes a database. What is committed survives this process; it need not survive the machine.
pub(super) fn create(path: &Path) -> Result<Connection> {
    let database = Connection::open(path)?;
    database
        .execute_batch("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;")?;
    database.execute_batch(TABLES)?;
    database.set_prepared_statement_cache_capacity(32);
    set_facts(&database, &[("version", VERSION.to_owned())])?;
    Ok(database)
}

/// Facts about the run.
pub(super) fn set_facts(database: &Connection, facts: &[(&str, String)]) -> Result<()> {
    for (name, value) in facts {
        database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", params![name, value])?;
    }
    Ok(())
}

/// Makes one file of it that can be searched.
pub(crate) fn finish(database: &Connection) -> Result<()> {
    database.execute_batch(INDEXES)?;
    // Another process may be looking at it, for which SQLite does not wait here.
    for _ in 0..TRIES {
        match database.execute_batch("PRAGMA journal_mode = DELETE;") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                std::thread::sleep(PAUSE);
            }
            done => return Ok(done?),
        }
    }
    // It can be read with the files beside it, too.
    Ok(())
}

/// Opens one to be read. One whose writer was killed is completed first.
pub(crate) fn read_back(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags)?;
    let has_index: bool = database.query_row(
        "SELECT count(*) > 0 FROM sqlite_master WHERE name = 'writes_of_owner'",
        [],
        |row| row.get(0),
    )?;
    if !has_index {
        finish(&database)?;
    }
    database.set_prepared_statement_cache_capacity(32);
    // 32 MB: answers read the same pages many times.
    database.execute_batch("PRAGMA cache_size = -32768")?;
    Ok(database)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_finished_while_another_process_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recording.sqlite");
        let database = create(&path).unwrap();
        let other = Connection::open(&path).unwrap();
        let count = |database: &Connection| {
            database.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, i64>(0))
        };
        assert_eq!(count(&other).unwrap(), 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // sleep: it goes on looking for a while.
                std::thread::sleep(3 * PAUSE);
                drop(other);
            });
            finish(&database).unwrap();
        });
        drop(database);
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!((files, count(&read_back(&path).unwrap()).unwrap()), (1, 0));
    }
}
