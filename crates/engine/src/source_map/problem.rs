//! Problems of a source map, step by step, in messages for users.

use std::path::PathBuf;

/// Which step failed. Lines are 1-based here, because these are messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapProblem {
    /// The script names a map that does not exist.
    #[error("no source map `{}`: rebuild with source maps", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The map is not on this machine's disk.
    #[error("the source map is at `{url}`, but only files and inline maps are supported")]
    Remote {
        /// Where it is.
        url: String,
    },
    /// The file is there and cannot be read.
    #[error("cannot read the source map `{}`: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// More than is decoded.
    #[error("the source map has {size} {unit}, the limit is {limit}")]
    TooLarge {
        /// How much there is.
        size: u64,
        /// How much there may be.
        limit: u64,
        /// Of what.
        unit: &'static str,
    },
    /// It is not a source map, or violates the format.
    #[error("the source map is corrupt: {reason}")]
    Corrupt {
        /// What is against the format.
        reason: String,
    },
    /// The file was changed after the map was made, judging by the text that the map carries.
    #[error("`{}` differs from the source of the source map: rebuild, or lines will be off", path.display())]
    Differs {
        /// The original file.
        path: PathBuf,
    },
    /// The file was changed after the map was made, judging by the times of both.
    #[error("`{}` is newer than `{}`: rebuild, or lines may be off", path.display(), built.display())]
    Newer {
        /// The original file.
        path: PathBuf,
        /// The map, or the script with the inline map.
        built: PathBuf,
    },
    /// The script was not made of this file.
    #[error("`{}` is not in the source map{}", path.display(), list(similar))]
    NotASource {
        /// The file that was looked for.
        path: PathBuf,
        /// What the map does name, the most similar first, at most five.
        similar: Vec<String>,
    },
    /// Nothing was generated from this line.
    #[error("no code was generated from line {line} of `{name}`{}", nearest(*before, *after))]
    NoCode {
        /// The source, by its path or by its name in the map.
        name: String,
        /// The line, 1-based.
        line: u32,
        /// The nearest line before it with code, 1-based.
        before: Option<u32>,
        /// The nearest line after it with code, 1-based.
        after: Option<u32>,
    },
}

fn list(similar: &[String]) -> String {
    if similar.is_empty() {
        return ", which names no file".to_owned();
    }
    let names: Vec<String> = similar.iter().map(|name| format!("`{name}`")).collect();
    format!(", which names {}", names.join(", "))
}

fn nearest(before: Option<u32>, after: Option<u32>) -> String {
    match (before, after) {
        (Some(before), Some(after)) => format!(": the nearest lines with code are {before} and {after}"),
        (Some(line), None) | (None, Some(line)) => format!(": the nearest line with code is {line}"),
        (None, None) => ", nor from any other line of it".to_owned(),
    }
}
