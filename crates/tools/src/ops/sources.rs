//! The source files in and below folders.

use std::ffi::OsStr;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchLimits {
    /// How deep below the folders.
    pub(super) depth: usize,
    /// How many files and folders are considered.
    pub(super) entries: usize,
    /// Names of folders that are left out, beside those of hidden ones and of packages.
    pub(super) left_out: &'static [&'static str],
}

/// What a search has found.
#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    /// The nearest first.
    pub(super) files: Vec<PathBuf>,
    /// The search did not go on: there were too many files and folders.
    pub(super) is_cut: bool,
}

/// Finds the files that are wanted, except in folders that are left out. It reads the disk, which may be slow.
pub(super) fn below(
    folders: &[PathBuf],
    limits: SearchLimits,
    is_wanted: impl Fn(&Path) -> bool,
) -> FoundFiles {
    let mut found = FoundFiles::default();
    let (mut level, mut left) = (folders.to_vec(), limits.entries);
    for _ in 0..=limits.depth {
        let mut next = Vec::new();
        for folder in level {
            let mut rest = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let mut entries: Vec<DirEntry> = rest.by_ref().take(left).collect();
            left -= entries.len();
            found.is_cut |= rest.next().is_some();
            entries.sort_by_key(DirEntry::file_name);
            for entry in entries {
                let path = entry.path();
                // A link to a folder may lead anywhere, also back.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    let name = entry.file_name();
                    let is_left_out =
                        limits.left_out.iter().any(|other| name == *other) || is_of_others(&name);
                    next.extend((!is_left_out).then_some(path));
                } else if is_wanted(&path) && path.is_file() {
                    found.files.push(path);
                }
            }
        }
        level = next;
    }
    found
}

/// Whether a folder is hidden or of packages.
fn is_of_others(folder: &OsStr) -> bool {
    let name = folder.to_string_lossy();
    name.starts_with('.') || matches!(&*name, "node_modules" | "__pycache__" | "venv" | "site-packages")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_files_are_found_within_the_limits() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let files = ["a.py", "b.txt", "src/c.py", "src/deep/d.py", "target/e.py", "venv/f.py", ".git/g.py"];
        for file in files {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "").unwrap();
        }
        let roots = [root.to_owned()];
        let found = |depth, entries, left_out| {
            let is_python = |path: &Path| path.extension() == Some(OsStr::new("py"));
            let found = below(&roots, SearchLimits { depth, entries, left_out }, is_python);
            let files = found.files.iter().map(|file| file.strip_prefix(root).unwrap().to_str().unwrap());
            (files.collect::<Vec<_>>().join(" "), found.is_cut)
        };
        let without_target: &'static [&'static str] = &["target"];
        let all = "a.py src/c.py target/e.py src/deep/d.py";
        assert_eq!(found(2, 100, &[]), (all.to_owned(), false));
        assert_eq!(found(2, 100, without_target), ("a.py src/c.py src/deep/d.py".to_owned(), false));
        assert_eq!(found(1, 100, without_target), ("a.py src/c.py".to_owned(), false));
        assert_eq!(found(2, 6, without_target), ("a.py".to_owned(), true));
    }
}
