//! What was written before, read from the end: the newest entries first, whatever files they are in.

use std::io;

use memchr::{memchr, memrchr};

use super::files::Part;
use super::indexing::{Batch, IndexedEntry, Indexer};

/// How many bytes are read at once, in the hope that a line ends in them.
const BLOCK: u64 = 256 * 1024;
/// The longest line that is an entry, in bytes.
pub(super) const LONGEST: u64 = 1024 * 1024;

/// The files of one program, from the end of the newest to the beginning of the oldest.
#[derive(Debug, Default)]
struct Program {
    /// With the numbers of the files and where their last whole lines end, in bytes; oldest first.
    parts: Vec<(u16, Part, u64)>,
    /// The line that contains the `end` of the last part cannot be used: it is too long, or has no end.
    is_inside: bool,
    /// What was read and not handed on, oldest first.
    entries: Vec<IndexedEntry>,
    /// The lowest key that was handed on or waits.
    floor: Option<i64>,
}

/// All programs' entries, newest first.
#[derive(Debug, Default)]
pub(super) struct BackwardReader {
    programs: Vec<Program>,
    skipped: usize,
}

impl BackwardReader {
    /// Adds the files of a program, oldest first, each with its number and where its last whole line ends.
    pub(super) fn add(&mut self, parts: Vec<(u16, Part, u64)>) {
        self.programs.push(Program { parts, is_inside: true, ..Program::default() });
    }

    /// Nothing is left.
    pub(super) fn is_done(&self) -> bool {
        self.programs.iter().all(|program| program.entries.is_empty() && program.parts.is_empty())
    }

    /// Up to `most` entries, older than all before; fewer when it would take more than `blocks` to read.
    pub(super) fn next(&mut self, most: usize, mut blocks: usize, indexer: &Indexer) -> Batch {
        let mut entries = Vec::new();
        while entries.len() < most {
            match self.newest(&mut blocks, indexer) {
                Some(entry) => entries.push(entry),
                None => break,
            }
        }
        entries.reverse();
        Batch { entries, skipped: std::mem::take(&mut self.skipped) }
    }

    fn newest(&mut self, blocks: &mut usize, indexer: &Indexer) -> Option<IndexedEntry> {
        for program in &mut self.programs {
            while program.entries.is_empty() && !program.parts.is_empty() {
                *blocks = blocks.checked_sub(1)?;
                self.skipped += program.read_block(indexer);
            }
        }
        let key = |program: &&mut Program| program.entries.last().map(|entry| entry.key);
        self.programs.iter_mut().filter(|program| !program.entries.is_empty()).max_by_key(key)?.entries.pop()
    }
}

impl Program {
    /// Reads one block. An unreadable file ends there. Returns how many lines are not entries.
    fn read_block(&mut self, indexer: &Indexer) -> usize {
        let Some((number, part, end)) = self.parts.last_mut() else { return 0 };
        let mut batch = Batch::default();
        match block(part, *end, self.is_inside) {
            Ok(Block::Lines(start, lines)) => {
                indexer.index(*number, start, &lines, &mut batch);
                *end = start;
            }
            Ok(Block::EndOfLine(behind)) => {
                self.is_inside = false;
                *end = behind;
            }
            Ok(Block::Inside(start)) => {
                batch.skipped += usize::from(!self.is_inside);
                self.is_inside = true;
                *end = start;
            }
            Err(_) => *end = 0,
        }
        if *end == 0 {
            self.parts.pop();
            self.is_inside = true;
        }
        self.take(batch.entries);
        batch.skipped
    }

    fn take(&mut self, mut entries: Vec<IndexedEntry>) {
        for one in entries.iter_mut().rev() {
            let time = if one.record.timestamp == 0 { self.floor } else { Some(one.record.timestamp) };
            one.key = self.floor.into_iter().chain(time).min().unwrap_or(0);
            self.floor = Some(one.key).filter(|key| *key != 0);
            if one.record.timestamp == 0 {
                one.record.timestamp = one.key;
            }
        }
        self.entries = entries;
    }
}

/// What is before a place in a file.
enum Block {
    /// Whole lines, from there to the place.
    Lines(u64, Vec<u8>),
    /// The place is inside a line that cannot be taken, and the line before that ends there.
    EndOfLine(u64),
    /// All from there to the place is inside a line that cannot be taken.
    Inside(u64),
}

fn block(part: &Part, end: u64, is_inside: bool) -> io::Result<Block> {
    let mut length = BLOCK;
    loop {
        let start = end.saturating_sub(length);
        let mut bytes = part.read(start, usize::try_from(end - start).unwrap_or(0))?;
        if bytes.len() as u64 != end - start {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if is_inside {
            return Ok(match memrchr(b'\n', &bytes) {
                Some(at) => Block::EndOfLine(start + at as u64 + 1),
                None => Block::Inside(start),
            });
        }
        if start == 0 {
            return Ok(Block::Lines(0, bytes));
        }
        let first = memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1);
        if first < bytes.len() {
            return Ok(Block::Lines(start + first as u64, bytes.split_off(first)));
        }
        if length >= LONGEST {
            return Ok(Block::Inside(start));
        }
        length *= 2;
    }
}

/// Where the last whole line of a file ends. None when the last megabyte has no end of a line.
pub(super) fn end_of_lines(part: &Part, size: u64) -> io::Result<Option<u64>> {
    let mut end = size;
    while end > 0 && size - end < LONGEST {
        match block(part, end, true)? {
            Block::Inside(start) => end = start,
            Block::EndOfLine(behind) | Block::Lines(behind, _) => return Ok(Some(behind)),
        }
    }
    Ok((end == 0).then_some(0))
}
