//! What a crash dump of Linux says about the program that left it.

use std::path::{Path, PathBuf};

use super::Host;
use super::elf::number;
use super::segments::{Build, Segment, notes, segments};
use crate::error::{Error, Result};

/// The type of an ELF file that is a crash dump.
const CORE: u64 = 4;
/// The types of the notes with the files that were mapped, with a signal, with the state of a thread, which begins
/// with its signal, and with what the kernel gave to the program.
const FILES: u64 = 0x4649_4c45;
const SIGNAL: u64 = 0x5349_4749;
const THREAD: u64 = 1;
const AUXILIARY: u64 = 6;
/// The entry of the last with the address of the program's table of segments.
const TABLE_OF_SEGMENTS: u64 = 3;
/// What the kernel appends to the path of a file that was deleted or replaced while the program ran.
const DELETED: &[u8] = b" (deleted)";

/// A crash dump.
#[derive(Debug)]
pub(super) struct Dump<'a> {
    host: &'a dyn Host,
    path: &'a Path,
    segments: Vec<Segment>,
    notes: Vec<(u64, Vec<u8>)>,
}

/// A file that was mapped, at the addresses from `start` to `end`.
struct MappedFile {
    start: u64,
    end: u64,
    /// It is the start of the file that is mapped there.
    is_start: bool,
    path: PathBuf,
}

impl<'a> Dump<'a> {
    /// An error for a file that is not a dump, or that ends before it says anything about the program.
    pub(super) fn open(host: &'a dyn Host, path: &'a Path) -> Result<Self> {
        let bad = |problem: String| Error::BadFile { path: path.to_owned(), problem };
        let header = host.part(path, 0, 64);
        if !header.starts_with(b"\x7fELF\x02\x01") || number(&header, 16, 2) != Some(CORE) {
            return Err(bad(format!(
                "is not a crash dump of Linux (an ELF core file): it is {}",
                kind(&header)
            )));
        }
        let size = host.size(path);
        let read = |from, length| host.part(path, from, length);
        let cut = |whole: &str| bad(format!("is truncated: it has {size} bytes{whole}; {CAUSES}"));
        let segments = segments(&header, &read).ok_or_else(|| cut(", less than its table of contents"))?;
        let whole = segments.iter().map(Segment::end).max().unwrap_or_default();
        let of_threads = segments.iter().filter(|segment| segment.has_notes());
        if of_threads.clone().any(|segment| segment.end() > size) {
            return Err(cut(&format!(" of {whole}, without the state of the threads")));
        }
        let notes = of_threads.flat_map(|segment| notes(segment, &read));
        let notes = notes.map(|(_, kind, text)| (kind, text)).collect();
        Ok(Self { host, path, segments, notes })
    }

    /// The path of the program, which may be another build by now.
    pub(super) fn program(&self) -> Option<PathBuf> {
        self.program_file().map(|file| file.path)
    }

    /// The signal by which the program ended; none if the dump does not have it.
    pub(super) fn signal(&self) -> Option<i32> {
        let signal = |kind| {
            let signal = i32::try_from(number(self.note(kind)?, 0, 4)?).ok()?;
            (signal > 0).then_some(signal)
        };
        signal(SIGNAL).or_else(|| signal(THREAD))
    }

    /// What the dump lacks because its end is missing.
    pub(super) fn truncation(&self) -> Option<String> {
        let (size, whole) = (self.host.size(self.path), self.segments.iter().map(Segment::end).max()?);
        (size < whole).then(|| {
            format!(
                "the dump is truncated: it has {size} of {whole} bytes, and what was in the missing memory cannot be \
                 read; {CAUSES}"
            )
        })
    }

    /// Why a program is certainly not the one that left the dump.
    pub(super) fn difference(&self, program: &Path) -> Option<String> {
        let given = Build::read(&|from, length| self.host.part(program, from, length))?;
        let dumped = |file: &MappedFile| {
            Build::read(&|from, length| self.memory(file.start.saturating_add(from), length))
        };
        let difference = given.difference(&dumped(&self.program_file()?)?)?;
        // The kernel takes the dynamic loader for the program if that was started by name.
        let is_mapped = |file: &MappedFile| {
            file.is_start && dumped(file).is_some_and(|build| given.difference(&build).is_none())
        };
        (!self.files().iter().any(is_mapped)).then_some(difference)
    }

    /// The first note of a type.
    fn note(&self, wanted: u64) -> Option<&[u8]> {
        self.notes.iter().find(|(kind, _)| *kind == wanted).map(|(_, text)| text.as_slice())
    }

