//! The segments of an ELF file, the notes in them, and what they say about which build of a program it is.

use super::elf::number;

/// Reads bytes of a file from an offset: fewer than wanted where it ends.
pub(super) type Read<'a> = &'a dyn Fn(u64, u64) -> Vec<u8>;

/// The types of a segment that is loaded into memory, and of one with notes.
const LOADED: u64 = 1;
const NOTES: u64 = 4;
/// The types of the notes with the build ID: of linkers, and of Go.
const GNU_BUILD_ID: (&[u8], u64) = (b"GNU\0", 3);
const GO_BUILD_ID: (&[u8], u64) = (b"Go\0\0", 4);
/// More than the notes of a program with thousands of threads.
const LARGEST: u64 = 64 << 20;

/// A part of an ELF file that belongs together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    kind: u64,
    /// Where it is in the file, and how much of it.
    pub(super) offset: u64,
    pub(super) stored: u64,
    /// Where it is in memory, and how much of it.
    pub(super) address: u64,
    size: u64,
    alignment: u64,
}

impl Segment {
    fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            kind: number(bytes, 0, 4)?,
            offset: number(bytes, 8, 8)?,
            address: number(bytes, 16, 8)?,
            stored: number(bytes, 32, 8)?,
            size: number(bytes, 40, 8)?,
            alignment: number(bytes, 48, 8)?,
        })
    }

    pub(super) fn is_loaded(&self) -> bool {
        self.kind == LOADED
    }

    pub(super) fn has_notes(&self) -> bool {
        self.kind == NOTES
    }

    /// Where it ends in the file.
    pub(super) fn end(&self) -> u64 {
        self.offset.saturating_add(self.stored)
    }
}

/// The segments of a file; none if it ends before its table of segments does.
pub(super) fn segments(header: &[u8], read: Read<'_>) -> Option<Vec<Segment>> {
    let (table, size, count) = (number(header, 32, 8)?, number(header, 54, 2)?, number(header, 56, 2)?);
    let size_in_memory = usize::try_from(size).ok().filter(|size| *size > 0)?;
    let table = read(table, size * count);
    let segments: Vec<Segment> = table.chunks(size_in_memory).filter_map(Segment::read).collect();
    (segments.len() as u64 == count).then_some(segments)
}

/// A note: who defines its type, the type, and its text.
pub(super) type Note = (Vec<u8>, u64, Vec<u8>);

/// The notes of a segment, as far as the file has them.
pub(super) fn notes(segment: &Segment, read: Read<'_>) -> Vec<Note> {
    let bytes = read(segment.offset, segment.stored.min(LARGEST));
    let alignment = if segment.alignment == 8 { 8 } else { 4 };
    let padded = |length: u64| usize::try_from(length.next_multiple_of(alignment)).ok();
    let mut rest = bytes.as_slice();
    let mut next = || -> Option<Note> {
        let (name, length, kind) = (number(rest, 0, 4)?, number(rest, 4, 4)?, number(rest, 8, 4)?);
        let text_at = padded(12 + name)?;
        let owner = rest.get(12..12 + usize::try_from(name).ok()?)?.to_owned();
        let text = rest.get(text_at..text_at + usize::try_from(length).ok()?)?.to_owned();
        rest = rest.get(text_at + padded(length)?..).unwrap_or_default();
        Some((owner, kind, text))
    };
    std::iter::from_fn(&mut next).collect()
}

/// What distinguishes a build of a program from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Build {
    id: Option<String>,
    /// Address and size of what is loaded.
    loaded: Vec<(u64, u64)>,
}

impl Build {
    /// Reads it from an ELF file, or from the start of one in memory. None if there is no ELF file.
    pub(super) fn read(read: Read<'_>) -> Option<Self> {
        let header = read(0, 64);
        if !header.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let segments = segments(&header, read)?;
        let notes: Vec<Note> =
            segments.iter().filter(|segment| segment.has_notes()).flat_map(|one| notes(one, read)).collect();
        let note = |(owner, kind): (&[u8], u64)| {
            notes.iter().find(|note| note.0 == owner && note.1 == kind).map(|note| note.2.as_slice())
        };
        let id = note(GNU_BUILD_ID)
            .map(hexadecimal)
            .or_else(|| note(GO_BUILD_ID).map(|id| String::from_utf8_lossy(id).into_owned()));
        let loaded = segments.iter().filter(|segment| segment.is_loaded());
        Some(Self { id, loaded: loaded.map(|segment| (segment.address, segment.size)).collect() })
    }

    /// How it differs from the build in a dump; none if it is, or may be, the same.
    pub(super) fn difference(&self, dumped: &Self) -> Option<String> {
        match (&self.id, &dumped.id) {
            (Some(own), Some(dumped)) => {
                (own != dumped).then(|| format!("its build ID is {own}, the dump's {dumped}"))
            }
            _ => (self.loaded != dumped.loaded)
                .then(|| "the sizes of its segments are not those in the dump".to_owned()),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Host, Machine};

    #[test]
    fn builds_differ_by_id_and_without_one_by_what_is_loaded() {
        let build =
            |id: Option<&str>, size| Build { id: id.map(str::to_owned), loaded: vec![(0x1000, size)] };
        let table = [
            (build(Some("ab"), 1), build(Some("ab"), 1), false),
            (build(Some("ab"), 1), build(Some("cd"), 1), true),
            (build(None, 1), build(None, 1), false),
            (build(None, 1), build(None, 2), true),
            (build(Some("ab"), 1), build(None, 2), true),
        ];
        for (given, dumped, differ) in table {
            assert_eq!(given.difference(&dumped).is_some(), differ, "{given:?} {dumped:?}");
        }
    }

    #[test]
    fn the_build_of_a_file_is_read_from_its_first_page_too() {
        let program = std::env::current_exe().unwrap();
        let whole = Build::read(&|from, length| Machine.part(&program, from, length)).unwrap();
        let page = Machine.part(&program, 0, 4096);
        let at = |number: u64| usize::try_from(number).unwrap();
        let first = |from, length| page.iter().skip(at(from)).take(at(length)).copied().collect();
        assert_eq!(Build::read(&first), Some(whole));
        assert_eq!(Build::read(&|_, _| b"text".to_vec()), None);
    }
}
