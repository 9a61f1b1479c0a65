//! Values that a program sends while it runs.
//!
//! A breakpoint whose rule has a [`Record`] does not stop: at each hit the program evaluates the expressions
//! itself and writes a row. Rows come through a pipe that the program writes to directly, so that those of a
//! program that is killed are not lost, or, where it cannot open the pipe, by its debugger.
//!
//! The program's side is `debuggee/node/recorder.js` and `debuggee/python/stillframe_recorder.py`. Debuggers that can run our
//! code at a breakpoint write the rows in place of the program (`debuggee/java`, `debuggee/native`). A line is a
//! row `[id, hit, time, pid, thread, cells]`, a count `{"id", "writer", "hits"}`, or one of our marks.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::sync::watch;

use crate::deadlines;
use crate::error::{Error, Result};
use crate::lock::lock;
use crate::model::ids::BreakpointId;
pub use crate::model::record::{Cell, CellFormat, CellShape, Record, RowSink, SharedSink};
use crate::named_pipe::NamedPipe;

/// How many bytes of rows are kept. What comes after that is counted.
const BYTES: usize = 16 << 20;

/// How many counts are kept. A program that starts more processes than that is counted without the last of them.
const COUNTS: usize = 1 << 16;

/// One pass of a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The place.
    pub id: BreakpointId,
    /// Counts the passes of the place in its thread at which the condition held, from 1.
    pub hit: u64,
    /// Milliseconds since 1970, by the program's clock.
    pub time: f64,
    /// The process.
    pub pid: u32,
    /// The thread, as the language calls it.
    pub thread: String,
    /// One for each expression.
    pub cells: Vec<Cell>,
}

/// Who counts passes: the number of a process, and of what counts on its own in it, such as a thread of JavaScript.
pub type Writer = (u32, u64);

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedRows {
    /// In the order of their times.
    pub rows: Vec<Row>,
    /// How often each place was passed with its condition holding.
    pub hits: BTreeMap<BreakpointId, u64>,
    /// How many rows came after the limits were reached, and are not among `rows`.
    pub dropped: u64,
}

/// Takes rows in. Clones are the same recorder; the pipe is gone when the last one is.
#[derive(Clone, Debug)]
pub struct Recorder(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    table: Arc<RowStore>,
    marks: tokio::sync::Mutex<(pipe::Sender, u64)>,
    reader: tokio::task::AbortHandle,
}

#[derive(Debug)]
struct RowStore {
    limit: u64,
    /// The longest text of a value that a debugger writes, in characters.
    longest: usize,
    debuggers: Shape<OnceLock<CellShape>>,
    shape: Shape<Box<dyn Fn(Cell) -> Cell + Send + Sync>>,
    kept: Mutex<StoredRows>,
    /// How many rows have come, kept or not.
    rows: watch::Sender<u64>,
    /// The last mark that was read.
    mark: watch::Sender<u64>,
}

/// What is done with each cell that was written elsewhere.
struct Shape<T>(T);

impl<T> fmt::Debug for Shape<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Shape")
    }
}

#[derive(Debug, Default)]
struct StoredRows {
    rows: Vec<Row>,
    bytes: usize,
    dropped: u64,
    /// What writers have counted, by place and writer.
    counted: BTreeMap<(BreakpointId, Writer), u64>,
    /// The highest number of a row, by location and process: all that is known about a killed process. Python's
    /// threads count together, so their numbers are not summed.
    numbered: BTreeMap<(BreakpointId, u32), u64>,
    /// How many rows have come of each place.
    written: BTreeMap<BreakpointId, u64>,
}

/// A line, as it comes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Row(u32, u64, f64, u32, String, Vec<RawCell>),
    Count {
        id: u32,
        #[serde(deserialize_with = "writer")]
        writer: Writer,
        hits: u64,
    },
    Mark {
        mark: u64,
    },
}

