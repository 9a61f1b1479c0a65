//! How long a file may be.

use super::Finding;
use crate::repository::File;

/// Lines of a source file.
const LIMIT: usize = 600;

/// Files with a limit of their own, or with none.
const EXCEPTIONS: &[Exception] = &[
    Exception {
        path: "ARCHITECTURE.md",
        limit: Some(250),
        because: "what cannot be said in that many lines is not the architecture",
    },
    Exception {
        path: "crates/dap/src/types.rs",
        limit: None,
        because: "the messages of one protocol, one after the other",
    },
];

struct Exception {
    path: &'static str,
    limit: Option<usize>,
    because: &'static str,
}

/// Files that are too long, and exceptions that are not needed.
pub(super) fn check(files: &[File]) -> Vec<Finding> {
    files.iter().filter_map(|file| Some(Finding::new(&file.path, 1, complaint(file)?))).collect()
}

fn complaint(file: &File) -> Option<String> {
    let length = file.lines().count();
    let is_source = ["rs", "py"].iter().any(|extension| file.has_extension(extension));
    match EXCEPTIONS.iter().find(|exception| exception.path == file.path) {
        None if is_source && length > LIMIT => {
            Some(format!("{length} lines, above the limit of {LIMIT}: split it"))
        }
        Some(Exception { limit: Some(limit), because, .. }) if length > *limit => {
            Some(format!("{length} lines, above the limit of {limit}: {because}"))
        }
        Some(Exception { limit: None, because, .. }) if length <= LIMIT => {
            Some(format!("{length} lines need no exception any more ({because})"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_and_unneeded_exceptions_are_reported() {
        let cases = [
            ("a.rs", 600, None),
            ("a.rs", 601, Some("above the limit of 600")),
            ("a.py", 601, Some("above the limit of 600")),
            ("a.md", 601, None),
            ("a_rs", 601, None),
            ("ARCHITECTURE.md", 250, None),
            ("ARCHITECTURE.md", 251, Some("above the limit of 250")),
            ("docs/ARCHITECTURE.md", 251, None),
            ("crates/dap/src/types.rs", 601, None),
            ("crates/dap/src/types.rs", 600, Some("need no exception")),
        ];
        for (path, length, expected) in cases {
            let found = complaint(&File::new(path, &"x\n".repeat(length)));
            assert_eq!(found.is_some(), expected.is_some(), "{path} {length}: {found:?}");
            assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()), "{path} {length}");
        }
    }
}
