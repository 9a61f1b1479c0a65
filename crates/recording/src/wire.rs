//! Records, as a recorder inside the program writes them into files that are mapped into memory.
//!
//! The other side and the format are in `debuggee/python/record_wire.py`. What a program writes may be anything, so
//! that a malformed record ends the recording and nothing else.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes of a file.
const SIZE: usize = 8 << 18;

/// Bytes that are read at once.
const PART: usize = 1 << 18;

/// Why something is missing where the record for it holds other bytes.
const UNREADABLE: &str = "some records cannot be read";

/// One record. A gap says why something is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Line {
        call: u64,
        place: u64,
    },
    /// Of a process that was forked, also a call that its parent had begun.
    Enter {
        call: u64,
        code: u64,
        owner: u64,
        thread: u64,
        caller: u64,
        is_forked: bool,
    },
    Leave {
        call: u64,
        value: u64,
    },
    Unwind {
        call: u64,
    },
    /// The same, by an exception after which this many others were thrown.
    Pass {
        call: u64,
        since: u64,
    },
    Throw {
        call: u64,
        value: u64,
    },
    Suspend {
        call: u64,
        value: u64,
    },
    Resume {
        call: u64,
        caller: u64,
    },
    Thread {
        id: u64,
        name: u64,
    },
    /// Of one that is shown again, the program has not written it: another variable of the same name hid this one.
    Write {
        key: u64,
        owner: u64,
        by: u64,
        value: u64,
        is_shown_again: bool,
    },
    Text {
        id: u64,
        text: String,
    },
    /// The prototype is the object that it inherits from; 0 for none.
    Object {
        id: u64,
        type_name: u64,
        kind: u64,
        prototype: u64,
    },
    Atom {
        id: u64,
        type_name: u64,
        flags: u64,
        text: String,
    },
    Code {
        id: u64,
        file: u64,
        name: u64,
        line: u64,
    },
    Place {
        id: u64,
        code: u64,
        line: u64,
    },
    Output {
        stream: u64,
        call: u64,
        text: String,
    },
    Gap {
        text: String,
    },
}

/// What a look at the files gave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// Some records.
    Records(Vec<Record>),
    /// Nothing new.
    Nothing,
    /// What is there is no record.
    Malformed,
}

/// A file of a recording in progress: all of their names begin with the same path.
pub(crate) fn beside(prefix: &Path, what: impl std::fmt::Display) -> PathBuf {
    let mut path = prefix.as_os_str().to_owned();
    path.push(format!("-{what}"));
    path.into()
}

/// The reading end. Its files are removed as they are read, and when it is dropped.
#[derive(Debug)]
pub(crate) struct Wire {
    prefix: PathBuf,
    number: u64,
    file: Option<File>,
    /// Where the next record begins, in bytes.
    at: usize,
    /// The last file was short: it had its name only when it was complete, and another one need not follow.
    was_short: bool,
}

impl Wire {
    pub(crate) fn new(prefix: PathBuf) -> Self {
        Self { prefix, number: 0, file: None, at: 0, was_short: false }
    }

    fn path(&self, what: impl std::fmt::Display) -> PathBuf {
        beside(&self.prefix, what)
    }

    /// Lets the program know that nothing more is read.
    pub(crate) fn close(&self) {
        // Without it, the program finds out after a while.
        let _ = File::create(self.path("closed"));
    }

    /// What has been written since the last time, at most the rest of a file.
    pub(crate) fn read(&mut self) -> std::io::Result<Read> {
        let at = self.at;
        let Some(file) = self.open()? else { return Ok(Read::Nothing) };
        // A record's first word is written last, but the processor may read it first. So a record counts only if its
        // first word was there before everything was read again.
        let mut before = vec![0; (SIZE - at).min(PART)];
        let count = file.read_at(&mut before, at as u64)?;
        before.truncate(count);
        if count > 0 && before.get(..8).is_none_or(|first| first == [0; 8]) {
            return Ok(Read::Nothing);
        }
        let mut bytes = vec![0; count];
        file.read_exact_at(&mut bytes, at as u64)?;
        let mut words = Words { bytes: &bytes, at: 0 };
        let mut records = Vec::new();
        let mut is_over = count == 0;
        let parsed = loop {
            let begin = words.at;
            if before.get(begin..begin + 8).is_none_or(|first| first == [0; 8]) {
                break begin;
            }
            match words.record() {
                Parsed::Record(record) => records.push(record),
                Parsed::Next => {
                    is_over = true;
                    break begin;
                }
                Parsed::Incomplete => break begin,
                Parsed::Malformed => return Ok(Read::Malformed),
            }
        };
        self.at += parsed;
        if is_over || self.at >= SIZE {
            self.was_short = count == 0;
            self.advance();
        }
        if records.is_empty() && !is_over {
            // A record that is longer than what is read at once would never be complete.
            return Ok(if parsed == 0 && count == PART { Read::Malformed } else { Read::Nothing });
        }
        Ok(Read::Records(records))
    }