/// Type (none for an error), text, and 1 for cut, 2 for JSON.
#[derive(Deserialize)]
struct RawCell(Option<String>, String, #[serde(default)] u8);

/// Reads `42/0`.
fn writer<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Writer, D::Error> {
    let text = String::deserialize(deserializer)?;
    let parts = text.split_once('/').and_then(|(pid, part)| Some((pid.parse().ok()?, part.parse().ok()?)));
    parts.ok_or_else(|| D::Error::custom("no writer"))
}

impl Recorder {
    /// Keeps at most `rows` rows and counts the rest.
    pub fn new(rows: u64) -> Result<Self> {
        Self::shaping(rows, usize::MAX, |cell| cell)
    }

    /// The same, where each cell that a program or its debugger writes is passed through `shape`. A debugger's texts are cut
    /// after `longest` characters.
    pub fn shaping(
        rows: u64,
        longest: usize,
        shape: impl Fn(Cell) -> Cell + Send + Sync + 'static,
    ) -> Result<Self> {
        let mut pipe = NamedPipe::new()?;
        let path = pipe.path().to_owned();
        let marks = pipe::OpenOptions::new().open_sender(&path).map_err(|error| Error::Environment {
            problem: format!("cannot write to the pipe `{}`: {error}", path.display()),
            remedy: "check that nothing removes files from the temporary folder".to_owned(),
        })?;
        let table = Arc::new(RowStore {
            limit: rows,
            longest,
            debuggers: Shape(OnceLock::new()),
            shape: Shape(Box::new(shape)),
            kept: Mutex::default(),
            rows: watch::Sender::new(0),
            mark: watch::Sender::new(0),
        });
        let read_into = Arc::clone(&table);
        let reader = tokio::spawn(async move {
            while let Some(line) = pipe.next_line().await {
                read_into.read(&line);
            }
        });
        let marks = tokio::sync::Mutex::new((marks, 0));
        let reader = reader.abort_handle();
        Ok(Self(Arc::new(Inner { path, table, marks, reader })))
    }

    /// Where programs write their lines.
    pub fn pipe(&self) -> &Path {
        &self.0.path
    }

    /// The same recorder, for the record of a breakpoint.
    pub fn sink(&self) -> SharedSink {
        SharedSink(Arc::<Inner>::clone(&self.0))
    }

    /// Adds a line that did not come through the pipe.
    pub fn read(&self, line: &str) {
        self.0.table.read(line);
    }

    /// Adds a row of a hit that was evaluated here.
    pub fn push(&self, row: Row) {
        self.0.table.push(row);
    }

    /// Records how often a place was hit so far in one thread or process, which `writer` names.
    pub fn count(&self, id: BreakpointId, writer: Writer, hits: u64) {
        self.0.table.count(id, writer, hits);
    }

    /// Waits until all rows that it keeps have arrived.
    pub async fn full(&self) {
        let mut rows = self.0.table.rows.subscribe();
        let limit = self.0.table.limit;
        // The sender lives as long as the recorder.
        let _ = rows.wait_for(|rows| *rows >= limit).await;
    }

    /// How many rows have come.
    pub fn len(&self) -> u64 {
        *self.0.table.rows.borrow()
    }

    /// No row has come.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until everything has been read that was written before.
    pub async fn sync(&self) {
        let mut marks = self.0.marks.lock().await;
        let (sender, last) = &mut *marks;
        *last += 1;
        let (line, wanted) = (format!("{{\"mark\":{last}}}\n"), *last);
        let mut seen = self.0.table.mark.subscribe();
        let passed = async {
            if sender.write_all(line.as_bytes()).await.is_ok() {
                let _ = seen.wait_for(|seen| *seen >= wanted).await;
            }
        };
        // A program that writes without end keeps the reader busy, and everything up to now has come by then.
        let _ = tokio::time::timeout(deadlines::DRAIN * 4, passed).await;
    }

    /// What has come. The rows are given away, because there may be many.
    pub fn take(&self) -> RecordedRows {
        let mut kept = lock(&self.0.table.kept);
        let rows = std::mem::take(&mut kept.rows);
        kept.bytes = 0;
        Self::all(&kept, rows)
    }

    /// What has come so far.
    pub fn recorded(&self) -> RecordedRows {
        let kept = lock(&self.0.table.kept);
        Self::all(&kept, kept.rows.clone())
    }

    fn all(kept: &StoredRows, mut rows: Vec<Row>) -> RecordedRows {
        rows.sort_by(|one, other| one.time.total_cmp(&other.time));
        let counted = sums(kept.counted.iter().map(|(&(id, (pid, _)), hits)| ((id, pid), *hits)));
        let mut known = kept.numbered.clone();
        for (process, counted) in counted {
            let known = known.entry(process).or_insert(0);
            *known = counted.max(*known);
        }
        let mut hits = sums(known.into_iter().map(|((id, _), hits)| (id, hits)));
        // A killed thread has not reported its count, but another one of its process may have it.
        for (id, rows) in &kept.written {
            let known = hits.entry(*id).or_insert(0);
            *known = (*rows).max(*known);
        }
        RecordedRows { rows, hits, dropped: kept.dropped }
    }
}

/// Changes a count, which begins at 0, unless there are too many of them.
fn update<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K, change: impl FnOnce(u64) -> u64) {
    if counts.len() < COUNTS || counts.contains_key(&key) {
        let count = counts.entry(key).or_insert(0);
        *count = change(*count);
    }
}

