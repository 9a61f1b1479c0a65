//! Where a path leads, once all links are followed.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Component, Path, PathBuf};

/// Where an absolute path leads. For a path that does not exist, the existing part is resolved and the rest appended.
/// None if that is unknown: a dangling link may lead anywhere a moment later.
pub fn resolved(path: &Path) -> Option<PathBuf> {
    let mut missing: Vec<OsString> = Vec::new();
    let mut rest = path;
    loop {
        if let Ok(mut real) = rest.canonicalize() {
            real.extend(missing.iter().rev());
            return Some(real);
        }
        if rest.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            return None;
        }
        // A `..` after a folder that is not there is nowhere.
        let Some(Component::Normal(name)) = rest.components().next_back() else { return None };
        missing.push(name.to_owned());
        rest = rest.parent()?;
    }
}

/// Whether a resolved path is one of the folders, or in one.
pub(super) fn is_inside(real: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| real.starts_with(root))
}

/// The folders that are inside one of both lists, links resolved.
pub fn common(outer: &[PathBuf], inner: &[PathBuf]) -> Vec<PathBuf> {
    let mut both = Vec::new();
    for one in outer {
        for other in inner {
            if other.starts_with(one) {
                both.push(other.clone());
            } else if one.starts_with(other) {
                both.push(one.clone());
            }
        }
    }
    both.sort();
    both.dedup();
    both
}

/// The empty input, which is in no root.
pub(super) fn is_nothing(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path == Path::new("/dev/null"))
}

/// The location of an opened file. Linux reports it for the open file itself, so that no link can change in between.
/// Elsewhere, the path is resolved once more.
pub(super) fn of_open(file: &File, path: &Path) -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        if let Ok(real) = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())) {
            return Some(real);
        }
    }
    let _ = file;
    path.canonicalize().ok()
}
