//! The entries of a journal, of all its files and of several programs, in the order of time.
//!
//! An index is in memory: where each entry is, its time, its kind and its session. The end of the journal is indexed
//! first, the rest by a separate thread. Entries are read on demand. The files stay open, so that rotated or deleted
//! ones can still be read.
//!
//! Reading order: `scan.rs` (a line, for the index), `indexing.rs`, `records.rs` (the index), `files.rs`,
//! `backward.rs` (what is there already), `follow.rs` with `forward.rs` (what is being written), `pairs.rs` and
//! `sessions.rs` (what belongs together), `servers.rs` (which servers still run), `lenient.rs` (a line, whole).

mod backward;
mod files;
mod follow;
mod forward;
mod indexing;
mod lenient;
mod names;
mod pairs;
mod records;
mod scan;
mod servers;
mod sessions;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use journal::Entry;

use self::backward::BackwardReader;
use self::follow::Follow;
use self::indexing::{Batch, Indexer};
use self::pairs::{Pair, Pairs};
pub(crate) use self::records::Detail;
use self::records::{NONE, Record, Records};
#[cfg(test)]
pub(crate) use self::servers::ended_process;
use self::sessions::Sessions;

/// How many entries are there when a journal is opened, if it has as many.
const SHOWN: usize = 4096;
/// How many blocks are read for that at most.
const BLOCKS: usize = 64;
/// How many older entries come at once.
const BATCH: usize = 8192;
/// How many such batches wait to be indexed.
const BATCHES: usize = 4;
/// About how many older entries one poll indexes.
const TAKEN: usize = 64 * 1024;
/// How many entries are known at most.
const MOST: usize = 2 * 1024 * 1024;
/// How many entries are kept that were read, and how long the lines of those may be, in bytes.
const CACHED: usize = 512;
const CACHED_LENGTH: u32 = 32 * 1024;

/// How often it is checked whether servers still exist.
const LOOK: Duration = Duration::from_secs(1);
/// The state of a session whose server is gone without having closed it.
pub(crate) const LOST: &str = "lost";

/// The entries of all files of a journal, by their numbers, in the order of time.
#[derive(Debug)]
pub struct Log {
    indexer: Indexer,
    follow: Follow,
    /// What the thread reads that goes through what is older; none when it is done.
    older: Option<Receiver<Batch>>,
    records: Records,
    /// The place of the first record. Places stay as they are when numbers move.
    front: i64,
    pairs: Pairs,
    sessions: Sessions,
    /// The places of the calls that go on, by their sessions; of several in one session, the last.
    going_on: HashMap<u32, i64>,
    /// Entries that were there already turned out to be effects of a call.
    is_regrouped: bool,
    skipped: usize,
    /// When it was last checked whether servers still exist.
    looked: Option<Instant>,
    cache: Mutex<VecDeque<(i64, Arc<Entry>)>>,
}

/// What came with a [`Log::poll`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Poll {
    /// This many entries are new at the end.
    pub added: usize,
    /// This many older entries were added before the others: all numbers have moved up by it.
    pub prepended: usize,
    /// This many of the oldest were forgotten, because there are too many: all numbers have moved down by it.
    pub removed: usize,
    /// Everything that is in the files is here. Before, older parts are still being read.
    pub is_complete: bool,
    /// The server of a session is gone.
    pub is_lost: bool,
    /// Entries that were there already turned out to be effects of a call.
    pub is_regrouped: bool,
}

/// What is known about an entry without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// When, in milliseconds since 1970.
    pub timestamp: i64,
    /// What it is about.
    pub kind: Kind,
    /// Its session, as an index into [`Log::sessions`] that holds until the next poll.
    pub session: Option<usize>,
    /// A tool failed, or an exception stopped the program.
    pub is_error: bool,
    /// The program was suspended.
    pub is_stop: bool,
    /// The number of the answer to a call, or of the call to an answer.
    pub partner: Option<usize>,
    /// The number of the call during which it happened, in the session of that call.
    pub call: Option<usize>,
}

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A tool is called.
    Call,
    /// A tool has answered.
    Response,
    /// A tool has failed.
    Failure,
    /// A program does something else than before.
    State,
    /// A breakpoint was set, verified, hit or removed.
    Breakpoint,
    /// Variables were read.
    Variables,
    /// A session was opened.
    Created,
    /// A session was closed.
    Closed,
    /// An editor can attach to a session, or no longer can.
    Exposure,
    /// A program wrote something.
    Output,
    /// Entries are missing.
    Dropped,
    /// Something that this version does not know.
    Other,
}

