//! The entries of a journal, of all its files and of several programs, in the order of time.

use std::io;
use std::path::Path;
use std::sync::Arc;

use engine::journal::Entry;

/// The entries of all files of a journal, by their numbers, in the order of time.
#[derive(Debug)]
pub struct Log;

/// What came with a [`Log::poll`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Poll {
    /// So many entries are new at the end.
    pub added: usize,
    /// So many older entries were put in front: all numbers have moved up by it.
    pub prepended: usize,
    /// So many of the oldest were forgotten, because there are too many: all numbers have moved down by it.
    pub removed: usize,
    /// Everything that is in the files is here. Before, older parts are still being read.
    pub is_complete: bool,
}

/// What is known of an entry without reading it.
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
    /// A program wrote something.
    Output,
    /// Entries are missing.
    Dropped,
    /// Something that this version does not know.
    Other,
}

/// A session, as far as the journal was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
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
    /// `created`, `paused`, `running`, `stopped` (its program has ended) or `closed`.
    pub state: &'static str,
}

impl Log {
    /// Opens a journal: the file of that path, those that were set aside (`x.log.1`), and those of other programs
    /// beside it (`x.2.log`). Returns as soon as the end can be shown; what is older comes with [`Log::poll`]. A path
    /// that is not there yet is an empty log.
    pub fn open(path: &Path) -> io::Result<Self> {
        let _ = path;
        Ok(Self)
    }

    /// Takes up what was written since, and older entries that were read meanwhile. Does a bounded amount of work.
    pub fn poll(&mut self) -> Poll {
        Poll::default()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is known of an entry without reading it.
    pub fn summary(&self, number: usize) -> Option<Summary> {
        let _ = number;
        None
    }

    /// An entry, read from its file. None for what this version does not know, and what is gone or broken.
    pub fn entry(&self, number: usize) -> Option<Arc<Entry>> {
        let _ = number;
        None
    }

    /// The line of an entry as it is in the file, with everything in it, control characters too. None when it is gone.
    pub fn raw(&self, number: usize) -> Option<String> {
        let _ = number;
        None
    }

    /// The sessions, in the order of their first entries.
    pub fn sessions(&self) -> &[Known] {
        &[]
    }

    /// The index of a session that is named by its id, the beginning of its id, its name, or `last` for the one that
    /// was opened last. The error says, for people, which there are.
    pub fn find_session(&self, wanted: &str) -> Result<usize, String> {
        let _ = wanted;
        Err(String::new())
    }

    /// How many lines were left out because they are no entries, or too long.
    pub fn skipped(&self) -> usize {
        0
    }
}
