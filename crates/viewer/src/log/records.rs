//! The index: 32 bytes for each entry, which can grow at both ends.

use std::collections::VecDeque;

use super::Kind;

/// Where an entry is, and what is known about it without reading it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// In milliseconds since 1970.
    pub(super) timestamp: i64,
    /// Where its line begins in its file, in bytes.
    pub(super) offset: u64,
    /// How long its line is, in bytes, without the end of the line.
    pub(super) length: u32,
    /// The number of its session in [`super::names::Names`], or [`NONE`].
    pub(super) session: u32,
    /// How many entries further the answer of a call is, or back the call of an answer, or the call during which
    /// something else happened; 0 where there is none.
    pub(super) partner: i32,
    /// The number of its file.
    pub(super) file: u16,
    pub(crate) kind: Kind,
    pub(crate) detail: Detail,
}

impl Record {
    /// It is a call or an answer.
    pub(super) fn is_half(&self) -> bool {
        matches!(self.kind, Kind::Call | Kind::Response | Kind::Failure)
    }
}

/// No session.
pub(super) const NONE: u32 = u32::MAX;

/// What exactly happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Nothing of what follows.
    None,
    /// A tool failed.
    Failed,
    /// The program was suspended, runs, or has ended.
    Paused,
    Thrown,
    Running,
    Stopped,
    /// A breakpoint was hit, which changes nothing about it.
    Hit,
}

/// How many records a chunk has.
const CHUNK: usize = 4096;

const EMPTY: Record = Record {
    timestamp: 0,
    offset: 0,
    length: 0,
    session: NONE,
    partner: 0,
    file: u16::MAX,
    kind: Kind::Other,
    detail: Detail::None,
};

/// All records, by number. They are in chunks of one size, so that growing at either end moves nothing.
#[derive(Debug, Default)]
pub(super) struct Records {
    chunks: VecDeque<Box<[Record]>>,
    /// How many places of the first chunk are not taken.
    before: usize,
    len: usize,
}

impl Records {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, number: usize) -> Option<&Record> {
        let at = (number < self.len).then_some(self.before + number)?;
        self.chunks.get(at / CHUNK)?.get(at % CHUNK)
    }

    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Record> {
        let at = (number < self.len).then_some(self.before + number)?;
        self.chunks.get_mut(at / CHUNK)?.get_mut(at % CHUNK)
    }

    pub(super) fn push_back(&mut self, record: Record) {
        if self.before + self.len == self.chunks.len() * CHUNK {
            self.chunks.push_back(chunk());
        }
        self.len += 1;
        if let Some(place) = self.get_mut(self.len - 1) {
            *place = record;
        }
    }

    pub(super) fn push_front(&mut self, record: Record) {
        if self.before == 0 {
            self.chunks.push_front(chunk());
            self.before = CHUNK;
        }
        self.before -= 1;
        self.len += 1;
        if let Some(place) = self.get_mut(0) {
            *place = record;
        }
    }

    /// Forgets the oldest, in whole chunks, while there are more than `most`. Returns how many.
    pub(super) fn forget(&mut self, most: usize) -> usize {
        let mut forgotten = 0;
        while self.len > most.max(CHUNK) && self.chunks.pop_front().is_some() {
            let gone = CHUNK - std::mem::take(&mut self.before);
            self.len -= gone;
            forgotten += gone;
        }
        forgotten
    }
}

fn chunk() -> Box<[Record]> {
    vec![EMPTY; CHUNK].into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(offset: u64) -> Record {
        Record { offset, ..EMPTY }
    }

    #[test]
    fn a_record_has_32_bytes() {
        assert_eq!(size_of::<Record>(), 32);
    }

    #[test]
    fn records_grow_at_both_ends_and_drop_the_oldest() {
        let mut records = Records::default();
        let all = 3 * CHUNK as u64;
        for offset in all / 2..all {
            records.push_back(at(offset));
        }
        for offset in (0..all / 2).rev() {
            records.push_front(at(offset));
        }
        let offsets = |records: &Records| -> Vec<u64> {
            (0..records.len()).map(|number| records.get(number).unwrap().offset).collect()
        };
        assert_eq!(offsets(&records), (0..all).collect::<Vec<_>>());
        assert!(records.get(records.len()).is_none());
        let forgotten = records.forget(CHUNK);
        assert!(records.len() <= CHUNK);
        assert_eq!(offsets(&records), (forgotten as u64..all).collect::<Vec<_>>());
    }
}
