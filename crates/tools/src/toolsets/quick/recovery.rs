//! The file that survives a server that is killed: what was debugged, and where it was to stop.
//!
//! `.debug_session.mcp.json` in the server's working directory. A server removes it when it ends in an orderly way, so
//! one that is found is of a server that was killed, or of one that still runs in the same folder; that one's is
//! left alone.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use engine::process::Identity;
use serde::{Deserialize, Serialize};

/// The name of the file.
pub(super) const FILE: &str = ".debug_session.mcp.json";
/// What a file is renamed to that cannot be read.
pub(super) const CORRUPT: &str = ".debug_session.mcp.json.corrupt";

/// What is in the file. The first three are those of *debugger-mcp*.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct SavedState {
    /// `node` or `python`; none before the first launch.
    pub(super) language: Option<String>,
    /// Absolute.
    pub(super) program: Option<PathBuf>,
    /// Requested lines by file.
    #[serde(default)]
    pub(super) breakpoints: BTreeMap<PathBuf, Vec<u32>>,
    /// Conditions by file and line.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) conditions: BTreeMap<PathBuf, BTreeMap<u32, String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) args: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cwd: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) executable_path: Option<PathBuf>,
    /// The names of the variables that were added to the environment. Their values may be secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) env: Vec<String>,
    /// Who wrote it.
    #[serde(flatten)]
    pub(super) server: Option<Identity>,
}

/// The recovery file of a folder.
#[derive(Debug, PartialEq)]
pub(super) enum RecoveryFile {
    /// There is none.
    Missing,
    /// The state of a server that has ended, or of this one.
    Left(Box<SavedState>),
    /// The file of another server, which runs.
    Others(u32),
    /// It cannot be parsed, for this reason.
    Corrupt(String),
    /// It cannot be read.
    Unreadable(io::ErrorKind),
}

/// Checks.
pub(super) fn find(folder: &Path) -> RecoveryFile {
    let text = match std::fs::read(folder.join(FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return RecoveryFile::Missing,
        Err(error) => return RecoveryFile::Unreadable(error.kind()),
    };
    match serde_json::from_slice::<SavedState>(&text) {
        Ok(SavedState { server: Some(server), .. }) if server != Identity::own() && server.is_alive() => {
            RecoveryFile::Others(server.pid)
        }
        Ok(saved) => RecoveryFile::Left(Box::new(saved)),
        Err(error) => RecoveryFile::Corrupt(error.to_string()),
    }
}

/// Writes the file so that a reader finds the old one or the new one, and never half of one.
pub(super) fn write(folder: &Path, saved: &SavedState) -> io::Result<()> {
    let temporary = folder.join(format!("{FILE}.{}", std::process::id()));
    let text = serde_json::to_vec_pretty(saved)?;
    let written =
        std::fs::write(&temporary, text).and_then(|()| std::fs::rename(&temporary, folder.join(FILE)));
    if written.is_err() {
        // There may be none.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Puts a file out of the way that cannot be read.
pub(super) fn move_aside(folder: &Path) -> io::Result<()> {
    std::fs::rename(folder.join(FILE), folder.join(CORRUPT))
}

/// Removes the file, unless another server has it.
pub(super) fn remove(folder: &Path) {
    if matches!(find(folder), RecoveryFile::Left(_)) {
        // Another process may have been faster.
        let _ = std::fs::remove_file(folder.join(FILE));
    }
}
