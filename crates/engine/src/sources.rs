//! Reading source files: their lines, a line by its text, and names close to one that does not exist.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The largest file that is read as source, in bytes.
const LARGEST: u64 = 20 * 1024 * 1024;

/// How many files are searched for a similar name.
const SEARCHED: usize = 5000;
/// How many folders deep.
const DEPTH: usize = 6;
/// Folders that hold no source of the user's.
const SKIPPED: [&str; 5] = ["node_modules", "__pycache__", "target", "venv", "site-packages"];

/// The path from the root, without `.` and `..` where the file exists.
pub fn absolute(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if absolute.components().any(|part| part == std::path::Component::ParentDir) {
        return absolute.canonicalize().unwrap_or(absolute);
    }
    absolute
}

/// Whether a file has changed after another one was written. Not if one of them cannot be read.
pub fn is_newer(file: &Path, than: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    changed(file).zip(changed(than)).is_some_and(|(file, than)| file > than)
}

/// The text of a file, with lines that end in `\n`. Bytes that are not UTF-8 are replaced.
///
/// Only a regular file of moderate size is read: a pipe could block forever, and a device may be endless.
pub fn read_text(path: &Path) -> Result<String> {
    read_checked(path, |_| Ok(()))
}

/// The same for a file that is checked again after it was opened: its name may lead elsewhere since.
pub(crate) fn read_checked(path: &Path, check: impl FnOnce(&File) -> Result<()>) -> Result<String> {
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    check_regular(path, &metadata)?;
    if metadata.len() > LARGEST {
        return Err(unusable(
            path,
            format!("has {} bytes, the limit for source is {LARGEST}", metadata.len()),
        ));
    }
    // With room after it, reading ends without one more allocation.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    check(&file)?;
    // The size says nothing where the system makes the content up, and a file may grow meanwhile.
    file.take(LARGEST).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    Ok(decode(bytes))
}

/// Refuses what cannot be a program: anything but a regular file that can be read.
pub(crate) fn check_readable(path: &Path) -> Result<()> {
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    check_regular(path, &metadata)?;
    File::open(path).map(drop).map_err(|error| unreadable(path, &error))
}

/// Opens the standard input for a program: a regular file, or the null device. Opening a pipe would wait for a
/// writer.
pub fn open_input(path: &Path) -> Result<File> {
    let cannot = |error: std::io::Error| unusable(path, format!("cannot be read: {error}"));
    let metadata = std::fs::metadata(path).map_err(cannot)?;
    if !path.canonicalize().is_ok_and(|path| path == Path::new("/dev/null")) {
        check_regular(path, &metadata)?;
    }
    File::open(path).map_err(cannot)
}

fn check_regular(path: &Path, metadata: &Metadata) -> Result<()> {
    if metadata.is_dir() {
        return Err(unusable(path, "is a directory".to_owned()));
    }
    if !metadata.is_file() {
        return Err(unusable(path, "is a pipe, a socket or a device, not a regular file".to_owned()));
    }
    Ok(())
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    if error.kind() == std::io::ErrorKind::NotFound {
        return Error::NoFile { path: path.to_owned(), similar: similar(path) };
    }
    unusable(path, format!("cannot be read: {error}"))
}

fn unusable(path: &Path, problem: String) -> Error {
    Error::BadFile { path: path.to_owned(), problem }
}

/// The text of a source file, with one kind of line end and no byte order mark. What is not UTF-8 is mostly Latin-1.
fn decode(mut bytes: Vec<u8>) -> String {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    let text = String::from_utf8(bytes);
    let text = text.unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect());
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
}

/// Files that may be meant instead of one that does not exist: those of the same name below the working
/// directory, and those of nearly the same name beside it.
fn similar(path: &Path) -> Vec<PathBuf> {
    let Some(wanted) = path.file_name().map(|name| name.to_string_lossy().to_lowercase()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if let Ok(cwd) = std::env::current_dir() {
        let mut budget = SEARCHED;
        collect_named(&cwd, &wanted, DEPTH, &mut budget, &mut found);
    }
    if let Some(Ok(beside)) = path.parent().map(std::fs::read_dir) {
        let names = beside.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file());
        let close = names.filter(|path| {
            path.file_name()
                .is_some_and(|name| distance(&name.to_string_lossy().to_lowercase(), &wanted) <= 2)
        });
        found.extend(close);
    }
    found.sort();
    found.dedup();
    found.truncate(5);
    found
}

fn collect_named(folder: &Path, wanted: &str, depth: usize, budget: &mut usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.filter_map(std::result::Result::ok) {
        if *budget == 0 {
            return;
        }
        *budget -= 1;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        // Links are not followed: they may lead in circles.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
            collect_named(&entry.path(), wanted, depth - 1, budget, found);
        } else if kind.is_file() && name == wanted {
            found.push(entry.path());
        }
    }
}