    /// Whether a file is full and the program, which has ended, could not begin another one.
    pub(crate) fn lacks_file(&self) -> bool {
        self.number > 0 && self.file.is_none() && !self.was_short
    }

    /// Whether something is written behind what could be read.
    pub(crate) fn has_unread(&self) -> bool {
        let Some(file) = &self.file else { return false };
        let mut rest = Vec::new();
        let mut reader = file;
        let sought = std::io::Seek::seek(&mut reader, std::io::SeekFrom::Start(self.at as u64));
        let is_read = sought.and_then(|_| std::io::Read::read_to_end(&mut reader, &mut rest)).is_ok();
        // A file of full size may have room left.
        is_read && rest.iter().any(|byte| *byte != 0 || self.at + rest.len() < SIZE)
    }

    fn open(&mut self) -> std::io::Result<Option<&File>> {
        if self.file.is_none() {
            match File::open(self.path(self.number)) {
                Ok(file) => self.file = Some(file),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(self.file.as_ref())
    }

    fn advance(&mut self) {
        remove(&self.path(self.number));
        self.number += 1;
        (self.file, self.at) = (None, 0);
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        while self.path(self.number).exists() {
            self.advance();
        }
        remove(&self.path("closed"));
    }
}

fn remove(path: &Path) {
    // A cleaner of the temporary folder may have removed it first.
    let _ = std::fs::remove_file(path);
}

enum Parsed {
    Record(Record),
    Next,
    Incomplete,
    Malformed,
}

/// A number as JavaScript shows it.
fn number_text(number: f64) -> String {
    let plain = number.to_string();
    if !number.is_finite() {
        return plain.replace("inf", "Infinity");
    }
    let decimals = plain.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let decimals = i32::try_from(decimals).unwrap_or_default();
    if decimals > 0 && number.abs() >= 1e-6 && !is_between(number, decimals) {
        return plain;
    }
    let shown = format!("{:e}", number.abs());
    let (digits, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let (mut digits, exponent) = (digits.replace('.', ""), exponent.parse().unwrap_or(0_i32));
    let decimals = i32::try_from(digits.len()).unwrap_or_default() - 1 - exponent;
    // Of two shortest numbers that are as near, JavaScript has the even one.
    if is_between(number, decimals) {
        let last = digits.pop().and_then(|last| last.to_digit(10)).unwrap_or_default();
        let even = format!("{digits}{}", last & !1);
        let is_it = format!("{even}e{}", -decimals).parse() == Ok(number.abs());
        digits = if is_it { even } else { format!("{digits}{last}") };
    }
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if (0..21).contains(&exponent) {
        digits.push_str(&zeros(-decimals));
        let (whole, rest) = digits.split_at(usize::try_from(exponent + 1).unwrap_or_default());
        return format!("{sign}{whole}{}{rest}", if rest.is_empty() { "" } else { "." });
    }
    if (-6..0).contains(&exponent) {
        return format!("{sign}0.{}{digits}", zeros(-1 - exponent));
    }
    let (whole, rest) = digits.split_at(1);
    format!("{sign}{whole}{}{rest}e{exponent:+}", if rest.is_empty() { "" } else { "." })
}

/// Whether a number is exactly between two others that have so many decimals, fewer than none if they end in zeros.
fn is_between(number: f64, decimals: i32) -> bool {
    let bits = number.to_bits();
    let (fraction, exponent) = (bits & ((1 << 52) - 1), bits >> 52 & 0x7ff);
    let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let odd = mantissa >> mantissa.trailing_zeros().min(63);
    let twos = i32::try_from(exponent.max(1)).unwrap_or_default() - 1075
        + i32::try_from(mantissa.trailing_zeros()).unwrap_or_default();
    if twos < 0 {
        // It has as many decimals as it has binary places.
        return decimals == -twos - 1;
    }
    let unit = u32::try_from(-decimals).ok().and_then(|zeros| 10_u128.checked_pow(zeros));
    let whole =
        u32::try_from(twos).ok().and_then(|twos| u128::from(odd).checked_mul(2_u128.checked_pow(twos)?));
    matches!((unit, whole), (Some(unit @ 2..), Some(whole)) if whole % unit == unit / 2)
}

/// A cursor over words.
struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Words<'_> {
    fn word(&mut self) -> Option<u64> {
        let bytes = self.bytes.get(self.at..self.at + 8)?;
        self.at += 8;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Some bytes, padded to words.
    fn text(&mut self, length: usize) -> Option<String> {
        let end = self.at.checked_add(length.checked_next_multiple_of(8)?)?;
        let bytes = self.bytes.get(self.at..self.at + length)?;
        self.bytes.get(self.at..end)?;
        self.at = end;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    fn record(&mut self) -> Parsed {
        let Some(first) = self.word().filter(|word| *word != 0) else { return Parsed::Incomplete };
        if first & 31 == 16 {
            return Parsed::Next;
        }
        if !matches!(first & 31, 1..=15 | 17..=20) {
            return Parsed::Malformed;
        }
        self.rest(first).map_or(Parsed::Incomplete, Parsed::Record)
    }

    /// The record that begins with this word.
    fn rest(&mut self, first: u64) -> Option<Record> {
        let number = first >> 5;
        Some(match first & 31 {
            1 => Record::Line { call: first >> 29, place: number & 0xff_ffff },
            2 => {
                let (forked, [code, owner, thread, caller]) = self.blob()?;
                Record::Enter { call: number, code, owner, thread, caller, is_forked: !forked.is_empty() }
            }
            3 => Record::Leave { call: number, value: self.word()? },
            4 => Record::Unwind { call: number },
            5 => Record::Throw { call: number, value: self.word()? },
            6 => Record::Suspend { call: number, value: self.word()? },
            7 => Record::Resume { call: number, caller: self.word()? >> 1 },
            8 => Record::Thread { id: number, name: self.word()? >> 1 },
            tag @ (9 | 19) => {
                let (owner, value) = (self.word()?, self.word()?);
                let (owner, by) = ((owner & 0xffff_ffff) >> 1, owner >> 32);
                Record::Write { key: number, owner, by, value, is_shown_again: tag == 19 }
            }
            10 => Record::Text { id: number, text: self.blob::<0>()?.0 },
            11 => {
                let word = self.word()?;
                let type_name = (word & 0xffff_ffff) >> 3;
                Record::Object { id: number, type_name, kind: word & 7, prototype: word >> 32 }
            }
            12 => {
                let (text, [type_name, flags]) = self.blob()?;
                Record::Atom { id: number, type_name, flags, text }
            }
            13 => {
                let (_, [file, name, line]) = self.blob()?;
                Record::Code { id: number, file, name, line }
            }
            14 => {
                let (code, line) = (self.word()? >> 1, self.word()? >> 1);
                Record::Place { id: number, code, line }
            }
            15 => {
                let (text, [call]) = self.blob()?;
                Record::Output { stream: number, call, text }
            }
            20 => {
                let (text, type_name) = (number_text(f64::from_bits(self.word()?)), self.word()? >> 1);
                Record::Atom { id: number, type_name, flags: 0, text }
            }
            18 => Record::Pass { call: number, since: self.word()? >> 1 },
            _ => Record::Gap { text: readable(self.blob::<0>()?.0) },
        })
    }

    fn blob<const N: usize>(&mut self) -> Option<(String, [u64; N])> {
        let length = usize::try_from(self.word()? >> 1).ok()?;
        let mut words = [0; N];
        for word in &mut words {
            *word = self.word()? >> 1;
        }
        Some((self.text(length)?, words))
    }
}

/// The reason for a gap, unless it is none: what two processes write to one file may be taken for one.
fn readable(text: String) -> String {
    let is_binary = text.contains(|letter: char| letter.is_control() && !letter.is_whitespace());
    if is_binary { UNREADABLE.to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, words: &[u64]) {
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(SIZE, 0);
        std::fs::write(path, bytes).unwrap();
    }

    #[test]
    fn records_are_read_across_files_which_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path().join("segment");
        let text = u64::from_le_bytes(*b"total\0\0\0");
        write(
            &folder.path().join("segment-0"),
            &[7 << 29 | 3 << 5 | 1, 4 << 5 | 0xa, 5 << 1 | 1, text, 0x10],
        );
        write(&folder.path().join("segment-1"), &[9 << 5 | 3, 41 << 3 | 1]);
        let mut wire = Wire::new(prefix);
        let first =
            vec![Record::Line { call: 7, place: 3 }, Record::Text { id: 4, text: "total".to_owned() }];
        assert_eq!(wire.read().unwrap(), Read::Records(first));
        assert!(!folder.path().join("segment-0").exists());
        assert_eq!(wire.read().unwrap(), Read::Records(vec![Record::Leave { call: 9, value: 41 << 3 | 1 }]));
        assert_eq!(wire.read().unwrap(), Read::Nothing);
        drop(wire);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_that_is_missing_at_the_end_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let mut wire = Wire::new(folder.path().join("segment"));
        assert_eq!((wire.read().unwrap(), wire.lacks_file()), (Read::Nothing, false));
        write(&folder.path().join("segment-0"), &[9 << 5 | 4, 0x10]);
        assert_eq!(wire.read().unwrap(), Read::Records(vec![Record::Unwind { call: 9 }]));
        assert_eq!((wire.read().unwrap(), wire.lacks_file()), (Read::Nothing, true));
    }

    #[test]
    fn no_file_need_follow_a_short_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut wire = Wire::new(folder.path().join("segment"));
        std::fs::write(folder.path().join("segment-0"), (9_u64 << 5 | 4).to_le_bytes()).unwrap();
        assert_eq!(wire.read().unwrap(), Read::Records(vec![Record::Unwind { call: 9 }]));
        assert_eq!(wire.read().unwrap(), Read::Records(Vec::new()));
        assert_eq!((wire.read().unwrap(), wire.lacks_file()), (Read::Nothing, false));
    }

    #[test]
    fn what_is_behind_a_gap_is_unread() {
        let folder = tempfile::tempdir().unwrap();
        let mut wire = Wire::new(folder.path().join("segment"));
        write(&folder.path().join("segment-0"), &[9 << 5 | 4]);
        assert_eq!(wire.read().unwrap(), Read::Records(vec![Record::Unwind { call: 9 }]));
        assert!(!wire.has_unread());
        write(&folder.path().join("segment-0"), &[9 << 5 | 4, 0, 8 << 5 | 4]);
        assert_eq!((wire.read().unwrap(), wire.has_unread()), (Read::Nothing, true));
    }

    #[test]
    fn a_gap_has_no_bytes_for_its_reason() {
        for (text, expected) in [(*b"it\nfails", "it\nfails"), (*b"it\0fails", UNREADABLE)] {
            let folder = tempfile::tempdir().unwrap();
            let mut wire = Wire::new(folder.path().join("segment"));
            write(&folder.path().join("segment-0"), &[17, 8 << 1 | 1, u64::from_le_bytes(text)]);
            assert_eq!(wire.read().unwrap(), Read::Records(vec![Record::Gap { text: expected.to_owned() }]));
        }
    }

    #[test]
    fn a_short_file_has_nothing_but_records() {
        let folder = tempfile::tempdir().unwrap();
        let mut wire = Wire::new(folder.path().join("segment"));
        let words = [9_u64 << 5 | 4, 0].map(u64::to_le_bytes).concat();
        std::fs::write(folder.path().join("segment-0"), words).unwrap();
        assert_eq!(wire.read().unwrap(), Read::Records(vec![Record::Unwind { call: 9 }]));
        assert_eq!((wire.read().unwrap(), wire.has_unread()), (Read::Nothing, true));
    }

    #[test]
    fn numbers_are_shown_as_in_javascript() {
        for (number, shown) in [
            (0.1 + 0.2, "0.30000000000000004"),
            (-0.0, "-0"),
            (1e20 + 0.5, "100000000000000000000"),
            (1.5e21, "1.5e+21"),
            (-1e-6, "-0.000001"),
            (1.25e-7, "1.25e-7"),
            (5e-324, "5e-324"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(number_text(number), shown);
        }
    }

    #[test]
    fn what_is_no_record_is_malformed() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("segment-0"), &[31]);
        assert_eq!(Wire::new(folder.path().join("segment")).read().unwrap(), Read::Malformed);
    }
}
