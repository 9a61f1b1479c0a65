//! What a crash dump of Linux says about the program that left it.

use std::path::{Path, PathBuf};

use super::Host;
use super::elf::number;
use crate::error::{Error, Result};

/// The type of an ELF file that is a crash dump.
const CORE: u64 = 4;
/// The type of a segment with notes.
const NOTES: u64 = 4;
/// The types of the notes with the files that were mapped, with a signal, and with the state of a thread, which begins
/// with its signal.
const FILES: u64 = 0x4649_4c45;
const SIGNAL: u64 = 0x5349_4749;
const THREAD: u64 = 1;
/// More than the notes of a program with thousands of threads.
const LARGEST: u64 = 64 << 20;

/// The program that left a dump. An error for a file that is not a dump.
pub(in crate::adapter) fn program_of(host: &dyn Host, dump: &Path) -> Result<Option<PathBuf>> {
    let header = host.part(dump, 0, 64);
    if !header.starts_with(b"\x7fELF\x02\x01") || number(&header, 16, 2) != Some(CORE) {
        let problem = "is not a crash dump of Linux (an ELF core file)".to_owned();
        return Err(Error::BadFile { path: dump.to_owned(), problem });
    }
    Ok(mapped_first(host, dump, &header))
}

/// The signal by which the program of a dump ended; none if the dump does not have it.
pub(in crate::adapter) fn signal_of(host: &dyn Host, dump: &Path) -> Option<i32> {
    let header = host.part(dump, 0, 64);
    let signal = |kind| {
        let signal = i32::try_from(number(&note(host, dump, &header, kind)?, 0, 4)?).ok()?;
        (signal > 0).then_some(signal)
    };
    signal(SIGNAL).or_else(|| signal(THREAD))
}

/// The file that was mapped at the lowest address, which is the program.
fn mapped_first(host: &dyn Host, dump: &Path, header: &[u8]) -> Option<PathBuf> {
    let text = note(host, dump, header, FILES)?;
    // How many, the size of a page, and three numbers for each; then the names.
    let names = text.get(usize::try_from(16 + 24 * number(&text, 0, 8)?).ok()?..)?;
    let first = names.split(|byte| *byte == 0).next()?;
    Some(PathBuf::from(String::from_utf8_lossy(first).into_owned()))
}

/// The first note of a type.
fn note(host: &dyn Host, dump: &Path, header: &[u8], wanted: u64) -> Option<Vec<u8>> {
    let (table, size, count) = (number(header, 32, 8)?, number(header, 54, 2)?, number(header, 56, 2)?);
    let table = host.part(dump, table, size * count);
    let segments = table.chunks(usize::try_from(size).ok()?);
    let notes = segments.filter(|segment| number(segment, 0, 4) == Some(NOTES)).find_map(|segment| {
        Some(host.part(dump, number(segment, 8, 8)?, number(segment, 32, 8)?.min(LARGEST)))
    })?;
    let padded = |length: u64| usize::try_from(length.next_multiple_of(4)).ok();
    let mut rest = notes.as_slice();
    loop {
        let (name, length, kind) = (number(rest, 0, 4)?, number(rest, 4, 4)?, number(rest, 8, 4)?);
        let text = rest.get(12 + padded(name)?..)?;
        if kind == wanted {
            return Some(text.get(..usize::try_from(length).ok()?)?.to_owned());
        }
        rest = text.get(padded(length)?..)?;
    }
}
