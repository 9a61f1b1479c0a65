//! From whole lines to records.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use memchr::memchr_iter;

use super::Kind;
use super::names::Names;
use super::records::{Detail, NONE, Record};
use super::scan::{Scan, scan};

/// An entry of a file, as indexed.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexedEntry {
    pub(super) record: Record,
    /// By what files are merged: like the timestamp, but never against the order of its file.
    pub(super) key: i64,
    /// The same for a call and its answer, and for nothing else.
    pub(super) call: u64,
}

/// Lines that were read.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// In the order of the file, or in that of time where it is of several.
    pub(super) entries: Vec<IndexedEntry>,
    /// How many lines are not entries.
    pub(super) skipped: usize,
}

/// Makes records. Clones know the same sessions.
#[derive(Clone, Debug, Default)]
pub(super) struct Indexer {
    names: Arc<Mutex<Names>>,
    hasher: RandomState,
}

impl Indexer {
    /// Checks the names.
    pub(super) fn with_names<T>(&self, look: impl FnOnce(&Names) -> T) -> T {
        look(&self.names.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Goes through lines that are whole. `offset` is where they begin in the file.
    pub(super) fn index(&self, file: u16, offset: u64, lines: &[u8], batch: &mut Batch) {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let mut start = 0;
        for end in memchr_iter(b'\n', lines) {
            let line = lines.get(start..end).unwrap_or_default();
            let offset = offset + start as u64;
            start = end + 1;
            match scan(line) {
                Some(entry) => {
                    let length = u32::try_from(line.len()).unwrap_or(u32::MAX);
                    batch.entries.push(self.indexed(&entry, file, offset, length, &mut names));
                }
                None if line.trim_ascii().is_empty() => {}
                None => batch.skipped += 1,
            }
        }
    }

    fn indexed(
        &self,
        entry: &Scan<'_>,
        file: u16,
        offset: u64,
        length: u32,
        names: &mut Names,
    ) -> IndexedEntry {
        let kind = entry.kind();
        let timestamp = entry.timestamp.unwrap_or(0);
        let session = names.number(entry).unwrap_or(NONE);
        let detail = detail(kind, entry);
        let record = Record { timestamp, offset, length, session, partner: 0, file, kind, detail };
        IndexedEntry { record, key: timestamp, call: self.call(kind, entry) }
    }

    /// Calls have ids. Where they have none, those of one session and tool are answered in their order.
    fn call(&self, kind: Kind, entry: &Scan<'_>) -> u64 {
        if !matches!(kind, Kind::Call | Kind::Response | Kind::Failure) {
            return 0;
        }
        let mut hasher = self.hasher.build_hasher();
        match entry.call_id {
            Some(id) => (1_u8, id).hash(&mut hasher),
            None => (2_u8, entry.session_id, entry.tool).hash(&mut hasher),
        }
        hasher.finish()
    }
}

fn detail(kind: Kind, entry: &Scan<'_>) -> Detail {
    match (kind, entry.event.unwrap_or_default()) {
        (Kind::Failure, _) => Detail::Failed,
        (Kind::Response, _) if entry.success == Some(false) => Detail::Failed,
        (Kind::State, b"paused") if entry.reason == Some(b"exception") => Detail::Thrown,
        (Kind::State, b"paused") => Detail::Paused,
        (Kind::State, b"running") => Detail::Running,
        (Kind::State, b"stopped") => Detail::Stopped,
        (Kind::Breakpoint, b"hit") => Detail::Hit,
        _ => Detail::None,
    }
}
