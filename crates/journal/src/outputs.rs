//! What programs write, as entries: whole lines where that is possible, and not more than a person can read.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::SessionJournal;
use super::entry::{Event, OutputWritten};
use super::truncation;
use crate::redaction::{self, KEY, KEY_BEGINS, KEY_ENDS};

/// How long a window is in which output is counted.
const WINDOW: Duration = Duration::from_secs(1);
/// How many bytes a window may have.
const BYTES: usize = 32 * 1024;
/// How many entries.
const ENTRIES: usize = 200;
/// How many characters lines are joined to.
const JOINED: usize = 200;

/// Where a piece of output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// The program's standard output.
    Stdout,
    /// The program's standard error.
    Stderr,
    /// A logpoint.
    Log,
    /// The debugger.
    Console,
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Log => "log",
            Self::Console => "console",
        })
    }
}

/// Records what one program writes. Of a flood it records the beginning of each second, and how much is missing.
#[derive(Debug, Default)]
pub struct Outputs {
    journal: SessionJournal,
    flow: Mutex<OutputRate>,
}

#[derive(Debug, Default)]
struct OutputRate {
    began: Option<Instant>,
    bytes: usize,
    entries: usize,
    /// How many bytes were left out since the last entry.
    omitted: u64,
    /// The stream in which a private key has begun, and not ended yet.
    key: Option<Category>,
}

impl Outputs {
    /// Records in this journal.
    pub fn new(journal: SessionJournal) -> Self {
        Self { journal, flow: Mutex::default() }
    }

    /// The program wrote this.
    pub fn wrote(&self, category: Category, text: &str) {
        if !self.journal.is_kept() {
            return;
        }
        let mut flow = self.flow.lock().unwrap_or_else(PoisonError::into_inner);
        if !flow.has_room() {
            flow.omitted += text.len() as u64;
            return;
        }
        // Before it is cut into pieces, which would hide the shape of what goes over several lines.
        let shown = flow.without_keys(category, text);
        let shown = redaction::shapes(&shown);
        let mut rest = shown.as_ref();
        while !rest.is_empty() {
            if !flow.has_room() {
                flow.omitted += rest.len() as u64;
                return;
            }
            let (piece, behind) = rest.split_at(piece_length(rest));
            flow.bytes += piece.len();
            flow.entries += 1;
            self.record(category, truncation::text(piece), std::mem::take(&mut flow.omitted));
            rest = behind;
        }
    }

    /// The program is gone: how much was left out at last.
    pub fn finish(&self) {
        let omitted = std::mem::take(&mut self.flow.lock().unwrap_or_else(PoisonError::into_inner).omitted);
        if omitted > 0 {
            self.record(Category::Console, String::new(), omitted);
        }
    }

    fn record(&self, category: Category, output: String, omitted: u64) {
        let category = category.to_string();
        self.journal.record(Event::Output(OutputWritten { category, output, omitted }));
    }
}

impl OutputRate {
    fn has_room(&mut self) -> bool {
        if self.began.is_none_or(|began| began.elapsed() >= WINDOW) {
            (self.began, self.bytes, self.entries) = (Some(Instant::now()), 0, 0);
        }
        self.bytes < BYTES && self.entries < ENTRIES
    }

    /// What is written without the rest of a private key that an earlier text has begun.
    fn without_keys<'t>(&mut self, category: Category, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        if self.key == Some(category) {
            let end = text.find(KEY_ENDS).map(|end| {
                text.get(end..).and_then(|rest| rest.find('\n')).map_or(text.len(), |line| end + line)
            });
            let rest = end.and_then(|end| text.get(end..));
            shown = Cow::Owned(format!("{}{}", redaction::MARK, rest.unwrap_or("\n")));
            if rest.is_none() {
                return shown;
            }
            self.key = None;
        }
        let begun = text.rfind(KEY_BEGINS).and_then(|begin| text.get(begin..));
        if begun.is_some_and(|begun| begun.contains(KEY) && !begun.contains(KEY_ENDS)) {
            self.key = Some(category);
        }
        shown
    }
}

/// As many whole lines as fit into one entry; one line, if that is longer.
fn piece_length(text: &str) -> usize {
    let most = text.char_indices().nth(JOINED).map_or(text.len(), |(end, _)| end);
    if most == text.len() {
        return most;
    }
    let fits = text.get(..most).and_then(|head| head.rfind('\n'));
    fits.or_else(|| text.find('\n')).map_or(text.len(), |end| end + 1)
}
