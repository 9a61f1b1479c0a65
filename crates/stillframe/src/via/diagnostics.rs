//! What comes from standard error there: the lines of the journal, which this machine keeps, and messages.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use journal::{Entry, Event, Journal};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::paths::{self, Paths};
use crate::terminal;

/// How a line of the journal begins. No message of an engine begins so.
const ENTRY: &[u8] = b"\x1estillframe-journal ";
/// How many lines are kept for an error message.
const KEPT: usize = 5;

/// Marks each line of a journal. Our standard error is shared with messages.
#[derive(Debug)]
pub(crate) struct MarkedLines<W>(pub(crate) W);

impl<W: Write> Write for MarkedLines<W> {
    /// The journal writes whole lines.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let mut marked = Vec::with_capacity(lines.len() + ENTRY.len());
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            marked.extend_from_slice(ENTRY);
            marked.extend_from_slice(line);
        }
        self.0.write_all(&marked)?;
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Where all of it goes.
#[derive(Clone, Debug, Default)]
pub(super) struct Diagnostics {
    journal: Journal,
    paths: Arc<Paths>,
    /// The last messages.
    last: Arc<Mutex<VecDeque<String>>>,
}

impl Diagnostics {
    pub(super) fn new(journal: Journal, paths: Arc<Paths>) -> Self {
        Self { journal, paths, last: Arc::default() }
    }

    /// The journal of the sessions there.
    pub(super) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Whether the other side should send its journal.
    pub(super) fn keeps_journal(&self) -> bool {
        self.journal.is_kept()
    }

    /// The last messages, in one line.
    pub(super) fn last(&self) -> String {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.iter().map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    /// Reads until the end. `home` is the user's folder there, which the journal calls `~`.
    pub(super) async fn read(self, stream: impl AsyncRead + Unpin, home: Arc<OnceLock<String>>) {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while matches!(stream.read_until(b'\n', &mut line).await, Ok(1..)) {
            match line.strip_prefix(ENTRY) {
                Some(entry) => {
                    let home = home.get().map_or("", String::as_str);
                    if let Some(entry) = self.entry(entry, home) {
                        self.journal.record(entry);
                    }
                }
                None => {
                    self.say(&self.paths.words(String::from_utf8_lossy(&line).trim_end()));
                }
            }
            line.clear();
        }
    }

    fn say(&self, message: &str) {
        if !message.is_empty() {
            terminal::hint(message);
            self.keep(message);
        }
    }

    /// Keeps a message for the reason of a failure.
    pub(super) fn keep(&self, message: &str) {
        if message.is_empty() {
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == KEPT {
            last.pop_front();
        }
        last.push_back(message.to_owned());
    }

    /// An entry from there, as it is here.
    fn entry(&self, line: &[u8], home: &str) -> Option<Entry> {
        let mut value: Value = serde_json::from_slice(line).ok()?;
        if !self.paths.is_empty() {
            expand_home(&mut value, home, false);
            self.paths.answer(&mut value);
        }
        let mut entry: Entry = serde_json::from_value(value).ok()?;
        if let Event::Created(created) = &mut entry.event {
            // A reader asks whether this process still runs, and this is the one that it can find.
            created.server = Some(std::process::id());
        }
        Some(entry)
    }
}

/// Writes the user's folder out in paths, so that mappings apply to it.
fn expand_home(value: &mut Value, home: &str, is_path: bool) {
    match value {
        Value::String(text) => {
            if let Some(rest) = text.strip_prefix("~/").filter(|_| is_path && !home.is_empty()) {
                *text = format!("{}/{rest}", home.trim_end_matches('/'));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| expand_home(item, home, is_path)),
        Value::Object(members) => {
            for (name, member) in members {
                expand_home(member, home, paths::is_rewritten(name));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use journal::entry::{Created, Location, State, StateEvent};

    use super::*;

    fn diagnostics() -> Diagnostics {
        let mapping = "/home/there/app=/home/me/src".parse().unwrap();
        Diagnostics::new(Journal::none(), Arc::new(Paths::new(vec![mapping], "/".into())))
    }

    fn sent(event: Event) -> Entry {
        let entry = Entry::now(Some(("id".to_owned(), "name".to_owned())), event);
        let mut marked = MarkedLines(Vec::new());
        marked.write_all(format!("{}\n", serde_json::to_string(&entry).unwrap()).as_bytes()).unwrap();
        let line = marked.0.strip_prefix(ENTRY).unwrap();
        diagnostics().entry(line, "/home/there").unwrap()
    }

    #[test]
    fn an_entry_names_files_here_and_the_server_here() {
        let file = "~/app/main.py".to_owned();
        let mut state = State::of(StateEvent::Paused);
        state.location = Some(Location { file, line: 3, function: "f".to_owned(), frame_id: None });
        let Event::State(state) = sent(Event::State(state)).event else { panic!("a state") };
        assert_eq!(state.location.unwrap().file, "/home/me/src/main.py");
        let created = Created { language: "python".to_owned(), executable_path: None, server: Some(1) };
        let Event::Created(created) = sent(Event::Created(created)).event else { panic!("a session") };
        assert_eq!(created.server, Some(std::process::id()));
    }

    #[tokio::test]
    async fn the_last_messages_are_kept_and_entries_are_not_messages() {
        let diagnostics = diagnostics();
        let text = "one\ntwo\n\n\x1estillframe-journal {}\nthree\nfour\nfive\nsix";
        diagnostics.clone().read(text.as_bytes(), Arc::default()).await;
        assert_eq!(diagnostics.last(), "two; three; four; five; six");
    }
}
