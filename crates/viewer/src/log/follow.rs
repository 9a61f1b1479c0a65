//! The files of a journal while programs write them: they grow, are set aside, deleted, and new ones begin.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::backward::{BackwardReader, end_of_lines};
use super::files::{Identity, Part, list};
use super::forward::{ReadProgress, Tail};
use super::indexing::{Batch, Indexer};

/// About how many bytes are read at a time, and at least of one program.
const AT_ONCE: usize = 4 * 1024 * 1024;
const OF_ONE: usize = 256 * 1024;
/// A rotated file may still be written for a moment; this many are checked per program.
const TAILS: usize = 2;
/// How many files are kept open that are deleted, so that their entries can still be read.
const DELETED: usize = 8;

/// The files, and up to where they were read.
#[derive(Debug)]
pub(super) struct Follow {
    path: PathBuf,
    programs: BTreeMap<usize, Program>,
    /// By number. None for one whose content is gone.
    files: Vec<Option<Part>>,
    seen: HashSet<Identity>,
    /// The last time, there was more than is read at once.
    has_more: bool,
}

#[derive(Debug, Default)]
struct Program {
    /// The newest is the last.
    tails: Vec<Tail>,
    /// The time of the last entry.
    last_time: i64,
}

impl Follow {
    /// Begins at the end of what is there. What is before is for the other one to read.
    pub(super) fn open(path: &Path) -> io::Result<(Self, BackwardReader)> {
        if path.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
        }
        let mut follow = Self {
            path: path.to_owned(),
            programs: BTreeMap::new(),
            files: Vec::new(),
            seen: HashSet::new(),
            has_more: false,
        };
        let mut backward = BackwardReader::default();
        for (program, files) in list(path)? {
            let mut parts = Vec::new();
            for (file, _) in files {
                match Part::open(&file) {
                    Ok(part) => parts.push((follow.add(&part), part.clone(), part.size()?)),
                    Err(error) if file == path && error.kind() != io::ErrorKind::NotFound => {
                        return Err(error);
                    }
                    Err(_) => {}
                }
            }
            let known = follow.programs.entry(program).or_default();
            if let Some((number, part, size)) = parts.last_mut() {
                let end = end_of_lines(part, *size)?;
                known.tails.push(Tail::new(*number, part.clone(), end.unwrap_or(*size), end.is_none()));
                *size = end.unwrap_or(*size);
            }
            backward.add(parts);
        }
        Ok((follow, backward))
    }

    /// The file of that number, unless its content is gone.
    pub(super) fn file(&self, number: u16) -> Option<&Part> {
        self.files.get(usize::from(number))?.as_ref()
    }

    /// The last time, there was more than is read at once.
    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }

    /// What was written since, in the order of time.
    pub(super) fn take(&mut self, indexer: &Indexer) -> Batch {
        let mut batch = Batch::default();
        self.has_more = false;
        let mut listed = list(&self.path).unwrap_or_default();
        for program in listed.keys() {
            self.programs.entry(*program).or_default();
        }
        let each = (AT_ONCE / self.programs.len().max(1)).max(OF_ONE);
        for (name, mut program) in std::mem::take(&mut self.programs) {
            let before = batch.entries.len();
            let files = listed.remove(&name).unwrap_or_default();
            self.has_more |= !self.read(&mut program, &files, each, indexer, &mut batch);
            let mut ceiling = 0;
            for one in batch.entries.iter_mut().skip(before) {
                if one.record.timestamp == 0 {
                    one.record.timestamp = program.last_time;
                }
                program.last_time = one.record.timestamp;
                ceiling = one.record.timestamp.max(ceiling);
                one.key = ceiling;
            }
            self.programs.insert(name, program);
        }
        batch.entries.sort_by_key(|one| one.key);
        batch
    }

    /// Takes what there is of one program. False when there is more.
    fn read(
        &mut self,
        program: &mut Program,
        listed: &[(PathBuf, Identity)],
        mut budget: usize,
        indexer: &Indexer,
        batch: &mut Batch,
    ) -> bool {
        let mut is_done = true;
        for tail in &mut program.tails {
            let mut reading = tail.read(indexer, &mut budget, batch);
            if matches!(reading, Ok(ReadProgress::Truncated)) {
                self.forget(tail.number);
                *tail = Tail::new(self.add(&tail.part), tail.part.clone(), 0, false);
                reading = tail.read(indexer, &mut budget, batch);
            }
            is_done &= !matches!(reading, Ok(ReadProgress::More));
        }
        for (path, identity) in listed {
            if !is_done {
                break;
            }
            if self.seen.contains(identity) {
                continue;
            }
            let Ok(part) = Part::open(path) else { continue };
            if self.seen.contains(&part.identity) {
                continue;
            }
            self.close_deleted();
            let mut tail = Tail::new(self.add(&part), part, 0, false);
            is_done = !matches!(tail.read(indexer, &mut budget, batch), Ok(ReadProgress::More));
            program.tails.push(tail);
        }
        if is_done {
            program.tails.drain(..program.tails.len().saturating_sub(TAILS));
        }
        is_done
    }

    /// Gives a file a number. Beyond the last number, files are one whose entries cannot be read.
    fn add(&mut self, part: &Part) -> u16 {
        self.seen.insert(part.identity);
        let number = u16::try_from(self.files.len()).ok().filter(|number| *number < u16::MAX);
        if number.is_some() {
            self.files.push(Some(part.clone()));
        }
        number.unwrap_or(u16::MAX)
    }

    fn forget(&mut self, number: u16) {
        if let Some(file) = self.files.get_mut(usize::from(number)) {
            *file = None;
        }
    }

    /// Closes the oldest files that are deleted, so that the disk gets its room back.
    fn close_deleted(&mut self) {
        let is_deleted = |file: &&mut Option<Part>| file.as_ref().is_some_and(Part::is_deleted);
        let mut deleted: Vec<_> = self.files.iter_mut().filter(is_deleted).collect();
        let many = deleted.len().saturating_sub(DELETED);
        for file in deleted.iter_mut().take(many) {
            if let Some(part) = file.take() {
                self.seen.remove(&part.identity);
            }
        }
    }
}
