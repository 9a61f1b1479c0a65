//! Pipes with a name, into which programs write lines.
//!
//! A line that is not longer than what a pipe takes at once (4096 bytes) is never mixed with another's. What
//! was written is read even when its writer is killed the moment after.

use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::unix::pipe;

use crate::error::{Error, Result};
use crate::process;

/// The reading end. The pipe's name is gone when this is.
#[derive(Debug)]
pub(crate) struct NamedPipe {
    lines: Lines<BufReader<pipe::Receiver>>,
    name: Name,
}

/// The name of a pipe in the file system, until it is dropped.
#[derive(Debug)]
struct Name(PathBuf);

impl NamedPipe {
    /// Makes a pipe that only this user can open.
    pub(crate) fn new() -> Result<Self> {
        let name = format!("{}{}", prefix(&process::server_mark()), uuid::Uuid::new_v4());
        let path = std::env::temp_dir().join(name);
        let made = mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0);
        let made = made.map_err(std::io::Error::from).map(|()| Name(path.clone()));
        // Open for writing as well, it does not end when the last writer goes.
        let open = |name| Ok((pipe::OpenOptions::new().read_write(true).open_receiver(&path)?, name));
        match made.and_then(open) {
            Ok((receiver, name)) => Ok(Self { lines: BufReader::new(receiver).lines(), name }),
            Err(error) => Err(Error::Environment {
                problem: format!("no pipe can be made at `{}`: {error}", path.display()),
                remedy: "check that the folder for temporary files can be written to".to_owned(),
            }),
        }
    }

    /// Its name in the file system.
    pub(crate) fn path(&self) -> &Path {
        &self.name.0
    }

    /// The next line; none when the pipe cannot be read.
    pub(crate) async fn next_line(&mut self) -> Option<String> {
        // What is not UTF-8 comes from nobody that we know, and ends the reading.
        self.lines.next_line().await.ok().flatten()
    }
}

/// What the names of a server's pipes begin with.
fn prefix(server_mark: &str) -> String {
    format!("stillframe-{}-", server_mark.trim_end_matches('/'))
}

/// Removes what a server has left that could not do so itself.
pub(crate) fn sweep(server_mark: &str) {
    let prefix = prefix(server_mark);
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // Somebody else may be cleaning up as well.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        // Whoever cleans the folder for temporary files may have been faster.
        let _ = std::fs::remove_file(&self.0);
    }
}
