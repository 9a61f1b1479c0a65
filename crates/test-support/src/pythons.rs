//! Versions of Python, as pyenv builds them.

use std::path::PathBuf;

use crate::tries_everything;

/// The Python of the search path, and of those that pyenv has built the newest; with `--full` those of the other versions,
/// too. A version is the beginning of a name, such as `3.12.`.
pub fn pythons(others: &[&str]) -> Vec<String> {
    let others: &[&str] = if tries_everything() { others } else { &[] };
    let versions = others.iter().copied().chain(["3.13."]);
    std::iter::once("python3".to_owned()).chain(versions.filter_map(built_python)).collect()
}

/// A Python of a version that pyenv has built.
pub fn built_python(version: &str) -> Option<String> {
    let versions = std::env::home_dir().unwrap_or_default().join(".pyenv/versions");
    let mut found: Vec<PathBuf> = std::fs::read_dir(versions)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(version))
        .map(|entry| entry.path().join("bin/python"))
        .filter(|path| path.exists())
        .collect();
    found.sort();
    found.pop().map(|path| path.display().to_string())
}
