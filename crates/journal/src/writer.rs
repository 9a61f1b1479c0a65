//! The thread that writes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::entry::{Dropped, Entry, Event};
use super::files::Files;
use super::truncation;
use super::windows::Windows;
use super::{Options, SourceReader};
use crate::redaction::Redaction;

/// How many bytes are written at once.
const BLOCK: usize = 256 * 1024;
/// How long an entry waits for those that come with it, such as the answer to a call. The thread stays out of the
/// call's way until then.
const TOGETHER: Duration = Duration::from_millis(2);
/// How long the rest of a line is waited for, and how much other output may come meanwhile.
const LINE: Duration = Duration::from_millis(50);
const HELD: usize = 64;
/// After a failure, so long nothing is tried.
const PATIENCE: Duration = Duration::from_secs(2);

/// A request to it.
pub(super) enum Message {
    /// Write this.
    Entry(Box<Entry>),
    /// Say when everything before is written.
    Flush(SyncSender<()>),
}

/// Where the lines go.
pub(super) enum Destination {
    /// Files, opened with the first line.
    Files(Options, Option<Files>),
    /// Another program, which keeps them.
    Stream(Box<dyn Write + Send>),
}

pub(super) struct Writer {
    destination: Destination,
    redaction: Redaction,
    windows: Windows,
    dropped: Arc<AtomicU64>,
    path: Arc<OnceLock<PathBuf>>,
    /// Output that does not end its line, and what was written after it: programs write the parts of a line by
    /// several calls, and other streams write between them.
    held: Vec<Entry>,
    /// Whole lines that are not written yet.
    lines: Vec<u8>,
    /// How many they are.
    waiting: u64,
    has_warned: bool,
    failed: Option<Instant>,
}

impl Writer {
    pub(super) fn new(
        destination: Destination,
        sources: SourceReader,
        redaction: Redaction,
        dropped: Arc<AtomicU64>,
        path: Arc<OnceLock<PathBuf>>,
    ) -> Self {
        Self {
            windows: Windows::new(sources),
            destination,
            redaction,
            dropped,
            path,
            held: Vec::new(),
            lines: Vec::new(),
            waiting: 0,
            has_warned: false,
            failed: None,
        }
    }

    /// Writes until the last recorder is gone. Waiting entries are written together.
    pub(super) fn run(mut self, entries: &Receiver<Message>) {
        loop {
            let next = if self.held.is_empty() {
                entries.recv().map_err(RecvTimeoutError::from)
            } else {
                entries.recv_timeout(LINE)
            };
            match next {
                Ok(first) => {
                    if matches!(first, Message::Entry(_)) {
                        std::thread::sleep(TOGETHER);
                    }
                    self.take(first);
                    while let Ok(next) = entries.try_recv() {
                        self.take(next);
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.finish_lines(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.write();
        }
        self.finish_lines();
        self.write();
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Entry(mut entry) => {
                if let Event::State(state) = &mut entry.event
                    && state.source.is_none()
                {
                    state.source = state.location.as_ref().and_then(|at| self.windows.around(at));
                }
                let missing = self.dropped.swap(0, Ordering::Relaxed);
                if missing > 0 {
                    self.add(&Entry::now(None, Event::Dropped(Dropped { count: missing })));
                    // If that cannot be written either, it represents all of them.
                    self.waiting += missing - 1;
                }
                if matches!(entry.event, Event::Output(_)) {
                    self.hold(*entry);
                } else {
                    self.finish_lines();
                    self.add(&entry);
                }
                if self.lines.len() >= BLOCK {
                    self.write();
                }
            }
            Message::Flush(done) => {
                self.finish_lines();
                self.write();
                let _ = done.send(());
            }
        }
    }

    /// Holds output back while a line before it may still be finished.
    fn hold(&mut self, mut entry: Entry) {
        let begun = self.held.iter_mut().rfind(|held| is_same_stream(held, &entry));
        if begun.is_none_or(|begun| !finishes(begun, &mut entry)) {
            self.held.push(entry);
        }
        if self.held.len() > HELD {
            return self.finish_lines();
        }
        let is_awaited = |at: &usize| {
            let mut from = self.held.iter().skip(*at);
            let entry = from.next();
            entry.is_some_and(|entry| is_unfinished(entry) && !from.any(|later| is_same_stream(later, entry)))
        };
        let done = (0..self.held.len()).find(is_awaited).unwrap_or(self.held.len());
        let rest = self.held.split_off(done);
        self.finish_lines();
        self.held = rest;
    }

    /// The rest of lines has not come in time, or will not come.
    fn finish_lines(&mut self) {
        for held in std::mem::take(&mut self.held) {
            self.add(&held);
        }
    }

    /// Puts an entry after the lines that wait, its secrets hidden.
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
        match &mut self.destination {
            Destination::Files(options, files) => {
                let files = match files {
                    Some(files) => files,
                    None => files.insert(Files::open(options)?),
                };
                let _ = self.path.set(files.path().to_owned());
                files.write(&self.lines)
            }
            Destination::Stream(stream) => {
                stream.write_all(&self.lines)?;
                stream.flush()
            }
        }
    }

    fn warn(&mut self, error: &io::Error) {
        if !self.has_warned {
            self.has_warned = true;
            let path = match &self.destination {
                Destination::Files(options, _) => options.path.as_path(),
                Destination::Stream(_) => Path::new("(stream)"),
            };
            tracing::warn!(path = %path.display(), %error, "cannot write the journal; continuing without it");
        }
    }
}

/// Output without an end of line, after which more may come.
fn is_unfinished(entry: &Entry) -> bool {
    matches!(&entry.event, Event::Output(written)
        if !written.output.is_empty() && !written.output.ends_with('\n') && !truncation::is_cut(&written.output))
}

fn is_same_stream(one: &Entry, other: &Entry) -> bool {
    let category = |entry: &Entry| match &entry.event {
        Event::Output(written) => Some(written.category.clone()),
        _ => None,
    };
    one.session_id == other.session_id && category(one) == category(other)
}

/// Puts output after the line that its stream has begun, as far as that goes and there is room. Whether nothing is
/// left of it.
fn finishes(begun: &mut Entry, next: &mut Entry) -> bool {
    let is_begun = is_unfinished(begun);
    let (Event::Output(line), Event::Output(rest)) = (&mut begun.event, &mut next.event) else {
        return false;
    };
    if !is_begun || rest.omitted > 0 {
        return false;
    }
    let end = rest.output.find('\n').map_or(rest.output.len(), |end| end + 1);
    let (first, behind) = rest.output.split_at(end);
    let Some(joined) = truncation::joined(&line.output, first) else { return false };
    let behind = behind.to_owned();
    line.output = joined;
    rest.output = behind;
    rest.output.is_empty()
}
