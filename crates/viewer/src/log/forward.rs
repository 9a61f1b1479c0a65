//! Reads what is written to a file.

use std::io;

use memchr::{memchr, memrchr};

use super::backward::LONGEST;
use super::files::Part;
use super::indexing::{Batch, Indexer};

/// How many bytes are read at once. A line that is taken fits.
#[expect(clippy::cast_possible_truncation, reason = "a megabyte fits everywhere")]
const BLOCK: usize = LONGEST as usize;

/// The end of a file that grows.
#[derive(Debug)]
pub(super) struct Tail {
    pub(super) number: u16,
    pub(super) part: Part,
    /// Up to where lines were taken, in bytes.
    position: u64,
    /// Up to where it is known that no line ends.
    looked: u64,
    /// The position is inside a line that is too long.
    is_inside: bool,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadProgress {
    /// Everything is read.
    Done,
    /// There is more than was to be read at once.
    More,
    /// It has become shorter: what was in it is gone.
    Truncated,
}

impl Tail {
    /// From a place on; `is_inside` when that is in a line that is too long.
    pub(super) fn new(number: u16, part: Part, position: u64, is_inside: bool) -> Self {
        Self { number, part, position, looked: position, is_inside }
    }

    /// Takes the lines that have become whole, about as many bytes as `budget` says, and lowers that.
    pub(super) fn read(
        &mut self,
        indexer: &Indexer,
        budget: &mut usize,
        batch: &mut Batch,
    ) -> io::Result<ReadProgress> {
        let size = self.part.size()?;
        if size < self.position {
            return Ok(ReadProgress::Truncated);
        }
        while self.looked < size && *budget > 0 {
            let bytes = self.part.read(self.position, BLOCK)?;
            *budget = budget.saturating_sub(bytes.len());
            if bytes.is_empty() {
                break;
            }
            self.take(&bytes, indexer, batch);
        }
        Ok(if self.looked < size { ReadProgress::More } else { ReadProgress::Done })
    }

    fn take(&mut self, bytes: &[u8], indexer: &Indexer, batch: &mut Batch) {
        let behind = memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let mut start = 0;
        if self.is_inside && behind > 0 {
            start = memchr(b'\n', bytes).map_or(0, |at| at + 1);
            batch.skipped += 1;
            self.is_inside = false;
        }
        indexer.index(
            self.number,
            self.position + start as u64,
            bytes.get(start..behind).unwrap_or_default(),
            batch,
        );
        let end = self.position + bytes.len() as u64;
        self.position += behind as u64;
        self.looked = end;
        if behind == 0 && (self.is_inside || bytes.len() >= BLOCK) {
            self.is_inside = true;
            self.position = end;
        }
    }
}
