//! Files in the cache, which are written beside their place and moved there whole.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// A path beside another one for what is moved there once it is whole. Nothing else uses it: other servers and other
/// sessions may be making the same thing at this moment.
pub fn part_of(path: &Path) -> PathBuf {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{number}", std::process::id()));
    name.into()
}

/// Moves a folder that is whole to its place. Another server may have made the same meanwhile.
///
/// # Errors
///
/// It cannot be moved, and it is not there.
pub(crate) fn put(part: &Path, place: &Path, is_there: impl Fn() -> bool) -> Result<()> {
    let moved = std::fs::rename(part, place);
    let _ = std::fs::remove_dir_all(part);
    if is_there() { Ok(()) } else { moved.map_err(|error| unwritable(place, &error)) }
}

/// The folder below `place` with our own files of these names and texts, which are written there if they are not. Its name
/// changes with them, so that two versions of stillframe do not interfere.
///
/// # Errors
///
/// The folder cannot be written.
pub fn folder_with(place: &Path, files: &[(impl AsRef<Path> + Hash, &str)]) -> Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    let folder = place.join(format!("scripts-{:016x}", hasher.finish()));
    if !files.iter().all(|(name, _)| folder.join(name).is_file()) {
        write_all(&folder, files).map_err(|error| unwritable(&folder, &error))?;
    }
    Ok(folder)
}

/// A reader never sees half of a file.
fn write_all(folder: &Path, files: &[(impl AsRef<Path>, &str)]) -> io::Result<()> {
    files.iter().try_for_each(|(name, text)| {
        let file = folder.join(name);
        std::fs::create_dir_all(file.parent().unwrap_or(folder))?;
        let part = part_of(&file);
        std::fs::write(&part, text)?;
        std::fs::rename(&part, file)
    })
}

/// Makes sure that a folder is there.
pub(crate) fn create(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))
}

/// The problem that something in the cache cannot be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::Environment {
        problem: format!("cannot write `{}`: {error}", path.display()),
        remedy: "free disk space, or set STILLFRAME_CACHE_DIR to a folder that is writable".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_write_the_same_files_do_not_disturb_each_other() {
        let base = tempfile::tempdir().unwrap();
        let write = || folder_with(base.path(), &[("a.js", "one"), ("b.js", "two")]);
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(write)).collect();
            for one in all {
                one.join().unwrap().unwrap();
            }
        });
        let folder = write().unwrap();
        let mut names: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a.js", "b.js"]);
    }
}
