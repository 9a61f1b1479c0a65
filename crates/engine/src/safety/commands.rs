//! What a command line names, and what a process was started with.

use std::path::{Path, PathBuf};

use crate::adapter::Host;

/// Whether an executable is what anybody gets who calls a command by its name: its file, links resolved, is in
/// a folder of the search path.
pub(super) fn is_on_search_path(host: &dyn Host, executable: &Path) -> bool {
    let Ok(real) = executable.canonicalize() else { return false };
    let path = host.env("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).filter_map(|folder| folder.canonicalize().ok());
    real.is_file() && folders.any(|folder| real.parent() == Some(&*folder))
}

/// What a word of a command names: the files and folders among its parts that are there. A part ends where an
/// option's value begins, or a test's name, or where a shell would split it.
pub(super) fn files_in(folder: &Path, word: &str) -> Vec<PathBuf> {
    let ends = |letter: char| letter.is_whitespace() || "'\"=;&|<>()`,".contains(letter);
    let whole = std::iter::once(word);
    let parts = word.split(ends).flat_map(|part| [part, part.split("::").next().unwrap_or(part)]);
    let named = whole.chain(parts).filter(|part| !part.is_empty());
    let paths = named.map(|part| folder.join(part.strip_prefix("file://").unwrap_or(part)));
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.symlink_metadata().is_ok() && !super::roots::is_nothing(path)).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The main file of a process as its command line has it, else its working folder. None where the system does
/// not tell.
pub(super) fn main_of(pid: u32) -> Option<PathBuf> {
    let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words =
        line.split(|byte| *byte == 0).skip(1).filter(|word| !word.is_empty() && !word.starts_with(b"-"));
    let mut files = words.map(|word| folder.join(&*String::from_utf8_lossy(word)));
    Some(files.find(|file| file.is_file()).unwrap_or(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_among_the_words_of_a_command_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.js");
        std::fs::write(&file, "").unwrap();
        let table =
            ["a.js", "./a.js", "--require=a.js", "node a.js", "'a.js'", "a.js::test_one", "cat<a.js;x"];
        for word in table {
            let found = files_in(folder.path(), word);
            assert!(found.iter().any(|found| found.ends_with("a.js")), "{word}: {found:?}");
        }
        for word in ["b.js", "-e", "", "/dev/null"] {
            assert_eq!(files_in(folder.path(), word), Vec::<PathBuf>::new(), "{word}");
        }
    }
}