/// A session, as far as the journal was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedSession {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its language; empty until the entry of its creation was read.
    pub language: String,
    /// The number of its first entry.
    pub first: usize,
    /// The number of its last entry.
    pub last: usize,
    /// `created`, `paused`, `running`, `stopped` (its program has ended), `closed` or `lost` (its server is gone).
    pub state: &'static str,
    /// The process id of its server, if the journal has it.
    pub server: Option<u32>,
}

impl Log {
    /// Opens a journal: the file of that path, those that were set aside (`x.log.1`), and those of other programs
    /// beside it (`x.2.log`). Returns as soon as the end can be shown; what is older comes with [`Log::poll`]. A path
    /// that is not there yet is an empty log. Fails for a folder, and where the file or its folder cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let indexer = Indexer::default();
        let (follow, mut backward) = Follow::open(path)?;
        let mut log = Self {
            indexer: indexer.clone(),
            follow,
            older: None,
            records: Records::default(),
            front: 0,
            pairs: Pairs::default(),
            sessions: Sessions::default(),
            going_on: HashMap::new(),
            is_regrouped: false,
            skipped: 0,
            looked: None,
            cache: Mutex::default(),
        };
        log.put_behind(&backward.next(SHOWN, BLOCKS, &indexer));
        log.look_for_servers();
        if !backward.is_done() {
            let (sender, older) = sync_channel(BATCHES);
            let reading = move || read_older(&mut backward, &indexer, |batch| sender.send(batch).is_ok());
            std::thread::Builder::new().name("older entries".to_owned()).spawn(reading)?;
            log.older = Some(older);
        }
        Ok(log)
    }

    /// Indexes what was written since, and older entries that were read meanwhile. Does a bounded amount of work.
    pub fn poll(&mut self) -> Poll {
        let prepended = self.take_older();
        let batch = self.follow.take(&self.indexer);
        self.put_behind(&batch);
        let removed = self.records.forget(MOST);
        if removed > 0 {
            self.front += place(removed);
            self.sessions.forget(removed);
        }
        self.sessions.sort();
        let is_complete = self.older.is_none() && !self.follow.has_more();
        let is_lost = self.looked.is_none_or(|looked| looked.elapsed() >= LOOK) && self.look_for_servers();
        let is_regrouped = std::mem::take(&mut self.is_regrouped);
        Poll { added: batch.entries.len(), prepended, removed, is_complete, is_lost, is_regrouped }
    }

    fn look_for_servers(&mut self) -> bool {
        self.looked = Some(Instant::now());
        let records = &self.records;
        self.sessions.look_for_servers(|number| records.get(number).map_or(0, |record| record.timestamp))
    }

    /// Indexes everything that is in the files now, however long it takes.
    pub fn complete(&mut self) {
        while let Some(Ok(batch)) = self.older.as_ref().map(Receiver::recv) {
            self.take_batch(&batch);
        }
        while !self.poll().is_complete {}
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is known about an entry without reading it.
    pub fn summary(&self, number: usize) -> Option<Summary> {
        let record = self.records.get(number)?;
        let distance = isize::try_from(record.partner).ok().filter(|distance| *distance != 0);
        let other = distance.and_then(|distance| number.checked_add_signed(distance));
        Some(Summary {
            timestamp: record.timestamp,
            kind: record.kind,
            session: self.sessions.place(record.session),
            is_error: matches!(record.detail, Detail::Failed | Detail::Thrown),
            is_stop: matches!(record.detail, Detail::Paused | Detail::Thrown),
            partner: other.filter(|_| record.is_half()),
            call: other.filter(|_| !record.is_half()),
        })
    }

    /// An entry, read from its file. None for what this version does not know, and what is gone or broken.
    pub fn entry(&self, number: usize) -> Option<Arc<Entry>> {
        let record = self.records.get(number)?;
        if record.kind == Kind::Other {
            return None;
        }
        let place = self.front + place(number);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, entry)) = cache.iter().rev().find(|(cached, _)| *cached == place) {
            return Some(Arc::clone(entry));
        }
        let entry = Arc::new(lenient::entry(&self.line(record)?, record.timestamp)?);
        if record.length <= CACHED_LENGTH {
            if cache.len() >= CACHED {
                cache.pop_front();
            }
            cache.push_back((place, Arc::clone(&entry)));
        }
        Some(entry)
    }

    /// The line of an entry in the file, unmodified, including control characters. None if it is gone.
    pub fn raw(&self, number: usize) -> Option<String> {
        let line = self.line(self.records.get(number)?)?;
        Some(String::from_utf8_lossy(&line).into_owned())
    }

    /// The position of an entry: a stable number for it, however many older entries are added or removed.
    pub fn place(&self, number: usize) -> i64 {
        self.front + place(number)
    }

    /// The number of the entry at a position. None if there is no entry there, or not yet, or no longer.
    pub fn number(&self, place: i64) -> Option<usize> {
        let number = usize::try_from(place.checked_sub(self.front)?).ok()?;
        (number < self.len()).then_some(number)
    }

    /// The sessions, in the order of their first entries.
    pub fn sessions(&self) -> &[LoggedSession] {
        self.sessions.all()
    }

    /// The index of a session given by its ID, the beginning of its ID, its name, or `last` for the one opened last.
    /// A name of several means the last of them. The error lists the sessions.
    pub fn find_session(&self, wanted: &str) -> Result<usize, String> {
        sessions::find(self.sessions(), wanted)
    }

    /// How many lines were skipped because they are not entries, or too long.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// The entries of a session before a number, that one included, newest first: their numbers and what they are
    /// about.
    pub(crate) fn back(
        &self,
        session: usize,
        number: usize,
    ) -> impl Iterator<Item = (usize, Kind, Detail)> + '_ {
        let name = self.sessions.number(session);
        let first = self.sessions().get(session).map_or(usize::MAX, |known| known.first);
        let last = number.min(self.len().saturating_sub(1));
        let numbers = (first <= last).then_some((first..=last).rev()).into_iter().flatten();
        numbers.filter_map(move |number| {
            let record = self.records.get(number).filter(|record| record.session == name && name != NONE)?;
            Some((number, record.kind, record.detail))
        })
    }

    /// The numbers of what happened in a session during a call there.
    pub(crate) fn effects(&self, call: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let summary = self.summary(call).filter(|summary| summary.kind == Kind::Call);
        let last = |summary: Summary| match summary.partner {
            Some(answer) => Some(answer),
            None => self.sessions().get(summary.session?).map(|known| known.last + 1),
        };
        let end = summary.and_then(last).unwrap_or(call);
        (call + 1..end).filter(move |number| self.summary(*number).is_some_and(|one| one.call == Some(call)))
    }

    /// The numbers of a session's entries, in their order, and where entries of any session may be missing.
    pub(crate) fn of_session(&self, session: usize) -> impl Iterator<Item = usize> + '_ {
        let name = self.sessions.number(session);
        let span = self.sessions().get(session).map_or(0..0, |known| known.first..known.last + 1);
        let is_of_it = move |number: &usize| {
            let record = self.records.get(*number);
            record.is_some_and(|one| one.session == name || one.kind == Kind::Dropped)
        };
        span.filter(is_of_it)
    }

    fn line(&self, record: &Record) -> Option<Vec<u8>> {
        let line = self.follow.file(record.file)?.read(record.offset, usize::try_from(record.length).ok()?);
        line.ok().filter(|line| line.len() as u64 == u64::from(record.length))
    }

    fn put_behind(&mut self, batch: &Batch) {
        self.skipped += batch.skipped;
        for entry in &batch.entries {
            let number = self.records.len();
            self.records.push_back(entry.record);
            self.sessions.push_back(number, &entry.record, &self.indexer);
            let pair = self.pairs.push_back(entry.record.kind, entry.call, self.front + place(number));
            self.join(pair.into_iter());
            self.follow_calls(number);
        }
    }

    /// Links an entry at the end to the running call.
    fn follow_calls(&mut self, number: usize) {
        let place = self.front + place(number);
        let Some(record) = self.records.get_mut(number).filter(|record| record.session != NONE) else {
            return;
        };
        match record.kind {
            Kind::Call => drop(self.going_on.insert(record.session, place)),
            Kind::Response | Kind::Failure => {
                let call = place + i64::from(record.partner);
                if self.going_on.get(&record.session) == Some(&call) {
                    self.going_on.remove(&record.session);
                }
            }
            _ => {
                let call = self.going_on.get(&record.session);
                record.partner =
                    call.and_then(|call| i32::try_from(call - place).ok()).unwrap_or(record.partner);
            }
        }
    }

    fn take_older(&mut self) -> usize {
        let mut taken = 0;
        while let Some(older) = self.older.as_ref().filter(|_| taken < TAKEN) {
            match older.try_recv() {
                Ok(batch) => taken += self.take_batch(&batch),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.older = None,
            }
        }
        if self.older.is_none() {
            self.pairs.begins_here();
        }
        taken
    }

    /// Adds older entries; none once the maximum is reached.
    fn take_batch(&mut self, batch: &Batch) -> usize {
        self.put_in_front(batch);
        if self.records.len() > MOST - BATCH {
            self.older = None;
        }
        batch.entries.len()
    }

    fn put_in_front(&mut self, batch: &Batch) {
        self.skipped += batch.skipped;
        self.sessions.move_up(batch.entries.len());
        self.front -= place(batch.entries.len());
        for entry in batch.entries.iter().rev() {
            self.records.push_front(entry.record);
        }
        for (number, entry) in batch.entries.iter().enumerate().rev() {
            self.sessions.push_front(number, &entry.record, &self.indexer);
        }
        let entries = batch.entries.iter().zip(self.front..);
        let entries = entries.map(|(entry, place)| (entry.record.kind, entry.call, place));
        let mut pairs = Vec::new();
        self.pairs.put_in_front(entries, |pair| pairs.push(pair));
        self.join(pairs.into_iter());
    }

    /// Lets calls and their answers know of each other. A call that opened a session belongs to it, as its answer
    /// says.
    fn join(&mut self, pairs: impl Iterator<Item = Pair>) {
        for (call, answer) in pairs {
            let number = |place: i64| usize::try_from(place - self.front).ok();
            let (Some(call), Some(end)) = (number(call), number(answer)) else { continue };
            let Ok(distance) = i32::try_from(end.abs_diff(call)) else { continue };
            let Some(answer) = self.records.get_mut(end) else { continue };
            answer.partner = -distance;
            let session = answer.session;
            let Some(record) = self.records.get_mut(call) else { continue };
            record.partner = distance;
            if record.session == NONE {
                record.session = session;
                self.sessions.begins(session, call);
            }
            let session = record.session;
            for (number, distance) in (call + 1..end).zip(1..) {
                let record = self.records.get_mut(number);
                let is_effect =
                    |one: &&mut Record| one.session == session && one.partner == 0 && !one.is_half();
                if let Some(effect) = record.filter(|one| session != NONE && is_effect(one)) {
                    effect.partner = -distance;
                    self.is_regrouped = true;
                }
            }
        }
    }
}

fn read_older(backward: &mut BackwardReader, indexer: &Indexer, hand_on: impl Fn(Batch) -> bool) {
    while !backward.is_done() {
        if !hand_on(backward.next(BATCH, BLOCKS, indexer)) {
            break;
        }
    }
}

/// A count of entries, as far as places go.
fn place(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
