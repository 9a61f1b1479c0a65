//! The record of everything that happens: lines of JSON in a file, which a person can watch or read later.
//!
//! Recording passes an [`Entry`] to a queue and returns; a separate thread redacts, writes, and rotates full files.
//! Entries that arrive faster than that are counted and dropped. A journal that cannot be written costs one warning,
//! never a session.
//!
//! What makes a program's text safe to keep and to show is here too: [`redaction`], [`visible`]; and what must be kept
//! out of it: [`Secret`].

pub mod entry;
mod files;
mod lines;
mod outputs;
pub mod redaction;
mod secret;
pub mod truncation;
pub mod visible;
mod windows;
mod writer;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use etcetera::BaseStrategy;

pub use self::entry::{Entry, Event};
pub use self::lines::whole_lines;
pub use self::outputs::{Category, Outputs};
use self::redaction::Redaction;
pub use self::secret::Secret;
use self::writer::{Destination, Message, Writer};

/// How many entries wait at most.
const QUEUE: usize = 4096;
/// How long the end of a program waits for the last entries to be written. Only a disk that hangs, or a machine that
/// is very busy, takes so long; the first entries wait for the expressions that credentials are found by.
const FLUSH: Duration = Duration::from_secs(5);
/// How long it waits for room among those that wait.
const RETRY: Duration = Duration::from_millis(2);
/// Where a journal is, below the folder for what belongs to a user and is not theirs to edit.
const PLACE: &str = "stillframe/logs/debug-mcp-server.log";

/// Where a journal is written, and how much of it is kept.
#[derive(Clone, Debug)]
pub struct Options {
    /// The file. A second program that writes at the same time takes `NAME.2.log` beside it, and so on.
    pub path: PathBuf,
    /// A file that has reached this size is set aside as `NAME.log.1`, in bytes.
    pub file_size: u64,
    /// How many files are set aside.
    pub kept: usize,
    /// Reads the sources that are shown around a place.
    pub sources: SourceReader,
}

/// Reads the lines of a source file; none when it cannot be read, or must not.
#[derive(Clone)]
pub struct SourceReader(Arc<ReadLines>);

type ReadLines = dyn Fn(&Path) -> Option<Vec<String>> + Send + Sync;

impl SourceReader {
    /// Reads by this function.
    pub fn new(read: impl Fn(&Path) -> Option<Vec<String>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }
}

impl std::fmt::Debug for SourceReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SourceReader")
    }
}

/// The default folder of journals: in the user's state folder, such as `~/.local/state`. None without a home.
pub fn default_path() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.state_dir().unwrap_or_else(|| base.data_dir()).join(PLACE))
}

/// Where records go. Clones are the same journal.
#[derive(Clone, Debug, Default)]
pub struct Journal(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    queue: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
    calls: AtomicU64,
    /// The path that is written to, once it is known.
    path: Arc<OnceLock<PathBuf>>,
}

impl Journal {
    /// Keeps nothing.
    pub fn none() -> Self {
        Self(None)
    }

    /// Begins to write. The file is opened beside the caller; one that cannot be written costs a warning.
    pub fn open(options: Options) -> Self {
        let sources = options.sources.clone();
        Self::start(Destination::Files(options, None), sources)
    }

    /// Begins to write to another program, which keeps the journal: the lines that a file would have.
    pub fn stream(stream: impl Write + Send + 'static, sources: SourceReader) -> Self {
        Self::start(Destination::Stream(Box::new(stream)), sources)
    }

    fn start(destination: Destination, sources: SourceReader) -> Self {
        let (queue, entries) = sync_channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let path = Arc::new(OnceLock::new());
        let redaction = Redaction::local();
        let writer = Writer::new(destination, sources, redaction, Arc::clone(&dropped), Arc::clone(&path));
        let started =
            std::thread::Builder::new().name("journal".to_owned()).spawn(move || writer.run(&entries));
        if let Err(error) = started {
            tracing::warn!(%error, "no journal: cannot start its thread");
            return Self::none();
        }
        Self(Some(Arc::new(Shared { queue, dropped, calls: AtomicU64::new(0), path })))
    }

    /// Whether anything is kept.
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// The file, once it is open.
    pub fn path(&self) -> Option<&Path> {
        self.0.as_ref()?.path.get().map(PathBuf::as_path)
    }

    /// Records. It never waits: when too much waits already, the entry is counted and left out.
    pub fn record(&self, entry: Entry) {
        let Some(shared) = &self.0 else { return };
        if let Err(TrySendError::Full(_)) = shared.queue.try_send(Message::Entry(Box::new(entry))) {
            shared.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A new id for a call, which no other call of any program has.
    pub fn next_call(&self) -> String {
        static PROCESS: OnceLock<String> = OnceLock::new();
        let process = PROCESS.get_or_init(|| uuid::Uuid::new_v4().simple().to_string());
        let number = self.0.as_ref().map_or(0, |shared| shared.calls.fetch_add(1, Ordering::Relaxed) + 1);
        format!("{}-{number}", process.get(..16).unwrap_or(process))
    }

    /// Waits until everything so far is written, at most for five seconds.
    pub fn flush(&self) {
        let Some(shared) = &self.0 else { return };
        let (done, heard) = sync_channel(1);
        let until = Instant::now() + FLUSH;
        let mut message = Message::Flush(done);
        while let Err(TrySendError::Full(unsent)) = shared.queue.try_send(message) {
            if Instant::now() >= until {
                return;
            }
            message = unsent;
            std::thread::sleep(RETRY);
        }
        let _ = heard.recv_timeout(until.saturating_duration_since(Instant::now()));
    }

    /// What is recorded of one session.
    pub fn of_session(&self, id: &str, name: &str) -> SessionJournal {
        let session = self.is_kept().then(|| Arc::new((id.to_owned(), truncation::text(name))));
        SessionJournal { journal: self.clone(), session }
    }
}

/// Where the records of one session go. Clones are the same journal.
#[derive(Clone, Debug, Default)]
pub struct SessionJournal {
    journal: Journal,
    session: Option<Arc<(String, String)>>,
}

impl SessionJournal {
    /// Whether anything is kept.
    pub fn is_kept(&self) -> bool {
        self.journal.is_kept()
    }

    /// Records what happens now.
    pub fn record(&self, event: Event) {
        self.record_at(jiff::Timestamp::now(), event);
    }

    /// Records what happened at a moment.
    pub fn record_at(&self, time: jiff::Timestamp, event: Event) {
        if let Some(session) = &self.session {
            self.journal.record(Entry::at(time, Some((**session).clone()), event));
        }
    }
}

#[cfg(test)]
mod tests;
