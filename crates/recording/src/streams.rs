//! Records of several threads and processes, each of which numbers what it writes on its own.
//!
//! A recorder makes a file `SEGMENTS-stream-N` before it writes into `SEGMENTS-sN-…`. Numbers of
//! calls, objects and so on are moved apart; texts that are equal get one number.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::value::OUTER;
use crate::wire::{Read, Record, Wire, beside};

/// Numbers that a stream may use: calls and objects together have 30 bits.
const SHARE: u64 = 1 << SHARE_BITS;
const SHARE_BITS: u32 = 26;

/// How far apart the numbers of the threads of two streams are.
const THREADS: u64 = 1 << THREAD_BITS;
const THREAD_BITS: u32 = 16;

/// More streams than this are not read.
const MOST: u64 = 15;

/// The stream of a call, by its stored number.
pub(crate) fn stream_of(call: i64) -> i64 {
    call >> SHARE_BITS
}

/// The first number of the calls of a stream, less 1.
pub(crate) fn calls_of(stream: i64) -> i64 {
    stream << SHARE_BITS
}

/// The first number of the threads of a stream, less 1.
pub(crate) fn threads_of(stream: i64) -> i64 {
    stream << THREAD_BITS
}

/// All of a run.
#[derive(Debug)]
pub(crate) struct Streams {
    segments: PathBuf,
    all: Vec<Stream>,
    /// The numbers of all texts.
    texts: HashMap<String, u64>,
    /// The stream that is read next.
    next: usize,
}

#[derive(Debug)]
struct Stream {
    wire: Wire,
    /// Its first number.
    moved_by: u64,
    /// Its texts, by its own numbers.
    texts: Vec<u64>,
    outer: Option<u64>,
}

impl Streams {
    pub(crate) fn new(segments: PathBuf) -> Self {
        Self { segments, all: Vec::new(), texts: HashMap::new(), next: 0 }
    }

    /// How many other threads and processes ran code of the program and were too many to be recorded.
    pub(crate) fn unrecorded(&self) -> u64 {
        // Each of them adds a byte.
        beside(&self.segments, "others").metadata().map_or(0, |file| file.len())
    }

    /// Lets the program know that nothing more is read.
    pub(crate) fn close(&self) {
        for stream in &self.all {
            stream.wire.close();
        }
    }

    /// Whether the program, which has ended, could not begin another file.
    pub(crate) fn lacks_file(&self) -> bool {
        self.all.iter().any(|stream| stream.wire.lacks_file())
    }

    /// Whether there is something that could not be read. The program has ended.
    pub(crate) fn has_unread(&self) -> bool {
        self.all.iter().any(|stream| stream.wire.has_unread())
    }

    /// What one of them has written since the last time.
    pub(crate) fn read(&mut self) -> std::io::Result<Read> {
        for _ in 0..self.all.len() {
            let at = self.next;
            self.next = (self.next + 1) % self.all.len();
            let Some(stream) = self.all.get_mut(at) else { break };
            match stream.wire.read()? {
                Read::Nothing => {}
                Read::Records(records) => {
                    let texts = &mut self.texts;
                    return Ok(Read::Records(
                        records.into_iter().filter_map(|one| stream.renumbered(one, texts)).collect(),
                    ));
                }
                Read::Malformed => return Ok(Read::Malformed),
            }
        }
        Ok(if self.find_new() { Read::Records(Vec::new()) } else { Read::Nothing })
    }

    /// Begins to read streams that were not there before.
    fn find_new(&mut self) -> bool {
        let number = self.all.len() as u64;
        let is_there = number < MOST && beside(&self.segments, format_args!("stream-{number}")).exists();
        if is_there {
            let wire = Wire::new(beside(&self.segments, format_args!("s{number}")));
            let moved_by = number * SHARE;
            self.all.push(Stream { wire, moved_by, texts: Vec::new(), outer: None });
        }
        is_there
    }
}