fn sums<K: Ord>(counts: impl Iterator<Item = (K, u64)>) -> BTreeMap<K, u64> {
    let mut sums = BTreeMap::new();
    for (key, count) in counts {
        // A program's data must not cause an overflow.
        let sum: &mut u64 = sums.entry(key).or_insert(0);
        *sum = sum.saturating_add(count);
    }
    sums
}

impl RowSink for Inner {
    fn pipe(&self) -> &Path {
        &self.path
    }

    fn read(&self, line: &str) {
        self.table.read(line);
    }

    fn shape(&self, shape: CellShape) {
        // All debuggers of a recorder are of one kind.
        let _ = self.table.debuggers.0.set(shape);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl RowStore {
    fn read(&self, line: &str) {
        match serde_json::from_str(line) {
            Ok(Line::Row(id, hit, time, pid, thread, cells)) => {
                let cells = cells.into_iter().map(|cell| self.shaped(cell.into())).collect();
                self.push(Row { id: BreakpointId(id), hit, time, pid, thread, cells });
            }
            Ok(Line::Count { id, writer, hits }) => self.count(BreakpointId(id), writer, hits),
            Ok(Line::Mark { mark }) => {
                self.mark.send_replace(mark);
            }
            Err(error) => tracing::warn!(%error, "skipped a malformed row"),
        }
    }

    fn shaped(&self, cell: Cell) -> Cell {
        let cell = match self.debuggers.0.get() {
            Some(shape) => shape(cell, self.longest),
            None => cell,
        };
        (self.shape.0)(cell)
    }

    fn push(&self, row: Row) {
        let mut kept = lock(&self.kept);
        update(&mut kept.numbered, (row.id, row.pid), |known| known.max(row.hit));
        update(&mut kept.written, row.id, |rows| rows + 1);
        if kept.bytes < BYTES && (kept.rows.len() as u64) < self.limit {
            kept.bytes += row.bytes();
            kept.rows.push(row);
        } else {
            kept.dropped += 1;
        }
        drop(kept);
        self.rows.send_modify(|rows| *rows += 1);
    }

    fn count(&self, id: BreakpointId, writer: Writer, hits: u64) {
        let mut kept = lock(&self.kept);
        update(&mut kept.counted, (id, writer), |known| known.max(hits));
    }
}

impl Row {
    fn bytes(&self) -> usize {
        let text = |cell: &Cell| match cell {
            Cell::Value { type_name, text, .. } => type_name.len() + text.len(),
            Cell::Error(message) => message.len(),
        };
        let cells: usize = self.cells.iter().map(|cell| size_of::<Cell>() + text(cell)).sum();
        size_of::<Self>() + self.thread.len() + cells
    }
}

impl From<RawCell> for Cell {
    fn from(RawCell(type_name, text, flags): RawCell) -> Self {
        match type_name {
            None => Self::Error(text),
            Some(type_name) => Self::Value { type_name, text, cut: flags & 1 != 0, json: flags & 2 != 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn write(recorder: &Recorder, text: &str) {
        let mut pipe = std::fs::OpenOptions::new().write(true).open(recorder.pipe()).unwrap();
        pipe.write_all(text.as_bytes()).unwrap();
    }

    #[tokio::test]
    async fn rows_arrive_through_the_pipe() {
        let recorder = Recorder::new(10).unwrap();
        write(
            &recorder,
            "[7,1,2.5,42,\"main\",[[\"number\",\"1\"],[null,\"Error: no\"],[\"string\",\"ab\",1]]]\n\
             {\"id\":7,\"writer\":\"42/0\",\"hits\":3}\nnonsense\n{\"id\":7,\"writer\":\"43/0\",\"hits\":4}\n",
        );
        recorder.sync().await;
        let RecordedRows { rows, hits, dropped } = recorder.recorded();
        let value = |type_name: &str, text: &str, cut| Cell::Value {
            type_name: type_name.to_owned(),
            text: text.to_owned(),
            cut,
            json: false,
        };
        let cells = vec![
            value("number", "1", false),
            Cell::Error("Error: no".to_owned()),
            value("string", "ab", true),
        ];
        let row = Row { id: BreakpointId(7), hit: 1, time: 2.5, pid: 42, thread: "main".to_owned(), cells };
        assert_eq!((rows, hits, dropped), (vec![row], BTreeMap::from([(BreakpointId(7), 7)]), 0));
    }

    #[tokio::test]
    async fn cells_from_elsewhere_are_shaped_and_our_own_are_not() {
        let recorder = Recorder::shaping(9, 3, |cell| match cell {
            Cell::Error(message) => Cell::Error(format!("shaped {message}")),
            value @ Cell::Value { .. } => value,
        })
        .unwrap();
        let debuggers = |cell, longest| Cell::Error(format!("{cell:?} up to {longest}").replace('"', ""));
        recorder.sink().shape(Box::new(debuggers));
        recorder.read("[1,1,1.0,41,\"one\",[[null,\"1\"]]]");
        let cell = Cell::Error("as it is".to_owned());
        let cells = vec![cell.clone()];
        recorder.push(Row { id: BreakpointId(1), hit: 2, time: 2.0, pid: 41, thread: String::new(), cells });
        let rows = recorder.recorded().rows;
        let cells: Vec<&Cell> = rows.iter().flat_map(|row| &row.cells).collect();
        assert_eq!(cells, [&Cell::Error("shaped Error(1) up to 3".to_owned()), &cell]);
    }

    #[tokio::test]
    async fn rows_beyond_the_limit_are_counted() {
        let recorder = Recorder::new(2).unwrap();
        for hit in 1..=5 {
            recorder.read(&format!("[1,{hit},{hit}.0,1,\"\",[]]"));
        }
        recorder.full().await;
        let recorded = recorder.recorded();
        assert_eq!((recorded.rows.len(), recorded.dropped, recorder.len()), (2, 3, 5));
    }

    #[tokio::test]
    async fn hits_are_the_reported_count_or_the_highest_row_number() {
        let recorder = Recorder::new(9).unwrap();
        for line in [
            // Two threads of Python count together, and this process was killed.
            "[1,1,1.0,41,\"one\",[]]",
            "[1,2,2.0,41,\"two\",[]]",
            // Two of JavaScript count on their own.
            "[1,5,1.0,42,\"main\",[]]",
            "{\"id\":1,\"writer\":\"42/0\",\"hits\":5}",
            "{\"id\":1,\"writer\":\"42/1\",\"hits\":3}",
        ] {
            recorder.read(line);
        }
        assert_eq!(recorder.recorded().hits, BTreeMap::from([(BreakpointId(1), 10)]));
    }

    #[tokio::test]
    async fn overflowing_counts_are_handled() {
        let recorder = Recorder::new(1).unwrap();
        for writer in ["1/0", "1/1", "2/0"] {
            recorder.read(&format!("{{\"id\":1,\"writer\":\"{writer}\",\"hits\":{}}}", u64::MAX));
        }
        assert_eq!(recorder.recorded().hits, BTreeMap::from([(BreakpointId(1), u64::MAX)]));
    }

    #[tokio::test]
    async fn endless_writers_do_not_exhaust_memory() {
        let recorder = Recorder::new(1).unwrap();
        recorder.read("{\"id\":1,\"writer\":\"somebody\",\"hits\":3}");
        for pid in 0..70_000 {
            recorder.count(BreakpointId(1), (pid, 0), 1);
        }
        recorder.count(BreakpointId(1), (7, 0), 2);
        assert_eq!(recorder.recorded().hits, BTreeMap::from([(BreakpointId(1), COUNTS as u64 + 1)]));
    }

    #[tokio::test]
    async fn rows_are_sorted_by_time() {
        let recorder = Recorder::new(9).unwrap();
        for (hit, time) in [(1, 3.0), (1, 1.0), (2, 3.0), (2, 2.0)] {
            recorder.read(&format!("[1,{hit},{time:?},1,\"\",[]]"));
        }
        let times: Vec<f64> = recorder.recorded().rows.iter().map(|row| row.time).collect();
        assert_eq!(times, [1.0, 2.0, 3.0, 3.0]);
    }

    #[tokio::test]
    async fn dropping_the_last_clone_removes_the_pipe() {
        let recorder = Recorder::new(1).unwrap();
        let (path, other) = (recorder.pipe().to_owned(), recorder.clone());
        drop(recorder);
        assert!(path.exists());
        drop(other);
        while path.exists() {
            tokio::task::yield_now().await;
        }
    }
}
