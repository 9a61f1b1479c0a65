//! Files of this server in the folder for temporary files.
//!
//! Their names begin with the server's ID, so that the cleanup after a killed server finds them.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Identifies this server, and no other.
static SERVER: LazyLock<String> = LazyLock::new(|| uuid::Uuid::new_v4().simple().to_string());

/// A unique ID of this server.
pub(crate) fn server_id() -> &'static str {
    &SERVER
}

/// A new path for a file. Whatever is there is removed when the server is killed.
pub fn new_path() -> PathBuf {
    std::env::temp_dir().join(format!("{}{}", prefix(server_id()), uuid::Uuid::new_v4()))
}

/// What the names of a server's files begin with.
fn prefix(server_id: &str) -> String {
    format!("stillframe-{server_id}-")
}

/// Removes what a server has left in its folder for temporary files and could not remove itself.
pub(crate) fn sweep(folder: &Path, server_id: &str) {
    let prefix = prefix(server_id);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // Another process may be cleaning up as well.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
