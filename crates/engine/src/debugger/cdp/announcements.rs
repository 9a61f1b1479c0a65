//! How the processes of a program say where their inspectors are.
//!
//! Each writes one line into a pipe of ours when it begins; see `debuggee/node/hook.cjs`. A line is shorter
//! than what a pipe takes at once, so lines of several processes do not mix.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::unix::pipe;

use crate::error::{Error, Result};

/// A process that waits for its debugger.
#[derive(Debug, Deserialize)]
pub(super) struct Announcement {
    /// The operating system's number.
    pub(super) pid: u32,
    /// Where its inspector listens.
    pub(super) url: String,
    /// The name of what it runs.
    pub(super) script: String,
}

/// The reading end. The pipe is gone when this is.
#[derive(Debug)]
pub(super) struct Announcements {
    lines: Lines<BufReader<pipe::Receiver>>,
    path: PathBuf,
}

impl Announcements {
    /// Makes a pipe of its own for one program.
    pub(super) fn new() -> Result<Self> {
        let path = std::env::temp_dir().join(format!("stillframe-{}", uuid::Uuid::new_v4()));
        let made = make_pipe(&path).map_err(std::io::Error::from);
        // Open for writing as well, it does not end when the last writer goes.
        let opened = made.and_then(|()| pipe::OpenOptions::new().read_write(true).open_receiver(&path));
        match opened {
            Ok(receiver) => Ok(Self { lines: BufReader::new(receiver).lines(), path }),
            Err(error) => Err(Error::Environment {
                problem: format!("no pipe can be made at `{}`: {error}", path.display()),
                remedy: "check that the folder for temporary files can be written to".to_owned(),
            }),
        }
    }

    /// Its name in the file system.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for the next process.
    pub(super) async fn next(&mut self) -> Result<Announcement> {
        loop {
            let line = self.lines.next_line().await.ok().flatten().ok_or(Error::Lost)?;
            match serde_json::from_str(&line) {
                Ok(announcement) => return Ok(announcement),
                Err(error) => tracing::warn!(%error, line, "skipped what is no announcement"),
            }
        }
    }
}

impl Drop for Announcements {
    fn drop(&mut self) {
        // Whoever cleans the folder for temporary files may have been faster.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn make_pipe(path: &Path) -> rustix::io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
}
