//! Which files a journal has.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Identifies a file, whatever its name.
pub(super) type Identity = (u64, u64);

/// A file of a journal.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) file: Arc<File>,
    pub(super) identity: Identity,
}

impl Part {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
        }
        Ok(Self { file: Arc::new(file), identity: (metadata.dev(), metadata.ino()) })
    }

    /// In bytes.
    pub(super) fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// It no longer has a name.
    pub(super) fn is_deleted(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }

    /// The bytes from `start` on, as many as there are, at most `length`.
    pub(super) fn read(&self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let mut filled = 0;
        while let Some(room) = bytes.get_mut(filled..).filter(|room| !room.is_empty()) {
            match self.file.read_at(room, start + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }
}

/// The files of a journal that there are, for each program that wrote one, oldest first, with what identifies them.
/// Programs are numbered as in `x.log`, `x.2.log`, `x.3.log`.
pub(super) fn list(path: &Path) -> io::Result<BTreeMap<usize, Vec<(PathBuf, Identity)>>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut found: BTreeMap<usize, Vec<(usize, PathBuf, Identity)>> = BTreeMap::new();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(error),
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((program, aside)) = name.to_str().and_then(|name| place_of(path, name)) else { continue };
        // Through a link, as opening goes.
        let Ok(metadata) = fs::metadata(entry.path()) else { continue };
        if metadata.is_file() {
            let identity = (metadata.dev(), metadata.ino());
            found.entry(program).or_default().push((aside, entry.path(), identity));
        }
    }
    let sorted = found.into_iter().map(|(program, mut files)| {
        files.sort_by_key(|(aside, ..)| std::cmp::Reverse(*aside));
        (program, files.into_iter().map(|(_, path, identity)| (path, identity)).collect())
    });
    Ok(sorted.collect())
}

/// Which program's file a name is, and how often it was set aside.
fn place_of(path: &Path, name: &str) -> Option<(usize, usize)> {
    let stem = path.file_stem()?.to_str()?;
    let extension = path.extension().map_or(Some(""), |extension| extension.to_str())?;
    let behind = name.strip_prefix(stem)?;
    let first = if extension.is_empty() { String::new() } else { format!(".{extension}") };
    if let Some(aside) = behind.strip_prefix(&first).and_then(set_aside) {
        return Some((1, aside));
    }
    let (program, aside) = behind.strip_prefix('.')?.split_once('.')?;
    let program = number(program).filter(|program| *program > 1)?;
    let written = if extension.is_empty() { "log" } else { extension };
    Some((program, set_aside(aside.strip_prefix(written)?)?))
}

/// Nothing is 0, `.3` is 3.
fn set_aside(suffix: &str) -> Option<usize> {
    if suffix.is_empty() { Some(0) } else { number(suffix.strip_prefix('.')?) }
}

fn number(digits: &str) -> Option<usize> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if is_number { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_identify_the_server_and_age() {
        let cases = [
            ("x.log", "x.log", Some((1, 0))),
            ("x.log", "x.log.1", Some((1, 1))),
            ("x.log", "x.log.12", Some((1, 12))),
            ("x.log", "x.2.log", Some((2, 0))),
            ("x.log", "x.2.log.3", Some((2, 3))),
            ("x.log", "x.1.log", None),
            ("x.log", "x.02.log", None),
            ("x.log", "x.log.gz", None),
            ("x.log", "x.log.", None),
            ("x.log", "xy.log", None),
            ("x.log", "y.log", None),
            ("x.log", "x.2.txt", None),
            ("x", "x", Some((1, 0))),
            ("x", "x.1", Some((1, 1))),
            ("x", "x.2.log", Some((2, 0))),
        ];
        for (path, name, expected) in cases {
            assert_eq!(place_of(Path::new(path), name), expected, "{path} {name}");
        }
    }
}
