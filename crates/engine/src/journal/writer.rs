//! The thread that writes.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::Options;
use super::entry::{Dropped, Entry, Event};
use super::files::Files;
use super::windows::Windows;
use crate::redaction::Redaction;

/// How many bytes are written at once.
const BLOCK: usize = 256 * 1024;
/// After a failure, so long nothing is tried.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is asked of it.
pub(super) enum Message {
    /// Write this.
    Entry(Box<Entry>),
    /// Say when everything before is written.
    Flush(SyncSender<()>),
}

pub(super) struct Writer {
    options: Options,
    redaction: Redaction,
    windows: Windows,
    dropped: Arc<AtomicU64>,
    path: Arc<OnceLock<PathBuf>>,
    files: Option<Files>,
    /// Whole lines that are not written yet.
    lines: Vec<u8>,
    /// How many they are.
    waiting: u64,
    has_warned: bool,
    failed: Option<Instant>,
}

impl Writer {
    pub(super) fn new(
        options: Options,
        redaction: Redaction,
        dropped: Arc<AtomicU64>,
        path: Arc<OnceLock<PathBuf>>,
    ) -> Self {
        Self {
            options,
            redaction,
            windows: Windows::default(),
            dropped,
            path,
            files: None,
            lines: Vec::new(),
            waiting: 0,
            has_warned: false,
            failed: None,
        }
    }

    /// Writes until nobody records any more. Whatever waits is written together.
    pub(super) fn run(mut self, entries: &Receiver<Message>) {
        while let Ok(first) = entries.recv() {
            self.take(first);
            while let Ok(next) = entries.try_recv() {
                self.take(next);
            }
            self.write();
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Entry(mut entry) => {
                if let Event::State(state) = &mut entry.event {
                    state.source = state.location.as_ref().and_then(|at| self.windows.around(at));
                }
                let missing = self.dropped.swap(0, Ordering::Relaxed);
                if missing > 0 {
                    self.add(&Entry::now(None, Event::Dropped(Dropped { count: missing })));
                }
                self.add(&entry);
                if self.lines.len() >= BLOCK {
                    self.write();
                }
            }
            Message::Flush(done) => {
                self.write();
                let _ = done.send(());
            }
        }
    }

    /// Puts an entry behind the lines that wait, its secrets hidden.
    fn add(&mut self, entry: &Entry) {
        let Ok(mut value) = serde_json::to_value(entry) else { return };
        self.redaction.clean(&mut value);
        if serde_json::to_writer(&mut self.lines, &value).is_ok() {
            self.lines.push(b'\n');
            self.waiting += 1;
        }
    }

    /// Writes the lines that wait. Those that cannot be written are counted and given up.
    fn write(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        let result = if self.failed.is_some_and(|when| when.elapsed() < PATIENCE) {
            Err(None)
        } else {
            self.try_write().map_err(Some)
        };
        match result {
            Ok(()) => self.failed = None,
            Err(error) => {
                self.dropped.fetch_add(self.waiting, Ordering::Relaxed);
                if let Some(error) = error {
                    self.failed = Some(Instant::now());
                    self.warn(&error);
                }
            }
        }
        self.lines.clear();
        self.waiting = 0;
    }

    fn try_write(&mut self) -> io::Result<()> {
        let files = match &mut self.files {
            Some(files) => files,
            None => self.files.insert(Files::open(&self.options)?),
        };
        let _ = self.path.set(files.path().to_owned());
        files.write(&self.lines)
    }

    fn warn(&mut self, error: &io::Error) {
        if !self.has_warned {
            self.has_warned = true;
            let path = self.options.path.display();
            tracing::warn!(%path, %error, "the journal cannot be written; everything else goes on without it");
        }
    }
}