/// How many single-character changes lie between two words (Levenshtein).
pub fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (b, &above) in other.iter().zip(row.iter().skip(1)) {
            let here = (diagonal + usize::from(a != *b)).min(above + 1).min(left + 1);
            diagonal = above;
            left = here;
            next.push(here);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

/// The name that one that does not exist was probably meant to be: at most two letters are different.
pub fn meant<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (far, name) = known.map(|name| (distance(name, wanted), name)).min()?;
    (far <= 2 && far < wanted.len()).then_some(name)
}

/// The names closest to one that does not exist, each in backticks; at most five.
pub fn nearest_names(wanted: &str, mut known: Vec<String>) -> Vec<String> {
    known.sort_by_cached_key(|name| distance(name, wanted));
    known.into_iter().take(5).map(|name| format!("`{name}`")).collect()
}

/// Where a text occurs in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatementMatch {
    /// On this line, 1-based.
    Line(u32),
    /// On several, with their texts.
    Several(Vec<(u32, String)>),
    /// Nowhere; these lines have most in common with it.
    Nowhere(Vec<(u32, String)>),
}

/// Finds a line by its text. A part of it is enough; white space counts as one blank. Of several lines, one
/// that is the text as a whole wins over those that contain it, and then the one nearest to `near`.
pub fn find_statement(lines: &[String], text: &str, near: Option<u32>) -> StatementMatch {
    let wanted = collapse_whitespace(text);
    let numbered = || (1u32..).zip(lines.iter().map(|line| collapse_whitespace(line)));
    let whole: Vec<(u32, String)> = numbered().filter(|(_, line)| *line == wanted).collect();
    let mut matches = if whole.is_empty() {
        numbered().filter(|(_, line)| line.contains(&wanted)).collect()
    } else {
        whole
    };
    if wanted.is_empty() {
        return StatementMatch::Nowhere(Vec::new());
    }
    if let Some(near) = near {
        // Two at the same distance stay ambiguous.
        let closest = matches.iter().map(|(line, _)| line.abs_diff(near)).min();
        matches.retain(|(line, _)| Some(line.abs_diff(near)) == closest);
    }
    match matches.as_slice() {
        [] => StatementMatch::Nowhere(most_similar(lines, &wanted)),
        [(line, _)] => StatementMatch::Line(*line),
        _ => StatementMatch::Several(matches),
    }
}

/// The column at which a text begins that [`find_statement`] found on a line, 1-based, in UTF-16 units.
pub fn column_of(line: &str, text: &str) -> Option<u32> {
    let wanted = collapse_whitespace(text);
    let first_word = wanted.split(' ').next().filter(|word| !word.is_empty())?;
    let begins = |at: &usize| collapse_whitespace(line.get(*at..).unwrap_or_default()).starts_with(&wanted);
    let at = line.match_indices(first_word).map(|(at, _)| at).find(begins)?;
    u32::try_from(line.get(..at)?.encode_utf16().count()).ok()?.checked_add(1)
}

/// The text of a line from a column up to another, both as [`column_of`] gives them.
pub fn between_columns(line: &str, from: u32, to: u32) -> String {
    let units = line.encode_utf16().skip(from.saturating_sub(1) as usize);
    let units: Vec<u16> = units.take(to.saturating_sub(from) as usize).collect();
    String::from_utf16_lossy(&units)
}

fn collapse_whitespace(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Up to three lines that share words with the text.
fn most_similar(lines: &[String], wanted: &str) -> Vec<(u32, String)> {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(|word| word.len() > 1)
            .map(str::to_owned)
            .collect()
    };
    let wanted = words(wanted);
    let mut scored: Vec<(usize, u32, String)> = (1u32..)
        .zip(lines)
        .map(|(number, line)| {
            let found = words(line);
            (wanted.iter().filter(|word| found.contains(word)).count(), number, line.trim().to_owned())
        })
        .filter(|(score, ..)| *score > 0)
        .collect();
    scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().take(3).map(|(_, number, line)| (number, line)).collect()
}

/// Why a breakpoint in a file that the program may still load is not bound.
pub const NOT_LOADED_YET: &str = "its file is not loaded yet; it binds when the program loads it";

/// Says that a program has not loaded a file, and which ones it has, those of similar names first.
pub fn not_loaded(file: &Path, mut loaded: Vec<String>) -> String {
    const SHOWN: usize = 3;
    let wanted = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_lowercase();
    loaded.sort_by_cached_key(|path| distance(&name(path), &wanted));
    loaded.truncate(SHOWN);
    let near =
        if loaded.is_empty() { String::new() } else { format!("; it has loaded {}", loaded.join(", ")) };
    format!("the program has not loaded {}{near}", file.display())
}

