//! Files that are written beside their place and moved there whole.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A path beside another one for what is moved there once it is whole. Nothing else uses it: other servers and other
/// sessions may be making the same thing at this moment.
pub fn part_of(path: &Path) -> PathBuf {
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{number}", std::process::id()));
    name.into()
}

/// Writes our files into a folder. A reader never sees half of one.
///
/// # Errors
///
/// The folder cannot be written.
pub(crate) fn write_all<'f>(
    folder: &Path,
    files: impl IntoIterator<Item = (impl AsRef<Path>, &'f str)>,
) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    files.into_iter().try_for_each(|(name, text)| {
        let file = folder.join(name);
        let part = part_of(&file);
        std::fs::write(&part, text)?;
        std::fs::rename(&part, file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_write_the_same_files_do_not_disturb_each_other() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("scripts");
        let write = || write_all(&folder, [("a.js", "one"), ("b.js", "two")]);
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(write)).collect();
            for one in all {
                one.join().unwrap().unwrap();
            }
        });
        let mut names: Vec<_> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a.js", "b.js"]);
    }
}
