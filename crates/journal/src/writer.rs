//! The thread that writes.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::Options;
use super::entry::{Dropped, Entry, Event};
use super::files::Files;
use super::truncation;
use super::windows::Windows;
use crate::redaction::Redaction;

/// How many bytes are written at once.
const BLOCK: usize = 256 * 1024;
/// How long the rest of a line is waited for.
const LINE: Duration = Duration::from_millis(50);
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
    /// Output that does not end its line: programs write the parts of one by several calls.
    unfinished: Option<Box<Entry>>,
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
            windows: Windows::new(options.sources.clone()),
            options,
            redaction,
            dropped,
            path,
            files: None,
            unfinished: None,
            lines: Vec::new(),
            waiting: 0,
            has_warned: false,
            failed: None,
        }
    }

    /// Writes until nobody records any more. Whatever waits is written together.
    pub(super) fn run(mut self, entries: &Receiver<Message>) {
        loop {
            let next = match self.unfinished {
                Some(_) => entries.recv_timeout(LINE),
                None => entries.recv().map_err(RecvTimeoutError::from),
            };
            match next {
                Ok(first) => {
                    self.take(first);
                    while let Ok(next) = entries.try_recv() {
                        self.take(next);
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.finish_line(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.write();
        }
        self.finish_line();
        self.write();
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
                    // Should that not be written either, it stands for all of them.
                    self.waiting += missing - 1;
                }
                let entry = match self.unfinished.take() {
                    Some(mut begun) => {
                        if joins(&mut begun, &entry) {
                            begun
                        } else {
                            self.add(&begun);
                            entry
                        }
                    }
                    None => entry,
                };
                if is_unfinished(&entry) {
                    self.unfinished = Some(entry);
                } else {
                    self.add(&entry);
                }
                if self.lines.len() >= BLOCK {
                    self.write();
                }
            }
            Message::Flush(done) => {
                self.finish_line();
                self.write();
                let _ = done.send(());
            }
        }
    }

    /// The rest of a line has not come in time.
    fn finish_line(&mut self) {
        if let Some(begun) = self.unfinished.take() {
            self.add(&begun);
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

/// Output without an end of line, behind which more may come.
fn is_unfinished(entry: &Entry) -> bool {
    matches!(&entry.event, Event::Output(written)
        if !written.output.is_empty() && !written.output.ends_with('\n') && !truncation::is_cut(&written.output))
}

/// Puts output behind the line that was begun, when it is of the same program and stream and there is room.
fn joins(begun: &mut Entry, next: &Entry) -> bool {
    let is_same = begun.session_id == next.session_id;
    let (Event::Output(line), Event::Output(rest)) = (&mut begun.event, &next.event) else { return false };
    if !is_same || line.category != rest.category || rest.omitted > 0 {
        return false;
    }
    let joined = truncation::joined(&line.output, &rest.output);
    joined.is_some_and(|joined| {
        line.output = joined;
        true
    })
}