/// The nearest of some ascending numbers to a requested one; the first of two equally near ones.
pub fn nearest(numbers: &[u32], wanted: u32) -> Option<u32> {
    numbers.iter().copied().min_by_key(|number| number.abs_diff(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn loaded_files_of_similar_names_come_first() {
        let loaded = ["/x/app.js", "/x/basket.js", "/y/Baskets.js", "/z.js"].map(str::to_owned).to_vec();
        let told = not_loaded(Path::new("/src/baskets.js"), loaded);
        let start = "the program has not loaded /src/baskets.js; it has loaded /y/Baskets.js, /x/basket.js, ";
        assert!(told.starts_with(start), "{told}");
        assert_eq!(not_loaded(Path::new("/a.js"), Vec::new()), "the program has not loaded /a.js");
    }

    #[test]
    fn marks_of_the_byte_order_and_of_line_ends_are_left_out() {
        assert_eq!(decode(b"\xef\xbb\xbfa\r\nb\rc".to_vec()), "a\nb\nc");
        assert_eq!(decode(b"caf\xe9".to_vec()), "caf\u{e9}");
    }

    #[test]
    fn the_first_of_two_equally_near_numbers_is_chosen() {
        for (wanted, expected) in [(1, 3), (3, 3), (5, 3), (6, 8), (100, 8)] {
            assert_eq!(nearest(&[3, 8], wanted), Some(expected), "{wanted}");
        }
        assert_eq!(nearest(&[3, 7], 5), Some(3));
        assert_eq!(nearest(&[], 5), None);
    }

    #[test]
    fn a_line_is_found_by_its_text() {
        let file =
            lines("total = 0\nfor x in xs:\n    total += x\n    print(x)\nprint(total)\n  print( x )\n");
        let table: [(&str, Option<u32>, StatementMatch); 6] = [
            ("total += x", None, StatementMatch::Line(3)),
            ("for x", None, StatementMatch::Line(2)),
            ("print(total)", None, StatementMatch::Line(5)),
            ("total  =   0", None, StatementMatch::Line(1)),
            ("print(x)", Some(6), StatementMatch::Line(4)),
            ("no such text", None, StatementMatch::Nowhere(vec![])),
        ];
        for (text, near, expected) in table {
            assert_eq!(find_statement(&file, text, near), expected, "{text}");
        }
        let StatementMatch::Several(several) = find_statement(&file, "print", None) else {
            panic!("ambiguous")
        };
        assert_eq!(several.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [4, 5, 6]);
        assert_eq!(find_statement(&file, "print", Some(6)), StatementMatch::Line(6));
        let StatementMatch::Nowhere(alike) = find_statement(&file, "total -= x", None) else {
            panic!("nowhere")
        };
        assert_eq!(alike.first(), Some(&(1, "total = 0".to_owned())));
    }

    #[test]
    fn exact_line_wins_over_one_that_contains_the_text() {
        let file = lines("x = 1\nx = 10\n");
        assert_eq!(find_statement(&file, "x = 1", None), StatementMatch::Line(1));
    }

    #[test]
    fn edit_distances_are_computed() {
        let table =
            [("a.py", "a.py", 0), ("swap.py", "swpa.py", 2), ("", "abc", 3), ("main.py", "man.py", 1)];
        for (one, other, expected) in table {
            assert_eq!(distance(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn a_missing_file_has_similar_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["swap_vars.py", "other.py"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let missing = folder.path().join("swap_var.py");
        let Err(Error::NoFile { similar, .. }) = read_text(&missing) else { panic!("no file") };
        assert_eq!(similar, [folder.path().join("swap_vars.py")]);
        assert_eq!(read_text(folder.path()).unwrap_err().code(), "file_unusable");
    }

    #[test]
    fn endless_files_are_not_read() {
        for path in ["/dev/zero", "/dev/full"] {
            let error = read_text(Path::new(path)).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("`{path}` is a pipe, a socket or a device, not a regular file")
            );
            assert_eq!(open_input(Path::new(path)).unwrap_err(), error);
        }
        assert!(open_input(Path::new("/dev/null")).is_ok());
    }

    #[test]
    fn too_large_files_are_not_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(LARGEST).unwrap();
        assert!(read_text(file.path()).is_ok());
        file.as_file().set_len(LARGEST + 1).unwrap();
        assert_eq!(read_text(file.path()).unwrap_err().code(), "file_unusable");
        assert!(open_input(file.path()).is_ok(), "a program reads as much as it likes");
    }
}