/// Removes what a program left beside the recording.
impl Drop for Streams {
    fn drop(&mut self) {
        // Each removes its own files.
        self.all.clear();
        let Some((folder, name)) = self.segments.parent().zip(self.segments.file_name()) else { return };
        let mut prefix = name.to_owned();
        prefix.push("-");
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            // The pipe is that of a service which still reads it.
            let is_left = entry.file_name().as_encoded_bytes().starts_with(prefix.as_encoded_bytes())
                && entry.path() != beside(&self.segments, "ask");
            if is_left {
                // A cleaner of the temporary folder may have removed it first.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

impl Stream {
    /// The record with numbers that no other stream has. None for a text that there is already.
    fn renumbered(&mut self, record: Record, all: &mut HashMap<String, u64>) -> Option<Record> {
        let by = self.moved_by;
        let moved = |number: u64| if number == 0 { 0 } else { number + by };
        let owner = |owner: u64| ((owner >> 1) + by) << 1 | (owner & 1);
        let value = |value: u64| if matches!(value & 7, 3 | 4) { value + (by << 3) } else { value };
        let text = |number: u64| {
            let at = usize::try_from(number).ok().and_then(|at| at.checked_sub(1));
            at.and_then(|at| self.texts.get(at)).copied().unwrap_or(number)
        };
        Some(match record {
            Record::Text { id: _, text } => {
                let new = all.len() as u64 + 1;
                let number = *all.entry(text.clone()).or_insert(new);
                self.texts.push(number);
                if text == OUTER {
                    self.outer = Some(number);
                }
                if number != new {
                    return None;
                }
                Record::Text { id: number, text }
            }
            Record::Line { call, place } => Record::Line { call: moved(call), place: place + by },
            Record::Enter { call, code, owner: whose, thread, caller, is_forked } => Record::Enter {
                call: moved(call),
                code: moved(code),
                owner: owner(whose),
                thread: thread + by / SHARE * THREADS,
                caller: moved(caller),
                is_forked,
            },
            Record::Leave { call, value: result } => {
                Record::Leave { call: moved(call), value: value(result) }
            }
            Record::Unwind { call } => Record::Unwind { call: moved(call) },
            Record::Pass { call, since } => Record::Pass { call: moved(call), since },
            Record::Throw { call, value: error } => Record::Throw { call: moved(call), value: value(error) },
            Record::Suspend { call, value: given } => {
                Record::Suspend { call: moved(call), value: value(given) }
            }
            Record::Resume { call, caller } => Record::Resume { call: moved(call), caller: moved(caller) },
            Record::Thread { id, name } => Record::Thread { id: id + by / SHARE * THREADS, name: text(name) },
            Record::Write { key, owner: whose, by: call, value: new, is_shown_again } => {
                let named = text(key >> 2);
                let key = if matches!(key & 3, 0 | 2) && key >> 2 > 0 { named << 2 | (key & 3) } else { key };
                let is_outer = matches!(key & 3, 0) && Some(named) == self.outer;
                let new = if is_outer { new + (by << 3) } else { value(new) };
                Record::Write { key, owner: owner(whose), by: moved(call), value: new, is_shown_again }
            }
            Record::Object { id, type_name, kind, prototype } => Record::Object {
                id: moved(id),
                type_name: text(type_name),
                kind,
                prototype: moved(prototype),
            },
            Record::Atom { id, type_name, flags, text: shown } => {
                Record::Atom { id: moved(id), type_name: text(type_name), flags, text: shown }
            }
            Record::Code { id, file, name, line } => {
                Record::Code { id: moved(id), file: text(file), name: text(name), line }
            }
            Record::Place { id, code, line } => Record::Place { id: id + by, code: moved(code), line },
            Record::Output { stream, call, text } => Record::Output { stream, call: moved(call), text },
            gap @ Record::Gap { .. } => gap,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_two_streams_are_different_and_texts_are_the_same() {
        let stream = |number: u64| Stream {
            wire: Wire::new(PathBuf::new()),
            moved_by: number * SHARE,
            texts: Vec::new(),
            outer: None,
        };
        let (mut first, mut second) = (stream(0), stream(1));
        let mut all = HashMap::new();
        let text = |id: u64, text: &str| Record::Text { id, text: text.to_owned() };
        assert_eq!(first.renumbered(text(1, "a"), &mut all), Some(text(1, "a")));
        assert_eq!(second.renumbered(text(1, "b"), &mut all), Some(text(2, "b")));
        assert_eq!(second.renumbered(text(2, "a"), &mut all), None);
        let write =
            Record::Write { key: 2 << 2, owner: 5 << 1, by: 5, value: 7 << 3 | 4, is_shown_again: true };
        let moved = Record::Write {
            key: 1 << 2,
            owner: (SHARE + 5) << 1,
            by: SHARE + 5,
            value: (SHARE + 7) << 3 | 4,
            is_shown_again: true,
        };
        assert_eq!(second.renumbered(write, &mut all), Some(moved));
    }
}