    /// The start of the file that has the program's table of segments. Without that, it is the file at the lowest
    /// address.
    fn program_file(&self) -> Option<MappedFile> {
        let table = self.note(AUXILIARY).and_then(|entries| {
            let entry = entries.chunks(16).find(|entry| number(entry, 0, 8) == Some(TABLE_OF_SEGMENTS))?;
            number(entry, 8, 8)
        });
        let mut files = self.files();
        let at =
            files.iter().position(|file| table.is_some_and(|table| file.start <= table && table < file.end));
        let at = at.unwrap_or_default();
        (at < files.len()).then(|| files.swap_remove(at))
    }

    /// The files that were mapped, by address.
    fn files(&self) -> Vec<MappedFile> {
        let Some(text) = self.note(FILES) else { return Vec::new() };
        // How many, the size of a page, and three numbers for each; then the names.
        let count = number(text, 0, 8).and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        let names_at = count.checked_mul(24).and_then(|length| length.checked_add(16));
        let Some(names) = names_at.and_then(|at| text.get(at..)) else { return Vec::new() };
        let ranges = text.get(16..).unwrap_or_default().chunks(24).take(count);
        ranges
            .zip(names.split(|byte| *byte == 0))
            .filter_map(|(range, name)| {
                let name = name.strip_suffix(DELETED).unwrap_or(name);
                Some(MappedFile {
                    start: number(range, 0, 8)?,
                    end: number(range, 8, 8)?,
                    is_start: number(range, 16, 8)? == 0,
                    path: PathBuf::from(String::from_utf8_lossy(name).into_owned()),
                })
            })
            .collect()
    }

    /// The memory at an address, as far as the dump has it.
    fn memory(&self, address: u64, length: u64) -> Vec<u8> {
        let found = self.segments.iter().filter(|segment| segment.is_loaded()).find_map(|segment| {
            let at = address.checked_sub(segment.address)?;
            let length = length.min(segment.stored.checked_sub(at)?);
            Some(self.host.part(self.path, segment.offset.saturating_add(at), length))
        });
        found.unwrap_or_default()
    }
}

/// Why a dump lacks its end, for messages.
const CAUSES: &str = "raise the limit (`ulimit -c unlimited`), check that its disk is not full, and that it was copied \
                      completely";

/// What kind of file a file is, by its first bytes.
fn kind(header: &[u8]) -> &'static str {
    const COMPRESSED: [&[u8]; 4] = [b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"\xfd7zXZ", b"\x1f\x8b"];
    if header.is_empty() {
        "empty"
    } else if COMPRESSED.iter().any(|magic| header.starts_with(magic)) {
        "compressed; decompress it first"
    } else if header.starts_with(b"\x7fELF\x02\x01") {
        "a program, a library or an object file"
    } else if header.starts_with(b"\x7fELF") {
        "an ELF file for a processor of another kind"
    } else if is_text(header) {
        "a text"
    } else {
        "in another format"
    }
}

/// Whether bytes are text, the last character of which may be cut off.
fn is_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0)
        && std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Machine;

    /// The start of a dump with a thread that ended by a signal, and with 4 KiB of memory.
    fn dump(signal: u32) -> Vec<u8> {
        let note =
            [&[5, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0][..], b"CORE\0\0\0\0", &signal.to_le_bytes()].concat();
        let mut header = vec![0; 64];
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (header[16], header[32], header[54], header[56]) = (4, 64, 56, 2);
        let segment = |kind: u64, offset: u64, stored: u64| {
            let numbers = [kind, offset, 0x1000, 0, stored, stored, 4];
            numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>()
        };
        let length = note.len() as u64;
        [header, segment(4, 176, length), segment(1, 176 + length, 4096), note].concat()
    }

    #[test]
    fn a_dump_without_its_end_has_its_threads_and_says_what_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump");
        let start = dump(11);
        let open = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let dump = Dump::open(&Machine, &path)?;
            Ok::<_, Error>((dump.signal(), dump.truncation()))
        };
        let whole = [start.clone(), vec![0; 4096]].concat();
        assert_eq!(open(&whole).unwrap(), (Some(11), None));
        let (signal, truncation) = open(&start).unwrap();
        let expected = format!("it has {} of {} bytes", start.len(), whole.len());
        assert!(signal == Some(11) && truncation.is_some_and(|text| text.contains(&expected)));
        for length in [start.len() - 1, 100] {
            let error = open(&start[..length]).unwrap_err().to_string();
            assert!(error.contains("is truncated"), "{error}");
        }
    }

    #[test]
    fn other_files_are_named() {
        let table: [(&[u8], &str); 5] = [
            (b"", "empty"),
            ("für".as_bytes(), "a text"),
            (b"\x28\xb5\x2f\xfd\0", "compressed; decompress it first"),
            (b"\x7fELF\x02\x01\x01", "a program, a library or an object file"),
            (b"MDMP\0\xff", "in another format"),
        ];
        for (header, expected) in table {
            assert_eq!(kind(header), expected);
        }
    }
}
